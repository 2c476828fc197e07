"""Processes of a comparison: tools, and fuzzers that are kept within bounds."""

import os
import subprocess
import sys
from pathlib import Path

NOBODY = 65534
LOG_BYTES = 1 << 20
FILE_BYTES = 256 << 20


def sh(command, **options) -> str:
    """Runs a tool; its failure ends the comparison."""
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode != 0:
        words = command if isinstance(command, str) else " ".join(map(str, command))
        sys.exit(f"{words}\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
    return done.stdout


def hand_over(folder: Path) -> None:
    """Gives a folder and all in it to the user that `bounded` runs as."""
    if os.getuid() != 0:
        return
    for top, folders, files in os.walk(folder):
        for name in [".", *folders, *files]:
            os.chown(os.path.join(top, name), NOBODY, NOBODY, follow_symlinks=False)


def bounded(command, log: Path, seconds: float, core: int | None = None, environment=None, folder=None) -> int:
    """Runs a program that runs what is fuzzed: without privileges, on one core,
    no file beyond a size, its output cut, ended with all it started after a time."""
    wrap = ["prlimit", f"--fsize={FILE_BYTES}", "--core=0", "--"]
    if os.getuid() == 0:
        wrap += ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--no-new-privs"]
    if core is not None:
        wrap = ["taskset", "-c", str(core), *wrap]
    words = list(map(str, [*wrap, *command]))
    with open(log, "wb") as kept:
        child = subprocess.Popen(["timeout", "--kill-after=10", str(seconds), *words], stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=folder,
                                 env={**os.environ, **(environment or {})})
        left = LOG_BYTES
        while part := child.stdout.read1(1 << 16):
            kept.write(part[:left])
            left -= min(left, len(part))
        return child.wait()
