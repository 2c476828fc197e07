//! EBNF as ISO 14977 defines it.
//!
//! ```text
//! (* comments (* nest *) *)
//! decimal number = digit - "0", { digit }, [ ".", 3 * digit ] ;
//! digit = "0" | "1" / "2" ! "3" ;
//! ```
//!
//! With the standard's other spellings: `(/ /)` for `[ ]`, `(: :)` for
//! `{ }`, `/` and `!` for `|`, and `.` for `;`.
//!
//! What we add, or decide:
//! - Names may have several words. Commas may be left out: of words in a
//!   row, the longest that is the name of a rule is taken.
//! - `_` can stand in names. `a-b` without blanks is a name if a rule has
//!   it, else an exception.
//! - `{ x } -`, where nothing is excepted, is one or more of `x`.
//! - Text has no escapes and ends on its line.
//! - Special sequences, `? … ?`, are refused: nothing says what they mean.

mod tokens;

use super::brackets::{Brackets, Means, Step};
use crate::ast::Ast;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::source::Span;
use hashbrown::HashSet;
use tokens::{Kind, Token};

/// Words that a name may have.
const MAX_WORDS: usize = 16;

/// Reads `text`, whose first byte has offset `base`.
pub fn read(text: &str, base: u32, ast: &mut Ast, diags: &mut Diagnostics) {
    let tokens = tokens::tokens(text, base, diags);
    let mut reader = Reader { text, base, tokens: &tokens, at: 0, names: HashSet::new(), longest: 1, ast };
    reader.collect_names();
    while reader.peek().is_some() {
        if let Err(error) = reader.rule() {
            reader.ast.builder.abandon();
            // Where the tokens were bad, that is reported.
            if reader.peek() != Some(Kind::Bad) {
                diags.push(*error);
            }
            reader.recover();
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    base: u32,
    tokens: &'a [Token],
    at: usize,
    /// Names of rules, words parted by one blank.
    names: HashSet<String>,
    /// Most words of a name.
    longest: usize,
    ast: &'a mut Ast,
}

impl<'a> Reader<'a> {
    fn collect_names(&mut self) {
        let words = |token: &Token| matches!(token.kind, Kind::Word);
        let mut from = 0;
        for (at, token) in self.tokens.iter().enumerate() {
            if token.kind == Kind::Symbol('=') && (1..=MAX_WORDS).contains(&(at - from)) {
                self.longest = self.longest.max(at - from);
                let name = self.join(from, at);
                self.names.insert(name);
            }
            if !words(token) {
                from = at + 1;
            }
        }
    }

    fn peek(&self) -> Option<Kind> {
        self.tokens.get(self.at).map(|token| token.kind)
    }

    /// The next token's place, or the end of the text.
    fn here(&self) -> Span {
        let end = self.base + self.text.len() as u32;
        self.tokens.get(self.at).map_or(Span::new(end, end), |token| token.span)
    }

    fn word(&self, token: &Token) -> &'a str {
        let (start, end) = (token.span.start - self.base, token.span.end - self.base);
        self.text.get(start as usize..end as usize).unwrap_or("")
    }

    fn join(&self, from: usize, to: usize) -> String {
        let words: Vec<&str> = self.tokens[from..to].iter().map(|t| self.word(t)).collect();
        words.join(" ")
    }

    /// Goes on behind the next `;`.
    fn recover(&mut self) {
        let end = self.tokens[self.at..].iter().position(|t| t.kind == Kind::Symbol(';'));
        self.at = end.map_or(self.tokens.len(), |len| self.at + len + 1);
    }

    fn found(&self) -> String {
        match self.tokens.get(self.at) {
            None => "the end of the text".to_string(),
            Some(token) => format!("`{}`", self.word(token).chars().take(24).collect::<String>()),
        }
    }

    fn rule(&mut self) -> Step {
        let from = self.at;
        while self.peek() == Some(Kind::Word) {
            self.at += 1;
        }
        if self.at == from {
            let message = format!("expected the name of a rule, found {}", self.found());
            let error = Diagnostic::error(self.here(), message);
            return Err(Box::new(error.help("a rule is `name = definition ;`")));
        }
        let span = self.tokens[from].span.to(self.tokens[self.at - 1].span);
        if self.at - from > MAX_WORDS {
            let message = format!("this name has more than {MAX_WORDS} words");
            return Err(Box::new(Diagnostic::error(span, message).help("is a `;` missing before it?")));
        }
        let name = self.join(from, self.at);
        if self.peek() != Some(Kind::Symbol('=')) {
            let message = format!("expected `=` after the name `{name}`, found {}", self.found());
            let error = Diagnostic::error(self.here(), message);
            return Err(Box::new(match self.peek() {
                Some(Kind::Symbol(':')) => error.help("`::=` belongs to BNF and to the W3C's notation"),
                _ => error,
            }));
        }
        self.at += 1;
        let mut brackets = Brackets::rule(self.here(), self.ast);
        while self.item(&mut brackets)? {}
        brackets.end()?;
        self.at += 1;
        self.ast.close_rule(&name, span);
        Ok(())
    }

    /// Reads one part of a definition; `false` at the `;`, which stays.
    fn item(&mut self, brackets: &mut Brackets) -> Step<bool> {
        let Some(token) = self.tokens.get(self.at).copied() else {
            brackets.end()?;
            let error = Diagnostic::error(self.here(), "the last rule does not end");
            return Err(Box::new(error.help("close it with `;`")));
        };
        match token.kind {
            Kind::Word => {
                self.words(brackets)?;
                return Ok(true);
            }
            Kind::Text => {
                self.at += 1;
                let word = self.word(&token);
                let text = &word[1..word.len().max(2) - 1];
                if text.is_empty() {
                    brackets.open_item(token.span, self.ast);
                    brackets.close_item(token.span, self.except_follows(), self.ast);
                } else {
                    self.ast.literal(text.as_bytes(), token.span);
                    brackets.simple_item();
                }
            }
            Kind::Number => {
                self.at += 1;
                let digits = self.word(&token);
                if self.peek() != Some(Kind::Symbol('*')) {
                    let error = Diagnostic::error(token.span, "a number stands only before `*`");
                    return Err(Box::new(error.help("`3 * x` is `x` three times; text stands in quotes")));
                }
                let Ok(count) = digits.parse() else {
                    let error = Diagnostic::error(token.span, "this count is too large");
                    return Err(Box::new(error.help(format!("counts are at most {}", u32::MAX))));
                };
                self.at += 1;
                brackets.count(count, Some(count), token.span)?;
                return Ok(true);
            }
            Kind::Special => {
                let error =
                    Diagnostic::error(token.span, "a special sequence has no meaning that is known here");
                return Err(Box::new(error.help("replace `? … ?` by a rule for what it describes")));
            }
            Kind::Bad => return Err(Box::new(Diagnostic::error(token.span, ""))),
            Kind::Symbol(symbol) => match self.symbol(symbol, token.span, brackets)? {
                Then::Item => {}
                Then::More => return Ok(true),
                Then::End => return Ok(false),
            },
        }
        brackets.item(self.ast)?;
        Ok(true)
    }

    fn symbol(&mut self, symbol: char, span: Span, brackets: &mut Brackets) -> Step<Then> {
        if matches!(symbol, ',' | '|' | ')' | ']' | '}' | ';') {
            brackets.except_nothing(self.ast)?;
        }
        if symbol == ';' {
            return Ok(Then::End);
        }
        self.at += 1;
        match symbol {
            ',' => {}
            '|' => brackets.alternative(self.here(), self.ast)?,
            '-' => brackets.except(span, self.ast)?,
            '(' => brackets.open(Means::Group, ")", span, self.ast)?,
            '[' => brackets.open(Means::Option, "]", span, self.ast)?,
            '{' => brackets.open(Means::Star, "}", span, self.ast)?,
            ')' | ']' | '}' => {
                let close = match symbol {
                    ')' => ")",
                    ']' => "]",
                    _ => "}",
                };
                brackets.close(close, span, self.except_follows(), self.ast)?;
                return Ok(Then::Item);
            }
            _ => {
                self.at -= 1;
                let error = Diagnostic::error(span, format!("expected a symbol, found {}", self.found()));
                return Err(Box::new(match symbol {
                    '=' => error.help("is a `;` missing at the end of the rule before?"),
                    '*' | '+' => error.help("repetition is written `{ x }`, or `3 * x`"),
                    _ => error.help("text stands in quotes"),
                }));
            }
        }
        Ok(Then::More)
    }

    fn except_follows(&self) -> bool {
        self.peek() == Some(Kind::Symbol('-'))
    }

    /// Reads a row of words as the names of rules.
    fn words(&mut self, brackets: &mut Brackets) -> Step {
        let row =
            self.tokens[self.at..].iter().take(self.longest).take_while(|t| t.kind == Kind::Word).count();
        for count in (1..=row).rev() {
            let name = self.join(self.at, self.at + count);
            if self.names.contains(&name) {
                let span = self.tokens[self.at].span.to(self.tokens[self.at + count - 1].span);
                self.at += count;
                self.ast.call(&name, span);
                brackets.simple_item();
                return brackets.item(self.ast);
            }
        }
        // No such rule: said later, unless it is `a-b`, an exception.
        let token = self.tokens[self.at];
        self.at += 1;
        let mut start = token.span.start;
        for (i, part) in self.word(&token).split('-').enumerate() {
            if i > 0 {
                brackets.except(Span::new(start - 1, start), self.ast)?;
            }
            let end = start + part.len() as u32;
            self.ast.call(part, Span::new(start, end));
            start = end + 1;
            brackets.simple_item();
            brackets.item(self.ast)?;
        }
        Ok(())
    }
}

/// What comes behind a symbol.
enum Then {
    /// It ended an item.
    Item,
    /// It did not.
    More,
    /// It ended the rule.
    End,
}
