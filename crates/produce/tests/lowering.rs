//! What is produced from a grammar with tokens lexes as it was meant.
//!
//! Token sets and rules over them are made up; the judge is a lexer of its
//! own: it tries every length of every token with a regular expression and
//! takes the longest, then the first.

use arbitrary::{Result, Unstructured};
use regex_automata::meta::Regex;
use std::cell::Cell;
use std::fmt::Write;
use wug_grammar::load::load_text;
use wug_grammar::transform::lower::lower_with;
use wug_grammar::{Notation, RuleId};
use wug_produce::{Engine, Options, Program, Scratch};

/// A token as both sides see it.
#[derive(Clone, Debug)]
struct Token {
    name: String,
    pattern: String,
    lazy: bool,
    skip: bool,
    mode: &'static str,
    action: &'static str,
}

impl Token {
    fn new(name: impl Into<String>) -> Token {
        let (name, pattern) = (name.into(), String::new());
        Token { name, pattern, lazy: false, skip: false, mode: "default", action: "" }
    }
}

const OPERATORS: [&str; 10] = ["+", "++", "+=", "<", "<=", "<<", "-", "->", "/", "."];
const KEYWORDS: [&str; 4] = ["if", "in", "do", "a"];

struct Case {
    text: String,
    tokens: Vec<Token>,
}

/// A random token set and rules over it.
fn case(u: &mut Unstructured) -> Result<Case> {
    let mut declared: Vec<Token> = Vec::new();
    // Adds a token with one of several patterns, somewhere in the order.
    let mut pick = |u: &mut Unstructured, token: Token, patterns: &[&str], chance: u8| -> Result<()> {
        let token = Token { pattern: u.choose(patterns)?.to_string(), ..token };
        if u.ratio(chance, 10u8)? {
            let at = u.choose_index(declared.len() + 1)?;
            declared.insert(at, token);
        }
        Ok(())
    };
    let named = |name: &str| Token::new(name);
    let lazy = |name: &str| Token { lazy: true, ..Token::new(name) };
    let skip = |name: &str| Token { skip: true, ..Token::new(name) };
    pick(u, named("ID"), &["[a-z]+", "[a-f][a-f0-1]*", "[a-z_]{1,3}"], 8)?;
    pick(u, named("NUM"), &["[0-9]+", "[0-9]+(\\.[0-9]+)?", "[0-1]{2}"], 7)?;
    pick(u, named("STR"), &["'[^']*'", "'([^'\\\\]|\\\\.)*'"], 4)?;
    pick(u, named("WORD"), &["(if|in|inn|x+)"], 3)?;
    pick(u, lazy("TAG"), &["<(.|\\n)*?>"], 3)?;
    pick(u, lazy("DOTS"), &["\\.+?"], 2)?;
    pick(u, skip("WS"), &[" +", "[ \\n]+", "\\n"], 8)?;
    pick(u, Token { skip: true, ..lazy("COMMENT") }, &["/\\*(.|\\n)*?\\*/"], 4)?;
    pick(u, skip("LINE"), &["//[^\\n]*"], 3)?;
    let with_mode = u.ratio(3u8, 10u8)?;
    if with_mode {
        pick(u, Token { action: "push(text)", ..named("OPEN") }, &["\""], 10)?;
        pick(u, Token { mode: "text", ..named("TEXT") }, &["[^\"]", "[^\"]+", "[a-c]+"], 10)?;
        pick(u, Token { mode: "text", action: "pop", ..named("CLOSE") }, &["\""], 10)?;
    }
    let mut symbols: Vec<String> = Vec::new();
    for token in declared.iter().filter(|t| !t.skip && t.action.is_empty() && t.mode == "default") {
        symbols.push(token.name.clone());
    }
    for list in [&OPERATORS[..], &KEYWORDS[..]] {
        for _ in 0..u.int_in_range(0..=3)? {
            symbols.push(format!("\"{}\"", u.choose(list)?));
        }
    }
    if symbols.is_empty() {
        symbols.push("\"x\"".to_string());
    }
    if with_mode {
        symbols.push("string".to_string());
        if u.ratio(3u8, 10u8)? {
            // Tokens that change the mode without care for balance.
            symbols.extend(["OPEN", "TEXT", "CLOSE"].map(str::to_string));
        }
    }
    let mut text = String::new();
    let rules = u.int_in_range(1..=4)?;
    for rule in 0..rules {
        let _ = write!(text, "r{rule} = ");
        sequence(u, &symbols, rules, 2, &mut text)?;
        for _ in 0..u.int_in_range(0..=2)? {
            text.push_str(" | ");
            sequence(u, &symbols, rules, 2, &mut text)?;
        }
        text.push_str(if u.ratio(1u8, 3u8)? { " | ;\n" } else { " ;\n" });
    }
    if with_mode {
        text.push_str("string = OPEN TEXT* CLOSE ;\n");
    }
    let mut tokens: Vec<Token> = Vec::new();
    // Literals are tokens, too, before all others, in the order of the text.
    for literal in text.split('"').skip(1).step_by(2) {
        if !tokens.iter().any(|t| t.name == format!("\"{literal}\"")) {
            tokens.push(Token { pattern: escape(literal), ..Token::new(format!("\"{literal}\"")) });
        }
    }
    for mode in ["default", "text"] {
        let own: Vec<&Token> = declared.iter().filter(|t| t.mode == mode).collect();
        if mode != "default" && !own.is_empty() {
            let _ = writeln!(text, "mode {mode} {{");
        }
        for token in &own {
            let keyword = if token.skip { "skip" } else { "token" };
            let action =
                if token.action.is_empty() { String::new() } else { format!(" -> {}", token.action) };
            let pattern = token.pattern.replace('/', "\\/");
            let _ = writeln!(text, "{keyword} {} = /{pattern}/{action} ;", token.name);
            tokens.push((*token).clone());
        }
        if mode != "default" && !own.is_empty() {
            text.push_str("}\n");
        }
    }
    Ok(Case { text, tokens })
}

