//! What is said about rules, alternatives and symbols: attributes, remarks,
//! weights, and the changes of mode behind a token.
//!
//! In:  the cursor at the `@`, or behind the `->`.
//! Out: values for the caller to put where they belong; a weight goes to
//!      the alternative that is open in the builder.

use super::{Reader, Reported, Step, literal};
use crate::arena::{MAX_WEIGHT, Note};
use crate::ast::{Action, Named};

/// More modes than this are not left at once.
const MAX_DROP: u32 = 16;

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

    /// Reads `push(MODE)`, `mode(MODE)` or `pop`, behind `->`; several are
    /// joined by commas and carried out in order.
    pub(super) fn action(&mut self) -> Step<Action<Option<Named>>> {
        self.space()?;
        let at = self.cursor.at();
        // Modes taken off the stack, this one first, and those put there.
        let (mut drop, mut push) = (0, Vec::new());
        loop {
            let (word, mode) = self.one_action()?;
            let back = matches!(word, "pop" | "mode") && push.pop().is_none();
            drop += u32::from(back);
            push.extend(mode);
            let before = self.cursor;
            self.space()?;
            if !self.cursor.eat(",") {
                self.cursor = before;
                break;
            }
        }
        let action = if drop <= MAX_DROP { Action::of(drop, &push) } else { None };
        match action {
            Some(action) => Ok(action),
            None => {
                let help = format!("at most {MAX_DROP} modes are left, and at most two entered");
                self.fail_with(self.cursor.since(at), "this changes too many modes at once", &help)
            }
        }
    }

    /// Reads one change, and the mode that it enters.
    #[allow(clippy::type_complexity)]
    fn one_action(&mut self) -> Step<(&'static str, Option<Option<Named>>)> {
        self.space()?;
        let at = self.cursor.at();
        let word = match self.cursor.eat_while(|c| c.is_ascii_alphabetic()) {
            "pop" => return Ok(("pop", None)),
            "push" => "push",
            "mode" => "mode",
            other => {
                let span = self.cursor.since(at);
                let span = if other.is_empty() { self.cursor.here() } else { span };
                return self.fail_with(
                    span,
                    "expected a change of mode",
                    "there are push(MODE), mode(MODE) and pop",
                );
            }
        };
        self.expect("(", "push(MODE)")?;
        self.space()?;
        let (name, span) = self.name("a mode")?;
        self.expect(")", "push(MODE)")?;
        Ok((word, Some(Some((self.ast.names.add(&name), span)))))
    }
}
