//! Bodies with brackets, counts and exceptions: what ABNF and the two
//! EBNFs have in common.
//!
//! In:  items and operators, in the order in which they stand.
//! Out: a body in the [`Ast`], nested at most [`MAX_NESTING`] deep.
//!
//! A reader appends the symbols of one item (a text, a class, a call, a
//! group that was closed) and then calls [`Brackets::item`], which applies
//! what stood before the item: a count, or the `-` of an exception.

use crate::arena::{BodyId, MAX_NESTING, Repeat};
use crate::ast::{Ast, AstSymbol};
use crate::diagnostic::Diagnostic;
use crate::source::Span;

/// What a pair of brackets means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Means {
    /// One of the alternatives inside.
    Group,
    /// The same, or nothing.
    Option,
    /// The same, any number of times.
    Star,
}

/// A result, or what is wrong with the text.
pub type Step<T = ()> = Result<T, Box<Diagnostic>>;

/// The brackets that are open in one rule.
#[derive(Debug)]
pub struct Brackets {
    /// The first is the rule itself.
    levels: Vec<Level>,
    /// How deep the last item nests.
    height: usize,
}

#[derive(Debug)]
struct Level {
    open: Span,
    close: &'static str,
    means: Means,
    /// The deepest item inside.
    height: usize,
    count: Option<(u32, Option<u32>, Span)>,
    /// What stands before a `-`, where, and how deep it nests.
    except: Option<(BodyId, Span, usize)>,
}

impl Level {
    fn new(means: Means, close: &'static str, open: Span) -> Level {
        Level { open, close, means, height: 0, count: None, except: None }
    }
}

impl Brackets {
    /// Opens the body of a rule.
    pub fn rule(span: Span, ast: &mut Ast) -> Brackets {
        ast.builder.open_body(span);
        Brackets { levels: vec![Level::new(Means::Group, "", span)], height: 0 }
    }

    /// Opens a bracket that `close` will close.
    pub fn open(&mut self, means: Means, close: &'static str, span: Span, ast: &mut Ast) -> Step {
        if self.levels.len() >= MAX_NESTING {
            let message = format!("brackets nest more than {MAX_NESTING} deep");
            let error = Diagnostic::error(span, message).help("give the inner part a rule of its own");
            return Err(Box::new(error));
        }
        ast.builder.open_body(span);
        self.levels.push(Level::new(means, close, span));
        Ok(())
    }

    /// Closes the innermost bracket by `close`, which stands at `span`. If
    /// an operator `follows` that stands on what is in the brackets, they
    /// stay one symbol.
    pub fn close(&mut self, close: &str, span: Span, follows: bool, ast: &mut Ast) -> Step {
        self.nothing_pending()?;
        let level = match self.levels.pop() {
            Some(level) if level.close == close => level,
            Some(level) if !level.close.is_empty() => {
                let message = format!("`{close}` cannot close this bracket");
                let error = Diagnostic::error(span, message)
                    .also(level.open, format!("`{}` must close this one first", level.close));
                return Err(Box::new(error));
            }
            _ => {
                let message = format!("nothing was opened that this `{close}` closes");
                return Err(Box::new(Diagnostic::error(span, message)));
            }
        };
        self.height = level.height;
        let whole = level.open.to(span);
        let (min, max) = match level.means {
            Means::Group => {
                let keep = follows || self.pending();
                ast.close_group(keep, whole);
                return self.deeper(whole);
            }
            Means::Option => (0, Some(1)),
            Means::Star => (0, None),
        };
        let body = ast.builder.close_body();
        let repeat = ast.builder.repeat(Repeat { body, min, max, greedy: true });
        ast.builder.symbol(AstSymbol::Repeat(repeat), whole);
        self.deeper(whole)
    }

    /// Begins an item of any number of symbols.
    pub fn open_item(&mut self, span: Span, ast: &mut Ast) {
        ast.builder.open_body(span);
        self.height = 0;
    }

    /// Ends an item of any number of symbols; `follows` as in
    /// [`Brackets::close`].
    pub fn close_item(&mut self, span: Span, follows: bool, ast: &mut Ast) {
        let keep = follows || self.pending();
        ast.close_group(keep, span);
        self.height = 0;
    }

    /// Says that the last symbol is an item of its own.
    pub fn simple_item(&mut self) {
        self.height = 0;
    }

    /// Repeats the last item: an operator behind it.
    pub fn repeat(&mut self, min: u32, max: Option<u32>, span: Span, ast: &mut Ast) -> Step {
        if !ast.repeat_last(min, max, true, span) {
            let message = "nothing stands before this operator that it could repeat";
            return Err(Box::new(Diagnostic::error(span, message)));
        }
        self.deeper(span)
    }

    /// A count that stands before an item.
    pub fn count(&mut self, min: u32, max: Option<u32>, span: Span) -> Step {
        let top = self.top();
        if let Some((.., first)) = top.count.replace((min, max, span)) {
            return Err(Box::new(dangling_count(first)));
        }
        Ok(())
    }

