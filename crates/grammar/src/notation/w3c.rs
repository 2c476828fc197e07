//! The W3C's EBNF, as in the specification of XML.
//!
//! ```text
//! [1] document ::= prolog element Misc*        /* numbers are optional */
//! [2] Char     ::= #x9 | [#x20-#xD7FF] | [^<&"] | 'text' | "text"
//! [3] PITarget ::= Name - (('X' | 'x') ('M' | 'm') ('L' | 'l'))
//! ```
//!
//! What the specification leaves open:
//! - `A - B` binds more tightly than a sequence, less than `?`, `*`, `+`;
//!   `a-b` without blanks is one name.
//! - `[^…]` is any other character of Unicode.
//! - In a class every character stands for itself, blanks too; `#x5D` is
//!   the closing bracket, and `-` at either end is a dash.
//! - `[12]` before the name of a rule is its number, not a class; remarks
//!   such as `[ wfc: No Recursion ]` and `[VC: …]` are passed over.
//! - Text has no escapes. A rule ends where the next one begins.
//! - `#` that begins no number of a character begins a comment up to the end
//!   of its line, and a line `@terminals` is passed over: so do the grammars
//!   that go around as `.bnf` files.

use super::brackets::{Brackets, Means, Step};
use super::cursor::Cursor;
use crate::ast::Ast;
use crate::class::{Class, Unit};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::source::Span;

/// Reads `text`, whose first byte has offset `base`.
pub fn read(text: &str, base: u32, ast: &mut Ast, diags: &mut Diagnostics) {
    let mut reader = Reader { cursor: Cursor::new(text, base), ast, sign: None };
    loop {
        match reader.rule() {
            Ok(true) => {}
            Ok(false) => return,
            Err(error) => {
                reader.ast.builder.abandon();
                diags.push(*error);
                reader.recover();
            }
        }
    }
}

struct Reader<'a> {
    cursor: Cursor<'a>,
    ast: &'a mut Ast,
    /// The `#` of a comment where a symbol could stand, until one does: it
    /// may have been meant as text.
    sign: Option<usize>,
}

impl<'a> Reader<'a> {
    /// Goes on with the next line that begins a rule.
    fn recover(&mut self) {
        // The mistake may have been that the next rule came too early.
        while !self.cursor.at_end() && !self.head_follows() {
            self.cursor.eat_while(|c| c != '\n');
            self.cursor.eat_while(char::is_whitespace);
        }
    }

    /// Reads a rule; `false` at the end of the text.
    fn rule(&mut self) -> Step<bool> {
        self.space()?;
        if self.cursor.at_end() {
            return Ok(false);
        }
        self.number();
        self.space()?;
        let at = self.cursor.at();
        let name = eat_name(&mut self.cursor);
        let span = self.cursor.since(at);
        if !name.starts_with(starts_name) {
            let found = self.cursor.found();
            let place = if name.is_empty() { self.cursor.here() } else { span };
            let error = Diagnostic::error(place, format!("expected the name of a rule, found {found}"));
            let help = match found.as_str() {
                "`<`" => "names stand in angle brackets in BNF, not in the W3C's notation",
                _ => "a rule is `name ::= expression`",
            };
            return Err(Box::new(error.help(help)));
        }
        self.space()?;
        if !self.cursor.eat("::=") {
            let found = self.cursor.found();
            let message = format!("expected `::=` after the name `{name}`, found {found}");
            return Err(Box::new(Diagnostic::error(self.cursor.here(), message)));
        }
        let mut brackets = Brackets::rule(self.cursor.here(), self.ast);
        self.look_for_sign();
        while self.item(&mut brackets)? {}
        brackets.end()?;
        self.ast.close_rule(name, span);
        Ok(true)
    }

    /// Reads one part of an expression; `false` at the end of the rule.
    fn item(&mut self, brackets: &mut Brackets) -> Step<bool> {
        self.space()?;
        let at = self.cursor.at();
        let ends = matches!(self.cursor.peek(), None | Some('|' | ')')) || self.head_follows();
        if let (Some(sign), true) = (self.sign.take(), ends) {
            return Err(Box::new(self.bad_code(sign)));
        }
        let Some(c) = self.cursor.peek() else { return Ok(false) };
        match c {
            '|' => {
                self.cursor.bump();
                self.look_for_sign();
                brackets.alternative(self.cursor.here(), self.ast)?;
                return Ok(true);
            }
            '-' => {
                self.cursor.bump();
                brackets.except(self.cursor.since(at), self.ast)?;
                return Ok(true);
            }
            '(' => {
                self.cursor.bump();
                brackets.open(Means::Group, ")", self.cursor.since(at), self.ast)?;
                return Ok(true);
            }
            ')' => {
                self.cursor.bump();
                let span = self.cursor.since(at);
                brackets.close(")", span, self.operator_follows()?, self.ast)?;
            }
            '\'' | '"' => self.text(c, brackets)?,
            '#' => {
                let Some(value) = self.code() else { return Err(Box::new(self.bad_code(at))) };
                let span = self.cursor.since(at);
                let Some(c) = char::from_u32(value) else {
                    return Err(Box::new(Diagnostic::error(span, "there is no such character")));
                };
                self.ast.literal(c.encode_utf8(&mut [0; 4]).as_bytes(), span);
                brackets.simple_item();
            }
            '[' => {
                if self.numbered_head_follows() {
                    return Ok(false);
                }
                if self.remark()? {
                    return Ok(true);
                }
                let class = self.class()?;
                self.ast.class(class, self.cursor.since(at));
                brackets.simple_item();
            }
            _ if starts_name(c) => {
                if self.head_follows() {
                    return Ok(false);
                }
                let name = eat_name(&mut self.cursor);
                self.ast.call(name, self.cursor.since(at));
                brackets.simple_item();
            }
            _ => return Err(Box::new(self.unexpected(c))),
        }
        self.postfix(brackets)?;
        brackets.item(self.ast)?;
        Ok(true)
    }

