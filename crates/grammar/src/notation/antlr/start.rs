//! The start rule, and the rules that end where the text ends.

use super::build::names_in;
use super::tree::{Alternative, Rule, What};
use super::unit::Unit;
use hashbrown::{HashMap, HashSet};

/// The start rule. Of the rules that nobody else calls: the first that reads
/// the end of the text, else the first; if all are called: the first that
/// reads the end of the text, else the first of all.
pub fn choose<'a>(unit: &Unit<'a>, wanted: Option<&str>) -> Option<&'a Rule> {
    if let Some(rule) = unit.syntax.iter().find(|r| Some(r.name.as_str()) == wanted) {
        return Some(rule);
    }
    let mut called: HashSet<&str> = HashSet::new();
    for rule in &unit.syntax {
        names_in(&rule.block.0, &mut |name| {
            if name != rule.name {
                called.insert(name);
            }
        });
    }
    let free = |r: &&&'a Rule| !called.contains(r.name.as_str());
    let ends = |r: &&&'a Rule| has_end(&r.block.0);
    let rules = || unit.syntax.iter();
    let found = rules().find(|r| free(r) && ends(r));
    let found = found.or_else(|| rules().find(free)).or_else(|| rules().find(ends));
    found.or_else(|| unit.syntax.first()).copied()
}

fn has_end(alternatives: &[Alternative]) -> bool {
    alternatives.iter().flat_map(|a| &a.elements).any(|e| match &e.what {
        What::Eof => true,
        What::Block(block) => has_end(&block.0),
        What::Repeat { body, .. } => has_end(&body.0),
        _ => false,
    })
}

/// For each rule that the start reaches: whether nothing follows it,
/// wherever it stands.
pub fn ends<'a>(unit: &Unit<'a>, start: Option<&'a Rule>) -> HashMap<&'a str, bool> {
    let rules: HashMap<&str, &'a Rule> = unit.syntax.iter().map(|r| (r.name.as_str(), *r)).collect();
    let mut found: HashMap<&'a str, bool> = HashMap::new();
    let mut work: Vec<(&'a str, bool)> = start.map(|s| (s.name.as_str(), true)).into_iter().collect();
    while let Some((name, ends)) = work.pop() {
        let Some(rule) = rules.get(name) else { continue };
        // From unknown to true to false, so that this comes to rest.
        match found.get_mut(name) {
            Some(known) if !*known || ends => continue,
            Some(known) => *known = false,
            None => {
                found.insert(&rule.name, ends);
            }
        }
        calls(&rule.block.0, ends, &mut work);
    }
    found
}

fn calls<'a>(alternatives: &'a [Alternative], ends: bool, work: &mut Vec<(&'a str, bool)>) {
    for alternative in alternatives {
        let mut ends = ends;
        for element in alternative.elements.iter().rev() {
            match &element.what {
                What::Name(name) => work.push((name, ends)),
                What::Block(block) => calls(&block.0, ends, work),
                What::Repeat { body, max, .. } => calls(&body.0, ends && *max == Some(1), work),
                _ => {}
            }
            ends &= matches!(element.what, What::Eof | What::Action | What::Predicate);
        }
    }
}
