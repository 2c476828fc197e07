//! Smaller inputs that reach the same news.

use super::{Campaign, Error};
use crate::feedback::New;
use std::time::Instant;
use wug_produce::mutate::Tree;

/// Runs that are spent on one input, at most and at least: what is made
/// smaller is quicker to run ever after, but mutators find more.
const RUNS: u64 = 200;
const LEAST_RUNS: u64 = 8;
/// The share of all runs that is spent so, one in so many.
const SHARE: u64 = 5;

impl Campaign<'_> {
    /// Makes `input` smaller, while it reaches all of `news`.
    pub(super) fn trim(&mut self, news: &[New], tree: &mut Option<Tree>) -> Result<(), Error> {
        let begin = Instant::now();
        let before = self.figures.execs;
        let budget = (before / SHARE).saturating_sub(self.figures.trim_execs).clamp(LEAST_RUNS, RUNS);
        match tree.as_ref() {
            Some(whole) => {
                if let Some(trimmed) = self.trim_tree(whole, news, budget)? {
                    *tree = Some(trimmed);
                }
            }
            None => self.trim_bytes(news, budget)?,
        }
        self.figures.trim += begin.elapsed();
        self.figures.trim_execs += self.figures.execs - before;
        Ok(())
    }

    /// Along the tree, so that the result parses.
    fn trim_tree(&mut self, tree: &Tree, news: &[New], runs: u64) -> Result<Option<Tree>, Error> {
        let Some(structure) = self.structure.take() else { return Ok(None) };
        let reduced = structure.reduce(tree, runs, |bytes| self.still(bytes, news));
        self.structure = Some(structure);
        let Some((bytes, tree)) = reduced? else { return Ok(None) };
        // Once more, for its counts.
        if bytes == self.input || !self.still(&bytes, news)? {
            return Ok(None);
        }
        self.input = bytes;
        Ok(Some(tree))
    }

    /// Leaves out ever smaller parts.
    fn trim_bytes(&mut self, news: &[New], runs: u64) -> Result<(), Error> {
        let mut input = std::mem::take(&mut self.input);
        let mut left = runs;
        let mut part = (input.len() / 4).next_power_of_two().max(1);
        let mut candidate = Vec::with_capacity(input.len());
        while left > 0 && part > 0 && input.len() > 1 {
            let mut at = 0;
            while at < input.len() && left > 0 {
                let end = (at + part).min(input.len());
                candidate.clear();
                candidate.extend_from_slice(&input[..at]);
                candidate.extend_from_slice(&input[end..]);
                left -= 1;
                if !candidate.is_empty() && self.still(&candidate, news)? {
                    std::mem::swap(&mut input, &mut candidate);
                } else {
                    at = end;
                }
            }
            part /= 2;
        }
        self.input = input;
        Ok(())
    }
}
