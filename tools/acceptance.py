#!/usr/bin/env python3
"""Measures the built-in grammars: how many of their inputs do real parsers accept?

For each grammar, `wug generate` makes 1,000 inputs with a fixed seed, and an
independent judge reads each of them. The judges are real parsers wherever
there is one: Python's own, xmllint, luac5.4, SQLite, h11. For `expr` and
`tinyc`, which have none, and for `http` where h11 is not installed, a small
one stands in this file; they share no code with the grammars.

Prints a Markdown table, or JSON with --json. With --update FILE the table
replaces what stands between two `<!-- acceptance -->` lines of FILE. Exits 1
if a bar is missed. Needs: python3, xmllint (libxml2-utils), luac5.4 (lua5.4).
"""

import argparse
import codecs
import configparser
import contextlib
import csv
import io
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

# The least share of inputs that the judge must accept, in percent.
BARS = {
    "csv": 100, "expr": 100, "http": 100, "ini": 100, "json": 100,
    "lua": 99, "sql": 99, "tinyc": 100, "xml": 100,
}
MEAN_BYTES = (100, 3000)
DISTINCT_SHARE = 0.9
MARK = "<!-- acceptance -->"


class Rejected(Exception):
    """What a judge of this file says of an input."""


# Judges. Each takes the path of an input and raises if it does not like it.


def judge_json(path):
    def no_constant(word):
        raise Rejected(f"{word} is not JSON")

    json.loads(path.read_bytes().decode("utf-8"), parse_constant=no_constant)


def judge_csv(path):
    text = path.read_bytes().decode("utf-8")
    for _ in csv.reader(io.StringIO(text, newline=""), strict=True):
        pass


def judge_ini(path):
    parser = configparser.RawConfigParser(strict=False)
    parser.read_string(path.read_bytes().decode("utf-8"))


def judge_by(*command):
    def judge(path):
        done = subprocess.run([*command, path], capture_output=True, timeout=20)
        if done.returncode != 0:
            lines = done.stderr.decode("utf-8", "replace").splitlines()
            raise Rejected(lines[0] if lines else f"exit code {done.returncode}")

    return judge


class Words:
    """The words of a text, and a place in them."""

    def __init__(self, words):
        self.words, self.at = words, 0

    def peek(self):
        return self.words[self.at] if self.at < len(self.words) else ""

    def next(self):
        self.at += 1
        return self.words[self.at - 1] if self.at <= len(self.words) else ""

    def take(self, *wanted):
        if self.peek() in wanted:
            return self.next()
        return None

    def need(self, word):
        if self.take(word) is None:
            raise Rejected(f"expected {word!r}, found {self.peek()!r}")


def split(text, pattern):
    """All words of `text`; between them nothing may be left over."""
    words, at = [], 0
    for match in re.finditer(pattern, text):
        if match.start() != at:
            break
        at = match.end()
        words += [match[1]] if match[1] else []
    if at != len(text):
        raise Rejected(f"unexpected {text[at:at + 10]!r}")
    return Words(words)


def judge_expr(path):
    words = split(path.read_bytes().decode("ascii"), r"([0-9]+(?:\.[0-9]+)?|[-+*/()])")

    def factor():
        while words.take("+", "-"):
            pass
        if words.take("("):
            chain()
            words.need(")")
        elif not words.next()[:1].isdigit():
            raise Rejected("expected a number")

    def chain():
        factor()
        while words.take("+", "-", "*", "/"):
            factor()

    chain()
    if words.peek():
        raise Rejected(f"{words.peek()!r} behind the end")


def judge_tinyc(path):
    # As the compiler does: a word is as many letters as there are, and is a
    # keyword, or a variable if it has one letter.
    words = split(path.read_bytes().decode("ascii"), r"(?:[ \n]+|([a-z]+|[0-9]+|[-+<;=(){}]))")
    keywords = ("if", "else", "while", "do")
    for word in words.words:
        if word.isalpha() and len(word) > 1 and word not in keywords:
            raise Rejected(f"unknown word {word!r}")

    def term():
        if words.peek() == "(":
            condition()
        elif words.peek() in keywords or not words.next().isalnum():
            raise Rejected("expected a variable, a number or `(`")

    def total():
        term()
        while words.take("+", "-"):
            term()

    def expr():
        while words.peek().isalpha() and words.words[words.at + 1 : words.at + 2] == ["="]:
            words.at += 2
        total()
        if words.take("<"):
            total()

    def condition():
        words.need("(")
        expr()
        words.need(")")

    def statement():
        first = words.take("if", "while", "do", "{", ";")
        if first == "if":
            condition()
            statement()
            if words.take("else"):
                statement()
        elif first == "while":
            condition()
            statement()
        elif first == "do":
            statement()
            words.need("while")
            condition()
            words.need(";")
        elif first == "{":
            while not words.take("}"):
                statement()
        elif first is None:
            expr()
            words.need(";")

    statement()
    if words.peek():
        raise Rejected(f"{words.peek()!r} behind the end")


# What SQLite says when a text is not its language. Other complaints, such
# as tables that do not exist, are about meaning.
NOT_SQL = ("syntax error", "unrecognized token", "incomplete input")


