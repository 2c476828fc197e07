//! What is tried beside the queue, now and then.
//!
//! *Random words*: tables of words that are found by a hash compare nothing
//! unless the hash is right; among many words some are. *Combinations*: where
//! two valid inputs passed through the same state, the beginning of one and
//! the rest of the other make an input. *Second thoughts*: where a way to close
//! a state was learned, inputs that ended there with something new are closed.

use super::ends::CLOSING;
use super::inside::names;
use super::offers::Kind;
use super::sentinel::Class;
use super::{Error, Explorer};

/// Every so many steps.
const EVERY: u64 = 8;
/// Combinations at once.
const COMBINED: u32 = 8;

impl Explorer<'_> {
    pub(super) fn aside(&mut self) -> Result<(), Error> {
        self.output.counts.rounds += 1;
        self.ask_more()?;
        if let Some(node) = self.frontier.again.pop_front() {
            return self.close_again(node);
        }
        if self.frontier.queue.len() > 0 && !self.output.counts.rounds.is_multiple_of(EVERY) {
            return Ok(());
        }
        self.tell()?;
        match self.output.counts.rounds / EVERY % 4 {
            0 => self.random_word(),
            1 => self.probe_name(),
            2 => self.combine(),
            _ => self.look_inside(),
        }
    }

    /// Closes what could not be closed before, now that more is known.
    fn close_again(&mut self, node: u32) -> Result<(), Error> {
        let pending = self.known.pending(self.frontier.nodes.at(node));
        if pending > 0 { self.close(node, CLOSING) } else { Ok(()) }
    }

    /// Looks what a word of random letters is compared with.
    fn random_word(&mut self) -> Result<(), Error> {
        let Some(node) = self.frontier.draw_open(&mut self.rng) else { return Ok(()) };
        let mut input = self.frontier.nodes.at(node).input.to_vec();
        if super::words::runs_together(&input, b"a") {
            input.push(b' ');
        }
        let length = 2 + self.rng.below(9);
        input.extend((0..length).map(|_| b'a' + self.rng.below(26) as u8));
        if self.look(&input, Class::Control, 1)?.is_some() {
            let offered = std::mem::take(&mut self.prober.glance.offered);
            self.learn_words(&offered.texts)?;
        }
        Ok(())
    }

    /// Looks what names of some length are compared with, perhaps behind
    /// another word than before.
    fn probe_name(&mut self) -> Result<(), Error> {
        let Some(node) = self.frontier.draw_open(&mut self.rng) else { return Ok(()) };
        let mut input = self.frontier.nodes.at(node).input.to_vec();
        let names = names(&input);
        let known = self.known.words.known();
        if !names.is_empty() && !known.is_empty() && self.rng.below(2) == 0 {
            let (from, to) = names[self.rng.below(names.len() as u32) as usize];
            let word = &known[self.rng.below(known.len() as u32) as usize];
            input.splice(from..to, word.iter().copied());
        }
        let length = 1 + self.rng.below(12) as usize;
        if self.look(&input, Class::Letter, length)?.is_none() {
            return Ok(());
        }
        let offered = std::mem::take(&mut self.prober.glance.offered);
        for offer in offered.texts.iter().filter(|offer| offer.kind == Kind::Text) {
            let whole = [&input[..offer.keep], &offer.text].concat();
            if whole.len() <= self.options.max_size && self.frontier.is_new(&whole) {
                self.check(&whole, node, Kind::Text, &offer.text)?;
            }
        }
        self.learn_words(&offered.texts)
    }

    /// The beginning of one valid input and the rest of another.
    fn combine(&mut self) -> Result<(), Error> {
        for _ in 0..COMBINED {
            let Some((node, input, rest)) = self.known.ways.combine(&mut self.rng) else { break };
            if input.len() <= self.options.max_size && self.frontier.is_new(&input) {
                self.check(&input, node, Kind::Combined, &input[rest..])?;
            }
        }
        Ok(())
    }
}
