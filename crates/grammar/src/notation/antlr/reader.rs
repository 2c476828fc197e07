//! Reads the text of a `.g4` file into a [`File`]: its head, its options
//! and its rules; `elements` reads what is inside of rules.
//!
//! There are no tokens in between: `[` begins a set in a lexical rule and
//! arguments in a syntax rule, and `{` code in any language.

use super::tree::{File, FileKind, Rule};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::notation::cursor::Cursor;
use crate::source::Span;

/// A mistake was reported; the rule it stands in is given up.
pub struct Reported;
pub type Step<T = ()> = Result<T, Reported>;

/// A lexer has some dozens; they are searched one by one.
const MAX_MODES: usize = 1_000;

pub struct Reader<'a> {
    pub(super) cursor: Cursor<'a>,
    pub(super) diags: &'a mut Diagnostics,
    pub(super) file: File,
    /// How deep the parentheses nest that are open.
    pub(super) nesting: usize,
    /// How often quotes in code led to the end of the file.
    pub(super) misled: usize,
}

/// Reads `text`, whose first byte has offset `base`.
pub fn read(path: &str, text: &str, base: u32, diags: &mut Diagnostics) -> File {
    let cursor = Cursor::new(text, base);
    let file = File {
        path: path.to_string(),
        kind: FileKind::Combined,
        name: String::new(),
        name_span: Span::new(base, base),
        imports: Vec::new(),
        vocab: None,
        caseless: false,
        tokens: Vec::new(),
        rules: Vec::new(),
        modes: Vec::new(),
    };
    let mut reader = Reader { cursor, diags, file, nesting: 0, misled: 0 };
    let _ = reader.head();
    reader.items();
    reader.file
}

impl<'a> Reader<'a> {
    /// Reads `lexer grammar Name;`.
    fn head(&mut self) -> Step {
        self.space()?;
        let at = self.cursor.at();
        let mut word = self.word();
        if matches!(word, "lexer" | "parser") {
            self.file.kind = if word == "lexer" { FileKind::Lexer } else { FileKind::Parser };
            self.space()?;
            word = self.word();
        }
        if word != "grammar" {
            let span = if self.cursor.at() == at { self.cursor.here() } else { self.cursor.since(at) };
            return self.fail(
                span,
                "an ANTLR grammar begins with `grammar NAME;`",
                "or `lexer grammar NAME;`, or `parser grammar NAME;`",
            );
        }
        let (name, span) = self.name("the name of the grammar")?;
        (self.file.name, self.file.name_span) = (name, span);
        self.expect(";", "grammar NAME;")
    }

    fn items(&mut self) {
        let mut mode = None;
        loop {
            if self.space().is_err() || self.cursor.at_end() {
                return;
            }
            let before = self.cursor.at();
            if self.item(&mut mode).is_err() {
                self.recover(before);
            }
        }
    }

    /// Goes on behind the next `;`, at least one character further.
    fn recover(&mut self, before: usize) {
        self.nesting = 0;
        while !matches!(self.cursor.bump(), None | Some(';')) {}
        if self.cursor.at() == before {
            self.cursor.bump();
        }
    }

    fn item(&mut self, mode: &mut Option<usize>) -> Step {
        if self.cursor.eat("@") {
            return self.named_action();
        }
        if self.cursor.eat(";") {
            return Ok(());
        }
        let (mut word, mut span) = self.name("a rule")?;
        self.space()?;
        let opens = self.cursor.peek() == Some('{');
        match word.as_str() {
            "options" if opens => {
                for (key, value) in self.options()? {
                    match key.as_str() {
                        "tokenVocab" => self.file.vocab = Some(value),
                        "caseInsensitive" => self.file.caseless = value.0 == "true",
                        _ => {}
                    }
                }
                return Ok(());
            }
            "tokens" if opens => {
                let names = self.names()?;
                self.file.tokens.extend(names);
                return Ok(());
            }
            "channels" if opens => return self.names().map(|_| ()),
            "import" => return self.import(word, span),
            "mode" => {
                let (name, span) = self.name("a mode")?;
                self.expect(";", "mode NAME;")?;
                *mode = self.mode(name, span)?;
                return Ok(());
            }
            _ => {}
        }
        let mut fragment = false;
        while matches!(word.as_str(), "fragment" | "public" | "private" | "protected")
            && self.cursor.peek() != Some(':')
        {
            fragment |= word == "fragment";
            (word, span) = self.name("a rule")?;
            self.space()?;
        }
        let rule = self.rule(word, span, fragment, *mode)?;
        self.file.rules.push(rule);
        Ok(())
    }

