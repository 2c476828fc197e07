//! A stack of things to do, each a function with its arguments; nothing calls
//! anything but the loop that takes the topmost from the stack. (Section 6.5
//! of "Developing Grammar Fuzzers"; there the stack has no bound.)
//!
//! A call inside of a function leaves the rest of the function on the stack,
//! below what is called. The stack is part of one native frame and holds
//! [`ITEMS`]; inputs that need more go the exact way.

use super::recursive::{Writer, locals};
use super::{index, line, remark};
use crate::flat::{Block, Budget, Flat, Op, reach, reach_of};
use wug_produce::Program;

/// Things to do at most, 16 bytes each.
const ITEMS: u32 = 4000;

const HEAD: &str = "
typedef struct state state;

typedef struct {
    void (*go)(state *s, uint32_t left, uint32_t times);
    uint32_t left, times;
} item;

struct state {
    unsigned char *out, *stop;
    uintptr_t end;
    uint64_t rng;
    int64_t fuel;
    size_t count;
    item items[ITEMS];
};

#define STOP { s->out = s->stop; s->count = 0; return; }
#define LOOK(bytes) if (__builtin_expect((uintptr_t)out + (bytes) > s->end, 0)) STOP
#define SPEND(work) if (__builtin_expect((s->fuel -= (work)) < 0, 0)) STOP
#define DRAW(random) random = bits(s->rng += STEP)
#define LEFT left
#define PUSH(go, left, times) \\
    if (__builtin_expect(s->count == ITEMS, 0)) STOP \\
    s->items[s->count++] = (item){ go, left, times }
#define DONE s->out = out; return

";

/// Writes all functions, and `fast`, which begins an input.
pub(super) fn functions(flat: &Flat, program: &Program, out: &mut String) {
    line(out, 0, format_args!("#define ITEMS {ITEMS}"));
    out.push_str(HEAD);
    let budget = Budget::of(flat);
    let mut items = Items { flat, program, budget: &budget, rests: Vec::new() };
    let (mut names, mut code) = (Vec::new(), String::new());
    for (id, function) in flat.functions.iter().enumerate() {
        let what = if function.closed { ", closed" } else { "" };
        line(&mut code, 0, format_args!("\n/* {}{what} */", remark(&function.name)));
        let cut = function.limit.map(|limit| format!("if (left > {limit}u) left = {limit}u;"));
        let spend = budget.call(flat, &function.block);
        let first = cut.into_iter().chain((spend > 0).then(|| format!("SPEND({spend});"))).collect();
        items.function(&format!("f{id}"), first, &function.block.ops, &mut code);
        names.push(format!("f{id}"));
    }
    let mut at = 0;
    while at < items.rests.len() {
        let name = format!("r{at}");
        let (ops, again) = std::mem::take(&mut items.rests[at]);
        let again = again.then(|| format!("if (times > 1) {{ PUSH({name}, left, times - 1); }}"));
        code.push('\n');
        items.function(&name, again.into_iter().collect(), &ops, &mut code);
        names.push(name);
        at += 1;
    }
    for name in names {
        line(out, 0, format_args!("MAYBE void {name}(state *s, uint32_t left, uint32_t times);"));
    }
    out.push_str(&code);
    line(out, 0, format_args!("\n{}", super::FAST));
    let body = "    state s;
    s.out = out;
    s.stop = stop;
    s.end = (uintptr_t)end;
    s.rng = rng;
    s.fuel = fuel;
    s.count = 1;
    s.items[0] = (item){ f0, depth, 0 };
    while (s.count) {
        item top = s.items[--s.count];
        top.go(&s, top.left, top.times);
    }
    return s.out;
}";
    line(out, 0, format_args!("{body}"));
}

struct Items<'a> {
    flat: &'a Flat,
    program: &'a Program,
    budget: &'a Budget,
    /// What is left to do behind calls, and rounds of repetitions.
    rests: Vec<(Vec<Op>, bool)>,
}

impl Items<'_> {
    fn function(&mut self, name: &str, first: Vec<String>, ops: &[Op], out: &mut String) {
        let mut body = String::new();
        self.rest(ops, 1, &mut body);
        line(out, 0, format_args!("void {name}(state *s, ANY uint32_t left, ANY uint32_t times) {{"));
        locals(&body, out);
        line(out, 1, format_args!("unsigned char *out = s->out;"));
        first.iter().for_each(|text| line(out, 1, format_args!("{text}")));
        line(out, 1, format_args!("LOOK({});", reach(self.flat, ops).bytes));
        out.push_str(&body);
        line(out, 0, format_args!("}}"));
    }

    /// Operations with nothing behind them but the stack.
    fn rest(&mut self, ops: &[Op], indent: usize, out: &mut String) {
        for (at, op) in ops.iter().enumerate() {
            if !reach_of(self.flat, op).looks {
                self.writer(out).op(op, indent);
                continue;
            }
            if at + 1 < ops.len() {
                let rest = self.later(&ops[at + 1..], false);
                line(out, indent, format_args!("PUSH({rest}, left, 0);"));
            }
            return self.last(op, indent, out);
        }
        line(out, indent, format_args!("DONE;"));
    }

    /// The last operation, one that calls.
    fn last(&mut self, op: &Op, indent: usize, out: &mut String) {
        match op {
            Op::Call { function, down } => {
                line(out, indent, format_args!("PUSH(f{function}, left - {down}, 0);"));
                line(out, indent, format_args!("DONE;"));
            }
            Op::Choose { draw, arms } => {
                line(out, indent, format_args!("DRAW(random);"));
                line(out, indent, format_args!("switch ({}) {{", index(&self.flat.draws[*draw], *draw)));
                for (at, arm) in arms.iter().enumerate() {
                    line(out, indent, format_args!("case {at}:"));
                    self.rest(&arm.ops, indent + 1, out);
                }
                line(out, indent, format_args!("default: __builtin_unreachable();"));
                line(out, indent, format_args!("}}"));
            }
            Op::Guard { above, free, closed } => {
                line(out, indent, format_args!("if (left > {above}u) {{"));
                self.rest(&free.ops, indent + 1, out);
                line(out, indent, format_args!("}}"));
                self.rest(&closed.ops, indent, out);
            }
            Op::Repeat { min, choices, block } => self.repeat(*min, *choices, block, indent, out),
            _ => line(out, indent, format_args!("STOP")),
        }
    }

    fn repeat(&mut self, min: u32, choices: u32, block: &Block, indent: usize, out: &mut String) {
        line(out, indent, format_args!("{{"));
        self.writer(out).rounds(min, choices, block, indent + 1);
        let round = self.later(&block.ops, true);
        line(out, indent + 1, format_args!("if (rounds) {{ PUSH({round}, left, (uint32_t)rounds); }}"));
        line(out, indent + 1, format_args!("DONE;"));
        line(out, indent, format_args!("}}"));
    }

    /// A function for operations that come later.
    fn later(&mut self, ops: &[Op], again: bool) -> String {
        self.rests.push((ops.to_vec(), again));
        format!("r{}", self.rests.len() - 1)
    }

    fn writer<'w>(&'w self, out: &'w mut String) -> Writer<'w> {
        Writer { flat: self.flat, program: self.program, budget: self.budget, counted: false, out }
    }
}
