//! The mode at each place, by abstract interpretation.
//!
//! In:  a grammar with tokens and its lexicon.
//! Out: [`Staged`]: a grammar in which every token stands where the lexer
//!      is in its mode, and the mode after each token as far as it is known.
//!
//! What a rule does to the stack of modes is an [`Effect`]: the modes it
//! takes off the top and those it leaves. A rule with several effects is
//! split, one copy for each; groups and repetitions become rules first.

use super::order::Order;
use crate::arena::{AltId, Builder, SymbolId};
use crate::ast::{Action, Kind};
use crate::ir::{Grammar, ModeId, Rule, RuleId, Symbol};
use crate::lexical::{Lexicon, TokenId, TooLarge, Work};
use crate::transform::desugar;
use hashbrown::{HashMap, HashSet};
use std::collections::VecDeque;
use std::rc::Rc;

/// Modes taken and left, top last.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Effect {
    taken: Vec<ModeId>,
    left: Vec<ModeId>,
}

/// More modes than this are not followed.
const MAX_STACK: usize = 4;
/// More effects of one rule than this are not followed.
const MAX_EFFECTS: usize = 16;
/// More ways through one alternative than this are not followed.
const MAX_WAYS: usize = 64;

impl Effect {
    /// The effects of a token of `mode`, one for each stack of modes that it
    /// may take off.
    fn of_token(mode: ModeId, action: Action<ModeId>, modes: usize) -> Result<Vec<Effect>, TooLarge> {
        let below = action.drops().saturating_sub(1);
        let mut stacks = vec![vec![mode]];
        for _ in 0..below {
            if stacks.len() * modes > MAX_WAYS {
                return Err(TooLarge);
            }
            let deeper = |stack: &Vec<ModeId>, m: u32| [&[ModeId(m)], &stack[..]].concat();
            stacks = stacks.iter().flat_map(|s| (0..modes as u32).map(move |m| deeper(s, m))).collect();
        }
        let effect = |taken: Vec<ModeId>| {
            let mut left = taken.clone();
            action.apply(&mut left);
            Effect { taken, left }
        };
        Ok(stacks.into_iter().map(effect).collect())
    }

    fn none() -> Effect {
        Effect { taken: vec![], left: vec![] }
    }

    /// Whether it leaves one mode as it found it.
    fn is_neutral(&self) -> bool {
        self.taken.len() == 1 && self.taken == self.left
    }

    /// This and then `next`; `None` if `next` needs other modes.
    fn then(&self, next: &Effect) -> Result<Option<Effect>, TooLarge> {
        let common = self.left.len().min(next.taken.len());
        let (kept, met) = self.left.split_at(self.left.len() - common);
        let (deeper, wanted) = next.taken.split_at(next.taken.len() - common);
        if met != wanted {
            return Ok(None);
        }
        let effect = Effect { taken: [deeper, &self.taken].concat(), left: [kept, &next.left].concat() };
        if effect.taken.len() > MAX_STACK || effect.left.len() > MAX_STACK {
            Err(TooLarge)
        } else {
            Ok(Some(effect))
        }
    }
}

/// A grammar whose modes are known.
pub struct Staged {
    pub grammar: Grammar,
    /// By symbol: the mode after a token, where it is known.
    pub after: Vec<Option<ModeId>>,
}

/// Splits rules by what they do to the modes.
pub fn stage(grammar: &Grammar, lexicon: &Lexicon) -> Result<Staged, TooLarge> {
    let one_mode = |t: &crate::lexical::lexicon::Token| t.mode == ModeId(0) && t.action == Action::Stay;
    if lexicon.tokens.iter().all(one_mode) {
        let after = vec![Some(ModeId(0)); grammar.arena.symbols.len()];
        return Ok(Staged { grammar: grammar.clone(), after });
    }
    let plain = desugar::desugar(grammar);
    let effects = Effects::of(&plain, lexicon)?;
    Split::new(&plain, lexicon, &effects).run()
}

/// The grammar as it is, with no mode known.
pub fn unstaged(grammar: &Grammar) -> Staged {
    Staged { grammar: grammar.clone(), after: vec![None; grammar.arena.symbols.len()] }
}

/// The tokens that stand in another mode than the default one or change it.
pub fn changing(lexicon: &Lexicon) -> Vec<TokenId> {
    let changes = |t: &TokenId| {
        let token = lexicon.token(*t);
        !token.skip && (token.mode != ModeId(0) || token.action != Action::Stay)
    };
    lexicon.all().filter(changes).collect()
}

