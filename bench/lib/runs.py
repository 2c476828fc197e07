"""Runs of a comparison: each is kept as soon as it has ended, so that an
interrupted comparison goes on where it was.

In:  what the user gives, and how the campaign of a run is measured.
Out: what was measured of all runs.
"""

import argparse
import json
import os
import shutil
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

from .arms import QUIET, command
from .process import bounded, hand_over
from .targets import RIVALS, ROOT, build, dictionary


def arguments(help_text: str, targets, arms, seconds: int) -> argparse.Namespace:
    """What the user gives; the arms are a list."""
    parser = argparse.ArgumentParser(description=help_text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", metavar="TARGET", choices=[[], *targets])
    parser.add_argument("--seconds", type=int, default=seconds)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--short", action="store_true", help="one run of 20 seconds each")
    parser.add_argument("--arms", default=",".join(arms), help="which; the first is compared with the others")
    parser.add_argument("--work", type=Path, default=ROOT / "target/campaigns")
    parser.add_argument("--wug", type=Path, default=ROOT / "target/release/wug")
    parser.add_argument("--before", type=Path, help="another wug: that of the arms that end with -before")
    given = parser.parse_args()
    if given.short:
        given.seconds, given.runs = 20, 1
    given.arms = given.arms.split(",")
    given.work, given.wug = given.work.resolve(), given.wug.resolve()
    return given


@dataclass
class Run:
    target: str
    arm: str
    number: int
    builds: Path
    folder: Path


def all_of(given: argparse.Namespace, names, kinds, what: str, measure, prepare=lambda run: ([], {})) -> list[dict]:
    """Runs all arms on all targets, one run at a time on each core. What
    `measure(run, campaign)` tells of a campaign's folder is kept by a name, so that
    several measures share campaigns. `prepare(run)` gives further options of wug and
    an environment."""
    rivals = any(arm.startswith("afl") for arm in given.arms)
    kinds = [kind for kind in kinds if rivals or kind not in RIVALS]
    builds = {name: build(name, given.work, given.wug, kinds) for name in names}
    if rivals:
        for name in names:
            dictionary(builds[name])
    waiting = [Run(name, arm, number, builds[name], given.work / f"runs-{given.seconds}" / name / f"{arm}-{number}")
               for number in range(1, given.runs + 1) for name in names for arm in turned(given.arms, number)]
    results, count, lock = [], len(waiting), threading.Lock()

    def worker(core):
        while True:
            with lock:
                if not waiting:
                    return
                run = waiting.pop(0)
            one = kept(given, run, core, what, measure, prepare)
            with lock:
                results.append(one)

    workers = [threading.Thread(target=worker, args=[core]) for core in sorted(os.sched_getaffinity(0))]
    for thread in workers:
        thread.start()
    for thread in workers:
        thread.join()
    if len(results) < count:
        sys.exit("some runs failed; the same command goes on with the others")
    return sorted(results, key=lambda one: one["run"])


def turned(arms: list[str], number: int) -> list[str]:
    """The arms in another order for each run: cores are not alike, and each worker
    has one."""
    at = number % len(arms)
    return arms[at:] + arms[:at]


def kept(given: argparse.Namespace, run: Run, core: int, what: str, measure, prepare) -> dict:
    """What was measured of a run: as it was kept, or now."""
    result = run.folder / f"{what}.json"
    if result.exists():
        return json.loads(result.read_text())
    campaign, ended = run.folder / "out/default", run.folder / "ended"
    if not ended.exists():
        shutil.rmtree(run.folder, ignore_errors=True)
        run.folder.mkdir(parents=True)
        arm = run.arm.removesuffix("-before")
        if arm != run.arm and not given.before:
            sys.exit(f"{run.arm} needs --before")
        wug = given.wug if arm == run.arm else given.before.resolve()
        words = command(arm, run.target, run.number, run.builds, run.folder, given.seconds, wug)
        options, environment = prepare(run)
        words[2:2] = options
        hand_over(run.folder)
        status = bounded(words, run.folder / "log", given.seconds * 2 + 60, core, {**QUIET, **environment})
        if not any((campaign / "queue").glob("id:*")):
            sys.exit(f"no queue of {run.arm} on {run.target}, exit code {status}: see {run.folder / 'log'}")
        ended.write_text("")
    one = {"target": run.target, "arm": run.arm, "run": run.number, "seconds": given.seconds,
           **told(campaign), **measure(run, campaign)}
    result.write_text(json.dumps(one))
    print(json.dumps(one), file=sys.stderr, flush=True)
    return one


def told(campaign: Path) -> dict:
    """What a fuzzer says of its campaign."""
    path = campaign / "fuzzer_stats"
    pairs = [line.split(":", 1) for line in path.read_text().splitlines() if ":" in line] if path.exists() else []
    said = {key.strip(): value.strip() for key, value in pairs}
    return {"execs": int(said.get("execs_done", 0)), "crashes": int(said.get("saved_crashes", 0))}
