//! Grammars as data: from any notation to one representation, with facts
//! and transforms.

pub mod arena;
pub mod ast;
pub mod builtin;
pub mod check;
pub mod class;
pub mod count;
pub mod diagnostic;
pub mod enumerate;
pub mod facts;
pub mod fuzzing;
pub mod ir;
pub mod lexical;
pub mod load;
pub mod names;
pub mod notation;
pub mod print;
pub mod resolve;
pub mod source;
#[cfg(feature = "testing")]
pub mod testing;
pub mod transform;

pub use arena::{
    AltId, Alternative, Arena, BodyId, Builder, Bytes, ClassId, MAX_NESTING, Note, Repeat, RepeatId, SymbolId,
};
pub use class::{Class, Unit};
pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use ir::{Grammar, ModeId, Rule, RuleId, RuleKind, Symbol};
pub use load::{Loaded, Loader, Rejected, load};
pub use notation::Notation;
pub use source::{Sources, Span};
