//! Grammars as data: from any notation to one representation, with facts
//! and transforms.
//!
//! ```text
//! text --notation--> Ast --resolve--> Grammar --transform--> Grammar
//!                                        |                      |
//!                                      facts                  print
//! ```
//!
//! [`mod@load`] is the door for texts of all [`notation`]s. What is wrong
//! with them comes back as [`Diagnostic`]s with their places. A [`Grammar`]
//! is immutable; [`facts`] tell what is true of it, [`transform`]s make
//! another of it, [`mod@print`] makes text of it.
//!
//! ```
//! use wug_grammar::facts::Facts;
//! use wug_grammar::load::load_text;
//! use wug_grammar::{Notation, print};
//!
//! let loaded = load_text("list.ebnf", "list = item, { \",\", item }; item = \"x\";", Notation::Ebnf)?;
//! let grammar = loaded.grammar;
//! assert_eq!(print::wug::print(&grammar), "list = item (\",\" item)* ;\nitem = \"x\" ;\n");
//!
//! let facts = Facts::of(&grammar);
//! assert_eq!(facts.min_length(grammar.rule(grammar.start()).body), Some(1));
//! assert_eq!(facts.max_length(&grammar, grammar.start()), None);
//! # Ok::<(), wug_grammar::Rejected>(())
//! ```
//!
//! The crate does no IO, draws no random numbers and does not panic on any
//! text.
//!
//! # The way of a grammar
//!
//! 1. `load.rs` is the one door. It asks `notation/mod.rs` which notation a
//!    text is in; that notation's file reads it into `ast.rs`, with the place
//!    of everything (`source.rs`). Imports are fetched through a trait, so
//!    that the crate does no IO. Notations of other tools are told by
//!    `notation/foreign.rs`; `by_case.rs` makes tokens of uppercase rules
//!    where that is asked for.
//! 2. `resolve.rs` binds names to rules and checks the border between syntax
//!    and tokens. The result is `ir.rs`. Both trees share one shape,
//!    `arena.rs`: bodies of alternatives of symbols, in flat arrays, because
//!    a grammar may have a million alternatives.
//! 3. Mistakes are collected in `diagnostic.rs` and shown with their source
//!    lines.
//! 4. `facts/mod.rs` works out what is true of a grammar; `check.rs` tells of
//!    it what a person must know.
//! 5. `transform/mod.rs` lists the passes from grammar to grammar, each with
//!    what holds after it.
//! 6. `print/mod.rs` goes back to text. `.wug` (`print/wug.rs`) loses
//!    nothing: reading it again gives the same grammar.

pub mod arena;
pub mod ast;
pub mod builtin;
pub mod by_case;
pub mod check;
pub mod class;
pub mod count;
pub mod derivation;
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
pub use derivation::Derivation;
pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use ir::{Grammar, ModeId, Rule, RuleId, RuleKind, Symbol};
pub use load::{Loaded, Loader, Rejected, load};
pub use notation::Notation;
pub use source::{Sources, Span};
