//! A step of the search, and what is added in a new state.

use super::nodes::Node;
use super::offers::{Kind, Offer};
use super::output::Answer;
use super::rank::{Item, Merits, class};
use super::sentinel::Class;
use super::sight::{Sight, State};
use super::words::runs_together;
use super::{Error, Explorer};
use crate::executor::Verdict;
use crate::hash::hash;

/// Inputs that had their turn are remembered up to this number.
const TRIED: usize = 1 << 22;
/// A state of this class is not gone on from, unless what leads there is new.
const OFTEN: u32 = 8;
/// Lengths of words that are tried, and in how many states.
const LENGTHS: std::ops::RangeInclusive<usize> = 2..=12;
const GROWN: usize = 2;
/// States in which texts of the program are tried as words.
const TRIALS: usize = 4;
/// States that a new word is tried in.
const BACK: usize = 400;
/// Executions that closing takes, more or less.
const CLOSING: u64 = 16;
/// How often it is tried to make a valid input that does something new.
const ATTEMPTS: u8 = 12;
/// Nodes of a state that wait for a way to close it.
const WAITING: usize = 16;
/// Usual ends that are tried to close an input.
const ENDS: usize = 4;

impl Explorer<'_> {
    /// Starts from nothing.
    pub(super) fn root(&mut self) -> Result<(), Error> {
        let root = Node {
            input: Box::default(),
            parent: 0,
            steps: 0,
            state: State::default(),
            class: 0,
            depth: 0.0,
            dead: false,
            fresh: Box::default(),
            entry: None,
        };
        self.nodes.add(root);
        self.check(b"", 0, Kind::Guess, b"")?;
        if let Some(sight) = self.look(b"", Class::Control, 1)? {
            let offers = std::mem::take(&mut self.offers);
            let node = self.nodes.at_mut(0);
            (node.state, node.depth) = (sight.state, sight.depth);
            self.class_of(sight.state);
            self.expand(0, offers)?;
        }
        Ok(())
    }

    /// What is tried next.
    pub(super) fn next(&mut self) -> Option<Item> {
        let (nodes, covered) = (&self.nodes, &self.covered);
        self.queue.next(|item| {
            let node = nodes.at(item.node);
            let fresh = node.fresh.iter().filter(|deed| !covered.has(**deed)).count();
            merits(node, item.keep as usize, &item.text, fresh)
        })
    }

    /// A step: runs an input as it is, and with a sentinel.
    pub(super) fn visit(&mut self, item: &Item) -> Result<(), Error> {
        self.tell()?;
        let keep = item.keep as usize;
        let input = [&self.nodes.at(item.node).input[..keep], &item.text[..]].concat();
        if let Some((node, offers)) = self.extend(item.node, &input, item.kind, &item.text)? {
            self.expand(node, offers)?;
        }
        Ok(())
    }

    /// Runs an input, and makes a node of it if it can go on.
    fn extend(
        &mut self,
        parent: u32,
        input: &[u8],
        kind: Kind,
        added: &[u8],
    ) -> Result<Option<(u32, Vec<Offer>)>, Error> {
        if input.len() > self.options.max_size || !self.is_first(input) {
            return Ok(None);
        }
        self.check(input, parent, kind, added)?;
        let Some(sight) = self.look(input, Class::Control, 1)? else { return Ok(None) };
        if !sight.touched || sight.verdict == Verdict::Timeout {
            return Ok(None);
        }
        let offers = std::mem::take(&mut self.offers);
        let node = self.make_node(parent, input, &sight);
        Ok(node.map(|node| (node, offers)))
    }

    /// Whether an input has not had its turn yet.
    fn is_first(&mut self, input: &[u8]) -> bool {
        self.remember(hash(input))
    }

    /// Whether an input was not run as it is yet: neither in its turn, nor
    /// as a guess of how another may end.
    pub(super) fn is_new(&mut self, input: &[u8]) -> bool {
        let hash = hash(input);
        !self.tried.contains(&hash) && self.remember(!hash)
    }

    fn remember(&mut self, hash: u64) -> bool {
        if self.tried.len() >= TRIED {
            self.tried.clear();
        }
        self.tried.insert(hash)
    }

    fn make_node(&mut self, parent: u32, input: &[u8], sight: &Sight) -> Option<u32> {
        let mut class = self.class_of(sight.state);
        for deed in &self.fresh {
            if !self.attempts.contains_key(deed) {
                class = 0;
            }
            self.attempts.entry(*deed).or_default();
        }
        let from = self.nodes.at(parent);
        let node = Node {
            input: input.into(),
            parent,
            steps: from.steps + 1,
            state: sight.state,
            class,
            depth: sight.depth,
            dead: false,
            fresh: self.fresh.as_slice().into(),
            entry: from.entry,
        };
        let node = self.nodes.add(node)?;
        let waiting = self.waiting.entry(sight.state.near).or_default();
        if !self.fresh.is_empty() && waiting.len() < WAITING {
            waiting.push(node);
        }
        Some(node)
    }

    /// How new a state is; from now on it is less so.
    fn class_of(&mut self, state: State) -> u32 {
        let mut count = |state: u64| {
            let seen = self.states.entry(state).or_default();
            *seen += 1;
            *seen - 1
        };
        class(count(state.near), count(state.nearby), count(state.full))
    }

    /// Queues what may follow a node. Where something is new, more is looked
    /// at, and what is open is closed.
    fn expand(&mut self, node: u32, mut offers: Vec<Offer>) -> Result<(), Error> {
        if self.nodes.at(node).class < 2 {
            let input = self.nodes.at(node).input.clone();
            let alive = self.goes_on(&input)?;
            self.nodes.at_mut(node).dead = !alive;
            if alive {
                self.look_around(&input, &mut offers)?;
                self.open.push(node);
                self.guess(node);
                self.offer_words(node);
            }
        }
        self.queue_offers(node, offers);
        if self.is_worth_closing(node) { self.close(node) } else { Ok(()) }
    }

    /// Whether a valid input made of a node would be new, and that was not
    /// tried too often.
    fn is_worth_closing(&mut self, node: u32) -> bool {
        let Node { class, fresh, dead, .. } = self.nodes.at(node);
        if *dead {
            return false;
        }
        let mut worth = *class < 2;
        for deed in fresh.iter().filter(|deed| !self.covered.has(**deed)) {
            let attempts = self.attempts.entry(*deed).or_default();
            worth |= *attempts < ATTEMPTS;
            *attempts = attempts.saturating_add(1);
        }
        worth
    }

    fn queue_offers(&mut self, node: u32, offers: Vec<Offer>) {
        let Node { class, fresh, .. } = self.nodes.at(node);
        if *class < OFTEN || !fresh.is_empty() {
            self.learn_words(&offers);
            for offer in offers {
                self.add(node, offer.keep, &offer.text, offer.kind);
            }
        }
    }

    /// Looks with sentinels of other classes, and with longer tails: words
    /// are often compared only where the length is right.
    fn look_around(&mut self, input: &[u8], offers: &mut Vec<Offer>) -> Result<(), Error> {
        let mut looks = vec![(Class::Letter, 1), (Class::Letter, 12), (Class::Digit, 1), (Class::High, 1)];
        if self.open.len() < GROWN {
            looks.extend([(Class::Punctuation, 1), (Class::Space, 1)]);
            looks.extend(LENGTHS.map(|length| (Class::Letter, length)));
        }
        for (class, tail) in looks {
            if self.look(input, class, tail)?.is_some() {
                offers.append(&mut self.offers);
            }
        }
        Ok(())
    }

    /// Whether the parser reads on behind white space. What it rejects it
    /// does not read on from; but nor does it inside some tokens.
    fn goes_on(&mut self, input: &[u8]) -> Result<bool, Error> {
        let spaced = [input, b" "].concat();
        Ok(self.look(&spaced, Class::Control, 1)?.is_some_and(|sight| sight.touched))
    }

    /// A letter, a digit and white space, whatever is compared.
    fn guess(&mut self, node: u32) {
        let letter = [b'a' + self.rng.below(26) as u8];
        let digit = [b'0' + self.rng.below(10) as u8];
        for text in [&letter[..], &digit[..], b" ", b"\n"] {
            self.add(node, self.nodes.at(node).input.len(), text, Kind::Guess);
        }
    }

    /// Words that are known, and texts that may be.
    fn offer_words(&mut self, node: u32) {
        for at in 0..self.words.known().len() {
            let word = self.words.known()[at].clone();
            self.add_word(node, &word);
        }
        if self.open.len() <= TRIALS {
            for text in std::mem::take(&mut self.doubtful) {
                self.add_word(node, &text);
                self.doubtful.push(text);
            }
        }
    }

    /// Texts that comparisons offered are words, here and elsewhere.
    pub(super) fn learn_words(&mut self, offers: &[Offer]) {
        for offer in offers.iter().filter(|offer| offer.kind == Kind::Text) {
            if self.words.learn(&offer.text) {
                let first = self.open.len().saturating_sub(BACK);
                for at in first..self.open.len() {
                    self.add_word(self.open[at], &offer.text);
                }
            }
        }
    }

    fn add_word(&mut self, node: u32, word: &[u8]) {
        let input = &self.nodes.at(node).input;
        let keep = input.len();
        if runs_together(input, word) {
            self.add(node, keep, &[b" ", word].concat(), Kind::Word);
        } else {
            self.add(node, keep, word, Kind::Word);
        }
    }

    fn add(&mut self, at: u32, keep: usize, text: &[u8], kind: Kind) {
        let node = self.nodes.at(at);
        let fresh = node.fresh.iter().filter(|deed| !self.covered.has(**deed)).count();
        let merits = merits(node, keep, text, fresh);
        self.queue.add(at, keep, text, kind, &merits);
    }

    /// Tries to make a valid input of a node by what closed such states
    /// before: depth first, along the shortest ways known, for a while.
    pub(super) fn close(&mut self, node: u32) -> Result<(), Error> {
        let mut open = vec![node];
        let until = self.counts.execs + CLOSING;
        while let Some(at) = open.pop()
            && self.counts.execs < until
        {
            let Node { input, state, .. } = self.nodes.at(at).clone();
            let mut ends = self.closing.ends(ENDS);
            ends.extend(self.closing.rest(state).map(<[u8]>::to_vec));
            for end in ends {
                if self.try_end(at, &input, &end)? == Some(Answer::New) {
                    return Ok(());
                }
            }
            // The last of them is on top.
            for step in self.closing.steps(state).into_iter().rev() {
                let longer = [&input[..], &step[..]].concat();
                if let Some((next, offers)) = self.extend(at, &longer, Kind::Closing, &step)? {
                    // It is on the way now, and what follows gets its turn.
                    self.queue_offers(next, offers);
                    open.push(next);
                }
            }
        }
        Ok(())
    }

    fn try_end(&mut self, node: u32, input: &[u8], end: &[u8]) -> Result<Option<Answer>, Error> {
        let whole = [input, end].concat();
        if whole.len() > self.options.max_size || !self.is_new(&whole) {
            return Ok(None);
        }
        self.check(&whole, node, Kind::Closing, end).map(Some)
    }
}

fn merits(node: &Node, keep: usize, text: &[u8], fresh: usize) -> Merits {
    Merits {
        class: node.class,
        dead: node.dead,
        length: keep + text.len(),
        blank: text.iter().all(u8::is_ascii_whitespace),
        depth: node.depth,
        fresh,
        steps: node.steps,
    }
}
