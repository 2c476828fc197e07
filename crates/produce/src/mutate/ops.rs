//! The operations on subtrees, repetitions and leaves: what each decides.

use super::draw::Bounds;
use super::edit::{Edit, With};
use super::lexemes::is_lexeme;
use super::{FRESH_DEPTH, FRESH_NODES, Leaf, MAX_NODES, Mutator, Tree, rounds};
use crate::choices::printable_first;
use wug_grammar::derivation::{Derivation, Forwards};
use wug_grammar::{BodyId, RepeatId};
use wug_random::Rng;

/// A recursion is repeated at most so often.
const MOST_REPEATS: u32 = 5;

impl Mutator {
    pub(super) fn fresh_subtree(&mut self, tree: &Tree, rng: &mut Rng) -> Option<Edit> {
        let (body, at) = tree.pick(rng)?;
        self.grow_part(body, rng)?;
        Some(Edit::subtree(tree, at, With::Part(body)))
    }

    pub(super) fn splice(&mut self, tree: &Tree, rng: &mut Rng) -> Option<Edit> {
        let (body, at) = tree.pick(rng)?;
        let fragment = self.fragments.draw(body, rng)?;
        Some(Edit::subtree(tree, at, With::Fragment(body, fragment)))
    }

    pub(super) fn shrink(&mut self, tree: &Tree, rng: &mut Rng) -> Option<Edit> {
        let (outer, inner) = tree.pick_recursion(&self.shape, rng)?;
        let inside = inner..tree.derivation().end(inner);
        Some(Edit::subtree(tree, outer, With::Own { nodes: inside, times: 1 }))
    }

    pub(super) fn recurse(&mut self, tree: &Tree, rng: &mut Rng) -> Option<Edit> {
        let (outer, inner) = tree.pick_recursion(&self.shape, rng)?;
        Some(Edit::Recurse { outer, inner, times: 1 + rng.below(MOST_REPEATS) })
    }

    pub(super) fn swap(&mut self, tree: &Tree, rng: &mut Rng) -> Option<Edit> {
        // Of nodes that lie in each other, another pair may not.
        for _ in 0..4 {
            let (_, nodes) = tree.pick_group(rng)?;
            let mut any = || nodes[rng.below(nodes.len() as u32) as usize] as usize;
            let (a, b) = (any(), any());
            let (first, second) = (a.min(b), a.max(b));
            if first != second && tree.derivation().end(first) <= second {
                return Some(Edit::Swap { first, second });
            }
        }
        None
    }

    pub(super) fn drop_rounds(&mut self, tree: &Tree, rng: &mut Rng) -> Option<Edit> {
        let derivation = tree.derivation();
        let (at, repeat) = tree.pick_repeat(rng)?;
        let count = rounds(derivation, at);
        let most = count.saturating_sub(self.shape.grammar().repeat(repeat).min);
        let dropped = some_of(most, rng)?;
        let first = rng.below(count - dropped + 1);
        let cut = nodes_of(derivation, at, first, dropped);
        Some(Edit::Rounds { at, cut, with: With::Nothing, count: count - dropped })
    }

    pub(super) fn repeat_rounds(&mut self, tree: &Tree, rng: &mut Rng) -> Option<Edit> {
        let derivation = tree.derivation();
        let (at, repeat) = tree.pick_repeat(rng)?;
        let count = rounds(derivation, at);
        let taken = some_of(count, rng)?;
        let nodes = nodes_of(derivation, at, rng.below(count - taken + 1), taken);
        let room = self.room(repeat, count) / taken;
        let fits = (MAX_NODES.saturating_sub(derivation.len()) / nodes.len().max(1)) as u32;
        if room == 0 || fits == 0 {
            return None;
        }
        let most = room.min(fits).min(1 << rng.below(7));
        let times = 1 + rng.below(most);
        let cut = nodes.end..nodes.end;
        Some(Edit::Rounds { at, cut, with: With::Own { nodes, times }, count: count + taken * times })
    }

    pub(super) fn insert_round(&mut self, tree: &Tree, rng: &mut Rng) -> Option<Edit> {
        let derivation = tree.derivation();
        let (at, repeat) = tree.pick_repeat(rng)?;
        let count = rounds(derivation, at);
        let body = self.shape.grammar().repeat(repeat).body;
        if self.room(repeat, count) == 0 || derivation.len() > MAX_NODES {
            return None;
        }
        let cut = nodes_of(derivation, at, rng.below(count + 1), 0);
        let foreign = if rng.below(2) == 0 { self.fragments.draw(body, rng) } else { None };
        let with = match foreign {
            Some(fragment) => With::Fragment(body, fragment),
            None => {
                self.grow_part(body, rng)?;
                With::Part(body)
            }
        };
        Some(Edit::Rounds { at, cut, with, count: count + 1 })
    }

