#!/usr/bin/env python3
"""Builds programs from their Debian sources with `wug cc`, and runs the test
suites that they ship.

    tools/debian_targets.py [--work FOLDER] [--fetch] [--again] [--compiler gcc|clang] [NAME...]

Sources come by apt from wherever this machine's apt looks, with a private
configuration that adds deb-src; nothing of the system's is changed. What was
built and passed is kept in FOLDER (default: target/debian) and not done again:
an interrupted run goes on where it was. `--needs` prints the packages that the
builds need.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NEEDS = "dpkg-dev cmake autoconf automake libtool tcl-dev ruby rake bison flex libonig-dev".split()

# Package, folder inside the source, commands. $CC and $CXX are ours. The last
# commands are the test suite.
TARGETS = {
    "lua": (
        "lua5.4",
        "src",
        [
            "mkdir ../debian/libtool && cp ../debian/configure.ac ../debian/libtool",
            "cd ../debian/libtool && LIBTOOLIZE='libtoolize -i' autoreconf -f -i && ./configure",
            'echo "#define DEB_HOST_MULTIARCH \\"$(gcc -print-multiarch)\\"" > lua5.4-deb-multiarch.h',
        ],
        ["make -j2 linux LIBTOOL=../debian/libtool/libtool CC=\"$CC -std=gnu99\" CXX=\"$CXX\""],
        ["./lua TESTS", "./luac -p TESTS"],
    ),
    "cjson": (
        "cjson",
        ".",
        ["cmake -S . -B build -DENABLE_CJSON_TEST=On -DCMAKE_C_COMPILER=\"$WRAPPED_CC\" -DENABLE_CJSON_UTILS=On"],
        ["cmake --build build -j2"],
        ["ctest --test-dir build --output-on-failure"],
    ),
    "expat": (
        "expat",
        "expat",
        ["./buildconf.sh", "./configure --without-docbook"],
        ["make -j2"],
        ["make check"],
    ),
    "jq": (
        "jq",
        ".",
        ["autoreconf -fi", "./configure --disable-maintainer-mode --disable-docs --disable-valgrind"],
        ["make -j2"],
        ["make check"],
    ),
    "mruby": ("mruby", ".", [], ["LD=\"$CC\" rake -j2 all"], ["LD=\"$CC\" rake test"]),
    "sqlite3": (
        "sqlite3",
        ".",
        ["./configure --disable-tcl"],
        ["make -j2 sqlite3 fuzzcheck sessionfuzz threadtest3"],
        ["make fuzztest", "./threadtest3"],
    ),
}
# Lua ships no suite of its own: this stands in for one.
LUA_TEST = """
local t = {} for i = 1, 1000 do t[i] = i * i end
assert(#t == 1000 and t[31] == 961 and select('#', table.unpack(t, 1, 200)) == 200)
assert(string.format('%5.2f|%s|%q', 3.14159, 'x', 'a\\nb'):find('3.14', 1, true))
assert(pcall(error, 'x') == false and load('return 1 + 1')() == 2)
local co = coroutine.wrap(function() for i = 1, 3 do coroutine.yield(i) end end)
assert(co() + co() + co() == 6 and ('abc'):gsub('%w', '%0%0') == 'aabbcc')
print('ok')
"""


def apt(work):
    """Options that make apt use sources, in a folder of its own."""
    home = work / "apt"
    parts = home / "sources"
    for folder in (parts, home / "lists" / "partial", home / "cache" / "archives" / "partial"):
        folder.mkdir(parents=True, exist_ok=True)
    own = [Path("/etc/apt/sources.list"), *sorted(Path("/etc/apt/sources.list.d").glob("*"))]
    for path in own:
        if not path.is_file() or path.suffix not in (".list", ".sources"):
            continue
        text = path.read_text()
        if path.suffix == ".sources":
            text = re.sub(r"(?m)^Types:.*$", "Types: deb-src", text)
        else:
            text = re.sub(r"(?m)^deb\s", "deb-src ", text)
        (parts / path.name).write_text(text)
    return [
        f"-oDir::Etc::sourceparts={parts}",
        "-oDir::Etc::sourcelist=/dev/null",
        f"-oDir::State::lists={home / 'lists'}",
        f"-oDir::Cache={home / 'cache'}",
        "-oAPT::Sandbox::User=root",
        "-oDebug::NoLocking=1",
    ]


def fetch(work, package):
    """Unpacks a package's source; of its versions the newest that is still there."""
    place = work / "sources" / package
    done = place / "tree"
    if done.is_dir():
        return done
    options = apt(work)
    if not any((work / "apt" / "lists").glob("*Sources*")):
        subprocess.run(["apt-get", *options, "-qq", "update"], check=True)
    shown = subprocess.run(
        ["apt-cache", *options, "showsrc", package], capture_output=True, text=True, check=True
    ).stdout
    versions = []
    for paragraph in shown.split("\n\n"):
        fields = dict(re.findall(r"(?m)^(\S+): (.*)$", paragraph))
        if fields.get("Package") == package and fields["Version"] not in versions:
            versions.append(fields["Version"])
    by_age = sorted(versions, key=version_key, reverse=True)
    for version in by_age:
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        got = subprocess.run(
            ["apt-get", *options, "-qq", "source", "--download-only", f"{package}={version}"],
            cwd=place,
            capture_output=True,
            text=True,
        )
        dsc = list(place.glob("*.dsc"))
        if got.returncode == 0 and dsc:
            subprocess.run(
                ["dpkg-source", "--no-check", "-x", dsc[0].name, "unpacked"], cwd=place, check=True, capture_output=True
            )
            (place / "unpacked").rename(done)
            (place / "version").write_text(version)
            return done
    raise RuntimeError(f"no version of {package} can be fetched: {', '.join(by_age) or 'unknown to apt'}")


def version_key(version):
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", version)]


def run(name, commands, folder, environment, log):
    for command in commands:
        log.write(f"\n$ {command}\n")
        log.flush()
        done = subprocess.run(
            command, shell=True, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            timeout=3600,
        )
        if done.returncode != 0:
            raise RuntimeError(f"`{command}` failed with {done.returncode}")


def is_instrumented(folder):
    """Programs under a folder that hold our runtime."""
    found = []
    for path in sorted(folder.rglob("*")):
        if path.is_file() and os.access(path, os.X_OK) and path.stat().st_size > 4096:
            with open(path, "rb") as file:
                data = file.read()
            if data.startswith(b"\x7fELF") and b"__WUG_BOARD" in data:
                found.append(str(path.relative_to(folder)))
    return found


def build(work, name, compiler, wug):
    package, inner, configure, make, tests = TARGETS[name]
    tree = fetch(work, package)
    copy = work / "build" / compiler / name
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(tree, copy, symlinks=True)
    folder = copy / inner
    bin_folder = work / "bin" / compiler
    bin_folder.mkdir(parents=True, exist_ok=True)
    # For tools that want a path: scripts that are what `wug cc` is.
    for driver in ("cc", "c++"):
        script = bin_folder / f"wug-{driver}"
        script.write_text(f'#!/bin/sh\nexec "{wug}" {driver} "$@"\n')
        script.chmod(0o755)
    environment = dict(os.environ)
    environment.update(
        CC=f"{wug} cc",
        CXX=f"{wug} c++",
        WRAPPED_CC=str(bin_folder / "wug-cc"),
        WUG_CC={"gcc": "gcc", "clang": "clang"}[compiler],
        WUG_CXX={"gcc": "g++", "clang": "clang++"}[compiler],
    )
    (folder / "TESTS").write_text(LUA_TEST)
    logs = work / "logs"
    logs.mkdir(exist_ok=True)
    result = {"package": package, "version": (work / "sources" / package / "version").read_text()}
    with open(logs / f"{name}.{compiler}.log", "w") as log:
        begun = time.time()
        run(name, configure + make, folder, environment, log)
        result["build_seconds"] = round(time.time() - begun, 1)
        result["instrumented"] = len(is_instrumented(copy))
        if not result["instrumented"]:
            raise RuntimeError("nothing that was built is instrumented")
        begun = time.time()
        run(name, tests, folder, environment, log)
        result["test_seconds"] = round(time.time() - begun, 1)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--work", type=Path, default=ROOT / "target" / "debian")
    parser.add_argument("--again", action="store_true", help="do again what is done")
    parser.add_argument("--fetch", action="store_true", help="only fetch and unpack the sources")
    parser.add_argument("--needs", action="store_true", help="print the packages that builds need")
    parser.add_argument("--compiler", choices=["gcc", "clang"], default="gcc")
    parser.add_argument("--wug", type=Path, default=ROOT / "target" / "release" / "wug")
    parser.add_argument("names", nargs="*", metavar="NAME")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.names if name not in TARGETS]
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}; known: {', '.join(TARGETS)}")
    if arguments.needs:
        print(*NEEDS)
        return 0
    if arguments.fetch:
        for name in arguments.names or TARGETS:
            fetch(arguments.work.resolve(), TARGETS[name][0])
        return 0
    if not arguments.wug.is_file():
        parser.error(f"{arguments.wug} is not there: cargo build --release")
    work = arguments.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    kept = work / "results.json"
    results = json.loads(kept.read_text()) if kept.is_file() else {}
    for name in arguments.names or TARGETS:
        key = f"{name} {arguments.compiler}"
        if results.get(key, {}).get("verdict") == "pass" and not arguments.again:
            continue
        print(f"{key} ...", file=sys.stderr, flush=True)
        try:
            results[key] = {"verdict": "pass", **build(work, name, arguments.compiler, arguments.wug.resolve())}
        except (RuntimeError, OSError, subprocess.SubprocessError) as error:
            results[key] = {"verdict": "FAIL", "why": str(error)}
        fresh = kept.with_suffix(".new")
        fresh.write_text(json.dumps(results, indent=1))
        fresh.rename(kept)
    print("| program | compiler | version | instrumented programs | build s | tests s | verdict |")
    print("| --- | --- | --- | ---: | ---: | ---: | --- |")
    for key, result in results.items():
        name, compiler = key.split()
        verdict = result["verdict"] + (f": {result['why']}" if "why" in result else "")
        cells = [result.get(field, "") for field in ("version", "instrumented", "build_seconds", "test_seconds")]
        print(f"| {name} | {compiler} | {' | '.join(map(str, cells))} | {verdict} |")
    wanted = [f"{name} {arguments.compiler}" for name in arguments.names or TARGETS]
    return 0 if all(results[key]["verdict"] == "pass" for key in wanted) else 1


if __name__ == "__main__":
    sys.exit(main())
