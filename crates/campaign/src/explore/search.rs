//! A step of the search, and what is added in a new state.

use super::demand::Asked;
use super::nodes::Node;
use super::offers::{Kind, Offer, Offered, Probed, Wanted};
use super::rank::{Item, Merits, class};
use super::sentinel::{Class, sentinel};
use super::sight::{Sight, State};
use super::words::{apart, is_wordlike};
use super::{Error, Explorer};
use wug_random::hash;
use wug_target::Verdict;

/// What programs are asked with whether they read all of it first: bytes that
/// parsers look at in different places, and one that hardly any expects.
const FIRST: &[u8; 8] = b"a0[\"(-{<";
const UNKNOWN: u8 = 0x7f;
/// Inputs that had their turn are remembered up to this number.
const TRIED: usize = 1 << 22;
/// A state of this class is not gone on from, unless what leads there is new.
const OFTEN: u32 = 8;
/// Classes later that what a lexer asks for comes.
const LEXED: u32 = 2;
/// Lengths of words that are tried, and in how many states.
const LENGTHS: std::ops::RangeInclusive<usize> = 2..=12;
const GROWN: usize = 2;
/// States in which texts of the program are tried as words.
const TRIALS: usize = 4;
/// States that a new word is tried in.
const BACK: usize = 400;
/// Nodes of a state that wait for a way to close it.
const WAITING: usize = 16;

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
            tries: 0,
            wishes: Box::default(),
            fresh: Box::default(),
            entry: None,
        };
        self.nodes.add(root);
        self.look_for_scans()?;
        self.check(b"", 0, Kind::Guess, b"")?;
        if let Some(sight) = self.look(b"", Class::Control, 1)? {
            let offered = std::mem::take(&mut self.offered);
            let node = self.nodes.at_mut(0);
            (node.state, node.depth) = (sight.state, sight.depth);
            node.wishes = std::mem::take(&mut self.wishes).into();
            self.class_of(sight.state);
            self.expand(0, offered)?;
        }
        Ok(())
    }

    /// Learns which places only read the input, before anything depends on it.
    fn look_for_scans(&mut self) -> Result<(), Error> {
        for first in FIRST {
            let probe = [*first, UNKNOWN];
            self.counts.execs += 1;
            let seen = self.runner.run(&probe)?;
            self.demands.learn_scans(Probed { input: &probe, keep: 1, sentinel: UNKNOWN }, seen.events);
        }
        Ok(())
    }

    /// What is tried next.
    pub(super) fn next(&mut self) -> Option<Item> {
        let (nodes, covered) = (&self.nodes, &self.covered);
        self.queue.next(|item| {
            let node = nodes.at(item.node);
            let fresh = node.fresh.iter().filter(|deed| !covered.has(**deed)).count();
            merits(node, item.keep as usize, &item.text, item.kind, fresh)
        })
    }

    /// A step: runs an input as it is, and with a sentinel.
    pub(super) fn visit(&mut self, item: &Item) -> Result<(), Error> {
        self.tell()?;
        let keep = item.keep as usize;
        let input = [&self.nodes.at(item.node).input[..keep], &item.text[..]].concat();
        for next in self.queue.soon() {
            let before = &self.nodes.at(next.node).input[..next.keep as usize];
            self.runner.expect(|| Some([before, &next.text[..]].concat()));
        }
        let (before, execs) = (self.host.len(), self.counts.execs);
        let made = self.extend(item.node, &input, item.kind, &item.text)?;
        let news =
            self.host.len() > before || made.as_ref().is_some_and(|(node, _)| self.nodes.at(*node).class < 2);
        if item.text[..] == [0] {
            self.nuls.tried(made.is_some());
        }
        // A word that is compared is tried once in each state, whatever comes
        // of the others.
        let counts = !news && self.counts.execs > execs && item.kind != Kind::Text;
        self.nodes.at_mut(item.node).tries += u32::from(counts);
        match made {
            Some((node, offered)) => self.expand(node, offered),
            None => Ok(()),
        }
    }

    /// Runs an input, and makes a node of it if it can go on.
    pub(super) fn extend(
        &mut self,
        parent: u32,
        input: &[u8],
        kind: Kind,
        added: &[u8],
    ) -> Result<Option<(u32, Offered)>, Error> {
        if input.len() > self.options.max_size || !self.is_first(input) {
            return Ok(None);
        }
        let rng = &mut self.rng;
        self.runner.expect(|| sentinel(input, Class::Control, rng).map(|byte| [input, &[byte]].concat()));
        if !self.tried.contains(&!hash(input)) {
            self.check(input, parent, kind, added)?;
        }
        let Some(sight) = self.look(input, Class::Control, 1)? else { return Ok(None) };
        if !sight.touched || sight.verdict == Verdict::Timeout {
            return Ok(None);
        }
        let offered = std::mem::take(&mut self.offered);
        let node = self.make_node(parent, input, &sight);
        Ok(node.map(|node| (node, offered)))
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
            tries: 0,
            wishes: std::mem::take(&mut self.wishes).into(),
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
    fn expand(&mut self, node: u32, mut offered: Offered) -> Result<(), Error> {
        let input = self.nodes.at(node).input.clone();
        let place = self.place;
        self.learn_place(&input, place)?;
        self.ask_operator(&input)?;
        if self.nodes.at(node).class < 2 {
            // Where tokens are compared, these tell what can follow.
            let by_tokens = !offered.codes.is_empty();
            // Something must be able to begin.
            let alive = by_tokens || input.is_empty() || self.goes_on(&input)?;
            self.nodes.at_mut(node).dead = !alive;
            if alive && (!by_tokens || self.open.len() < GROWN) {
                self.look_around(&input, &mut offered.texts)?;
                self.guess(node);
                if self.takes_words(&input, &mut offered.texts)? {
                    self.wordy.push(node);
                    self.offer_words(node);
                }
            }
            if alive {
                self.open.push(node);
            }
        }
        self.queue_offers(node, offered)?;
        match self.worth_of_closing(node) {
            0 => Ok(()),
            worth => self.close(node, worth),
        }
    }

    pub(super) fn queue_offers(&mut self, node: u32, offered: Offered) -> Result<(), Error> {
        let Node { class, fresh, .. } = self.nodes.at(node);
        if *class >= OFTEN && fresh.is_empty() {
            return Ok(());
        }
        let novel = fresh.iter().any(|deed| !self.covered.has(*deed));
        self.learn_words(&offered.texts)?;
        self.offer_tokens(node, &offered.codes)?;
        for offer in &offered.texts {
            if offer.text == [0] && !self.nuls.are_read() {
                continue;
            }
            let ever = !self.wanted.contains(&offer.deed.deed);
            let known = self.is_known(offer.deed, offer.asked);
            // What a lexer asks for in every state is worth less than the
            // tokens that the parser asks for in this one. Where no token is
            // compared, it is all that tells what can follow, new or not.
            let by_state = match (offer.asked, offered.codes.is_empty()) {
                (Asked::Here, _) => known,
                (Asked::Always, true) => 0,
                (Asked::Always, false) | (Asked::Reading, _) => LEXED + known,
            };
            let doubts = by_state + doubts(offer.kind);
            self.add(node, offer.keep, &offer.text, offer.kind, doubts);
            // It may complete what is new here, or be new itself.
            if doubts == 0 && (ever || novel) {
                self.try_end(node, offer.keep, &offer.text, offer.kind)?;
            }
        }
        Ok(())
    }

    /// 0 if no valid input made a comparison hold and it is wanted for the
    /// first time after these calls; 1 if not. Lexers are called from
    /// everywhere: of their places the first time counts alone.
    pub(super) fn is_known(&mut self, wanted: Wanted, asked: Asked) -> u32 {
        let (ever, here) = (self.wanted.insert(wanted.deed), self.asked.insert(wanted.here));
        let first = if asked == Asked::Here { here } else { ever };
        u32::from(!first || self.covered.has(wanted.deed))
    }

    /// Looks with sentinels of other classes, and with longer tails: words
    /// are often compared only where the length is right.
    fn look_around(&mut self, input: &[u8], offers: &mut Vec<Offer>) -> Result<(), Error> {
        let mut looks = vec![(Class::Letter, 12)];
        if self.open.len() < GROWN {
            let classes = [Class::Letter, Class::Digit, Class::High, Class::Punctuation, Class::Space];
            looks.extend(classes.map(|class| (class, 1)));
            looks.extend(LENGTHS.map(|length| (Class::Letter, length)));
        }
        for (class, tail) in looks {
            if self.look(input, class, tail)?.is_some() {
                let words = count_words(&self.offered.texts);
                if class == Class::Letter && words > self.word_tail.0 {
                    self.word_tail = (words, tail);
                }
                offers.append(&mut self.offered.texts);
            }
        }
        Ok(())
    }

    /// Whether words are compared behind an input, as they are not inside of
    /// strings and comments. Where no comparison has told of words, they may
    /// stand anywhere.
    fn takes_words(&mut self, input: &[u8], offers: &mut Vec<Offer>) -> Result<bool, Error> {
        let (words, tail) = self.word_tail;
        if words == 0 || count_words(offers) > 0 {
            return Ok(true);
        }
        if self.look(input, Class::Letter, tail)?.is_some() {
            offers.append(&mut self.offered.texts);
        }
        Ok(count_words(offers) > 0)
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
            self.add(node, self.nodes.at(node).input.len(), text, Kind::Guess, doubts(Kind::Guess));
        }
    }

    /// Words that are known, and texts that may be.
    fn offer_words(&mut self, node: u32) {
        for at in 0..self.words.known().len() {
            let word = self.words.known()[at].clone();
            self.add_word(node, &word, Kind::Word, 0);
        }
        if self.open.len() <= TRIALS && !self.codes.known() {
            for text in std::mem::take(&mut self.doubtful) {
                self.add_word(node, &text, Kind::Word, 0);
                self.doubtful.push(text);
            }
        }
    }

    /// Texts that comparisons offered are words, here and elsewhere.
    pub(super) fn learn_words(&mut self, offers: &[Offer]) -> Result<(), Error> {
        for offer in offers.iter().filter(|offer| offer.kind == Kind::Text) {
            if self.words.learn(&offer.text) {
                self.ask(&offer.text)?;
                let first = self.wordy.len().saturating_sub(BACK);
                for at in first..self.wordy.len() {
                    self.add_word(self.wordy[at], &offer.text, Kind::Word, 0);
                }
            }
        }
        Ok(())
    }

    pub(super) fn add_word(&mut self, node: u32, word: &[u8], kind: Kind, known: u32) {
        let input = &self.nodes.at(node).input;
        let (keep, text) = (input.len(), apart(input, word));
        self.add(node, keep, &text, kind, known + doubts(kind));
    }

    fn add(&mut self, at: u32, keep: usize, text: &[u8], kind: Kind, doubts: u32) {
        let node = self.nodes.at(at);
        let fresh = node.fresh.iter().filter(|deed| !self.covered.has(**deed)).count();
        let merits = merits(node, keep, text, kind, fresh);
        self.queue.add(at, keep, text, kind, doubts, &merits);
    }
}

/// Words that are offered because they were compared.
fn count_words(offers: &[Offer]) -> usize {
    offers.iter().filter(|offer| offer.kind == Kind::Text && is_wordlike(&offer.text)).count()
}

/// How many classes later an offer comes for what it is.
fn doubts(kind: Kind) -> u32 {
    u32::from(matches!(kind, Kind::Neighbour | Kind::Guess | Kind::Word))
}

fn merits(node: &Node, keep: usize, text: &[u8], kind: Kind, fresh: usize) -> Merits {
    let added = if matches!(kind, Kind::Token | Kind::Text) { 1 } else { text.len() };
    Merits {
        class: node.class,
        dead: node.dead,
        length: keep + added,
        blank: text.iter().all(u8::is_ascii_whitespace),
        depth: node.depth,
        fresh,
        steps: node.steps,
        tries: if kind == Kind::Text { 0 } else { node.tries },
        compared: kind == Kind::Text,
    }
}
