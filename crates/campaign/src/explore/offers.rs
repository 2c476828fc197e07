//! What would have satisfied a comparison: from events to texts.
//!
//! In:  the log of a run on an input that ends with a sentinel.
//! Out: offers, each a text that can take the place of the input's end.
//!
//! Compilers do not say which relation was tested, and they shift constants
//! by one (`>= '0'` becomes `> '/'`): so both neighbours of a value are
//! offered too, as long as they are news of that place in the program.

use super::covered::Deed;
use super::demand::{Asked, Demands};
use super::sight::place;
use super::tokens::code;
use std::collections::{HashMap, HashSet};
use wug_random::Rng;
use wug_random::hash;
use wug_runtime::abi::{self, Event};

/// What kind of comparison an offer satisfies; it is told in names of entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A character that was compared.
    Character,
    /// The neighbour of one.
    Neighbour,
    /// A case of a switch.
    Case,
    /// A member of a class of characters.
    Class,
    /// An element of a set that was searched, or what was searched for.
    Set,
    /// A text that was compared.
    Text,
    /// A word that was learned elsewhere.
    Word,
    /// A lexeme whose code was compared.
    Token,
    /// A letter, digit or space, to see what happens.
    Guess,
    /// What closed such a construct before.
    Closing,
    /// The rest of another valid input.
    Combined,
    /// Something in the middle of a valid input.
    Inside,
}

impl Kind {
    /// Its name, as in names of entries.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Character => "character",
            Kind::Neighbour => "neighbour",
            Kind::Case => "case",
            Kind::Class => "class",
            Kind::Set => "set",
            Kind::Text => "text",
            Kind::Word => "word",
            Kind::Token => "token",
            Kind::Guess => "guess",
            Kind::Closing => "closing",
            Kind::Combined => "combined",
            Kind::Inside => "inside",
        }
    }
}

/// A text that can stand behind the first bytes of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// How many bytes of the input stay.
    pub keep: usize,
    /// What follows them.
    pub text: Vec<u8>,
    /// Why.
    pub kind: Kind,
    /// The last event that asked for it.
    pub at: u32,
    /// What that event would do then.
    pub deed: Wanted,
    /// By what kind of place: the most telling of those that asked.
    pub asked: Asked,
}

/// The code of a token that was compared with the sentinel's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    pub value: u64,
    /// The last event that asked for it.
    pub at: u32,
    /// As of offers.
    pub deed: Wanted,
    pub asked: Asked,
}

/// A comparison that is wanted to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// That it holds.
    pub deed: Deed,
    /// The same, by the few innermost calls.
    pub here: u64,
}

impl Wanted {
    fn of(event: &Event, value: u64) -> Wanted {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&place(event, event.near[0].into(), 0).to_le_bytes());
        bytes[8..].copy_from_slice(&value.to_le_bytes());
        Wanted { deed: Deed::at(event.module, event.site, value), here: hash(&bytes) }
    }
}

/// What a run's comparisons of the tail would have been satisfied by.
#[derive(Clone, Debug, Default)]
pub struct Offered {
    pub texts: Vec<Offer>,
    pub codes: Vec<Code>,
    /// The first event that asked for a code.
    pub token: Option<u32>,
}

/// An input with a tail of sentinels.
#[derive(Clone, Copy, Debug)]
pub struct Probed<'a> {
    /// All of it.
    pub input: &'a [u8],
    /// How many bytes are not of the tail.
    pub keep: usize,
    /// What the tail is made of.
    pub sentinel: u8,
}

/// Texts are taken up to this length.
const LONGEST: usize = 40;