    /// The number of a mode, which is new if it was not there; `None` for
    /// the default one.
    fn mode(&mut self, name: String, span: Span) -> Step<Option<usize>> {
        if name == "DEFAULT_MODE" {
            return Ok(None);
        }
        if let Some(known) = self.file.modes.iter().position(|(n, _)| *n == name) {
            return Ok(Some(known));
        }
        if self.file.modes.len() == MAX_MODES {
            let message = format!("there are more than {MAX_MODES} modes");
            return self.fail(span, message, "put them into several grammars");
        }
        self.file.modes.push((name, span));
        Ok(Some(self.file.modes.len() - 1))
    }

    /// Reads `A, B = C;`. A rule may be called `import`.
    fn import(&mut self, word: String, span: Span) -> Step {
        if matches!(self.cursor.peek(), Some(':' | '[' | '@')) {
            let rule = self.rule(word, span, false, None)?;
            self.file.rules.push(rule);
            return Ok(());
        }
        loop {
            let mut name = self.name("a grammar")?;
            self.space()?;
            if self.cursor.eat("=") {
                name = self.name("a grammar")?;
                self.space()?;
            }
            self.file.imports.push(name);
            if !self.cursor.eat(",") {
                return self.expect(";", "import NAME, NAME;");
            }
        }
    }

    /// Reads `@members {…}` or `@parser::members {…}`, behind the `@`.
    fn named_action(&mut self) -> Step {
        self.name("the name of an action")?;
        self.space()?;
        if self.cursor.eat("::") {
            self.name("the name of an action")?;
        }
        self.space()?;
        self.code().map(|_| ())
    }

    fn rule(&mut self, name: String, span: Span, fragment: bool, mode: Option<usize>) -> Step<Rule> {
        let lexical = super::tree::is_lexical(&name);
        let mut caseless = None;
        loop {
            self.space()?;
            match self.cursor.peek() {
                Some(':') => break,
                Some('[') => self.arguments()?,
                Some('@') => {
                    self.cursor.bump();
                    self.named_action()?;
                }
                _ => {
                    let here = self.cursor.here();
                    let found = self.cursor.found();
                    let word = self.word();
                    self.space()?;
                    match word {
                        "returns" | "locals" if self.cursor.peek() == Some('[') => self.arguments()?,
                        "options" if self.cursor.peek() == Some('{') => {
                            for (key, value) in self.options()? {
                                if key == "caseInsensitive" {
                                    caseless = Some(value.0 == "true");
                                }
                            }
                        }
                        "throws" => loop {
                            self.dotted()?;
                            self.space()?;
                            if !self.cursor.eat(",") {
                                break;
                            }
                        },
                        _ => {
                            let message = format!("expected `:` after the name `{name}`, found {found}");
                            return self.fail(here, message, "the form is `NAME : … ;`");
                        }
                    }
                }
            }
        }
        self.cursor.bump();
        let block = self.block(lexical, span, true)?;
        if !self.cursor.eat(";") {
            return self.fail(self.cursor.here(), "nothing was opened that this closes", "remove it");
        }
        self.handlers()?;
        Ok(Rule { name, span, fragment, mode, caseless, block })
    }

    /// Passes `catch […] {…}` and `finally {…}` behind a rule.
    fn handlers(&mut self) -> Step {
        loop {
            let before = self.cursor;
            self.space()?;
            let word = self.word();
            self.space()?;
            match (word, self.cursor.peek()) {
                ("catch", Some('[')) => {
                    self.arguments()?;
                    self.space()?;
                    self.code()?;
                }
                ("finally", Some('{')) => {
                    self.code()?;
                }
                _ => {
                    self.cursor = before;
                    return Ok(());
                }
            }
        }
    }

    /// Reads `{ key = value; … }`.
    pub(super) fn options(&mut self) -> Step<Vec<(String, (String, Span))>> {
        let open = self.cursor.at();
        self.cursor.bump();
        let mut found = Vec::new();
        loop {
            self.space()?;
            if self.cursor.eat("}") {
                return Ok(found);
            }
            if self.cursor.at_end() {
                let help = "close them with `}`";
                return self.fail(self.cursor.one_at(open), "these options do not end", help);
            }
            let (key, span) = self.name("an option")?;
            self.space()?;
            let value = if self.cursor.eat("=") { self.value()? } else { (String::new(), span) };
            found.push((key, value));
            self.space()?;
            if self.cursor.peek() != Some('}') && !self.cursor.eat(";") {
                let found = self.cursor.found();
                let message = format!("expected `;` behind this option, found {found}");
                return self.fail(self.cursor.here(), message, "options are written `{ key = value; }`");
            }
        }
    }

