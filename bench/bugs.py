#!/usr/bin/env python3
"""Known bugs in old versions of libraries: how long until wug and afl-fuzz meet them.

    bench/bugs.py [--seconds 300] [--runs 5] [--short] [--arms A,B] [TARGET...]

The old versions are those that crates carry: sqlite-3.28.0 with assertions,
sqlite-3.29.0 without, lua-5.4.0 with. Arms are those of bench/campaigns.py; wug
and afl unless told. Each campaign runs for its whole time.
What it saved as crashes is run by another build, with AddressSanitizer; the kind
of error and its function name the bug, and its time is that of the first such
input. A bug counts as known if the version that Debian has now runs the same
input without complaint, built with AddressSanitizer and assertions.
Each run is kept, as in bench/campaigns.py.
"""

import json
import re
import statistics

from lib.process import bounded
from lib.runs import all_of, arguments
from lib.targets import FUZZED, OLD, TARGETS, build

ERROR = re.compile(r"SUMMARY: AddressSanitizer: (?P<kind>\S+) \S+ in (?P<where>\S+)|: (?P<check>\w+): Assertion `")


def error(judge, file, log) -> str | None:
    """What a build complains of."""
    status = bounded([judge / "judge", file], log, 60, environment={"ASAN_OPTIONS": "detect_leaks=0"})
    found = ERROR.search(log.read_text(errors="replace"))
    if found:
        return f"{found['kind'] or 'assertion'} in {found['where'] or found['check']}"
    return None if status in (0, 124) else f"exit code {status}"


def judge_of_now(given, name: str):
    """The judge of the version that Debian has."""
    return build(TARGETS[name].now, given.work, given.wug, ["judge"])


def measure(given, run, campaign) -> dict:
    """Bugs that a campaign found, each with the time of its first input."""
    now = judge_of_now(given, run.target)
    log, found = run.folder / "judge.log", {}
    for file in sorted((campaign / "crashes").glob("id*")):
        bug = error(run.builds, file, log)
        seconds = int(re.search(r"time:(\d+)", file.name)[1]) / 1000
        if bug and error(now, file, log) is None:
            found[bug] = min(found.get(bug, seconds), seconds)
    return {"bugs": found}


def main():
    given = arguments(__doc__, OLD, ["wug", "afl"], 300)
    names = given.targets or list(OLD)
    for name in names:
        judge_of_now(given, name)  # once, before several runs want it
    results = all_of(given, names, [*FUZZED, "judge"], "bugs", lambda run, campaign: measure(given, run, campaign))
    print(f"seconds to each bug, of {given.seconds}, {given.runs} runs; - where it was not met\n")
    table = []
    for name in names:
        of_target = [one for one in results if one["target"] == name]
        for bug in sorted({bug for one in of_target for bug in one["bugs"]}):
            print(f"{name}: {bug}")
            for arm in given.arms:
                times = [one["bugs"].get(bug) for one in of_target if one["arm"] == arm]
                median = statistics.median(given.seconds if time is None else time for time in times)
                shown = "-" if median >= given.seconds else f"{median:.0f}"
                values = " ".join("-" if time is None else f"{time:.0f}" for time in times)
                print(f"  {arm:<10}median {shown:>5}  values {values}")
                table.append({"target": name, "bug": bug, "arm": arm, "median": median, "seconds": times})
    print(json.dumps({"table": table, "results": results}))


if __name__ == "__main__":
    main()
