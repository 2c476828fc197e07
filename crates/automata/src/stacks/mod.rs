//! Walks whose states are made when a walk comes to them.
//!
//! In:  a [`Form`], a pushdown automaton.
//! Out: the walks of inputs, however deep they nest, and what mutations ask
//!      for.
//!
//! | file | step |
//! | --- | --- |
//! | `read` | from bytes to a walk, and its trace |
//! | `draw` | from a stack to the end of an input |
//!
//! A state is a stack, and stacks are hash-consed: one is an item on top of
//! another stack. An automaton that is built before anything is read must stop
//! somewhere, and that is soon where rules are many: the likely stacks of SQL
//! held none of the inputs that a campaign kept. Here a stack costs some bytes
//! once it is met, and nothing before. In return, a draw finds its row item by
//! item, which a built automaton has laid out.

mod draw;
mod read;

use crate::Unfit;
use crate::automaton::Step;
use crate::form::{Form, NONE};
use crate::mutate::{Mutant, diverge};
use crate::trace::Trace;
use hashbrown::HashMap;

/// Stacks that are remembered at most: 64 MiB of them.
const MOST: usize = 1 << 20;
/// The empty stack.
const EMPTY: u32 = 0;

/// A stack: an item on top of another stack.
#[derive(Clone, Copy, Debug)]
struct Stack {
    /// [`NONE`] in the empty one.
    item: u32,
    below: u32,
    /// How many items it has.
    height: u32,
    /// How high it must be allowed to grow so that it can be emptied.
    need: u32,
    /// The fewest bytes that empty it.
    least: u32,
    /// Transitions of its row.
    row: u32,
    /// How many low bits of a step from it number the member.
    shift: u8,
    /// Whether an input may end with it.
    accepting: bool,
}

/// What is known of an item.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// The fewest bytes of it.
    least: u32,
    /// The transition with which these begin.
    shortest: u32,
    /// The transition that takes the lowest stack.
    lowest: u32,
    /// Units of all its transitions.
    units: u32,
    /// The bits that its largest label's members take.
    shift: u8,
}

/// Stacks that walks came to, and walks over them.
#[derive(Debug)]
pub struct Stacks<'f> {
    form: &'f Form,
    known: Vec<Known>,
    /// For each transition, units of those before it, of all items.
    units: Vec<u64>,
    stacks: Vec<Stack>,
    numbers: HashMap<(u32, u32), u32>,
    /// Slots of an item's transitions that can begin with a byte.
    beginnings: HashMap<(u32, u8), Box<[read::Slot]>>,
    drawing: draw::Drawing,
}

