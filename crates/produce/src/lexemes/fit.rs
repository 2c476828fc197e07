//! What stands between tokens so that they lex as meant.
//!
//! Goes over the tokens once. Whether a token ends where it should depends
//! on what follows, so text is laid out ahead as far as the lexer looks; if
//! what stands behind a token does not serve, it is taken back and another
//! one tried. When a change lies before a place at which the lexer has
//! looked already, all is gone over again.

use super::leaves::Leaf;
use super::separators::Separators;
use super::{Layout, NONE, Spacing, Tokens};
use wug_grammar::ModeId;
use wug_grammar::ast::Action;
use wug_grammar::lexical::dfa::DEAD;
use wug_grammar::lexical::lexicon::Token;

/// How often all is gone over at most.
const ROUNDS: u32 = 4;

/// What stands before a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gap {
    /// What the derivation says.
    Own,
    Nothing,
    Separator(u32),
}

impl Gap {
    pub fn text<'a>(self, leaf: &Leaf, text: &'a [u8], separators: &'a Separators) -> &'a [u8] {
        match self {
            Gap::Own => &text[leaf.start..leaf.start + leaf.gap],
            Gap::Nothing => &[],
            Gap::Separator(number) => separators.text(number as usize),
        }
    }
}

pub(super) struct Fit<'a> {
    tokens: &'a Tokens,
    /// The text of the derivation.
    text: &'a [u8],
    leaves: &'a [Leaf],
    gaps: &'a mut Vec<Gap>,
    modes: &'a mut Vec<ModeId>,
    saved: &'a mut Vec<ModeId>,
    out: &'a mut Vec<u8>,
    /// Where the input begins in `out`.
    base: usize,
    /// How many leaves are in `out`.
    laid: usize,
    /// How far the lexer looked in what is settled, and in what is tried.
    reach: usize,
    looked: usize,
    /// Bytes that may still be read: lexers that look far ahead of each
    /// token take quadratic time.
    fuel: usize,
}

/// The token whose end is to be settled.
#[derive(Clone, Copy)]
struct Before {
    token: u32,
    mode: ModeId,
    start: usize,
    end: usize,
}

/// What came of a try.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Try {
    Fits,
    Other,
    Never,
}

