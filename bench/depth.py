#!/usr/bin/env python3
"""Documents of XML that are made without a grammar: how many are nested.

    bench/depth.py [--seconds 180] [--runs 5] [--short] [--arms A,B]

Campaigns on expat from two seeds, all printable characters and a flat document,
with and without words that have to be the same (the arms learn and no-links of
bench/campaigns.py).
Counted are the well-formed documents among all inputs that the target is run on
whose elements are nested at least three deep, different in their elements and the
order of these. The harness counts them, in a part that is not instrumented
(bench/targets/deep.c), so that the count does not lead the fuzzer; it writes to a
file, so it is not confined.
"""

import struct

from lib import figures
from lib.runs import all_of, arguments
from lib.targets import DEEP


def prepare(run):
    (run.folder / "seeds/flat").write_text("<a>b</a>")
    counted = run.folder / "deep"
    counted.touch()
    return ["--no-confinement"], {"DEEP": str(counted)}


def measure(run, _) -> dict:
    with open(run.folder / "deep", "rb") as file:
        return {"nested": struct.unpack("<Q", file.read(8))[0]}


def main():
    given = arguments(__doc__, DEEP, ["learn", "no-links"], 180)
    results = all_of(given, list(DEEP), ["wug", "afl"], "nested", measure, prepare)
    title = f"documents nested 3 deep, {given.seconds} s, {given.runs} runs"
    figures.show(title, results, list(DEEP), given.arms, "nested")


if __name__ == "__main__":
    main()
