//! placeholder
use crate::{Diagnostic, Grammar, RuleId};
/// x
#[derive(Debug)]
pub struct Lowered {
    /// x
    pub grammar: Grammar,
    /// x
    pub relex: Option<Relex>,
    /// x
    pub warnings: Vec<Diagnostic>,
}
/// x
#[derive(Debug)]
pub struct Relex;
impl Relex {
    /// x
    pub fn accepts(&self, _: &[u8], _: &[(RuleId, usize)]) -> bool {
        true
    }
}
impl Lowered {
    /// x
    pub fn unproven(&self) -> Vec<String> {
        vec![]
    }
}
/// x
pub fn lower(grammar: &Grammar) -> Lowered {
    Lowered { grammar: grammar.clone(), relex: None, warnings: vec![] }
}
