//! A step of the search, and what is added in a new state.

use super::demand::Asked;
use super::frontier::doubts;
use super::nodes::Node;
use super::offers::{Kind, Offer, Offered};
use super::output::Answer;
use super::rank::Item;
use super::sentinel::{Class, sentinel};
use super::sight::{Sight, State};
use super::words::is_wordlike;
use super::{Error, Explorer};
use wug_target::Verdict;

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
        self.frontier.nodes.add(root);
        self.prober.look_for_scans()?;
        self.check(b"", 0, Kind::Guess, b"")?;
        if let Some(sight) = self.look(b"", Class::Control, 1)? {
            let offered = std::mem::take(&mut self.prober.glance.offered);
            let node = self.frontier.nodes.at_mut(0);
            (node.state, node.depth) = (sight.state, sight.depth);
            node.wishes = std::mem::take(&mut self.prober.glance.wishes).into();
            self.frontier.class_of(sight.state);
            self.expand(0, offered)?;
        }
        Ok(())
    }

    /// A step: runs an input as it is, and with a sentinel.
    pub(super) fn visit(&mut self, item: &Item) -> Result<(), Error> {
        self.tell()?;
        let keep = item.keep as usize;
        let input = [&self.frontier.nodes.at(item.node).input[..keep], &item.text[..]].concat();
        for next in self.frontier.queue.soon() {
            let before = &self.frontier.nodes.at(next.node).input[..next.keep as usize];
            self.prober.expect(|| Some([before, &next.text[..]].concat()));
        }
        let (before, execs) = (self.output.host.len(), self.prober.execs);
        let made = self.extend(item.node, &input, item.kind, &item.text)?;
        let news = self.output.host.len() > before
            || made.as_ref().is_some_and(|(node, _)| self.frontier.nodes.at(*node).class < 2);
        if item.text[..] == [0] {
            self.known.nuls.tried(made.is_some());
        }
        // A word that is compared is tried once in each state, whatever comes
        // of the others.
        let counts = !news && self.prober.execs > execs && item.kind != Kind::Text;
        self.frontier.nodes.at_mut(item.node).tries += u32::from(counts);
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
        if input.len() > self.options.max_size || !self.frontier.is_first(input) {
            return Ok(None);
        }
        let rng = &mut self.rng;
        self.prober.expect(|| sentinel(input, Class::Control, rng).map(|byte| [input, &[byte]].concat()));
        if !self.frontier.was_guessed(input) {
            self.check(input, parent, kind, added)?;
        }
        let Some(sight) = self.look(input, Class::Control, 1)? else { return Ok(None) };
        if !sight.touched || sight.verdict == Verdict::Timeout {
            return Ok(None);
        }
        let offered = std::mem::take(&mut self.prober.glance.offered);
        let glance = &mut self.prober.glance;
        let node = self.frontier.make_node(parent, input, &sight, glance, &mut self.known);
        Ok(node.map(|node| (node, offered)))
    }

    /// Runs an input as it is, and keeps it if it is valid and covers more.
    pub(super) fn check(
        &mut self,
        input: &[u8],
        node: u32,
        kind: Kind,
        added: &[u8],
    ) -> Result<Answer, Error> {
        let seen = self.prober.run(input)?;
        let verdict = seen.verdict;
        let parsed = verdict == Verdict::Ok || self.known.rejects.parsed(seen.coverage);
        if !parsed {
            return Ok(Answer::Rejected);
        }
        self.output.counts.accepted += 1;
        if verdict == Verdict::Ok {
            self.known.inner.accept(input);
        }
        let new = self.known.covered.add(&self.known.words, seen.pairs, seen.events);
        if verdict == Verdict::Ok {
            self.known.rejects.accept(seen.coverage);
        }
        if !new {
            return Ok(Answer::Known);
        }
        let hit = &mut self.output.counts.hit;
        hit.resize(hit.len().max(seen.coverage.len()), 0);
        for (hit, count) in hit.iter_mut().zip(seen.coverage) {
            *hit |= u8::from(*count > 0);
        }
        let entry =
            self.output.keep(input, verdict, self.frontier.nodes.at(node), self.prober.execs, kind, added)?;
        let stops = self.frontier.nodes.stops(node, input);
        for state in self.known.closing.learn(input, &stops) {
            self.frontier.close_again(state);
        }
        self.known.ways.add(input, stops, node);
        if verdict == Verdict::Ok {
            self.known.inner.add(input, node);
        }
        self.frontier.nodes.at_mut(node).entry = entry.or(self.frontier.nodes.at(node).entry);
        Ok(Answer::New)
    }

    /// Runs an input with a tail of sentinels behind it; what the parser asks
    /// for is in the prober's glance. None if no byte is left for a sentinel.
    pub(super) fn look(&mut self, input: &[u8], class: Class, tail: usize) -> Result<Option<Sight>, Error> {
        let Some(byte) = sentinel(input, class, &mut self.rng) else { return Ok(None) };
        Ok(Some(self.prober.look(input, byte, tail, &mut self.known, &mut self.rng)?))
    }

    /// Queues what may follow a node. Where something is new, more is looked
    /// at, and what is open is closed.
    fn expand(&mut self, node: u32, mut offered: Offered) -> Result<(), Error> {
        let input = self.frontier.nodes.at(node).input.clone();
        let place = self.prober.glance.place;
        self.learn_place(&input, place)?;
        self.ask_operator(&input)?;
        if self.frontier.nodes.at(node).class < 2 {
            // Where tokens are compared, these tell what can follow.
            let by_tokens = !offered.codes.is_empty();
            // Something must be able to begin.
            let alive = by_tokens || input.is_empty() || self.goes_on(&input)?;
            self.frontier.nodes.at_mut(node).dead = !alive;
            if alive && (!by_tokens || self.frontier.open.len() < GROWN) {
                self.look_around(&input, &mut offered.texts)?;
                self.frontier.guess(node, &self.known, &mut self.rng);
                if self.takes_words(&input, &mut offered.texts)? {
                    self.frontier.wordy.push(node);
                    self.offer_words(node);
                }
            }
            if alive {
                self.frontier.open.push(node);
            }
        }
        self.queue_offers(node, offered)?;
        match self.known.worth_of_closing(self.frontier.nodes.at(node)) {
            0 => Ok(()),
            worth => self.close(node, worth),
        }
    }

    pub(super) fn queue_offers(&mut self, node: u32, offered: Offered) -> Result<(), Error> {
        let from = self.frontier.nodes.at(node);
        if from.class >= OFTEN && from.fresh.is_empty() {
            return Ok(());
        }
        let novel = self.known.pending(from) > 0;
        self.learn_words(&offered.texts)?;
        self.offer_tokens(node, &offered.codes)?;
        for offer in &offered.texts {
            if offer.text == [0] && !self.known.nuls.are_read() {
                continue;
            }
            let ever = !self.known.was_wanted(offer.deed.deed);
            let known = self.known.is_known(offer.deed, offer.asked);
            // What a lexer asks for in every state is worth less than the
            // tokens that the parser asks for in this one. Where no token is
            // compared, it is all that tells what can follow, new or not.
            let by_state = match (offer.asked, offered.codes.is_empty()) {
                (Asked::Here, _) => known,
                (Asked::Always, true) => 0,
                (Asked::Always, false) | (Asked::Reading, _) => LEXED + known,
            };
            let doubts = by_state + doubts(offer.kind);
            self.frontier.add(node, offer.keep, &offer.text, offer.kind, doubts, &self.known);
            // It may complete what is new here, or be new itself.
            if doubts == 0 && (ever || novel) {
                self.try_end(node, offer.keep, &offer.text, offer.kind)?;
            }
        }
        Ok(())
    }

    /// Looks with sentinels of other classes, and with longer tails: words
    /// are often compared only where the length is right.
    fn look_around(&mut self, input: &[u8], offers: &mut Vec<Offer>) -> Result<(), Error> {
        let mut looks = vec![(Class::Letter, 12)];
        if self.frontier.open.len() < GROWN {
            let classes = [Class::Letter, Class::Digit, Class::High, Class::Punctuation, Class::Space];
            looks.extend(classes.map(|class| (class, 1)));
            looks.extend(LENGTHS.map(|length| (Class::Letter, length)));
        }
        for (class, tail) in looks {
            if self.look(input, class, tail)?.is_some() {
                let words = count_words(&self.prober.glance.offered.texts);
                if class == Class::Letter && words > self.frontier.word_tail.0 {
                    self.frontier.word_tail = (words, tail);
                }
                offers.append(&mut self.prober.glance.offered.texts);
            }
        }
        Ok(())
    }

    /// Whether words are compared behind an input, as they are not inside of
    /// strings and comments. Where no comparison has told of words, they may
    /// stand anywhere.
    fn takes_words(&mut self, input: &[u8], offers: &mut Vec<Offer>) -> Result<bool, Error> {
        let (words, tail) = self.frontier.word_tail;
        if words == 0 || count_words(offers) > 0 {
            return Ok(true);
        }
        if self.look(input, Class::Letter, tail)?.is_some() {
            offers.append(&mut self.prober.glance.offered.texts);
        }
        Ok(count_words(offers) > 0)
    }

    /// Whether the parser reads on behind white space. What it rejects it
    /// does not read on from; but nor does it inside some tokens.
    fn goes_on(&mut self, input: &[u8]) -> Result<bool, Error> {
        let spaced = [input, b" "].concat();
        Ok(self.look(&spaced, Class::Control, 1)?.is_some_and(|sight| sight.touched))
    }

    /// Words that are known, and texts that may be.
    fn offer_words(&mut self, node: u32) {
        for at in 0..self.known.words.known().len() {
            let word = self.known.words.known()[at].clone();
            self.frontier.add_word(node, &word, Kind::Word, 0, &self.known);
        }
        if self.frontier.open.len() <= TRIALS && !self.known.codes.known() {
            for text in std::mem::take(&mut self.known.doubtful) {
                self.frontier.add_word(node, &text, Kind::Word, 0, &self.known);
                self.known.doubtful.push(text);
            }
        }
    }

    /// Texts that comparisons offered are words, here and elsewhere.
    pub(super) fn learn_words(&mut self, offers: &[Offer]) -> Result<(), Error> {
        for offer in offers.iter().filter(|offer| offer.kind == Kind::Text) {
            if self.known.words.learn(&offer.text) {
                self.ask(&offer.text)?;
                let first = self.frontier.wordy.len().saturating_sub(BACK);
                for at in first..self.frontier.wordy.len() {
                    self.frontier.add_word(self.frontier.wordy[at], &offer.text, Kind::Word, 0, &self.known);
                }
            }
        }
        Ok(())
    }
}

/// Words that are offered because they were compared.
fn count_words(offers: &[Offer]) -> usize {
    offers.iter().filter(|offer| offer.kind == Kind::Text && is_wordlike(&offer.text)).count()
}
