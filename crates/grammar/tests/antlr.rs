//! What ANTLR's constructs become.

use expect_test::{Expect, expect};
use wug_grammar::load::{LoadOptions, Loader, Text, load};
use wug_grammar::{Notation, print};

/// Files by name.
struct Folder<'a>(&'a [(&'a str, &'a str)]);

impl Loader for Folder<'_> {
    fn import(&self, _from: &str, path: &str) -> Result<Text, String> {
        let found = self.0.iter().find(|(name, _)| *name == path);
        let (name, text) = found.ok_or("there is no such file")?;
        Ok(Text { name: name.to_string(), bytes: text.as_bytes().to_vec() })
    }
}

/// Loads the first file, prints it as .wug, and reads that back.
#[track_caller]
fn files(files: &[(&str, &str)], start: Option<&str>, printed: Expect) {
    let text = Text { name: files[0].0.to_string(), bytes: files[0].1.as_bytes().to_vec() };
    let options = LoadOptions { start, ..LoadOptions::default() };
    let loaded = load(vec![text], options, &Folder(files)).unwrap_or_else(|r| panic!("{r}"));
    let text = print::wug::print(&loaded.grammar);
    let again = wug_grammar::load::load_text("again", &text, Notation::Wug);
    let again = again.unwrap_or_else(|r| panic!("{text}\n{r}")).grammar;
    assert!(loaded.grammar.same_as(&again), "{text}");
    printed.assert_eq(&text);
}

#[track_caller]
fn one(text: &str, printed: Expect) {
    files(&[("A.g4", text)], None, printed);
}

