//! Tests of grammar automata: one program, since linking takes longer than
//! most of them.

mod files;
mod inputs;
mod language;
mod mutations;
mod published;
mod uniform;
mod walks;
