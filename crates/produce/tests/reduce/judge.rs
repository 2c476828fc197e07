//! The slow judge: tries every single step on a result, one by one.

use std::collections::HashSet;
use std::convert::Infallible;
use wug_grammar::derivation::{Event, Forwards, Node, Part, Place};
use wug_grammar::{Derivation, Grammar, Symbol, print, testing};
use wug_parse::{Cache, Limits, Parser};
use wug_produce::reduce::{End, Options, Piece, Reduced, Reducer};
use wug_produce::{Layout, Printer};

/// What is of interest in an input.
pub type Predicate<'a> = dyn Fn(&Grammar, &Derivation, &[u8]) -> bool + 'a;

/// A grammar with all that reads and writes it.
pub struct Bench<'g> {
    grammar: &'g Grammar,
    parser: Parser<'g>,
    cache: Cache,
    printer: Printer<'g>,
    layout: Layout,
}

impl<'g> Bench<'g> {
    pub fn new(grammar: &'g Grammar) -> Option<Bench<'g>> {
        let parser = Parser::new(grammar).ok()?;
        let printer = Printer::new(grammar).ok()?;
        Some(Bench { grammar, cache: Cache::new(&parser), parser, printer, layout: Layout::default() })
    }

    fn parse(&mut self, text: &[u8]) -> Option<Derivation> {
        let limits = Limits { memory: 1 << 28, steps: 1_000_000 };
        self.parser.parse(text, &mut self.cache, limits).ok().map(|parsed| parsed.derivation)
    }

    /// Reduces `text` while it parses and `holds` of it.
    pub fn reduce(&mut self, text: &[u8], holds: &Predicate<'_>) -> Option<Reduced<Infallible>> {
        let derivation = self.parse(text)?;
        let grammar = self.grammar;
        if !holds(grammar, &derivation, text) {
            return None;
        }
        let reducer = Reducer::new(grammar).ok()?;
        let pieces = vec![Piece::Tree(grammar.start(), derivation)];
        let mut met = HashSet::new();
        let reduced = reducer.reduce(pieces, Options::default(), |bytes| {
            assert!(met.insert(bytes.to_vec()), "run twice: {bytes:?}");
            // Candidates are of the grammar, all of them.
            let parsed = self.parse(bytes).unwrap_or_else(|| {
                panic!("{:?}\n{}", String::from_utf8_lossy(bytes), print::wug::print(grammar))
            });
            Ok(holds(grammar, &parsed, bytes))
        });
        assert_eq!((reduced.end, reduced.runs), (End::Minimal, met.len() as u64));
        let [Piece::Tree(_, derivation)] = &reduced.pieces[..] else { panic!("one tree") };
        let mut bytes = Vec::new();
        derivation.print(grammar, &mut bytes).expect("it fits");
        assert_eq!(bytes, reduced.bytes);
        self.judge(derivation, &reduced.bytes, holds);
        Some(reduced)
    }

    /// Tries each single step: none may be shorter and of interest.
    fn judge(&mut self, derivation: &Derivation, bytes: &[u8], holds: &Predicate<'_>) {
        let mut places = vec![Place::Skipped; derivation.len()];
        let set = |event: Event<'_>| {
            if let Event::Enter(node, place) = event {
                places[node] = place;
            }
        };
        derivation.walk(self.grammar, set).expect("it fits");
        for at in 0..derivation.len() {
            match places[at] {
                Place::Repeat(repeat) => {
                    let count = derivation.children(at).count();
                    if count as u32 == self.grammar.repeat(repeat).min {
                        continue;
                    }
                    for round in derivation.children(at) {
                        let mut shorter = Derivation::default();
                        derivation.rebuild(Some(at), round..derivation.end(round), &[], &mut shorter);
                        shorter.set_count(at, count as u32 - 1);
                        self.refused(&shorter, bytes, holds, "a round left out");
                    }
                }
                place @ Place::Body(_) => {
                    for below in (at + 1..derivation.end(at)).filter(|&below| places[below] == place) {
                        let mut shorter = Derivation::default();
                        let part = [Part::subtree(derivation, below)];
                        let parent = derivation.parent(at);
                        derivation.rebuild(parent, at..derivation.end(at), &part, &mut shorter);
                        self.refused(&shorter, bytes, holds, "a descendant in its place");
                    }
                    self.shortest_refused(derivation, at, &places, bytes, holds);
                    self.units_refused(derivation, at, &places, bytes, holds);
                }
                Place::Token(_) => {
                    let number = tokens(derivation, at);
                    for i in 0..derivation.text(at).len() {
                        let mut text = derivation.text(at).to_vec();
                        text.remove(i);
                        let shorter = derivation.with_tokens(|token| (token == number).then_some(&text));
                        self.refused(&shorter, bytes, holds, "a byte of a lexeme left out");
                    }
                }
                Place::Skipped => {
                    let number = tokens(derivation, at);
                    let gaps = gaps(derivation);
                    let shorter = derivation.respaced(|gap| if gap == number { &[] } else { gaps[gap] });
                    self.refused(&shorter, bytes, holds, "a text between tokens left out");
                }
                _ => {}
            }
        }
    }