/// All effects of each syntax rule.
struct Effects {
    of_rule: Vec<HashSet<Effect>>,
}

impl Effects {
    fn of(grammar: &Grammar, lexicon: &Lexicon) -> Result<Effects, TooLarge> {
        let mut effects = Effects { of_rule: vec![HashSet::new(); grammar.rules().len()] };
        let mut work = Work::default();
        Order::of(grammar).callees_first(|rule| {
            if grammar.rule(rule).kind != Kind::Syntax {
                return Ok(false);
            }
            // Only ever more, so that this comes to rest.
            let mut found = effects.of_rule[rule.index()].clone();
            for alt in grammar.alternatives(grammar.rule(rule).body) {
                work.spend(1 + grammar.symbols(alt).len())?;
                found.extend(effects.ways(grammar, lexicon, alt)?.ends.into_iter().map(|(effect, _)| effect));
            }
            if found.len() > MAX_EFFECTS {
                return Err(TooLarge);
            }
            let changed = found.len() > effects.of_rule[rule.index()].len();
            effects.of_rule[rule.index()] = found;
            Ok(changed)
        })?;
        Ok(effects)
    }

    fn of_symbol(
        &self,
        grammar: &Grammar,
        lexicon: &Lexicon,
        symbol: Symbol,
    ) -> Result<Vec<Effect>, TooLarge> {
        Ok(match (lexicon.token_of(grammar, symbol), symbol) {
            (Some(token), _) => {
                let token = lexicon.token(token);
                Effect::of_token(token.mode, token.action, lexicon.modes.len())?
            }
            (None, Symbol::Rule(rule)) => {
                let own = &self.of_rule[rule.index()];
                // A mode that is kept is the same as no mode touched.
                let kept = own.iter().any(Effect::is_neutral);
                let mut all: Vec<Effect> =
                    own.iter().filter(|e| !kept || **e != Effect::none()).cloned().collect();
                all.sort_unstable();
                all
            }
            _ => vec![Effect::none()],
        })
    }

    /// The effects of an alternative, each with those of its symbols.
    fn ways(&self, grammar: &Grammar, lexicon: &Lexicon, alt: AltId) -> Result<Ways, TooLarge> {
        let mut ways = Ways { ends: vec![(Effect::none(), NO_STEP)], steps: Vec::new() };
        for symbol in grammar.symbols(alt) {
            let mut longer = Vec::new();
            for own in self.of_symbol(grammar, lexicon, *symbol)? {
                let own = Rc::new(own);
                for (effect, before) in &ways.ends {
                    if let Some(effect) = effect.then(&own)? {
                        ways.steps.push((*before, own.clone()));
                        longer.push((effect, ways.steps.len() as u32 - 1));
                    }
                }
            }
            if longer.len() > MAX_WAYS {
                return Err(TooLarge);
            }
            ways.ends = longer;
        }
        Ok(ways)
    }
}

/// The ways through an alternative: effects of its beginnings, each with
/// the step before.
struct Ways {
    ends: Vec<(Effect, u32)>,
    steps: Vec<(u32, Rc<Effect>)>,
}

/// There is no step before the first.
const NO_STEP: u32 = u32::MAX;

impl Ways {
    /// The effects of the symbols up to a step.
    fn parts(&self, mut step: u32) -> Vec<Rc<Effect>> {
        let mut parts = Vec::new();
        while step != NO_STEP {
            let (before, effect) = &self.steps[step as usize];
            parts.push(effect.clone());
            step = *before;
        }
        parts.reverse();
        parts
    }
}

/// Copies each rule once for each effect in which it is used.
struct Split<'a> {
    grammar: &'a Grammar,
    lexicon: &'a Lexicon,
    effects: &'a Effects,
    builder: Builder<Symbol>,
    ids: HashMap<(RuleId, Effect), RuleId>,
    work: VecDeque<(RuleId, Effect)>,
    rules: Vec<Rule>,
    /// Modes after tokens, in the order in which symbols are stored.
    after: Vec<Option<ModeId>>,
}

