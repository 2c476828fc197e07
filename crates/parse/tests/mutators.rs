//! Every mutation gives a derivation by the same grammar, and what it prints
//! is accepted by the parser, which shares no code with the mutators.

use wug_grammar::derivation::Derivation;
use wug_grammar::testing::{lexical_grammar, productive_grammar};
use wug_grammar::{Grammar, builtin, print};
use wug_parse::{Cache, Failure, Limits, Parser};
use wug_produce::lexemes::{Layout, Printer};
use wug_produce::mutate::{Mutator, Op, Tree};
use wug_produce::rng::Rng;

const LIMITS: Limits = Limits { memory: 1 << 28, steps: 1_000_000 };

/// How often each operation gave something, and something else than before.
#[derive(Debug, Default)]
struct Tally {
    made: [usize; Op::ALL.len()],
    changed: [usize; Op::ALL.len()],
    judged: usize,
    unprintable: usize,
}

/// Mutates from some fresh inputs on; each result is the next one's origin
/// every now and then.
fn check(grammar: &Grammar, inputs: usize, rounds: usize, seed: u64, tally: &mut Tally) {
    let Ok(mut mutator) = Mutator::new(grammar) else { return };
    let parser = Parser::new(grammar).expect("it is small");
    let mut judge = Judge {
        grammar,
        cache: Cache::new(&parser),
        parser: &parser,
        printer: Printer::new(grammar).expect("it is small"),
        layout: Layout::default(),
        unprintable: 0,
        judged: 0,
    };
    let rng = &mut Rng::new(seed, 0);
    let mut out = Derivation::default();
    for _ in 0..inputs {
        if mutator.fresh(8, 200, rng, &mut out).is_none() {
            return;
        }
        judge.accepts(&out, "fresh input");
        let mut tree = mutator.tree(out.clone()).expect("a derivation of the grammar");
        mutator.learn(&tree, rng);
        for _ in 0..rounds {
            for (at, op) in Op::ALL.into_iter().enumerate() {
                if mutator.mutate(op, &tree, rng, &mut out).is_none() {
                    continue;
                }
                tally.made[at] += 1;
                tally.changed[at] += usize::from(out != *tree.derivation());
                judge.accepts(&out, op.name());
                if rng.below(4) == 0 && out.len() < 2000 {
                    tree = Tree::clone(&mutator.tree(out.clone()).expect("a derivation of the grammar"));
                    mutator.learn(&tree, rng);
                }
            }
        }
    }
    tally.judged += judge.judged;
    tally.unprintable += judge.unprintable;
}

struct Judge<'a> {
    grammar: &'a Grammar,
    parser: &'a Parser<'a>,
    cache: Cache,
    printer: Printer<'a>,
    layout: Layout,
    unprintable: usize,
    judged: usize,
}

impl Judge<'_> {
    /// What is printed must parse. Tokens that cannot be kept apart are not
    /// printed.
    fn accepts(&mut self, made: &Derivation, what: &str) {
        let mut text = Vec::new();
        if let Err(misfit) = made.print(self.grammar, &mut text) {
            panic!("{what}: node {} does not fit in\n{}", misfit.node, print::wug::print(self.grammar));
        }
        text.clear();
        self.judged += 1;
        if self.printer.print(made, &mut self.layout, &mut text).is_none() {
            self.unprintable += 1;
            return;
        }
        if let Err(Failure::Rejected(rejected)) = self.parser.parse(&text, &mut self.cache, LIMITS) {
            let shown = String::from_utf8_lossy(&text);
            let grammar = print::wug::print(self.grammar);
            panic!("{what}: {rejected}, byte {}: {shown:?}\n{grammar}", rejected.valid);
        }
    }
}

#[test]
fn mutations_of_made_up_grammars_stay_in_the_language() {
    let mut tally = Tally::default();
    wug_property::check(|u| {
        let grammar = productive_grammar(u)?;
        check(&grammar, 3, 10, u.arbitrary()?, &mut tally);
        Ok(())
    })
    .for_ms(3000);
    for (at, op) in Op::ALL.into_iter().enumerate() {
        // Grammars without tokens have no texts of tokens, but classes.
        assert!(tally.changed[at] > 0, "{} never changed anything: {tally:?}", op.name());
    }
}

#[test]
fn mutations_of_made_up_tokens_stay_in_the_language() {
    let mut tally = Tally::default();
    wug_property::check(|u| {
        let grammar = lexical_grammar(u)?;
        check(&grammar, 3, 10, u.arbitrary()?, &mut tally);
        Ok(())
    })
    .for_ms(3000);
    assert!(tally.judged > 2 * tally.unprintable && tally.judged > 1000, "{tally:?}");
}

#[test]
fn mutations_of_built_in_grammars_stay_in_the_language() {
    for builtin in builtin::all() {
        let (name, grammar) = (builtin.name, builtin.load().expect("it loads").grammar);
        let mut tally = Tally::default();
        check(&grammar, 20, 20, 7, &mut tally);
        eprintln!("{name}: {tally:?}");
        assert!(tally.made.iter().sum::<usize>() > 2000, "{name}: {tally:?}");
        assert!(tally.unprintable * 50 <= tally.judged, "{name}: {tally:?}");
    }
}
