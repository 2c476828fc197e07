//! Arguments that are none: what the parser of arguments says, with a tip
//! that fits where its own does not.

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use std::path::Path;
use std::process::ExitCode;
use wug_grammar::builtin;

/// Prints the message, or the help that was asked for.
pub fn explain(mut error: Error) -> ExitCode {
    let command = std::env::args().nth(1).unwrap_or_default();
    let takes_grammar = matches!(command.as_str(), "check" | "show" | "generate");
    let tip = match error.kind() {
        ErrorKind::UnknownArgument => surplus(&error, takes_grammar),
        ErrorKind::InvalidSubcommand => not_a_command(&error),
        ErrorKind::MissingRequiredArgument if takes_grammar => {
            Tip::Say("name a file, or a built-in grammar: `wug grammars` lists them".to_string())
        }
        _ => Tip::Keep,
    };
    match tip {
        Tip::Keep => {}
        Tip::Drop => {
            error.insert(ContextKind::Suggested, ContextValue::None);
        }
        Tip::Say(text) => {
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(text)]));
        }
    }
    let _ = error.print();
    ExitCode::from(error.exit_code() as u8)
}

/// What to do with the parser's own tip.
enum Tip {
    Keep,
    Drop,
    Say(String),
}

fn surplus(error: &Error, takes_grammar: bool) -> Tip {
    let Some(ContextValue::String(argument)) = error.get(ContextKind::InvalidArg) else {
        return Tip::Keep;
    };
    if error.get(ContextKind::SuggestedArg).is_some() {
        return Tip::Keep;
    }
    let numeric = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    match argument.strip_prefix('-') {
        Some(rest) if numeric(rest) => Tip::Say("numbers are 0 or more here".to_string()),
        // The parser would have `-- --option` tried, which is never meant.
        Some(_) => Tip::Drop,
        None if takes_grammar && numeric(argument) => {
            Tip::Say(format!("how many inputs is said with `wug generate GRAMMAR -n {argument}`"))
        }
        None if takes_grammar => Tip::Say(
            "one GRAMMAR is taken; files that make up one grammar are joined by commas, \
             and `> FILE` keeps what is printed"
                .to_string(),
        ),
        None => Tip::Keep,
    }
}

/// `wug json`: which commands take a grammar.
fn not_a_command(error: &Error) -> Tip {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
        return Tip::Keep;
    };
    if builtin::find(word).is_some() || Path::new(word).is_file() {
        return Tip::Say(format!("for inputs from this grammar: `wug generate {word}`"));
    }
    Tip::Keep
}
