//! Every mutation gives a derivation by the same grammar, and what it prints
//! is accepted by the parser, which shares no code with the mutators.

use wug_grammar::derivation::Derivation;
use wug_grammar::testing::{lexical_grammar, productive_grammar};
use wug_grammar::{Grammar, builtin, print};
use wug_parse::{Cache, Failure, Limits, Parser};
use wug_produce::lexemes::{Layout, Printer};
use wug_produce::mutate::{Mutator, Op, Patches, Tree};
use wug_random::Rng;

const LIMITS: Limits = Limits { memory: 1 << 28, steps: 1_000_000 };

/// How often each operation gave something, and something else than before.
#[derive(Debug, Default)]
struct Tally {
    made: [usize; Op::ALL.len()],
    changed: [usize; Op::ALL.len()],
    judged: usize,
    unprintable: usize,
    patched: usize,
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
        patched: 0,
    };
    let rng = &mut Rng::new(seed, 0);
    let mut out = Derivation::default();
    for _ in 0..inputs {
        if mutator.fresh(8, 200, rng, &mut out).is_none() {
            return;
        }
        judge.accepts(&out, "fresh input");
        let Some(read) = judge.read(&out) else { continue };
        let mut tree = mutator.tree(read).expect("a derivation of the grammar");
        mutator.learn(&tree, rng);
        for _ in 0..rounds {
            for (at, op) in Op::ALL.into_iter().enumerate() {
                let mut same = *rng;
                let made = mutator.mutate(op, &tree, rng, &mut out);
                judge.patches(op, &mut mutator, &tree, &mut same, made.map(|()| &out));
                if made.is_none() {
                    continue;
                }
                tally.made[at] += 1;
                tally.changed[at] += usize::from(out != *tree.derivation());
                judge.accepts(&out, op.name());
                if rng.below(4) == 0
                    && out.len() < 300
                    && let Some(read) = judge.read(&out)
                {
                    tree = Tree::clone(&mutator.tree(read).expect("a derivation of the grammar"));
                    mutator.learn(&tree, rng);
                }
            }
        }
    }
    tally.judged += judge.judged;
    tally.unprintable += judge.unprintable;
    tally.patched += judge.patched;
}

struct Judge<'a> {
    grammar: &'a Grammar,
    parser: &'a Parser<'a>,
    cache: Cache,
    printer: Printer<'a>,
    layout: Layout,
    unprintable: usize,
    judged: usize,
    patched: usize,
}

impl Judge<'_> {
    /// The same decision, carried out on the text: without tokens the same
    /// text, with tokens one that parses.
    fn patches(
        &mut self,
        op: Op,
        mutator: &mut Mutator,
        tree: &Tree,
        rng: &mut Rng,
        made: Option<&Derivation>,
    ) {
        if !self.printer.joins() {
            return;
        }
        let (mut patches, mut text, mut whole) = (Patches::default(), Vec::new(), Vec::new());
        let patched = mutator.patch(op, tree, rng, &self.printer, &mut patches);
        let Some(()) = patched.and_then(|()| patches.apply(tree, &self.printer, &mut text)) else { return };
        // Very ambiguous grammars take long on long texts.
        if text.len() > 400 {
            return;
        }
        self.patched += 1;
        if self.grammar.has_tokens() {
            self.parses(&text, op.name());
        } else if let Some(made) = made.filter(|made| made.len() < 10_000) {
            made.print(self.grammar, &mut whole).expect("a derivation of the grammar");
            assert_eq!(text, whole, "{}: {}", op.name(), String::from_utf8_lossy(tree.text()));
        }
        // Several at once stay in the language, too.
        if rng.below(8) > 0 {
            return;
        }
        for op in Op::ALL {
            let _ = mutator.patch(op, tree, rng, &self.printer, &mut patches);
        }
        if patches.apply(tree, &self.printer, &mut text).is_some() && text.len() <= 400 {
            self.parses(&text, "all operations");
        }
    }

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
        self.parses(&text, what);
    }

    /// The same as the parser reads it: with what stands between its tokens.
    fn read(&mut self, made: &Derivation) -> Option<Derivation> {
        let mut text = Vec::new();
        self.printer.print(made, &mut self.layout, &mut text)?;
        Some(self.parser.parse(&text, &mut self.cache, LIMITS).ok()?.derivation)
    }

    fn parses(&mut self, text: &[u8], what: &str) {
        if let Err(Failure::Rejected(rejected)) = self.parser.parse(text, &mut self.cache, LIMITS) {
            let shown = String::from_utf8_lossy(text);
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
    .for_cases(6);
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
    .for_cases(40);
    assert!(tally.judged > 2 * tally.unprintable && tally.judged > 100, "{tally:?}");
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
