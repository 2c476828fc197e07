#!/usr/bin/env python3
"""Our producers beside the fastest C of F1, on one core, in turns.

    bench/f1.py [--depth 32] [--rounds 9] [--bytes N] [--json FILE] GRAMMAR.json...
    bench/f1.py ../shared/grammars/f1_json.json --rounds 3      for example

Grammars are in F1's notation, and start from `<start>`. Each round has three parts, one behind the other:
  F1      C as F1 writes it (see below), the fastest of several builds of it
  C       what `wug emit` writes, built as `--engine compiled` builds it
  tables  `--engine tables`, as `wug bench produce` measures it
All make inputs in memory: MiB per CPU-second, medians of all rounds, and medians
of the ratios of each round.

F1's recursive C, with the two changes that make it fast and honest: one unit for
the optimiser, and random numbers that are made anew when 64 KiB of them are used
up (as published it uses the same again). A function for each rule, one random byte
for each choice, a switch, one byte stored at a time, and at the depth limit one of
at most 255 strings that were drawn before. It looks at no bounds, and single inputs
have no seeds. It is told one level less, with which its inputs are as long as ours.
"""

import argparse
import itertools
import json
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

WUG = Path(__file__).resolve().parent.parent / "target/release/wug"
POOL = 255
"""Strings at the depth limit."""
PRODUCT = 100_000
"""Concatenations that are listed before some are drawn; of more, some are made."""
ROOM = 64 << 20
"""Bytes of an input at most."""
MOST_ALTERNATIVES = 256
"""Of a rule: a choice takes one random byte."""
BUILDS = [
    ("gcc", "-O2"),
    ("gcc", "-O3"),
    ("gcc", "-Ofast", "-march=native"),
    ("clang", "-O3"),
    ("clang", "-Ofast", "-march=native"),
]
"""Builds of F1's C."""

RANDOM = r"""
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#define REGION 8192
static uint64_t state[4] = {1, 2, 3, 4}, region[REGION];
static uint8_t *randoms = (uint8_t *)(region + REGION);
static char *out;
static int max_depth;
static uint64_t turned(uint64_t x, int by) { return x << by | x >> (64 - by); }
static void __attribute__((noinline)) refill(void) {
    for (int i = 0; i < REGION; i++) {
        uint64_t shifted = state[1] << 17;
        region[i] = turned(state[1] * 5, 7) * 9;
        state[2] ^= state[0], state[3] ^= state[1], state[1] ^= state[2], state[0] ^= state[3];
        state[2] ^= shifted, state[3] = turned(state[3], 45);
    }
    randoms = (uint8_t *)region;
}
static inline int below(int n) {
    if (randoms == (uint8_t *)(region + REGION)) refill();
    return *randoms++ * n >> 8;
}
"""

MAIN = r"""
#include <time.h>
static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
int main(int count, char **arguments) {
    if (count != 4) return 2;
    uint64_t seed = strtoull(arguments[1], 0, 10), wanted = strtoull(arguments[2], 0, 10);
    int depth = atoi(arguments[3]);
    uint64_t bytes = 0, inputs = 0;
    double begun = 0;
    char *buffer = malloc(ROOM + 1);
    if (!buffer) return 1;
    for (int warm = 1; warm >= 0; warm--) {
        bytes = inputs = 0;
        begun = seconds();
        for (; bytes < (warm ? wanted / 8 : wanted); inputs++) {
            MAKE
        }
    }
    printf("%llu %llu %.9f\n", (unsigned long long)bytes, (unsigned long long)inputs, seconds() - begun);
    return 0;
}
"""


def in_bytes(grammar):
    """Alternatives whose symbols are names of rules and numbers of bytes."""

    def symbols(alternative):
        for token in alternative:
            if token in grammar:
                yield token
            else:
                yield from token.encode()

    return {name: [list(symbols(one)) for one in alternatives] for name, alternatives in grammar.items()}


def cheapest(grammar):
    """Of each rule the alternatives of least depth."""
    depth = dict.fromkeys(grammar, float("inf"))

    def of(alternative):
        return 1 + max((depth[symbol] for symbol in alternative if symbol in grammar), default=0)

    while True:
        least = {name: min(map(of, alternatives)) for name, alternatives in grammar.items()}
        if least == depth:
            break
        depth = least
    return {name: [one for one in grammar[name] if of(one) == depth[name]] for name in grammar}


def pools(grammar):
    """Of each rule some strings that it gives at the depth limit."""
    closing, rng, done = cheapest(grammar), random.Random(1), {}

    def some(strings):
        strings = list(strings)
        return rng.sample(strings, min(POOL, len(strings)))

    def of_alternative(alternative):
        parts = [of(symbol) if symbol in grammar else [bytes([symbol])] for symbol in alternative]
        count = 1
        for part in parts:
            count *= len(part)
        if count <= PRODUCT:
            return some(map(b"".join, itertools.product(*parts)))
        return [b"".join(map(rng.choice, parts)) for _ in range(POOL)]

    def of(name):
        if name not in done:
            done[name] = some(itertools.chain.from_iterable(map(of_alternative, closing[name])))
        return done[name]

    return {name: of(name) for name in grammar}