fn escape(literal: &str) -> String {
    literal.bytes().map(|b| format!("\\x{b:02x}")).collect()
}

fn sequence(
    u: &mut Unstructured,
    symbols: &[String],
    rules: usize,
    depth: u32,
    out: &mut String,
) -> Result<()> {
    for i in 0..u.int_in_range(1..=4)? {
        if i > 0 {
            out.push(' ');
        }
        match u.int_in_range(0..=9)? {
            0 if depth > 0 => {
                out.push('(');
                sequence(u, symbols, rules, depth - 1, out)?;
                out.push_str(" | ");
                sequence(u, symbols, rules, depth - 1, out)?;
                out.push(')');
                out.push_str(u.choose(&["", "*", "+", "?", "{2}", "{0,3}"])?);
            }
            1 | 2 => {
                let _ = write!(out, "r{}", u.choose_index(rules)?);
            }
            _ => {
                out.push_str(u.choose(symbols)?);
                out.push_str(u.choose(&["", "", "", "*", "+", "?"])?);
            }
        }
    }
    Ok(())
}

/// The independent lexer.
struct Judge {
    tokens: Vec<(Token, Regex)>,
}

impl Judge {
    fn new(tokens: &[Token]) -> Judge {
        let regex = |t: &Token| Regex::new(&format!("^(?s:{})$", t.pattern)).unwrap();
        Judge { tokens: tokens.iter().map(|t| (t.clone(), regex(t))).collect() }
    }

    fn lex(&self, text: &[u8]) -> Option<Vec<(String, usize)>> {
        let mut found = Vec::new();
        let mut modes = vec!["default"];
        let mut at = 0;
        while at < text.len() {
            let mode = *modes.last()?;
            let mut best: Option<(usize, &Token)> = None;
            for (token, regex) in self.tokens.iter().filter(|(t, _)| t.mode == mode) {
                let lengths = (1..=text.len() - at).filter(|&len| regex.is_match(&text[at..at + len]));
                let own = if token.lazy { lengths.min() } else { lengths.max() };
                if let Some(len) = own
                    && best.is_none_or(|(most, _)| len > most)
                {
                    best = Some((len, token));
                }
            }
            let (len, token) = best?;
            if !token.skip {
                found.push((token.name.clone(), at));
            }
            match token.action {
                "push(text)" => modes.push("text"),
                "pop" => {
                    modes.pop();
                }
                _ => {}
            }
            at += len;
        }
        Some(found)
    }
}

