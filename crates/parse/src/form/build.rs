//! From a grammar to its [`Form`], nonterminal by nonterminal.

use super::{Form, Key, MAX_CHAIN, Op, Production, Sym, UNBOUNDED, Unfit};
use crate::facts::{Derives, Facts};
use crate::terminals::{Terminals, sequences};
use hashbrown::{HashMap, HashSet};
use wug_grammar::{AltId, BodyId, ClassId, Grammar, Repeat, RepeatId, RuleId, Symbol, SymbolId};

pub(super) fn build(grammar: &Grammar, terminals: &Terminals, starts: &[RuleId]) -> Result<Form, Unfit> {
    let form = Form {
        productions: Vec::new(),
        symbols: Vec::new(),
        origins: Vec::new(),
        ops: Vec::new(),
        keys: Vec::new(),
        first: Vec::new(),
        sets: Vec::new(),
        facts: Facts::of(grammar),
        cyclic: Vec::new(),
        written: Vec::new(),
    };
    let mut build =
        Build { grammar, terminals, form, ids: HashMap::new(), set_ids: HashMap::new(), chained: 0 };
    build.nonterminal(Key::Top);
    build.nonterminal(Key::Start);
    let mut at = 0;
    while at < build.form.keys.len() {
        build.form.first.push(build.form.productions.len() as u32);
        build.productions(at as u32, starts)?;
        at += 1;
    }
    let mut form = build.form;
    form.first.push(form.productions.len() as u32);
    form.cyclic = cyclic(&form);
    let rules = grammar.rules().map(|rule| grammar.rule(rule)).filter(|rule| !rule.made);
    let bodies: HashSet<BodyId> = rules.map(|rule| rule.body).collect();
    let written = |key: &Key| matches!(key, Key::Body(body) if bodies.contains(body));
    form.written = form.keys.iter().map(written).collect();
    Ok(form)
}

struct Build<'g> {
    grammar: &'g Grammar,
    terminals: &'g Terminals,
    form: Form,
    ids: HashMap<Key, u32>,
    set_ids: HashMap<Vec<u32>, u32>,
    chained: usize,
}

/// A stretch of an alternative on its way to productions.
enum Piece {
    Terminals(Vec<(Sym, Option<SymbolId>)>, Op),
    Empty(Op),
    /// A nonterminal; what is written when it is left out, if it may be.
    Non(u32, Op, Option<Vec<Op>>),
}

