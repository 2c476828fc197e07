//! The table engine's way to the sink: whole pieces, one write for each.
//!
//! Worker w of T makes the pieces w, w + T, …, and they are taken from the
//! workers in turn: what comes out does not depend on how many there are.

use std::ops::Range;
use std::sync::mpsc::sync_channel;
use wug_engines::tables::{Misfit, Tables};
use wug_produce::Program;
use wug_produce::batch::Piece;

/// What is made.
pub struct Job<'a> {
    pub program: &'a Program,
    pub separator: &'a [u8],
    pub seed: u64,
    pub indices: Range<u64>,
    pub threads: usize,
}

impl Job<'_> {
    /// Hands all pieces to `take` in order, until it says `false`.
    pub fn run(&self, mut take: impl FnMut(&Piece) -> bool) -> Result<(), Misfit> {
        let mut tables = Tables::new(self.program, self.separator)?;
        let inputs = tables.piece_inputs();
        if self.threads == 1 {
            let mut pieces = tables.pieces(self.seed, self.work(inputs, 0));
            while let Some(piece) = pieces.next() {
                if !take(&piece) {
                    break;
                }
                pieces.recycle(piece);
            }
            return Ok(());
        }
        std::thread::scope(|scope| {
            let mut workers = Vec::new();
            for worker in 0..self.threads as u64 {
                let plan = tables.plan();
                let (send, receive) = sync_channel(8);
                workers.push(receive);
                scope.spawn(move || {
                    // It fits: it did before.
                    let planned = Tables::planned(self.program, self.separator, plan);
                    let Ok(mut tables) = planned else { return };
                    for piece in tables.pieces(self.seed, self.work(inputs, worker)) {
                        // Nobody listens any more: enough was taken.
                        if send.send(piece).is_err() {
                            break;
                        }
                    }
                });
            }
            // A worker without further pieces has hung up.
            for turn in 0.. {
                match workers[turn % workers.len()].recv() {
                    Ok(piece) if take(&piece) => {}
                    _ => break,
                }
            }
        });
        Ok(())
    }

    /// The pieces of a worker, of so many inputs each.
    fn work(&self, inputs: u64, worker: u64) -> impl Iterator<Item = Range<u64>> + use<> {
        let (Range { start, end }, threads) = (self.indices.clone(), self.threads as u64);
        (0..).map_while(move |turn: u64| {
            let piece = turn.checked_mul(threads)?.checked_add(worker)?;
            let first = piece.checked_mul(inputs)?.checked_add(start).filter(|&first| first < end)?;
            Some(first..first.saturating_add(inputs).min(end))
        })
    }
}
