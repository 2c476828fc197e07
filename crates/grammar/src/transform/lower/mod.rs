//! From tokens to bytes: what is derived afterwards lexes as intended.
//!
//! In:  a grammar with lexical rules.
//! Out: a grammar of syntax rules over bytes and classes, without tokens,
//!      whose every text a maximal-munch lexer splits into just the tokens
//!      it was derived from; or, where that could not be proven, the means
//!      to check a text ([`Relex`]). A grammar without tokens stays as it is.
//!
//! | file | step |
//! | --- | --- |
//! | `modes` | every token stands where the lexer is in its mode |
//! | `order` | callees or callers first, for all fixed points here |
//! | `edges` | tokens that begin and end what a rule derives |
//! | `conflicts` | lexemes that run together with what follows |
//! | `contexts` | for each occurrence: a separator, fewer lexemes, or a check |
//! | `tokens` | rules for lexemes and separators |
//!
//! Rejected: putting a blank between all tokens. It would never show a
//! parser `a+b`, and in many languages blanks mean something.

mod conflicts;
mod contexts;
mod edges;
mod modes;
mod order;
mod sets;
mod tokens;

use crate::arena::{BodyId, Note};
use crate::ast::Kind;
use crate::diagnostic::Diagnostic;
use crate::ir::{Grammar, Rule, RuleId, Symbol};
use crate::lexical::lexer::lex;
use crate::lexical::{Lexicon, TokenId, TooLarge, Work};
use crate::source::Span;
use crate::transform::prune;
use conflicts::Conflicts;
use contexts::{Context, Contexts, Decision, Follow};
use hashbrown::{HashMap, HashSet};
use std::rc::Rc;
use tokens::Output;

const KEEP_APART: &str = "a skipped token, such as white space, would keep them apart";

/// A grammar without tokens.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The grammar.
    pub grammar: Grammar,
    /// How to check a text, where some token could not be proven safe.
    pub relex: Option<Relex>,
    /// Tokens that can never be read, and the like; an error if nothing can
    /// be derived.
    pub warnings: Vec<Diagnostic>,
    /// Names of the tokens that may run together with what follows.
    pub unproven: Vec<String>,
}

/// Lexes texts of a lowered grammar again.
#[derive(Clone, Debug)]
pub struct Relex {
    lexicon: Lexicon,
    token_of: HashMap<String, TokenId>,
}

impl Relex {
    /// For each rule of `grammar`, which may have lost rules since it was
    /// lowered: the token it derives a lexeme of.
    pub fn tokens(&self, grammar: &Grammar) -> Vec<Option<TokenId>> {
        grammar.rules().map(|r| self.token_of.get(grammar.name(r)).copied()).collect()
    }

    /// Whether `text` lexes as `tokens`, each with its offset. Skipped ones
    /// are left out on both sides.
    pub fn accepts(&self, text: &[u8], tokens: &[(TokenId, usize)]) -> bool {
        let meant = tokens.iter().filter(|(token, _)| !self.lexicon.token(*token).skip);
        lex(&self.lexicon, text).is_ok_and(|found| found.iter().eq(meant))
    }

    /// The tokens, for messages about them.
    pub fn lexicon(&self) -> &Lexicon {
        &self.lexicon
    }
}

/// Replaces tokens by rules over bytes.
pub fn lower(grammar: &Grammar) -> Lowered {
    lower_with(grammar, false)
}

/// As [`lower`]; with `check`, the means to check a text are always there.
pub fn lower_with(grammar: &Grammar, check: bool) -> Lowered {
    if !grammar.has_tokens() {
        return Lowered { grammar: grammar.clone(), relex: None, warnings: Vec::new(), unproven: Vec::new() };
    }
    try_lower(grammar, check).unwrap_or_else(|TooLarge| beyond(grammar))
}

