//! Where each body is used: the edges along which facts spread.

use crate::arena::{AltId, BodyId};
use crate::ir::{Grammar, RuleId, Symbol};

/// How an alternative uses a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// As the body of a rule that it calls.
    Call(RuleId),
    /// As a group.
    Group,
    /// As a repetition of at least `min`, at most `max`.
    Repeat { min: u32, max: Option<u32> },
}

/// One use of a body.
#[derive(Clone, Copy, Debug)]
pub struct Site {
    pub alternative: AltId,
    pub how: Use,
}

/// All uses, by the body that is used.
pub struct Sites {
    first: Vec<u32>,
    sites: Vec<Site>,
    /// The body of each alternative.
    pub body_of: Vec<BodyId>,
    /// Whether a body belongs to a rule that costs no depth.
    pub made: Vec<bool>,
}

impl Sites {
    pub fn of(grammar: &Grammar) -> Sites {
        let bodies = grammar.body_count();
        let mut body_of = vec![BodyId(0); grammar.alternative_count()];
        for body in (0..bodies as u32).map(BodyId) {
            for alt in grammar.alternatives(body) {
                body_of[alt.index()] = body;
            }
        }
        let mut made = vec![false; bodies];
        for rule in grammar.rules() {
            let rule = grammar.rule(rule);
            if !rule.costs_depth() {
                grammar.bodies_within(rule.body, &mut |body| made[body.index()] = true);
            }
        }
        // Counting sort by the body that is used.
        let mut first = vec![0u32; bodies + 1];
        each_site(grammar, |body, _| first[body.index() + 1] += 1);
        for i in 0..bodies {
            first[i + 1] += first[i];
        }
        let mut next = first.clone();
        let placeholder = Site { alternative: AltId(0), how: Use::Group };
        let mut sites = vec![placeholder; first[bodies] as usize];
        each_site(grammar, |body, site| {
            let slot = &mut next[body.index()];
            sites[*slot as usize] = site;
            *slot += 1;
        });
        Sites { first, sites, body_of, made }
    }

    /// The uses of a body.
    pub fn of_body(&self, body: BodyId) -> &[Site] {
        &self.sites[self.first[body.index()] as usize..self.first[body.index() + 1] as usize]
    }
}

fn each_site(grammar: &Grammar, mut visit: impl FnMut(BodyId, Site)) {
    for alternative in (0..grammar.alternative_count() as u32).map(AltId) {
        for symbol in grammar.symbols(alternative) {
            let (body, how) = match *symbol {
                Symbol::Bytes(_) | Symbol::Class(_) => continue,
                Symbol::Rule(rule) => (grammar.rule(rule).body, Use::Call(rule)),
                Symbol::Group(body) => (body, Use::Group),
                Symbol::Repeat(repeat) => {
                    let repeat = grammar.repeat(repeat);
                    (repeat.body, Use::Repeat { min: repeat.min, max: repeat.max })
                }
            };
            visit(body, Site { alternative, how });
        }
    }
}
