//! What is kept: inputs of built-in grammars, each with a predicate.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use wug_grammar::derivation::Node;
use wug_grammar::{BodyId, Derivation, Grammar, builtin};
use wug_parse::{Cache, Limits, Parser};
use wug_target::{Executor, Kind, Options, Output, Target, Verdict};

/// A grammar and what must stay.
pub struct Case {
    pub grammar: &'static str,
    /// For people.
    pub what: &'static str,
    pub kept: Kept,
}

pub enum Kept {
    /// The input parses, and a node of each rule stands below one of the
    /// rule before.
    Nested(&'static [&'static str]),
    /// A division by zero ends the calculator.
    Crash,
    /// A program prints this; where it is not there, the case is left out.
    Prints(&'static str, &'static [&'static str], &'static str),
}

pub const CASES: [Case; 9] = [
    Case {
        grammar: "json",
        what: "number in array in object",
        kept: Kept::Nested(&["object", "array", "number"]),
    },
    Case {
        grammar: "lua",
        what: "table in function in if",
        kept: Kept::Nested(&["if", "function_body", "table"]),
    },
    Case {
        grammar: "sql",
        what: "function call in subquery of WHERE",
        kept: Kept::Nested(&["where", "select", "call"]),
    },
    Case {
        grammar: "xml",
        what: "CDATA in element in element",
        kept: Kept::Nested(&["element", "element", "cdata"]),
    },
    Case {
        grammar: "tinyc",
        what: "parentheses in parentheses in sum",
        kept: Kept::Nested(&["sum", "condition", "condition"]),
    },
    Case { grammar: "expr", what: "division by zero (C, SIGFPE)", kept: Kept::Crash },
    Case {
        grammar: "lua",
        what: "luac5.4 compiles a generic `for`",
        kept: Kept::Prints("luac5.4", &["-p", "-l", "@@"], "TFORPREP"),
    },
    Case {
        grammar: "sql",
        what: "sqlite3 says `unsupported frame`",
        kept: Kept::Prints("sqlite3", &["-safe", ":memory:"], "unsupported frame specification"),
    },
    Case {
        grammar: "xml",
        what: "xmllint finds attributes in nested elements",
        kept: Kept::Prints("xmllint", &["--nonet", "--xpath", "boolean(//*/*[@*])", "@@"], "true"),
    },
];

/// Tells whether bytes fulfil a predicate.
pub enum Judge<'g> {
    Nested(&'g Grammar, Box<(Parser<'g>, Cache)>, Vec<BodyId>),
    Runs(Box<Executor>, Option<&'static str>),
}

impl Case {
    /// `None` where the machine lacks what it needs.
    pub fn judge<'g>(&self, grammar: &'g Grammar, folder: &Path) -> Result<Option<Judge<'g>>, String> {
        match self.kept {
            Kept::Nested(rules) => {
                let parser = Parser::new(grammar).map_err(|unfit| unfit.to_string())?;
                let body = |name: &&str| grammar.find(name).map(|rule| grammar.rule(rule).body);
                let bodies = rules.iter().map(body).collect::<Option<_>>().ok_or("an unknown rule")?;
                let cache = Cache::new(&parser);
                Ok(Some(Judge::Nested(grammar, Box::new((parser, cache)), bodies)))
            }
            Kept::Crash => {
                let Some(program) = calculator(folder)? else { return Ok(None) };
                runs(Target::new(program), None)
            }
            Kept::Prints(program, arguments, text) => {
                runs(Target::new(program).arguments(arguments.iter().copied()), Some(text))
            }
        }
    }

    pub fn grammar(&self) -> Result<Grammar, String> {
        let found = builtin::find(self.grammar).ok_or("no such grammar")?;
        found.load().map(|loaded| loaded.grammar).map_err(|rejected| rejected.to_string())
    }
}

fn runs<'g>(target: Target, text: Option<&'static str>) -> Result<Option<Judge<'g>>, String> {
    let options = Options {
        kind: Kind::Spawn,
        timeout: Duration::from_secs(5),
        output: Output::Capture(1 << 16),
        ..Options::default()
    };
    match Executor::new(target, options) {
        Ok(executor) => Ok(Some(Judge::Runs(Box::new(executor), text))),
        Err(wug_target::Error::NotFound(_)) => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

/// Compiles the calculator; `None` without a compiler.
fn calculator(folder: &Path) -> Result<Option<PathBuf>, String> {
    let (source, program) = (folder.join("calculator.c"), folder.join("calculator"));
    fs::write(&source, include_str!("calculator.c")).map_err(|error| error.to_string())?;
    match Command::new("cc").args(["-O1", "-o"]).args([&program, &source]).status() {
        Ok(status) if status.success() => Ok(Some(program)),
        _ => Ok(None),
    }
}

impl Judge<'_> {
    pub fn holds(&mut self, input: &[u8]) -> Result<bool, String> {
        match self {
            Judge::Nested(grammar, both, bodies) => {
                let (parser, cache) = &mut **both;
                let limits = Limits { memory: 1 << 28, steps: 10_000_000 };
                Ok(parser.parse(input, cache, limits).is_ok_and(|parsed| {
                    nested(grammar, &parsed.derivation, 0..parsed.derivation.len(), bodies)
                }))
            }
            Judge::Runs(executor, text) => {
                let seen = executor.run(input).map_err(|error| error.to_string())?;
                Ok(match text {
                    None => seen.verdict == Verdict::Signal(libc::SIGFPE),
                    Some(text) => {
                        !matches!(seen.verdict, Verdict::Timeout)
                            && String::from_utf8_lossy(seen.output).contains(*text)
                    }
                })
            }
        }
    }
}

/// Whether nodes of these bodies stand inside each other, in this order.
fn nested(
    grammar: &Grammar,
    derivation: &Derivation,
    within: std::ops::Range<usize>,
    bodies: &[BodyId],
) -> bool {
    let Some((&first, rest)) = bodies.split_first() else { return true };
    let is =
        |&at: &usize| matches!(derivation.node(at), Node::Alternative(alt) if grammar.body_has(first, alt));
    within.filter(is).any(|at| nested(grammar, derivation, at + 1..derivation.end(at), rest))
}
