//! What can follow each occurrence of a token, and what that asks for.
//!
//! A rule is lowered once for each context that makes a difference to one
//! of its last tokens, as long as the grammar at most doubles; else once,
//! for all contexts together.

use super::conflicts::Conflicts;
use super::edges::RuleEdges;
use super::modes::Staged;
use super::sets::TokenSet;
use crate::arena::{AltId, BodyId};
use crate::ir::{ModeId, RuleId, Symbol};
use crate::lexical::{Lexicon, TokenId};
use hashbrown::HashMap;

/// What stands behind a token.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Gap {
    /// Nothing is enough.
    pub optional: bool,
    /// Skipped tokens that may stand there, each with the states of its
    /// lexemes that may be used.
    pub skips: Vec<(TokenId, Vec<u32>)>,
}

/// How an occurrence of a token is derived.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Decision {
    /// States of its lexemes that may be used; none derives nothing.
    pub states: Vec<u32>,
    /// What stands behind it.
    pub gap: Gap,
    /// It may run together with what follows: inputs must be lexed again.
    pub unproven: bool,
}

/// A rule in one context.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Context {
    pub rule: RuleId,
    /// For each token at its end, and each skipped one, the states that
    /// what follows allows.
    signature: Vec<(TokenId, Vec<u32>, bool)>,
}

/// Everything needed to decide.
pub struct Contexts<'a> {
    pub staged: &'a Staged,
    pub lexicon: &'a Lexicon,
    pub conflicts: &'a Conflicts,
    pub edges: RuleEdges<'a>,
    skips: Vec<TokenId>,
    /// Follow sets of all contexts of a rule together, if contexts are not
    /// told apart.
    merged: Option<Vec<TokenSet>>,
}

