#!/usr/bin/env python3
"""Documents of XML that are found without a grammar: how many are nested.

    bench/depth.py [--seconds 180] [--runs 5] [--short] [--arms A,B] [expat]

Campaigns on expat from one seed of all printable characters, with and without
words that have to be the same (the arms learn and no-links of bench/campaigns.py;
runs that this has kept are not done again). Counted are the well-formed documents in the queue whose
elements are nested at least three deep, different in their elements and the order
of these, by the parser of Python's library.
"""

from xml.parsers import expat

from lib import figures
from lib.runs import all_of, arguments
from lib.targets import FUZZED


def shape(text: bytes) -> tuple[int, str]:
    """How deep elements are nested, and which; nothing of what is not well-formed."""
    parser, names, deepest, depth = expat.ParserCreate(namespace_separator=":"), [], 0, 0

    def start(name, _):
        nonlocal deepest, depth
        depth += 1
        deepest = max(deepest, depth)
        names.append(f"<{name}>")

    def end(_):
        nonlocal depth
        depth -= 1
        names.append("</>")

    parser.StartElementHandler, parser.EndElementHandler = start, end
    try:
        parser.Parse(text, True)
    except (expat.ExpatError, ValueError):
        return 0, ""
    return deepest, "".join(names)


def measure(_, campaign) -> dict:
    shapes = [shape(path.read_bytes()) for path in (campaign / "queue").iterdir() if path.is_file()]
    return {"documents": sum(depth > 0 for depth, _ in shapes), "deepest": max((depth for depth, _ in shapes), default=0),
            "nested": len({names for depth, names in shapes if depth >= 3})}


def main():
    given = arguments(__doc__, ["expat"], ["learn", "no-links"], 180)
    results = all_of(given, ["expat"], FUZZED, "nested", measure)
    figures.show(f"documents nested 3 deep, {given.seconds} s, {given.runs} runs", results, ["expat"], given.arms, "nested")


if __name__ == "__main__":
    main()