def sql_statements(text):
    start = 0
    while start < len(text):
        end = text.find(";", start)
        while end >= 0 and not sqlite3.complete_statement(text[start : end + 1]):
            end = text.find(";", end + 1)
        end = len(text) if end < 0 else end + 1
        yield text[start:end]
        start = end


def judge_sql(path):
    """Runs a script, statement by statement. A mistake of meaning ends the
    parser of SQLite early, so what it is about is mended, and the statement
    is read again: tables that are missing are made, and where something
    exists already, the statement is read in an empty base as well."""

    def only_memory(operation, name, *_):
        attached = operation == sqlite3.SQLITE_ATTACH and name != ":memory:"
        return sqlite3.SQLITE_DENY if attached else sqlite3.SQLITE_OK

    def connect():
        base = sqlite3.connect(":memory:", isolation_level=None)
        base.text_factory = bytes
        base.set_authorizer(only_memory)
        base.set_progress_handler(lambda: 1, 100_000)  # ends queries that go on and on
        return base

    def read(base, statement, mend=4):
        try:
            base.execute(statement).fetchmany(10)
        except (sqlite3.Error, sqlite3.Warning, UnicodeDecodeError) as error:
            # Messages may quote half of a character.
            half = isinstance(error, UnicodeDecodeError)
            said = error.object.decode("latin-1") if half else str(error)
            # `ALTER TABLE` reads the schema again, and may dislike what it made of it.
            if any(words in said for words in NOT_SQL) and not said.startswith("error in "):
                raise Rejected(f"{said} in {statement[:2000]!r}") from None
            missing = re.fullmatch(r"(?:no such table:|unknown database) (.+)", said)
            if missing and mend:
                parts = [part.strip('[]"`').replace('"', '""') for part in missing[1].split(".")]
                if len(parts) == 2 or said.startswith("unknown"):
                    with contextlib.suppress(sqlite3.Error):
                        base.execute(f"ATTACH ':memory:' AS \"{parts[0]}\"")
                if not said.startswith("unknown"):
                    with contextlib.suppress(sqlite3.Error):
                        base.execute('CREATE TABLE "' + '"."'.join(parts) + '"(c)')
                read(base, statement, mend - 1)
            elif mend and ("already" in said or "duplicate" in said):
                empty = connect()
                read(empty, statement, mend - 1)
                empty.close()

    content = path.read_bytes().removeprefix(codecs.BOM_UTF8)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    base = connect()
    try:
        for statement in sql_statements(text):
            read(base, statement)
    finally:
        base.close()


def judge_http_by_h11(path):
    import h11

    server = h11.Connection(h11.SERVER)
    server.receive_data(path.read_bytes())
    server.receive_data(b"")
    event = None
    while not isinstance(event, h11.EndOfMessage):
        event = server.next_event()
        if event in (h11.NEED_DATA, h11.PAUSED) or isinstance(event, h11.ConnectionClosed):
            raise Rejected("the request does not end")
    if server.trailing_data[0]:
        raise Rejected("there is more behind the request")


def judge_http_by_hand(path):
    """Request line, fields, then a body by length or in chunks."""
    head, ended, rest = path.read_bytes().partition(b"\r\n\r\n")
    line, *fields = head.split(b"\r\n")
    token = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
    request = re.fullmatch(token + rb" [!-~]+ HTTP/(1\.[01])", line)
    names = {}
    for field in fields:
        match = re.fullmatch(rb"(" + token + rb"):[ \t]*([\t -~\x80-\xff]*)", field)
        if not match:
            raise Rejected(f"not a field: {field!r}")
        names.setdefault(match[1].lower(), []).append(match[2].strip())
    if not ended or not request:
        raise Rejected("no request line, or no end of the fields")
    if request[1] == b"1.1" and len(names.get(b"host", [])) != 1:
        raise Rejected("not exactly one Host field")
    if names.get(b"transfer-encoding") == [b"chunked"]:
        size = None
        while size != 0:
            chunk = re.match(rb"([0-9A-Fa-f]+)(?:;[^\r\n]*)?\r\n", rest)
            if not chunk:
                raise Rejected("no size of a chunk")
            size = int(chunk[1], 16)
            rest = rest[chunk.end() :]
            if size and rest[size : size + 2] != b"\r\n":
                raise Rejected("a chunk of another size")
            rest = rest[size + 2 :] if size else rest
        if not re.fullmatch(rb"(" + token + rb":[^\r\n]*\r\n)*\r\n", rest):
            raise Rejected("the trailer")
    elif len(rest) != int(names.get(b"content-length", [b"0"])[0]):
        raise Rejected("a body of another length")