    fn unexpected(&self, c: char) -> Diagnostic {
        let message = format!("expected a symbol, found {}", self.cursor.found());
        let error = Diagnostic::error(self.cursor.here(), message);
        match c {
            '*' | '+' | '?' => error.help("an operator stands directly behind what it repeats"),
            ';' | '.' | ',' => {
                error.help("rules and symbols are separated by white space alone; text stands in quotes")
            }
            '{' | '}' => error.help("repetition is written `x*`"),
            '<' => error.help("text stands in quotes; names have no angle brackets"),
            _ => error.help("text stands in quotes"),
        }
    }

    /// Reads `?`, `*` and `+` behind an item.
    fn postfix(&mut self, brackets: &mut Brackets) -> Step {
        while let Some(c @ ('?' | '*' | '+')) = self.cursor.peek() {
            let at = self.cursor.at();
            self.cursor.bump();
            let max = (c == '?').then_some(1);
            brackets.repeat(u32::from(c == '+'), max, self.cursor.since(at), self.ast)?;
        }
        Ok(())
    }

    /// Whether what follows stands on the item before it.
    fn operator_follows(&mut self) -> Step<bool> {
        if matches!(self.cursor.peek(), Some('?' | '*' | '+')) {
            return Ok(true);
        }
        self.space()?;
        Ok(self.cursor.peek() == Some('-'))
    }

    /// Reads text in quotes.
    fn text(&mut self, quote: char, brackets: &mut Brackets) -> Step {
        let at = self.cursor.at();
        self.cursor.bump();
        let text = self.cursor.eat_while(|c| c != quote && c != '\n');
        if self.cursor.peek() != Some(quote) {
            let error = Diagnostic::error(self.cursor.one_at(at), "this text does not end on its line");
            return Err(Box::new(
                error.help(format!("close it with `{quote}`; a line break is written #xA")),
            ));
        }
        self.cursor.bump();
        let span = self.cursor.since(at);
        if text.is_empty() {
            brackets.open_item(span, self.ast);
            let follows = self.operator_follows()?;
            brackets.close_item(span, follows, self.ast);
        } else {
            self.ast.literal(text.as_bytes(), span);
            brackets.simple_item();
        }
        Ok(())
    }

    /// Whether the rest of this line is a comment that begins with `#`.
    fn look_for_sign(&mut self) {
        let mut ahead = self.cursor;
        ahead.eat_while(|c| c.is_whitespace() && c != '\n');
        let at = ahead.at();
        self.sign = (ahead.eat("#") && !ahead.peek().is_some_and(in_number)).then_some(at);
    }

    /// Reads `#xN`; `None`, without moving, if it does not come next.
    fn code(&mut self) -> Option<u32> {
        let mut ahead = self.cursor;
        if !ahead.eat("#x") {
            return None;
        }
        let digits = ahead.eat_while(|c| c.is_ascii_hexdigit());
        if digits.is_empty() {
            return None;
        }
        self.cursor = ahead;
        // What does not fit is above all characters.
        Some(u32::from_str_radix(digits, 16).unwrap_or(u32::MAX))
    }

    fn bad_code(&self, at: usize) -> Diagnostic {
        Diagnostic::error(self.cursor.one_at(at), "expected the number of a character")
            .help("for example `#x20`; to mean the character `#`, put it into quotes")
    }

    /// Reads `[…]` or `[^…]`.
    fn class(&mut self) -> Step<Class> {
        let at = self.cursor.at();
        self.cursor.bump();
        let negated = self.cursor.eat("^");
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        loop {
            let from = self.cursor.at();
            let Some(low) = self.member(at)? else { break };
            let mut high = low;
            let mut ahead = self.cursor;
            // A dash before the closing bracket is a dash.
            if ahead.eat("-") && !matches!(ahead.peek(), Some(']') | None) {
                self.cursor = ahead;
                high = self.member(at)?.unwrap_or(low);
            }
            if low > high {
                let error = Diagnostic::error(self.cursor.since(from), "this range ends before it begins");
                return Err(Box::new(error));
            }
            ranges.push((low, high));
        }
        if ranges.is_empty() && !negated {
            let error = Diagnostic::error(self.cursor.since(at), "this class has no members");
            return Err(Box::new(error.help("an optional part is written `x?`")));
        }
        let class = Class::new(Unit::Char, ranges);
        Ok(if negated { class.complement(Unit::Char) } else { class })
    }

