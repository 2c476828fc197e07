#!/usr/bin/env python3
"""Runs `wug explore` on parsers from registries and counts the tokens found.

    bench/explore/run.py [--work FOLDER] [--wug PROGRAM] [--compiler gcc|clang]
                         [--seeds N] [--seconds S] [--coverage] [--table] [SUBJECT...]

Sources come from Debian (cjson, libcsv, lua5.4, by tools/debian-source) and
from crates.io (mjs-sys, rust-ini); the harnesses are in `subjects`, tiny-C is
our own. Every run is kept in FOLDER (default: target/explore) and not made again:
an interrupted sweep goes on where it was. `--table` only shows what is there.
Without arguments it is the whole: 5 seeds, both compilers, each subject for
as long as it is judged by.

A row per run: tokens found in valid inputs (`tokens.py`), those longer than
three characters, executions and seconds until the last of them was found. A
row of medians for each subject and compiler.

`--coverage` runs afl-fuzz too, from one space, for the same time and with the
same seeds, and shows the branches (gcov) that valid inputs of either take; for
ini, which is Rust, the edges that afl-showmap counts.
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True
import cover  # noqa: E402
import tokens  # noqa: E402

# Seconds of a run, and where the source comes from.
SUBJECTS = {
    "json": (10, "cjson"),
    "csv": (10, "libcsv"),
    "ini": (10, "rust-ini"),
    "tinyc": (60, None),
    "lua": (600, "lua5.4"),
    "mjs": (600, "mjs-sys"),
}

PROGRAMS = ("json", "csv", "ini", "tinyc")
"""Subjects that read standard input; the others are harnesses of libFuzzer."""


def source(work, subject):
    """The folder with a subject's source, fetched once."""
    package = SUBJECTS[subject][1]
    if package is None:
        return HERE / "subjects"
    place = work / "sources" / package
    if not (place / "done").exists():
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        if package == "mjs-sys":
            crate(place, package, "0.1.2")
        else:
            subprocess.run([ROOT / "tools/debian-source", package, place], check=True, stdout=subprocess.DEVNULL)
        (place / "done").touch()
    names = {"json": "cJSON.c", "csv": "libcsv.c", "lua": "lparser.c", "mjs": "mjs.c"}
    inner = lambda path: str(path.relative_to(place))  # noqa: E731
    found = [path for path in place.rglob(names[subject]) if not re.search(r"test|\.pc/", inner(path))]
    # mjs.c is there twice: one file with everything, and a part of it.
    return max(found, key=lambda path: path.stat().st_size).parent


def crate(place, name, version, main=""):
    """A package of cargo that has a crate's source."""
    (place / "src").mkdir(parents=True)
    (place / "Cargo.toml").write_text(
        '[package]\nname = "subject"\nversion = "0.0.0"\nedition = "2021"\n'
        f'[dependencies]\n{name} = "={version}"\n[workspace]\n'
    )
    (place / "src/main.rs").write_text(main or "fn main() {}\n")
    subprocess.run(["cargo", "vendor", "-q", "vendor"], cwd=place, check=True, stdout=subprocess.DEVNULL)


def build_rust(work, flags, program):
    """A build of the ini parser."""
    place = work / "sources" / program.name
    shutil.rmtree(place, ignore_errors=True)
    crate(place, SUBJECTS["ini"][1], "0.21.3", (HERE / "subjects/ini.rs").read_text())
    environment = {**os.environ, "RUSTFLAGS": flags.strip()}
    environment.pop("CARGO_ENCODED_RUSTFLAGS", None)
    subprocess.run(["cargo", "build", "-q", "--release"], cwd=place, check=True, env=environment)
    shutil.copy(place / "target/release/subject", program)


