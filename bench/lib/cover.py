"""Lines and branches that inputs reach, counted by one build for all who made them.

In:  a target's builds, and the folder of a campaign or files.
Out: lines or branches of the target's own sources, harness left out.
"""

import json
import re
import shutil
from pathlib import Path

from .process import bounded, hand_over, sh

BATCH = 1_000


def lines(name: str, builds: Path, campaign: Path, scratch: Path) -> tuple[int, int]:
    """Lines reached and files run."""
    files = [path for path in sorted((campaign / "queue").iterdir()) if path.is_file()]
    objects = start(builds, scratch)
    run(builds, objects, files, scratch)
    data = counts(objects)
    found = []
    if data:
        text = sh(["gcov", "-n", "-o", objects, *data], cwd=scratch)
        found = re.findall(r"File '([^']*)'\nLines executed:([\d.]+)% of (\d+)", text)
    reached = sum(round(float(share) * int(count) / 100) for path, share, count in found
                  if not path.startswith("/usr"))
    shutil.rmtree(scratch)
    return reached, len(files)


def start(builds: Path, scratch: Path) -> Path:
    """An empty scratch folder with the objects of the build, where counts add up."""
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    objects = scratch / "objects"
    # Counts of whoever ran the build by hand do not count.
    shutil.copytree(builds / "cover.objects", objects, ignore=shutil.ignore_patterns("*.gcda"))
    hand_over(scratch)
    return objects


def run(builds: Path, objects: Path, files, scratch: Path) -> None:
    """Runs files; what they reach is added to the counts."""
    at = 0
    while at < len(files):
        at += max(1, once(builds, objects, files[at:at + BATCH], scratch))


def run_joined(builds: Path, objects: Path, inputs: Path, separator: str, count: int, scratch: Path) -> None:
    """Runs the inputs of one file, of which each has the separator behind it."""
    done = 0
    while done < count:
        done += max(1, once(builds, objects, [f"@{inputs}", separator, done + 1], scratch))


def once(builds: Path, objects: Path, words, scratch: Path) -> int:
    """Starts the build once; how many inputs it began. One that crashes or takes
    too long ends it; its counts are kept."""
    environment = {"GCOV_PREFIX": str(objects), "GCOV_PREFIX_STRIP": str(len((builds / "cover.objects").parts) - 1)}
    log = scratch / "log"
    bounded([builds / "cover", *words], log, 600, environment=environment)
    told = log.read_text(errors="replace").split()
    return int(told[-1]) if told and told[-1].isdigit() else 0


def counts(objects: Path) -> list[Path]:
    """The counts of the target's own sources, harness left out."""
    return [path for path in objects.glob("*.gcda") if not path.stem.endswith("-targets")]


def branches(objects: Path) -> tuple[int, int]:
    """Branches taken at least once, and all there are."""
    taken = {}
    for path in counts(objects):
        # One file at a time: together they are large.
        for one in sh(["gcov", "-b", "--json-format", "--stdout", "-o", objects, path], cwd=objects).splitlines():
            for file in json.loads(one)["files"]:
                if file["file"].startswith("/usr"):
                    continue
                for line in file["lines"]:
                    for number, branch in enumerate(line["branches"]):
                        key = (file["file"], line.get("function_name"), line["line_number"], number)
                        taken[key] = taken.get(key, False) or branch["count"] > 0
    return sum(taken.values()), len(taken)
