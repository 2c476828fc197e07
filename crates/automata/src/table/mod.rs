//! What a walk looks up, laid out for it.
//!
//! In:  an automaton, and what its transitions weigh.
//! Out: [`Table`]: for each state a row of columns to draw from, and behind
//!      each column what it writes and where it leads.
//!
//! ```text
//! row of a state ── draw ──> column: threshold, other column
//!                               │ where it and the other one lead (rows)
//!                               └─> choice: words, step ──> word ──> text
//! ```
//!
//! A column stands for one slot of one transition, and one for ending where
//! an input may end. A draw looks at one column (Walker's alias method): it
//! takes the column itself, or the other one named in it. Both rows that may
//! come next lie in the column, so only that one load stands between a state
//! and the next; all else is off that way, and the processor does it beside.
//!
//! Members of a class are words here, unless they are many. A word is copied
//! as a block of 32 bytes, of which the next one overwrites what is too much.

mod build;

use crate::labels::Word;
use wug_grammar::{Class, Unit};

/// Words are copied in blocks of this size, whatever their length; the text
/// has so many bytes more behind its end.
pub(crate) const BLOCK: usize = 32;
/// Set in the first word of a choice among the members of a class.
const CLASS: u32 = 1 << 31;
/// Steps for which room is made at once when a walk is replayed.
const STRIDE: usize = 256;

/// The columns of a state: the first, and how many; none behind the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row(u64);

impl Row {
    /// Behind the end of an input.
    const END: Row = Row(0);

    fn new(first: usize, count: usize) -> Row {
        Row((count as u64) << 32 | first as u64)
    }

    pub fn is_end(self) -> bool {
        self.0 >> 32 == 0
    }

    /// One of its columns by the high half of random bits, and what is left
    /// of these.
    #[inline(always)]
    fn split(self, bits: u64) -> (usize, u32) {
        let product = (bits >> 32) * (self.0 >> 32);
        ((self.0 as u32) as usize + (product >> 32) as usize, product as u32)
    }
}

/// A column of an alias table: itself below the threshold, else another.
#[derive(Clone, Copy, Debug)]
struct Column {
    threshold: u32,
    other: u32,
    /// Where it leads.
    row: Row,
    /// The bits in which the row behind the other one differs.
    flip: u64,
}

impl Column {
    /// Itself, which is number `at`, or the other: which, and the row behind.
    /// Without a branch, which would be wrong often. With two rows side by
    /// side, compilers choose between their addresses, and a load waits for
    /// the comparison; with the difference none does.
    #[inline(always)]
    fn draw(&self, at: usize, rest: u32) -> (usize, Row) {
        let mask = u64::from(rest >= self.threshold).wrapping_neg();
        let number = at ^ ((at ^ self.other as usize) & mask as usize);
        (number, Row(self.row.0 ^ (self.flip & mask)))
    }

    /// The row behind the other one.
    fn other_row(&self) -> Row {
        Row(self.row.0 ^ self.flip)
    }
}

/// What a column writes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice {
    /// The first of its words, or the class.
    first: u32,
    /// How many members it has.
    count: u32,
    /// The step by its first member.
    step: u32,
    /// The state that it leads to.
    pub target: u32,
}

impl Choice {
    /// The step by a member.
    #[inline(always)]
    pub fn step(self, member: u32) -> u32 {
        self.step + member
    }

    /// Whether a step takes it.
    #[inline(always)]
    fn has(self, step: u32) -> bool {
        step.wrapping_sub(self.step) < self.count
    }

    /// The member that a step which takes it stands for.
    #[inline(always)]
    pub fn member_of(self, step: u32) -> u32 {
        step - self.step
    }

    /// A member, by the low half of random bits; the draw of the column used
    /// the high one.
    #[inline(always)]
    pub fn member(self, bits: u64) -> u32 {
        ((u64::from(bits as u32) * u64::from(self.count)) >> 32) as u32
    }
}

/// Where the steps of a walk are looked up, in some state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Steps {
    /// The first choice.
    first: u32,
    /// How many there are; above, in five bits, how many low bits of a step
    /// number the member.
    packed: u32,
}

impl Steps {
    const COUNT: u32 = (1 << 27) - 1;

    fn new(row: Row, shift: u8) -> Steps {
        let count = (row.0 >> 32) as u32;
        assert!(count <= Steps::COUNT && shift < 32);
        Steps { first: row.0 as u32, packed: u32::from(shift) << 27 | count }
    }

