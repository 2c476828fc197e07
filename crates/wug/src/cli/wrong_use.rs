//! Arguments that are none: what the parser of arguments says, with a tip
//! that fits where its own does not.

use crate::cli::terminal;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use std::path::Path;
use std::process::ExitCode;
use wug_grammar::builtin;

/// Prints the message, or the help that was asked for.
pub fn explain(mut error: Error) -> ExitCode {
    let command = std::env::args().nth(1).unwrap_or_default();
    let takes_grammar = matches!(command.as_str(), "check" | "show" | "generate" | "parse");
    let tip = match error.kind() {
        ErrorKind::UnknownArgument => surplus(&error, &command, takes_grammar),
        ErrorKind::InvalidSubcommand => not_a_command(&error),
        ErrorKind::MissingRequiredArgument if takes_grammar => {
            Tip::Say(vec!["name a file, or a built-in grammar: `wug grammars` lists them".into()])
        }
        _ => Tip::Keep,
    };
    match tip {
        Tip::Keep => {}
        Tip::Drop => {
            error.insert(ContextKind::Suggested, ContextValue::None);
        }
        Tip::Say(tips) => {
            let tips =
                tips.iter().map(|tip| StyledStr::from(terminal::clean_line(tip).into_owned())).collect();
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
        }
    }
    clean(&mut error);
    let _ = error.print();
    match error.exit_code() {
        2 if command == "run" => ExitCode::from(crate::cli::commands::run::WRONG_USE),
        code => ExitCode::from(code as u8),
    }
}

/// Arguments are shown as they came, but for what a terminal would obey.
fn clean(error: &mut Error) {
    let line = |text: &String| terminal::clean_line(text).into_owned();
    let cleaned = |value: &ContextValue| match value {
        ContextValue::String(text) => Some(ContextValue::String(line(text))),
        ContextValue::Strings(texts) => Some(ContextValue::Strings(texts.iter().map(line).collect())),
        _ => None,
    };
    let values: Vec<(ContextKind, ContextValue)> =
        error.context().filter_map(|(kind, value)| Some((kind, cleaned(value)?))).collect();
    for (kind, value) in values {
        error.insert(kind, value);
    }
}

/// What to do with the parser's own tip.
enum Tip {
    Keep,
    Drop,
    Say(Vec<String>),
}

fn surplus(error: &Error, command: &str, takes_grammar: bool) -> Tip {
    let Some(ContextValue::String(argument)) = error.get(ContextKind::InvalidArg) else {
        return Tip::Keep;
    };
    if command == "fuzz"
        && let Some(instead) = crate::cli::commands::fuzz::instead_of(argument)
    {
        return Tip::Say(vec![instead]);
    }
    if error.get(ContextKind::SuggestedArg).is_some() {
        return Tip::Keep;
    }
    let numeric = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    match argument.strip_prefix('-') {
        Some(rest) if numeric(rest) => Tip::Say(vec!["numbers are 0 or more here".into()]),
        // The parser would have `-- --option` tried, which is never meant.
        Some(_) => Tip::Drop,
        None if takes_grammar && numeric(argument) => {
            Tip::Say(vec![format!("how many inputs is said with `wug generate GRAMMAR -n {argument}`")])
        }
        None if takes_grammar => Tip::Say(vec![
            "files that make up one grammar are joined by commas: lexer.wug,parser.wug".into(),
            "what is printed is kept with `> FILE`".into(),
        ]),
        None if command == "grammars" => {
            Tip::Say(vec![format!("a grammar is printed with `wug show {argument}`")])
        }
        None => Tip::Keep,
    }
}

/// `wug json`: which commands take a grammar.
fn not_a_command(error: &Error) -> Tip {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
        return Tip::Keep;
    };
    if builtin::find(word).is_some() || Path::new(word).is_file() {
        return Tip::Say(vec![format!("for inputs from this grammar: `wug generate {word}`")]);
    }
    Tip::Keep
}
