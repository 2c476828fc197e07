#!/usr/bin/env python3
"""Campaigns of wug beside those of afl-fuzz: lines reached in the same time.

    bench/campaigns.py [--seconds 180] [--runs 5] [--short] [--arms A,B] [TARGET...]

Targets come from Debian's sources: lua, sqlite3, cjson, expat, tcc. Arms, one core
each:
  wug         wug fuzz with our built-in grammar, no seeds
  afl         afl-fuzz with cmplog and a dictionary of the binary's strings, from a
              seed of one byte
  afl+wug     the same afl-fuzz, started on 1,000 inputs of `wug generate`
  uniform     as wug, with mutators drawn alike (--schedule uniform)
  aggressive  as wug, with Gramatron's mutations alone (--mutators aggressive)
  spot        as wug, with small mutations alone (--mutators spot)
and without a grammar, from one seed of all printable characters:
  learn       wug fuzz, which learns the structure of its inputs
  no-learn    the same without that (--no-generalise)
  no-links    the same without words that have to be the same (--no-links)
  afl-plain   afl-fuzz as above, from that seed

An arm with `-before` behind its name is run by another wug, given by --before: to
compare two versions.

All run the same harness in persistent mode, two at a time, each on a core of its
own. What the queues reach is counted by one other build with gcov. Each run is
kept in the working folder as soon as it has ended, so that an interrupted
comparison goes on where it was. Every value is shown, with medians and A12, the
probability that a run of the first arm reaches more than one of the other.
"""

from lib import cover, figures
from lib.runs import all_of, arguments
from lib.targets import CAMPAIGNS, FUZZED


def measure(run, campaign) -> dict:
    lines, entries = cover.lines(run.target, run.builds, campaign, run.folder / "cover")
    return {"lines": lines, "entries": entries}


def main():
    given = arguments(__doc__, CAMPAIGNS, ["wug", "afl", "afl+wug"], 180)
    names = given.targets or ["lua", "sqlite3", "cjson"]
    results = all_of(given, names, [*FUZZED, "cover"], "lines", measure)
    figures.show(f"lines reached in {given.seconds} s, {given.runs} runs", results, names, given.arms, "lines")


if __name__ == "__main__":
    main()