impl Build<'_> {
    fn nonterminal(&mut self, key: Key) -> u32 {
        let fresh = self.form.keys.len() as u32;
        let id = *self.ids.entry(key).or_insert(fresh);
        if id == fresh {
            self.form.keys.push(key);
        }
        id
    }

    fn set(&mut self, letters: Vec<u32>) -> Sym {
        let fresh = self.form.sets.len() as u32;
        let sets = &mut self.form.sets;
        Sym::set(*self.set_ids.entry(letters).or_insert_with_key(|letters| {
            sets.push(letters.clone());
            fresh
        }))
    }

    fn byte_set(&mut self, ranges: &[(u8, u8)]) -> Sym {
        let Terminals::Bytes(alphabet) = self.terminals else { return self.set(Vec::new()) };
        let mut letters: Vec<u32> = ranges
            .iter()
            .flat_map(|&(low, high)| alphabet.letter(low) as u32..=alphabet.letter(high) as u32)
            .collect();
        letters.sort_unstable();
        letters.dedup();
        self.set(letters)
    }

    fn push(&mut self, lhs: u32, symbols: &[(Sym, Option<SymbolId>)], ops: &[Op], weight: u32) {
        let form = &mut self.form;
        let (first, from) = (form.symbols.len() as u32, form.ops.len() as u32);
        form.symbols.extend(symbols.iter().map(|s| s.0));
        form.origins.extend(symbols.iter().map(|s| s.1));
        form.symbols.push(Sym::end(form.productions.len() as u32));
        form.origins.push(None);
        form.ops.extend_from_slice(ops);
        let ops = (from, form.ops.len() as u32);
        form.productions.push(Production { lhs, first, len: symbols.len() as u32, ops, weight });
    }

    fn productions(&mut self, lhs: u32, starts: &[RuleId]) -> Result<(), Unfit> {
        match self.form.keys[lhs as usize] {
            Key::Top => {
                let start = Sym::non(self.nonterminal(Key::Start));
                self.push(lhs, &[(start, None)], &[Op::Kid], 1);
            }
            Key::Start => starts.iter().for_each(|&rule| self.start(lhs, rule)),
            Key::Body(body) => {
                for alt in self.grammar.alternatives(body) {
                    self.alternative(lhs, alt, 0, Some(Op::Alternative(alt)));
                }
            }
            Key::Rest(alt, from) => self.alternative(lhs, alt, from as usize, None),
            Key::List(repeat) => self.list(lhs, repeat)?,
            Key::Chain(repeat, count) => {
                let item = self.item(repeat);
                match count {
                    1 => self.push(lhs, &[item], &[Op::Item], 1),
                    _ => {
                        let less = Sym::non(self.nonterminal(Key::Chain(repeat, count - 1)));
                        self.push(lhs, &[(less, None), item], &[Op::Kid, Op::Item], 1);
                    }
                }
            }
            Key::More(repeat, least) => self.more(lhs, repeat, least),
            Key::Char(class) => self.char(lhs, class),
        }
        Ok(())
    }

    fn start(&mut self, lhs: u32, rule: RuleId) {
        if let Terminals::Tokens(lexicon) = self.terminals
            && let Some(token) = lexicon.token_of(self.grammar, Symbol::Rule(rule))
        {
            let set = self.set(vec![token.0]);
            return self.push(lhs, &[(set, None)], &[Op::Token], 1);
        }
        if self.form.facts.derives(self.grammar, Symbol::Rule(rule)).full {
            let body = Sym::non(self.nonterminal(Key::Body(self.grammar.rule(rule).body)));
            self.push(lhs, &[(body, None)], &[Op::Kid], 1);
        }
    }

    /// The productions of an alternative from a symbol on.
    fn alternative(&mut self, lhs: u32, alt: AltId, from: usize, head: Option<Op>) {
        let grammar = self.grammar;
        let first = grammar.alternative(alt).first;
        let symbols = grammar.symbols(alt);
        let derives = |build: &Self, at: usize| build.form.facts.derives(grammar, symbols[at]);
        let id = |at: usize| SymbolId(first + at as u32);
        if from == 0 && (0..symbols.len()).map(|at| derives(self, at)).any(|d| !d.empty && !d.full) {
            return;
        }
        let mut pieces = Vec::new();
        let mut met = 0;
        for at in from..symbols.len() {
            let Derives { empty, full } = derives(self, at);
            if !full {
                pieces.push(Piece::Empty(Op::Empty(id(at))));
                continue;
            }
            let to_come = |&i: &usize| !self.is_terminal(symbols[i]) && derives(self, i).full;
            if met == 1 && (at..symbols.len()).filter(to_come).take(2).count() > 1 {
                // One was met and more than one is to come.
                let empty = (at..symbols.len()).all(|i| derives(self, i).empty);
                let ops = empty.then(|| (at..symbols.len()).map(|i| Op::Empty(id(i))).collect());
                let rest = self.nonterminal(Key::Rest(alt, at as u32));
                pieces.push(Piece::Non(rest, Op::Kid, ops));
                break;
            }
            let piece = self.piece(id(at), symbols[at], empty);
            met += usize::from(matches!(piece, Piece::Non(..)));
            pieces.push(piece);
        }
        self.variants(lhs, &pieces, head, self.grammar.alternative(alt).weight);
    }

    /// One production for each choice of parts that are left out; with all
    /// parts first.
    fn variants(&mut self, lhs: u32, pieces: &[Piece], head: Option<Op>, weight: u32) {
        let optional: Vec<usize> =
            (0..pieces.len()).filter(|&i| matches!(pieces[i], Piece::Non(.., Some(_)))).collect();
        for mask in 0..1usize << optional.len() {
            let left_out = |at: usize| {
                // The first part is the last to be left out.
                optional.iter().rev().position(|&o| o == at).is_some_and(|bit| mask >> bit & 1 == 1)
            };
            let (mut symbols, mut ops): (Vec<_>, Vec<Op>) = (Vec::new(), head.into_iter().collect());
            for (at, piece) in pieces.iter().enumerate() {
                match piece {
                    Piece::Terminals(set, op) => {
                        symbols.extend_from_slice(set);
                        ops.push(*op);
                    }
                    Piece::Empty(op) => ops.push(*op),
                    Piece::Non(_, _, Some(empty)) if left_out(at) => ops.extend_from_slice(empty),
                    Piece::Non(id, op, _) => {
                        symbols.push((Sym::non(*id), None));
                        ops.push(*op);
                    }
                }
            }
            if !symbols.is_empty() {
                self.push(lhs, &symbols, &ops, weight);
            }
        }
    }

    fn is_terminal(&self, symbol: Symbol) -> bool {
        match symbol {
            Symbol::Bytes(_) => true,
            Symbol::Class(class) => self.grammar.class(class).max_len() == 1,
            Symbol::Rule(rule) => self.grammar.rule(rule).is_token(),
            Symbol::Group(_) | Symbol::Repeat(_) => false,
        }
    }

    fn piece(&mut self, id: SymbolId, symbol: Symbol, empty: bool) -> Piece {
        let left_out = empty.then(|| vec![Op::Empty(id)]);
        match (self.terminals, symbol) {
            (Terminals::Tokens(lexicon), symbol) if self.is_terminal(symbol) => {
                // Every literal and every token is in the lexicon.
                let token = lexicon.token_of(self.grammar, symbol).map(|t| t.0);
                let set = self.set(token.into_iter().collect());
                Piece::Terminals(vec![(set, Some(id))], Op::Token)
            }
            (_, Symbol::Bytes(bytes)) => {
                let bytes = self.grammar.bytes(bytes);
                let sets = bytes.iter().map(|&b| (self.byte_set(&[(b, b)]), Some(id))).collect();
                Piece::Terminals(sets, Op::Literal(bytes.len() as u32))
            }
            (_, Symbol::Class(class)) if self.is_terminal(symbol) => {
                let ranges: Vec<(u8, u8)> = sequences(self.grammar.class(class)).flatten().collect();
                Piece::Terminals(vec![(self.byte_set(&ranges), Some(id))], Op::Member)
            }
            (_, Symbol::Class(class)) => Piece::Non(self.nonterminal(Key::Char(class)), Op::Kid, None),
            (_, Symbol::Rule(rule)) => {
                let body = self.grammar.rule(rule).body;
                Piece::Non(self.nonterminal(Key::Body(body)), Op::Kid, left_out)
            }
            (_, Symbol::Group(body)) => Piece::Non(self.nonterminal(Key::Body(body)), Op::Kid, left_out),
            (_, Symbol::Repeat(repeat)) => {
                Piece::Non(self.nonterminal(Key::List(repeat)), Op::List, left_out)
            }
        }
    }

    fn item(&mut self, repeat: RepeatId) -> (Sym, Option<SymbolId>) {
        let body = self.grammar.repeat(repeat).body;
        (Sym::non(self.nonterminal(Key::Body(body))), None)
    }

    fn list(&mut self, lhs: u32, repeat: RepeatId) -> Result<(), Unfit> {
        let item = self.item(repeat);
        let Repeat { body, min, max, .. } = *self.grammar.repeat(repeat);
        let max = max.filter(|&max| max < UNBOUNDED);
        if min >= UNBOUNDED && self.form.facts.empty(body).is_none() {
            // Longer than any input.
            return Ok(());
        }
        // Rounds that may be empty stand behind the others.
        let few = if self.form.facts.empty(body).is_some() { 1 } else { min.max(1) };
        let most = max.unwrap_or(min.max(1));
        if most > 1 {
            self.chained += most as usize;
            if self.chained > MAX_CHAIN {
                return Err(Unfit::Repeat);
            }
        }
        let padded = max.is_none() && few < most;
        for count in few..=most - u32::from(padded) {
            let pad = min.saturating_sub(count);
            let pad = (pad > 0).then_some(Op::Pad(body, pad));
            if count == 1 {
                let ops: Vec<Op> = [Op::Item].into_iter().chain(pad).collect();
                self.push(lhs, &[item], &ops, 1);
            } else {
                let chain = Sym::non(self.nonterminal(Key::Chain(repeat, count)));
                let ops: Vec<Op> = [Op::Kid].into_iter().chain(pad).collect();
                self.push(lhs, &[(chain, None)], &ops, 1);
            }
        }
        if padded {
            // A list that empty rounds fill up goes on no more.
            let more = Sym::non(self.nonterminal(Key::More(repeat, most)));
            self.push(lhs, &[(more, None)], &[Op::Kid], 1);
        } else if max.is_none() {
            self.push(lhs, &[(Sym::non(lhs), None), item], &[Op::Kid, Op::Item], 1);
        }
        Ok(())
    }

    /// A list of so many rounds or more.
    fn more(&mut self, lhs: u32, repeat: RepeatId, least: u32) {
        let item = self.item(repeat);
        let chain = Sym::non(self.nonterminal(Key::Chain(repeat, least)));
        self.push(lhs, &[(chain, None)], &[Op::Kid], 1);
        self.push(lhs, &[(Sym::non(lhs), None), item], &[Op::Kid, Op::Item], 1);
    }

    fn char(&mut self, lhs: u32, class: ClassId) {
        let rows: Vec<Vec<(u8, u8)>> = sequences(self.grammar.class(class)).collect();
        let single: Vec<(u8, u8)> = rows.iter().filter(|row| row.len() == 1).map(|row| row[0]).collect();
        if !single.is_empty() {
            let set = self.byte_set(&single);
            self.push(lhs, &[(set, None)], &[Op::Char(1)], 1);
        }
        for row in rows.iter().filter(|row| row.len() > 1) {
            let sets: Vec<_> = row.iter().map(|&range| (self.byte_set(&[range]), None)).collect();
            self.push(lhs, &sets, &[Op::Char(row.len() as u32)], 1);
        }
    }
}

