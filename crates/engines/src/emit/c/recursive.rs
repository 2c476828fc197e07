//! A C function for each function of the flattened program.
//!
//! What changes all the time travels in registers: where the next byte goes
//! and the next random bits are passed and returned, the levels left are
//! passed. The bits are made one draw ahead, so that a choice need not wait
//! for them. A function that comes near a limit returns `stop`, a place behind
//! all others, and so do its callers, since they look at the limits behind
//! each call.
//!
//! The native stack holds at most [`FRAMES`] calls. Where every circle of
//! calls uses up levels, depth bounds them, and greater depths go the exact
//! way; else calls are counted, in the upper half of `left`.
//!
//! Tried and slower: to write four rounds of a rule such as
//! `digits = digit digits | digit` at once and keep as many as there were. It
//! spares the branch that cannot be predicted, but the bits for rounds that
//! are thrown away cost more.

use super::{index, line, quoted, remark, texts};
use crate::flat::{Block, Budget, Flat, Function, Op, frames, reach, reach_of};
use wug_produce::Program;

/// Calls on the native stack.
const FRAMES: u32 = 4000;

const HEAD: &str = "
typedef struct {
    unsigned char *out;
    uint32_t next;
} place;

typedef struct {
    uintptr_t end;
    unsigned char *stop;
    uint64_t rng;
    int64_t fuel;
} limits;

#define STOP return (place){ s->stop, next }
#define LOOK(bytes) if (__builtin_expect((uintptr_t)out + (bytes) > s->end, 0)) STOP
#define SPEND(work) if (__builtin_expect((s->fuel -= (work)) < 0, 0)) STOP
#define DRAW(random) random = next, next = bits(s->rng += STEP)
";

const COUNTED: &str = "
typedef uint64_t levels;
#define LEFT ((uint32_t)left)
#define BELOW(down) (left - (1ULL << 32) - (down))
#define CUT(limit) if (LEFT > (limit)) left = (left >> 32 << 32) + (limit)
";

const UNCOUNTED: &str = "
typedef uint32_t levels;
#define LEFT left
#define BELOW(down) (left - (down))
#define CUT(limit) if (left > (limit)) left = (limit)
";

const PARAMETERS: &str = "unsigned char *out, uint32_t next, ANY levels left, ANY limits *s";

/// Writes all functions, and `fast`, which begins an input.
pub(super) fn functions(flat: &Flat, program: &Program, out: &mut String) {
    let chain = frames(flat);
    out.push_str(HEAD);
    out.push_str(if chain.is_some() { UNCOUNTED } else { COUNTED });
    out.push('\n');
    for id in 0..flat.functions.len() {
        line(out, 0, format_args!("MAYBE place f{id}({PARAMETERS});"));
    }
    let budget = Budget::of(flat);
    for (id, function) in flat.functions.iter().enumerate() {
        Writer { flat, program, budget: &budget, counted: chain.is_none(), out }.function(id, function);
    }
    line(out, 0, format_args!("\n{}", super::FAST));
    line(out, 1, format_args!("limits s = {{ (uintptr_t)end, stop, rng + STEP, fuel }};"));
    let left = match chain {
        None => format!("((uint64_t){FRAMES} << 32) + depth"),
        Some(chain) => {
            line(out, 1, format_args!("if (depth > {}) return stop;", u64::from(FRAMES) / (chain + 1)));
            "depth".to_string()
        }
    };
    line(out, 1, format_args!("return f0(out, bits(s.rng), {left}, &s).out;"));
    line(out, 0, format_args!("}}"));
}

/// Writes operations.
pub(super) struct Writer<'a> {
    pub flat: &'a Flat,
    pub program: &'a Program,
    pub budget: &'a Budget,
    pub counted: bool,
    pub out: &'a mut String,
}