    pub(super) fn lexeme(&mut self, tree: &Tree, rng: &mut Rng) -> Option<Edit> {
        let derivation = tree.derivation();
        let (at, leaf) = tree.pick_leaf(rng)?;
        let rule = match leaf {
            Leaf::Member(class) => {
                let members = self.shape.grammar().class(class);
                let value = members.member(printable_first(members, rng.bits()));
                return Some(Edit::Member { at, class, value });
            }
            Leaf::Token(rule) => rule,
        };
        let varied = rng.below(2) == 0
            && self.varied_text(derivation.text(at), rng, |text, shape| is_lexeme(shape, rule, text));
        if !varied {
            let text = self.lexemes.draw(&self.shape, rule, rng)?;
            self.text.clear();
            self.text.extend_from_slice(text);
        }
        Some(Edit::subtree(tree, at, With::Text))
    }

    /// A fresh derivation of a body, in `part`.
    fn grow_part(&mut self, body: BodyId, rng: &mut Rng) -> Option<()> {
        let most = 1 + rng.below(FRESH_NODES);
        let bounds = Bounds { depth: rng.below(FRESH_DEPTH + 1), nodes: 1 + rng.below(most) as usize };
        let out = &mut Forwards::new(&mut self.part);
        self.draw.body((&self.shape, &mut self.lexemes), body, bounds, rng, out)
    }

    /// How many more rounds a repetition may have.
    fn room(&self, repeat: RepeatId, count: u32) -> u32 {
        self.shape.grammar().repeat(repeat).max.map_or(u32::MAX, |max| max.saturating_sub(count))
    }

    /// Writes a small change of a token's text, if one of a few is allowed.
    fn varied_text(
        &mut self,
        old: &[u8],
        rng: &mut Rng,
        allowed: impl Fn(&[u8], &super::Shape) -> bool,
    ) -> bool {
        for _ in 0..4 {
            self.text.clear();
            self.text.extend_from_slice(old);
            vary(&mut self.text, rng);
            if *self.text != *old && allowed(&self.text, &self.shape) {
                return true;
            }
        }
        false
    }
}

/// Numbers that programs are wrong about.
const NUMBERS: [&[u8]; 14] = [
    b"0",
    b"1",
    b"-1",
    b"127",
    b"128",
    b"255",
    b"256",
    b"32767",
    b"65536",
    b"2147483647",
    b"2147483648",
    b"4294967296",
    b"9223372036854775807",
    b"18446744073709551616",
];

/// A small change of bytes.
fn vary(text: &mut Vec<u8>, rng: &mut Rng) {
    let len = text.len() as u32;
    if len == 0 {
        return;
    }
    let (at, other) = (rng.below(len) as usize, rng.below(len) as usize);
    match rng.below(7) {
        0 => {
            text.remove(at);
        }
        1 => text.insert(at, text[other]),
        2 => text[at] = text[other],
        3 => text[at] = 0x20 + rng.below(0x5F) as u8,
        4 => text[at] = text[at].wrapping_add(1 + rng.below(2) as u8 * 254),
        5 => {
            // The inside, twice or many times.
            let inside = text[at..].to_vec();
            for _ in 0..1u32 << rng.below(5) {
                if text.len() + inside.len() > 4096 {
                    break;
                }
                text.splice(at..at, inside.iter().copied());
            }
        }
        _ => {
            let number = NUMBERS[rng.below(NUMBERS.len() as u32) as usize];
            let digits = |byte: &u8| byte.is_ascii_digit();
            let Some(from) = text.iter().position(digits) else { return };
            let to = text[from..].iter().position(|byte| !digits(byte)).map_or(text.len(), |n| from + n);
            text.splice(from..to, number.iter().copied());
        }
    }
}

/// Some number from 1 to `most`, small ones more often; none below 1.
fn some_of(most: u32, rng: &mut Rng) -> Option<u32> {
    if most == 0 {
        return None;
    }
    let upper = rng.below(most);
    let upper = rng.below(1 + upper);
    Some(1 + rng.below(1 + upper))
}

/// The nodes of some rounds of a repetition.
fn nodes_of(of: &Derivation, at: usize, first: u32, rounds: u32) -> std::ops::Range<usize> {
    let mut from = at + 1;
    for _ in 0..first {
        from = of.end(from);
    }
    let mut end = from;
    for _ in 0..rounds {
        end = of.end(end);
    }
    from..end
}