impl<'f> Stacks<'f> {
    /// Over a form. Fails if a choice among characters is too wide to be
    /// numbered beside others.
    pub fn new(form: &'f Form) -> Result<Stacks<'f>, Unfit> {
        let labels = &form.labels.labels;
        let mut units = vec![0u64];
        units.extend(labels.iter().scan(0u64, |sum, label| {
            *sum += u64::from(label.units);
            Some(*sum)
        }));
        let leasts = form.least_bytes();
        let known = (0..form.items.len() as u32)
            .map(|item| {
                let all = form.transitions_of(item);
                let members = all.clone().map(|t| labels[t as usize].members).max().unwrap_or(1);
                let shift = bits(members);
                if shift > 31 || shift + bits(all.len() as u32) > 32 {
                    return Err(Unfit::Members { rule: form.rule_name(item) });
                }
                Ok(Known {
                    least: leasts[item as usize],
                    shortest: all.clone().min_by_key(|&t| form.bytes_by(&leasts, t)).unwrap_or(NONE),
                    lowest: all.clone().min_by_key(|&t| form.height_by(t)).unwrap_or(NONE),
                    units: (units[all.end as usize] - units[all.start as usize]) as u32,
                    shift: shift as u8,
                })
            })
            .collect::<Result<_, _>>()?;
        let mut made = Stacks {
            form,
            known,
            units,
            stacks: Vec::new(),
            numbers: HashMap::new(),
            beginnings: HashMap::new(),
            drawing: draw::Drawing::default(),
        };
        made.forget();
        Ok(made)
    }

    /// Forgets all stacks: walks and their traces stay what they are, but the
    /// states in traces and pools mean nothing any more.
    pub fn forget(&mut self) {
        self.numbers.clear();
        self.stacks.clear();
        self.stacks.push(Stack {
            item: NONE,
            below: NONE,
            height: 0,
            need: 0,
            least: 0,
            row: 0,
            shift: 0,
            accepting: true,
        });
    }

    /// How many stacks are remembered.
    pub fn len(&self) -> usize {
        self.stacks.len()
    }

    /// Whether there is none but the empty one.
    pub fn is_empty(&self) -> bool {
        self.stacks.len() == 1
    }

    /// Whether there is room for no more.
    pub fn is_full(&self) -> bool {
        self.stacks.len() >= MOST
    }

    /// The stack that walks begin with; none if there is no room for it.
    fn start(&mut self) -> Option<u32> {
        self.push(EMPTY, self.form.start)
    }

    /// An item on top of a stack; none if there is no room for one more, or if
    /// steps from it could not be numbered.
    fn push(&mut self, below: u32, item: u32) -> Option<u32> {
        if let Some(&number) = self.numbers.get(&(item, below)) {
            return Some(number);
        }
        let (under, top, known) =
            (self.stacks[below as usize], self.form.items[item as usize], self.known[item as usize]);
        let mut stack = Stack {
            item,
            below,
            height: under.height + 1,
            need: under.need.max(under.height.saturating_add(self.form.heights[item as usize])),
            least: under.least.saturating_add(known.least),
            row: top.count,
            shift: known.shift,
            accepting: top.nullable && under.accepting,
        };
        if top.nullable {
            stack.row = stack.row.checked_add(under.row)?;
            stack.shift = stack.shift.max(under.shift);
        }
        let numbered = u32::from(stack.shift) + bits(stack.row) <= 32;
        if self.stacks.len() >= MOST || !numbered {
            return None;
        }
        let number = self.stacks.len() as u32;
        self.stacks.push(stack);
        self.numbers.insert((item, below), number);
        Some(number)
    }

    /// Where a transition leads from a stack whose top it takes.
    fn target(&mut self, stack: u32, transition: u32) -> Option<u32> {
        let form = self.form;
        let below = self.stacks[stack as usize].below;
        form.pushed(transition).try_fold(below, |below, item| self.push(below, item))
    }

    /// The stack below, if what is on top can be left empty.
    fn through(&self, stack: u32) -> Option<u32> {
        let Stack { item, below, .. } = self.stacks[stack as usize];
        self.form.items.get(item as usize).is_some_and(|item| item.nullable).then_some(below)
    }

    /// What a step from a stack takes: a transition, a member of its label, and
    /// the stack whose top it takes.
    fn decode(&self, stack: u32, step: Step) -> Option<(u32, u32, u32)> {
        let Stack { shift, row, .. } = self.stacks[stack as usize];
        let (mut place, member) = (step >> shift, step & ((1 << shift) - 1));
        let mut at = Some(stack).filter(|_| place < row);
        while let Some(here) = at {
            let all = self.form.transitions_of(self.stacks[here as usize].item);
            if place < all.len() as u32 {
                let transition = all.start + place;
                let fits = member < self.form.labels.labels[transition as usize].members;
                return fits.then_some((transition, member, here));
            }
            place -= all.len() as u32;
            at = self.through(here);
        }
        None
    }

    /// [`Walker::random`](crate::Walker::random), over stacks.
    pub fn random(
        &mut self,
        of: &Trace,
        random: &mut impl FnMut() -> u64,
        max: u32,
        into: &mut Mutant,
    ) -> bool {
        diverge(self, of, random, max, into)
    }
}

/// The bits that numbers below `n` take.
fn bits(n: u32) -> u32 {
    32 - n.saturating_sub(1).leading_zeros()
}