    /// The `-` at `span`: the item before it, except the one behind it.
    pub fn except(&mut self, span: Span, ast: &mut Ast) -> Step {
        self.nothing_pending()?;
        let Some((symbol, place)) = ast.builder.take_last() else {
            return Err(Box::new(Diagnostic::error(span, "nothing stands before this `-`")));
        };
        let left = body_of(symbol, place, ast);
        let height = self.height;
        self.top().except = Some((left, place.to(span), height));
        Ok(())
    }

    /// Applies what stood before the item that was just appended.
    pub fn item(&mut self, ast: &mut Ast) -> Step {
        if let Some((min, max, span)) = self.top().count.take() {
            self.repeat(min, max, span, ast)?;
        }
        if let Some((left, place, height)) = self.top().except.take() {
            let (right, span) = match ast.builder.take_last() {
                Some((symbol, span)) => (body_of(symbol, span, ast), span),
                None => (empty(place, ast), place),
            };
            ast.builder.symbol(AstSymbol::Except(left, right), place.to(span));
            self.height = self.height.max(height);
            self.deeper(place)?;
        }
        let height = self.height;
        let top = self.top();
        top.height = top.height.max(height);
        Ok(())
    }

    /// Applies an exception with nothing behind its `-`, as ISO has it:
    /// `{ x } -` is one or more.
    pub fn except_nothing(&mut self, ast: &mut Ast) -> Step {
        let Some((left, place, height)) = self.top().except.take() else { return Ok(()) };
        self.height = height;
        let arena = ast.builder.arena();
        let mut symbols = arena.alternatives(left).flat_map(|alt| arena.symbols(alt).iter().copied());
        let starred = match (symbols.next(), symbols.next()) {
            (Some(AstSymbol::Repeat(repeat)), None) => Some(*arena.repeat(repeat)),
            _ => None,
        };
        match starred {
            Some(Repeat { body, min: 0, max, greedy }) => {
                let repeat = ast.builder.repeat(Repeat { body, min: 1, max, greedy });
                ast.builder.symbol(AstSymbol::Repeat(repeat), place);
            }
            _ => {
                let right = empty(place, ast);
                ast.builder.symbol(AstSymbol::Except(left, right), place);
            }
        }
        self.deeper(place)?;
        self.item(ast)
    }

    /// The `|` at `span`.
    pub fn alternative(&mut self, span: Span, ast: &mut Ast) -> Step {
        self.nothing_pending()?;
        ast.builder.next_alternative(span);
        Ok(())
    }

    /// The end of the rule's text; the body stays open.
    pub fn end(&self) -> Step {
        match self.levels.last() {
            Some(level) if !level.close.is_empty() => {
                let error = Diagnostic::error(level.open, "this bracket is not closed");
                Err(Box::new(error.help(format!("close it with `{}`", level.close))))
            }
            _ => self.nothing_pending(),
        }
    }

    /// Whether something waits for an item.
    fn pending(&self) -> bool {
        self.levels.last().is_some_and(|l| l.count.is_some() || l.except.is_some())
    }

    fn nothing_pending(&self) -> Step {
        match self.levels.last() {
            Some(Level { count: Some((.., span)), .. }) => Err(Box::new(dangling_count(*span))),
            Some(Level { except: Some((_, span, _)), .. }) => {
                let error = Diagnostic::error(*span, "nothing follows this `-`");
                Err(Box::new(error.help("`a - b` is what `a` derives and `b` does not")))
            }
            _ => Ok(()),
        }
    }

    fn top(&mut self) -> &mut Level {
        // The rule's own level is closed by no bracket, but a mistake may
        // have popped it.
        if self.levels.is_empty() {
            self.levels.push(Level::new(Means::Group, "", Span::NONE));
        }
        let last = self.levels.len() - 1;
        &mut self.levels[last]
    }

    fn deeper(&mut self, span: Span) -> Step {
        self.height += 1;
        if self.levels.len() + self.height <= MAX_NESTING + 1 {
            return Ok(());
        }
        let message = format!("operators and brackets nest more than {MAX_NESTING} deep");
        Err(Box::new(Diagnostic::error(span, message).help("give the inner part a rule of its own")))
    }
}

fn dangling_count(span: Span) -> Diagnostic {
    Diagnostic::error(span, "nothing follows this count")
        .help("a count stands before what it repeats; text is put into quotes")
}

/// A symbol as a body of its own.
fn body_of(symbol: AstSymbol, span: Span, ast: &mut Ast) -> BodyId {
    if let AstSymbol::Group(body) = symbol {
        return body;
    }
    ast.builder.open_body(span);
    ast.builder.symbol(symbol, span);
    ast.builder.close_body()
}

fn empty(span: Span, ast: &mut Ast) -> BodyId {
    ast.builder.open_body(span);
    ast.builder.close_body()
}
