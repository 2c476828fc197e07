//! What is inside of a rule: alternatives, symbols with their operators, and
//! the commands of lexical rules.

use super::reader::{Reader, Step};
use super::tree::{Alternative, Block, Command, Element, What};
use crate::arena::MAX_NESTING;
use crate::class::{Class, Unit};
use crate::source::Span;

impl Reader<'_> {
    /// Reads alternatives up to the `;` or `)` behind them, which stays.
    /// They are those of a rule with its name at `place`, or those in a
    /// parenthesis that stands there.
    pub(super) fn block(&mut self, lexical: bool, place: Span, is_rule: bool) -> Step<Block> {
        let mut alternatives = Vec::new();
        loop {
            self.space()?;
            alternatives.push(self.alternative(lexical)?);
            match self.cursor.peek() {
                Some('|') => {
                    self.cursor.bump();
                }
                Some(';') if is_rule => return Ok(Block(alternatives)),
                Some(')') => return Ok(Block(alternatives)),
                _ if is_rule => return self.fail(place, "this rule does not end", "close it with `;`"),
                _ => return self.fail(place, "this parenthesis is not closed", "close it with `)`"),
            }
        }
    }

    /// Reads one alternative, up to what ends it.
    fn alternative(&mut self, lexical: bool) -> Step<Alternative> {
        let mut alternative =
            Alternative { elements: Vec::new(), commands: Vec::new(), span: self.cursor.here() };
        loop {
            self.space()?;
            let at = self.cursor.at();
            match self.cursor.peek() {
                None | Some('|' | ';' | ')') => return Ok(alternative),
                Some('<') => self.element_options()?,
                Some('#') => {
                    self.cursor.bump();
                    self.name("the name of this alternative")?;
                }
                Some('-') if self.cursor.eat("->") => {
                    if !lexical {
                        let help = "trees are built by listeners and visitors in ANTLR 4: remove it";
                        return self.fail(
                            self.cursor.since(at),
                            "only a lexical rule can have commands",
                            help,
                        );
                    }
                    self.commands(&mut alternative.commands)?;
                }
                Some(_) => {
                    let element = self.element(lexical)?;
                    alternative.elements.push(element);
                }
            }
        }
    }

    /// Reads a symbol with its label and its operator.
    fn element(&mut self, lexical: bool) -> Step<Element> {
        let at = self.cursor.at();
        // `label = …` and `label += …`
        let before = self.cursor;
        if !self.word().is_empty() {
            self.space()?;
            let labelled = self.cursor.eat("+=") || self.cursor.eat("=");
            if labelled {
                self.space()?;
            } else {
                self.cursor = before;
            }
        }
        let what = self.atom(lexical)?;
        let element = Element { what, span: self.cursor.since(at) };
        self.suffix(element, at)
    }

    fn suffix(&mut self, element: Element, at: usize) -> Step<Element> {
        let before = self.cursor;
        self.space()?;
        if matches!(element.what, What::Action | What::Predicate) {
            self.cursor = before;
            return Ok(element);
        }
        let (min, max) = match self.cursor.peek() {
            Some('?') => (0, Some(1)),
            Some('*') => (0, None),
            Some('+') => (1, None),
            _ => {
                self.cursor = before;
                return Ok(element);
            }
        };
        self.cursor.bump();
        let greedy = !self.cursor.eat("?");
        let span = self.cursor.since(at);
        if let Some(c @ ('*' | '+' | '?')) = self.cursor.peek() {
            let message = format!("`{c}` stands on another operator");
            return self.fail(self.cursor.here(), message, "put what it repeats into parentheses");
        }
        let body = match element.what {
            What::Block(block) => block,
            _ => {
                let span = element.span;
                Block(vec![Alternative { elements: vec![element], commands: Vec::new(), span }])
            }
        };
        Ok(Element { what: What::Repeat { body, min, max, greedy }, span })
    }

    fn atom(&mut self, lexical: bool) -> Step<What> {
        let at = self.cursor.at();
        match self.cursor.peek() {
            Some('\'') => self.literal_or_range(),
            Some('[') if lexical => Ok(What::Set(self.set()?)),
            Some('.') => {
                self.cursor.bump();
                if self.cursor.eat(".") {
                    let help = "a range has a character in quotes on either side: `'a'..'z'`";
                    return self.fail(self.cursor.since(at), "this range has no beginning", help);
                }
                self.element_options_if_any()?;
                Ok(What::Any)
            }
            Some('~') => {
                self.cursor.bump();
                self.space()?;
                self.negated(lexical)
            }
            Some('(') => self.parentheses(lexical).map(What::Block),
            Some('{') => {
                self.code()?;
                if self.cursor.eat("?") {
                    self.space()?;
                    // The gated predicates of ANTLR 3.
                    self.cursor.eat("=>");
                    self.element_options_if_any()?;
                    return Ok(What::Predicate);
                }
                self.element_options_if_any()?;
                Ok(What::Action)
            }
            _ => {
                let (name, _) = self.name("a symbol")?;
                let after = self.cursor;
                self.space()?;
                if self.cursor.peek() == Some(':') && !self.cursor.rest().starts_with("::") {
                    let span = self.cursor.since(at);
                    let message = format!("rule `{name}` begins before the last one ended");
                    return self.fail(span, message, "end each rule with `;`");
                }
                if self.cursor.peek() == Some('[') && !lexical {
                    self.arguments()?;
                } else {
                    self.cursor = after;
                }
                self.element_options_if_any()?;
                Ok(if name == "EOF" { What::Eof } else { What::Name(name) })
            }
        }
    }

    /// Reads `'text'` or `'a'..'z'`.
    fn literal_or_range(&mut self) -> Step<What> {
        let at = self.cursor.at();
        let text = self.text()?;
        let after = self.cursor;
        self.space()?;
        if !self.cursor.eat("..") {
            self.cursor = after;
            self.element_options_if_any()?;
            return Ok(text);
        }
        self.space()?;
        let to = if self.cursor.peek() == Some('\'') { self.text()? } else { What::Any };
        let single = |what: &What| match what {
            What::Text(Some(text)) if text.chars().count() == 1 => text.chars().next(),
            _ => None,
        };
        // Half of a surrogate pair is a fine end of a range, and no character.
        if let (What::Text(None), What::Text(_)) | (What::Text(_), What::Text(None)) = (&text, &to) {
            return Ok(What::Set(Class::new(Unit::Char, [])));
        }
        match (single(&text), single(&to)) {
            (Some(low), Some(high)) if low <= high => {
                Ok(What::Set(Class::new(Unit::Char, [(low as u32, high as u32)])))
            }
            _ => {
                let help = "a range goes from one character to a later one: `'a'..'z'`";
                self.fail(self.cursor.since(at), "this range holds nothing", help)
            }
        }
    }

    /// Reads what stands behind `~`.
    fn negated(&mut self, lexical: bool) -> Step<What> {
        let at = self.cursor.at();
        if self.cursor.peek() != Some('(') {
            let what = self.atom(lexical)?;
            return Ok(What::Not(vec![Element { what, span: self.cursor.since(at) }]));
        }
        let block = self.parentheses(lexical)?;
        let mut members = Vec::new();
        for alternative in block.0 {
            let mut elements = alternative.elements;
            match (elements.pop(), elements.is_empty()) {
                (Some(one), true) => members.push(one),
                _ => {
                    let help = "`~` takes single characters or tokens: `~('a' | [b-d])`";
                    return self.fail(self.cursor.since(at), "`~` cannot negate a sequence", help);
                }
            }
        }
        Ok(What::Not(members))
    }

    fn parentheses(&mut self, lexical: bool) -> Step<Block> {
        let at = self.cursor.at();
        self.cursor.bump();
        self.nesting += 1;
        if self.nesting >= MAX_NESTING / 2 {
            let message = format!("parentheses nest more than {} deep", MAX_NESTING / 2);
            return self.fail(self.cursor.since(at), message, "give the inner part a rule of its own");
        }
        self.space()?;
        // `( options { greedy = false; } : … )`, with actions.
        let before = self.cursor;
        if self.word() == "options" {
            self.space()?;
            if self.cursor.peek() == Some('{') {
                self.options()?;
                self.expect(":", "( options { … } : … )")?;
            } else {
                self.cursor = before;
            }
        } else {
            self.cursor = before;
            self.cursor.eat(":");
        }
        let block = self.block(lexical, self.cursor.one_at(at), false)?;
        self.nesting -= 1;
        self.cursor.bump();
        Ok(block)
    }

    /// Passes `<assoc = right>`.
    fn element_options(&mut self) -> Step {
        let at = self.cursor.at();
        self.cursor.bump();
        loop {
            self.space()?;
            if self.cursor.eat(">") {
                return Ok(());
            }
            if self.cursor.at_end() {
                let help = "close them with `>`";
                return self.fail(self.cursor.one_at(at), "these options do not end", help);
            }
            if self.cursor.eat(",") {
                continue;
            }
            self.value()?;
            self.space()?;
            if self.cursor.eat("=") {
                self.value()?;
            }
        }
    }

    fn element_options_if_any(&mut self) -> Step {
        let before = self.cursor;
        self.space()?;
        if self.cursor.peek() == Some('<') {
            return self.element_options();
        }
        self.cursor = before;
        Ok(())
    }

    /// Reads `skip, pushMode(X)`, behind `->`.
    fn commands(&mut self, commands: &mut Vec<Command>) -> Step {
        loop {
            let (name, span) = self.name("a lexer command")?;
            self.space()?;
            let mut argument = None;
            if self.cursor.eat("(") {
                argument = Some(self.value()?);
                self.expect(")", "pushMode(NAME)")?;
                self.space()?;
            }
            commands.push(Command { name, argument, span });
            if !self.cursor.eat(",") {
                return Ok(());
            }
        }
    }
}
