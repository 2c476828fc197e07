//! What an operation decides, carried out on a derivation.

use super::{Mutator, Tree, replace};
use std::ops::Range;
use wug_grammar::derivation::{Derivation, Forwards, Part};
use wug_grammar::{BodyId, ClassId};

/// A change to a derivation.
#[derive(Clone, Debug)]
pub(super) enum Edit {
    /// The subtree of a node by another.
    Subtree { at: usize, with: With },
    /// Rounds of the repetition at `at`, which has so many then.
    Rounds { at: usize, cut: Range<usize>, with: With, count: u32 },
    /// What lies between two nodes that derive the same, so many times more.
    Recurse { outer: usize, inner: usize, times: u32 },
    /// Two subtrees that do not lie in each other.
    Swap { first: usize, second: usize },
    /// Another member of a class.
    Member { at: usize, class: ClassId, value: u32 },
}

/// What is put in.
#[derive(Clone, Debug)]
pub(super) enum With {
    Nothing,
    /// Subtrees of the same derivation.
    Own {
        nodes: Range<usize>,
        times: u32,
    },
    /// The mutator's part, a derivation of a body.
    Part(BodyId),
    /// A fragment by its number.
    Fragment(BodyId, usize),
    /// The mutator's text, as a token.
    Text,
}

impl Edit {
    pub fn subtree(tree: &Tree, at: usize, with: With) -> Edit {
        debug_assert!(at < tree.derivation().len());
        Edit::Subtree { at, with }
    }
}

impl Mutator {
    /// Writes the changed derivation. None if it would be too large.
    pub(super) fn rebuild(&mut self, edit: &Edit, tree: &Tree, out: &mut Derivation) -> Option<()> {
        let derivation = tree.derivation();
        match edit {
            Edit::Subtree { at, with } => {
                let part = self.one_part(with, derivation)?;
                replace(derivation, *at, &part, out)
            }
            Edit::Rounds { at, cut, with, count } => {
                const MOST: usize = 64;
                let times = match with {
                    With::Nothing => 0,
                    With::Own { times, .. } => (*times as usize).min(MOST),
                    _ => 1,
                };
                if times == 0 {
                    derivation.rebuild(Some(*at), cut.clone(), &[], out);
                } else {
                    let part = self.one_part(with, derivation)?;
                    let parts: [Part<'_>; MOST] = std::array::from_fn(|_| part.clone());
                    derivation.rebuild(Some(*at), cut.clone(), &parts[..times], out);
                }
                out.set_count(*at, *count);
                Some(())
            }
            Edit::Recurse { outer, inner, times } => {
                let step = inner - outer;
                let mut inner = *inner;
                replace(derivation, inner, &Part::subtree(derivation, *outer), out)?;
                for _ in 1..*times {
                    inner += step;
                    let part = Part::subtree(derivation, *outer);
                    if replace(out, inner, &part, &mut self.between).is_none() {
                        break;
                    }
                    std::mem::swap(out, &mut self.between);
                }
                Some(())
            }
            Edit::Swap { first, second } => {
                replace(derivation, *second, &Part::subtree(derivation, *first), &mut self.between)?;
                replace(&self.between, *first, &Part::subtree(derivation, *second), out)
            }
            Edit::Member { at, value, .. } => {
                out.clone_from(derivation);
                out.set_member(*at, *value);
                Some(())
            }
        }
    }

    fn one_part<'a>(&'a mut self, with: &With, own: &'a Derivation) -> Option<Part<'a>> {
        match with {
            With::Nothing => None,
            With::Own { nodes, .. } => Some(Part { of: own, nodes: nodes.clone() }),
            With::Part(_) => Some(Part::subtree(&self.part, 0)),
            With::Fragment(body, at) => Some(Part::subtree(&self.fragments.get(*body, *at).derivation, 0)),
            With::Text => {
                Forwards::new(&mut self.part).leaf(&self.text, false);
                Some(Part::subtree(&self.part, 0))
            }
        }
    }
}