impl Writer<'_> {
    pub fn line(&mut self, indent: usize, text: std::fmt::Arguments) {
        line(self.out, indent, text);
    }

    fn function(&mut self, id: usize, function: &Function) {
        let mut body = String::new();
        let Writer { flat, program, budget, counted, .. } = *self;
        Writer { flat, program, budget, counted, out: &mut body }.block(&function.block, 1, true);
        let what = if function.closed { ", closed" } else { "" };
        self.line(0, format_args!("\n/* {}{what} */", remark(&function.name)));
        self.line(0, format_args!("place f{id}({PARAMETERS}) {{"));
        locals(&body, self.out);
        if counted {
            self.line(1, format_args!("if (__builtin_expect(left >> 32 == 0, 0)) STOP;"));
        }
        match budget.call(flat, &function.block) {
            0 => {}
            work => self.line(1, format_args!("SPEND({work});")),
        }
        match reach(flat, &function.block.ops).bytes {
            0 => {}
            bytes => self.line(1, format_args!("LOOK({bytes});")),
        }
        if let Some(limit) = function.limit {
            self.line(1, format_args!("CUT({limit}u);"));
        }
        self.out.push_str(&body);
        self.line(0, format_args!("}}"));
    }

    /// Operations, and if they are the `last` of a function, its return.
    fn block(&mut self, block: &Block, indent: usize, last: bool) {
        for (at, op) in block.ops.iter().enumerate() {
            let rest = &block.ops[at + 1..];
            if last && rest.is_empty() && self.last(op, indent) {
                return;
            }
            self.op(op, indent);
            // Behind the last, the block that this one stands in looks.
            if (last || !rest.is_empty()) && reach_of(self.flat, op).looks {
                self.line(indent, format_args!("LOOK({});", reach(self.flat, rest).bytes));
            }
        }
        if last {
            self.line(indent, format_args!("return (place){{ out, next }};"));
        }
    }

    /// Writes an operation and a return; `false` if it is none that can do
    /// better than an ordinary one.
    fn last(&mut self, op: &Op, indent: usize) -> bool {
        match op {
            Op::Call { function, down } => {
                self.line(indent, format_args!("return f{function}(out, next, BELOW({down}), s);"));
            }
            Op::Guard { above, free, closed } => {
                self.line(indent, format_args!("if (LEFT > {above}u) {{"));
                self.block(free, indent + 1, true);
                self.line(indent, format_args!("}}"));
                self.block(closed, indent, true);
            }
            Op::Choose { draw, arms } => self.choose(*draw, arms, indent, true),
            Op::Bail => self.line(indent, format_args!("STOP;")),
            _ => return false,
        }
        true
    }

    /// One operation that is not the last of a function.
    pub fn op(&mut self, op: &Op, indent: usize) {
        match op {
            Op::Text(text) => match &text[..] {
                [byte] => self.line(indent, format_args!("*out++ = {byte};")),
                _ => {
                    self.line(indent, format_args!("memcpy(out, {}, {});", quoted(text), text.len()));
                    self.line(indent, format_args!("out += {};", text.len()));
                }
            },
            Op::Pick(table) => {
                self.line(indent, format_args!("DRAW(random);"));
                texts::pick(self.flat, *table, indent, self.out);
            }
            Op::Class(class) => {
                let (number, count) = (class.index(), self.program.grammar.class(*class).count());
                self.line(indent, format_args!("DRAW(random);"));
                self.line(indent, format_args!("out = member({number}, even(random, {count}), out);"));
            }
            Op::Choose { draw, arms } => self.choose(*draw, arms, indent, false),
            Op::Guard { above, free, closed } => {
                self.line(indent, format_args!("if (LEFT > {above}u) {{"));
                self.block(free, indent + 1, false);
                self.line(indent, format_args!("}} else {{"));
                self.block(closed, indent + 1, false);
                self.line(indent, format_args!("}}"));
            }
            Op::Repeat { min, choices, block } => {
                self.repeat(*min, *choices, block, reach_of(self.flat, op).looks, indent);
            }
            Op::Call { function, down } => {
                self.line(indent, format_args!("p = f{function}(out, next, BELOW({down}), s);"));
                self.line(indent, format_args!("out = p.out;"));
                self.line(indent, format_args!("next = p.next;"));
            }
            Op::Bail => self.line(indent, format_args!("STOP;")),
        }
    }

    fn choose(&mut self, draw: usize, arms: &[Block], indent: usize, last: bool) {
        self.line(indent, format_args!("DRAW(random);"));
        self.line(indent, format_args!("switch ({}) {{", index(&self.flat.draws[draw], draw)));
        for (at, arm) in arms.iter().enumerate() {
            self.line(indent, format_args!("case {at}:"));
            self.block(arm, indent + 1, last);
            if !last {
                self.line(indent + 1, format_args!("break;"));
            }
        }
        self.line(indent, format_args!("default: __builtin_unreachable();"));
        self.line(indent, format_args!("}}"));
    }

    fn repeat(&mut self, min: u32, choices: u32, block: &Block, looks: bool, indent: usize) {
        self.line(indent, format_args!("{{"));
        let inner = indent + 1;
        self.rounds(min, choices, block, inner);
        self.line(inner, format_args!("for (; rounds; rounds--) {{"));
        if looks {
            // Also behind a call in the round before.
            self.line(inner + 1, format_args!("LOOK({});", reach(self.flat, &block.ops).bytes));
        }
        self.block(block, inner + 1, false);
        self.line(inner, format_args!("}}"));
        self.line(indent, format_args!("}}"));
    }

    /// Draws how often a repetition comes.
    pub fn rounds(&mut self, min: u32, choices: u32, block: &Block, indent: usize) {
        self.line(indent, format_args!("uint64_t rounds = {min};"));
        if choices > 1 {
            self.line(indent, format_args!("DRAW(random);"));
            self.line(indent, format_args!("rounds += more(random, {choices});"));
            if u64::from(min) + u64::from(choices) > u64::from(u32::MAX) {
                self.line(indent, format_args!("if (rounds > UINT32_MAX) rounds = UINT32_MAX;"));
            }
        }
        match self.budget.round(self.flat, block) {
            0 => {}
            work => self.line(indent, format_args!("SPEND((int64_t)rounds * {work});")),
        }
    }
}

/// Declares what the body of a function uses.
pub(super) fn locals(body: &str, out: &mut String) {
    let locals = [
        ("p = ", "place p;"),
        ("row = ", "const unsigned char *row;"),
        ("random", "uint32_t random;"),
        ("at = ", "uint32_t at, length;"),
    ];
    for (_, local) in locals.iter().filter(|(word, _)| body.contains(word)) {
        line(out, 1, format_args!("{local}"));
    }
}
