#!/usr/bin/env python3
"""Campaigns of wug beside those of afl-fuzz: lines reached in the same time.

    bench/campaigns.py [--seconds 180] [--runs 5] [--short] [--arms A,B] [TARGET...]

Targets come from Debian's sources: lua, sqlite3, cjson. Arms, one core each:
  wug        wug fuzz with our built-in grammar, no seeds
  afl        afl-fuzz with cmplog and a dictionary of the binary's strings, from a
             seed of one byte
  afl+wug    the same afl-fuzz, started on 1,000 inputs of `wug generate`
  uniform    as wug, with mutators drawn alike (--schedule uniform)

All run the same harness in persistent mode, two at a time, each on a core of its
own. What the queues reach is counted by one other build with gcov. Each run is
kept in the working folder as soon as it has ended, so that an interrupted
comparison goes on where it was. Every value is shown, with medians and A12, the
probability that a run of the first arm reaches more than one of the other.
"""

import argparse
import json
import os
import shutil
import sys
import threading
from pathlib import Path

from lib import cover, figures
from lib.process import bounded, hand_over, sh
from lib.targets import ROOT, TARGETS, build, dictionary

ARMS = ["wug", "afl", "afl+wug"]
QUIET = {"AFL_NO_UI": "1", "AFL_SKIP_CPUFREQ": "1", "AFL_NO_AFFINITY": "1", "AFL_SKIP_CRASHES": "1",
         "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES": "1"}


def command(arm, name, number, builds, folder, seconds, wug):
    """What an arm runs; its seeds are made before."""
    out = folder / "out"
    if arm in ("wug", "uniform"):
        more = ["--schedule", "uniform"] if arm == "uniform" else []
        return [wug, "fuzz", "-g", TARGETS[name].grammar, "-o", out, "-V", seconds, "-s", number, *more,
                "--", builds / "wug"]
    seeds = folder / "seeds"
    seeds.mkdir()
    if arm == "afl":
        (seeds / "byte").write_bytes(b"0")
    elif arm == "afl+wug":
        sh([wug, "generate", TARGETS[name].grammar, "-n", "1000", "-s", str(number), "-d", "10", "-o", seeds])
    else:
        sys.exit(f"there is no arm `{arm}`")
    return ["afl-fuzz", "-i", seeds, "-o", out, "-V", seconds, "-t", "1000+", "-c", builds / "cmplog", "-x", dictionary(builds),
            "-s", number, "--", builds / "afl"]


def told(campaign: Path) -> dict:
    path = campaign / "fuzzer_stats"
    pairs = [line.split(":", 1) for line in path.read_text().splitlines() if ":" in line] if path.exists() else []
    return {key.strip(): value.strip() for key, value in pairs}


def run(job, core):
    arm, name, number, builds, folder, seconds, wug = job
    result = folder / "result.json"
    if result.exists():
        return json.loads(result.read_text())
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    words = command(arm, name, number, builds, folder, seconds, wug)
    hand_over(folder)
    status = bounded(words, folder / "log", seconds * 2 + 60, core, QUIET)
    campaign = folder / "out/default"
    if not (campaign / "queue").is_dir():
        sys.exit(f"no queue of {arm} on {name}, exit code {status}: see {folder / 'log'}")
    lines, entries = cover.lines(name, builds, campaign, folder / "cover")
    stats = told(campaign)
    one = {"target": name, "arm": arm, "run": number, "seconds": seconds, "lines": lines, "entries": entries,
           "execs": int(stats.get("execs_done", 0)), "crashes": int(stats.get("saved_crashes", 0))}
    result.write_text(json.dumps(one))
    print(json.dumps(one), file=sys.stderr, flush=True)
    return one


def all_of(jobs, cores):
    """Runs all jobs, one at a time on each core."""
    results, waiting, lock = [], list(jobs), threading.Lock()

    def worker(core):
        while True:
            with lock:
                if not waiting:
                    return
                job = waiting.pop(0)
            one = run(job, core)
            with lock:
                results.append(one)

    workers = [threading.Thread(target=worker, args=[core]) for core in cores]
    for thread in workers:
        thread.start()
    for thread in workers:
        thread.join()
    if waiting or len(results) < len(jobs):
        sys.exit("some runs failed; the same command goes on with the others")
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", metavar="TARGET", choices=[[], *TARGETS])
    parser.add_argument("--seconds", type=int, default=180)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--short", action="store_true", help="one run of 20 seconds each")
    parser.add_argument("--arms", default=",".join(ARMS), help="which; the first is compared with the others")
    parser.add_argument("--work", type=Path, default=ROOT / "target/campaigns")
    parser.add_argument("--wug", type=Path, default=ROOT / "target/release/wug")
    given = parser.parse_args()
    if given.short:
        given.seconds, given.runs = 20, 1
    names, arms = given.targets or list(TARGETS), given.arms.split(",")
    work, wug = given.work.resolve(), given.wug.resolve()
    builds = {name: build(name, work, wug) for name in names}
    for name in names:
        dictionary(builds[name])
    jobs = [(arm, name, number, builds[name], work / f"runs-{given.seconds}" / name / f"{arm}-{number}",
             given.seconds, wug)
            for number in range(1, given.runs + 1) for name in names for arm in arms]
    results = all_of(jobs, sorted(os.sched_getaffinity(0)))
    figures.show(f"lines reached in {given.seconds} s, {given.runs} runs", results, names, arms, "lines")


if __name__ == "__main__":
    main()
