//! Notations that are not read: one line that names them and the way out.

use wug_grammar::load::{LoadOptions, NoImports, Text, load};

/// What is said about a file.
#[track_caller]
fn said(name: &str, text: &str) -> String {
    let text = Text { name: name.to_string(), bytes: text.as_bytes().to_vec() };
    let rejected = load(vec![text], LoadOptions::default(), &NoImports).expect_err(name);
    assert!(rejected.foreign, "{name}: {rejected}");
    let shown = rejected.to_string();
    assert_eq!(shown.lines().count(), 1, "{shown}");
    let way = [
        ".wug",
        "W3C",
        ".bnf",
        ".json",
        "name a file",
        ".g4",
        "ANTLR grammar it was made of",
        "save the grammar",
    ];
    assert!(way.iter().any(|way| shown.contains(way)) || shown.contains("`wug generate`"), "{shown}");
    shown
}

/// A name or a text, and what it is called.
const TEXTS: [(&str, &str, &str); 38] = [
    ("calc.g", "grammar Calc;\nexpr\n  : expr '+' expr\n  | INT\n  ;\nINT : [0-9]+ ;", "ANTLR"),
    ("calc.g3", "// c\nlexer grammar Calc;\nINT : '0'..'9'+ {skip();} ;\n", "ANTLR"),
    ("rules.txt", "expr\n  : expr '+' expr\n  | INT\n  ;\n", "ANTLR"),
    ("calc.y", "%{\n#include <stdio.h>\n%}\n%token NUM\n%%\ne : e '+' e | NUM ;\n%%\n", "yacc or bison"),
    ("calc", "%token NUM\n%%\ne: e '+' e { $$ = $1 + $3; } | NUM;\n", "yacc or bison"),
    ("calc.l", "%%\n[0-9]+ { return NUM; }\n%%\n", "lex or flex"),
    ("lexer.txt", "%option noyywrap\n%%\n[0-9]+ { return atoi(yytext); }\n%%\n", "lex or flex"),
    ("json.lark", "?start: value\nvalue: \"a\" -> x\n", "Lark"),
    ("json.txt", "?start: value\nvalue: \"a\" | list\n%import common.WS\n%ignore WS\n", "Lark"),
    ("json", "?start: value\nlist: \"[\" [value (\",\" value)*] \"]\"\nvalue: \"a\" | list\n", "Lark"),
    ("json.pest", "json = { SOI ~ value ~ EOI }\n", "pest"),
    ("json.txt", "WHITESPACE = _{ \" \" }\njson = { SOI ~ value ~ EOI }\n", "pest"),
    ("calc.peg", "Expr <- Term ('+' Term)*\n", "PEG"),
    ("calc.txt", "# calc\nExpr <- Term ('+' Term)*\nTerm <- [0-9]+\n", "PEG"),
    ("calc.pegjs", "start = a:x { return a; }\n", "Peggy"),
    ("calc.ohm", "Calc { Exp = number }", "Ohm"),
    ("person.fan", "<start> ::= <name>*\nwhere len(<name>) > 3\n", "Fandango"),
    ("person.txt", "import re\n<start> ::= <name>{3}\nwhere len(str(<name>)) > 3\n", "Fandango"),
    ("length.isla", "forall <var> v: (str.len(v) > 3)", "ISLa"),
    ("grammar.py", "ctx.rule(\"START\", \"<doc>{XML}</doc>\")\n", "Nautilus"),
    ("grammar.json", "[[\"START\", \"{EXPR}\"], [\"EXPR\", \"1\"]]", "Nautilus"),
    ("book.py", "GRAMMAR = {\n  \"<start>\": [\"<a>\"],\n}\n", "grammar in Python"),
    ("main.py", "print(1)\n", "Python program"),
    ("gen.py", "from grammarinator.runtime import *\n", "Grammarinator"),
    ("grammar.js", "module.exports = grammar({ name: 'x', rules: {} });\n", "tree-sitter"),
    (
        "grammar.json",
        "{\"name\": \"x\", \"rules\": {\"a\": {\"type\": \"SEQ\", \"members\": []}}}",
        "tree-sitter",
    ),
    ("diagram.txt", "Diagram(Choice(0, 'a', 'b'))\n", "railroad"),
    ("urls.dg", "%%% a comment\n%section% := value\n", "Dharma"),
    ("urls.txt", "%%% a comment\n%section% := value\n\nurl :=\n\thttp://x\n", "Dharma"),
    ("html.txt", "!include helper.txt\n<tag> = <lt>a<gt>\n", "Domato"),
    ("calc.lalrpop", "grammar;\npub Term: i32 = { <n:Num> => n };\n", "LALRPOP"),
    ("calc.jj", "PARSER_BEGIN(Calc)\n", "JavaCC"),
    ("msg.asn1", "M DEFINITIONS ::= BEGIN A ::= INTEGER END\n", "ASN.1"),
    ("msg.txt", "M DEFINITIONS AUTOMATIC TAGS ::= BEGIN\n A ::= SEQUENCE { b INTEGER }\nEND\n", "ASN.1"),
    (
        "schema.json",
        "{\"$schema\": \"https://json-schema.org/draft-07/schema#\", \"type\": \"object\"}",
        "JSON Schema",
    ),
    ("pit.xml", "<?xml version=\"1.0\"?>\n<Peach><DataModel name=\"a\"/></Peach>\n", "Peach"),
    ("spec.txt", "<!DOCTYPE html>\n<html><body>a ::= b</body></html>\n", "HTML"),
    (
        "walks",
        "{\"pda\": {\"0\": [[\"0_1\", \"1\", \"a\"]]}, \"init_state\": \"0\", \"final_state\": \"1\"}",
        "automaton",
    ),
];

#[test]
fn foreign_notations_are_named_in_one_line_with_the_way_out() {
    for (name, text, called) in TEXTS {
        let shown = said(name, text);
        assert!(shown.contains(called), "{shown}");
        assert!(shown.starts_with(&format!("error: `{name}` is ")), "{shown}");
    }
}

#[test]
fn what_is_read_is_never_called_foreign() {
    // Each has signs of something else in its comments or texts.
    let texts = [
        ("a.wug", "// Expr <- Term\na = \"%token\" | 'module.exports = grammar(' ;"),
        ("a.txt", "a = \"x\nb\" ; // grammar Calc;\n"),
        ("a.bnf", "<a> ::= \"%%\" | where <a>\n"),
        ("a.ebnf", "a ::= '<-' | ':' /* %token\n%% */"),
        ("a.g4", "grammar A;\na : 'x' b ; b : '%token' ;\n"),
        ("b.txt", "/* c */ grammar A ;\na : b 'x' ; b : ;\n"),
        ("a.json", "{\"<start>\": [[\"ctx.rule(\"]]}"),
    ];
    for (name, text) in texts {
        let text = Text { name: name.to_string(), bytes: text.as_bytes().to_vec() };
        if let Err(rejected) = load(vec![text], LoadOptions::default(), &NoImports) {
            assert!(!rejected.foreign && name == "a.txt", "{name}: {rejected}");
        }
    }
}

#[test]
fn a_notation_that_was_asked_for_is_believed() {
    let text = || Text { name: "a.g3".to_string(), bytes: b"a ::= 'x'".to_vec() };
    let options = LoadOptions { notation: wug_grammar::Notation::named("w3c"), ..LoadOptions::default() };
    assert!(load(vec![text()], options, &NoImports).is_ok());
    assert!(load(vec![text()], LoadOptions::default(), &NoImports).is_err_and(|rejected| rejected.foreign));
}