fn try_lower(grammar: &Grammar, check: bool) -> Result<Lowered, TooLarge> {
    let lexicon = Lexicon::of(grammar)?;
    let staged = modes::stage(grammar, &lexicon);
    // Where modes are beyond analysis, only lexing again can tell.
    let check = check || staged.is_err();
    let astray = if staged.is_err() { modes::changing(&lexicon) } else { Vec::new() };
    let staged = staged.unwrap_or_else(|_| modes::unstaged(grammar));
    let tight = grammar.rules().any(|rule| grammar.rule(rule).notes.iter().any(Note::is_tight));
    let conflicts = Conflicts::of(&lexicon, tight, &mut Work::default())?;
    let mut warnings = never_read(grammar, &lexicon, &conflicts);
    let mut contexts = Contexts::new(&staged, &lexicon, &conflicts, tight)?;
    let mut lowering = Lowering::new(&mut contexts, check);
    let mut start = lowering.run()?;
    if !lowering.unproven.is_empty() && !check {
        // Lexemes that are checked must be told apart from other bytes.
        let unproven = lowering.unproven;
        lowering = Lowering { unproven, ..Lowering::new(&mut contexts, true) };
        start = lowering.run()?;
    }
    let mut unproven: Vec<TokenId> = lowering.unproven.into_iter().chain(astray).collect();
    unproven.sort_unstable();
    unproven.dedup();
    let unproven: Vec<String> = unproven.into_iter().map(|t| lexicon.name(grammar, t)).collect();
    if !unproven.is_empty() {
        let place = grammar.rule(grammar.start()).span;
        let message = format!(
            "inputs are lexed again, since these tokens may run together with what follows: {}{}",
            unproven[..unproven.len().min(MAX_LISTED)].join(", "),
            match unproven.len().saturating_sub(MAX_LISTED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            }
        );
        warnings.push(Diagnostic::warning(place, message).help(KEEP_APART));
    }
    let Output { rules, builder, token_of, .. } = lowering.out;
    let modes = vec![grammar.modes[0].clone()];
    let lowered = Grammar { rules, arena: builder.finish(), start, modes, mentioned: Vec::new() };
    if prune::prune(&lowered).is_err() && prune::prune(grammar).is_ok() {
        let message = "no input can be read as the tokens it is made of: they always run together";
        let place = grammar.rule(grammar.start()).span;
        warnings.push(Diagnostic::error(place, message).help(KEEP_APART));
    }
    let relex = (check || !unproven.is_empty()).then_some(Relex { lexicon, token_of });
    Ok(Lowered { grammar: lowered, relex, warnings, unproven })
}

/// More tokens than this are summed up in messages.
const MAX_LISTED: usize = 10;

/// Tokens that are asked for but never read.
fn never_read(grammar: &Grammar, lexicon: &Lexicon, conflicts: &Conflicts) -> Vec<Diagnostic> {
    let mut warnings = Vec::new();
    let never: Vec<TokenId> = lexicon.all().filter(|&t| conflicts.states(t).is_empty()).collect();
    for &token in never.iter().take(MAX_LISTED) {
        let name = lexicon.name(grammar, token);
        let span = match lexicon.token(token).origin {
            crate::lexical::lexicon::Origin::Rule(rule) => grammar.rule(rule).span,
            _ => Span::NONE,
        };
        if lexicon.token(token).lost {
            let message =
                format!("token `{name}` is too large for an automaton: it is neither made nor read");
            let help = "tokens that nest, or have several lazy repetitions, are the usual reason";
            warnings.push(Diagnostic::warning(span, message).help(help));
            continue;
        }
        let message = format!("token `{name}` is never read: earlier tokens take all of its texts");
        warnings.push(Diagnostic::warning(span, message).help("move it before them"));
    }
    if never.len() > MAX_LISTED {
        let message = format!("{} more tokens are never read", never.len() - MAX_LISTED);
        warnings.push(Diagnostic::warning(Span::NONE, message));
    }
    warnings
}

