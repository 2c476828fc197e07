"""Lines that a queue reaches, counted by one build for all fuzzers.

In:  a target's builds and the folder of a campaign.
Out: lines of the target's own sources, harness left out.
"""

import re
import shutil
from pathlib import Path

from .process import bounded, hand_over, sh

BATCH = 1_000


def lines(name: str, builds: Path, campaign: Path, scratch: Path) -> tuple[int, int]:
    """Lines reached and files run."""
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    objects = scratch / "objects"
    shutil.copytree(builds / "cover.objects", objects)
    files = [path for path in sorted((campaign / "queue").iterdir()) if path.is_file()]
    hand_over(scratch)
    environment = {"GCOV_PREFIX": str(objects), "GCOV_PREFIX_STRIP": str(len((builds / "cover.objects").parts) - 1)}
    at = 0
    log = scratch / "log"
    while at < len(files):
        batch = files[at:at + BATCH]
        bounded([builds / "cover", *batch], log, 600, environment=environment)
        # A file that crashes or takes too long ends a batch; its counts are kept.
        told = log.read_text(errors="replace").split()
        at += max(1, int(told[-1]) if told and told[-1].isdigit() else 1)
    data = [path for path in objects.glob("*.gcda") if not path.stem.endswith("-targets")]
    found = []
    if data:
        text = sh(["gcov", "-n", "-o", objects, *data], cwd=scratch)
        found = re.findall(r"File '([^']*)'\nLines executed:([\d.]+)% of (\d+)", text)
    reached = sum(round(float(share) * int(count) / 100) for path, share, count in found
                  if not path.startswith("/usr"))
    shutil.rmtree(scratch)
    return reached, len(files)
