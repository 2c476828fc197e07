//! Grammars in the shape and size of those that Gramatron was measured on:
//! few rules that call each other, and thousands of names.
//!
//! For benchmarks. The paper counts alternatives as rules: 171 and 589 for
//! JavaScript, 1,185 for mruby, 8,685 for PHP.

use std::fmt::Write;

/// Sizes of the paper's grammars, in alternatives.
pub const SIZES: [usize; 4] = [171, 589, 1_185, 8_685];

/// What all shapes share; statements and expressions of a small language of
/// scripts, with left recursion, nesting and lists.
const CORE: &str = r#"program = block ;
block = stmt "\n" block | stmt ;
stmt = "var " var "=" expr ";" | call ";" | "if(" expr "){" block "}"
     | "if(" expr "){" block "}else{" block "}" | "for(" var " of " expr "){" block "}"
     | "while(" expr "){" block "}" | "return " expr ";" | "try{" block "}catch(e){" block "}"
     | "function " var "(" params "){" block "}" | "delete " expr ";" ;
params = var "," params | var | ;
expr = var | literal | call | expr op expr | "(" expr ")" | "[" args "]" | "{" pairs "}"
     | "new " class "(" args ")" | "function(" params "){" block "}" | expr "[" expr "]" | unary expr ;
call = function "(" args ")" | expr "." method "(" args ")" ;
args = expr "," args | expr | ;
pairs = pair "," pairs | pair | ;
pair = var ":" expr ;
op = "+" | "-" | "*" | "/" | "%" | "==" | "<" | ">" | "&&" | "||" | "&" | "^" ;
unary = "!" | "-" | "~" | "typeof " ;
literal = "0" | "1" | "-1" | "1e9" | "0.5" | "'a'" | "''" | "null" | "true" | "false" | "[]" | "{}" ;
var = "a" | "b" | "c" | "d" ;
class = "Array" | "Map" | "Set" | "Error" | "Date" ;
"#;
/// Alternatives of the core.
const CORE_SIZE: usize = 73;

/// A grammar in `.wug` notation with so many alternatives, but no fewer than
/// 75: a third of the names are functions, the others methods.
pub fn grammar(alternatives: usize) -> String {
    let names = alternatives.saturating_sub(CORE_SIZE).max(2);
    let functions = (names / 3).max(1);
    let mut text = CORE.to_string();
    for (rule, names) in [("function", 0..functions), ("method", functions..names)] {
        let _ = write!(text, "{rule} =");
        for (place, number) in names.enumerate() {
            let bar = if place == 0 { " " } else { " | " };
            let _ = write!(text, "{bar}\"{}\"", name(number));
        }
        text.push_str(" ;\n");
    }
    text
}

/// A name of two to four syllables.
fn name(number: usize) -> String {
    const SYLLABLES: [&str; 12] =
        ["ar", "get", "str", "to", "map", "ex", "un", "sort", "key", "len", "set", "is"];
    let mut left = number;
    let mut name = String::new();
    for _ in 0..4 {
        name.push_str(SYLLABLES[left % SYLLABLES.len()]);
        left /= SYLLABLES.len();
    }
    // Beyond 12^4, and so that no two are alike.
    format!("{name}_{number}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use wug_grammar::{Notation, load::load_text};

    #[test]
    fn shapes_have_the_size_that_was_asked_for() {
        for size in SIZES {
            let grammar = load_text("shape.wug", &grammar(size), Notation::Wug).expect("it loads").grammar;
            assert_eq!(grammar.written_alternatives(), size);
        }
    }
}
