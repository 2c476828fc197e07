//! Context-threaded code in x86-64 assembly: rules are called and return by
//! the processor's own calls, whose targets it predicts, and so is every
//! operation that is longer than its call (F1, section 9.2).
//!
//! Registers: `rbx` where the next byte goes, `r12` the state of the random
//! numbers, `r13d` the levels left, `r14` the end of the room, `r15` the
//! limits, `r8` and `r9` the two constants of the random numbers.
//!
//! The native stack may grow by [`STACK`] bytes; inputs that need more go the
//! exact way.

use super::line;
use crate::flat::{Code, Instruction};
use std::collections::HashSet;
use std::fmt::Write;
use wug_produce::Program;

/// Bytes of native stack.
const STACK: u32 = 1 << 17;

/// Writes the assembly and `fast`, which begins an input.
pub(super) fn functions(program: &Program, code: &Code, out: &mut String) {
    out.push_str(HEAD);
    let mut asm = Assembly { program, code, text: String::new(), labels: 0 };
    asm.text.push_str(ROUTINES);
    asm.instructions();
    asm.data();
    line(out, 0, format_args!("__asm__("));
    for text in asm.text.lines() {
        // A label stands at the margin.
        let tab = if text.ends_with(':') { "" } else { "\\t" };
        line(out, 1, format_args!("\"{tab}{}\\n\"", text.trim()));
    }
    line(out, 0, format_args!(");\n"));
    line(out, 0, format_args!("{}", super::FAST));
    line(out, 1, format_args!("limits s = {{ out, end, stop, rng, fuel, {STACK}, 0, 0, member, depth }};"));
    line(out, 1, format_args!("return wug_produce_threaded(&s);"));
    line(out, 0, format_args!("}}"));
}

const HEAD: &str = r#"
#ifndef __x86_64__
#error "this style is x86-64 assembly; the others run everywhere"
#endif

typedef struct {
    unsigned char *out, *end, *stop;                        /* 0, 8, 16 */
    uint64_t rng;                                           /* 24 */
    int64_t fuel;                                           /* 32 */
    uint64_t stack, floor, frame;                           /* 40, 48, 56 */
    unsigned char *(*member)(uint32_t, uint32_t, unsigned char *); /* 64 */
    uint64_t depth;                                         /* 72 */
} limits;

__attribute__((visibility("hidden"))) unsigned char *wug_produce_threaded(limits *s);

"#;

/// Entry and exit, and what all rules share. `.Ldraw` leaves 32 random bits
/// in `eax`; `.Lcopy` writes `ecx` bytes from `rsi`; `.Lmore` makes of random
/// bits a count of at most `ecx`.
const ROUTINES: &str = "
.text
.globl wug_produce_threaded
.hidden wug_produce_threaded
.type wug_produce_threaded, @function
wug_produce_threaded:
pushq %rbx
pushq %rbp
pushq %r12
pushq %r13
pushq %r14
pushq %r15
movq %rdi, %r15
movq 0(%r15), %rbx
movq 8(%r15), %r14
movq 24(%r15), %r12
movl 72(%r15), %r13d
movq %rsp, 56(%r15)
movq %rsp, %rax
subq 40(%r15), %rax
movq %rax, 48(%r15)
call .Lconstants
call .Li0
movq %rbx, %rax
jmp .Lexit
.Lbail:
movq 56(%r15), %rsp
movq 16(%r15), %rax
.Lexit:
popq %r15
popq %r14
popq %r13
popq %r12
popq %rbp
popq %rbx
ret
.Lconstants:
movabsq $0xA0761D6478BD642F, %r8
movabsq $0xE7037ED1A0B428DB, %r9
ret
.Ldraw:
addq %r8, %r12
movq %r12, %rax
movq %r12, %rdx
xorq %r9, %rdx
mulq %rdx
xorq %rdx, %rax
shrq $32, %rax
ret
.Lpick:
movl (%rdi,%rax,8), %ecx
leaq .Lready(%rip), %rsi
addq %rcx, %rsi
movl 4(%rdi,%rax,8), %ecx
.Lcopy:
movq %r14, %rdx
subq %rbx, %rdx
cmpq %rcx, %rdx
jl .Lbail
movq %rbx, %rdi
addq %rcx, %rbx
.Lchunk:
movups (%rsi), %xmm0
movups %xmm0, (%rdi)
addq $16, %rsi
addq $16, %rdi
subl $16, %ecx
ja .Lchunk
ret
.Lclass:
movq %r14, %rdx
subq %rbx, %rdx
cmpq $4, %rdx
jl .Lbail
movl %eax, %esi
movq %rbx, %rdx
movq %rsp, %rbp
andq $-16, %rsp
call *64(%r15)
movq %rbp, %rsp
movq %rax, %rbx
jmp .Lconstants
.Lmore:
leaq .Lgeometric(%rip), %rdi
xorl %edx, %edx
.Lone_more:
cmpl %ecx, %edx
jae .Lno_more
cmpl %eax, (%rdi,%rdx,4)
ja .Lno_more
incl %edx
jmp .Lone_more
.Lno_more:
movl %edx, %eax
ret
";

