//! The tables of the exact way, for any language.

use crate::flat::Draw;
use wug_grammar::{AltId, BodyId, ClassId, Symbol, Unit, count};
use wug_produce::Program;
use wug_produce::pool::{POOL, thresholds};

/// A table of numbers.
pub(crate) struct Array {
    pub name: &'static str,
    pub bits: u32,
    pub values: Vec<u64>,
}

/// A number with a name.
pub(crate) struct Constant {
    pub name: &'static str,
    pub bits: u32,
    pub value: u64,
}

/// Numbers that the exact way is written in terms of.
pub(crate) fn constants(program: &Program) -> Vec<Constant> {
    let grammar = &program.grammar;
    let start = grammar.start();
    let constant = |name, bits, value| Constant { name, bits, value };
    vec![
        constant("START", 32, start.0.into()),
        constant("POOL", 64, POOL),
        constant("UNIFORM", 32, u64::from(count::UNIFORM_SPAN) + 1),
    ]
}

/// The tables of classes and counts, which the fast way needs as well.
pub(crate) fn lexical(program: &Program) -> Vec<Array> {
    let grammar = &program.grammar;
    let classes: Vec<_> = (0..grammar.class_count() as u32).map(|c| grammar.class(ClassId(c))).collect();
    let ranges = || classes.iter().flat_map(|class| class.ranges());
    vec![
        array("class_first", 32, firsts(classes.iter().map(|class| class.ranges().len()))),
        array("class_count", 32, classes.iter().map(|class| class.count().into())),
        array("class_is_bytes", 8, classes.iter().map(|class| u64::from(class.unit() == Unit::Byte))),
        array("range_low", 32, ranges().map(|range| range.0.into())),
        array("range_high", 32, ranges().map(|range| range.1.into())),
        array("geometric", 32, count::THRESHOLDS.iter().map(|&t| t.into())),
    ]
}

/// The tables of the grammar.
pub(crate) fn grammar(program: &Program) -> Vec<Array> {
    let grammar = &program.grammar;
    let alternatives = || (0..grammar.alternative_count() as u32).map(AltId);
    let bodies = || (0..grammar.body_count() as u32).map(BodyId);
    let rules = || grammar.rules().map(|rule| grammar.rule(rule));
    let (mut kinds, mut values) = (Vec::new(), Vec::new());
    let (mut texts, mut lengths, mut repeats) = (Vec::new(), Vec::new(), Vec::new());
    for symbol in alternatives().flat_map(|alt| grammar.symbols(alt)) {
        let (kind, value) = match *symbol {
            Symbol::Bytes(bytes) => {
                texts.extend(grammar.bytes(bytes).iter().map(|&byte| u64::from(byte)));
                lengths.push(bytes.len as usize);
                (0, lengths.len() - 1)
            }
            Symbol::Class(class) => (1, class.index()),
            Symbol::Rule(rule) => (2, rule.index()),
            Symbol::Group(body) => (3, body.index()),
            Symbol::Repeat(repeat) => {
                repeats.push(*grammar.repeat(repeat));
                (4, repeats.len() - 1)
            }
        };
        kinds.push(kind);
        values.push(value as u64);
    }
    let empty = |body| u64::from(program.only_empty(body)) | u64::from(program.closing.only_empty(body)) << 1;
    let pools: Vec<Box<[u32]>> = rules().map(|rule| pool(program, rule.body)).collect();
    let (free, closed) = (&program.free, &program.closed);
    vec![
        array("alternative_first", 32, firsts(alternatives().map(|alt| grammar.symbols(alt).len()))),
        array("alternative_least", 64, alternatives().map(|alt| program.least_of(alt))),
        array("alternative_ways", 64, alternatives().map(|alt| program.ways_of(alt))),
        array("body_least", 64, bodies().map(|body| program.least[body.index()])),
        array("body_shortest", 32, bodies().map(|body| program.shortest[body.index()].0.into())),
        array("body_ways", 64, bodies().map(|body| program.closing.completions(body))),
        array("body_empty", 8, bodies().map(empty)),
        array("free_first", 32, firsts(bodies().map(|body| free.alternatives(body).len()))),
        array("free_alternatives", 32, bodies().flat_map(|b| free.alternatives(b)).map(|alt| alt.0.into())),
        array("free_sums", 64, bodies().flat_map(|body| free.sums(body)).copied()),
        array("closed_first", 32, firsts(bodies().map(|body| closed.alternatives(body).len()))),
        array(
            "closed_alternatives",
            32,
            bodies().flat_map(|b| closed.alternatives(b)).map(|alt| alt.0.into()),
        ),
        array("closed_sums", 64, bodies().flat_map(|body| closed.sums(body)).copied()),
        array("symbol_kind", 8, kinds),
        array("symbol_value", 32, values),
        array("text_first", 32, firsts(lengths.into_iter())),
        array("texts", 8, texts),
        array("rule_body", 32, rules().map(|rule| rule.body.0.into())),
        array("rule_costs", 8, rules().map(|rule| u64::from(rule.costs_depth()))),
        array("rule_limit", 32, rules().map(|rule| rule.depth_limit.unwrap_or(u32::MAX).into())),
        array("repeat_body", 32, repeats.iter().map(|repeat| repeat.body.0.into())),
        array("repeat_min", 32, repeats.iter().map(|repeat| repeat.min.into())),
        array(
            "repeat_choices",
            32,
            repeats.iter().map(|repeat| count::choices(repeat.min, repeat.max).into()),
        ),
        array("pool_first", 32, firsts(pools.iter().map(|pool| pool.len()))),
        array("pool", 32, pools.iter().flat_map(|pool| pool.iter()).map(|&t| t.into())),
    ]
}

/// The thresholds of a closed rule's completions, none if all are equally
/// likely or there are too many.
fn pool(program: &Program, body: BodyId) -> Box<[u32]> {
    match program.closing.completions(body) {
        2..=POOL => Draw::by(thresholds(program, body).iter().copied()).thresholds.unwrap_or_default(),
        _ => Box::default(),
    }
}

fn array(name: &'static str, bits: u32, values: impl IntoIterator<Item = u64>) -> Array {
    Array { name, bits, values: values.into_iter().collect() }
}

/// Where each of several stretches begins, and where the last ends.
fn firsts(lengths: impl Iterator<Item = usize>) -> Vec<u64> {
    let mut sum = 0;
    let mut firsts = vec![0];
    for length in lengths {
        sum += length as u64;
        firsts.push(sum);
    }
    firsts
}
