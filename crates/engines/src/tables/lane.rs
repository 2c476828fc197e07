//! One lane: the buffers that the machine writes to, and what is done when
//! they or a piece of work come to an end.
//!
//! In:  a piece of work: consecutive inputs of a seed.
//! Out: the bytes of these inputs, one behind the other.
//!
//! The machine looks at no limit. A lane is looked after every few rounds,
//! by three comparisons: whether its piece is ready, and whether it may have
//! passed the room of a buffer or the size limit by its bytes or its stack.
//! Bytes emitted and the least length of what is open only grow together, so
//! what has passed the limit is found at a later look as well. Such an input
//! is made again with care (`careful`), from the last look at which it was
//! well within the limit: what it becomes does not depend on when it was
//! found.

use super::build::PUSHES;
use super::careful::Careful;
use super::machine::{APART, Lane, MOST_LANES, Mark, STORE, element, place};
use super::store::{END, Store};
use super::stream::Stream;
use std::ops::Range;
use wug_produce::batch::Piece;
use wug_produce::choices::Scratch;

/// Rounds between two looks.
pub const ROUNDS: usize = 96;
/// Steps that the buffers have room for at a look.
const STEPS: usize = ROUNDS + 1;
/// Room that is asked for at once, in bytes and elements.
const MORE: usize = 4096;
/// Bytes by which the stacks of lanes lie differently in their pages: else
/// they would compete for the same cache lines.
const SHIFT: usize = 704;

/// Elements on a stack at most: inputs with more are made with care.
const MOST_HEIGHT: usize = APART - PUSHES * STEPS - MOST_LANES * SHIFT;

/// Bytes between two places from which an input can be made again, beside
/// those that its stack has.
const SAVED_APART: usize = 1024;

/// What inputs are made with that need care.
#[derive(Debug, Default)]
pub struct Aside<'p> {
    store: Option<Box<Store<'p>>>,
    pub scratch: Scratch,
    /// Bytes that were made with care.
    pub bytes: u64,
}

/// What an input that no step could take beyond the size limit has at most.
fn limit(store: &Store) -> u64 {
    store.program.options.max_size.saturating_sub(store.most_growth)
}

/// A place in an input from which it can be made again.
#[derive(Debug, Default)]
struct Saved {
    /// The number of the input in the piece; `None` if there is no such place.
    input: Option<usize>,
    /// Bytes of the piece up to there.
    len: usize,
    stream: Stream,
    /// What is open there.
    stack: Vec<u32>,
    /// Steps up to there, at most.
    steps: u64,
}

/// A lane and its buffers.
#[derive(Debug)]
pub struct Buffers {
    /// As the machine sees it.
    pub lane: Lane,
    /// Whether it has work.
    pub busy: bool,
    piece: Piece,
    marks: Vec<Mark>,
    /// Elements, and [`APART`] from each the place of its table.
    stack: Vec<u32>,
    /// The bottom of the stack.
    bottom: usize,
    /// Inputs of the piece.
    inputs: usize,
    /// Where the input begins that is being made.
    begun: usize,
    /// Looks since work was last taken over.
    pub looks: u64,
    /// Steps of the input that is being made, at most, up to then.
    steps: u64,
    last_mark: *mut Mark,
    out_limit: *mut u8,
    top_limit: *mut u32,
    saved: Saved,
}

impl Buffers {
    /// An idle lane.
    pub fn new(number: usize) -> Buffers {
        let (out, top, mark) = (std::ptr::null_mut(), std::ptr::null_mut(), std::ptr::null_mut());
        Buffers {
            lane: Lane { out, top, stream: Stream::default(), mark },
            busy: false,
            piece: Piece::default(),
            marks: Vec::new(),
            stack: Vec::new(),
            bottom: number * SHIFT / size_of::<u32>(),
            inputs: 0,
            begun: 0,
            looks: 0,
            steps: 0,
            last_mark: mark,
            out_limit: out,
            top_limit: top,
            saved: Saved::default(),
        }
    }

