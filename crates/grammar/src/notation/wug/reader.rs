//! Reads a `.wug` text into an [`Ast`]: the file, its items and rules, and
//! the small parts, such as names and comments, that they are made of.
//!
//! In:  a text, and the offset of its first byte among all texts.
//! Out: its rules and modes in the [`Ast`], its imports for the loader to
//!      follow; a rule with a mistake is reported and left out.
//!
//! There are no tokens in between: what `/`, `{` or `x` begins depends on
//! where it stands, so that a lexer would have to know the grammar.

mod attributes;
mod body;

use super::literal;
use crate::ast::{Action, Ast, AstRule, Kind, Named};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::notation::Import;
use crate::notation::cursor::Cursor;
use crate::source::Span;
use attributes::Attributes;

/// Reads `text`, whose first byte has offset `base`; gives its imports.
pub fn read(text: &str, base: u32, ast: &mut Ast, diags: &mut Diagnostics) -> Vec<Import> {
    let cursor = Cursor::new(text, base);
    let mut reader = Reader { cursor, ast, diags, mode: None, imports: Vec::new() };
    reader.file();
    reader.imports
}

/// A lexer has a handful; they are searched one by one.
const MAX_MODES: usize = 1_000;

struct Reader<'a> {
    cursor: Cursor<'a>,
    ast: &'a mut Ast,
    diags: &'a mut Diagnostics,
    /// The mode whose braces we are in.
    mode: Option<Named>,
    imports: Vec<Import>,
}

/// A mistake was reported; the rule it stands in is given up.
struct Reported;
type Step<T = ()> = Result<T, Reported>;

impl<'a> Reader<'a> {
    fn file(&mut self) {
        loop {
            if self.space().is_err() || self.cursor.at_end() {
                break;
            }
            let before = self.cursor.at();
            if self.item().is_err() {
                self.recover(before);
            }
        }
        if let Some((_, span)) = self.mode {
            self.diags.push(Diagnostic::error(span, "this mode does not end").help("close it with `}`"));
        }
    }

    /// Goes on behind the next `;`, or with a line that begins a rule, at
    /// least one character further.
    fn recover(&mut self, before: usize) {
        self.ast.builder.abandon();
        loop {
            match self.cursor.bump() {
                None | Some(';') => break,
                Some('\n') if begins_rule(self.cursor) => break,
                _ => {}
            }
        }
        if self.cursor.at() == before {
            self.cursor.bump();
        }
    }

    fn item(&mut self) -> Step {
        if self.mode.is_some() && self.cursor.eat("}") {
            self.mode = None;
            return Ok(());
        }
        let attributes = self.attributes()?;
        let quoted = self.cursor.peek() == Some('`');
        let (word, span) = self.name("a rule")?;
        self.space()?;
        if self.cursor.peek() == Some('=') || quoted || self.cursor.at_end() {
            return self.rule(word, span, Kind::Syntax, attributes);
        }
        let mode = self.mode;
        let token = |skip| Kind::Token { mode, action: Action::Stay, skip };
        let kind = match word.as_str() {
            "token" => token(false),
            "skip" => token(true),
            "fragment" => Kind::Fragment,
            "import" if mode.is_none() => return self.import(span),
            "start" if mode.is_none() => {
                let (name, span) = self.name("the start rule")?;
                self.ast.start = Some((self.ast.names.add(&name), span));
                return self.expect(";", "start NAME ;");
            }
            "mode" if mode.is_none() => {
                let (name, span) = self.name("a mode")?;
                self.expect("{", "mode NAME { … }")?;
                let named = (self.ast.names.add(&name), span);
                if name != "default" && self.ast.modes.iter().all(|&(id, _)| id != named.0) {
                    if self.ast.modes.len() == MAX_MODES {
                        return self.fail(span, format!("there are more than {MAX_MODES} modes"));
                    }
                    self.ast.modes.push(named);
                }
                self.mode = Some(named);
                return Ok(());
            }
            _ => {
                let found = self.cursor.found();
                return self.fail(
                    self.cursor.here(),
                    format!("expected `=` after the name `{word}`, found {found}"),
                );
            }
        };
        let (name, name_span) = self.name("a token")?;
        self.space()?;
        self.rule(name, name_span, kind, attributes)
    }

