//! Inputs as texts of marks, and back.
//!
//! In:  inputs.
//! Out: texts of a grammar without tokens ([`mark`]), for what works on bytes
//!      alone; and from such a text an input with its tokens, and with the
//!      shortest texts between them that serve. In a grammar without tokens
//!      both are the same.

use super::fit::Fit;
use super::leaves::Leaf;
use super::{Layout, NONE, Printer, Spacing};
use std::collections::HashMap;
use std::rc::Rc;
use wug_grammar::lexical::lexer;
use wug_grammar::lexical::lexicon::Origin;
use wug_grammar::transform::mark;
use wug_grammar::{Grammar, RuleId};

/// Lexemes that were met in inputs, each with its token, by number.
#[derive(Debug, Default)]
pub struct Met {
    all: Vec<(u32, Rc<[u8]>)>,
    numbers: HashMap<(u32, Rc<[u8]>), u32>,
    bytes: usize,
}

impl Met {
    /// Bytes that it takes, about.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The number of a lexeme.
    fn number(&mut self, token: u32, text: &[u8]) -> Option<u32> {
        let key = (token, Rc::from(text));
        if let Some(&number) = self.numbers.get(&key) {
            return Some(number);
        }
        let number = u32::try_from(self.all.len()).ok().filter(|&number| number < mark::LEXEMES)?;
        self.bytes += text.len() + 64;
        self.all.push(key.clone());
        self.numbers.insert(key, number);
        Some(number)
    }

    /// The text of a lexeme, if it is one of this token.
    fn text(&self, token: u32, number: u32) -> Option<&[u8]> {
        self.all.get(number as usize).filter(|(of, _)| *of == token).map(|(_, text)| &**text)
    }
}

impl Printer<'_> {
    /// The grammar of marked texts; none if there are too many tokens, or the
    /// start is one.
    pub fn marked(&self) -> Option<Grammar> {
        let Some(tokens) = &self.tokens else { return Some(self.grammar.clone()) };
        let is_lexical = self.grammar.rule(self.grammar.start()).is_lexical();
        if is_lexical || tokens.lexicon.tokens.len() > mark::TOKENS as usize {
            return None;
        }
        let of_symbol = |symbol: u32| tokens.of_symbol.get(symbol as usize).copied();
        Some(mark::mark(self.grammar, |symbol| of_symbol(symbol).filter(|&token| token != NONE)))
    }

    /// Replaces `out` by the marked text of an input; `None` if some of it is
    /// no token, or there are too many lexemes.
    pub fn mark(&self, input: &[u8], met: &mut Met, out: &mut Vec<u8>) -> Option<()> {
        out.clear();
        let Some(tokens) = &self.tokens else {
            out.extend_from_slice(input);
            return Some(());
        };
        let mut numbered = true;
        let lexed =
            lexer::each(&tokens.lexicon, input, |token, span| match met.number(token.0, &input[span]) {
                Some(number) => mark::write(token.0, number, out),
                None => numbered = false,
            });
        lexed.ok().filter(|()| numbered)
    }

    /// Replaces `out` by an input of a marked text. For lexemes that were not
    /// met, `draw` appends one of a token's rule. `None` if there is none, or
    /// if tokens cannot be kept apart.
    pub fn unmark(
        &self,
        marked: &[u8],
        met: &Met,
        draw: &mut dyn FnMut(RuleId, &mut Vec<u8>) -> bool,
        layout: &mut Layout,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        out.clear();
        let Some(tokens) = &self.tokens else {
            out.extend_from_slice(marked);
            return Some(());
        };
        let mut text = std::mem::take(&mut layout.text);
        text.clear();
        layout.leaves.clear();
        let mut drawn = true;
        for (token, number) in mark::read(marked)? {
            let start = text.len();
            let origin = &tokens.lexicon.tokens.get(token as usize)?.origin;
            match (met.text(token, number), origin) {
                (Some(met), _) => text.extend_from_slice(met),
                (None, Origin::Literal(literal)) => text.extend_from_slice(literal),
                (None, Origin::Rule(rule)) => drawn &= draw(*rule, &mut text),
            }
            layout.leaves.push(Leaf { token, start, gap: 0, len: text.len() - start });
        }
        layout.leaves.push(Leaf { token: NONE, start: text.len(), gap: 0, len: 0 });
        let fits = drawn && Fit::new(tokens, &text, layout, out).run(Spacing::Least).is_some();
        layout.text = text;
        if !fits {
            out.clear();
        }
        fits.then_some(())
    }
}
