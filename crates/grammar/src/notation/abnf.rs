//! ABNF: RFC 5234, with the strings of RFC 7405.
//!
//! ```text
//! request = method SP target [SP "HTTP/" 1*DIGIT "." 1*DIGIT] CRLF
//! method  = %s"GET" / %s"PUT"          ; in this case only
//! method  =/ %x44.45.4C                ; one more alternative
//! ```
//!
//! What the RFCs leave open:
//! - Values of `%x` above 7F: a grammar that uses no value above FF is
//!   over bytes; else each value is a character, encoded in UTF-8. The
//!   core rule `OCTET` is bytes in any case.
//! - The first rule's indentation is that of all rules; a line that is
//!   indented more goes on.
//! - `<name>` is a call if a rule can have that name; other prose is
//!   refused, since nothing can be derived from it.
//! - `foo` and `Foo` are one rule, spelled as where it is first defined,
//!   or as in the RFC if it has the name of a core rule.
//! - Core rules are added if they are used and not defined.
//! - Page breaks of RFCs, with the lines above and below them, are white
//!   space.

mod core;
mod pages;
mod value;

use super::brackets::{Brackets, Means, Step};
use super::cursor::Cursor;
use crate::ast::{Ast, AstSymbol, Named};
use crate::class::Unit;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::names::NameId;
use hashbrown::HashMap;

/// Reads `text`, whose first byte has offset `base`.
pub fn read(text: &str, base: u32, ast: &mut Ast, diags: &mut Diagnostics) {
    let text = &*pages::without_breaks(text);
    let mut cursor = Cursor::new(text, base);
    let indent = skip_to_rule(&mut cursor);
    let unit = value::unit(text);
    let mut names = HashMap::new();
    for rule in &ast.rules {
        let name = ast.names.text(rule.name.0);
        names.insert(name.to_ascii_lowercase(), rule.name.0);
    }
    let mut reader = Reader { cursor, indent, unit, names, used: Vec::new(), ast, diags };
    let mut pieces = reader.heads();
    // Pieces of one rule together, in the order of their rules.
    pieces.sort_by_key(|piece| piece.rule);
    for group in pieces.chunk_by(|a, b| a.rule == b.rule) {
        match reader.body(group) {
            Ok(()) => reader.ast.close_named(group[0].name),
            Err(error) => {
                reader.ast.builder.abandon();
                reader.diags.push(*error);
            }
        }
    }
    let used = reader.used;
    core::add(&used, ast);
}

/// Passes blank lines and comments; gives the indentation of what follows.
fn skip_to_rule(cursor: &mut Cursor) -> usize {
    loop {
        let indent = cursor.eat_while(blank).len();
        match cursor.peek() {
            Some(';') => {
                cursor.eat_while(|c| c != '\n');
            }
            Some('\n') => {
                cursor.bump();
            }
            _ => return indent,
        }
    }
}

fn blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r')
}

struct Reader<'a> {
    cursor: Cursor<'a>,
    /// Columns before the names of rules.
    indent: usize,
    /// What numeric values are.
    unit: Unit,
    /// Names by their lower case.
    names: HashMap<String, NameId>,
    /// Names that are called.
    used: Vec<NameId>,
    ast: &'a mut Ast,
    diags: &'a mut Diagnostics,
}

/// The text of one definition of a rule, behind the `=`.
struct Piece<'a> {
    /// The rule's number: `=/` goes on with one that there is.
    rule: usize,
    name: Named,
    body: Cursor<'a>,
}