    /// The value of an option: a name, a number, a text or code.
    pub(super) fn value(&mut self) -> Step<(String, Span)> {
        self.space()?;
        let at = self.cursor.at();
        match self.cursor.peek() {
            Some('\'') => {
                let text = match self.text()? {
                    super::tree::What::Text(Some(text)) => text,
                    _ => String::new(),
                };
                Ok((text, self.cursor.since(at)))
            }
            Some('"') => {
                self.cursor.bump();
                let text = self.cursor.eat_while(|c| c != '"' && c != '\n').to_string();
                self.cursor.eat("\"");
                Ok((text, self.cursor.since(at)))
            }
            Some('{') => {
                let code = self.code()?.to_string();
                Ok((code, self.cursor.since(at)))
            }
            _ => self.dotted(),
        }
    }

    /// A name with dots in it, or a number.
    fn dotted(&mut self) -> Step<(String, Span)> {
        self.space()?;
        let at = self.cursor.at();
        let text = self.cursor.eat_while(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '-'));
        if text.is_empty() {
            let found = self.cursor.found();
            return self.fail(self.cursor.here(), format!("expected a value, found {found}"), "finish it");
        }
        Ok((text.to_string(), self.cursor.since(at)))
    }

    /// Reads `{ A, B }`.
    fn names(&mut self) -> Step<Vec<(String, Span)>> {
        let open = self.cursor.at();
        self.cursor.bump();
        let mut found = Vec::new();
        loop {
            self.space()?;
            if self.cursor.eat("}") {
                return Ok(found);
            }
            if self.cursor.at_end() {
                let help = "close it with `}`";
                return self.fail(self.cursor.one_at(open), "this list of names does not end", help);
            }
            // ANTLR 3 wrote semicolons, and texts: `tokens { A = 'a'; }`.
            if self.cursor.eat(",") || self.cursor.eat(";") {
                continue;
            }
            found.push(self.name("a name")?);
            self.space()?;
            if self.cursor.eat("=") {
                self.value()?;
            }
        }
    }

    /// Reads a name.
    pub(super) fn name(&mut self, what: &str) -> Step<(String, Span)> {
        self.space()?;
        let at = self.cursor.at();
        let name = self.word();
        if name.is_empty() {
            let found = self.cursor.found();
            let message = format!("expected {what}, found {found}");
            return self.fail(self.cursor.here(), message, "names are letters, digits and `_`");
        }
        Ok((name.to_string(), self.cursor.since(at)))
    }

    /// The letters, digits and underscores that come next, if a letter or an
    /// underscore is first.
    pub(super) fn word(&mut self) -> &'a str {
        match self.cursor.peek() {
            Some(c) if c.is_alphabetic() || c == '_' => {
                self.cursor.eat_while(|c| c.is_alphanumeric() || c == '_')
            }
            _ => "",
        }
    }

    pub(super) fn expect(&mut self, word: &str, form: &str) -> Step {
        self.space()?;
        if self.cursor.eat(word) {
            return Ok(());
        }
        let found = self.cursor.found();
        let message = format!("expected `{word}`, found {found}");
        self.fail(self.cursor.here(), message, &format!("the form is `{form}`"))
    }

    /// Passes white space and comments.
    pub(super) fn space(&mut self) -> Step {
        loop {
            self.cursor.eat_while(char::is_whitespace);
            let at = self.cursor.at();
            if self.cursor.eat("//") {
                self.cursor.eat_while(|c| c != '\n');
            } else if self.cursor.eat("/*") {
                let open = self.cursor.since(at);
                if self.cursor.eat_until("*/").is_none() {
                    return self.fail(open, "this comment does not end", "close it with `*/`");
                }
                self.cursor.eat("*/");
            } else {
                return Ok(());
            }
        }
    }

    pub(super) fn fail<T>(&mut self, span: Span, message: impl Into<String>, help: &str) -> Step<T> {
        self.diags.push(Diagnostic::error(span, message).help(help));
        Err(Reported)
    }
}