def parts(work, subject):
    """Flags and files that a subject is compiled from."""
    tree = source(work, subject)
    flags, files = [f"-I{tree}"], [HERE / "subjects" / f"{subject}.c"]
    if subject in ("json", "csv"):
        files.append(tree / {"json": "cJSON.c", "csv": "libcsv.c"}[subject])
    if subject == "lua":
        (work / "lua5.4-deb-multiarch.h").write_text('#define DEB_HOST_MULTIARCH "here"\n')
        flags += [f"-I{work}", "-Dluai_makeseed(L)=1"]
        files += [path for path in sorted(tree.glob("l*.c")) if path.name not in ("lua.c", "luac.c")]
    if subject == "mjs":
        shutil.copy(tree / "mjs.c", work / "mjs_all.c")
        flags += [f"-I{work}"]
    return flags, files


def build(work, wug, subject, compiler):
    """The traced build of a subject."""
    program = work / "bin" / f"{subject}.{compiler}"
    if not program.exists():
        program.parent.mkdir(parents=True, exist_ok=True)
        if subject == "ini":
            told = subprocess.run([wug, "rustflags", "--traced"], check=True, capture_output=True, text=True)
            build_rust(work, told.stdout, program)
            return program
        flags, files = parts(work, subject)
        fresh = program.with_suffix(f".{compiler}.new")
        command = [wug, "cc", f"--wug-cc={compiler}", "--wug-traced", "-g", "-w", *flags, "-o", fresh, *files]
        subprocess.run([*map(str, command), "-lm", "-ldl"], check=True)
        fresh.rename(program)
    return program


def run(work, wug, subject, compiler, seed, seconds):
    """One run, unless it is there already."""
    out = work / "runs" / f"{subject}.{compiler}.{seconds}s.{seed}"
    if (out / "done").exists():
        return out
    program = build(work, wug, subject, compiler)
    shutil.rmtree(out, ignore_errors=True)
    out.parent.mkdir(parents=True, exist_ok=True)
    command = [wug, "explore", "-o", out, "-s", str(seed), "-V", str(seconds), "--json", "--", program]
    ended = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=seconds + 120)
    if ended.returncode > 1:
        sys.exit(f"{subject}: {ended.stderr[-500:]}")
    (out / "report.json").write_text(ended.stdout)
    (out / "done").touch()
    return out


def row(subject, out):
    """What a run found."""
    language = tokens.LANGUAGES[subject]
    first = {}
    for path in sorted(out.glob("default/queue/id:*")) + sorted(out.glob("default/hangs/id:*")):
        time = int(re.search(r"time:(\d+)", path.name).group(1)) / 1000
        execs = int(re.search(r"execs:(\d+)", path.name).group(1))
        for token in tokens.count(subject, [path.read_bytes()])[0]:
            first[token] = min(first.get(token, (execs, time)), (execs, time))
    long = {token for token in language.tokens if len(token) > 3} - {"identifier", "number", "string", "newline", "field"}
    last = max(first.values(), default=(0, 0))
    report = json.loads((out / "report.json").read_text() or "{}")
    return {
        "run": out.name,
        "tokens": len(first),
        "of": len(language.tokens),
        "long": len(long & set(first)),
        "of ": len(long),
        "execs": last[0],
        "seconds": round(last[1], 1),
        "valid": report.get("corpus_count", 0),
        "per second": round(report.get("execs_per_sec", 0)),
        "missed": " ".join(sorted(language.tokens - set(first))),
    }


def medians(name, rows):
    """A row of medians."""
    middle = lambda key: statistics.median(row[key] for row in rows)  # noqa: E731
    keys = [key for key in rows[0] if key not in ("run", "missed")]
    return {"run": f"**{name}, median of {len(rows)}**", **{key: middle(key) for key in keys}, "missed": ""}


def show(rows):
    """A table."""
    if rows:
        print("| " + " | ".join(rows[0]) + " |")
        print("|" + " --- |" * len(rows[0]))
    for one in rows:
        print("| " + " | ".join(str(value).replace("|", "\\|") for value in one.values()) + " |")


