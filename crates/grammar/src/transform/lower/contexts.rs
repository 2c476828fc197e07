//! What can follow each occurrence of a token, and what that asks for.
//!
//! A rule is lowered once for each context that makes a difference to one
//! of its last tokens, as long as the grammar at most doubles; else once,
//! for all contexts together.
//!
//! Sets of what follows are few and met often, so each is stored once and
//! known by its number, and so is all that is found out about it.

use super::conflicts::Conflicts;
use super::edges::RuleEdges;
use super::modes::Staged;
use super::order::Order;
use super::sets::TokenSet;
use crate::arena::{AltId, BodyId};
use crate::ir::{ModeId, RuleId, Symbol};
use crate::lexical::{Lexicon, TokenId, TooLarge, Work};
use hashbrown::{HashMap, HashSet};
use std::rc::Rc;

/// The number of a set of what can follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Follow(u32);

/// What stands behind a token.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Gap {
    /// Nothing is enough.
    pub optional: bool,
    /// Skipped tokens that may stand there, each with the states of its
    /// lexemes that may be used.
    pub skips: Vec<(TokenId, Rc<[u32]>)>,
}

/// How an occurrence of a token is derived.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Decision {
    /// States of its lexemes that may be used; none derives nothing.
    pub states: Rc<[u32]>,
    /// What stands behind it.
    pub gap: Gap,
    /// It may run together with what follows: inputs must be lexed again.
    pub unproven: bool,
}

/// A rule in one context.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Context {
    pub rule: RuleId,
    /// For each token at its end, and each skipped one, the number of what
    /// follows allows of it.
    signature: Rc<[u32]>,
}

/// What a set of what can follow allows of one token.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Allowed {
    token: TokenId,
    states: Rc<[u32]>,
    /// Some state is good before some member.
    possible: bool,
}

/// Everything needed to decide.
pub struct Contexts<'a> {
    pub staged: &'a Staged,
    pub lexicon: &'a Lexicon,
    pub conflicts: &'a Conflicts,
    edges: RuleEdges<'a>,
    skips: Vec<TokenId>,
    /// Skipped tokens stand only where they are needed.
    tight: bool,
    /// What can follow a rule in all of its contexts together, if contexts
    /// are not told apart.
    merged: Option<Vec<Follow>>,
    sets: Vec<TokenSet>,
    set_ids: HashMap<TokenSet, Follow>,
    allowed: Vec<Allowed>,
    allowed_ids: HashMap<Allowed, u32>,
    allowed_of: HashMap<(TokenId, Follow), u32>,
    contexts: HashMap<(RuleId, Follow), Context>,
    /// For each token, the skipped ones that may follow all of its lexemes.
    safe_skips: HashMap<TokenId, Rc<[TokenId]>>,
    decisions: HashMap<(TokenId, Option<ModeId>, Follow), Rc<Decision>>,
    work: Work,
}

