"""Makes JSON texts with a producer from PyPI, for `wug bench produce --rivals`.

    python3 rivals.py NAME DEPTH SECONDS

Prints one JSON object: how many inputs and bytes were made, in how many seconds
of CPU time. What is prepared once does not count.
"""

import json
import logging
import random
import sys
import tempfile
import time
from pathlib import Path

ANTLR = r"""
grammar json;
start : value ;
value : object | array | STRING | NUMBER | 'true' | 'false' | 'null' ;
object : '{' '}' | '{' member (',' member)* '}' ;
member : STRING ':' value ;
array : '[' ']' | '[' value (',' value)* ']' ;
STRING : '"' CHAR* '"' ;
NUMBER : '-'? ('0' | [1-9] [0-9]*) ('.' [0-9]+)? ([eE] [+-]? [0-9]+)? ;
fragment CHAR : [a-zA-Z0-9 _] | '\\' ["\\/bfnrt] ;
"""

DHARMA = r"""
%section% := value

value :=
    +object+
    +array+
    +string+
    +number+
    true
    false
    null

object :=
    {}
    {+members+}

members :=
    +member+
    +member+,+members+

member :=
    +string+:+value+

array :=
    []
    [+elements+]

elements :=
    +value+
    +value+,+elements+

string :=
    ""
    "+chars+"

chars :=
    +char+
    +char++chars+

char :=
    %range%(a-z)
    %range%(A-Z)
    %range%(0-9)
    _

number :=
    %range%(0-9)
    -%range%(1-9)
    %range%(1-9)+digits+
    %range%(1-9).+digits+
    %range%(1-9)e+digits+

digits :=
    %range%(0-9)
    %range%(0-9)+digits+

%section% := variance

main :=
    +value+
"""


def grammarinator(depth):
    from grammarinator.runtime import RuleSize
    from grammarinator.tool import DefaultGeneratorFactory, ProcessorTool

    work = Path(tempfile.mkdtemp())
    (work / "json.g4").write_text(ANTLR)
    ProcessorTool("py", str(work)).process([str(work / "json.g4")])
    sys.path.insert(0, str(work))
    from jsonGenerator import jsonGenerator

    factory = DefaultGeneratorFactory(jsonGenerator)
    return lambda: str(factory(RuleSize(depth=depth)).start())


def dharma(depth):
    from dharma.core.dharma import DharmaConst, DharmaMachine

    random.seed(1)
    DharmaConst.MAX_REPEAT_POWER = 4
    DharmaConst.LEAF_TRIGGER = depth
    DharmaConst.VARIANCE_MIN = DharmaConst.VARIANCE_MAX = 1
    DharmaConst.VARIANCE_TEMPLATE = "%s"
    machine = DharmaMachine()
    machine.default_grammars = []
    grammar = Path(tempfile.mkdtemp()) / "json.dg"
    grammar.write_text(DHARMA)
    with open(grammar) as file:
        machine.process_grammars([file])
    return machine.generate_content


def gramfuzz(depth):
    import gramfuzz
    from gramfuzz.fields import And, Def, Float, Int, Opt, Or, Ref, String

    def rule(name, *parts, **more):
        Def(name, *parts, cat="json", **more)

    ref = lambda name: Ref(name, cat="json")  # noqa: E731
    rule("string", '"', String(charset=String.charset_alphanum, min=0, max=8), '"', no_prune=True)
    rule("number", Or(Int, Float), no_prune=True)
    rule("member", ref("string"), ":", ref("value"))
    rule("members", ref("member"), Opt(",", ref("members")))
    rule("elements", ref("value"), Opt(",", ref("elements")))
    rule("object", "{", Opt(ref("members")), "}")
    rule("array", "[", Opt(ref("elements")), "]")
    rule("value", Or(ref("object"), ref("array"), ref("string"), ref("number"), "true", "false", "null"))
    Def("text", And(ref("value")), cat="texts")
    fuzzer = gramfuzz.GramFuzzer.instance()
    return lambda: fuzzer.gen(num=1, cat="texts", max_recursion=depth)[0]


def main():
    name, depth, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    logging.disable(logging.CRITICAL)
    sys.setrecursionlimit(1 << 16)
    make = {"grammarinator": grammarinator, "dharma": dharma, "gramfuzz": gramfuzz}[name](depth)
    made = make()
    json.loads(made)
    inputs = size = 0
    begin = time.process_time()
    while time.process_time() - begin < seconds:
        made = make()
        inputs, size = inputs + 1, size + len(made)
    took = time.process_time() - begin
    print(json.dumps({"inputs": inputs, "bytes": size, "seconds": took}))


if __name__ == "__main__":
    main()