    /// Begins the inputs `indices` of `seed`, in the buffer of `piece`.
    pub fn begin(&mut self, store: &Store, mut piece: Piece, seed: u64, indices: Range<u64>) {
        piece.restart(indices.start, store.separator.len());
        self.piece = piece;
        self.inputs = (indices.end - indices.start) as usize;
        let end = std::ptr::null_mut();
        self.marks.clear();
        self.marks.extend(indices.clone().map(|index| Mark { end, stream: Stream::new(seed, index) }));
        // A lane is not stopped at once; what it makes then is thrown away.
        let more = self.marks.first().copied().unwrap_or(Mark { end, stream: Stream::new(seed, 0) });
        self.marks.resize(self.inputs + STEPS + 1, more);
        self.busy = self.inputs > 0;
        self.start_input(store);
    }

    /// The number in the piece of the input that is being made.
    fn number(&self) -> usize {
        self.piece.ends.len()
    }

    /// Begins an input behind the bytes that are there.
    fn start_input(&mut self, store: &Store) {
        self.begun = self.piece.bytes.len();
        self.saved.input = None;
        self.looks = 0;
        self.lane.stream = self.marks[self.number()].stream;
        self.steps = 0;
        if self.stack.is_empty() {
            // Memory is taken only where it is used.
            self.stack = vec![0; 2 * APART];
        }
        self.stack[self.bottom] = element(END, store.levels());
        self.stack[self.bottom + 1] = element(store.start(), store.levels());
        self.place(2);
        self.point(store, 2);
    }

    /// Finds the tables of the lowest elements anew.
    fn place(&mut self, height: usize) {
        for at in self.bottom..self.bottom + height {
            self.stack[at + APART] = place(self.stack[at]);
        }
    }

    /// Points the lane into its buffers, above `height` elements, and sets
    /// the limits up to which nothing has to be done.
    fn point(&mut self, store: &Store, height: usize) {
        let top = self.bottom + height;
        let number = self.number();
        let spare = limit(store).saturating_sub(self.least_size(store, height)) / 2;
        let bytes = &mut self.piece.bytes;
        bytes.reserve(STORE * STEPS + MORE);
        let room = bytes.capacity() - bytes.len() - STORE * STEPS;
        let higher = (APART - PUSHES * STEPS).saturating_sub(top) as u64;
        let higher = higher.min(spare / store.most_least.max(1));
        // SAFETY: all stays within the buffers, which were made long enough.
        unsafe {
            self.lane.out = bytes.as_mut_ptr().add(bytes.len());
            self.out_limit = self.lane.out.add((room as u64).min(spare) as usize);
            self.lane.top = self.stack.as_mut_ptr().add(top);
            self.top_limit = self.lane.top.add(higher as usize);
            self.lane.mark = self.marks.as_mut_ptr().add(number);
            self.last_mark = self.marks.as_mut_ptr().add(self.inputs);
        }
    }

    /// Bytes of the input so far and the least length of what is open.
    fn least_size(&self, store: &Store, height: usize) -> u64 {
        let open = self.stack[self.bottom..][..height].iter().map(|e| store.least((e >> 16) as u16));
        let emitted = (self.piece.bytes.len() - self.begun) as u64;
        open.fold(emitted, u64::saturating_add)
    }

    /// Whether nothing has to be done before the next rounds, when the lane
    /// came so far.
    #[inline]
    pub fn goes_on(&self, lane: &Lane, most_looks: u64) -> bool {
        lane.mark < self.last_mark
            && lane.out < self.out_limit
            && lane.top < self.top_limit
            && self.looks < most_looks
    }