    /// One character of the class that opened at `open`; `None` behind its
    /// closing bracket.
    fn member(&mut self, open: usize) -> Step<Option<u32>> {
        let at = self.cursor.at();
        if let Some(value) = self.code() {
            if value > 0x10FFFF {
                return Err(Box::new(Diagnostic::error(self.cursor.since(at), "there is no such character")));
            }
            return Ok(Some(value));
        }
        match self.cursor.peek() {
            Some(']') => {
                self.cursor.bump();
                Ok(None)
            }
            None | Some('\n') => {
                let error =
                    Diagnostic::error(self.cursor.one_at(open), "this class does not end on its line");
                Err(Box::new(error.help("close it with `]`; a line break is written #xA")))
            }
            Some(c) => {
                self.cursor.bump();
                Ok(Some(c as u32))
            }
        }
    }

    /// Passes `[ wfc: … ]` and the like.
    fn remark(&mut self) -> Step<bool> {
        let mut ahead = self.cursor;
        let at = ahead.at();
        ahead.bump();
        ahead.eat_while(char::is_whitespace);
        let kind = ahead.eat_while(|c| c.is_ascii_alphabetic());
        let known = ["wfc", "vc", "nsc", "ns"].iter().any(|k| k.eq_ignore_ascii_case(kind));
        // `[vc:]` is a class of three characters.
        if !known || !ahead.eat(":") || !ahead.peek().is_some_and(char::is_whitespace) {
            return Ok(false);
        }
        ahead.eat_while(|c| c != ']');
        if !ahead.eat("]") {
            let error = Diagnostic::error(self.cursor.one_at(at), "this remark does not end");
            self.cursor = ahead;
            return Err(Box::new(error.help("close it with `]`")));
        }
        self.cursor = ahead;
        Ok(true)
    }

    /// Passes the number of a rule, `[12]` or `[4a]`.
    fn number(&mut self) {
        let mut ahead = self.cursor;
        if ahead.eat("[") && !ahead.eat_while(|c| c.is_ascii_alphanumeric()).is_empty() && ahead.eat("]") {
            self.cursor = ahead;
        }
    }

    /// Whether `name ::=` comes next, or the same with a number.
    fn head_follows(&self) -> bool {
        self.cursor.rest().starts_with(starts_name) && plain_head(self.cursor) || self.numbered_head_follows()
    }

    /// Whether `[12] name ::=` comes next.
    fn numbered_head_follows(&self) -> bool {
        let mut ahead = self.cursor;
        if !ahead.eat("[") || !ahead.peek().is_some_and(|c| c.is_ascii_digit()) {
            return false;
        }
        ahead.eat_while(|c| c.is_ascii_alphanumeric());
        if !ahead.eat("]") {
            return false;
        }
        ahead.eat_while(char::is_whitespace);
        plain_head(ahead)
    }

    /// Passes white space and comments.
    fn space(&mut self) -> Step {
        loop {
            self.cursor.eat_while(char::is_whitespace);
            let at = self.cursor.at();
            let mut ahead = self.cursor;
            let remark = ahead.eat("@terminals") || ahead.eat("#") && !ahead.peek().is_some_and(in_number);
            if remark {
                self.cursor.eat_while(|c| c != '\n');
                continue;
            }
            if !self.cursor.eat("/*") {
                return Ok(());
            }
            let open: Span = self.cursor.since(at);
            if self.cursor.eat_until("*/").is_none() {
                let error = Diagnostic::error(open, "this comment does not end");
                return Err(Box::new(error.help("close it with `*/`")));
            }
            self.cursor.eat("*/");
        }
    }
}

/// Whether `#` before this may begin the number of a character, perhaps one
/// with a mistake in it.
fn in_number(c: char) -> bool {
    c.is_ascii_alphanumeric()
}

fn plain_head(mut ahead: Cursor) -> bool {
    if !eat_name(&mut ahead).starts_with(starts_name) {
        return false;
    }
    ahead.eat_while(char::is_whitespace);
    ahead.eat("::=")
}

fn starts_name(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

/// Passes a name; it may be empty, or begin with a digit.
fn eat_name<'a>(cursor: &mut Cursor<'a>) -> &'a str {
    let (text, at) = (cursor.rest(), cursor.at());
    loop {
        cursor.eat_while(|c| c.is_alphanumeric() || matches!(c, '_' | '.'));
        let mut ahead = *cursor;
        // `Char-'x'` is an exception, `a-b` is a name.
        if cursor.at() == at || !ahead.eat("-") || !ahead.peek().is_some_and(char::is_alphanumeric) {
            return &text[..cursor.at() - at];
        }
        *cursor = ahead;
    }
}