    #[inline(always)]
    fn count(self) -> u32 {
        self.packed & Steps::COUNT
    }

    #[inline(always)]
    fn shift(self) -> u32 {
        self.packed >> 27
    }
}

/// All rows.
#[derive(Debug)]
pub(crate) struct Table {
    rows: Vec<Row>,
    /// How many low bits of a step from each state number the member.
    shifts: Vec<u8>,
    columns: Vec<Column>,
    /// One for each column.
    choices: Vec<Choice>,
    /// For each choice, where the step behind it is looked up: so only one
    /// load stands between a step and the next.
    behind: Vec<Steps>,
    words: Vec<Word>,
    text: Vec<u8>,
    classes: Vec<Class>,
    /// Bytes of the longest word or character.
    pub longest: usize,
    /// As many, and the most that may then be missing to the end.
    pub reach: u64,
}

/// Where a walk is.
pub(crate) struct Place {
    pub row: Row,
    /// The choice that led here, if there was one.
    pub choice: usize,
    pub bytes: usize,
    pub steps: usize,
}

/// Why [`Table::run`] stopped.
pub(crate) enum Stop {
    /// The walk has ended.
    End,
    /// There was no more room.
    Room,
    /// The word of this member is longer than a block; it is not written, the
    /// step is taken.
    Long(Word),
}

