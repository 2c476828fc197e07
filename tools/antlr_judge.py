#!/usr/bin/env python3
"""Judges how well ANTLR grammars are read: inputs that wug makes are read by ANTLR's own interpreters.

    tools/antlr_judge.py UNITS.tsv [--only NAME,...] [--inputs 100] [--examples]

UNITS.tsv has a line for each unit: NAME, start rule or ?, files joined by commas. Files stand in
the folder NAME beside the table, or at the paths given. A row is printed for each unit: whether
it loads and why not, inputs accepted of those that ANTLR read in time, mean bytes, distinct
inputs, and the time of set-up. With --examples, the files in the unit's folder `examples` are
read by `wug parse`, too, and compared with what ANTLR reads.

It needs java, javac and npm; the jar comes from the npm package antlr4ng-cli.
"""

import argparse
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent


def tools(folder):
    """Installs the jar and compiles the judge, once."""
    folder.mkdir(parents=True, exist_ok=True)
    jars = list(folder.glob("node_modules/antlr4ng-cli/*.jar"))
    if not jars:
        subprocess.run(["npm", "install", "--prefix", str(folder), "antlr4ng-cli@2.0.0"], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        jars = list(folder.glob("node_modules/antlr4ng-cli/*.jar"))
    classes = folder / "classes"
    source = HERE / "antlr_judge" / "Judge.java"
    compiled = classes / "Judge.class"
    if not compiled.exists() or compiled.stat().st_mtime < source.stat().st_mtime:
        subprocess.run(["javac", "-cp", str(jars[0]), "-d", str(classes), str(source)], check=True)
    return f"{jars[0]}:{classes}"


class Judge:
    """A Java process that answers requests, started anew when it hangs or dies."""

    def __init__(self, path):
        self.path = path
        self.process = None

    def ask(self, *fields, limit=20):
        if self.process is None:
            self.process = subprocess.Popen(
                ["java", "-Xss64m", "-Xmx1500m", "-cp", self.path, "Judge"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.process.stdin.write(("\t".join(fields) + "\n").encode())
        self.process.stdin.flush()
        line = self.line(limit)
        if line is None:
            self.process.kill()
            self.process.wait()
            self.process = None
            return "bad judge took too long"
        return line

    def line(self, limit):
        import select
        ready, _, _ = select.select([self.process.stdout], [], [], limit)
        if not ready:
            return None
        line = self.process.stdout.readline().decode("utf8", "replace").rstrip("\n")
        return line or None

    def close(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait(timeout=10)


def kind(path):
    text = path.read_text(errors="replace")
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S)
    found = re.search(r"\b(?:(lexer|parser)\s+)?grammar\s+\w+\s*;", text)
    return (found.group(1) or "combined") if found else "combined"


def limits():
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))


def run(command, limit=120):
    before = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, timeout=limit, preexec_fn=limits)
    except subprocess.TimeoutExpired:
        return None, b"", b"took too long", time.monotonic() - before
    return done.returncode, done.stdout, done.stderr, time.monotonic() - before


def first_line(text):
    for line in text.decode("utf8", "replace").splitlines():
        if line.startswith("error"):
            return line
    return text.decode("utf8", "replace").strip().split("\n")[0][:200]


