//! From grammar to functions.
//!
//! A function is made for each body that is called, once free and once
//! closed. The rest is put in place, within these bounds.

use super::draw::FEW;
use super::{Block, Draw, Flat, Function, FunctionId, Op, Table};
use std::collections::HashMap;
use wug_grammar::{AltId, BodyId, ClassId, Grammar, RepeatId, RuleId, Symbol, count};
use wug_produce::Program;
use wug_produce::pool::{self, POOL};

/// Rules with more symbols than this are called, unless from one place only.
const SMALL: u32 = 5;
/// A function that has this many operations gets no more rules put in place.
const FULL: usize = 40;
/// Blocks nest no deeper.
const NESTING: usize = 32;
/// Operations for each symbol of the grammar, beyond which all is called.
const GROWTH: usize = 2;
/// A repetition of one text is written out up to this many bytes.
const WRITTEN_OUT: usize = 64;
/// Bytes of the completions of one rule, and of all.
const POOL_BYTES: usize = 1 << 16;
const ALL_POOL_BYTES: usize = 4 << 20;
/// Steps that all completions may take, for each symbol of the grammar and at
/// least: those of a long chain of rules would take its length for each rule.
const POOL_STEPS: (u64, u64) = (16, 1 << 20);
/// Completions of at most this many bytes are repeated wherever they stand.
const SHORT_TEXT: usize = 64;

pub(super) fn build(program: &Program) -> Flat {
    let grammar = &program.grammar;
    let mut uses = vec![0u32; grammar.rules().len()];
    let mut symbols = 0;
    for alt in (0..grammar.alternative_count() as u32).map(AltId) {
        symbols += grammar.symbols(alt).len() + 1;
        for symbol in grammar.symbols(alt) {
            if let Symbol::Rule(rule) = *symbol {
                uses[rule.index()] += 1;
            }
        }
    }
    let mut builder = Builder {
        program,
        flat: Flat { functions: Vec::new(), draws: Vec::new(), tables: Vec::new() },
        sizes: grammar.rules().map(|rule| size(grammar, grammar.rule(rule).body)).collect(),
        uses,
        rules: grammar.rules().map(|rule| (grammar.rule(rule).body, rule)).collect(),
        ids: HashMap::new(),
        pending: Vec::new(),
        draws: HashMap::new(),
        tables: HashMap::new(),
        pools: HashMap::new(),
        links: HashMap::new(),
        pool_bytes: 0,
        pool_steps: POOL_STEPS.0 * symbols as u64 + POOL_STEPS.1,
        entered: Vec::new(),
        nesting: 0,
        ops: 0,
        ops_left: GROWTH * symbols + 4096,
    };
    builder.run();
    builder.flat
}

/// Alternatives and symbols of a body, those in groups included.
fn size(grammar: &Grammar, body: BodyId) -> u32 {
    let mut size = 0u32;
    grammar.bodies_within(body, &mut |body| {
        size += grammar.alternatives(body).map(|alt| 1 + grammar.symbols(alt).len() as u32).sum::<u32>();
    });
    size
}

struct Builder<'p> {
    program: &'p Program,
    flat: Flat,
    sizes: Vec<u32>,
    /// From how many places a rule is called.
    uses: Vec<u32>,
    rules: HashMap<BodyId, RuleId>,
    ids: HashMap<(BodyId, bool), FunctionId>,
    /// Functions that are called and still to be made.
    pending: Vec<(FunctionId, BodyId, bool)>,
    draws: HashMap<Draw, usize>,
    tables: HashMap<Table, usize>,
    pools: HashMap<BodyId, Op>,
    /// Where links lead, as far as they were followed.
    links: HashMap<BodyId, BodyId>,
    pool_bytes: usize,
    /// Steps that are left for them.
    pool_steps: u64,
    /// Bodies of rules that the current place is in.
    entered: Vec<BodyId>,
    nesting: usize,
    /// Operations of the current function.
    ops: usize,
    ops_left: usize,
}

