//! From one grammar to another, in the order in which the passes apply.
//!
//! | pass            | after it                                          |
//! | --------------- | ------------------------------------------------- |
//! | [`except`]      | no exceptions (`a - b`)                           |
//! | [`mod@prune`]   | no rule or alternative without use                |
//! | [`mod@lower`]   | no tokens: what is derived lexes as intended      |
//! | [`beginnings`]  | weights are those of Gramatron's distribution     |
//! | [`mod@embed`]   | simple alternatives are rarer by `2^levels`       |
//! | [`mod@desugar`] | no groups, no repetitions                         |
//! | [`mod@inline`]  | no calls of rules with a single alternative       |
//! | [`mod@unroll`]  | calls replaced by all alternatives of their rules |
//!
//! All but the first and `lower` take any grammar, keep its language, and
//! can be chained in any order.
//! `tests/transforms` checks that on made-up grammars, with
//! [`mod@crate::enumerate`] as the judge.

pub mod beginnings;
mod calls;
mod copy;
pub mod desugar;
pub mod embed;
pub mod except;
pub mod inline;
pub mod lower;
pub mod prune;
pub mod unroll;

pub use desugar::desugar;
pub use embed::embed;
pub use inline::inline;
pub use prune::prune;
pub use unroll::unroll;