def judges():
    """For each grammar its judge with a name for the table; a judge that is
    not installed is `None`."""

    def command(name, *arguments):
        return (name, judge_by(name, *arguments) if shutil.which(name) else None)

    try:
        import h11

        http = (f"h11 {h11.__version__}", judge_http_by_h11)
    except ImportError:
        http = ("built into the script", judge_http_by_hand)
    python = f"Python {sys.version_info.major}.{sys.version_info.minor}"
    return {
        "csv": (f"{python}, csv, strict", judge_csv),
        "expr": ("built into the script", judge_expr),
        "http": http,
        "ini": (f"{python}, configparser", judge_ini),
        "json": (f"{python}, json", judge_json),
        "lua": command("luac5.4", "-p"),
        "sql": (f"SQLite {sqlite3.sqlite_version}, syntax", judge_sql),
        "tinyc": ("built into the script", judge_tinyc),
        "xml": command("xmllint", "--noout"),
    }


def measure(options, name, judge_name, judge, folder):
    """Generates and judges; gives a row of the table."""
    grammar = options.folder / f"{name}.wug" if options.folder else name
    count, seed = str(options.n), str(options.seed)
    command = [options.wug, "generate", grammar, "-n", count, "-s", seed, "-o", folder, "--stats",
               "--engine", "recursive"]
    made = subprocess.run(command, capture_output=True, timeout=60)
    errors = made.stderr.decode("utf-8", "replace")
    if made.returncode != 0:
        sys.exit(f"wug generate {name} failed:\n{errors}")
    stats = next((json.loads(l) for l in reversed(errors.splitlines()) if l.startswith("{")), {})
    paths = sorted(p for p in folder.iterdir() if p.is_file())
    contents = [p.read_bytes() for p in paths]
    rejections = []
    for path in paths if judge else []:
        try:
            judge(path)
        except Exception as error:  # whatever a judge raises is a rejection
            rejections.append(f"{name} {path.name}: {error}")
    accepted = len(paths) - len(rejections) if judge else 0
    return {
        "grammar": name,
        "judge": judge_name if judge else f"{judge_name}, not installed",
        "inputs": len(paths),
        "accepted": accepted,
        "accepted_percent": 100 * accepted / max(len(paths), 1),
        "mean_bytes": sum(map(len, contents)) / max(len(paths), 1),
        "distinct": len(set(contents)),
        "alternatives_used": stats.get("alternatives_used"),
        "rejections": rejections,
    }


def missed(row):
    """The bars that a row misses, as text."""
    low, high = MEAN_BYTES
    if row["accepted_percent"] < BARS[row["grammar"]]:
        yield f"{row['accepted_percent']:.1f} % accepted, the bar is {BARS[row['grammar']]} %"
    if not low <= row["mean_bytes"] <= high:
        yield f"{row['mean_bytes']:.0f} bytes on average, outside of {low} to {high}"
    if row["distinct"] < DISTINCT_SHARE * row["inputs"]:
        yield f"only {row['distinct']} of {row['inputs']} inputs are distinct"


def table(rows):
    lines = [
        "| grammar | judge | accepted | mean bytes | distinct | alternatives used |",
        "| --- | --- | ---: | ---: | ---: | ---: |",
    ]
    for row in rows:
        used = row["alternatives_used"]
        used = "?" if used is None else f"{100 * used:.1f} %"
        lines.append(
            f"| {row['grammar']} | {row['judge']} | {row['accepted_percent']:.1f} % "
            f"| {row['mean_bytes']:,.0f} | {row['distinct']:,} | {used} |"
        )
    return "\n".join(lines)


def update(path, text, mark=MARK):
    before, *between, after = path.read_text().split(mark)
    if len(between) != 1:
        sys.exit(f"{path} does not have exactly two lines {mark}")
    path.write_text(f"{before}{mark}\n{text}\n{mark}{after}")


def main():
    root = Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("grammars", nargs="*", help="only these")
    parser.add_argument("--wug", default=root / "target/release/wug", type=Path, help="the binary")
    parser.add_argument("--folder", type=Path, help="read grammars from here instead")
    parser.add_argument("-n", type=int, default=1000, help="inputs for each grammar")
    parser.add_argument("-s", "--seed", type=int, default=1, help="the seed")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--update", type=Path, metavar="FILE", help="replace the table in FILE")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="leave the inputs in DIR")
    options = parser.parse_args()
    unknown = [name for name in options.grammars if name not in BARS]
    if unknown:
        parser.error(f"unknown grammar {unknown[0]}; there are {', '.join(BARS)}")
    options.wug = options.wug.resolve()
    options.folder = options.folder and options.folder.resolve()
    if not options.wug.is_file():
        parser.error(f"there is no {options.wug}: build it with `cargo build --release`")
    file = options.update and options.update.resolve()
    keep = options.keep and options.keep.resolve()

    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)  # whatever a judge writes, it writes here
        for name, (judge_name, judge) in judges().items():
            if not options.grammars or name in options.grammars:
                folder = (keep or Path(scratch)) / name
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir(parents=True)
                rows.append(measure(options, name, judge_name, judge, folder))
        os.chdir(root)

    print(json.dumps(rows, indent=1) if options.json else table(rows))
    if file:
        update(file, table(rows))
    failures = [f"{row['grammar']}: {text}" for row in rows for text in missed(row)]
    for row in rows:
        for text in row["rejections"][:3]:
            print(f"rejected: {text}", file=sys.stderr)
    for text in failures:
        print(f"bar missed: {text}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