    fn import(&mut self, from: Span) -> Step {
        let at = self.cursor.at();
        let path = match self.cursor.peek() {
            Some(quote @ ('"' | '\'')) => {
                literal::string(&mut self.cursor, quote, self.diags).ok_or(Reported)?
            }
            _ => return self.fail(from, "expected the path of a file in quotes after `import`"),
        };
        let span = self.cursor.since(at);
        let Ok(path) = String::from_utf8(path) else {
            return self.fail(span, "this path is not UTF-8");
        };
        self.imports.push(Import { path, span });
        self.expect(";", "import \"FILE\" ;")
    }

    fn rule(
        &mut self,
        name: String,
        span: Span,
        mut kind: Kind<Option<Named>>,
        attributes: Attributes,
    ) -> Step {
        if self.mode.is_some() && kind == Kind::Syntax {
            let message = format!("rule `{name}` stands inside a mode, where only lexical rules can be");
            return self.fail(span, message);
        }
        self.expect("=", "NAME = … ;")?;
        self.ast.builder.open_body(self.cursor.here());
        self.body(&mut kind)?;
        let body = self.ast.builder.close_body();
        let name = (self.ast.names.add(&name), span);
        let Attributes { depth_limit, made, notes } = attributes;
        self.ast.rules.push(AstRule { name, kind, body, depth_limit, made, notes });
        Ok(())
    }

    /// A decimal number, the greatest there is if it does not fit.
    fn number(&mut self) -> Option<u64> {
        let digits = self.cursor.eat_while(|c| c.is_ascii_digit());
        (!digits.is_empty()).then(|| digits.parse().unwrap_or(u64::MAX))
    }

    /// Reads a name, plain or in backticks.
    fn name(&mut self, what: &str) -> Step<(String, Span)> {
        self.space()?;
        let at = self.cursor.at();
        if self.cursor.peek() == Some('`') {
            let name = literal::string(&mut self.cursor, '`', self.diags).ok_or(Reported)?;
            let span = self.cursor.since(at);
            return match String::from_utf8(name) {
                Ok(name) if !name.is_empty() => Ok((name, span)),
                Ok(_) => self.fail(span, "a name cannot be empty"),
                Err(_) => self.fail(span, "a name must be UTF-8"),
            };
        }
        let name = match self.cursor.peek() {
            Some(c) if starts_name(c) => {
                // `a->b` is a name and a change of mode, not a name with a dash.
                let rest = self.cursor.rest();
                let mut len = rest.find(|c| !continues_name(c)).unwrap_or(rest.len());
                while rest[..len].ends_with('-') {
                    len -= 1;
                }
                let mut left = len;
                self.cursor.eat_while(|c| {
                    let take = left > 0;
                    left = left.saturating_sub(c.len_utf8());
                    take
                })
            }
            _ => {
                let found = self.cursor.found();
                return self.fail(self.cursor.here(), format!("expected {what}, found {found}"));
            }
        };
        Ok((name.to_string(), self.cursor.since(at)))
    }

    fn name_goes_on(&self, skip: usize) -> bool {
        self.cursor.rest()[skip..].starts_with(continues_name)
    }

    fn expect(&mut self, word: &str, form: &str) -> Step {
        self.space()?;
        if self.cursor.eat(word) {
            return Ok(());
        }
        let found = self.cursor.found();
        self.fail_with(
            self.cursor.here(),
            format!("expected `{word}`, found {found}"),
            &format!("the form is `{form}`"),
        )
    }

    /// Passes white space and comments.
    fn space(&mut self) -> Step {
        loop {
            self.cursor.eat_while(char::is_whitespace);
            let at = self.cursor.at();
            if self.cursor.eat("//") {
                self.cursor.eat_while(|c| c != '\n');
            } else if self.cursor.eat("/*") {
                let open = self.cursor.since(at);
                if self.cursor.eat_until("*/").is_none() {
                    return self.fail_with(open, "this comment does not end", "close it with `*/`");
                }
                self.cursor.eat("*/");
            } else {
                return Ok(());
            }
        }
    }

    fn fail<T>(&mut self, span: Span, message: impl Into<String>) -> Step<T> {
        self.diags.push(Diagnostic::error(span, message));
        Err(Reported)
    }

    fn fail_with<T>(&mut self, span: Span, message: impl Into<String>, help: &str) -> Step<T> {
        self.diags.push(Diagnostic::error(span, message).help(help));
        Err(Reported)
    }
}

/// Whether `name =` comes next.
fn begins_rule(mut ahead: Cursor) -> bool {
    for _ in 0..2 {
        if !ahead.eat_while(continues_name).starts_with(starts_name) {
            return false;
        }
        ahead.eat_while(|c| c == ' ');
        if ahead.eat("=") {
            return true;
        }
    }
    false
}

fn starts_name(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

fn continues_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '-'
}