impl<'a> Contexts<'a> {
    pub fn new(staged: &'a Staged, lexicon: &'a Lexicon, conflicts: &'a Conflicts) -> Contexts<'a> {
        let edges = RuleEdges::of(&staged.grammar, lexicon);
        let plain =
            |t: &TokenId| lexicon.token(*t).skip && lexicon.token(*t).action == crate::ast::Action::Stay;
        let skips = lexicon.all().filter(plain).collect();
        let mut contexts = Contexts { staged, lexicon, conflicts, edges, skips, merged: None };
        if contexts.explore().is_none() {
            contexts.merged = Some(contexts.merge());
        }
        contexts
    }

    /// The context of the start rule: only the end of the text follows.
    pub fn start(&self) -> (Context, TokenSet) {
        self.of(self.staged.grammar.start(), &TokenSet::end(self.lexicon.tokens.len()))
    }

    /// The context of a rule before `follow`, and what follows it there.
    pub fn of(&self, rule: RuleId, follow: &TokenSet) -> (Context, TokenSet) {
        if let Some(merged) = &self.merged {
            return (Context { rule, signature: Vec::new() }, merged[rule.index()].clone());
        }
        let last = self.edges.symbol(Symbol::Rule(rule)).last;
        let good = |t| {
            let good = self.conflicts.good(self.lexicon, t, follow);
            (t, good, self.conflicts.possible(self.lexicon, t, follow))
        };
        let signature = last.iter().chain(self.skips.iter().copied()).map(good).collect();
        (Context { rule, signature }, follow.clone())
    }

    /// Visits all symbols of an alternative with what can follow each.
    pub fn follows(&self, alt: AltId, behind: &TokenSet) -> Vec<(u32, Symbol, TokenSet)> {
        let grammar = &self.staged.grammar;
        let mut follow = behind.clone();
        let mut found = Vec::new();
        for (id, &symbol) in grammar.numbered(alt).rev() {
            let edges = self.edges.symbol(symbol);
            let mut inside = follow.clone();
            if let Symbol::Repeat(repeat) = symbol
                && grammar.repeat(repeat).max.is_none_or(|max| max > 1)
            {
                inside.extend(&edges.first);
            }
            found.push((id.0, symbol, inside));
            if !edges.nullable {
                follow = TokenSet::new(self.lexicon.tokens.len());
            }
            follow.extend(&edges.first);
        }
        found.reverse();
        found
    }

    /// What an occurrence of `token` before `follow` asks for, when the
    /// lexer is in `mode` after it.
    pub fn decide(&self, token: TokenId, mode: Option<ModeId>, follow: &TokenSet) -> Decision {
        let all = self.conflicts.states(token).to_vec();
        let good = self.conflicts.good(self.lexicon, token, follow);
        let skips: Vec<(TokenId, Vec<u32>)> = self
            .skips
            .iter()
            .filter(|&&s| Some(self.lexicon.token(s).mode) == mode)
            .filter(|&&s| {
                let mut only = TokenSet::new(self.lexicon.tokens.len());
                only.insert(s);
                self.conflicts.good(self.lexicon, token, &only).len() == all.len()
            })
            .map(|&s| (s, self.conflicts.good(self.lexicon, s, follow)))
            .filter(|(_, states)| !states.is_empty())
            .collect();
        let proven =
            |states, optional, skips| Decision { states, gap: Gap { optional, skips }, unproven: false };
        if good.len() == all.len() {
            return proven(all, true, skips);
        }
        if !skips.is_empty() {
            return proven(all, false, skips);
        }
        if !good.is_empty() || !self.conflicts.possible(self.lexicon, token, follow) {
            return proven(good, true, skips);
        }
        Decision { states: all, gap: Gap { optional: true, skips }, unproven: true }
    }

    /// All contexts, as long as they do not blow the grammar up.
    fn explore(&self) -> Option<()> {
        let grammar = &self.staged.grammar;
        let limit = 2 * grammar.alternative_count() + 64;
        let mut size = 0;
        let mut seen: HashMap<Context, ()> = HashMap::new();
        let mut work = vec![self.start()];
        while let Some((context, follow)) = work.pop() {
            let rule = context.rule;
            if seen.insert(context, ()).is_some() {
                continue;
            }
            grammar.bodies_within(grammar.rule(rule).body, &mut |b| size += grammar.alternatives(b).len());
            if size > limit {
                return None;
            }
            self.calls(grammar.rule(rule).body, &follow, &mut |called, follow| {
                work.push(self.of(called, follow));
            });
        }
        Some(())
    }

    /// What can follow each rule, wherever it stands.
    fn merge(&self) -> Vec<TokenSet> {
        let grammar = &self.staged.grammar;
        let count = self.lexicon.tokens.len();
        let mut follow = vec![TokenSet::new(count); grammar.rules().len()];
        let start = grammar.start();
        follow[start.index()].extend(&TokenSet::end(count));
        let mut work = vec![start];
        let mut visited = vec![false; grammar.rules().len()];
        while let Some(rule) = work.pop() {
            visited[rule.index()] = true;
            let own = follow[rule.index()].clone();
            self.calls(grammar.rule(rule).body, &own, &mut |called, behind| {
                if follow[called.index()].extend(behind) || !visited[called.index()] {
                    visited[called.index()] = true;
                    work.push(called);
                }
            });
        }
        follow
    }

    /// Calls of syntax rules within a body, with what follows each.
    fn calls(&self, body: BodyId, behind: &TokenSet, visit: &mut dyn FnMut(RuleId, &TokenSet)) {
        let grammar = &self.staged.grammar;
        for alt in grammar.alternatives(body) {
            for (_, symbol, follow) in self.follows(alt, behind) {
                match symbol {
                    Symbol::Rule(rule) if !grammar.rule(rule).is_lexical() => visit(rule, &follow),
                    Symbol::Group(inner) => self.calls(inner, &follow, visit),
                    Symbol::Repeat(repeat) => self.calls(grammar.repeat(repeat).body, &follow, visit),
                    _ => {}
                }
            }
        }
    }
}