#[test]
fn texts_in_syntax_are_tokens_before_all_others() {
    one(
        "grammar A; a : 'if' ID LP ')' EOF ; ID : [a-z]+ ; LP : '(' ; RP : ')' ;",
        expect![[r#"
        a = "if" ID LP ")" ;
        token `'if'` = "if" ;
        token ID = [a-z]+ ;
        token LP = "(" ;
        token RP = ")" ;
    "#]],
    );
}

#[test]
fn case_may_be_free() {
    one(
        "grammar A; options { caseInsensitive = true; } a : 'do' B C ; B : 'x-\u{e9}' [k0] ; C options { caseInsensitive = false; } : 'y' ~[a] ;",
        expect![[r#"
            a = `'do'` B C ;
            token `'do'` = [Dd] [Oo] ;
            token B = [Xx] "-" [Éé] [0Kk] ;
            token C = "y" [^a] ;
        "#]],
    );
}

#[test]
fn a_type_may_have_several_rules() {
    one(
        "grammar A; tokens { STR } a : STR ID ; ID : [a-z]+ ; Q : '\"' ~'\"'* '\"' -> type(STR) ; R : '\\'' -> type(STR) ; UP : [A-Z] -> type(ID) ;",
        expect![[r#"
            a = STR any_ID ;
            @made STR = Q | R ;
            @made any_ID = ID | UP ;
            token ID = [a-z]+ ;
            token Q = "\"" [^"]* "\"" ;
            token R = "'" ;
            token UP = [A-Z] ;
        "#]],
    );
}

#[test]
fn alternatives_may_have_commands_of_their_own() {
    one(
        "grammar A; a : B C ; B : 'b' | 'c' -> type(C) | [ ] -> skip ; C : B 'd' ;",
        expect![[r#"
        a = B any_C ;
        @made any_C = B_2 | C ;
        token B = "b" ;
        token B_2 = "c" ;
        skip B_3 = [ ] ;
        fragment B-all = "b" | "c" | [ ] ;
        token C = B-all "d" ;
    "#]],
    );
}

#[test]
fn text_may_go_on_in_another_mode() {
    one(
        "lexer grammar A; OPEN : '\"' -> more, pushMode(STR) ; mode STR ; STRING : '\"' -> popMode ; CHAR : . -> more ;",
        expect![[r#"
            tokens = any_token+ ;
            @made STRING_in_STR = STRING | CHAR STRING_in_STR ;
            @made any_STRING = STRING | OPEN STRING_in_STR ;
            @made any_token = any_STRING ;
            @{gaps: "none"} token OPEN = "\"" -> push(STR) ;
            mode STR {
            token STRING = "\"" -> pop ;
            @{gaps: "none"} token CHAR = . ;
            }
        "#]],
    );
}

#[test]
fn changes_of_modes_are_joined() {
    one(
        "grammar A; a : B C D ; B : 'b' -> pushMode(M) ; mode M ; C : 'c' -> popMode, mode(N) ; mode N ; D : 'd' -> popMode, popMode ; E : 'e' -> popMode, pushMode(DEFAULT_MODE) ;",
        expect![[r#"
            a = B C D ;
            token B = "b" -> push(M) ;
            mode M {
            token C = "c" -> pop, pop, push(N) ;
            }
            mode N {
            token D = "d" -> pop, pop ;
            token E = "e" -> mode(default) ;
            }
        "#]],
    );
}

#[test]
fn tokens_may_be_negated() {
    one(
        "grammar A; a : ~(B | 'x') . ; B : 'b' ; C : 'c' ; WS : ' ' -> channel(HIDDEN) ;",
        expect![[r#"
        a = not_x_B any_token ;
        @made not_x_B = C ;
        @made any_token = B | C | `'x'` ;
        token `'x'` = "x" ;
        token B = "b" ;
        token C = "c" ;
        skip WS = " " ;
    "#]],
    );
}

#[test]
fn the_end_of_the_text_is_nothing_or_left_out() {
    one(
        "grammar A; a : line* last EOF ; line : B (N | EOF) ; last : B EOF | EOF ; N : '\\n' ; B : 'b' ~[\\n]* ('\\n' | EOF) | 'c' EOF ;",
        expect![[r#"
            a = line* last ;
            line = B N ;
            last = B | ;
            token N = "\n" ;
            token B = "b" [^\n]* "\n"? ;
        "#]],
    );
}

#[test]
fn junk_is_skipped_but_stands_nowhere() {
    one(
        "grammar A; a : B ; B : 'b' ; WS : [ \\t]+ -> skip ; COM : '#' ~[\\n]* -> skip ; PRE : '#!' 'x' -> skip ; JUNK : . -> channel(OTHER) ;",
        expect![[r##"
            a = B ;
            token B = "b" ;
            skip WS = [\t ]+ ;
            skip COM = "#" [^\n]* ;
            @{gaps: "never"} skip PRE = "#!" "x" ;
            @{gaps: "never"} skip JUNK = . ;
        "##]],
    );
}

#[test]
fn imports_add_what_is_lacking() {
    files(
        &[
            ("A.g4", "parser grammar Other; options { tokenVocab = L; } import P, Q; a : b c ; b : B ;"),
            ("P.g4", "parser grammar P; import Q; b : C ; c : C d ;"),
            ("Q.g4", "parser grammar Q; d : B ; c : B ;"),
            ("L.g4", "lexer grammar L; import M; B : 'b' ; C : 'c' ;"),
            ("M.g4", "lexer grammar M; C : 'x' ; WS : ' ' -> skip ;"),
        ],
        None,
        expect![[r#"
            a = b c ;
            b = B ;
            c = C d ;
            d = B ;
            token B = "b" ;
            token C = "c" ;
            skip WS = " " ;
        "#]],
    );
}

#[test]
fn the_start_is_what_reads_the_end_and_nobody_calls() {
    let text = "grammar A; x : 'x' ; y : x z ; z : x EOF | 'z' ; all : y EOF ;";
    one(
        text,
        expect![[r#"
        start all ;

        x = "x" ;
        y = x z ;
        z = x | "z" ;
        all = y ;
        token `'x'` = "x" ;
        token `'z'` = "z" ;
    "#]],
    );
    files(
        &[("A.g4", text)],
        Some("z"),
        expect![[r#"
        start z ;

        x = "x" ;
        y = x z ;
        z = x | "z" ;
        all = y ;
        token `'x'` = "x" ;
        token `'z'` = "z" ;
    "#]],
    );
}

#[test]
fn all_that_means_nothing_here_is_read() {
    one(
        "/** Doc */ grammar A; options { language = Java; superClass = 'X'; } @parser::members { String s = \"}\"; }
        channels { C1 } a[int x] returns [int y] throws E, F locals [int z = a[0]] @init { } options { k = 1; }
        : <assoc=right> l=b op+=('+' | '-') <assoc=left> r+=b[1, \"]\"] # add | {x}? <fail='no'> b # one | # none ;
        catch [E e] { } finally { } b : B<x=1>?? ; fragment F : ( options { greedy=false; } : 'f' )* ; B : F '0' .. '9' ;",
        expect![[r#"
            a = b ("+" | "-") b | b | ;
            b = B? ;
            token `'+'` = "+" ;
            token `'-'` = "-" ;
            fragment F = "f"* ;
            token B = F [0-9] ;
        "#]],
    );
}

#[test]
fn properties_and_escapes() {
    one(
        r"grammar A; a : B ; B : [\p{Script=Ogham}\u0041\u{1F600}\]\-\n^-] [\p{White_Space}a-] '\u00e9\'' '\uD83D\uDE00' | '\uD800' ;",
        expect![[r#"
            a = B ;
            token B = [\n\-A\]\^\u{1680}-᚜😀] [\t-\r \-a\u{85}\u{A0}\u{1680}\u{2000}-\u{200A}\u{2028}\u{2029}\u{202F}\u{205F}\u{3000}] "é'" "😀" ;
        "#]],
    );
    let names = [
        "XID_Start",
        "xid_continue",
        "Lu",
        "Uppercase_Letter",
        "Script=Greek",
        "Greek",
        "Emoji",
        "Other_Alphabetic",
    ];
    for name in names {
        let text = format!("grammar A; a : B ; B : [\\p{{{name}}}] [\\P{{{name}}}] ;");
        let loaded = wug_grammar::load::load_text("A.g4", &text, Notation::Antlr);
        assert!(loaded.is_ok() || name == "Other_Alphabetic", "{}", loaded.unwrap_err());
    }
}

#[test]
fn a_rule_of_another_text_may_stand_in_for_a_token() {
    let texts = [("A.g4", "grammar A; a : INDENT 'x' ;"), ("stand-in.wug", "token INDENT = \">\" ;")];
    let texts = texts.map(|(name, text)| Text { name: name.to_string(), bytes: text.as_bytes().to_vec() });
    let loaded = load(texts.to_vec(), LoadOptions::default(), &Folder(&[])).unwrap_or_else(|r| panic!("{r}"));
    assert!(loaded.warnings.is_empty());
    expect![[r#"
        token INDENT = ">" ;
        a = INDENT "x" ;
        token `'x'` = "x" ;
    "#]]
    .assert_eq(&print::wug::print(&loaded.grammar));
}
