"""Targets from Debian's sources and from crates, with the builds that a comparison needs.

In:  the name of a target and a working folder.
Out: a folder with `wug` and `wug.traced` (ours), `afl` and `cmplog` (AFL++'s),
     `cover` (gcov) and, for old versions with bugs, `judge` (AddressSanitizer),
     all of the same sources and the same harness.
"""

import os
import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path

from . import crates
from .process import sh

ROOT = Path(__file__).resolve().parent.parent.parent
HARNESSES = ROOT / "bench/targets"


RIVALS = ["afl", "cmplog"]
"""The builds that afl-fuzz needs."""
FUZZED = ["wug", *RIVALS]
"""The builds that are fuzzed."""


@dataclass
class Target:
    package: str
    """Debian's source package, or a crate and its version."""
    grammar: str | None
    """Our built-in grammar."""
    sources: str
    """Patterns of its sources; with a `!` those to leave out."""
    inside: str = "."
    """The folder of the sources."""
    make: str | None = None
    """What makes the sources complete."""
    flags: list[str] = field(default_factory=list)
    checks: list[str] = field(default_factory=list)
    """What turns its assertions on, where bugs are looked for."""
    now: str | None = None
    """The target that it is an old version of: its harness is the same."""
    beside: list[str] = field(default_factory=list)
    """Parts of the harness that are compiled without instrumentation."""


LUA = ["-DLUA_USE_POSIX"]
LUA_CHECKS = ["-include", "assert.h", "-Dlua_assert=assert"]
SQLITE = ["-DSQLITE_THREADSAFE=0", "-DSQLITE_OMIT_LOAD_EXTENSION"]
SQLITE_CHECKS = ["-DSQLITE_DEBUG"]

CAMPAIGNS = {
    "lua": Target("lua5.4", "lua", "*.c !lua.c !luac.c", "src", "echo '' > lua5.4-deb-multiarch.h",
                  [*LUA, '-DDEB_HOST_MULTIARCH="any"'], LUA_CHECKS),
    "sqlite3": Target("sqlite3", "sql", "sqlite3.c", make="./configure && make sqlite3.c", flags=SQLITE,
                      checks=SQLITE_CHECKS),
    "cjson": Target("cjson", "json", "cJSON.c"),
    "expat": Target("expat", "xml", "xmlparse.c xmlrole.c xmltok.c", "expat/lib",
                    flags=["-DXML_DTD", "-DXML_NS", "-DXML_GE=1", "-DXML_CONTEXT_BYTES=1024", "-DXML_POOR_ENTROPY"]),
    "tcc": Target("tcc", None, "libtcc.c", make="./configure", flags=["-DONE_SOURCE=1"]),
}
"""What campaigns are compared on."""

def old_sqlite(crate: str, checks=()) -> Target:
    return Target(crate, "sql", "sqlite3.c", "sqlite3", flags=SQLITE, checks=[*checks], now="sqlite3")


OLD = {
    "sqlite-3.28.0": old_sqlite("libsqlite3-sys 0.15.0", SQLITE_CHECKS),
    "sqlite-3.29.0": old_sqlite("libsqlite3-sys 0.16.0"),
    "lua-5.4.0": Target("lua-src 540.0.0", "lua", "*.c !lua.c !luac.c", "lua-5.4.0", flags=LUA, checks=LUA_CHECKS,
                        now="lua"),
}
"""Old versions, with bugs that were mended since."""

DEEP = {"expat-deep": replace(CAMPAIGNS["expat"], now="expat", beside=["deep.c"])}
"""Counts nested documents that it is run on."""

TARGETS = {**CAMPAIGNS, **OLD, **DEEP}


def sources(name: str, work: Path) -> tuple[Path, list[Path]]:
    """The folder of a target's sources, and those to compile."""
    target = TARGETS[name]
    tree = work / "sources" / name
    ready = tree / ".ready"
    if not ready.exists():
        shutil.rmtree(tree, ignore_errors=True)
        if " " in target.package:
            tree.mkdir(parents=True)
            found = crates.fetch(*target.package.split(), work)
        else:
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


def build(name: str, work: Path, wug: Path, kinds: list[str]) -> Path:
    """Makes those of these builds that are not there yet."""
    folder, files = sources(name, work)
    out = work / "builds" / name
    target = TARGETS[name]
    flags = ["-O2", "-g", f"-I{folder}", *target.flags]
    harness = HARNESSES / f"{target.now or name}.c"

    def one(kind, compiler, extra, environment, more):
        program = out / kind
        if kind not in kinds or program.exists():
            return
        objects = out / f"{kind}.objects"
        objects.mkdir(parents=True, exist_ok=True)
        environment = {**os.environ, **environment}
        made = []
        for file in [harness, *more, *files]:
            path = objects / f"{file.stem}-{file.parent.name}.o"
            checks = target.checks if target.now or kind == "judge" else []
            sh([*compiler, *flags, *checks, *extra, "-c", file, "-o", path], env=environment)
            made.append(path)
        for file in target.beside:
            made.append(objects / f"{file}.o")
            sh(["gcc", "-O2", "-c", HARNESSES / file, "-o", made[-1]])
        sh([*compiler, *extra, *made, "-o", program, "-lm", "-ldl"], env=environment)

    afl = {"AFL_QUIET": "1"}
    one("wug", [wug, "cc"], [], {"WUG_BOTH": "1", "WUG_CC": "clang"}, [])
    one("afl", ["afl-clang-fast"], [], afl, [HARNESSES / "afl.c"])
    one("cmplog", ["afl-clang-fast"], [], {**afl, "AFL_LLVM_CMPLOG": "1"}, [HARNESSES / "afl.c"])
    one("cover", ["gcc"], ["--coverage"], {}, [HARNESSES / "cover.c"])
    one("judge", ["gcc"], ["-O1", "-fsanitize=address", "-fno-omit-frame-pointer"], {}, [HARNESSES / "judge.c"])
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
