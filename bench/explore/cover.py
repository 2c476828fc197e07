"""Branches of a subject that valid inputs take, and afl-fuzz beside.

A build of the subject with gcc's counters runs every input that a tool kept;
those that it rejects do not count. gcov tells which branches were taken;
the harness is left out. Of Rust, edges are counted by AFL++'s runtime instead.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from lib.process import bounded, hand_over, sh  # noqa: E402

COUNTED = ["--coverage", "-O0"]
# What a run of one input may take.
SECONDS = 5
# Rust for afl-fuzz, with the edges that rustc can count and AFL++'s runtime.
AFL_RUNTIME = Path(shutil.which("afl-fuzz") or "afl-fuzz").parent.parent / "lib/afl/afl-compiler-rt.o"
AFL_RUSTFLAGS = ("-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=3 "
                 f"-Cllvm-args=-sanitizer-coverage-trace-pc-guard -Clink-arg={AFL_RUNTIME}")


def build(program, compiler, flags, files, environment=None):
    """Compiles a subject into a folder of its own, once."""
    folder = program.parent / f"{program.name}.objects"
    if not program.exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        command = [*compiler, "-g", "-w", *flags, *map(str, files), "-o", program.name, "-lm", "-ldl"]
        sh(command, cwd=folder, env={**os.environ, **(environment or {})})
        (folder / program.name).rename(program)
    return program


def afl(work, program, seconds, seed):
    """A campaign of afl-fuzz from one space, unless it is there already."""
    out = work / "afl" / f"{program.name}.{seconds}s.{seed}"
    if (out / "done").exists():
        return out
    shutil.rmtree(out, ignore_errors=True)
    seeds = out / "in"
    seeds.mkdir(parents=True)
    (seeds / "space").write_text(" ")
    environment = {
        "AFL_SKIP_CPUFREQ": "1",
        "AFL_NO_UI": "1",
        "AFL_NO_AFFINITY": "1",
        "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES": "1",
    }
    hand_over(out)
    for folder in [work, work / "afl", work / "bin"]:
        folder.chmod(0o755)
    command = ["afl-fuzz", "-s", seed, "-V", seconds, "-t", "200", "-i", seeds, "-o", out / "out", "--", program]
    log = out.parent / f"{out.name}.log"
    bounded(command, log, seconds + 60, environment=environment)
    if not (out / "out/default/fuzzer_stats").exists():
        sys.exit(f"afl-fuzz did not run: see {log}")
    (out / "done").touch()
    return out


def accepts(program, path) -> bool:
    """Whether a program accepts an input."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    try:
        with open(path, "rb") as text:
            return subprocess.run([program], stdin=text, timeout=SECONDS, **quiet).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def edges(program, files):
    """Edges that accepted inputs take by afl-showmap, edges in all, and how many
    inputs these were."""
    with tempfile.TemporaryDirectory() as folder:
        inputs, result = Path(folder) / "inputs", Path(folder) / "map"
        inputs.mkdir()
        accepted = [path for path in files if accepts(program, path)]
        for number, path in enumerate(accepted):
            shutil.copy(path, inputs / str(number))
        # It tells the size, and fails.
        told = subprocess.run([program], env={**os.environ, "AFL_DUMP_MAP_SIZE": "1"}, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True)
        if accepted:
            sh(["afl-showmap", "-q", "-C", "-i", inputs, "-o", result, "--", program])
        taken = len(result.read_text().splitlines()) if accepted else 0
    return taken, int(told.stdout), len(accepted)


def branches(program, files):
    """Branches taken by the inputs that are accepted, branches in all, and how
    many inputs these were. The counters of a rejected input are put back."""
    folder = program.parent / f"{program.name}.objects"
    for old in folder.glob("*.gcda"):
        old.unlink()
    accepted = 0
    kept = folder / "kept"
    for path in files:
        shutil.rmtree(kept, ignore_errors=True)
        kept.mkdir()
        for counts in folder.glob("*.gcda"):
            shutil.copy(counts, kept)
        if accepts(program, path):
            accepted += 1
            continue
        for counts in folder.glob("*.gcda"):
            counts.unlink()
        for counts in kept.iterdir():
            shutil.copy(counts, folder)
    shutil.rmtree(kept, ignore_errors=True)
    data = [path for path in folder.glob("*.gcda")]
    if not data:
        if accepted:
            sys.exit(f"{program} left no counts in {folder}: build it anew, in its place")
        return 0, 0, 0
    told = sh(["gcov", "-b", "-n", "-o", str(folder), *map(str, data)], cwd=folder)
    taken = total = 0
    for part in told.split("File '")[1:]:
        name = Path(part.split("'")[0])
        found = re.search(r"Taken at least once:([\d.]+)% of (\d+)", part)
        harness = name.parent == HERE / "subjects" and name.name != "tinyc.c"
        if found and not harness and not str(name).startswith("/usr"):
            taken += round(float(found[1]) * int(found[2]) / 100)
            total += int(found[2])
    return taken, total, accepted