def as_f1(grammar):
    """F1's C as a program."""
    grammar = in_bytes(grammar)
    number = {name: at for at, name in enumerate(grammar)}
    lines = [f"static void make_{at}(int depth);" for at in number.values()]
    for name, strings in pools(grammar).items():
        at = number[name]
        texts = ", ".join('"' + "".join(f"\\{byte:03o}" for byte in text) + '"' for text in strings)
        lines += [
            f"static const char *const pool_{at}[] = {{{texts}}};",
            f"static const int length_{at}[] = {{{', '.join(str(len(text)) for text in strings)}}};",
            f"static void make_{at}(int depth) {{",
            "    if (depth > max_depth) {",
            f"        int one = below({len(strings)});",
            f"        for (int i = 0; i < length_{at}[one]; i++) *out++ = pool_{at}[one][i];",
            "        return;",
            "    }",
            f"    switch (below({len(grammar[name])})) {{",
        ]
        for case, alternative in enumerate(grammar[name]):
            made = [
                f"make_{number[symbol]}(depth + 1);" if symbol in grammar else f"*out++ = (char){symbol};"
                for symbol in alternative
            ]
            lines.append(f"    case {case}: {' '.join(made)} break;")
        lines.append("    }\n}")
    make = f"max_depth = depth - 1; out = buffer; make_{number['<start>']}(0); *out++ = '\\n';"
    make += " bytes += (uint64_t)(out - buffer); (void)seed;"
    return RANDOM + "\n".join(lines) + MAIN.replace("MAKE", make)


def as_wug(path):
    """What `wug emit` writes as a program."""
    emitted = subprocess.run([WUG, "emit", path, "--format", "f1", "--lang", "c"], capture_output=True, text=True)
    if emitted.returncode != 0:
        sys.exit(emitted.stderr.rstrip())
    make = "bytes += wug_produce(seed, inputs, (uint32_t)depth, ROOM, (unsigned char *)buffer, ROOM + 1);"
    return "#define WUG_NO_MAIN\n#include <stdio.h>\n" + emitted.stdout + MAIN.replace("MAKE", make)


def build(folder, name, text, compiler, *flags):
    source, program = folder / f"{name}.c", folder / " ".join([name, compiler, *flags])
    source.write_text(text)
    command = [compiler, *flags, f"-DROOM={ROOM}", source, "-o", program]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{compiler} failed on {source.name}:\n{done.stderr}")
    return program


def speed(program, seed, wanted, depth):
    """MiB per second, and mean bytes of an input."""
    command = [program, str(seed), str(wanted), str(depth)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"`{program.name}` failed: inputs may have more than {ROOM} bytes; take a smaller --depth")
    bytes_made, inputs, seconds = done.stdout.split()
    return int(bytes_made) / float(seconds) / 2**20, int(bytes_made) / int(inputs)


def tables_speed(path, wanted, depth):
    command = [WUG, "bench", "produce", path, "--depths", str(depth), "--bytes", str(wanted), "--rounds", "1", "--json"]
    row = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["rows"][0]
    return row["tables"]


def load(path):
    """A grammar that `wug` took."""
    grammar = json.loads(path.read_text())
    if "<start>" not in grammar:
        sys.exit(f"{path}: there is no rule `<start>`, from which F1 starts")
    for name, alternatives in grammar.items():
        if len(alternatives) > MOST_ALTERNATIVES:
            sys.exit(f"{path}: rule `{name}` has more than {MOST_ALTERNATIVES} alternatives, which F1 cannot choose from")
    return grammar


def compare(path, options, folder):
    # First: it tells what is wrong with a grammar, and where.
    emitted = as_wug(path)
    f1 = as_f1(load(path))
    builds = [build(folder, "f1", f1, *how) for how in BUILDS if shutil.which(how[0])]
    ours = build(folder, "wug", emitted, "gcc", "-O3", "-flto")
    every = {program.name: [] for program in [*builds, ours]} | {"tables": []}
    means = {}
    for turn in range(options.rounds):
        for program in [*builds, ours]:
            made, means[program.name] = speed(program, turn, options.bytes, options.depth)
            every[program.name].append(made)
        every["tables"].append(tables_speed(path, options.bytes, options.depth))
    best = max((program.name for program in builds), key=lambda name: statistics.median(every[name]))
    parts = {"F1": every[best], "C": every[ours.name], "tables": every["tables"]}
    ratio = lambda part: statistics.median(one / f1 for one, f1 in zip(parts[part], parts["F1"]))
    return {
        "grammar": path.name,
        "depth": options.depth,
        "best": best.removeprefix("f1 "),
        "means": {"F1": means[best], "wug": means[ours.name]},
        "speeds": every,
        "medians": {part: statistics.median(values) for part, values in parts.items()},
        "ratios": {part: ratio(part) for part in ("C", "tables")},
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("grammars", nargs="+", type=Path, metavar="GRAMMAR.json")
    parser.add_argument("--depth", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--bytes", type=int, default=8 << 20, help="bytes of each part of a round")
    parser.add_argument("--json", type=Path, help="file for all values")
    options = parser.parse_args()
    for option in ("depth", "rounds", "bytes"):
        if getattr(options, option) < 1:
            parser.error(f"--{option} is at least 1")
    if not WUG.exists():
        sys.exit("there is no release build: cargo build --release")
    if not shutil.which("gcc"):
        sys.exit("there is no gcc, which builds both sides")
    print(f"MiB per CPU-second, medians of {options.rounds} rounds")
    print(
        f"{'grammar':16} {'depth':>5} {'bytes, F1':>9} {'wug':>7} {'F1':>7} {'C':>7} {'tables':>7} "
        f"{'C/F1':>6} {'tables/F1':>9}  F1 built by"
    )
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for path in options.grammars:
            row = compare(path, options, Path(folder))
            rows.append(row)
            medians = " ".join(f"{row['medians'][name]:7.1f}" for name in ("F1", "C", "tables"))
            print(
                f"{row['grammar']:16} {row['depth']:5} {row['means']['F1']:9.1f} {row['means']['wug']:7.1f} {medians} "
                f"{row['ratios']['C']:6.2f} {row['ratios']['tables']:9.2f}  {row['best']}",
                flush=True,
            )
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
