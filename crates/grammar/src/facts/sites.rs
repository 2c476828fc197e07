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
#[derive(Clone, Debug)]
pub struct Sites {
    first: Vec<u32>,
    sites: Vec<Site>,
    /// The body of each alternative.
    pub body_of: Vec<BodyId>,
    /// Whether a body belongs to a rule that costs no depth.
    pub made: Vec<bool>,
    // What is asked of rules most, apart from their names and remarks.
    body_of_rule: Vec<BodyId>,
    costs: Vec<bool>,
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
        let body_of_rule: Vec<BodyId> = grammar.rules.iter().map(|r| r.body).collect();
        let costs: Vec<bool> = grammar.rules.iter().map(|r| r.costs_depth()).collect();
        for rule in &grammar.rules {
            if !rule.costs_depth() {
                grammar.bodies_within(rule.body, &mut |body| made[body.index()] = true);
            }
        }
        // Counting sort by the body that is used.
        let mut first = vec![0u32; bodies + 1];
        each_site(grammar, &body_of_rule, |body, _| first[body.index() + 1] += 1);
        for i in 0..bodies {
            first[i + 1] += first[i];
        }
        let mut next = first.clone();
        let placeholder = Site { alternative: AltId(0), how: Use::Group };
        let mut sites = vec![placeholder; first[bodies] as usize];
        each_site(grammar, &body_of_rule, |body, site| {
            let slot = &mut next[body.index()];
            sites[*slot as usize] = site;
            *slot += 1;
        });
        Sites { first, sites, body_of, made, body_of_rule, costs }
    }

    /// Whether a call of a rule is one level of depth.
    pub fn costs_depth(&self, rule: RuleId) -> bool {
        self.costs[rule.index()]
    }

    /// The body of a rule.
    pub fn body_of_rule(&self, rule: RuleId) -> BodyId {
        self.body_of_rule[rule.index()]
    }

    /// The uses of a body.
    pub fn of_body(&self, body: BodyId) -> &[Site] {
        &self.sites[self.first[body.index()] as usize..self.first[body.index() + 1] as usize]
    }
}

fn each_site(grammar: &Grammar, bodies: &[BodyId], mut visit: impl FnMut(BodyId, Site)) {
    for alternative in (0..grammar.alternative_count() as u32).map(AltId) {
        for symbol in grammar.symbols(alternative) {
            let (body, how) = match *symbol {
                Symbol::Bytes(_) | Symbol::Class(_) => continue,
                Symbol::Rule(rule) => (bodies[rule.index()], Use::Call(rule)),
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