impl<'a> Split<'a> {
    fn new(grammar: &'a Grammar, lexicon: &'a Lexicon, effects: &'a Effects) -> Split<'a> {
        // Lexical rules and the stored bytes and classes stay as they are.
        let builder = Builder::resume(grammar.arena.clone());
        let rules = grammar.rules.clone();
        let after = vec![None; grammar.arena.symbols.len()];
        Split { grammar, lexicon, effects, builder, ids: HashMap::new(), work: VecDeque::new(), rules, after }
    }

    fn run(mut self) -> Result<Staged, TooLarge> {
        let limit = self.grammar.alternative_count() * 4 + 1_000;
        let start = self.grammar.start();
        let mut starts: Vec<Effect> = self.effects.of_rule[start.index()].iter().cloned().collect();
        starts.retain(|e| e.taken.is_empty() || e.taken == [ModeId(0)]);
        starts.sort_unstable();
        let starts: Vec<RuleId> = starts.into_iter().map(|e| self.id(start, e)).collect();
        while let Some((rule, effect)) = self.work.pop_front() {
            let id = self.ids[&(rule, effect.clone())];
            let body = self.body(rule, &effect)?;
            self.rules[id.index()].body = body;
            if self.builder.arena().alternative_count() > limit {
                return Err(TooLarge);
            }
        }
        let start = match *starts {
            [one] => one,
            _ => self.join(&starts),
        };
        let mut after = self.after;
        after.resize(self.builder.arena().symbols.len(), None);
        let grammar = Grammar {
            rules: self.rules,
            arena: self.builder.finish(),
            start,
            modes: self.grammar.modes.clone(),
            mentioned: Vec::new(),
        };
        Ok(Staged { grammar, after })
    }

    /// A start rule above several.
    fn join(&mut self, starts: &[RuleId]) -> RuleId {
        let span = self.grammar.rule(self.grammar.start()).span;
        self.builder.open_body(span);
        for (i, &start) in starts.iter().enumerate() {
            if i > 0 {
                self.builder.next_alternative(span);
            }
            self.builder.symbol(Symbol::Rule(start), span);
        }
        let body = if starts.is_empty() {
            self.builder.close_body_without_last()
        } else {
            self.builder.close_body()
        };
        let id = RuleId(self.rules.len() as u32);
        self.rules.push(Rule { body, made: true, ..self.grammar.rule(self.grammar.start()).clone() });
        id
    }

    /// The copy of a rule with one effect.
    fn id(&mut self, rule: RuleId, effect: Effect) -> RuleId {
        let (rules, work) = (&mut self.rules, &mut self.work);
        *self.ids.entry((rule, effect)).or_insert_with_key(|key| {
            work.push_back(key.clone());
            let id = RuleId(rules.len() as u32);
            // Copies share a name for now: lowering makes names unique again.
            rules.push(rules[rule.index()].clone());
            id
        })
    }

    fn body(&mut self, rule: RuleId, effect: &Effect) -> Result<crate::BodyId, TooLarge> {
        let body = self.grammar.rule(rule).body;
        let mut first = true;
        self.builder.open_body(self.grammar.rule(rule).span);
        for alt in self.grammar.alternatives(body) {
            let alternative = *self.grammar.alternative(alt);
            let ways = self.effects.ways(self.grammar, self.lexicon, alt)?;
            for &(ref whole, step) in &ways.ends {
                if whole != effect && !(effect.is_neutral() && *whole == Effect::none()) {
                    continue;
                }
                if !first {
                    self.builder.next_alternative(alternative.span);
                }
                first = false;
                self.builder.weight(alternative.weight);
                self.alternative(alt, &effect.taken, &ways.parts(step));
            }
        }
        Ok(if first { self.builder.close_body_without_last() } else { self.builder.close_body() })
    }

    /// Copies the symbols of an alternative. The stack begins as `taken`.
    fn alternative(&mut self, alt: AltId, taken: &[ModeId], parts: &[Rc<Effect>]) {
        let mut stack = taken.to_vec();
        let symbols: Vec<(SymbolId, Symbol)> = self.grammar.numbered(alt).map(|(i, s)| (i, *s)).collect();
        for ((id, symbol), effect) in symbols.into_iter().zip(parts) {
            stack.truncate(stack.len().saturating_sub(effect.taken.len()));
            stack.extend(&effect.left);
            let copied = match (self.lexicon.token_of(self.grammar, symbol), symbol) {
                (None, Symbol::Rule(rule)) => Symbol::Rule(self.id(rule, (**effect).clone())),
                _ => symbol,
            };
            self.builder.symbol(copied, self.grammar.span(id));
            for note in self.grammar.notes(id) {
                self.builder.note_last(note.clone());
            }
            self.after.push(stack.last().copied());
        }
    }
}