impl Table {
    /// The columns of a state.
    pub fn row(&self, state: u32) -> Row {
        self.rows[state as usize]
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.rows[..])
            + self.shifts.len()
            + size_of_val(&self.columns[..])
            + size_of_val(&self.choices[..])
            + size_of_val(&self.behind[..])
            + size_of_val(&self.words[..])
            + self.text.len()
    }

    /// Draws from a row, which must not be empty, with the high half of random
    /// bits: the number of a choice, and the row that it leads to.
    pub fn draw(&self, row: Row, bits: u64) -> (usize, Row) {
        let (at, rest) = row.split(bits);
        self.columns[at].draw(at, rest)
    }

    pub fn choice(&self, number: usize) -> Choice {
        self.choices[number]
    }

    /// Takes up to `count` steps; `out` and `walk` must have room for as many
    /// blocks and steps behind the place.
    #[inline]
    pub fn run(
        &self,
        place: &mut Place,
        random: &mut impl FnMut() -> u64,
        count: usize,
        out: &mut [u8],
        walk: &mut [u32],
    ) -> Stop {
        assert!(out.len() >= place.bytes + count * BLOCK && walk.len() >= place.steps + count);
        assert!(!place.row.is_end());
        let Place { mut row, mut choice, mut bytes, mut steps } = *place;
        let mut stop = Stop::Room;
        for _ in 0..count {
            let bits = random();
            let (at, rest) = row.split(bits);
            // SAFETY: `check` has seen that all rows and the numbers of other
            // columns are within their lists; a row that is not empty gives a
            // column of it. `bytes` and `steps` grow by at most a block and one
            // in a step, for which there is room as asserted above. Walks of
            // made-up and built-in grammars are compared with careful ones in
            // `walk`.
            unsafe {
                let (number, next) = self.columns.get_unchecked(at).draw(at, rest);
                if next.is_end() {
                    stop = Stop::End;
                    break;
                }
                let taken = *self.choices.get_unchecked(number);
                let member = taken.member(bits);
                *walk.get_unchecked_mut(steps) = taken.step(member);
                steps += 1;
                (row, choice) = (next, number);
                match self.put_block(taken, member, out.as_mut_ptr().add(bytes)) {
                    Ok(length) => bytes += length,
                    Err(word) => {
                        stop = Stop::Long(word);
                        break;
                    }
                }
            }
        }
        *place = Place { row, choice, bytes, steps };
        stop
    }

    /// Writes the bytes of a member; how many they are. A word that is longer
    /// than a block is not written.
    ///
    /// # Safety
    ///
    /// The member is one of the choice, which is of this table, and there is
    /// room for a block.
    #[inline(always)]
    unsafe fn put_block(&self, choice: Choice, member: u32, room: *mut u8) -> Result<usize, Word> {
        if choice.first & CLASS != 0 {
            let (text, length) = self.spell(choice.first & !CLASS, member);
            // SAFETY: a character is shorter than a block.
            unsafe { room.copy_from_nonoverlapping(text.as_ptr(), text.len()) };
            return Ok(length);
        }
        // SAFETY: `check` has seen that the words of all choices and their text
        // are within their lists, and that a block follows the text.
        unsafe {
            let word = *self.words.get_unchecked((choice.first + member) as usize);
            if word.len as usize > BLOCK {
                return Err(word);
            }
            room.copy_from_nonoverlapping(self.text.as_ptr().add(word.start as usize), BLOCK);
            Ok(word.len as usize)
        }
    }

    /// The bytes of a member of a class, and how many they are.
    #[inline(never)]
    fn spell(&self, class: u32, member: u32) -> ([u8; 4], usize) {
        let class = &self.classes[class as usize];
        let value = class.member(member);
        let mut text = [value as u8, 0, 0, 0];
        let length = match (class.unit(), char::from_u32(value)) {
            (Unit::Char, Some(c)) => c.encode_utf8(&mut text).len(),
            _ => 1,
        };
        (text, length)
    }

    /// Where steps from a state are looked up.
    pub fn steps(&self, state: u32) -> Steps {
        Steps::new(self.rows[state as usize], self.shifts[state as usize])
    }

    /// The choice that a step takes, and where the next one is looked up; none
    /// if there is no such step.
    #[inline(always)]
    pub fn find(&self, steps: Steps, step: u32) -> Option<(Choice, Steps)> {
        // Mostly each transition has one slot, so this is it. Steps are from
        // anywhere, so the sum may be anything.
        let place = step >> steps.shift();
        let mut at = steps.first.wrapping_add(place) as usize;
        // SAFETY: all rows are within the list of choices, and there is one of
        // `behind` for each (`check`); `at` is in a row if the place is, or if
        // it was searched for.
        unsafe {
            if place >= steps.count() || !self.choices.get_unchecked(at).has(step) {
                at = self.search(steps, step)?;
            }
            Some((*self.choices.get_unchecked(at), *self.behind.get_unchecked(at)))
        }
    }

    #[cold]
    fn search(&self, steps: Steps, step: u32) -> Option<usize> {
        let first = steps.first as usize;
        let choices = &self.choices[first..first + steps.count() as usize];
        let at = choices.partition_point(|choice| choice.step <= step).checked_sub(1)?;
        choices[at].has(step).then_some(first + at)
    }

    /// Appends the bytes of steps that begin in a state; the state that they
    /// lead to, none if they are no walk. `before` sees state and bytes before
    /// each step.
    #[inline]
    pub fn replay(
        &self,
        mut state: u32,
        walk: &[u32],
        out: &mut Vec<u8>,
        mut before: impl FnMut(u32, usize),
    ) -> Option<u32> {
        let (mut steps, mut end) = (self.steps(state), out.len());
        for part in walk.chunks(STRIDE) {
            let mut room = end + part.len() * BLOCK;
            out.resize(room, 0);
            for &step in part {
                before(state, end);
                let (choice, next) = self.find(steps, step)?;
                let member = choice.member_of(step);
                // SAFETY: the choice has the step, and there is room for a block
                // for each step of this part.
                match unsafe { self.put_block(choice, member, out.as_mut_ptr().add(end)) } {
                    Ok(length) => end += length,
                    Err(word) => {
                        room += word.len as usize;
                        out.resize(room, 0);
                        end = self.put_long(word, out, end);
                    }
                }
                (state, steps) = (choice.target, next);
            }
        }
        out.truncate(end);
        Some(state)
    }

    fn text(&self, word: Word) -> &[u8] {
        &self.text[word.start as usize..(word.start + word.len) as usize]
    }

    /// Writes a word of any length at a place, where others may lie before and
    /// behind it; where it ends.
    pub fn put_long(&self, word: Word, out: &mut Vec<u8>, at: usize) -> usize {
        let end = at + word.len as usize;
        if out.len() < end {
            out.resize(end, 0);
        }
        out[at..end].copy_from_slice(self.text(word));
        end
    }

    /// Appends the bytes of a member.
    pub fn emit(&self, choice: Choice, member: u32, out: &mut Vec<u8>) {
        if choice.first & CLASS != 0 {
            let (text, length) = self.spell(choice.first & !CLASS, member);
            return out.extend_from_slice(&text[..length]);
        }
        out.extend_from_slice(self.text(self.words[(choice.first + member) as usize]));
    }
}