impl<'a> Fit<'a> {
    pub fn new(tokens: &'a Tokens, text: &'a [u8], layout: &'a mut Layout, out: &'a mut Vec<u8>) -> Fit<'a> {
        let Layout { leaves, gaps, modes, saved, .. } = layout;
        let base = out.len();
        let fuel = (1 << 16) + 256 * text.len();
        Fit { tokens, text, leaves, gaps, modes, saved, out, base, laid: 0, reach: 0, looked: 0, fuel }
    }

    pub fn run(mut self, spacing: Spacing) -> Option<()> {
        let gap = if spacing == Spacing::Keep { Gap::Own } else { Gap::Nothing };
        self.gaps.clear();
        self.gaps.resize(self.leaves.len(), gap);
        for _ in 0..ROUNDS {
            if self.round()? {
                return Some(());
            }
        }
        None
    }

    /// Whether all was settled.
    fn round(&mut self) -> Option<bool> {
        self.out.truncate(self.base);
        self.laid = 0;
        self.reach = self.base;
        self.modes.clear();
        self.modes.push(ModeId(0));
        let mut before = None;
        let mut settled = true;
        for (i, leaf) in self.leaves.iter().enumerate() {
            let end = before.map_or(self.base, |b: Before| b.end);
            let kept = self.gaps[i];
            self.settle(i, before, end)?;
            settled &= self.gaps[i] == kept || self.reach <= end;
            self.reach = self.reach.max(self.looked);
            while self.laid <= i {
                self.lay();
            }
            if leaf.token == NONE {
                break;
            }
            let start = end + self.gaps[i].text(leaf, self.text, &self.tokens.separators).len();
            let mode = *self.modes.last()?;
            before = Some(Before { token: leaf.token, mode, start, end: start + leaf.len });
            act(self.modes, &self.tokens.lexicon.tokens[leaf.token as usize]);
        }
        Some(settled)
    }

    /// Finds what stands before leaf `i`: what stands there now, nothing,
    /// or the shortest that serves.
    fn settle(&mut self, i: usize, before: Option<Before>, end: usize) -> Option<()> {
        let now = self.gaps[i];
        match self.attempt(i, now, before, end) {
            Try::Fits => return Some(()),
            Try::Never => return None,
            Try::Other => {}
        }
        let own = self.leaves[i].gap;
        let mode = self.modes.last().map_or(usize::MAX, |mode| mode.0 as usize);
        let separators = self.tokens.separators.of_mode(mode);
        let longer = separators.clone().find(|&s| self.tokens.separators.text(s).len() > own);
        let split = longer.unwrap_or(separators.end);
        let made = |s: usize| Gap::Separator(s as u32);
        let shorter = (separators.start..split).map(made);
        let others = std::iter::once(Gap::Nothing)
            .chain(shorter)
            .chain((own > 0).then_some(Gap::Own))
            .chain((split..separators.end).map(made));
        for gap in others.filter(|&gap| gap != now) {
            match self.attempt(i, gap, before, end) {
                Try::Fits => return Some(()),
                Try::Never => return None,
                Try::Other => {}
            }
        }
        None
    }

    /// Puts `gap` before leaf `i`, behind `end`, and lexes the token before
    /// it and the gap itself.
    fn attempt(&mut self, i: usize, gap: Gap, before: Option<Before>, end: usize) -> Try {
        if self.gaps[i] != gap {
            self.out.truncate(end);
            self.laid = i;
            self.gaps[i] = gap;
        }
        self.looked = self.base;
        if let Some(before) = before {
            match self.longest(before.mode, before.start) {
                Some(found) if found == (before.token, before.end) => {}
                // It runs into what follows.
                Some((_, found)) if found > before.end && self.fuel > 0 => return Try::Other,
                _ => return Try::Never,
            }
        }
        let stop = end + gap.text(&self.leaves[i], self.text, &self.tokens.separators).len();
        let (mut at, mut moved) = (end, false);
        while at < stop {
            let found = self.modes.last().copied().and_then(|mode| self.longest(mode, at));
            let token = found.map(|(token, behind)| (&self.tokens.lexicon.tokens[token as usize], behind));
            match token.filter(|(token, behind)| token.skip && *behind <= stop) {
                Some((token, behind)) => {
                    if token.action != Action::Stay && !moved {
                        self.saved.clone_from(self.modes);
                        moved = true;
                    }
                    act(self.modes, token);
                    at = behind;
                }
                None => {
                    if moved {
                        std::mem::swap(self.saved, self.modes);
                    }
                    return if self.fuel > 0 { Try::Other } else { Try::Never };
                }
            }
        }
        Try::Fits
    }

    /// The longest match from `from`, and its end.
    fn longest(&mut self, mode: ModeId, from: usize) -> Option<(u32, usize)> {
        let dfa = &self.tokens.lexicon.modes[mode.0 as usize];
        let mut state = dfa.start;
        let mut best = None;
        let mut at = from;
        while self.fuel > 0 {
            while at == self.out.len() && self.laid < self.leaves.len() {
                self.lay();
            }
            let Some(&byte) = self.out.get(at) else { break };
            state = dfa.step(state, self.tokens.lexicon.alphabet.letter(byte));
            at += 1;
            self.fuel -= 1;
            if state == DEAD {
                break;
            }
            if let Some(label) = dfa.labels[state as usize] {
                best = Some((label, at));
            }
        }
        self.looked = self.looked.max(at);
        best
    }

    /// Appends the next leaf.
    fn lay(&mut self) {
        let leaf = &self.leaves[self.laid];
        self.out.extend_from_slice(self.gaps[self.laid].text(leaf, self.text, &self.tokens.separators));
        self.out.extend_from_slice(&self.text[leaf.start + leaf.gap..][..leaf.len]);
        self.laid += 1;
    }
}

fn act(modes: &mut Vec<ModeId>, token: &Token) {
    token.action.apply(modes);
}