/// Nonterminals on a circle of productions of one nonterminal each, or
/// between two such circles.
fn cyclic(form: &Form) -> Vec<bool> {
    let count = form.nonterminals();
    let units: Vec<(u32, u32)> = (0..form.productions.len() as u32)
        .filter_map(|p| match form.symbols_of(p) {
            [one] => Some((form.production(p).lhs, one.nonterminal()?)),
            _ => None,
        })
        .collect();
    let mut cyclic = vec![true; count];
    // Takes away what nothing leads to, then what leads nowhere.
    for forward in [true, false] {
        let end = |unit: &(u32, u32)| if forward { *unit } else { (unit.1, unit.0) };
        let mut degree = vec![0u32; count];
        let mut out: Vec<Vec<u32>> = vec![Vec::new(); count];
        for (from, to) in units.iter().map(end).filter(|&(f, t)| cyclic[f as usize] && cyclic[t as usize]) {
            degree[to as usize] += 1;
            out[from as usize].push(to);
        }
        let mut work: Vec<u32> =
            (0..count as u32).filter(|&n| cyclic[n as usize] && degree[n as usize] == 0).collect();
        while let Some(from) = work.pop() {
            cyclic[from as usize] = false;
            for &to in &out[from as usize] {
                degree[to as usize] -= 1;
                if degree[to as usize] == 0 && cyclic[to as usize] {
                    work.push(to);
                }
            }
        }
    }
    cyclic
}
