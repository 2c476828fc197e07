"""Which tokens of a language stand in an input, outside strings and comments.

One lexer for each subject, written from the language and not from what is
found. Strings, numbers and names count as one token each.
"""

import re

WORD = r"[A-Za-z_$][A-Za-z_$0-9]*"


class Language:
    """Tokens, and the patterns that tell them from the rest."""

    def __init__(self, tokens, patterns, skip, words=()):
        self.tokens = set(tokens)
        self.words = set(words)
        parts = [f"(?P<skip>{skip})"] + [f"(?P<{name}>{pattern})" for name, pattern in patterns]
        self.pattern = re.compile("|".join(parts), re.S)

    def of(self, text):
        """The tokens in a text; lexing ends at the first thing unknown."""
        found, at = set(), 0
        while at < len(text):
            match = self.pattern.match(text, at)
            if not match or match.end() == at:
                break
            at = match.end()
            kind, lexeme = match.lastgroup, match.group()
            if kind == "skip":
                continue
            if kind == "operator" or kind == "word" and lexeme in self.words:
                found.add(lexeme)
            elif kind == "word":
                found.add("identifier")
            else:
                found.add(kind)
        return found & self.tokens


def operators(texts):
    return "|".join(re.escape(text) for text in sorted(texts, key=len, reverse=True))


JSON_OPERATORS = "{ } [ ] : ,".split()
JSON_WORDS = "null true false".split()
JSON = Language(
    JSON_OPERATORS + JSON_WORDS + ["-", "number", "string"],
    [
        ("string", r'"(?:[^"\\]|\\.)*"'),
        ("word", r"[a-z]+"),
        ("operator", operators(JSON_OPERATORS + ["-"])),
        ("number", r"\d+(?:\.\d*)?(?:[eE][-+]?\d+)?"),
    ],
    r"\ufeff|[\x01-\x20]+",
    JSON_WORDS,
)

TINYC_OPERATORS = "< + - ; = { } ( )".split()
TINYC_WORDS = "if do else while".split()
TINYC = Language(
    TINYC_OPERATORS + TINYC_WORDS + ["identifier", "number"],
    [("word", "[a-z]+"), ("number", r"\d+"), ("operator", operators(TINYC_OPERATORS))],
    r"[ \n]+",
    TINYC_WORDS,
)

# What mjs accepts of the tokens of the paper's table: names of built-in
# objects and methods are among them there, too.
MJS_OPERATORS = """{ } [ ] ( ) . , ; : ? ~ ! < > = + - * / % & | ^
    += -= *= /= %= &= |= ^= == != <= >= ++ -- && || << >> === !== <<= >>= >>> >>>=""".split()
MJS_WORDS = """if in for let true null else this false while break return typeof continue function
    undefined""".split()
MJS_NAMES = "NaN ffi die chr s2o Object JSON load print slice splice indexOf stringify parse length create".split()
MJS = Language(
    MJS_OPERATORS + MJS_WORDS + MJS_NAMES + ["identifier", "number", "string"],
    [
        ("string", r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""),
        ("word", WORD),
        ("number", r"0x[0-9a-fA-F]+|\d+(?:\.\d*)?(?:[eE][-+]?\d+)?"),
        ("operator", operators(MJS_OPERATORS)),
    ],
    r"[ \r\n\t\f\v]+|//[^\n]*|/\*.*?(?:\*/|$)",
    MJS_WORDS + MJS_NAMES,
)

LUA_OPERATORS = """+ - * / % ^ # & ~ | << >> // == ~= <= >= < > = ( ) { } [ ] :: ; : , . .. ...""".split()
LUA_WORDS = """and break do else elseif end false for function goto if in local nil not or repeat return
    then true until while""".split()
LUA = Language(
    LUA_OPERATORS + LUA_WORDS,
    [
        ("string", r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|\[(?P<level>=*)\[.*?\](?P=level)\]"),
        ("word", r"[A-Za-z_][A-Za-z_0-9]*"),
        ("number", r"0[xX][0-9a-fA-F.]+(?:[pP][-+]?\d+)?|\.?\d[\d.]*(?:[eE][-+]?\d+)?"),
        ("operator", operators(LUA_OPERATORS)),
    ],
    r"[ \r\n\t\f\v]+|--\[(?P<deep>=*)\[.*?\](?P=deep)\]|--[^\n]*",
    LUA_WORDS,
)


class Lines:
    """Languages of lines, where a token is what a line's pattern shows."""

    def __init__(self, patterns):
        self.patterns = {name: re.compile(pattern, re.M) for name, pattern in patterns.items()}
        self.tokens = set(patterns)

    def of(self, text):
        return {name for name, pattern in self.patterns.items() if pattern.search(text)}


CSV = Lines({",": r",", '"': r'(?:^|,)\s*"(?:[^"]|"")*"\s*(?:,|$)', "newline": r"\n", "field": r"[^,\"\s]"})
INI = Lines(
    {
        "[": r"^\s*\[[^\]\n]*\]",
        "]": r"^\s*\[[^\]\n]*\]",
        "=": r"^[^\[;#\n=:]+=",
        ":": r"^[^\[;#\n=:]+:",
        ";": r"^\s*;|\s;",
        "#": r"^\s*#",
    }
)

LANGUAGES = {"json": JSON, "tinyc": TINYC, "mjs": MJS, "lua": LUA, "ini": INI, "csv": CSV}


def count(subject, inputs):
    """The tokens found in inputs, and those missed."""
    language = LANGUAGES[subject]
    found = set()
    for data in inputs:
        text = data.decode("utf-8", "surrogateescape").split("\0")[0]
        found |= language.of(text)
    return found, language.tokens - found
