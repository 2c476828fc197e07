//! The files of one grammar, joined: which rules there are, in which order
//! and mode.
//!
//! - A file that another one imports adds the rules that the other lacks,
//!   behind its own; imports of imports come right behind the import.
//! - Files that nobody imports, such as a lexer and a parser, stand beside
//!   each other. Of rules with one name in several files the first counts.
//! - Imports are found by the names of files, since the names that grammars
//!   declare for themselves often differ; else by those.

use super::tree::{File, FileKind, Rule};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::source::Span;
use hashbrown::{HashMap, HashSet};

/// A lexical rule in its place.
#[derive(Clone, Copy)]
pub struct Lexical<'a> {
    pub rule: &'a Rule,
    /// 0 is the default mode.
    pub mode: usize,
    pub caseless: bool,
}

/// All rules of a grammar.
pub struct Unit<'a> {
    pub syntax: Vec<&'a Rule>,
    pub lexical: Vec<Lexical<'a>>,
    /// All modes but the default one, which is number 0.
    pub modes: Vec<(&'a str, Span)>,
    /// Texts in syntax rules are tokens of their own.
    pub implicit: bool,
    /// Those texts are taken in either case.
    pub caseless: bool,
    /// Files whose tokens are used and which are not there.
    pub lacks: Vec<(String, Span, String)>,
}

/// What a file is called, without folder and ending.
pub fn stem(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

fn find(files: &[File], name: &str) -> Option<usize> {
    let by_path = files.iter().position(|f| stem(&f.path) == name);
    by_path.or_else(|| files.iter().position(|f| f.name == name))
}

impl<'a> Unit<'a> {
    /// Joins `files`. `missing` are those that could not be fetched, with
    /// the reasons.
    pub fn of(files: &'a [File], missing: &[(String, Span, String)], diags: &mut Diagnostics) -> Unit<'a> {
        let mut unit = Unit {
            syntax: Vec::new(),
            lexical: Vec::new(),
            modes: Vec::new(),
            implicit: false,
            caseless: false,
            lacks: missing.iter().filter(|(name, ..)| find(files, name).is_none()).cloned().collect(),
        };
        let mut imported: HashSet<usize> = HashSet::new();
        for file in files {
            imported.extend(file.imports.iter().filter_map(|(name, _)| find(files, name)));
            // A grammar that imports itself is a circle, and the loader's
            // to tell.
        }
        let mut known: HashMap<&str, Span> = HashMap::new();
        let mut modes: HashMap<&str, usize> = HashMap::new();
        let roots = (0..files.len()).filter(|i| !imported.contains(i));
        for root in roots {
            let kind = files[root].kind;
            unit.implicit |= kind == FileKind::Combined;
            unit.caseless |= kind == FileKind::Combined && files[root].caseless;
            for at in preorder(files, root) {
                let file = &files[at];
                for (name, span) in &file.modes {
                    let fresh = unit.modes.len() + 1;
                    if *modes.entry(name).or_insert(fresh) == fresh {
                        unit.modes.push((name, *span));
                    }
                }
                let mut own: HashMap<&str, Span> = HashMap::new();
                for rule in &file.rules {
                    if let Some(&first) = own.get(rule.name.as_str()) {
                        let message = format!("rule `{}` is defined twice", rule.name);
                        diags.push(
                            Diagnostic::error(rule.span, message)
                                .label("again here")
                                .also(first, "first defined here")
                                .help("rename one of them, or join their alternatives with `|`"),
                        );
                        continue;
                    }
                    own.insert(&rule.name, rule.span);
                    if known.contains_key(rule.name.as_str()) {
                        continue;
                    }
                    if rule.is_lexical() {
                        let mode = rule.mode.map_or(0, |m| modes[file.modes[m].0.as_str()]);
                        let caseless = rule.caseless.unwrap_or(files[root].caseless);
                        unit.lexical.push(Lexical { rule, mode, caseless });
                    } else {
                        unit.syntax.push(rule);
                    }
                }
                known.extend(own);
            }
        }
        unit
    }
}

/// A file and all that it imports, each once.
fn preorder(files: &[File], root: usize) -> Vec<usize> {
    let mut order = Vec::new();
    let mut seen = HashSet::new();
    let mut work = vec![root];
    while let Some(at) = work.pop() {
        if !seen.insert(at) {
            continue;
        }
        order.push(at);
        work.extend(files[at].imports.iter().rev().filter_map(|(name, _)| find(files, name)));
    }
    order
}
