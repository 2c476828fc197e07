"""Targets from Debian's sources, each with the builds that a comparison needs.

In:  the name of a target and a working folder.
Out: a folder with `wug` and `wug.traced` (ours), `afl` and `cmplog` (AFL++'s) and
     `cover` (gcov), all of the same sources and the same harness.
"""

import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from .process import sh

ROOT = Path(__file__).resolve().parent.parent.parent
HARNESSES = ROOT / "bench/targets"


@dataclass
class Target:
    package: str
    """Debian's source package."""
    grammar: str
    """Our built-in grammar."""
    sources: str
    """Patterns of its sources; with a `!` those to leave out."""
    inside: str = "."
    """The folder of the sources."""
    make: str | None = None
    """What makes the sources complete."""
    flags: list[str] = field(default_factory=list)


TARGETS = {
    "lua": Target("lua5.4", "lua", "*.c !lua.c !luac.c", "src", "echo '' > lua5.4-deb-multiarch.h",
                  ["-DLUA_USE_POSIX", '-DDEB_HOST_MULTIARCH="any"']),
    "sqlite3": Target("sqlite3", "sql", "sqlite3.c", make="./configure && make sqlite3.c",
                      flags=["-DSQLITE_THREADSAFE=0", "-DSQLITE_OMIT_LOAD_EXTENSION"]),
    "cjson": Target("cjson", "json", "cJSON.c"),
}


def sources(name: str, work: Path) -> tuple[Path, list[Path]]:
    """The folder of a target's sources, and those to compile."""
    target = TARGETS[name]
    tree = work / "sources" / name
    ready = tree / ".ready"
    if not ready.exists():
        shutil.rmtree(tree, ignore_errors=True)
        sh([ROOT / "tools/debian-source", target.package, tree])
        (found,) = [path for path in tree.iterdir() if path.is_dir()]
        if target.make:
            sh(target.make, shell=True, cwd=found / target.inside)
        ready.write_text(str(found / target.inside))
    folder = Path(ready.read_text())
    words = target.sources.split()
    left_out = {word[1:] for word in words if word.startswith("!")}
    files = [path for word in words if not word.startswith("!") for path in sorted(folder.glob(word))]
    return folder, [path for path in files if path.name not in left_out]


def build(name: str, work: Path, wug: Path) -> Path:
    """Makes the builds that are not there yet."""
    folder, files = sources(name, work)
    out = work / "builds" / name
    flags = ["-O2", "-g", f"-I{folder}", *TARGETS[name].flags]
    harness = HARNESSES / f"{name}.c"

    def one(kind, compiler, extra, environment, more):
        program = out / kind
        if program.exists():
            return
        objects = out / f"{kind}.objects"
        objects.mkdir(parents=True, exist_ok=True)
        environment = {**os.environ, **environment}
        made = []
        for file in [harness, *more, *files]:
            path = objects / f"{file.stem}-{file.parent.name}.o"
            sh([*compiler, *flags, *extra, "-c", file, "-o", path], env=environment)
            made.append(path)
        sh([*compiler, *extra, *made, "-o", program, "-lm", "-ldl"], env=environment)

    afl = {"AFL_QUIET": "1"}
    one("wug", [wug, "cc"], [], {"WUG_BOTH": "1", "WUG_CC": "clang"}, [])
    one("afl", ["afl-clang-fast"], [], afl, [HARNESSES / "afl.c"])
    one("cmplog", ["afl-clang-fast"], [], {**afl, "AFL_LLVM_CMPLOG": "1"}, [HARNESSES / "afl.c"])
    one("cover", ["gcc"], ["--coverage"], {}, [HARNESSES / "cover.c"])
    for path in [work, work / "builds", out]:
        path.chmod(0o755)
    return out


def dictionary(builds: Path) -> Path:
    """The strings of AFL++'s build, as AFL++ reads them."""
    path = builds / "strings.dict"
    if not path.exists():
        words = sh(["strings", "-n", "3", builds / "afl"]).splitlines()
        # AFL++ 4.04 reads a line with a tab again and again.
        words = sorted({word for word in words if len(word) <= 32 and word.isprintable() and not {'"', "\\"} & {*word}})
        path.write_text("".join(f'"{word}"\n' for word in words[:4000]))
    return path
