#!/usr/bin/env python3
"""Crashes that are kept: programs with twenty crashes in three functions, in C,
C++ and Rust, fuzzed by wug and by afl-fuzz from one seed that does not crash.

    bench/crashes.py [--execs 100000] [--runs 3] [--wug PATH] [LANGUAGE...]

Both fuzzers run for the same number of executions. What each saved as crashes is
told apart by the letter that chooses the crash; the last two crashes of the C
program share all edges. afl-fuzz gets builds of afl-clang-fast; in Rust, the build of
`wug rustflags`, which speaks its protocol. `cost` is the time that wug takes for 60
crashes, each looked at, in milliseconds per crash. Without afl-fuzz only wug runs.
Ends with a JSON object on the last line.
"""

import argparse
import json
import os
import shutil
import statistics
import sys
import time
from pathlib import Path

from lib.arms import QUIET
from lib.process import bounded, hand_over, sh
from lib.targets import ROOT

SOURCES = Path(__file__).parent / "crashes"
LETTERS = "abcdefghijklmnopqrst"
LANGUAGES = {"c": "planted.c", "c++": "planted.cc", "rust": "planted.rs"}
FLAGS = {"c": ["-O2", "-w"], "c++": ["-O2", "-w", "-std=c++17"],
         "rust": ["--edition=2021", "-O", "-Coverflow-checks=on", "-Cpanic=abort"]}
SECONDS = 600  # for each campaign, at most


def build(language: str, folder: Path, wug: Path, afl: bool) -> dict[str, Path]:
    """The program for each fuzzer."""
    source, flags = SOURCES / LANGUAGES[language], FLAGS[language]
    programs = {"wug": folder / "wug"}
    if language == "rust":
        sh(["rustc", *flags, *sh([wug, "rustflags"]).split(), "-o", programs["wug"], source])
        return programs | ({"afl": programs["wug"]} if afl else {})
    sh([wug, {"c": "cc", "c++": "c++"}[language], *flags, "-o", programs["wug"], source])
    if afl:
        programs["afl"] = folder / "afl"
        compiler = {"c": "afl-clang-fast", "c++": "afl-clang-fast++"}[language]
        sh([compiler, *flags, "-o", programs["afl"], source], env={**os.environ, "AFL_QUIET": "1"})
    return programs


def planted(language: str, text: bytes) -> str | None:
    """Which of the planted crashes an input meets."""
    if len(text) < 3 or text[:1] != b"!":
        return None
    letter = chr(text[1])
    if language == "c" and letter in "st":
        return ("s" if text[2] & 1 == 0 else "t") if letter == "s" else None
    return letter if letter in LETTERS else None


def fuzz(fuzzer: str, program: Path, folder: Path, given, number: int) -> Path:
    """Runs a campaign; the folder with its crashes."""
    seeds, out = folder / "seeds", folder / "out"
    seeds.mkdir(parents=True)
    (seeds / "seed").write_bytes(b"!z0")
    hand_over(folder)
    words = [given.wug, "fuzz"] if fuzzer == "wug" else ["afl-fuzz"]
    words += ["-i", seeds, "-o", out, "-s", number, "-E", given.execs, "--", program]
    bounded(words, folder / "log", SECONDS, environment=QUIET)
    return out / "default/crashes"


def cost(program: Path, folder: Path, given) -> float:
    """Milliseconds of a crash that is looked at, by campaigns with 60 and with none."""
    times = []
    for copies in (3, 0):
        seeds = folder / f"seeds-{copies}"
        seeds.mkdir(parents=True)
        (seeds / "0").write_bytes(b"!z0")
        for copy in range(copies):
            for letter in LETTERS:
                (seeds / f"{letter}{copy}").write_bytes(f"!{letter}0".encode())
        hand_over(folder)
        begin = time.monotonic()
        # Without edges, each crash is looked at.
        words = [given.wug, "fuzz", "-n", "-i", seeds, "-o", folder / f"out-{copies}", "-s", 1, "-E", 1 + 20 * copies]
        bounded([*words, "--", program], folder / "log", SECONDS, environment=QUIET)
        times.append(time.monotonic() - begin)
    return (times[0] - times[1]) * 1000 / 60


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("languages", nargs="*", metavar="LANGUAGE", choices=[[], *LANGUAGES])
    parser.add_argument("--execs", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--work", type=Path, default=ROOT / "target/crashes")
    parser.add_argument("--wug", type=Path, default=ROOT / "target/release/wug")
    given = parser.parse_args()
    given.work, given.wug = given.work.resolve(), given.wug.resolve()
    afl = all(map(shutil.which, ("afl-fuzz", "afl-clang-fast")))
    if not afl:
        print("skipped: afl-fuzz is not there", file=sys.stderr)
    shutil.rmtree(given.work, ignore_errors=True)
    table = []
    print(f"kept of 20 planted crashes, after {given.execs} executions; medians of {given.runs} runs\n")
    print(f"{'language':<10}{'fuzzer':<8}{'kept':>6}{'files':>7}{'sites':>7}{'cost, ms':>10}  lost in some run")
    for language in given.languages or LANGUAGES:
        folder = given.work / language
        folder.mkdir(parents=True)
        programs = build(language, folder, given.wug, afl)
        expected = set(LETTERS)
        for fuzzer, program in programs.items():
            runs = []
            for number in range(1, given.runs + 1):
                crashes = fuzz(fuzzer, program, folder / f"{fuzzer}-{number}", given, number)
                files = list(crashes.glob("id:*"))
                found = {planted(language, file.read_bytes()) for file in files} & expected
                report = crashes.parent / "report.json"
                sites = len(json.loads(report.read_text())["crashes"]) if report.exists() else None
                runs.append({"found": "".join(sorted(found)), "kept": len(found), "files": len(files), "sites": sites})
            row = {"language": language, "fuzzer": fuzzer, "runs": runs}
            for figure in ("kept", "files", "sites"):
                values = [run[figure] for run in runs if run[figure] is not None]
                row[figure] = statistics.median(values) if values else None
            row["cost_ms"] = cost(program, folder / "cost", given) if fuzzer == "wug" else None
            lost = "".join(sorted(expected - set.intersection(*(set(run["found"]) for run in runs))))
            show = [f"{row['kept']:g}", f"{row['files']:g}", "-" if row["sites"] is None else f"{row['sites']:g}",
                    "-" if row["cost_ms"] is None else f"{row['cost_ms']:.1f}"]
            print(f"{language:<10}{fuzzer:<8}{show[0]:>6}{show[1]:>7}{show[2]:>7}{show[3]:>10}  {lost or '-'}", flush=True)
            table.append(row)
    print(json.dumps({"execs": given.execs, "table": table}))


if __name__ == "__main__":
    main()
