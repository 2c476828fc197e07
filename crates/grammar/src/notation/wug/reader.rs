//! Reads a `.wug` text into an [`Ast`]: one loop over the text, groups on
//! the builder's own stack, so that nesting costs no native stack.

use super::literal;
use crate::arena::{MAX_NESTING, MAX_WEIGHT, Note};
use crate::ast::{Action, Ast, AstRule, Kind, Named};
use crate::class::Class;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::notation::cursor::Cursor;
use crate::notation::{Import, regex};
use crate::source::Span;

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

#[derive(Default)]
struct Attributes {
    depth_limit: Option<u32>,
    made: bool,
    notes: Vec<Note>,
}

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

    /// Reads alternatives up to and with the closing `;`.
    fn body(&mut self, kind: &mut Kind<Option<Named>>) -> Step {
        let outer = self.ast.builder.nesting();
        let mut open: Vec<usize> = Vec::new();
        self.weight()?;
        loop {
            self.space()?;
            let at = self.cursor.at();
            let Some(c) = self.cursor.peek() else {
                let place = open.last().map_or(self.cursor.here(), |&o| self.cursor.one_at(o));
                return self.fail_with(place, "this rule does not end", "close it with `;`");
            };
            match c {
                ';' => {
                    if let Some(&o) = open.last() {
                        return self.fail_with(
                            self.cursor.one_at(o),
                            "this parenthesis is not closed",
                            "close it with `)`",
                        );
                    }
                    self.cursor.bump();
                    debug_assert_eq!(outer, self.ast.builder.nesting());
                    return Ok(());
                }
                '|' => {
                    self.cursor.bump();
                    self.ast.builder.next_alternative(self.cursor.here());
                    self.weight()?;
                }
                '(' => {
                    self.cursor.bump();
                    if self.ast.builder.nesting() >= MAX_NESTING {
                        let message = format!("parentheses nest more than {MAX_NESTING} deep");
                        return self.fail_with(
                            self.cursor.since(at),
                            message,
                            "give the inner part a rule of its own",
                        );
                    }
                    self.ast.builder.open_body(self.cursor.since(at));
                    open.push(at);
                    self.weight()?;
                }
                ')' => {
                    self.cursor.bump();
                    let Some(from) = open.pop() else {
                        return self.fail(self.cursor.since(at), "nothing was opened that this closes");
                    };
                    self.ast.close_group(self.operator_follows(), self.cursor.since(from));
                    self.postfix()?;
                }
                '-' if self.cursor.eat("->") => {
                    let action = self.action()?;
                    match kind {
                        Kind::Token { action: slot, .. } if open.is_empty() => *slot = action,
                        _ => return self.fail(self.cursor.since(at), "only a token can change the mode"),
                    }
                    self.space()?;
                    if self.cursor.peek() != Some(';') {
                        return self.fail(self.cursor.here(), "expected `;` after the change of mode");
                    }
                }
                '@' => return self.misplaced_attribute(),
                _ => {
                    self.symbol(c)?;
                    self.postfix()?;
                }
            }
        }
    }

    fn symbol(&mut self, c: char) -> Step {
        let at = self.cursor.at();
        match c {
            '"' | '\'' => {
                let bytes = literal::string(&mut self.cursor, c, self.diags).ok_or(Reported)?;
                let caseless = c == '"' && self.cursor.rest().starts_with('i') && !self.name_goes_on(1);
                if caseless {
                    self.cursor.bump();
                }
                let span = self.cursor.since(at);
                match std::str::from_utf8(&bytes) {
                    Ok(text) if caseless => {
                        // One symbol, so that an operator behind it repeats all of it.
                        self.ast.builder.open_body(span);
                        self.ast.caseless(text, span);
                        self.ast.close_group(self.operator_follows(), span);
                    }
                    _ if bytes.is_empty() => {
                        // Something for an operator behind it to stand on.
                        self.ast.builder.open_body(span);
                        self.ast.close_group(self.operator_follows(), span);
                    }
                    _ => self.ast.literal(&bytes, span),
                }
            }
            '[' => {
                let class = self.class()?;
                self.ast.class(class, self.cursor.since(at));
            }
            '.' => {
                self.cursor.bump();
                self.ast.class(Class::any_char(), self.cursor.since(at));
            }
            '/' => self.regex()?,
            'x' if self.cursor.rest().starts_with("x\"") => {
                self.cursor.bump();
                let bytes = literal::hex_bytes(&mut self.cursor, self.diags).ok_or(Reported)?;
                self.ast.literal(&bytes, self.cursor.since(at));
            }
            'x' if self.cursor.rest().starts_with("x[") => {
                self.cursor.bump();
                let class = literal::hex_class(&mut self.cursor, self.diags).ok_or(Reported)?;
                self.ast.class(class, self.cursor.since(at));
            }
            _ => {
                let (name, span) = self.name("a symbol")?;
                let mut ahead = self.cursor;
                ahead.eat_while(char::is_whitespace);
                if ahead.peek() == Some('=') {
                    return self.fail_with(
                        span,
                        format!("rule `{name}` begins before the last one ended"),
                        "end each rule with `;`",
                    );
                }
                self.ast.call(&name, span);
            }
        }
        Ok(())
    }

    /// Reads `[...]`, a class as regular expressions write it.
    fn class(&mut self) -> Step<Class> {
        let at = self.cursor.at();
        self.cursor.bump();
        self.cursor.eat("^");
        // Here a bracket is a member.
        self.cursor.eat("]");
        let mut depth = 1;
        while depth > 0 {
            match self.cursor.bump() {
                Some('\\') => {
                    self.cursor.bump();
                }
                Some('[') => depth += 1,
                Some(']') => depth -= 1,
                None | Some('\n') => {
                    let help = "close it with `]`; write a line break as `\\n`";
                    return self.fail_with(
                        self.cursor.one_at(at),
                        "this class does not end on its line",
                        help,
                    );
                }
                _ => {}
            }
        }
        let span = self.cursor.since(at);
        regex::class(self.cursor.text_of(span), span.start, span, self.diags).ok_or(Reported)
    }

    fn regex(&mut self) -> Step {
        let at = self.cursor.at();
        self.cursor.bump();
        let mut pattern = String::new();
        loop {
            match self.cursor.bump() {
                Some('/') => break,
                Some('\\') => match self.cursor.bump() {
                    Some('/') => pattern.push('/'),
                    Some(c) => pattern.extend(['\\', c]),
                    None => {}
                },
                None | Some('\n') => {
                    return self.fail_with(
                        self.cursor.one_at(at),
                        "this regular expression does not end on its line",
                        "close it with `/`",
                    );
                }
                Some(c) => pattern.push(c),
            }
        }
        let caseless = self.cursor.rest().starts_with('i') && !self.name_goes_on(1);
        if caseless {
            self.cursor.bump();
        }
        let span = self.cursor.since(at);
        let errors = self.diags.errors();
        self.ast.builder.open_body(span);
        regex::append(&pattern, caseless, span.start + 1, span, self.ast, self.diags);
        self.ast.close_group(self.operator_follows(), span);
        if self.diags.errors() > errors { Err(Reported) } else { Ok(()) }
    }

    /// Whether what comes next stands on the symbol before it.
    fn operator_follows(&self) -> bool {
        self.cursor.rest().starts_with(['*', '+', '?', '{']) || self.note_follows()
    }

    fn note_follows(&self) -> bool {
        self.cursor.rest().trim_start().starts_with("@{")
    }

    /// Repetition and remarks behind a symbol.
    fn postfix(&mut self) -> Step {
        // What an operator may not stand on without parentheses: another
        // one, or they would nest without bound, and a remark.
        let mut before = None;
        loop {
            let at = self.cursor.at();
            if let (Some('{' | '*' | '+' | '?'), Some(what)) = (self.cursor.peek(), before) {
                let help = "put what it repeats into parentheses";
                return self.fail_with(self.cursor.here(), format!("an operator stands on {what}"), help);
            }
            let (min, max) = match self.cursor.peek() {
                Some('{') => self.bounds()?,
                Some(c @ ('*' | '+' | '?')) => {
                    self.cursor.bump();
                    (u32::from(c == '+'), (c == '?').then_some(1))
                }
                _ if self.note_follows() => {
                    self.space()?;
                    let note = self.note()?;
                    if !self.ast.builder.note_last(note) {
                        return self.fail(self.cursor.since(at), "nothing stands before this remark");
                    }
                    before = Some("a remark");
                    continue;
                }
                _ => return Ok(()),
            };
            let greedy = !self.cursor.eat("?");
            let end = self.cursor.since(at);
            if !self.ast.repeat_last(min, max, greedy, end) {
                return self.fail(end, "nothing stands before this operator that it could repeat");
            }
            before = Some("another operator");
        }
    }

    /// Reads `{2}`, `{2,}` or `{2,5}`.
    fn bounds(&mut self) -> Step<(u32, Option<u32>)> {
        let at = self.cursor.at();
        self.cursor.bump();
        let min = self.number();
        let max = if self.cursor.eat(",") { self.number() } else { min };
        let closed = self.cursor.eat("}");
        let span = self.cursor.since(at);
        match (min, max) {
            (Some(min), max) if closed && max.is_none_or(|max| min <= max) => {
                let count = |n: u64| u32::try_from(n).ok();
                match (count(min), max.map(count)) {
                    (Some(min), None) => Ok((min, None)),
                    (Some(min), Some(Some(max))) => Ok((min, Some(max))),
                    _ => self.fail(span, "this count is too large"),
                }
            }
            (Some(_), _) if closed => self.fail(span, "the first bound is greater than the second"),
            _ => self.fail_with(span, "not the bounds of a repetition", "write {2}, {2,} or {2,5}"),
        }
    }

    /// A decimal number, the greatest there is if it does not fit.
    fn number(&mut self) -> Option<u64> {
        let digits = self.cursor.eat_while(|c| c.is_ascii_digit());
        (!digits.is_empty()).then(|| digits.parse().unwrap_or(u64::MAX))
    }

    /// Reads `@3` at the head of an alternative.
    fn weight(&mut self) -> Step {
        self.space()?;
        let at = self.cursor.at();
        if !self.cursor.rest().starts_with('@') || self.cursor.rest().starts_with("@{") {
            return Ok(());
        }
        self.cursor.bump();
        match self.number() {
            Some(weight) if (1..=u64::from(MAX_WEIGHT)).contains(&weight) => {
                self.ast.builder.weight(weight as u32);
                Ok(())
            }
            Some(_) => {
                self.fail(self.cursor.since(at), format!("a weight is a number from 1 to {MAX_WEIGHT}"))
            }
            None => self.fail_with(
                self.cursor.since(at),
                "expected a weight",
                "`@3` makes an alternative three times as likely",
            ),
        }
    }

    fn misplaced_attribute<T>(&mut self) -> Step<T> {
        let here = self.cursor.here();
        self.fail_with(
            here,
            "`@` cannot stand here",
            "a weight stands at the head of an alternative: `| @3 name`",
        )
    }

    fn attributes(&mut self) -> Step<Attributes> {
        let mut attributes = Attributes::default();
        while self.cursor.peek() == Some('@') {
            let at = self.cursor.at();
            if self.cursor.rest().starts_with("@{") {
                attributes.notes.push(self.note()?);
            } else {
                self.cursor.bump();
                match self.cursor.eat_while(|c| c.is_ascii_alphanumeric()) {
                    "made" => attributes.made = true,
                    "depth" => {
                        self.expect("(", "@depth(4)")?;
                        self.space()?;
                        let Some(limit) = self.number() else {
                            return self.fail(self.cursor.here(), "expected a number of levels");
                        };
                        attributes.depth_limit = Some(u32::try_from(limit).unwrap_or(u32::MAX));
                        self.expect(")", "@depth(4)")?;
                    }
                    other => {
                        let message = format!("unknown attribute `@{other}`");
                        return self.fail_with(
                            self.cursor.since(at),
                            message,
                            "there are @depth(N), @made and @{key: \"value\"}",
                        );
                    }
                }
            }
            self.space()?;
        }
        Ok(attributes)
    }

    /// Reads `@{key: "value"}`.
    fn note(&mut self) -> Step<Note> {
        self.cursor.eat("@{");
        let (key, _) = self.name("a key")?;
        self.expect(":", "@{key: \"value\"}")?;
        self.space()?;
        let Some(quote @ ('"' | '\'')) = self.cursor.peek() else {
            return self.fail(self.cursor.here(), "expected the value in quotes");
        };
        let at = self.cursor.at();
        let value = literal::string(&mut self.cursor, quote, self.diags).ok_or(Reported)?;
        let Ok(value) = String::from_utf8(value) else {
            return self.fail(self.cursor.since(at), "the value of a remark must be UTF-8");
        };
        self.expect("}", "@{key: \"value\"}")?;
        Ok(Note { key, value })
    }

    /// Reads `push(MODE)`, `mode(MODE)` or `pop`, behind `->`.
    fn action(&mut self) -> Step<Action<Option<Named>>> {
        self.space()?;
        let at = self.cursor.at();
        let word = self.cursor.eat_while(|c| c.is_ascii_alphabetic());
        if word == "pop" {
            return Ok(Action::Pop);
        }
        if !matches!(word, "push" | "mode") {
            let span = self.cursor.since(at);
            let span = if word.is_empty() { self.cursor.here() } else { span };
            return self.fail_with(
                span,
                "expected a change of mode",
                "there are push(MODE), mode(MODE) and pop",
            );
        }
        self.expect("(", "push(MODE)")?;
        self.space()?;
        let (name, span) = self.name("a mode")?;
        self.expect(")", "push(MODE)")?;
        let mode = Some((self.ast.names.add(&name), span));
        Ok(if word == "push" { Action::Push(mode) } else { Action::Set(mode) })
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
