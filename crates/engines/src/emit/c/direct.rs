//! Direct-threaded code: each instruction holds the address of what does it,
//! and goes on to the next by itself (computed `goto`, an extension of GNU C).
//!
//! The stack of calls is part of one native frame and holds [`CALLS`]; inputs
//! that need more go the exact way.

use super::line;
use crate::flat::{Code, Instruction};
use std::fmt::Write;

/// Calls at most, eight bytes each.
const CALLS: u32 = 4000;

/// Writes tables, code and `fast`, which begins an input.
pub(super) fn functions(program: &wug_produce::Program, code: &Code, out: &mut String) {
    let _ = write!(out, "MAYBE const unsigned char ready[] = {{");
    for (at, byte) in code.bytes.iter().chain(&[0; 32]).enumerate() {
        let _ = write!(out, "{}{byte},", if at % 24 == 0 { "\n    " } else { " " });
    }
    line(out, 0, format_args!("\n}};"));
    line(out, 0, format_args!("MAYBE const struct {{ uint32_t at, length; }} spans[] = {{"));
    let mut firsts = Vec::new();
    let mut count = 0;
    for table in &code.tables {
        firsts.push(count);
        count += table.texts.len();
        for (start, len) in &table.texts {
            line(out, 1, format_args!("{{ {start}u, {len}u }},"));
        }
    }
    line(out, 0, format_args!("    {{ 0u, 0u }}\n}};"));
    let targets: Vec<String> = code.targets.iter().chain(&[0]).map(|to| format!("{to}u")).collect();
    line(out, 0, format_args!("MAYBE const uint32_t targets[] = {{ {} }};", targets.join(", ")));
    line(
        out,
        0,
        format_args!("typedef struct {{ const uint32_t *guide, *last; uint32_t shift, rounds; }} uneven;"),
    );
    line(out, 0, format_args!("MAYBE const uneven draws[] = {{"));
    for (id, (_, guide)) in code.draws.iter().enumerate() {
        match guide {
            None => line(out, 1, format_args!("{{ 0, 0, 0, 0 }},")),
            Some(guide) => {
                let (shift, rounds) = (guide.shift, guide.rounds);
                line(out, 1, format_args!("{{ d{id}, d{id}_last, {shift}, {rounds} }},"));
            }
        }
    }
    line(out, 0, format_args!("    {{ 0, 0, 0, 0 }}\n}};\n"));
    line(out, 0, format_args!("{}", super::FAST));
    line(out, 1, format_args!("typedef struct {{ const void *op; uint32_t a, b, c; }} cell;"));
    line(out, 1, format_args!("static const cell code[] = {{"));
    for instruction in &code.instructions {
        let (op, a, b, c) = cell(program, code, &firsts, *instruction);
        line(out, 2, format_args!("{{ &&{op}, {a}u, {b}u, {c}u }},"));
    }
    line(out, 2, format_args!("{{ &&finish, 0u, 0u, 0u }}"));
    line(out, 1, format_args!("}};"));
    out.push_str(&MACHINE.replace("CALLS", &CALLS.to_string()));
}

fn cell(
    program: &wug_produce::Program,
    code: &Code,
    firsts: &[usize],
    instruction: Instruction,
) -> (&'static str, u32, u32, u32) {
    match instruction {
        Instruction::Enter { charge, limit } => ("enter", charge, limit, 0),
        Instruction::Text { start, len } => ("text", start, len, 0),
        Instruction::Pick(table) => {
            let first = firsts[table as usize] as u32;
            let draw = code.tables[table as usize].draw;
            match code.draws[draw as usize] {
                (count, None) => ("pick_even", count, first, 0),
                _ => ("pick_uneven", draw, first, 0),
            }
        }
        Instruction::Class(class) => ("class", class.0, program.grammar.class(class).count(), 0),
        Instruction::Choose { draw, targets } => match code.draws[draw as usize] {
            (count, None) => ("choose_even", count, targets, 0),
            _ => ("choose_uneven", draw, targets, 0),
        },
        Instruction::Jump(to) => ("jump", to, 0, 0),
        Instruction::Guard { above, closed } => ("guard", above, closed, 0),
        Instruction::Call { to, down } => ("call", to, down, 0),
        Instruction::Become { to, down } => ("become", to, down, 0),
        Instruction::Return => ("leave", 0, 0, 0),
        Instruction::Repeat { min, choices, past } => ("repeat", min, choices, past),
        Instruction::Rounds { charge } => ("rounds", charge, 0, 0),
        Instruction::Again { to } => ("again", to, 0, 0),
        Instruction::Bail => ("bail", 0, 0, 0),
    }
}

const MACHINE: &str = r"    struct { uint32_t to, left; } calls[CALLS];
    const cell *at = code;
    const unsigned char *from;
    uint32_t left = depth, count = 1, random, index, length;
    uint64_t wanted;
#define DRAW (rng += STEP, bits(rng))
#define UNEVEN(d) guided((d).guide, random >> (d).shift, (d).last, (int)(d).rounds, random)
#define DO goto *at->op
#define NEXT at++; DO
    /* Below all calls: the end. */
    calls[0].to = (uint32_t)(sizeof code / sizeof *code - 1);
    calls[0].left = 0;
    DO;
enter: ANY;
    if ((fuel -= at->a) < 0) goto bail;
    if (left > at->b) left = at->b;
    NEXT;
pick_even: ANY;
    index = at->b + even(DRAW, at->a);
    goto copy;
pick_uneven: ANY;
    random = DRAW;
    index = at->b + UNEVEN(draws[at->a]);
copy: ANY;
    from = ready + spans[index].at;
    length = spans[index].length;
    goto put;
text: ANY;
    from = ready + at->a;
    length = at->b;
put: ANY;
    if (end - out < (ptrdiff_t)length) goto bail;
    memcpy(out, from, 16);
    if (length > 16) memcpy(out + 16, from + 16, length - 16);
    out += length;
    NEXT;
class: ANY;
    if (end - out < 4) goto bail;
    out = member(at->a, even(DRAW, at->b), out);
    NEXT;
choose_even: ANY;
    at = code + targets[at->b + even(DRAW, at->a)];
    DO;
choose_uneven: ANY;
    random = DRAW;
    at = code + targets[at->b + UNEVEN(draws[at->a])];
    DO;
jump: ANY;
    at = code + at->a;
    DO;
guard: ANY;
    if (left <= at->a) {
        at = code + at->b;
        DO;
    }
    NEXT;
call: ANY;
    if (count == CALLS) goto bail;
    calls[count].to = (uint32_t)(at + 1 - code);
    calls[count++].left = left;
become: ANY;
    left -= at->b;
    at = code + at->a;
    DO;
leave: ANY;
    at = code + calls[--count].to;
    left = calls[count].left;
    DO;
repeat: ANY;
    wanted = at->a;
    if (at->b > 1) wanted += more(DRAW, at->b);
    if (wanted == 0) {
        at = code + at->c;
        DO;
    }
    if (count == CALLS) goto bail;
    calls[count++].to = wanted > UINT32_MAX ? UINT32_MAX : (uint32_t)wanted;
    NEXT;
rounds: ANY;
    if ((fuel -= (int64_t)at->a * calls[count - 1].to) < 0) goto bail;
    NEXT;
again: ANY;
    if (--calls[count - 1].to) {
        at = code + at->a;
        DO;
    }
    count--;
    NEXT;
finish: ANY;
    return out;
bail: ANY;
    return stop;
}
#undef DRAW
#undef UNEVEN
#undef DO
#undef NEXT
";
