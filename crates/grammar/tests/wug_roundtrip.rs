//! `.wug` text read, printed and read again is the same grammar.

use wug_grammar::load::load_text;
use wug_grammar::{Notation, print};

#[track_caller]
fn check(text: &str) {
    let first = load_text("a.wug", text, Notation::Wug).unwrap_or_else(|e| panic!("{e}"));
    let printed = print::wug::print(&first.grammar);
    let second = load_text("b.wug", &printed, Notation::Wug).unwrap_or_else(|e| panic!("{printed}\n{e}"));
    assert!(first.grammar.same_as(&second.grammar), "{printed}");
    assert_eq!(print::wug::print(&second.grammar), printed);
}

#[test]
fn all_constructs_survive() {
    check("a = ;");
    check("a = | 'x' ;");
    check(
        "a = 'x' | @3 b? | (c 'y' | )* ; b = 'é\\xFF\\n\\u{7}' ; c = [a-z0-9\\]\\-^]{2,} .{3} x[00-1F 80-FF]+ ;",
    );
    check(
        "@depth(3) a = ((b | 'y') 'z'){2,5} \"sel\"i+ /ab?c|(d|ef){2}/ ; @made @{k: \"v\"} b = 'x' @{len: \"a\"} ;",
    );
    check("start b ; a = 'x' ; b = a ;");
    check("`weird name`= `<x>` ; `<x>` = x\"00 ff\" | [^a] ;");
    check(
        "s = ID (',' ID)* Q T? E ; token ID = [a-z]+ ; skip WS = [ \\n]+ ; skip C = '/*' .*? '*/' ; fragment D = [0-9] ; token Q = '\"' -> push(text) ; mode text { token T = [^\"]+ ; token E = '\"' -> pop ; }",
    );
    check(
        "s = B A ; mode m { } mode n { token A = 'a' -> mode(default) ; } mode m { token B = 'b' -> push(n); }",
    );
}