    /// Alternatives that are but one rule, which stands below the node.
    fn units_refused(
        &mut self,
        derivation: &Derivation,
        at: usize,
        places: &[Place],
        bytes: &[u8],
        holds: &Predicate<'_>,
    ) {
        let Place::Body(body) = places[at] else { return };
        for alt in self.grammar.alternatives(body) {
            let [Symbol::Rule(rule)] = self.grammar.symbols(alt) else { continue };
            let wanted = Place::Body(self.grammar.rule(*rule).body);
            for below in (at + 1..derivation.end(at)).filter(|&below| places[below] == wanted) {
                let mut part = Derivation::default();
                let mut build = Forwards::new(&mut part);
                let mark = build.open(Node::Alternative(alt));
                build.graft(derivation, below..derivation.end(below));
                build.close(mark);
                self.refused(&derivation.replaced(at, &part, 0), bytes, holds, "a unit in its place");
            }
        }
    }

    /// Where only one text of a body is the shortest, as the enumerator
    /// says, it may not serve.
    fn shortest_refused(
        &mut self,
        derivation: &Derivation,
        at: usize,
        places: &[Place],
        bytes: &[u8],
        holds: &Predicate<'_>,
    ) {
        let Place::Body(body) = places[at] else { return };
        let rule = self.grammar.rules().find(|&rule| self.grammar.rule(rule).body == body);
        let (Some(rule), false) = (rule, self.grammar.has_tokens()) else { return };
        let spans = derivation.spans(self.grammar).expect("it fits");
        let grammar = self.grammar.clone().with_start(rule);
        let Some(strings) = testing::strings(&grammar, spans[at].len().min(6)) else { return };
        let Some(least) = strings.iter().map(|text| text.len()).min() else { return };
        let mut shortest = strings.iter().filter(|text| text.len() == least);
        let (Some(text), None) = (shortest.next(), shortest.next()) else { return };
        let shorter = [&bytes[..spans[at].start], &text[..], &bytes[spans[at].end..]].concat();
        if shorter.len() < bytes.len() {
            let parsed = self.parse(&shorter).expect("the rule derives it");
            assert!(!holds(self.grammar, &parsed, &shorter), "the shortest serves: {shorter:?}");
        }
    }

    fn refused(&mut self, shorter: &Derivation, than: &[u8], holds: &Predicate<'_>, step: &str) {
        let mut text = Vec::new();
        let printed = self.printer.print(shorter, &mut self.layout, &mut text);
        if printed.is_none() || text.len() >= than.len() {
            return;
        }
        let parsed = self.parse(&text).expect("it was printed");
        let show = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(
            !holds(self.grammar, &parsed, &text),
            "{step}: {:?} of {:?}\n{}",
            show(&text),
            show(than),
            print::wug::print(self.grammar)
        );
    }
}

/// How many tokens stand before a node.
fn tokens(derivation: &Derivation, at: usize) -> usize {
    (0..at).filter(|&node| matches!(derivation.node(node), Node::Token(_))).count()
}

/// What stands before each token, and at the end.
fn gaps(derivation: &Derivation) -> Vec<&[u8]> {
    let mut gaps: Vec<&[u8]> = vec![&[]; tokens(derivation, derivation.len()) + 1];
    for at in (0..derivation.len()).filter(|&at| matches!(derivation.node(at), Node::Skipped(_))) {
        gaps[tokens(derivation, at)] = derivation.text(at);
    }
    gaps
}