def judge_unit(options, judge, name, start, files, out):
    row = {"name": name, "loads": "yes", "start": start}
    grammar = ",".join(map(str, files))
    kinds = {kind(f): f for f in reversed(files)}
    main = kinds.get("parser") or kinds.get("combined")
    command = [options.wug, "show", grammar]
    if start != "?":
        command += ["--start", start]
    code, text, errors, _ = run(command)
    if code != 0:
        row["loads"] = "no: " + first_line(errors)
        return row
    if start == "?":
        # `start NAME ;` stands first where it is not the first rule.
        found = re.search(r"^(?:start (\S+) ;|(?:@\S+ )*(\w+) =)", text.decode("utf8", "replace"), re.M)
        start = (found.group(1) or found.group(2)).strip("`") if found else "?"
        row["start"] = start
    command = [options.wug, "generate", grammar, "-n", "1", "-d", "24", "-s", "1", "--max-size", "20000",
               "--start", start]
    _, _, _, row["setup"] = run(command)
    folder = out / "inputs"
    folder.mkdir()
    command[4] = str(options.inputs)
    code, _, errors, row["time"] = run(command + ["-o", str(folder)], limit=300)
    if code != 0:
        row["loads"] = "generate: " + first_line(errors)
        return row
    inputs = sorted(folder.iterdir())
    texts = [f.read_bytes() for f in inputs]
    row["bytes"] = sum(map(len, texts)) / max(1, len(texts))
    row["distinct"] = len(set(texts))
    if main is None:
        row["why"] = "no parser"
        return row
    fields = [str(main)] + ([str(kinds["lexer"])] if "lexer" in kinds and kind(main) == "parser" else [])
    answer = judge.ask("unit", start, *fields)
    if answer != "ok":
        row["why"] = "ANTLR: " + answer
        return row
    row["accepted"] = row["judged"] = 0
    end = time.monotonic() + options.budget
    for file in inputs:
        if time.monotonic() > end:
            break
        answer = judge.ask("file", str(file))
        # Where ANTLR needs too long, nothing is known.
        row["judged"] += answer != "bad judge took too long"
        row["accepted"] += answer == "ok"
        if answer != "ok" and "why" not in row:
            row["why"] = f"{file.name}: {answer[4:]}"
        if answer == "bad judge took too long":
            judge.ask("unit", start, *fields)
    if options.examples:
        examples(options, judge, row, grammar, start, files[0].parent / "examples")
    return row


def examples(options, judge, row, grammar, start, folder):
    both = theirs = 0
    row["lost"] = ""
    files = [f for f in sorted(folder.rglob("*")) if f.is_file()] if folder.is_dir() else []
    for file in files[:options.most]:
        if file.suffix in (".tree", ".errors") or judge.ask("file", str(file)) != "ok":
            continue
        theirs += 1
        code, _, errors, _ = run([options.wug, "parse", grammar, "--start", start, str(file)], limit=30)
        both += code == 0
        if code != 0 and not row["lost"]:
            row["lost"] = f"{file.name}: {first_line(errors)}"
    row["examples"] = f"{both}/{theirs}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("units", type=pathlib.Path)
    parser.add_argument("--wug", default=str(HERE.parent / "target" / "release" / "wug"))
    parser.add_argument("--only", default="")
    parser.add_argument("--inputs", type=int, default=100)
    parser.add_argument("--examples", action="store_true")
    parser.add_argument("--most", type=int, default=40, help="example files of one unit")
    parser.add_argument("--budget", type=float, default=600, help="seconds of judging for one unit")
    parser.add_argument("--tools", type=pathlib.Path, default=HERE.parent / "target" / "antlr_judge")
    options = parser.parse_args()
    judge = Judge(tools(options.tools))
    only = set(filter(None, options.only.split(",")))
    rows = []
    for line in options.units.read_text().splitlines():
        name, start, files = line.split("\t")
        if only and name not in only:
            continue
        folder = options.units.parent / name
        paths = [folder / f if not os.path.isabs(f) else pathlib.Path(f) for f in files.split(",")]
        with tempfile.TemporaryDirectory() as out:
            row = judge_unit(options, judge, name, start, paths, pathlib.Path(out))
        rows.append(row)
        accepted = f"{row['accepted']}/{row['judged']}" if "judged" in row else "-"
        print(f"{row['name']:32} {accepted:>7} bytes {row.get('bytes', 0):8.0f} distinct {row.get('distinct', 0):4}"
              f" setup {row.get('setup', 0):6.2f} s  {row.get('examples', '')} {row.get('why', '')}"
              f" {row['loads'] if row['loads'] != 'yes' else ''} {row.get('lost', '')}", flush=True)
    judge.close()
    judged = [r for r in rows if "accepted" in r]
    if judged:
        total = sum(r["accepted"] for r in judged)
        asked = max(1, sum(r["judged"] for r in judged))
        whole = sum(r["accepted"] == r["judged"] for r in judged)
        print(f"{len(rows)} units, {sum(r['loads'] == 'yes' for r in rows)} load, {len(judged)} judged:"
              f" {100 * total / asked:.2f} % of {asked} inputs accepted, {whole} units with all")


if __name__ == "__main__":
    sys.exit(main())
