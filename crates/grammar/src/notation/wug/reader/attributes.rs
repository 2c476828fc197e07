//! What is said about rules, alternatives and symbols: attributes, remarks,
//! weights, and the changes of mode behind a token.
//!
//! In:  the cursor at the `@`, or behind the `->`.
//! Out: values for the caller to put where they belong; a weight goes to
//!      the alternative that is open in the builder.

use super::{Reader, Reported, Step, literal};
use crate::arena::{MAX_WEIGHT, Note};
use crate::ast::{Action, Named};

/// What stands before a rule.
#[derive(Default)]
pub(super) struct Attributes {
    pub(super) depth_limit: Option<u32>,
    pub(super) made: bool,
    pub(super) notes: Vec<Note>,
}

impl Reader<'_> {
    pub(super) fn attributes(&mut self) -> Step<Attributes> {
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
    pub(super) fn note(&mut self) -> Step<Note> {
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

    /// Reads `@3` at the head of an alternative.
    pub(super) fn weight(&mut self) -> Step {
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

    pub(super) fn misplaced_attribute<T>(&mut self) -> Step<T> {
        let here = self.cursor.here();
        self.fail_with(
            here,
            "`@` cannot stand here",
            "a weight stands at the head of an alternative: `| @3 name`",
        )
    }

    /// Reads `push(MODE)`, `mode(MODE)` or `pop`, behind `->`.
    pub(super) fn action(&mut self) -> Step<Action<Option<Named>>> {
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
}