impl Probed<'_> {
    /// Whether an operand of so many bytes is the sentinel, or one of the
    /// values that it was turned into.
    fn is_it(&self, value: u64, size: u8, aliases: &[u64]) -> bool {
        let wide = i64::from(self.sentinel as i8) as u64;
        let mask = if size >= 8 { u64::MAX } else { (1 << (8 * u32::from(size.max(1)))) - 1 };
        let value = value & mask;
        value == u64::from(self.sentinel) || value == wide & mask || aliases.contains(&value)
    }

    /// Where in the input a text begins that the program had in its hands:
    /// it must reach into the tail, or end where that begins.
    fn locate(&self, text: &[u8]) -> Option<usize> {
        if text.is_empty() {
            return None;
        }
        let same = |a: &[u8], b: &[u8]| a.eq_ignore_ascii_case(b);
        let first = self.keep.saturating_sub(text.len());
        (first..=self.keep).find(|&from| {
            let rest = &self.input[from..];
            if rest.is_empty() {
                return false;
            }
            let common = rest.len().min(text.len());
            // A text that is longer than the rest read on into other memory.
            from + common >= self.keep && same(&rest[..common], &text[..common])
        })
    }

    /// Whether an event looked at the tail.
    pub fn touches(&self, event: &Event, aliases: &mut Vec<u64>) -> bool {
        match event.kind {
            abi::EVENT_COMPARE => {
                self.is_it(event.a, event.size, aliases) || self.is_it(event.b, event.size, aliases)
            }
            abi::EVENT_SWITCH | abi::EVENT_CLASS => self.is_it(event.a, event.size.max(4), aliases),
            abi::EVENT_SET => self.is_it(event.a, 1, aliases) || event.x().contains(&self.sentinel),
            // Texts that only end with it are about what comes before.
            abi::EVENT_TEXT => [event.x(), event.y()].iter().any(|text| text.first() == Some(&self.sentinel)),
            abi::EVENT_FOLD => {
                let it = self.is_it(event.a, 4, aliases);
                if it && event.b != event.a && aliases.len() < 4 {
                    aliases.push(event.b & 0xff);
                }
                it
            }
            _ => false,
        }
    }
}

/// Places in the program whose neighbours were offered.
pub type Ranges = HashSet<(u16, u32, u8)>;

/// Collects what a run's comparisons of the tail offer, each once.
pub fn offers(
    probed: Probed<'_>,
    events: &[Event],
    demands: &Demands,
    ranges: &mut Ranges,
    rng: &mut Rng,
) -> Offered {
    let mut all = Collected {
        probed,
        offered: Offered::default(),
        seen: HashMap::new(),
        at: 0,
        event: None,
        asked: Asked::Here,
    };
    let mut aliases = Vec::new();
    for (at, event) in events.iter().enumerate() {
        (all.at, all.asked) = (at as u32, demands.asked(event));
        all.event = Some(event);
        match event.kind {
            abi::EVENT_COMPARE => {
                let other = match () {
                    () if probed.is_it(event.b, event.size, &aliases) => event.a,
                    () if probed.is_it(event.a, event.size, &aliases) => event.b,
                    () => {
                        all.packed(event);
                        continue;
                    }
                };
                if let Some(code) = code(other, event.size) {
                    all.code(code);
                } else if let Some(byte) = byte(other, event.size) {
                    all.byte(byte, Kind::Character);
                    if ranges.insert((event.module, event.site, byte)) {
                        all.byte(byte.wrapping_add(1), Kind::Neighbour);
                        all.byte(byte.wrapping_sub(1), Kind::Neighbour);
                    }
                }
            }
            abi::EVENT_SWITCH if probed.is_it(event.a, event.size, &aliases) => {
                for case in event.cases() {
                    if let Some(code) = code(*case, event.size) {
                        all.code(code);
                    } else if let Some(byte) = byte(*case, event.size) {
                        all.byte(byte, Kind::Case);
                        if ranges.insert((event.module, event.site, byte)) {
                            all.byte(byte.wrapping_add(1), Kind::Neighbour);
                            all.byte(byte.wrapping_sub(1), Kind::Neighbour);
                        }
                    }
                }
            }
            abi::EVENT_CLASS if probed.is_it(event.a, 4, &aliases) && event.flags & abi::FLAG_EQUAL == 0 => {
                for byte in members(event.function, rng) {
                    all.byte(byte, Kind::Class);
                }
            }
            abi::EVENT_SET if probed.is_it(event.a, 1, &aliases) => {
                for byte in event.x() {
                    all.byte(*byte, Kind::Set);
                }
            }
            abi::EVENT_SET if event.x().contains(&probed.sentinel) => all.byte(event.a as u8, Kind::Set),
            abi::EVENT_TEXT => {
                for (own, other) in [(event.x(), event.y()), (event.y(), event.x())] {
                    if let Some(from) = probed.locate(own) {
                        all.text(from, other);
                    }
                }
            }
            abi::EVENT_FOLD => drop(probed.touches(event, &mut aliases)),
            _ => {}
        }
    }
    all.offered
}

struct Collected<'a> {
    probed: Probed<'a>,
    offered: Offered,
    /// Where each is.
    seen: HashMap<(usize, Vec<u8>), usize>,
    /// The event that is looked at, and what kind of place it is of.
    at: u32,
    event: Option<&'a Event>,
    asked: Asked,
}

