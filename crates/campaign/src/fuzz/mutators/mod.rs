//! Mutators: each makes inputs of a corpus entry in one way.
//!
//! In:  an entry ([`Subject`]) and what all mutators share ([`Making`]).
//! Out: an input ([`Made`]), or none.
//!
//! A mutator is a value of a type that implements [`Mutator`], with state of
//! its own. `all` lists them; the schedule, the names of files and the
//! report follow that list. A new mutator is one file here and one line there.
//!
//! | file | mutators |
//! | --- | --- |
//! | `tree` | operations on the derivation tree, one for each [`Op`] |
//! | `leaf` | `leaf`: bytes of a terminal |
//! | `operand` | `operand`: what the target compares its input with |
//! | `recombine` | `extend`, `fill`, `nest`: generalised inputs put together |
//! | `string` | `string`: known strings by others |
//! | `rename` | `rename`: a word by another wherever it has to be the same |
//! | `bytes` | `havoc`, `token`: bytes without regard to structure |
//! | `generate` | `generate`: a fresh input of the grammar |

mod bytes;
mod generate;
mod leaf;
mod list;
pub(super) mod operand;
mod recombine;
mod rename;
mod string;
mod tree;

pub(super) use list::{Attempt, MutatorList};

use super::Error;
use super::corpus::Corpus;
use super::materials::Materials;
use super::runner::Runner;
use crate::feedback::Feedback;
use crate::schedule::Bandit;
use operand::Comparisons;
use wug_folder::report::Report;
use wug_produce::mutate::{Op, Tree};
use wug_random::Rng;

/// Makes inputs of corpus entries in one way.
pub trait Mutator {
    /// Its name: in the schedule, the report and the names of entries.
    fn name(&self) -> &'static str;

    /// Whether it is one of Gramatron's, which are used alone if that is
    /// asked for.
    fn is_gramatrons(&self) -> bool {
        false
    }

    /// Whether it can be used on an entry now. Draws nothing at random.
    fn fits(&mut self, entry: &Subject<'_>, making: &Making<'_, '_>) -> bool;

    /// Makes an input of an entry that it fits, in [`Making::out`].
    fn make(&mut self, entry: &Subject<'_>, making: &mut Making<'_, '_>) -> Result<Option<Made>, Error>;

    /// Fills in statistics of its own.
    fn report(&self, _: &mut Report) {}
}

/// All mutators, in the order of the schedule and the report.
pub(super) fn all<'a>(comparisons: Option<Comparisons>) -> Vec<Box<dyn Mutator + 'a>> {
    let mut all: Vec<Box<dyn Mutator + 'a>> = Vec::new();
    all.extend(Op::ALL.map(|op| Box::new(tree::TreeOp::new(op)) as Box<dyn Mutator>));
    all.push(Box::new(leaf::Leaf::default()));
    all.push(Box::new(operand::PutOperand::new(comparisons)));
    all.push(Box::new(recombine::Recombine::Extend));
    all.push(Box::new(recombine::Recombine::Fill));
    all.push(Box::new(recombine::Recombine::Nest));
    all.push(Box::new(string::Strings::default()));
    all.push(Box::new(rename::Rename));
    all.push(Box::new(bytes::HavocBytes));
    all.push(Box::new(bytes::Token));
    all.push(Box::new(generate::Generate));
    all
}

/// The entry that inputs are made of.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'s> {
    /// Its number in the corpus.
    pub entry: usize,
    /// Its bytes.
    pub bytes: &'s [u8],
    /// Its derivation tree, if the grammar derives it.
    pub tree: Option<&'s Tree>,
    /// Whether inputs made of it may leave the language now.
    pub may_leave: bool,
}

/// An input that was made.
#[derive(Clone, Copy, Debug, Default)]
pub struct Made {
    /// Operations that it took.
    pub operations: u32,
    /// Whether it is sure to be in the language.
    pub valid: bool,
    /// The number of another entry that took part.
    pub other: Option<usize>,
    /// Whether nothing of the entry is in it.
    pub fresh: bool,
}

impl Made {
    /// By one operation; `valid` if it is sure to be in the language.
    pub fn one(valid: bool) -> Made {
        Made { operations: 1, valid, ..Made::default() }
    }

    /// By so many operations without regard to the language.
    pub fn careless(operations: u32) -> Made {
        Made { operations, ..Made::default() }
    }
}

/// What an input is made with.
pub struct Making<'m, 'a> {
    pub(super) materials: &'m mut Materials<'a>,
    pub(super) corpus: &'m Corpus,
    pub(super) feedback: &'m Feedback,
    pub(super) runner: &'m mut Runner<'a>,
    /// What is known of the mutators.
    pub(super) bandit: &'m Bandit,
    /// What the input costs beyond what every input does.
    pub(super) cost: f64,
    /// The input: to be replaced. It holds the one made before.
    pub out: &'m mut Vec<u8>,
}

impl Making<'_, '_> {
    /// The source of all random choices.
    pub fn rng(&mut self) -> &mut Rng {
        &mut self.materials.rng
    }

    /// The dictionary.
    pub fn tokens(&self) -> &[Box<[u8]>] {
        self.materials.havoc.tokens()
    }

    /// No input is longer than this many bytes.
    pub fn max_size(&self) -> usize {
        self.materials.max_size
    }
}
