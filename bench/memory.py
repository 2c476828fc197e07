#!/usr/bin/env python3
"""What a campaign holds in memory over a long time.

    bench/memory.py [--seconds 3600] [--workers 2] [--bound 1280] [--work FOLDER] [--wug WUG] [TARGET]

One campaign with our built-in grammar on a target of bench/campaigns.py (sqlite3
unless told). Every second, the memory of each process of wug is read, and the most
that it ever held (VmHWM). Fails if that is above the bound, in MiB, which
docs/campaigns.md states for each worker.
"""

import argparse
import json
import shutil
import sys
import threading
import time
from pathlib import Path

from lib.arms import QUIET
from lib.process import bounded, hand_over
from lib.runs import told
from lib.targets import CAMPAIGNS, ROOT, build

SHOWN = 12
"""Rows of the table."""


def held(wug: Path) -> dict[int, tuple[int, int]]:
    """MiB that each process of this program holds, and the most it ever did."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if not (process / "exe").samefile(wug):
                continue
            status = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines())
            now, most = (int(status[key].split()[0]) // 1024 for key in ("VmRSS", "VmHWM"))
        except (OSError, KeyError):
            continue  # It has ended.
        found[int(process.name)] = (now, most)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    with_grammar = [name for name, target in CAMPAIGNS.items() if target.grammar]
    parser.add_argument("target", nargs="?", default="sqlite3", choices=with_grammar, metavar="TARGET")
    parser.add_argument("--seconds", type=int, default=3600)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--bound", type=int, default=1280)
    parser.add_argument("--work", type=Path, default=ROOT / "target/campaigns")
    parser.add_argument("--wug", type=Path, default=ROOT / "target/release/wug")
    given = parser.parse_args()
    work, folder = given.work.resolve(), given.work.resolve() / f"memory-{given.target}"
    builds = build(given.target, work, given.wug.resolve(), ["wug"])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    # A program of its own, so that its processes are known.
    wug = folder / "wug"
    shutil.copy(given.wug, wug)
    hand_over(folder)
    words = [wug, "fuzz", "-g", CAMPAIGNS[given.target].grammar, "-o", folder / "out", "-j", given.workers,
             "-V", given.seconds, "--", builds / "wug"]
    statuses = []
    campaign = threading.Thread(target=lambda: statuses.append(
        bounded(words, folder / "log", given.seconds + 120, environment=QUIET)))
    campaign.start()
    begin, most, rows = time.monotonic(), {}, []
    while campaign.is_alive():
        now = held(wug)
        for pid, (_, peak) in now.items():
            most[pid] = max(most.get(pid, 0), peak)
        passed = time.monotonic() - begin
        if now and passed >= given.seconds * len(rows) / SHOWN:
            rows.append({"seconds": round(passed), "mib": sorted((mib for mib, _ in now.values()), reverse=True)})
            print(f"{rows[-1]['seconds']:>6} s  MiB of each process: {' '.join(map(str, rows[-1]['mib']))}", flush=True)
        time.sleep(1)
    workers = {path.parent.name: told(path.parent) for path in sorted((folder / "out").glob("*/fuzzer_stats"))}
    peak = max(most.values(), default=0)
    fine = statuses == [0] and len(workers) == given.workers and 0 < peak <= given.bound
    print(f"most of one process: {peak} MiB, bound {given.bound} MiB: {'held' if fine else 'NOT HELD'}")
    print(json.dumps({"target": given.target, "seconds": given.seconds, "status": statuses, "workers": workers,
                      "most": sorted(most.values(), reverse=True), "bound": given.bound, "rows": rows}))
    sys.exit(not fine)


if __name__ == "__main__":
    main()