/// Where code is put.
#[derive(Clone, Copy)]
struct Place {
    closed: bool,
    /// Levels used up since the function was called.
    down: u32,
}

const CLOSED: Place = Place { closed: true, down: 0 };

impl Builder<'_> {
    fn run(&mut self) {
        let start = self.program.grammar.start();
        let entry = Function { name: String::new(), block: Block::default(), limit: None, closed: false };
        self.flat.functions.push(entry);
        let free = match self.program.grammar.rule(start).depth_limit {
            Some(0) => self.closed_rule(start),
            _ => self.called(self.program.grammar.rule(start).body, Place { closed: false, down: 0 }),
        };
        let closed = self.closed_rule(start);
        self.flat.functions[0].block.ops.push(Op::Guard { above: 0, free, closed });
        while let Some((id, body, closed)) = self.pending.pop() {
            self.ops = 0;
            self.entered.push(body);
            let mut block = Block::default();
            self.choice(body, Place { closed, down: 0 }, &mut block);
            self.entered.clear();
            self.flat.functions[id].block = block;
        }
    }

    /// A call of the function of a body.
    fn called(&mut self, body: BodyId, place: Place) -> Block {
        let id = *self.ids.entry((body, place.closed)).or_insert_with(|| {
            let grammar = &self.program.grammar;
            let rule = self.rules.get(&body).copied();
            self.flat.functions.push(Function {
                name: rule.map_or(String::new(), |rule| grammar.name(rule).to_string()),
                block: Block::default(),
                limit: rule.and_then(|rule| grammar.rule(rule).depth_limit).filter(|_| !place.closed),
                closed: place.closed,
            });
            let id = self.flat.functions.len() - 1;
            self.pending.push((id, body, place.closed));
            id
        });
        Block { ops: vec![Op::Call { function: id, down: place.down }], steps: 0 }
    }

    fn symbol(&mut self, symbol: Symbol, place: Place, block: &mut Block) {
        let grammar = &self.program.grammar;
        match symbol {
            Symbol::Bytes(bytes) => block.text(grammar.bytes(bytes)),
            Symbol::Class(class) => self.class(class, block),
            Symbol::Group(body) if self.nesting > NESTING => {
                let call = self.called(body, place);
                block.append(call);
            }
            Symbol::Group(body) => self.choice(body, place, block),
            Symbol::Rule(rule) if place.closed => {
                if !self.program.closing.only_empty(grammar.rule(rule).body) {
                    let closed = self.closed_rule(rule);
                    block.append(closed);
                }
            }
            Symbol::Rule(rule) => self.free_rule(rule, place, block),
            Symbol::Repeat(repeat) => self.repeat(repeat, place, block),
        }
    }

    fn class(&mut self, id: ClassId, block: &mut Block) {
        let class = self.program.grammar.class(id);
        let text = |index| {
            let mut text = Vec::new();
            class.emit(index, &mut text);
            text
        };
        match class.count() {
            0 => block.push(Op::Bail),
            1 => block.text(&text(0)),
            count if count <= FEW => {
                let pick = self.pick(Draw::even(count), (0..count).map(text).collect());
                block.push(pick);
            }
            _ => block.push(Op::Class(id)),
        }
        self.ops += 1;
    }

    fn free_rule(&mut self, id: RuleId, place: Place, block: &mut Block) {
        let rule = self.program.grammar.rule(id);
        if self.program.only_empty(rule.body) {
            return;
        }
        let down = place.down + u32::from(rule.costs_depth());
        if rule.depth_limit == Some(0) {
            let closed = self.closed_rule(id);
            return block.append(closed);
        }
        let free = self.in_place(id, Place { closed: false, down });
        if down == place.down {
            return block.append(free);
        }
        let closed = self.closed_rule(id);
        if free.ops == closed.ops {
            // Depth makes no difference.
            return block.append(if free.steps > closed.steps { free } else { closed });
        }
        block.push(Op::Guard { above: down, free, closed });
        self.ops += 1;
    }

    /// A rule that is called when no level is left.
    fn closed_rule(&mut self, id: RuleId) -> Block {
        let body = self.program.grammar.rule(id).body;
        let mut block = Block { ops: Vec::new(), steps: 1 };
        if self.program.closing.only_empty(body) {
            return block;
        }
        if self.program.closing.completions(body) > POOL {
            block.append(self.in_place(id, CLOSED));
        } else {
            let op = self.pool(body);
            block.push(op);
        }
        self.ops += 1;
        block
    }

    /// The body that has the same completions as `body` and is not only a
    /// link to another: in a long chain of rules they are made once.
    fn unlinked(&mut self, body: BodyId) -> BodyId {
        let (mut at, mut passed) = (body, Vec::new());
        while let Some(next) = self.links.get(&at).copied().or_else(|| self.link(at)) {
            passed.push(at);
            at = next;
        }
        self.links.extend(passed.into_iter().map(|body| (body, at)));
        at
    }

    /// The one body that all completions of a body are completions of.
    fn link(&self, body: BodyId) -> Option<BodyId> {
        let [one] = self.program.closed.alternatives(body) else { return None };
        let grammar = &self.program.grammar;
        let mut link = None;
        for symbol in grammar.symbols(*one) {
            let (called, times) = match *symbol {
                Symbol::Bytes(_) | Symbol::Class(_) => return None,
                Symbol::Rule(rule) => (grammar.rule(rule).body, 1),
                Symbol::Group(body) => (body, 1),
                Symbol::Repeat(repeat) => (grammar.repeat(repeat).body, grammar.repeat(repeat).min),
            };
            let closing = &self.program.closing;
            let nothing = times == 0 || closing.only_empty(called) && closing.completions(called) == 1;
            if !nothing && (times > 1 || link.replace(called).is_some()) {
                return None;
            }
        }
        link
    }

    /// The completions of a body, few as they are.
    fn pool(&mut self, body: BodyId) -> Op {
        let body = self.unlinked(body);
        match self.pools.get(&body) {
            // Its bytes would stand in the program once more.
            Some(Op::Text(text)) if text.len() > SHORT_TEXT => {
                self.pool_bytes += text.len();
                return if self.pool_bytes > ALL_POOL_BYTES { Op::Bail } else { Op::Text(text.clone()) };
            }
            Some(op) => return op.clone(),
            None => {}
        }
        let mut room = POOL_BYTES.min(ALL_POOL_BYTES - self.pool_bytes.min(ALL_POOL_BYTES));
        let mut texts = Vec::new();
        let op = loop {
            if texts.len() as u64 == self.program.closing.completions(body) {
                break match &texts[..] {
                    [_] => Op::Text(std::mem::take(&mut texts[0])),
                    _ => {
                        let thresholds = pool::thresholds(self.program, body);
                        self.pick(Draw::by(thresholds.iter().copied()), texts)
                    }
                };
            }
            match pool::completion(self.program, body, texts.len() as u64, room, &mut self.pool_steps) {
                Some(text) => {
                    room -= text.len();
                    self.pool_bytes += text.len();
                    texts.push(text);
                }
                None => break Op::Bail,
            }
        };
        self.pools.insert(body, op.clone());
        op
    }

    /// A rule's body here, or a call of it.
    fn in_place(&mut self, id: RuleId, place: Place) -> Block {
        let rule = self.program.grammar.rule(id);
        let (body, cut) = (rule.body, rule.depth_limit.is_some() && !place.closed);
        let small = self.sizes[id.index()] <= SMALL || self.uses[id.index()] == 1;
        let room = self.nesting < NESTING && self.ops < FULL && self.ops_left > 0;
        let here = small && room && !self.entered.contains(&body);
        if cut || !(here || self.plain(body, place.closed)) {
            return self.called(body, place);
        }
        let mut block = Block::default();
        self.entered.push(body);
        self.choice(body, place, &mut block);
        self.entered.pop();
        block
    }

    /// Whether a body derives nothing but the empty text, and draws nothing.
    fn empty(&self, body: BodyId, place: Place) -> bool {
        self.program.only_empty(body) || (place.closed && self.program.closing.only_empty(body))
    }

    /// Whether all alternatives that a body offers are single texts.
    fn plain(&self, body: BodyId, closed: bool) -> bool {
        let text = |symbol: &Symbol| matches!(symbol, Symbol::Bytes(_));
        let offers = if closed { &self.program.closed } else { &self.program.free };
        offers.alternatives(body).iter().all(|&alt| self.program.grammar.symbols(alt).iter().all(text))
    }

    /// Chooses an alternative of a body.
    fn choice(&mut self, body: BodyId, place: Place, block: &mut Block) {
        let program = self.program;
        if self.empty(body, place) {
            return;
        }
        self.nesting += 1;
        let offers = if place.closed { &program.closed } else { &program.free };
        block.steps = block.steps.saturating_add(1);
        match offers.alternatives(body) {
            [] => block.push(Op::Bail),
            [one] => self.alternative(*one, place, block),
            several => {
                let mut arms = Vec::with_capacity(several.len());
                for &alt in several {
                    let mut arm = Block::default();
                    self.alternative(alt, place, &mut arm);
                    arms.push(arm);
                }
                let draw = Draw::weighted(offers, body);
                // What no bits mean is not drawn.
                arms.truncate(draw.count as usize);
                let texts: Option<Vec<Vec<u8>>> =
                    arms.iter().map(|a| a.plain().map(<[u8]>::to_vec)).collect();
                let steps = arms.iter().map(|arm| arm.steps).max().unwrap_or(0);
                match texts {
                    Some(texts) => {
                        block.steps = block.steps.saturating_add(steps);
                        let pick = self.pick(draw, texts);
                        block.push(pick);
                    }
                    None => {
                        let draw = self.draw(draw);
                        block.push(Op::Choose { draw, arms });
                    }
                }
                self.ops += 1;
                self.ops_left = self.ops_left.saturating_sub(several.len());
            }
        }
        self.nesting -= 1;
    }

    fn alternative(&mut self, alt: AltId, place: Place, block: &mut Block) {
        for &symbol in self.program.grammar.symbols(alt) {
            self.symbol(symbol, place, block);
            self.ops_left = self.ops_left.saturating_sub(1);
        }
    }

    fn repeat(&mut self, id: RepeatId, place: Place, block: &mut Block) {
        let repeat = *self.program.grammar.repeat(id);
        let choices = if place.closed { 1 } else { count::choices(repeat.min, repeat.max) };
        if choices == 1 && repeat.min == 0 {
            return;
        }
        if self.empty(repeat.body, place) {
            return;
        }
        let mut round = Block::default();
        if self.nesting > NESTING {
            round = self.called(repeat.body, place);
        } else {
            self.choice(repeat.body, place, &mut round);
        }
        match round.plain() {
            Some(text) if choices == 1 && text.len() * repeat.min as usize <= WRITTEN_OUT => {
                block.text(&text.repeat(repeat.min as usize));
                block.steps = block.steps.saturating_add(round.steps.saturating_mul(repeat.min));
            }
            _ => block.push(Op::Repeat { min: repeat.min, choices, block: round }),
        }
        self.ops += 1;
    }

    fn draw(&mut self, draw: Draw) -> usize {
        let next = self.flat.draws.len();
        let id = *self.draws.entry(draw.clone()).or_insert(next);
        if id == next {
            self.flat.draws.push(draw);
        }
        id
    }

    fn pick(&mut self, draw: Draw, mut texts: Vec<Vec<u8>>) -> Op {
        texts.truncate(draw.count as usize);
        let draw = self.draw(draw);
        let next = self.flat.tables.len();
        let id = *self.tables.entry(Table { draw, texts: texts.clone() }).or_insert(next);
        if id == next {
            self.flat.tables.push(Table { draw, texts });
        }
        Op::Pick(id)
    }
}
