#!/usr/bin/env python3
"""Runs `wug explore` on parsers from registries and counts the tokens found.

    bench/explore/run.py [--work FOLDER] [--wug PROGRAM] [--compiler gcc|clang]
                         [--seeds N] [--seconds S] [--table] [SUBJECT...]

Sources come from Debian (cjson, libcsv, lua5.4, by tools/debian-source)
and from crates.io (mjs-sys); the harnesses are in `subjects`, tiny-C is our
own. Every run is kept in FOLDER (default: target/explore) and not made again:
an interrupted sweep goes on where it was. `--table` only shows what is there.

A row per run: tokens found in valid inputs (`tokens.py`), those longer than
three characters, executions and seconds until the last of them was found.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True
import tokens  # noqa: E402

# Seconds of a run, and where the source comes from.
SUBJECTS = {
    "json": (10, "cjson"),
    "csv": (10, "libcsv"),
    "tinyc": (60, None),
    "lua": (600, "lua5.4"),
    "mjs": (600, "mjs-sys"),
}


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
            crate(place, package)
        else:
            subprocess.run([ROOT / "tools/debian-source", package, place], check=True, stdout=subprocess.DEVNULL)
        (place / "done").touch()
    names = {"json": "cJSON.c", "csv": "libcsv.c", "lua": "lparser.c", "mjs": "mjs.c"}
    inner = lambda path: str(path.relative_to(place))  # noqa: E731
    found = [path for path in place.rglob(names[subject]) if not re.search(r"test|\.pc/", inner(path))]
    # mjs.c is there twice: one file with everything, and a part of it.
    return max(found, key=lambda path: path.stat().st_size).parent


def crate(place, name):
    """A crate's source, by cargo."""
    (place / "Cargo.toml").write_text(
        f'[package]\nname = "fetch"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\n{name} = "0.1.2"\n[workspace]\n'
    )
    (place / "src").mkdir()
    (place / "src/lib.rs").touch()
    subprocess.run(["cargo", "vendor", "-q", "vendor"], cwd=place, check=True, stdout=subprocess.DEVNULL)


def build(work, wug, subject, compiler):
    """The traced build of a subject."""
    program = work / "bin" / f"{subject}.{compiler}"
    if program.exists():
        return program
    program.parent.mkdir(parents=True, exist_ok=True)
    tree = source(work, subject)
    fresh = program.with_suffix(f".{compiler}.new")
    command = [wug, "cc", f"--wug-cc={compiler}", "--wug-traced", "-g", "-w", f"-I{tree}", "-o", fresh]
    command.append(HERE / "subjects" / f"{subject}.c")
    if subject == "json":
        command.append(tree / "cJSON.c")
    if subject == "csv":
        command.append(tree / "libcsv.c")
    if subject == "lua":
        (work / "lua5.4-deb-multiarch.h").write_text('#define DEB_HOST_MULTIARCH "here"\n')
        command += [f"-I{work}", "-Dluai_makeseed(L)=1"]
        command += [path for path in sorted(tree.glob("l*.c")) if path.name not in ("lua.c", "luac.c")]
    if subject == "mjs":
        shutil.copy(tree / "mjs.c", work / "mjs_all.c")
        command += [f"-I{work}", "-ldl"]
    subprocess.run([*map(str, command), "-lm"], check=True)
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
        "tokens": f"{len(first)} of {len(language.tokens)}",
        "long": f"{len(long & set(first))} of {len(long)}",
        "execs": last[0],
        "seconds": f"{last[1]:.1f}",
        "valid": report.get("corpus_count", "?"),
        "per second": f"{report.get('execs_per_sec', 0):.0f}",
        "missed": " ".join(sorted(language.tokens - set(first))),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, default=ROOT / "target/explore")
    parser.add_argument("--wug", type=Path, default=ROOT / "target/release/wug")
    parser.add_argument("--compiler", choices=["gcc", "clang"], action="append")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--seconds", type=int)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("subjects", nargs="*", metavar="SUBJECT", help=" ".join(SUBJECTS))
    given = parser.parse_args()
    unknown = set(given.subjects) - set(SUBJECTS)
    if unknown:
        parser.error(f"no subject {' '.join(sorted(unknown))}; there are {' '.join(SUBJECTS)}")
    work = given.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    rows = []
    for subject in given.subjects or SUBJECTS:
        seconds = given.seconds or SUBJECTS[subject][0]
        for compiler in given.compiler or ["gcc", "clang"]:
            for seed in range(1, given.seeds + 1):
                out = work / "runs" / f"{subject}.{compiler}.{seconds}s.{seed}"
                if not given.table:
                    out = run(work, given.wug.resolve(), subject, compiler, seed, seconds)
                if (out / "done").exists():
                    rows.append(row(subject, out))
                    print(f"{rows[-1]['run']}: {rows[-1]['tokens']}", file=sys.stderr)
    if rows:
        print("| " + " | ".join(rows[0]) + " |")
        print("|" + " --- |" * len(rows[0]))
        for one in rows:
            print("| " + " | ".join(str(value).replace("|", "\\|") for value in one.values()) + " |")


if __name__ == "__main__":
    main()
