#!/usr/bin/env python3
"""Inputs that nothing guides: branches that they reach, by how they are drawn.

    bench/unguided.py [--inputs 100000] [--runs 5] [--short] [--ways A,B] [TARGET...]

Gramatron's paper compares ways to draw inputs by the branches that 10^5 of them
reach without any feedback (its Table 1). Targets come from Debian's sources: lua,
sqlite3, cjson, each with our built-in grammar. Ways:
  walks      walks over the grammar's automaton, all transitions equally likely
  choice     plain choice, all alternatives of a rule equally likely
  uniform    all derivations of 1 to 100 bytes equally likely
  shapes     the same, a class of characters counted as one

No input has more than 2,000 bytes. Branches are counted by a build with gcov. Each
run is kept in the working folder as soon as it has ended, so that an interrupted
comparison goes on where it was. Every value is shown, with medians and A12, the
probability that a run of the first way reaches more than one of the other.
"""

import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path

from lib import cover, figures
from lib.targets import CAMPAIGNS, ROOT, build

WAYS = {
    "walks": ["--engine", "automaton", "--max-size", "2000"],
    "choice": ["--max-size", "2000"],
    "uniform": ["--uniform", "1..100"],
    "shapes": ["--uniform", "1..100", "--weight", "one"],
}
PIECE = 10_000
"""Inputs that are on the disk at once, each such piece with a seed of its own."""
SEPARATOR = "<=-=-wug-=-=>"
"""Not met by chance."""


def run(name, way, number, inputs, builds, folder, wug):
    result = folder / "result.json"
    if result.exists():
        return json.loads(result.read_text())
    scratch = folder / "cover"
    objects = cover.start(builds, scratch)
    size = 0
    made = scratch / "inputs"
    for piece in range(0, inputs, PIECE):
        count = min(PIECE, inputs - piece)
        with open(made, "wb") as out:
            words = [wug, "generate", CAMPAIGNS[name].grammar, *WAYS[way], "--separator", SEPARATOR, "-n", count, "-s",
                     number << 32 | piece]
            subprocess.run(list(map(str, words)), stdout=out, check=True)
        size += made.stat().st_size - count * len(SEPARATOR)
        cover.run_joined(builds, objects, made, SEPARATOR, count, scratch)
    taken, branches = cover.branches(objects)
    shutil.rmtree(scratch)
    one = {"target": name, "arm": way, "run": number, "inputs": inputs, "branches": taken, "of": branches,
           "mean_bytes": round(size / inputs, 1)}
    result.write_text(json.dumps(one))
    print(json.dumps(one), file=sys.stderr, flush=True)
    return one


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", metavar="TARGET", choices=[[], *(name for name in CAMPAIGNS if CAMPAIGNS[name].grammar)])
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--short", action="store_true", help="one run of 1,000 inputs each")
    parser.add_argument("--ways", default=",".join(WAYS), help="which; the first is compared with the others")
    parser.add_argument("--work", type=Path, default=ROOT / "target/campaigns")
    parser.add_argument("--wug", type=Path, default=ROOT / "target/release/wug")
    given = parser.parse_args()
    if given.short:
        given.inputs, given.runs = 1_000, 1
    names, ways = given.targets or ["lua", "sqlite3", "cjson"], given.ways.split(",")
    if unknown := [way for way in ways if way not in WAYS]:
        sys.exit(f"there is no way `{unknown[0]}`")
    work, wug = given.work.resolve(), given.wug.resolve()
    builds = {name: build(name, work, wug, ["cover"]) for name in names}
    results = [run(name, way, number, given.inputs, builds[name],
                   work / f"unguided-{given.inputs}" / name / f"{way}-{number}", wug)
               for number in range(1, given.runs + 1) for name in names for way in ways]
    figures.show(f"branches reached by {given.inputs} inputs, {given.runs} runs", results, names, ways, "branches")


if __name__ == "__main__":
    main()
