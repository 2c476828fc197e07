"""Fuzzers in a comparison: what each is started with.

In:  an arm, as the comparisons' help names them, and a target's builds.
Out: the words of a command; its seeds are made.
"""

import sys
from pathlib import Path

from .process import sh
from .targets import TARGETS, dictionary

WUG = {"wug": [], "uniform": ["--schedule", "uniform"], "aggressive": ["--mutators", "aggressive"],
       "spot": ["--mutators", "spot"], "learn": [], "no-learn": ["--no-generalise"], "no-links": ["--no-links"]}
PLAIN = ("learn", "no-learn", "no-links", "afl-plain")
PRINTABLE = bytes(range(0x20, 0x7f)) + b"\n"
QUIET = {"AFL_NO_UI": "1", "AFL_SKIP_CPUFREQ": "1", "AFL_NO_AFFINITY": "1", "AFL_SKIP_CRASHES": "1",
         "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES": "1"}


def command(arm: str, name: str, number: int, builds: Path, folder: Path, seconds: int, wug: Path) -> list:
    """What an arm runs; its seeds are made before."""
    out, seeds, grammar = folder / "out", folder / "seeds", TARGETS[name].grammar
    seeds.mkdir()
    if arm in PLAIN:
        (seeds / "printable").write_bytes(PRINTABLE)
    elif not grammar:
        sys.exit(f"there is no grammar for {name}: it takes the arms {', '.join(PLAIN)}")
    if arm in WUG:
        start = ["-i", seeds] if arm in PLAIN else ["-g", grammar]
        return [wug, "fuzz", *start, "-o", out, "-V", seconds, "-s", number, *WUG[arm], "--", builds / "wug"]
    if arm == "afl":
        (seeds / "byte").write_bytes(b"0")
    elif arm == "afl+wug":
        sh([wug, "generate", grammar, "-n", "1000", "-s", str(number), "-d", "10", "-o", seeds])
    elif arm != "afl-plain":
        sys.exit(f"there is no arm `{arm}`")
    return ["afl-fuzz", "-i", seeds, "-o", out, "-V", seconds, "-t", "1000+", "-c", builds / "cmplog",
            "-x", dictionary(builds), "-s", number, "--", builds / "afl"]