impl Collected<'_> {
    fn byte(&mut self, byte: u8, kind: Kind) {
        // Hardly a program means the NUL when it compares with 1.
        let told = byte != 0 || kind != Kind::Neighbour;
        if told && byte != self.probed.sentinel {
            self.add(self.probed.keep, &[byte], kind);
        }
    }

    fn text(&mut self, from: usize, text: &[u8]) {
        let text = &text[..text.iter().position(|byte| *byte == 0).unwrap_or(text.len())];
        // What is in the input already is not what it was compared with: the
        // program looked for a word where another stands.
        let own = |text: &[u8]| self.probed.input.windows(text.len()).any(|part| part == text);
        if !text.is_empty() && text.len() <= LONGEST && !own(text) {
            self.add(from, text, Kind::Text);
        }
    }

    /// Programs compare short texts as numbers, too: an operand that holds
    /// the tail, or its beginning, was compared with a text.
    fn packed(&mut self, event: &Event) {
        let (tail, size) = (self.probed.input.len() - self.probed.keep, usize::from(event.size.min(8)));
        for (own, other) in [(event.a, event.b), (event.b, event.a)] {
            let (own, other) = (&own.to_le_bytes()[..size], &other.to_le_bytes()[..size]);
            let Some(from) = own.iter().position(|byte| *byte == self.probed.sentinel) else { continue };
            let length = own[from..].iter().take_while(|byte| **byte == self.probed.sentinel).count();
            let text = &other[from..from + length];
            // A part of a longer text is no text.
            let part = [from.checked_sub(1), Some(from + length)].into_iter().flatten();
            let part = part.filter_map(|at| other.get(at)).any(u8::is_ascii_graphic);
            let whole = length == tail.min(size - from) && length > 1;
            if whole && !part && text.iter().all(u8::is_ascii_graphic) {
                self.text(self.probed.keep, text);
            }
        }
    }

    fn wanted(&self, value: u64) -> Wanted {
        self.event.map_or(Wanted { deed: Deed::at(0, 0, value), here: 0 }, |event| Wanted::of(event, value))
    }

    fn code(&mut self, value: u64) {
        let (at, deed, asked) = (self.at, self.wanted(value), self.asked);
        self.offered.token.get_or_insert(at);
        match self.offered.codes.iter_mut().find(|code| code.value == value) {
            Some(code) if asked <= code.asked => {
                (code.at, code.deed, code.asked) = (at, deed, asked);
            }
            Some(_) => {}
            None => self.offered.codes.push(Code { value, at, deed, asked }),
        }
    }

    fn add(&mut self, keep: usize, text: &[u8], kind: Kind) {
        let wanted = if kind == Kind::Text { hash(text) } else { u64::from(text[0]) };
        let (at, deed, asked) = (self.at, self.wanted(wanted), self.asked);
        let texts = &mut self.offered.texts;
        match self.seen.get(&(keep, text.to_vec())).map(|known| &mut texts[*known]) {
            // What a place of its own asked for stays so.
            Some(known) if asked <= known.asked => {
                (known.at, known.deed, known.asked) = (at, deed, asked);
                if known.kind == Kind::Neighbour {
                    known.kind = kind;
                }
            }
            Some(_) => {}
            None => {
                self.seen.insert((keep, text.to_vec()), texts.len());
                texts.push(Offer { keep, text: text.to_vec(), kind, at, deed, asked });
            }
        }
    }
}

/// The byte that an operand stands for; negative numbers of a signed `char`
/// too, but not -1, which is the end of a file.
fn byte(value: u64, size: u8) -> Option<u8> {
    let bits = 8 * u32::from(size.clamp(1, 8));
    let signed = ((value << (64 - bits)) as i64) >> (64 - bits);
    match signed {
        0..=255 => Some(signed as u8),
        -128..=-2 => Some(signed as u8),
        -1 if size == 1 => Some(255),
        _ => None,
    }
}

/// Some members of a class.
fn members(class: u8, rng: &mut Rng) -> Vec<u8> {
    let all: Vec<u8> = (1..=127).filter(|byte| abi::in_class(class, *byte)).collect();
    if all.is_empty() {
        return all;
    }
    let plain = [b' ', b'a', b'A', b'0', b'1'].into_iter().filter(|byte| all.contains(byte));
    plain.take(2).chain([all[rng.below(all.len() as u32) as usize]]).collect()
}

#[cfg(test)]
mod tests;