    /// Does what has to be done; gives the piece when it is ready. The lane
    /// has room for the next rounds then.
    pub fn tend<'p>(&mut self, store: &Store<'p>, careful: &mut Aside<'p>) -> Option<Piece> {
        let height = self.take(store);
        if self.number() < self.inputs {
            // An input that ended beyond the limit is at `begun` as well.
            let far = self.steps.saturating_add(2 * STEPS as u64) > store.program.max_steps();
            if far || height == 0 || height > MOST_HEIGHT || self.least_size(store, height) > limit(store) {
                self.again(store, careful);
            } else {
                self.save(store, height);
                self.point(store, height);
            }
        }
        (self.number() == self.inputs).then(|| {
            self.busy = false;
            std::mem::take(&mut self.piece)
        })
    }

    /// Makes the input that is being made again, with care.
    fn again<'p>(&mut self, store: &Store<'p>, aside: &mut Aside<'p>) {
        let Aside { store: own, scratch, bytes: with_care } = aside;
        let own = own.get_or_insert_with(|| Box::new(Store::new(store.program, &[])));
        let (number, begun) = (self.number(), self.begun);
        let bytes = &mut self.piece.bytes;
        let Saved { input, len, stream, ref stack, steps } = self.saved;
        let stack = Some(stack).filter(|_| input == Some(number)).and_then(|stack| own.adopt(store, stack));
        let resumed = stack.is_some_and(|stack| {
            bytes.truncate(len);
            Careful::resume(own, stream, stack, steps).run(bytes, begun, scratch)
        });
        if !resumed {
            bytes.truncate(begun);
            // It has all steps, so it comes to an end.
            let _ = Careful::new(own, self.marks[number].stream).run(bytes, begun, scratch);
        }
        let from = if resumed { len } else { begun };
        *with_care += bytes.len().saturating_sub(from) as u64;
        self.piece.end(&store.separator);
        self.start_input(store);
    }

    /// Keeps the place that the input has come to, if that is half way to the
    /// size limit and far enough from the last: what comes before is not made
    /// twice then.
    fn save(&mut self, store: &Store, height: usize) {
        let number = self.number();
        let (len, emitted) = (self.piece.bytes.len(), self.piece.bytes.len() - self.begun);
        let last = if self.saved.input == Some(number) { self.saved.len } else { self.begun };
        let apart = SAVED_APART + size_of::<u32>() * height;
        if (emitted as u64) < store.program.options.max_size / 2 || len - last < apart {
            return;
        }
        self.saved.input = Some(number);
        self.saved.len = len;
        self.saved.stream = self.lane.stream;
        self.saved.steps = self.steps;
        self.saved.stack.clear();
        // All but the end.
        self.saved.stack.extend_from_slice(&self.stack[self.bottom..][1..height]);
    }

    /// Gives the stack up: the input is made again, with care.
    pub fn give_up<'p>(&mut self, store: &Store<'p>, aside: &mut Aside<'p>) {
        self.saved.input = None;
        self.take(store);
        if self.number() < self.inputs {
            self.again(store, aside);
        }
    }

    /// Takes over what the machine wrote, up to an input beyond the size
    /// limit; gives the height of the stack, 0 if there is such an input.
    fn take(&mut self, store: &Store) -> usize {
        let (limit, separator) = (limit(store), store.separator.len());
        // SAFETY: the machine's pointers lie in these buffers; what is below
        // `out` and `mark` was written.
        unsafe {
            let base = self.piece.bytes.as_ptr();
            let reached = self.lane.mark.offset_from(self.marks.as_ptr()) as usize;
            // An input that began since then has no more.
            let before = if reached > self.number() { 0 } else { self.steps };
            self.steps = before.saturating_add(self.looks.saturating_mul(ROUNDS as u64));
            for number in self.number()..reached.min(self.inputs) {
                let end = self.marks[number].end.offset_from(base) as usize;
                if (end - self.begun) as u64 > limit {
                    self.piece.bytes.set_len(end);
                    return 0;
                }
                self.piece.ends.push(end);
                self.begun = end + separator;
            }
            let done = self.number() == self.inputs;
            // What was made beyond the last input is not wanted.
            let len = if done { self.begun } else { self.lane.out.offset_from(base) as usize };
            self.piece.bytes.set_len(len);
        }
        self.looks = 0;
        self.height()
    }

    /// Has everything looked at again at the next look.
    pub fn doubt(&mut self) {
        self.top_limit = self.stack.as_mut_ptr();
    }

    /// Elements on the stack.
    fn height(&self) -> usize {
        // SAFETY: `top` points into the stack.
        (unsafe { self.lane.top.offset_from(self.stack.as_ptr()) }) as usize - self.bottom
    }

    /// The stack, while the machine rests. If numbers of symbols change,
    /// [`Buffers::changed`] has to follow.
    pub fn stack(&mut self) -> &mut [u32] {
        let height = self.height();
        &mut self.stack[self.bottom..][..height]
    }

    /// Takes over what was changed on the stack.
    pub fn changed(&mut self) {
        self.saved.input = None;
        self.place(self.height());
    }
}
