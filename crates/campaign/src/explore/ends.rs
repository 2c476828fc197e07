//! Valid inputs from inputs that are open: by what closed such states before,
//! and by what the parser insists on.

use super::demand::Wish;
use super::nodes::Node;
use super::offers::{Kind, Offer};
use super::words::apart;
use super::{Error, Explorer};

/// Executions that closing takes at most, more or less.
pub(super) const CLOSING: u64 = 24;
/// Usual ends that are tried to close an input.
pub(super) const ENDS: usize = 3;

impl Explorer<'_> {
    /// Tries to make a valid input of a node by what closed such states
    /// before, and by what the parser insists on: depth first, along the
    /// shortest ways known, for a while.
    pub(super) fn close(&mut self, node: u32, worth: u64) -> Result<(), Error> {
        let (until, found) = (self.prober.execs + worth, self.output.host.len());
        let keep = self.frontier.nodes.at(node).input.len();
        for end in self.known.closing.ends(ENDS) {
            self.try_end(node, keep, &end, Kind::Closing)?;
        }
        let mut open = Vec::new();
        self.push_steps(node, &mut open)?;
        while self.prober.execs < until
            && self.output.host.len() == found
            && let Some((at, longer)) = open.pop()
        {
            let keep = self.frontier.nodes.at(at).input.len().min(longer.len());
            if let Some((next, offered)) = self.extend(at, &longer, Kind::Closing, &longer[keep..])? {
                // It is on the way now, and what follows gets its turn.
                self.queue_offers(next, offered)?;
                self.push_steps(next, &mut open)?;
            }
        }
        Ok(())
    }

    /// Adds the ways on from a node, the best last; the whole rest of another
    /// input is tried at once.
    fn push_steps(&mut self, node: u32, open: &mut Vec<(u32, Vec<u8>)>) -> Result<(), Error> {
        let Node { input, state, .. } = self.frontier.nodes.at(node);
        let (input, state) = (input.clone(), *state);
        if let Some(rest) = self.known.closing.rest(state).map(<[u8]>::to_vec) {
            self.try_end(node, input.len(), &rest, Kind::Closing)?;
        }
        let known = self.known.closing.steps(state).into_iter().map(|step| [&input[..], &step[..]].concat());
        let steps: Vec<Vec<u8>> = known.chain(self.wished(node)).collect();
        open.extend(steps.into_iter().rev().map(|longer| (node, longer)));
        Ok(())
    }

    /// A node followed by what the parser insisted on there.
    fn wished(&self, node: u32) -> Vec<Vec<u8>> {
        let Node { input, wishes, .. } = self.frontier.nodes.at(node);
        let mut longer = Vec::new();
        for wish in wishes {
            match wish {
                Wish::Text(Offer { keep, text, .. }) => longer.push([&input[..*keep], text].concat()),
                Wish::Code(code) => {
                    let lexemes = self.known.codes.lexemes(*code).iter().take(1);
                    longer.extend(lexemes.map(|lexeme| [&input[..], &apart(input, lexeme)].concat()));
                }
            }
        }
        longer
    }

    /// Whether the beginning of a node with a text behind it is valid. What is
    /// wanted for the first time may complete an input: that is tried before
    /// it has its turn.
    pub(super) fn try_end(&mut self, node: u32, keep: usize, end: &[u8], kind: Kind) -> Result<(), Error> {
        let whole = [&self.frontier.nodes.at(node).input[..keep], end].concat();
        if whole.len() <= self.options.max_size && self.frontier.is_new(&whole) {
            self.check(&whole, node, kind, end)?;
        }
        Ok(())
    }
}