impl<'a> Contexts<'a> {
    pub fn new(
        staged: &'a Staged,
        lexicon: &'a Lexicon,
        conflicts: &'a Conflicts,
        tight: bool,
    ) -> Result<Contexts<'a>, TooLarge> {
        let order = Order::of(&staged.grammar);
        let mut work = Work::for_sets();
        let edges = RuleEdges::of(&staged.grammar, lexicon, &order, &mut work)?;
        let mut contexts = Contexts {
            staged,
            lexicon,
            conflicts,
            edges,
            skips: lexicon.all().filter(|t| lexicon.token(*t).separates).collect(),
            tight,
            merged: None,
            sets: Vec::new(),
            set_ids: HashMap::new(),
            allowed: Vec::new(),
            allowed_ids: HashMap::new(),
            allowed_of: HashMap::new(),
            contexts: HashMap::new(),
            safe_skips: HashMap::new(),
            decisions: HashMap::new(),
            work: Work::default(),
        };
        if staged.grammar.rule(staged.grammar.start()).is_lexical() {
            return Ok(contexts);
        }
        let few = contexts.explore();
        contexts.work = work;
        if few != Ok(true) {
            contexts.merged = Some(contexts.merge(&order)?);
        }
        contexts.work = Work::for_sets();
        Ok(contexts)
    }

    /// The number of a set.
    fn number(&mut self, set: &TokenSet) -> Result<Follow, TooLarge> {
        self.work.spend(set.size())?;
        if let Some(&known) = self.set_ids.get(set) {
            return Ok(known);
        }
        let id = Follow(self.sets.len() as u32);
        self.sets.push(set.clone());
        self.set_ids.insert(set.clone(), id);
        Ok(id)
    }

    /// The context of the start rule: only the end of the text follows.
    pub fn start(&mut self) -> Result<(Context, Follow), TooLarge> {
        let end = self.number(&TokenSet::end(self.lexicon.tokens.len()))?;
        self.of(self.staged.grammar.start(), end)
    }

    /// The context of a rule before `follow`, and what follows it there.
    pub fn of(&mut self, rule: RuleId, follow: Follow) -> Result<(Context, Follow), TooLarge> {
        if let Some(merged) = &self.merged {
            return Ok((Context { rule, signature: Rc::new([]) }, merged[rule.index()]));
        }
        if let Some(context) = self.contexts.get(&(rule, follow)) {
            return Ok((context.clone(), follow));
        }
        let mut tokens: Vec<TokenId> = self.edges.last(rule).into_iter().flat_map(TokenSet::iter).collect();
        tokens.extend(&self.skips);
        let mut signature = Vec::with_capacity(tokens.len());
        for token in tokens {
            signature.push(self.allowed(token, follow)?);
        }
        let context = Context { rule, signature: signature.into() };
        self.contexts.insert((rule, follow), context.clone());
        Ok((context, follow))
    }

    /// What `follow` allows of a token.
    fn allowed(&mut self, token: TokenId, follow: Follow) -> Result<u32, TooLarge> {
        self.work.spend(1)?;
        if let Some(&known) = self.allowed_of.get(&(token, follow)) {
            return Ok(known);
        }
        let set = &self.sets[follow.0 as usize];
        self.work.spend(2 * self.conflicts.states(token).len() * set.size())?;
        let states = self.conflicts.good(self.lexicon, token, set).into();
        let possible = self.conflicts.possible(self.lexicon, token, set);
        let all = &mut self.allowed;
        let id = *self.allowed_ids.entry(Allowed { token, states, possible }).or_insert_with_key(|allowed| {
            all.push(allowed.clone());
            all.len() as u32 - 1
        });
        self.allowed_of.insert((token, follow), id);
        Ok(id)
    }

    /// All symbols of an alternative with what can follow each.
    pub fn follows(&mut self, alt: AltId, behind: Follow) -> Result<Vec<(u32, Symbol, Follow)>, TooLarge> {
        let grammar = &self.staged.grammar;
        let mut follow = self.sets[behind.0 as usize].clone();
        let mut number = behind;
        let mut found = Vec::with_capacity(grammar.symbols(alt).len());
        for (id, &symbol) in grammar.numbered(alt).rev() {
            let edge = self.edges.symbol(symbol);
            let mut inside = number;
            if let Symbol::Repeat(repeat) = symbol
                && grammar.repeat(repeat).max.is_none_or(|max| max > 1)
            {
                let mut set = follow.clone();
                edge.first_into(&mut set);
                inside = self.number(&set)?;
            }
            found.push((id.0, symbol, inside));
            let edge = self.edges.symbol(symbol);
            if !edge.nullable() {
                follow.clear();
            }
            edge.first_into(&mut follow);
            number = self.number(&follow)?;
        }
        found.reverse();
        Ok(found)
    }

    /// What an occurrence of `token` before `follow` asks for, when the
    /// lexer is in `mode` after it.
    pub fn decide(
        &mut self,
        token: TokenId,
        mode: Option<ModeId>,
        follow: Follow,
    ) -> Result<Rc<Decision>, TooLarge> {
        if let Some(known) = self.decisions.get(&(token, mode, follow)) {
            return Ok(known.clone());
        }
        let decision = Rc::new(self.decide_anew(token, mode, follow)?);
        self.decisions.insert((token, mode, follow), decision.clone());
        Ok(decision)
    }

    fn decide_anew(
        &mut self,
        token: TokenId,
        mode: Option<ModeId>,
        follow: Follow,
    ) -> Result<Decision, TooLarge> {
        let all = self.conflicts.states(token).len();
        let Allowed { states: good, possible, .. } = {
            let id = self.allowed(token, follow)?;
            self.allowed[id as usize].clone()
        };
        let mut skips = Vec::new();
        for &skip in self.safe_skips(token)?.iter() {
            let id = self.allowed(skip, follow)?;
            let states = &self.allowed[id as usize].states;
            if Some(self.lexicon.token(skip).mode) == mode && !states.is_empty() {
                skips.push((skip, states.clone()));
            }
        }
        let proven =
            |states, optional, skips| Decision { states, gap: Gap { optional, skips }, unproven: false };
        if good.len() == all {
            if self.tight {
                skips.clear();
            }
            return Ok(proven(good, true, skips));
        }
        if skips.is_empty() && (!good.is_empty() || !possible) {
            return Ok(proven(good, true, skips));
        }
        let all: Rc<[u32]> = self.conflicts.states(token).into();
        self.work.spend(all.len())?;
        if !skips.is_empty() {
            return Ok(proven(all, false, skips));
        }
        Ok(Decision { states: all, gap: Gap { optional: true, skips }, unproven: true })
    }

    fn safe_skips(&mut self, token: TokenId) -> Result<Rc<[TokenId]>, TooLarge> {
        if let Some(known) = self.safe_skips.get(&token) {
            return Ok(known.clone());
        }
        self.work.spend(self.skips.len() * self.conflicts.states(token).len())?;
        let joined = self.lexicon.token(token).joined;
        let safe = |s: &TokenId| !joined && self.conflicts.safe(self.lexicon, token, *s);
        let found: Rc<[TokenId]> = self.skips.iter().copied().filter(safe).collect();
        self.safe_skips.insert(token, found.clone());
        Ok(found)
    }

    /// All contexts; whether they do not blow the grammar up.
    fn explore(&mut self) -> Result<bool, TooLarge> {
        let grammar = &self.staged.grammar;
        let limit = 2 * grammar.alternative_count() + 64;
        let mut size = 0;
        let mut seen: HashSet<Context> = HashSet::new();
        let mut work = vec![self.start()?];
        while let Some((context, follow)) = work.pop() {
            let rule = context.rule;
            if !seen.insert(context) {
                continue;
            }
            grammar.bodies_within(grammar.rule(rule).body, &mut |b| size += grammar.alternatives(b).len());
            if size > limit {
                return Ok(false);
            }
            self.calls(grammar.rule(rule).body, follow, &mut |contexts, called, follow| {
                let context = contexts.of(called, follow)?;
                contexts.work.spend(1 + context.0.signature.len() / 8)?;
                if !seen.contains(&context.0) {
                    work.push(context);
                }
                Ok(())
            })?;
        }
        Ok(true)
    }

    /// What can follow each rule, wherever it stands.
    fn merge(&mut self, order: &Order) -> Result<Vec<Follow>, TooLarge> {
        let grammar = &self.staged.grammar;
        let count = self.lexicon.tokens.len();
        let size = TokenSet::new(count).size();
        self.work.spend(size.saturating_mul(grammar.rules().len()))?;
        let mut follow = vec![TokenSet::new(count); grammar.rules().len()];
        follow[grammar.start().index()].extend(&TokenSet::end(count));
        order.callers_first(|rule| {
            if grammar.rule(rule).is_lexical() {
                return Ok(false);
            }
            let own = self.number(&follow[rule.index()])?;
            let mut changed = false;
            self.calls(grammar.rule(rule).body, own, &mut |contexts, called, behind| {
                contexts.work.spend(size)?;
                changed |= follow[called.index()].extend(&contexts.sets[behind.0 as usize]);
                Ok(())
            })?;
            Ok(changed)
        })?;
        follow.iter().map(|set| self.number(set)).collect()
    }

    /// Calls of syntax rules within a body, with what follows each.
    fn calls(&mut self, body: BodyId, behind: Follow, visit: &mut Visit<'_, 'a>) -> Result<(), TooLarge> {
        let grammar = &self.staged.grammar;
        for alt in grammar.alternatives(body) {
            for (_, symbol, follow) in self.follows(alt, behind)? {
                match symbol {
                    Symbol::Rule(rule) if !grammar.rule(rule).is_lexical() => visit(self, rule, follow)?,
                    Symbol::Group(inner) => self.calls(inner, follow, visit)?,
                    Symbol::Repeat(repeat) => self.calls(grammar.repeat(repeat).body, follow, visit)?,
                    _ => {}
                }
            }
        }
        Ok(())
    }
}

/// What is done with a call and what follows it.
type Visit<'v, 'a> = dyn FnMut(&mut Contexts<'a>, RuleId, Follow) -> Result<(), TooLarge> + 'v;
