//! The body of a rule: alternatives, symbols, and what stands behind them.
//!
//! In:  the cursor behind the `=` of a rule, a body open in the builder.
//! Out: the alternatives in the builder, the cursor behind the `;`; after a
//!      mistake, groups may be left open, which [`Reader::recover`] drops.
//!
//! One loop over the text, groups on the builder's own stack, so that
//! nesting costs no native stack.

use super::{Reader, Reported, Step, literal};
use crate::arena::MAX_NESTING;
use crate::ast::{Kind, Named};
use crate::class::Class;
use crate::notation::regex;

impl Reader<'_> {
    /// Reads alternatives up to and with the closing `;`.
    pub(super) fn body(&mut self, kind: &mut Kind<Option<Named>>) -> Step {
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
                let caseless = self.cursor.rest().starts_with('i') && !self.name_goes_on(1);
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
}
