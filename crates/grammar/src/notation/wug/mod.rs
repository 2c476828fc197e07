//! `.wug`, our own notation: readable EBNF over bytes and Unicode that can
//! express all that a [`crate::Grammar`] holds.
//!
//! ```text
//! // A comment; /* and another */
//! import "names.wug";
//! start json;                        // else the first rule
//!
//! json    = ws value ws ;
//! value   = @3 object | @2 array | string | "null" ;   // weights
//! @depth(4) object = "{" (pair ("," pair)*)? "}" ;     // a limit
//! hex     = [0-9A-Fa-f]{4} ;         // classes and bounded repetition
//! magic   = x"7F 45 4C 46" x[00-1F]+ ;   // bytes
//! name    = /[a-z_]\w*/ ;            // a regular expression
//! select  = "select"i ;              // either case
//!
//! token ID = [a-z]+ ;                // lexical rules, in this order
//! skip  WS = [ \n]+ ;
//! fragment DIGIT = [0-9] ;
//! token QUOTE = '"' -> push(text) ;
//! mode text { token END = '"' -> pop ; }
//! ```
//!
//! Files that are imported come after the file that imports them, so that
//! its rules come first, and its tokens before theirs.

pub(super) mod literal;
mod reader;

pub use reader::read;
