//! `more`: a token whose text several matches make up.
//!
//! Each match is a token of ours, and the whole a made rule of syntax:
//!
//! ```text
//! OPEN  : '"' -> more, pushMode(STR) ;      STRING_in_STR = STRING
//! mode STR ;                                              | CHAR STRING_in_STR ;
//! STRING : '"' -> popMode ;                 any_STRING    = OPEN STRING_in_STR ;
//! CHAR   : . -> more ;
//! ```
//!
//! Lowering then sees to it that the matches are those that are meant, and
//! a remark on them that nothing stands between. One regular expression for
//! the whole was rejected: it would have to say which match is longest.

use super::tokens::Tokens;
use super::unit::Unit;
use crate::ast::Action;
use hashbrown::{HashMap, HashSet};

/// What follows matches whose texts go on.
#[derive(Default)]
pub struct Runs {
    /// By mode: the variants with `more`, each with where it leads.
    more: Vec<Vec<(usize, Lead)>>,
    /// By mode: types that a run can end with, from there on.
    kinds: Vec<HashSet<String>>,
    /// By mode: a run that entered it can leave it again.
    leaves: Vec<bool>,
    /// Modes in which a run can begin.
    outside: Vec<bool>,
    names: Vec<String>,
    rests: HashMap<(usize, String), String>,
    balanced: HashMap<usize, String>,
}

/// The mode of the next match.
#[derive(Clone, Copy)]
enum Lead {
    /// The same or another in its place.
    To(usize),
    /// One above.
    Into(usize),
    /// The one below.
    Back,
}

impl Runs {
    pub fn of(unit: &Unit, tokens: &Tokens) -> Runs {
        if !tokens.variants.iter().any(|v| v.effect.more) {
            return Runs::default();
        }
        let count = unit.modes.len() + 1;
        let mut runs = Runs {
            more: vec![Vec::new(); count],
            kinds: vec![HashSet::new(); count],
            leaves: vec![false; count],
            outside: vec![false; count],
            names: std::iter::once("default")
                .chain(unit.modes.iter().map(|(n, _)| *n))
                .map(String::from)
                .collect(),
            ..Runs::default()
        };
        let mode_of = |v: usize| unit.lexical[tokens.variants[v].rule].mode;
        for (v, variant) in tokens.variants.iter().enumerate() {
            let effect = &variant.effect;
            if effect.more {
                runs.more[mode_of(v)].push((v, lead(mode_of(v), effect.action)));
            } else if !effect.hidden {
                runs.kinds[mode_of(v)].insert(effect.kind.clone());
            }
        }
        runs.spread();
        runs.find_outside(unit, tokens);
        runs
    }

    /// Fixed points over the modes.
    fn spread(&mut self) {
        let mut changed = true;
        while changed {
            changed = false;
            for mode in 0..self.more.len() {
                for at in 0..self.more[mode].len() {
                    let next = match self.more[mode][at].1 {
                        Lead::To(next) => {
                            let leaves = self.leaves[next];
                            changed |= leaves && !std::mem::replace(&mut self.leaves[mode], true);
                            Some(next)
                        }
                        Lead::Into(next) => Some(next),
                        Lead::Back => {
                            changed |= !std::mem::replace(&mut self.leaves[mode], true);
                            None
                        }
                    };
                    if let Some(next) = next.filter(|&n| n != mode) {
                        let more = self.kinds[next].clone();
                        let before = self.kinds[mode].len();
                        self.kinds[mode].extend(more);
                        changed |= self.kinds[mode].len() > before;
                    }
                }
            }
        }
    }

    fn find_outside(&mut self, unit: &Unit, tokens: &Tokens) {
        let mut reached = vec![false; self.more.len()];
        let mut work = vec![(0, true)];
        while let Some((mode, outside)) = work.pop() {
            let new = outside && !std::mem::replace(&mut self.outside[mode], true);
            if !new && std::mem::replace(&mut reached[mode], true) {
                continue;
            }
            reached[mode] = true;
            for variant in tokens.variants.iter().filter(|v| unit.lexical[v.rule].mode == mode) {
                let next = match lead(mode, variant.effect.action) {
                    Lead::To(next) | Lead::Into(next) => next,
                    Lead::Back => continue,
                };
                let outside = !variant.effect.more;
                if !reached[next] || outside && !self.outside[next] {
                    work.push((next, outside));
                }
            }
        }
    }