struct Assembly<'a> {
    program: &'a Program,
    code: &'a Code,
    text: String,
    labels: usize,
}

impl Assembly<'_> {
    fn line(&mut self, text: std::fmt::Arguments) {
        line(&mut self.text, 0, text);
    }

    fn instructions(&mut self) {
        let mut landings: HashSet<u32> = self.code.targets.iter().copied().collect();
        for instruction in &self.code.instructions {
            match *instruction {
                Instruction::Jump(to) | Instruction::Again { to } => landings.insert(to),
                Instruction::Guard { closed: to, .. } | Instruction::Repeat { past: to, .. } => {
                    landings.insert(to)
                }
                Instruction::Call { to, .. } | Instruction::Become { to, .. } => landings.insert(to),
                _ => false,
            };
        }
        landings.insert(0);
        for (at, instruction) in self.code.instructions.iter().enumerate() {
            if landings.contains(&(at as u32)) {
                self.line(format_args!(".Li{at}:"));
            }
            self.instruction(*instruction);
        }
    }

    fn instruction(&mut self, instruction: Instruction) {
        match instruction {
            Instruction::Enter { charge, limit } => {
                self.line(format_args!("cmpq 48(%r15), %rsp"));
                self.line(format_args!("jb .Lbail"));
                self.line(format_args!("subq ${charge}, 32(%r15)"));
                self.line(format_args!("js .Lbail"));
                if limit < u32::MAX {
                    let label = self.label();
                    self.line(format_args!("movl ${limit}, %eax"));
                    self.line(format_args!("cmpl %eax, %r13d"));
                    self.line(format_args!("jbe {label}"));
                    self.line(format_args!("movl %eax, %r13d"));
                    self.line(format_args!("{label}:"));
                }
            }
            Instruction::Text { start, len } => {
                self.line(format_args!("leaq .Lready+{start}(%rip), %rsi"));
                self.line(format_args!("movl ${len}, %ecx"));
                self.line(format_args!("call .Lcopy"));
            }
            Instruction::Pick(table) => {
                self.draw(self.code.tables[table as usize].draw);
                self.line(format_args!("leaq .Lt{table}(%rip), %rdi"));
                self.line(format_args!("call .Lpick"));
            }
            Instruction::Class(class) => {
                self.line(format_args!("call .Ldraw"));
                self.even(self.program.grammar.class(class).count());
                self.line(format_args!("movl ${}, %edi", class.0));
                self.line(format_args!("call .Lclass"));
            }
            Instruction::Choose { draw, targets } => {
                self.draw(draw);
                self.line(format_args!("leaq .Ltargets+{}(%rip), %rdx", targets * 4));
                self.line(format_args!("movslq (%rdx,%rax,4), %rax"));
                self.line(format_args!("leaq .Li0(%rip), %rdx"));
                self.line(format_args!("addq %rdx, %rax"));
                self.line(format_args!("jmp *%rax"));
            }
            Instruction::Jump(to) => self.line(format_args!("jmp .Li{to}")),
            Instruction::Guard { above, closed } => {
                self.line(format_args!("cmpl ${above}, %r13d"));
                self.line(format_args!("jbe .Li{closed}"));
            }
            Instruction::Call { to, down } => {
                self.line(format_args!("pushq %r13"));
                self.line(format_args!("subl ${down}, %r13d"));
                self.line(format_args!("call .Li{to}"));
                self.line(format_args!("popq %r13"));
            }
            Instruction::Become { to, down } => {
                self.line(format_args!("subl ${down}, %r13d"));
                self.line(format_args!("jmp .Li{to}"));
            }
            Instruction::Return => self.line(format_args!("ret")),
            Instruction::Repeat { min, choices, past } => self.repeat(min, choices, past),
            Instruction::Rounds { charge } => {
                self.line(format_args!("imulq ${charge}, %rax, %rcx"));
                self.line(format_args!("subq %rcx, 32(%r15)"));
                self.line(format_args!("js .Lbail"));
                self.line(format_args!("pushq %rax"));
            }
            Instruction::Again { to } => {
                self.line(format_args!("decq (%rsp)"));
                self.line(format_args!("jnz .Li{to}"));
                self.line(format_args!("popq %rax"));
            }
            Instruction::Bail => self.line(format_args!("jmp .Lbail")),
        }
    }

    /// Leaves how often a repetition comes in `rax`, for `Rounds`.
    fn repeat(&mut self, min: u32, choices: u32, past: u32) {
        self.line(format_args!("xorl %eax, %eax"));
        if choices > 1 {
            self.line(format_args!("call .Ldraw"));
            if choices <= wug_grammar::count::UNIFORM_SPAN + 1 {
                self.even(choices);
            } else {
                self.line(format_args!("movl ${}, %ecx", choices - 1));
                self.line(format_args!("call .Lmore"));
            }
        }
        self.line(format_args!("movl ${min}, %ecx"));
        self.line(format_args!("addq %rcx, %rax"));
        if min.checked_add(choices).is_none() {
            self.line(format_args!("movl $-1, %ecx"));
            self.line(format_args!("cmpq %rcx, %rax"));
            self.line(format_args!("cmova %rcx, %rax"));
        }
        if min == 0 {
            self.line(format_args!("testq %rax, %rax"));
            self.line(format_args!("jz .Li{past}"));
        }
    }

    /// Leaves what is drawn in `rax`.
    fn draw(&mut self, draw: u32) {
        self.line(format_args!("call .Ldraw"));
        let Some(guide) = &self.code.draws[draw as usize].1 else {
            return self.even(self.code.draws[draw as usize].0);
        };
        let (shift, rounds) = (guide.shift, guide.rounds);
        self.line(format_args!("leaq .Ld{draw}(%rip), %rdi"));
        self.line(format_args!("movl %eax, %ecx"));
        self.line(format_args!("shrl ${shift}, %ecx"));
        self.line(format_args!("movl (%rdi,%rcx,4), %ecx"));
        self.line(format_args!("leaq .Ld{draw}_last(%rip), %rdi"));
        for _ in 0..rounds {
            self.line(format_args!("xorl %edx, %edx"));
            self.line(format_args!("cmpl (%rdi,%rcx,4), %eax"));
            self.line(format_args!("seta %dl"));
            self.line(format_args!("addl %edx, %ecx"));
        }
        self.line(format_args!("movl %ecx, %eax"));
    }

    fn even(&mut self, count: u32) {
        self.line(format_args!("imulq ${count}, %rax, %rax"));
        self.line(format_args!("shrq $32, %rax"));
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        format!(".Ll{}", self.labels)
    }

    fn data(&mut self) {
        let code = self.code;
        self.text.push_str(".section .rodata\n.balign 16\n");
        self.numbers(".Lgeometric", ".long", wug_grammar::count::THRESHOLDS.iter().map(u32::to_string));
        for (at, (_, guide)) in code.draws.iter().enumerate() {
            if let Some(guide) = guide {
                self.numbers(&format!(".Ld{at}"), ".long", guide.begins.iter().map(u32::to_string));
                self.numbers(&format!(".Ld{at}_last"), ".long", guide.lasts.iter().map(u32::to_string));
            }
        }
        for (at, table) in code.tables.iter().enumerate() {
            let spans = table.texts.iter().flat_map(|(start, len)| [start.to_string(), len.to_string()]);
            self.numbers(&format!(".Lt{at}"), ".long", spans);
        }
        self.numbers(".Ltargets", ".long", code.targets.iter().map(|to| format!(".Li{to}-.Li0")));
        // A copy reads up to 15 bytes more.
        self.numbers(".Lready", ".byte", code.bytes.iter().chain(&[0; 16]).map(u8::to_string));
        self.text.push_str(".text\n");
    }

    fn numbers(&mut self, label: &str, kind: &str, values: impl Iterator<Item = String>) {
        self.line(format_args!("{label}:"));
        let values: Vec<String> = values.collect();
        for some in values.chunks(16) {
            let _ = writeln!(self.text, "{kind} {}", some.join(", "));
        }
    }
}