def covered(work, subject, seconds, seed, ours, table):
    """Branches taken by our valid inputs, and by those of afl-fuzz."""
    if subject == "ini":
        fast = work / "bin/ini.afl"
        if not fast.exists():
            build_rust(work, cover.AFL_RUSTFLAGS, fast)
        return compared(work, fast, seconds, seed, ours, table, lambda files: cover.edges(fast, files))
    flags, files = parts(work, subject)
    # Harnesses of libFuzzer get a program around them.
    plain, persistent = ([], []) if subject in PROGRAMS else ([HERE / "subjects/main.c"], [ROOT / "bench/targets/afl.c"])
    counted = cover.build(work / "bin" / f"{subject}.gcov", ["gcc"], [*flags, *cover.COUNTED], [*files, *plain])
    fast = cover.build(work / "bin" / f"{subject}.afl", ["afl-clang-fast"], [*flags, "-O2"], [*files, *persistent],
                       {"AFL_QUIET": "1"})
    return compared(work, fast, seconds, seed, ours, table, lambda files: cover.branches(counted, files))


def compared(work, fast, seconds, seed, ours, table, measure):
    """What our valid inputs and those of afl-fuzz reach by a measure."""
    theirs = work / "afl" / f"{fast.name}.{seconds}s.{seed}"
    if not table:
        theirs = cover.afl(work, fast, seconds, seed)
    if not (theirs / "done").exists():
        return None
    result = ours / "branches.json"
    if not result.exists():
        inputs = lambda folder: sorted(folder.glob("queue/id:*")) + sorted(folder.glob("hangs/id:*"))  # noqa: E731
        told = [measure(inputs(folder)) for folder in (ours / "default", theirs / "out/default")]
        result.write_text(json.dumps(told))
    (own, total, valid), (other, _, accepted) = json.loads(result.read_text())
    share = lambda taken: round(100 * taken / max(total, 1), 1)  # noqa: E731
    return {
        "run": ours.name,
        "wug explore: branches": own,
        "%": share(own),
        "valid": valid,
        "afl-fuzz: branches": other,
        "% ": share(other),
        "valid ": accepted,
        "of": total,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, default=ROOT / "target/explore")
    parser.add_argument("--wug", type=Path, default=ROOT / "target/release/wug")
    parser.add_argument("--compiler", choices=["gcc", "clang"], action="append")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--seconds", type=int)
    parser.add_argument("--coverage", action="store_true")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("subjects", nargs="*", metavar="SUBJECT", help=" ".join(SUBJECTS))
    given = parser.parse_args()
    unknown = set(given.subjects) - set(SUBJECTS)
    if unknown:
        parser.error(f"no subject {' '.join(sorted(unknown))}; there are {' '.join(SUBJECTS)}")
    work = given.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    rows, branches = [], []
    for subject in given.subjects or SUBJECTS:
        seconds = given.seconds or SUBJECTS[subject][0]
        compilers = ["rustc"] if subject == "ini" else given.compiler or ["gcc", "clang"]
        for compiler in compilers:
            some, taken = [], []
            for seed in range(1, given.seeds + 1):
                out = work / "runs" / f"{subject}.{compiler}.{seconds}s.{seed}"
                if not given.table:
                    out = run(work, given.wug.resolve(), subject, compiler, seed, seconds)
                if (out / "done").exists():
                    some.append(row(subject, out))
                    print(f"{some[-1]['run']}: {some[-1]['tokens']} of {some[-1]['of']}", file=sys.stderr)
                    if given.coverage and (one := covered(work, subject, seconds, seed, out, given.table)):
                        taken.append(one)
            rows += some + ([medians(f"{subject}.{compiler}", some)] if len(some) > 1 else [])
            branches += taken + ([medians(f"{subject}.{compiler}", taken)] if len(taken) > 1 else [])
    show(rows)
    if branches:
        print()
    show([{key: value for key, value in one.items() if key != "missed"} for one in branches])


if __name__ == "__main__":
    main()