/// Copies syntax rules, each in its contexts.
struct Lowering<'a, 'b> {
    contexts: &'b mut Contexts<'a>,
    out: Output<'a>,
    ids: HashMap<Context, RuleId>,
    work: Vec<(RuleId, RuleId, Follow)>,
    unproven: HashSet<TokenId>,
    /// What stands for an occurrence of a token, and behind it.
    written: HashMap<(TokenId, *const Decision), (Symbol, Option<RuleId>)>,
    /// Literals become rules, too, so that a producer can tell them.
    wrap: bool,
}

impl<'a, 'b> Lowering<'a, 'b> {
    fn new(contexts: &'b mut Contexts<'a>, wrap: bool) -> Lowering<'a, 'b> {
        let out = Output::new(&contexts.staged.grammar, contexts.lexicon);
        Lowering {
            contexts,
            out,
            ids: HashMap::new(),
            work: Vec::new(),
            unproven: HashSet::new(),
            written: HashMap::new(),
            wrap,
        }
    }

    fn run(&mut self) -> Result<RuleId, TooLarge> {
        let grammar = &self.contexts.staged.grammar;
        if let Some(token) = self.contexts.lexicon.token_of(grammar, Symbol::Rule(grammar.start())) {
            return self.out.lexeme(token, &self.contexts.conflicts.states(token).into());
        }
        let (context, follow) = self.contexts.start()?;
        let start = self.id(context, follow);
        while let Some((from, to, follow)) = self.work.pop() {
            let body = grammar.rule(from).body;
            self.open(body, follow)?;
            self.out.rules[to.index()].body = self.close(body);
        }
        Ok(start)
    }

    fn id(&mut self, context: Context, follow: Follow) -> RuleId {
        if let Some(&id) = self.ids.get(&context) {
            return id;
        }
        let rule = self.contexts.staged.grammar.rule(context.rule);
        let id = self.out.declare(&rule.name, Rule { kind: Kind::Syntax, ..rule.clone() });
        self.work.push((context.rule, id, follow));
        self.ids.insert(context, id);
        id
    }

    /// Closes a body that [`Lowering::open`] opened.
    fn close(&mut self, body: BodyId) -> BodyId {
        if self.contexts.staged.grammar.alternatives(body).len() == 0 {
            return self.out.builder.close_body_without_last();
        }
        self.out.builder.close_body()
    }

    /// Copies a body that `behind` can follow, its last alternative open.
    fn open(&mut self, body: BodyId, behind: Follow) -> Result<(), TooLarge> {
        let grammar = &self.contexts.staged.grammar;
        self.out.builder.open_body(Span::NONE);
        for (i, alt) in grammar.alternatives(body).enumerate() {
            let alternative = *grammar.alternative(alt);
            if i > 0 {
                self.out.builder.next_alternative(alternative.span);
            }
            self.out.builder.weight(alternative.weight);
            for (id, symbol, follow) in self.contexts.follows(alt, behind)? {
                self.symbol(id, symbol, follow)?;
            }
        }
        Ok(())
    }

    fn symbol(&mut self, id: u32, symbol: Symbol, follow: Follow) -> Result<(), TooLarge> {
        let grammar = &self.contexts.staged.grammar;
        let span = grammar.span(crate::SymbolId(id));
        if let Some(token) = self.contexts.lexicon.token_of(grammar, symbol) {
            return self.token(token, id, follow, span);
        }
        let copied = match symbol {
            Symbol::Rule(rule) => {
                let (context, follow) = self.contexts.of(rule, follow)?;
                Symbol::Rule(self.id(context, follow))
            }
            Symbol::Group(body) => {
                let noted = grammar.notes(crate::SymbolId(id)).next().is_some();
                self.open(body, follow)?;
                if grammar.alternatives(body).len() == 0 {
                    Symbol::Group(self.close(body))
                } else {
                    match self.out.builder.close_group(noted) {
                        Some(body) => Symbol::Group(body),
                        None => return Ok(()),
                    }
                }
            }
            Symbol::Repeat(repeat) => {
                let repeat = *grammar.repeat(repeat);
                self.open(repeat.body, follow)?;
                let body = self.close(repeat.body);
                Symbol::Repeat(self.out.builder.repeat(crate::Repeat { body, greedy: true, ..repeat }))
            }
            // Neither stands in the syntax rules of a grammar with tokens.
            Symbol::Bytes(_) | Symbol::Class(_) => return Ok(()),
        };
        self.out.builder.symbol(copied, span);
        self.notes(id);
        Ok(())
    }

