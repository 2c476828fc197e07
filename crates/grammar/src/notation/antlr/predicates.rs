//! What is known about predicates.

use super::tree::{Alternative, What};

/// Whether an alternative is nothing but a predicate: it holds only where
/// something else is so, such as a line break or a brace ahead. Where there
/// are other alternatives, they are safe and this one is not.
pub fn is_bare(alternative: &Alternative) -> bool {
    let mut predicate = false;
    for element in &alternative.elements {
        match element.what {
            What::Predicate => predicate = true,
            What::Action => {}
            _ => return false,
        }
    }
    predicate
}