    /// Whether no run that begins with a variant ends with a token that the
    /// parser sees.
    pub fn hidden(&self, variant: usize) -> bool {
        let all =
            || self.more.iter().enumerate().flat_map(|(mode, more)| more.iter().map(move |m| (mode, m)));
        let Some((mode, (_, lead))) = all().find(|(_, (v, _))| *v == variant) else { return false };
        match *lead {
            Lead::To(next) => self.kinds[next].is_empty() && !self.leaves[next],
            Lead::Into(next) => {
                self.kinds[next].is_empty() && (!self.leaves[next] || self.kinds[mode].is_empty())
            }
            Lead::Back => self.kinds.iter().all(HashSet::is_empty),
        }
    }

    /// The sequences of several matches that make a token of type `kind`.
    pub fn of_type(
        &mut self,
        kind: &str,
        tokens: &mut Tokens,
        made: &mut Vec<(String, Vec<Vec<String>>)>,
    ) -> Vec<Vec<String>> {
        let mut ways = Vec::new();
        for mode in 0..self.more.len() {
            if self.outside[mode] && self.kinds[mode].contains(kind) {
                self.steps(mode, kind, tokens, made, &mut ways);
            }
        }
        ways
    }

    /// A match with `more` in `mode`, and the rest of the run.
    fn steps(
        &mut self,
        mode: usize,
        kind: &str,
        tokens: &mut Tokens,
        made: &mut Vec<(String, Vec<Vec<String>>)>,
        ways: &mut Vec<Vec<String>>,
    ) {
        let entered = self.more.iter().flatten().any(|(_, lead)| matches!(lead, Lead::Into(m) if *m == mode));
        for (variant, lead) in self.more[mode].clone() {
            let name = tokens.variants[variant].name.clone();
            match lead {
                Lead::To(next) if self.kinds[next].contains(kind) => {
                    ways.push(vec![name, self.rest(next, kind, tokens, made)]);
                }
                Lead::Into(next) if self.leaves[next] && self.kinds[mode].contains(kind) => {
                    let inside = self.balance(next, tokens, made);
                    ways.push(vec![name, inside, self.rest(mode, kind, tokens, made)]);
                }
                Lead::Into(next) if self.kinds[next].contains(kind) => {
                    ways.push(vec![name, self.rest(next, kind, tokens, made)]);
                }
                // Back to a mode that tokens before the run came from.
                Lead::Back if !entered => {
                    for below in 0..self.more.len() {
                        if self.outside[below] && below != mode && self.kinds[below].contains(kind) {
                            ways.push(vec![name.clone(), self.rest(below, kind, tokens, made)]);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// The rule for the rest of a run that is in `mode`.
    fn rest(
        &mut self,
        mode: usize,
        kind: &str,
        tokens: &mut Tokens,
        made: &mut Vec<(String, Vec<Vec<String>>)>,
    ) -> String {
        let key = (mode, kind.to_string());
        if let Some(known) = self.rests.get(&key) {
            return known.clone();
        }
        let name = tokens.fresh(&format!("{kind}_in_{}", self.names[mode]));
        self.rests.insert(key, name.clone());
        let mut ways = Vec::new();
        for &v in tokens.by_type.get(kind).into_iter().flatten() {
            if tokens.mode_of[tokens.variants[v].rule] == mode {
                ways.push(vec![tokens.variants[v].name.clone()]);
            }
        }
        self.steps(mode, kind, tokens, made, &mut ways);
        made.push((name.clone(), ways));
        name
    }

    /// The rule for matches in `mode` up to the one that leaves it.
    fn balance(
        &mut self,
        mode: usize,
        tokens: &mut Tokens,
        made: &mut Vec<(String, Vec<Vec<String>>)>,
    ) -> String {
        if let Some(known) = self.balanced.get(&mode) {
            return known.clone();
        }
        let name = tokens.fresh(&format!("within_{}", self.names[mode]));
        self.balanced.insert(mode, name.clone());
        let mut ways = Vec::new();
        for (variant, lead) in self.more[mode].clone() {
            let first = tokens.variants[variant].name.clone();
            match lead {
                Lead::Back => ways.push(vec![first]),
                Lead::To(next) if self.leaves[next] => {
                    ways.push(vec![first, self.balance(next, tokens, made)]);
                }
                Lead::Into(next) if self.leaves[next] && self.leaves[mode] => {
                    let inside = self.balance(next, tokens, made);
                    ways.push(vec![first, inside, self.balance(mode, tokens, made)]);
                }
                _ => {}
            }
        }
        made.push((name.clone(), ways));
        name
    }
}

fn lead(mode: usize, action: Action<usize>) -> Lead {
    match action {
        Action::Stay => Lead::To(mode),
        Action::Push(next) => Lead::Into(next),
        Action::Set(next) => Lead::To(next),
        Action::Pop => Lead::Back,
        Action::Change { first, second, .. } => second.or(first).map_or(Lead::Back, Lead::To),
    }
}
