//! Each construct of each notation, by the `.wug` that it becomes; and
//! what is printed in a notation, read back.

use expect_test::{Expect, expect};
use std::path::PathBuf;
use wug_grammar::ast::{Ast, AstSymbol};
use wug_grammar::load::load_text;
use wug_grammar::{BodyId, Diagnostics, Grammar, Notation, fuzzing, print};

#[track_caller]
fn grammar(notation: Notation, text: &str) -> Grammar {
    load_text("test", text, notation).unwrap_or_else(|e| panic!("{e}")).grammar
}

#[track_caller]
fn check(notation: Notation, text: &str, wug: Expect) {
    let grammar = grammar(notation, text);
    fuzzing::check_print(&grammar);
    wug.assert_eq(&print::wug::print(&grammar));
}

// F1 ---------------------------------------------------------------------

#[test]
fn f1_lists_of_symbols() {
    check(
        Notation::F1,
        r#"{"<start>": [["<expr>"]], "<expr>": [["a", "<b-1>", ""], []], "<b-1>": [["<"], ["a<b>"], ["<a><b>"]]}"#,
        expect![[r#"
            start = expr ;
            expr = "a" b-1 | ;
            b-1 = "<" | "a<b>" | "<a><b>" ;
        "#]],
    );
}

#[test]
fn f1_texts_with_names_inside() {
    check(
        Notation::F1,
        r#"{"<start>": ["<a> + <a>", "", "<<a>>", "x <y z> < a>"], "<a>": ["1"]}"#,
        expect![[r#"
            start = a " + " a | | "<" a ">" | "x <y z> < a>" ;
            a = "1" ;
        "#]],
    );
}

#[test]
fn f1_starts_at_start_wherever_it_stands() {
    check(
        Notation::F1,
        r#"{"<a>": [["x"]], "<start>": [["<a>"]]}"#,
        expect![[r#"
        start start ;

        a = "x" ;
        start = a ;
    "#]],
    );
}

#[test]
fn f1_wrapped_in_either_order() {
    let wrapped = expect![[r#"
        start b ;

        a = "x" ;
        b = a ;
    "#]];
    check(Notation::F1, r#"{"[start]": "<b>", "[grammar]": {"<a>": [["x"]], "<b>": [["<a>"]]}}"#, wrapped);
    let either = expect![[r#"
        start b ;

        a = "x" ;
        b = a ;
    "#]];
    check(Notation::F1, r#"{"[grammar]": {"<a>": [["x"]], "<b>": [["<a>"]]}, "[start]": "<b>"}"#, either);
}

#[test]
fn f1_escapes_and_surrogate_pairs() {
    check(
        Notation::F1,
        r#"{"<s>": [["\u00e9\ud83d\ude00\n\"\\\/\b\f\u0000", "é"]]}"#,
        expect![[r#"
        s = "é😀\n\"\\/\x08\x0C\x00" "é" ;
    "#]],
    );
}

/// The folder of the papers' grammars, if it is there.
fn shared_grammars() -> Option<PathBuf> {
    let home = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let shared = std::env::var_os("WUG_SHARED").map_or_else(|| home.join("../../../shared"), PathBuf::from);
    let folder = shared.join("grammars");
    if folder.is_dir() {
        return Some(folder);
    }
    let required = std::env::var_os("WUG_REQUIRE_ALL").is_some_and(|v| v == "1");
    assert!(!required, "there is no {}", folder.display());
    println!("skipped: there is no {}", folder.display());
    None
}

#[test]
fn all_shared_grammars_load() {
    let Some(folder) = shared_grammars() else { return };
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut count = 0;
    for path in paths.filter(|path| path.extension().is_some_and(|e| e == "json")) {
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy();
        assert_eq!(Notation::detect(&name, &text), Notation::F1, "{name}");
        let loaded = load_text(&name, &text, Notation::F1).unwrap_or_else(|e| panic!("{e}"));
        fuzzing::check_print(&loaded.grammar);
        let rules = serde_json::from_str::<serde_json::Value>(&text).unwrap();
        let rules = rules.get("[grammar]").unwrap_or(&rules).as_object().unwrap().clone();
        assert_eq!(loaded.grammar.rules().len(), rules.len(), "{name}");
        let alternatives: usize = rules.values().map(|v| v.as_array().unwrap().len()).sum();
        assert_eq!(loaded.grammar.written_alternatives(), alternatives, "{name}");
        count += 1;
    }
    assert!(count >= 8, "only {count} grammars");
}

// Gramatron --------------------------------------------------------------

#[test]
fn gramatron_terminals_and_names() {
    check(
        Notation::Gramatron,
        r#"{"A": ["'x y' B  'it\\'s' B.c", "''", ""], "B": ["'\\n' '\\t\\Area\\x41\\\\' '\\'", "\"it's\""], "B.c": ["'a''b'"]}"#,
        expect![[r#"
            A = "x y" B "it's" `B.c` | | ;
            B = "\n" "\\t\\Area\\x41\\\\" "\\" | "it's" ;
            `B.c` = "a" "b" ;
        "#]],
    );
}

#[test]
fn gramatron_reads_quotes_with_backslashes_only_where_nothing_else_makes_sense() {
    let bodies = [
        // An alternative, and its texts.
        (r"'\' '\'", r#""\\" "\\""#),
        (r"'\''", r#""'""#),
        (r"'\'' 'b\''", r#""'" "b'""#),
        (r"'C:\' 'x'", r#""C:\\" "x""#),
        (r"'\\' '\''", r#""\\\\" "'""#),
        (r"'a\nb'", r#""a\nb""#),
    ];
    for (alternative, texts) in bodies {
        let json = serde_json::json!({ "A": [alternative] }).to_string();
        let grammar = grammar(Notation::Gramatron, &json);
        fuzzing::check_print(&grammar);
        assert_eq!(print::wug::print(&grammar), format!("A = {texts} ;\n"), "{alternative}");
    }
}

#[test]
fn published_gramatron_grammars_load_as_they_are() {
    let Some(folder) = shared_grammars() else { return };
    for (name, alternatives) in [("js.json", 548), ("php.json", 8_685), ("ruby.json", 1_175)] {
        let text = std::fs::read_to_string(folder.join("gramatron").join(name)).unwrap();
        assert_eq!(Notation::detect(name, &text), Notation::Gramatron, "{name}");
        let loaded = load_text(name, &text, Notation::Gramatron).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(loaded.grammar.written_alternatives(), alternatives, "{name}");
        fuzzing::check_print(&loaded.grammar);
        let wug = print::wug::print(&loaded.grammar);
        assert!(name != "php.json" || wug.contains(r#""MongoDB\\BSON\\toPHP""#));
        assert!(name == "php.json" || wug.contains(r#""\n""#));
    }
}

#[test]
fn gramatron_starts_at_program() {
    check(
        Notation::Gramatron,
        r#"{"start": ["'x'"], "PROGRAM": ["start"]}"#,
        expect![[r#"
        start PROGRAM ;

        start = "x" ;
        PROGRAM = start ;
    "#]],
    );
}

// BNF --------------------------------------------------------------------

#[test]
fn bnf_names_texts_and_bare_words() {
    check(
        Notation::Bnf,
        "<s> ::= <a b> \"x\" 'y\"' | begin end | := | <= | <>\n   | <s>\n\n<a b> ::= \"\\n\\xFF\\\"\" | \"\" |\n",
        expect![[r#"
            s = `a b` "x" "y\"" | "begin" "end" | ":=" | "<=" | "<>" | s ;
            `a b` = "\n\xFF\"" | | ;
        "#]],
    );
}

#[test]
fn bnf_semicolons_end_rules_or_begin_comments() {
    check(
        Notation::Bnf,
        "; about\n; <x> ::= \"gone\"\n<a> ::= \"1\" ; <b> ::= \"2\" ; more\n | \"3\" ;\n;\n<c>\n::= x;\n",
        expect![[r#"
            a = "1" ;
            b = "2" | "3" ;
            c = "x" ;
        "#]],
    );
}

// ISO 14977 --------------------------------------------------------------

#[test]
fn ebnf_brackets_and_their_other_spellings() {
    check(
        Notation::Ebnf,
        "a = [ 'x' ], { \"y\" }, ( 'p' | \"q\" ) ; b = (/ 'x' /), (: 'y' :), ('p' / 'q' ! 'r'). c = ;",
        expect![[r#"
            a = "x"? "y"* ("p" | "q") ;
            b = "x"? "y"* ("p" | "q" | "r") ;
            c = ;
        "#]],
    );
}

#[test]
fn ebnf_names_of_several_words_with_and_without_commas() {
    check(
        Notation::Ebnf,
        "syntax rule = meta identifier, digit meta identifier digit ; meta identifier = digit | ; digit = '1' ;",
        expect![[r#"
            `syntax rule` = `meta identifier` digit `meta identifier` digit ;
            `meta identifier` = digit | ;
            digit = "1" ;
        "#]],
    );
}

#[test]
fn ebnf_counts_comments_and_one_or_more() {
    check(
        Notation::Ebnf,
        "(* a (* nested *) comment *) a = 3 * 'x', 2 * [ b ], 4 * ( b | 'z' ), { b }- ; b = 'y' (* ; *) ;",
        expect![[r#"
            a = "x"{3} (b?){2} (b | "z"){4} b+ ;
            b = "y" ;
        "#]],
    );
}

// W3C --------------------------------------------------------------------

#[test]
fn w3c_operators_and_groups() {
    check(
        Notation::W3c,
        "[1] a ::= b? (c d)* (c | d)+ \"it's\" 'x' '' /* no */\n[2a] b ::= | #x41 #xE9\nc ::= (b*)+ ''?\nd\n::= c\n",
        expect![[r#"
            a = b? (c d)* (c | d)+ "it's" "x" ;
            b = | "A" "é" ;
            c = (b*)+ ()? ;
            d = c ;
        "#]],
    );
}

#[test]
fn w3c_classes_numbers_and_remarks() {
    check(
        Notation::W3c,
        "a ::= [a-zA-Z#x20-#x2F#x5D] [^<&\"] [-x] [x-] [#@] [12] [vc:] [ wfc: No < in it ]\n[12] b ::= a [VC: x]\n",
        expect![[r#"
            a = [ -/A-Z\]a-z] [^"\&<] [\-x] [\-x] [#@] [12] [:cv] ;
            b = a ;
        "#]],
    );
}

// Exceptions -------------------------------------------------------------

/// The rules as read, before exceptions are resolved.
fn unresolved(notation: Notation, text: &str) -> String {
    let (mut ast, mut diags) = (Ast::default(), Diagnostics::default());
    notation.read("text", text, 0, &mut ast, &mut diags);
    assert_eq!(diags.errors(), 0, "{:?}", diags.into_vec());
    let rule = |rule: &wug_grammar::ast::AstRule| {
        format!("{} = {} ;\n", ast.names.text(rule.name.0), unresolved_body(&ast, rule.body))
    };
    ast.rules.iter().map(rule).collect()
}

fn unresolved_body(ast: &Ast, body: BodyId) -> String {
    let symbol = |symbol: &AstSymbol| match *symbol {
        AstSymbol::Bytes(bytes) => format!("{:?}", String::from_utf8_lossy(ast.arena().bytes(bytes))),
        AstSymbol::Class(_) => "[…]".to_string(),
        AstSymbol::Name(name) => ast.names.text(name).to_string(),
        AstSymbol::Group(body) => format!("({})", unresolved_body(ast, body)),
        AstSymbol::Repeat(repeat) => {
            let repeat = ast.arena().repeat(repeat);
            format!("({}){{{},{:?}}}", unresolved_body(ast, repeat.body), repeat.min, repeat.max)
        }
        AstSymbol::Except(left, right) => {
            format!("<{} - {}>", unresolved_body(ast, left), unresolved_body(ast, right))
        }
    };
    let symbols = |alt| ast.arena().symbols(alt).iter().map(symbol).collect::<Vec<_>>().join(" ");
    ast.arena().alternatives(body).map(symbols).collect::<Vec<_>>().join(" | ")
}

#[test]
fn w3c_exceptions_bind_between_repetition_and_sequence() {
    let text = "a ::= b c - d e | (b c) - (d | e)* f - g - h x-y z-'z'\n";
    expect![[r#"
        a = b <c - d> e | <b c - (d | e){0,None}> <<f - g> - h> x-y <z - "z"> ;
    "#]]
    .assert_eq(&unresolved(Notation::W3c, text));
    expect![[r#"
        a = <(Char){0,None} - (Char){0,None} "]]>" (Char){0,None}> (< - "x">){0,Some(1)} ;
    "#]]
    .assert_eq(&unresolved(Notation::W3c, "a ::= (Char* - (Char* ']]>' Char*)) ('' - 'x')?"));
}

#[test]
fn ebnf_exceptions_take_one_factor_on_each_side() {
    let text = "a = b, c - d, 2 * e - 3 * f | ( b, c ) - { d }, \"\" - 'x', b -, { b } -, (b | c) - ; b-c = b-c, c-d;";
    expect![[r#"
        a = b <c - d> <(e){2,Some(2)} - (f){3,Some(3)}> | <b c - (d){0,None}> < - "x"> <b - > (b){1,None} <b | c - > ;
        b-c = b-c <c - d> ;
    "#]].assert_eq(&unresolved(Notation::Ebnf, text));
}

#[test]
fn exceptions_are_worked_out() {
    check(
        Notation::W3c,
        "a ::= ([a-z] - [aeiou])+ b - 'x'\nb ::= 'x' | 'y' | 'z'",
        expect![[r#"
        a = except-2+ except-3 ;
        b = "x" | "y" | "z" ;
        @made except-2 = [b-df-hj-np-tv-z] ;
        @made except-3 = [yz] ;
    "#]],
    );
    check(
        Notation::Ebnf,
        "a = ( 'if' | 'do' | 'in' ) - 'do' ;",
        expect![[r#"
        a = except-1 ;
        @made except-1 = "i" `except-1.2` ;
        @made `except-1.2` = [fn] ;
    "#]],
    );
}

// ABNF -------------------------------------------------------------------

#[test]
fn abnf_repetition_groups_and_text() {
    check(
        Notation::Abnf,
        "a = *b 1*b *3b 2*4b 5b *(b / \"-1\") [b b] 2[b] 2\"Ab\"\nb = \"aB-\" %s\"Get\" %i\"x\" \"\" ( b b ) <a>\n",
        expect![[r#"
            a = b* b+ b{0,3} b{2,4} b{5} (b | "-1")* (b b)? (b?){2} ([Aa] [Bb]){2} ;
            b = [Aa] [Bb] "-" "Get" [Xx] b b a ;
        "#]],
    );
}

#[test]
fn abnf_values_are_bytes_if_all_of_them_fit() {
    check(
        Notation::Abnf,
        "a = %x41 %x80-FF %d13.10 %b1 %xE9 \"%x100\" ; %x100\n",
        expect![[r#"
        a = "A" x[80-FF] "\r\n" "\x01" "\xE9" "%" [Xx] "100" ;
    "#]],
    );
    check(
        Notation::Abnf,
        "a = %x80-FF %xE9 %x1F600 OCTET %xD000-E000\n",
        expect![[r#"
        a = [\u{80}-ÿ] "é" "😀" OCTET [퀀-\u{D7FF}\u{E000}] ;
        OCTET = x[00-FF] ;
    "#]],
    );
}

#[test]
fn abnf_names_ignore_case_and_grow() {
    check(
        Notation::Abnf,
        "  first-rule = SECOND\n      / first-RULE ; a comment\n\n    ; another\n      Second\n  Second = \"1\"\n  second =/ \"2\" / \"3\"\n  third = \"4\"\n  SECOND =/ \"5\"\n",
        expect![[r#"
            first-rule = Second | first-rule Second ;
            Second = "1" | "2" | "3" | "5" ;
            third = "4" ;
        "#]],
    );
}

#[test]
fn abnf_core_rules_come_when_used() {
    check(
        Notation::Abnf,
        "a = alpha BIT CHAR CR CRLF CTL DQUOTE HEXDIG HTAB LF LWSP OCTET SP VCHAR WSP DIGIT\ndigit = \"1\"\n",
        expect![[r#"
            a = ALPHA BIT CHAR CR CRLF CTL DQUOTE HEXDIG HTAB LF LWSP OCTET SP VCHAR WSP DIGIT ;
            DIGIT = "1" ;
            ALPHA = [A-Za-z] ;
            BIT = [01] ;
            CHAR = [\x01-\x7F] ;
            CR = "\r" ;
            CTL = [\x00-\x1F\x7F] ;
            DQUOTE = "\"" ;
            HEXDIG = [0-9A-Fa-f] ;
            HTAB = "\t" ;
            LF = "\n" ;
            OCTET = x[00-FF] ;
            SP = " " ;
            VCHAR = [!-\~] ;
            WSP = [\t ] ;
            CRLF = "\r\n" ;
            LWSP = ([\t ] | "\r\n" [\t ])* ;
        "#]],
    );
}

#[test]
fn abnf_lines_may_end_in_crlf() {
    check(
        Notation::Abnf,
        "a = b\r\n  / \"x\"\r\n\r\nb = \"y\"\r\n",
        expect![[r#"
        a = b | [Xx] ;
        b = [Yy] ;
    "#]],
    );
}

#[test]
fn w3c_takes_lines_that_begin_with_a_number_sign_for_comments() {
    check(
        Notation::W3c,
        "# A grammar\n    a ::= b #\n        | #x41 # [1] c ::= d\n    @terminals\n    b ::= [#x30-#x39] 'n#'\n#",
        expect![[r##"
            a = b | "A" ;
            b = [0-9] "n#" ;
        "##]],
    );
}

#[test]
fn abnf_skips_the_page_breaks_of_rfcs() {
    check(
        Notation::Abnf,
        "   a = \"1\" / b ; [Page 2]\n      / \"2\"\n\n\n\nFielding & Reschke           Standards Track                   [Page 12]\n\u{C}\nRFC 7230           HTTP/1.1 Message Syntax and Routing         June 2014\n\n\n      / \"3\"\n\nKlyne                 Informational  [Page 13]\r\n\u{C}Internet-Draft     X     May 2012\r\n\r\n   b = \"4\"\n",
        expect![[r#"
            a = "1" | b | "2" | "3" ;
            b = "4" ;
        "#]],
    );
}

// Printing ---------------------------------------------------------------

fn odd_grammar() -> Grammar {
    grammar(
        Notation::Wug,
        "start go ; `<x>` = 'a' | [0-3] `a b` | ; `a b` = '<x>' '<<x>' '<' `a_b` \"'\\\"\\\\\\n\" | [q] ; a_b = `<x>` ; go = `<x>` [0-3] start [^\\x00-\\u{10FFFF}] | 'é' ; start = [^\\x00-\\u{10FFFF}] ;",
    )
}

#[test]
fn f1_prints_odd_names_classes_and_text_in_brackets() {
    expect![[r#"
        {
        "[start]": "<go>",
        "[grammar]": {
          "<go>": [["é"]],
          "<_x_>": [["a"], ["<class-0>", "<a_b>"], []],
          "<a_b>": [["<", "x>", "<<x>", "<", "<a_b-2>", "'\"\\\n"], ["q"]],
          "<a_b-2>": [["<_x_>"]],
          "<start-2>": [["<start-2>"]],
          "<class-0>": [["0"], ["1"], ["2"], ["3"]]
        }}
    "#]]
    .assert_eq(&print::f1::print(&odd_grammar()).unwrap());
    fuzzing::check_print(&odd_grammar());
}

#[test]
fn gramatron_prints_odd_names_and_classes() {
    expect![[r#"
        {
          "go": ["'é'"],
          "<x>": ["'a'", "class-0 a_b", "''"],
          "a_b": ["'<x>' '<<x>' '<' a_b-2 \"'\" '\"\\\\n'", "'q'"],
          "a_b-2": ["<x>"],
          "start-2": ["start-2"],
          "class-0": ["'0'", "'1'", "'2'", "'3'"]
        }
    "#]]
    .assert_eq(&print::gramatron::print(&odd_grammar()).unwrap());
}

#[test]
fn bnf_prints_odd_names_and_classes() {
    expect![[r#"
        <go> ::= "é"
        <_x_> ::= "a" | <class-0> <a_b> | ""
        <a_b> ::= "<x>" "<<x>" "<" <a_b-2> "'\"\\\n" | "q"
        <a_b-2> ::= <_x_>
        <start> ::= <start>
        <class-0> ::= "0" | "1" | "2" | "3"
    "#]]
    .assert_eq(&print::bnf::print(&odd_grammar()).unwrap());
}

#[test]
fn what_a_notation_cannot_write_is_refused_with_the_way_out() {
    let refused = |text: &str, print: fn(&Grammar) -> Result<String, wug_grammar::Diagnostic>| {
        let error = print(&grammar(Notation::Wug, text)).unwrap_err();
        format!("{} ({})\n", error.message, error.help.unwrap_or_default())
    };
    let all = [
        refused("a = 'x' | b ; b = . ;", print::f1::print),
        refused("a = 'x' | b ; b = '\\xFF' ;", print::f1::print),
        refused("a = x[00-FF] ;", print::f1::print),
        refused("a = [a-b]* ;", print::bnf::print),
        refused("a = [^a] ;", print::gramatron::print),
        refused("a = x[00-FF] ;", print::gramatron::print),
    ];
    expect![[r#"
        rule `b` has a class of 1112064 members, which F1's JSON cannot write (`--as wug` keeps it)
        rule `b` has bytes that are not UTF-8, which F1's JSON cannot write (`--as wug` keeps it)
        rule `a` has a class of bytes that are not UTF-8, which F1's JSON cannot write (`--as wug` keeps it)
        rule `a` has a group or a repetition, which BNF cannot write (`--as wug` keeps it)
        rule `a` has a class of 1112063 members, which Gramatron's JSON cannot write (`--as wug` keeps it)
        rule `a` has a class of bytes that are not UTF-8, which Gramatron's JSON cannot write (`--as wug` keeps it)
    "#]]
    .assert_eq(&all.concat());
    assert!(print::bnf::print(&grammar(Notation::Wug, "a = x[00-FF] '\\xFF' ;")).is_ok());
    assert!(print::gramatron::print(&grammar(Notation::Wug, "a = x[00-7F] ;")).is_ok());
}

#[test]
fn dot_shows_each_call_once() {
    let grammar =
        grammar(Notation::Wug, "a = (B | 'x')* B a? ; token B = C ; fragment C = 'c' ; skip `\"W\"` = ' ' ;");
    expect![[r#"
        digraph grammar {
          rankdir=LR;
          node [shape=ellipse];
          r0 [label="a", peripheries=2];
          r1 [label="B", shape=box];
          r2 [label="C", shape=box, style=dashed];
          r3 [label="\"W\"", shape=box, color=grey];
          r0 -> r1;
          r0 -> r0;
          r1 -> r2;
        }
    "#]]
    .assert_eq(&print::dot::print(&grammar));
}

// Telling notations apart ------------------------------------------------

#[test]
fn notations_are_told_by_name_then_by_content() {
    let cases = [
        ("a.wug", "{", Notation::Wug),
        ("a.abnf", "a = b", Notation::Abnf),
        ("a.bnf", "", Notation::Bnf),
        ("a.json", "{\n \"<s>\": []}", Notation::F1),
        ("a.json", "{\"[start]\": \"<s>\"}", Notation::F1),
        ("a", "{\"Program\": [\"'\\\"<a'\"]}", Notation::Gramatron),
        ("a.json", "{}", Notation::F1),
        ("a.json", "[1]", Notation::F1),
        ("a.ebnf", "a = b ;", Notation::Ebnf),
        ("a.ebnf", "a ::= b", Notation::W3c),
        ("a.ebnf", "[1] a ::= b", Notation::W3c),
        ("a.txt", "; c\n\n<a> ::= b", Notation::Bnf),
        ("a.txt", "a = 'b' ;", Notation::Wug),
        ("a.bnf", "[1] a ::= b?", Notation::W3c),
        ("a.bnf", "/* <a> ::= no */\na\n  ::= b*", Notation::W3c),
        ("a.bnf", "; a ::= no\n <a b>\n ::= c", Notation::Bnf),
        ("a.bnf", "a = b, c ;", Notation::Ebnf),
        ("a.ebnf", "(* a ::= b *) rule = name, '::=', body ;", Notation::Ebnf),
        ("a.txt", "# x = y\na ::= b", Notation::W3c),
        ("a.txt", "a = '::=' ;", Notation::Wug),
    ];
    for (name, text, notation) in cases {
        assert_eq!(Notation::detect(name, text), notation, "{name} {text}");
    }
}