#[test]
fn what_is_produced_lexes_as_meant() {
    let (grammars, proven, inputs, nonempty) = (Cell::new(0), Cell::new(0), Cell::new(0), Cell::new(0));
    let check = |u: &mut Unstructured| -> Result<()> {
        let Case { text, tokens } = case(u)?;
        let loaded = load_text("case.wug", &text, Notation::Wug).unwrap_or_else(|e| panic!("{text}\n{e}"));
        let lowered = lower_with(&loaded.grammar, true);
        let Some(relex) = lowered.relex.clone() else {
            assert!(!loaded.grammar.has_tokens(), "asked for");
            return Ok(());
        };
        let unproven = lowered.unproven.clone();
        let options = Options { max_depth: u.int_in_range(0..=8)?, max_size: 120, ..Options::default() };
        let Ok(program) = Program::lowered(lowered, options) else { return Ok(()) };
        grammars.set(grammars.get() + 1);
        proven.set(proven.get() + usize::from(unproven.is_empty()));
        let judge = Judge::new(&tokens);
        let seed = u.arbitrary()?;
        let mut scratch = Scratch::default();
        for index in 0..8 {
            let mut input = Vec::new();
            if program.produce(Engine::Recursive, seed, index, &mut scratch, &mut input).is_none() {
                assert!(!unproven.is_empty(), "a proven grammar never gives up\n{text}");
                continue;
            }
            let name = |token| relex.lexicon().name(&loaded.grammar, token);
            let skips = |token| relex.lexicon().token(token).skip;
            let meant: Vec<(String, usize)> =
                scratch.tokens.iter().filter(|t| !skips(t.0)).map(|&(t, at)| (name(t), at)).collect();
            let found = judge.lex(&input);
            let shown = String::from_utf8_lossy(&input);
            assert_eq!(found.as_ref(), Some(&meant), "\n{text}\ninput: {shown:?}\nunproven: {unproven:?}");
            inputs.set(inputs.get() + 1);
            nonempty.set(nonempty.get() + usize::from(meant.len() > 1));
        }
        Ok(())
    };
    wug_property::check(check).sizes(512, 4_096).for_cases(1_000);
    let (grammars, proven, inputs, nonempty) = (grammars.get(), proven.get(), inputs.get(), nonempty.get());
    println!("{grammars} grammars, {proven} of them proven, {inputs} inputs, {nonempty} of several tokens");
    assert!(grammars > 20 && proven * 10 > grammars * 6, "{proven} of {grammars} proven");
    assert!(nonempty * 10 > inputs * 4, "{nonempty} of {inputs} inputs have several tokens");
}

#[test]
fn keywords_are_taken_from_identifiers() {
    let text = "s = (\"if\" | ID)+ ; token ID = [fi]{1,2} ; skip WS = \" \" ;";
    let loaded = load_text("k.wug", text, Notation::Wug).unwrap();
    let program = Program::new(&loaded.grammar, Options::default()).unwrap();
    let mut scratch = Scratch::default();
    let id: Vec<RuleId> = program.grammar.rules().filter(|&r| program.grammar.name(r) == "ID").collect();
    assert_eq!(id.len(), 1);
    let only = program.grammar.clone().with_start(id[0]);
    let program = Program::new(&only, Options::default()).unwrap();
    let mut found = std::collections::BTreeSet::new();
    for index in 0..500 {
        let mut out = Vec::new();
        program.produce(Engine::Recursive, 1, index, &mut scratch, &mut out);
        found.insert(String::from_utf8(out).unwrap());
    }
    assert_eq!(found.into_iter().collect::<Vec<_>>(), ["f", "ff", "fi", "i", "ii"]);
}
