//! Several threads, one order.
//!
//! Worker w of T makes the pieces w, w + T, w + 2T, …, and the inputs are
//! taken from the workers in turn: so what comes out does not depend on how
//! many there are. Each holds at most two pieces that nobody has taken yet.

use super::judge;
use crate::compiled::Compiled;
use std::ops::Range;
use std::sync::mpsc::sync_channel;
use wug_engines::{Calls, Vm};
use wug_produce::{Batch, Engine, Program, RanTogether, Scratch};

/// Inputs of one piece. With the size limit this bounds the memory: three
/// pieces for each thread.
const PIECE: u64 = 16;

/// What makes inputs.
pub trait Maker: Sync {
    /// What one thread writes to.
    type Scratch: Send;
    /// An empty one.
    fn scratch(&self) -> Self::Scratch;
    /// How many inputs were drawn again, since their tokens ran together.
    fn redrawn(scratch: &Self::Scratch) -> u64;
    /// Fills a batch with inputs, until there are `enough` bytes; the index
    /// behind the last.
    fn fill(
        &self,
        batch: &mut Batch,
        seed: u64,
        indices: Range<u64>,
        enough: usize,
        scratch: &mut Self::Scratch,
    ) -> Result<u64, RanTogether>;
}

/// Choice by choice.
pub struct Choices<'a> {
    pub program: &'a Program,
    pub by: By<'a>,
}

/// The engine that makes them.
#[derive(Clone, Copy)]
pub enum By<'a> {
    Walk(Engine),
    Vm(&'a Vm<'a>),
    Compiled(&'a Compiled),
}

impl Maker for Choices<'_> {
    type Scratch = (Scratch, Calls);

    fn scratch(&self) -> (Scratch, Calls) {
        Default::default()
    }

    fn redrawn((scratch, _): &(Scratch, Calls)) -> u64 {
        scratch.redrawn
    }

    fn fill(
        &self,
        batch: &mut Batch,
        seed: u64,
        indices: Range<u64>,
        enough: usize,
        (scratch, calls): &mut (Scratch, Calls),
    ) -> Result<u64, RanTogether> {
        batch.fill_by(indices, enough, |index, out| match self.by {
            By::Walk(engine) => self.program.produce(engine, seed, index, scratch, out),
            By::Vm(vm) => vm.produce(seed, index, calls, scratch, out),
            By::Compiled(compiled) => compiled.produce(seed, index, out),
        })
    }
}

/// What makes inputs one by one, each judged by a parser where that is needed.
pub trait Judged: Sync {
    /// What one thread writes to.
    fn scratch(&self) -> judge::Scratch;
    /// Appends input `index` of `seed`.
    fn produce(&self, seed: u64, index: u64, scratch: &mut judge::Scratch, out: &mut Vec<u8>) -> Option<()>;
}

impl<J: Judged> Maker for J {
    type Scratch = judge::Scratch;

    fn scratch(&self) -> judge::Scratch {
        Judged::scratch(self)
    }

    fn redrawn(scratch: &judge::Scratch) -> u64 {
        scratch.redrawn
    }

    fn fill(
        &self,
        batch: &mut Batch,
        seed: u64,
        indices: Range<u64>,
        enough: usize,
        scratch: &mut judge::Scratch,
    ) -> Result<u64, RanTogether> {
        batch.fill_by(indices, enough, |index, out| self.produce(seed, index, scratch, out))
    }
}

/// What is made.
pub struct Job<'a, M> {
    pub maker: &'a M,
    pub seed: u64,
    pub indices: Range<u64>,
    pub threads: usize,
}

impl<M: Maker> Job<'_, M> {
    /// Hands all inputs to `take` in order, until it says `false`; gives
    /// what the producers wrote to.
    pub fn run(&self, mut take: impl FnMut(u64, &[u8]) -> bool) -> Result<Vec<M::Scratch>, RanTogether> {
        if self.threads == 1 {
            return self.run_here(take);
        }
        std::thread::scope(|scope| {
            let (mut workers, mut pieces) = (Vec::new(), Vec::new());
            for worker in 0..self.threads as u64 {
                let (send, receive) = sync_channel(1);
                pieces.push(receive);
                workers.push(scope.spawn(move || {
                    let mut scratch = self.maker.scratch();
                    let mut piece = worker;
                    while let Some(indices) = self.piece(piece) {
                        let mut batch = Batch::default();
                        let ran = self.fill(&mut batch, indices, &mut scratch).err();
                        // Nobody listens any more: enough was taken.
                        if send.send((batch, ran)).is_err() || ran.is_some() {
                            break;
                        }
                        piece += self.threads as u64;
                    }
                    scratch
                }));
            }
            let mut result = Ok(());
            'all: for turn in 0.. {
                // A worker without further pieces has hung up.
                let Ok((batch, ran)) = pieces[turn % pieces.len()].recv() else { break };
                for (index, input) in batch.inputs() {
                    if !take(index, input) {
                        break 'all;
                    }
                }
                if let Some(ran) = ran {
                    result = Err(ran);
                    break;
                }
            }
            drop(pieces);
            let join = |worker: std::thread::ScopedJoinHandle<'_, M::Scratch>| match worker.join() {
                Ok(scratch) => scratch,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            let scratches = workers.into_iter().map(join).collect();
            result.map(|()| scratches)
        })
    }

    fn run_here(&self, mut take: impl FnMut(u64, &[u8]) -> bool) -> Result<Vec<M::Scratch>, RanTogether> {
        let (mut batch, mut scratch) = (Batch::default(), self.maker.scratch());
        let mut next = self.indices.start;
        'all: while next < self.indices.end {
            let filled = self.fill(&mut batch, next..self.indices.end, &mut scratch);
            for (index, input) in batch.inputs() {
                if !take(index, input) {
                    break 'all;
                }
            }
            next = filled?;
        }
        Ok(vec![scratch])
    }

    fn piece(&self, number: u64) -> Option<Range<u64>> {
        let start = self.indices.start.checked_add(number.checked_mul(PIECE)?)?;
        let end = start.saturating_add(PIECE).min(self.indices.end);
        (start < end).then_some(start..end)
    }

    fn fill(
        &self,
        batch: &mut Batch,
        indices: Range<u64>,
        scratch: &mut M::Scratch,
    ) -> Result<u64, RanTogether> {
        // One thread hands on what it has when a write is worth it.
        let enough = if self.threads == 1 { 1 << 15 } else { usize::MAX };
        self.maker.fill(batch, self.seed, indices, enough, scratch)
    }
}