    fn token(&mut self, token: TokenId, id: u32, follow: Follow, span: Span) -> Result<(), TooLarge> {
        let decision = self.contexts.decide(token, self.contexts.staged.after[id as usize], follow)?;
        // Decisions live as long as the contexts, so each has its address.
        let key = (token, Rc::as_ptr(&decision));
        let (lexeme, gap) = match self.written.get(&key) {
            Some(&written) => written,
            None => {
                let written = self.write(token, &decision)?;
                self.written.insert(key, written);
                written
            }
        };
        self.out.builder.symbol(lexeme, span);
        self.notes(id);
        if let Some(gap) = gap {
            self.out.builder.symbol(Symbol::Rule(gap), span);
        }
        Ok(())
    }

    /// The symbols for what was decided. They may open bodies of their own.
    fn write(&mut self, token: TokenId, decision: &Decision) -> Result<(Symbol, Option<RuleId>), TooLarge> {
        if decision.unproven {
            self.unproven.insert(token);
        }
        let gap = self.out.gap(&decision.gap)?;
        let lexeme = match &self.contexts.lexicon.token(token).origin {
            crate::lexical::lexicon::Origin::Literal(bytes) if !self.wrap && !decision.states.is_empty() => {
                Symbol::Bytes(self.out.builder.bytes(bytes))
            }
            _ => Symbol::Rule(self.out.lexeme(token, &decision.states)?),
        };
        Ok((lexeme, gap))
    }

    fn notes(&mut self, id: u32) {
        for note in self.contexts.staged.grammar.notes(crate::SymbolId(id)) {
            self.out.builder.note_last(note.clone());
        }
    }
}

/// Lexical rules too large for automata: kept as rules, with a skipped token
/// behind each declared one, and a word that nothing was proven.
fn beyond(grammar: &Grammar) -> Lowered {
    let skip = grammar.rules().find(|&r| matches!(grammar.rule(r).kind, Kind::Token { skip: true, .. }));
    let mut builder = crate::Builder::resume(grammar.arena.clone());
    let mut rules = grammar.rules.clone();
    for rule in &mut rules {
        let token = matches!(rule.kind, Kind::Token { skip: false, .. });
        rule.made |= rule.kind != Kind::Syntax;
        rule.kind = Kind::Syntax;
        if let (true, Some(skip)) = (token, skip) {
            builder.open_body(rule.span);
            builder.symbol(Symbol::Group(rule.body), rule.span);
            builder.symbol(Symbol::Rule(skip), rule.span);
            rule.body = builder.close_body();
        }
    }
    let unproven = grammar
        .rules()
        .filter(|&r| grammar.rule(r).is_token())
        .map(|r| grammar.name(r).to_string())
        .collect();
    let message = "the lexical rules are too large to be compared: texts may not lex as intended";
    let warning = Diagnostic::warning(grammar.rule(grammar.start()).span, message)
        .help("tokens with counts in the thousands, such as {0,5000}, are the usual reason");
    let grammar = Grammar {
        rules,
        arena: builder.finish(),
        start: grammar.start,
        modes: grammar.modes.clone(),
        mentioned: Vec::new(),
    };
    Lowered { grammar, relex: None, warnings: vec![warning], unproven }
}
