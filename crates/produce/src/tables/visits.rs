//! How often a producer comes by: what tables are worth their room.
//!
//! In:  a program.
//! Out: for each body and row, the expected number of times that an
//!      alternative of it is chosen in one input, as a share of all choices.
//!
//! Levels are walked from the start's down. Calls that cost no depth stay
//! within a level: those are followed a fixed number of times, which is
//! exact but for circles of such calls. What is far beyond the horizon is
//! alike, so that of very deep limits only the first and last levels are
//! walked. The shares are a pure function of grammar and options: they
//! decide what the tables hold.

use super::item::{HORIZON, Row};
use crate::program::Program;
use wug_grammar::{BodyId, Symbol, count};

/// Levels that are walked beyond the horizon.
const LEVELS: u32 = 48;
/// How often calls within a level are followed.
const TURNS: usize = 6;
/// Rows of one body.
const ROWS: usize = HORIZON as usize + 1;

/// The share of each body in each row.
#[derive(Debug)]
pub struct Visits {
    shares: Vec<f64>,
}

impl Visits {
    pub fn of(program: &Program) -> Visits {
        let bodies = program.grammar.body_count();
        let mut visits = Walk { program, shares: vec![0.0; bodies * ROWS], next: vec![0.0; bodies] };
        let start = program.grammar.rule(program.grammar.start());
        let depth = program.options.max_depth.min(start.depth_limit.unwrap_or(u32::MAX));
        let mut now = vec![0.0; bodies];
        now[start.body.index()] = 1.0;
        let mut level = depth.min(LEVELS + u32::from(HORIZON));
        loop {
            visits.level(&mut now, level);
            if level == 0 {
                break;
            }
            level -= 1;
            std::mem::swap(&mut now, &mut visits.next);
            visits.next.fill(0.0);
            // Only shares count; keep the numbers small.
            let total: f64 = now.iter().sum();
            if total > 1e100 {
                now.iter_mut().chain(&mut visits.shares).for_each(|v| *v /= total);
            }
        }
        let mut shares = visits.shares;
        let total: f64 = shares.iter().sum();
        shares.iter_mut().for_each(|share| *share /= total.max(f64::MIN_POSITIVE));
        Visits { shares }
    }

    /// The share of a body in a row.
    pub fn share(&self, body: BodyId, row: Row) -> f64 {
        self.shares[body.index() * ROWS + usize::from(row)]
    }
}

struct Walk<'a> {
    program: &'a Program,
    shares: Vec<f64>,
    /// Visits one level down.
    next: Vec<f64>,
}

impl Walk<'_> {
    /// Follows all visits of one level.
    fn level(&mut self, now: &mut Vec<f64>, level: u32) {
        let row = level.min(u32::from(HORIZON)) as usize;
        let mut again = vec![0.0; now.len()];
        for _ in 0..TURNS {
            let mut any = false;
            for (body, visits) in now.iter_mut().enumerate() {
                let visits = std::mem::take(visits);
                if visits > 0.0 {
                    any = true;
                    self.shares[body * ROWS + row] += visits;
                    self.body(BodyId(body as u32), visits, level == 0, &mut again);
                }
            }
            if !any {
                return;
            }
            std::mem::swap(now, &mut again);
        }
        now.fill(0.0);
    }

    /// Adds what the alternatives of a body call.
    fn body(&mut self, body: BodyId, visits: f64, closed: bool, same: &mut [f64]) {
        let grammar = &self.program.grammar;
        let offers = if closed { &self.program.closed } else { &self.program.free };
        let total = offers.weight(body) as f64;
        for &alt in offers.alternatives(body) {
            let visits = visits * f64::from(grammar.alternative(alt).weight) / total;
            for symbol in grammar.symbols(alt) {
                match *symbol {
                    Symbol::Bytes(_) | Symbol::Class(_) => {}
                    Symbol::Group(body) => same[body.index()] += visits,
                    Symbol::Rule(rule) => {
                        let rule = grammar.rule(rule);
                        let deeper = rule.costs_depth() && !closed;
                        let to = if deeper { &mut self.next } else { &mut *same };
                        to[rule.body.index()] += visits;
                    }
                    Symbol::Repeat(repeat) => {
                        let one = grammar.repeat(repeat);
                        let extra = if closed { 0.0 } else { count::mean_extra(one.min, one.max) };
                        same[one.body.index()] += visits * (f64::from(one.min) + extra);
                    }
                }
            }
        }
    }
}
