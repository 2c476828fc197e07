//! From a grammar back to text.
//!
//! `.wug` holds all that a grammar has. F1, Gramatron and BNF know only
//! rules, alternatives and text: they print a grammar that is lowered and
//! desugared, without its weights and remarks. Classes become rules.

pub mod bnf;
pub mod dot;
pub mod f1;
pub mod gramatron;
mod plain;
pub mod wug;