impl<'a> Reader<'a> {
    /// Finds all rules, by their indentation.
    fn heads(&mut self) -> Vec<Piece<'a>> {
        let mut pieces = Vec::new();
        let mut known: HashMap<NameId, usize> = HashMap::new();
        let mut rules = 0;
        while !self.cursor.at_end() {
            match self.head() {
                Ok((name, incremental)) => {
                    let rule = match known.get(&name.0) {
                        Some(&rule) if incremental => rule,
                        _ => {
                            rules += 1;
                            rules - 1
                        }
                    };
                    known.entry(name.0).or_insert(rule);
                    pieces.push(Piece { rule, name, body: self.cursor });
                }
                Err(error) => self.diags.push(*error),
            }
            self.skip_rule();
        }
        pieces
    }

    /// Reads `name =` or `name =/`.
    fn head(&mut self) -> Step<(Named, bool)> {
        let at = self.cursor.at();
        let bracket = self.cursor.eat("<");
        let name = self.cursor.eat_while(continues_name);
        let closed = !bracket || self.cursor.eat(">");
        let span = self.cursor.since(at);
        if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || !closed {
            let found = self.cursor.found();
            let place = if name.is_empty() { self.cursor.here() } else { span };
            let message = match name.is_empty() {
                true => format!("expected a rule, found {found}"),
                false => format!("`{name}` cannot be the name of a rule"),
            };
            let help = "a rule is `name = elements`; its name begins with a letter";
            return Err(Box::new(Diagnostic::error(place, message).help(help)));
        }
        let go_on = self.space();
        if !go_on || !self.cursor.eat("=") {
            let found = self.cursor.found();
            let message = format!("expected `=` after the name `{name}`, found {found}");
            let error = Diagnostic::error(self.cursor.here(), message);
            return Err(Box::new(error.help("lines that go on with a rule are indented more than its name")));
        }
        let incremental = self.cursor.eat("/");
        Ok(((self.name(name), span), incremental))
    }

    /// The name that is this one but for case, spelled as at first.
    fn name(&mut self, name: &str) -> NameId {
        let lower = name.to_ascii_lowercase();
        let spelled = core::spelling(&lower).unwrap_or(name);
        *self.names.entry(lower).or_insert_with(|| self.ast.names.add(spelled))
    }

    /// Passes the rest of a rule, unread, up to the name of the next one.
    fn skip_rule(&mut self) {
        while self.space() {
            self.cursor.eat_while(|c| c != '\n');
        }
        skip_to_rule(&mut self.cursor);
    }

    /// Passes space, comments and the ends of lines that go on; `false` at
    /// the end of the rule.
    fn space(&mut self) -> bool {
        loop {
            self.cursor.eat_while(blank);
            match self.cursor.peek() {
                None => return false,
                Some(';') => {
                    self.cursor.eat_while(|c| c != '\n');
                }
                Some('\n') => {
                    let mut ahead = self.cursor;
                    ahead.bump();
                    let indent = ahead.eat_while(blank).len();
                    let nothing = matches!(ahead.peek(), Some('\n' | ';') | None);
                    if !nothing && indent <= self.indent {
                        return false;
                    }
                    self.cursor = ahead;
                }
                Some(_) => return true,
            }
        }
    }

    /// Reads all definitions of one rule into an open body.
    fn body(&mut self, pieces: &[Piece<'a>]) -> Step {
        let mut brackets = Brackets::rule(pieces[0].body.here(), self.ast);
        for (i, piece) in pieces.iter().enumerate() {
            self.cursor = piece.body;
            if i > 0 {
                brackets.alternative(self.cursor.here(), self.ast)?;
            }
            while self.space() {
                self.element(&mut brackets)?;
            }
            brackets.end()?;
        }
        Ok(())
    }

    fn element(&mut self, brackets: &mut Brackets) -> Step {
        let at = self.cursor.at();
        let Some(c) = self.cursor.peek() else { return Ok(()) };
        match c {
            '/' => {
                self.cursor.bump();
                return brackets.alternative(self.cursor.here(), self.ast);
            }
            '(' | '[' => {
                self.cursor.bump();
                let (means, close) = if c == '(' { (Means::Group, ")") } else { (Means::Option, "]") };
                return brackets.open(means, close, self.cursor.since(at), self.ast);
            }
            ')' | ']' => {
                self.cursor.bump();
                let close = if c == ')' { ")" } else { "]" };
                brackets.close(close, self.cursor.since(at), false, self.ast)?;
                return brackets.item(self.ast);
            }
            '*' | '0'..='9' => {
                let (min, max) = self.count()?;
                return brackets.count(min, max, self.cursor.since(at));
            }
            '"' => self.string(at, false, brackets)?,
            '%' => self.percent(at, brackets)?,
            '<' => self.prose(at)?,
            _ if c.is_ascii_alphabetic() => {
                let name = self.cursor.eat_while(continues_name);
                self.call(name, at);
            }
            _ => return Err(Box::new(self.unexpected(c))),
        }
        brackets.simple_item();
        brackets.item(self.ast)
    }

    fn unexpected(&self, c: char) -> Diagnostic {
        let error = Diagnostic::error(
            self.cursor.here(),
            format!("expected an element, found {}", self.cursor.found()),
        );
        match c {
            '=' => error.help("a rule begins in the column in which the first one does"),
            '|' => error.help("alternatives are separated by `/`"),
            '\'' => error.help("text stands in double quotes"),
            '#' => error.help("lists, `1#element`, are not in RFC 5234: write `element *(\",\" element)`"),
            '{' | '}' => error.help("repetition is written `*element`"),
            _ => error,
        }
    }

    fn call(&mut self, name: &str, at: usize) {
        let id = self.name(name);
        self.used.push(id);
        self.ast.builder.symbol(AstSymbol::Name(id), self.cursor.since(at));
    }

    /// Reads `*`, `1*`, `*3`, `1*3` or `3`.
    fn count(&mut self) -> Step<(u32, Option<u32>)> {
        let at = self.cursor.at();
        let low = self.cursor.eat_while(|c| c.is_ascii_digit());
        let star = self.cursor.eat("*");
        let high = if star { self.cursor.eat_while(|c| c.is_ascii_digit()) } else { low };
        let span = self.cursor.since(at);
        let number = |digits: &str| {
            digits.parse::<u32>().map_err(|_| {
                let error = Diagnostic::error(span, "this count is too large");
                Box::new(error.help(format!("counts are at most {}", u32::MAX)))
            })
        };
        let min = if low.is_empty() { 0 } else { number(low)? };
        let max = if high.is_empty() { None } else { Some(number(high)?) };
        if max.is_some_and(|max| min > max) {
            return Err(Box::new(Diagnostic::error(span, "the first bound is greater than the second")));
        }
        Ok((min, max))
    }

    /// Reads `"…"`.
    fn string(&mut self, at: usize, exact: bool, brackets: &mut Brackets) -> Step {
        let quote = self.cursor.at();
        self.cursor.bump();
        let text = self.cursor.eat_while(|c| c != '"' && c != '\n');
        if !self.cursor.eat("\"") {
            let error = Diagnostic::error(self.cursor.one_at(quote), "this text does not end on its line");
            return Err(Box::new(error.help("close it with `\"`; other characters are written as `%x0A`")));
        }
        let span = self.cursor.since(at);
        brackets.open_item(span, self.ast);
        if exact {
            self.ast.literal(text.as_bytes(), span);
        } else {
            self.ast.caseless(text, span);
        }
        brackets.close_item(span, false, self.ast);
        Ok(())
    }

    /// Reads what begins with `%`.
    fn percent(&mut self, at: usize, brackets: &mut Brackets) -> Step {
        self.cursor.bump();
        let kind = self.cursor.bump().map(|c| c.to_ascii_lowercase());
        if matches!(kind, Some('s' | 'i')) && self.cursor.peek() == Some('"') {
            return self.string(at, kind == Some('s'), brackets);
        }
        let value = value::read(&mut self.cursor, at, kind, self.unit)?;
        let span = self.cursor.since(at);
        match value {
            value::Value::Text(bytes) => self.ast.literal(&bytes, span),
            value::Value::Range(class) => self.ast.class(class, span),
        }
        Ok(())
    }

    /// Reads `<…>`: a name, or prose, which is refused.
    fn prose(&mut self, at: usize) -> Step {
        self.cursor.bump();
        let text = self.cursor.eat_while(|c| c != '>' && c != '\n');
        let closed = self.cursor.eat(">");
        if closed && text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.chars().all(continues_name) {
            self.call(text, at);
            return Ok(());
        }
        let error = Diagnostic::error(self.cursor.since(at), "a description in prose derives nothing");
        Err(Box::new(error.help("replace `<…>` by the elements that it describes")))
    }
}

fn continues_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-' || c == '_'
}
