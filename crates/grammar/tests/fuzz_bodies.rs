//! The bodies of the fuzz targets, a second each, and all they ever found.

use arbitrary::Unstructured;
use wug_grammar::{Notation, fuzzing};

fn run(notation: Notation) {
    fuzzing::check(notation, fuzzing::sample(notation).as_bytes());
    let half = |body: fn(Notation, &[u8])| {
        wug_property::check(move |u: &mut Unstructured| {
            let bytes: Vec<u8> = u.arbitrary()?;
            body(notation, &bytes);
            Ok(())
        })
        .sizes(32, 4_096)
        .for_cases(1_000);
    };
    half(fuzzing::check);
    half(|notation, bytes| fuzzing::check(notation, &fuzzing::soup(notation, bytes)));
    half(|notation, bytes| fuzzing::check(notation, &fuzzing::edited(notation, bytes)));
}

macro_rules! bodies {
    ($($name:ident: $notation:ident),*) => {$(
        #[test]
        fn $name() {
            run(Notation::$notation);
        }
    )*};
}

bodies! {
    wug_texts_load_or_are_explained: Wug,
    f1_texts_load_or_are_explained: F1,
    gramatron_texts_load_or_are_explained: Gramatron,
    bnf_texts_load_or_are_explained: Bnf,
    ebnf_texts_load_or_are_explained: Ebnf,
    w3c_texts_load_or_are_explained: W3c,
    abnf_texts_load_or_are_explained: Abnf,
    antlr_texts_load_or_are_explained: Antlr
}

#[test]
fn samples_are_valid() {
    for (name, notation) in Notation::ALL {
        let loaded = wug_grammar::load::load_text(name, fuzzing::sample(notation), notation);
        assert!(loaded.is_ok(), "{name}: {}", loaded.unwrap_err());
    }
}

#[test]
fn text_with_two_angle_brackets_stays_text() {
    fuzzing::check(Notation::F1, br#"{"<s>": [["<<a b>", "<a>>", "<>"], ["<a b>"]], "<a b>": [["x"]]}"#);
}

#[test]
fn negated_classes_may_end_and_begin_beside_the_surrogates() {
    for text in ["a ::= [^#x0-#xD7FF#xE000-#xFFFF]", "a ::= [^z#x30-#x39abc]", "a ::= [^^] [^]] [^-^]"] {
        fuzzing::check(Notation::W3c, text.as_bytes());
    }
    fuzzing::check(
        Notation::Wug,
        "a = [^\\u{D7FF}\\u{E000}] [^^] [^]] [^-] [^[:alpha:]&&a] [^\\^a] ;".as_bytes(),
    );
}

#[test]
fn a_rule_that_derives_nothing_survives() {
    fuzzing::check(Notation::Ebnf, b"a = 'x' | 'xy' - ('xy' | 'z') ;");
    fuzzing::check(Notation::W3c, b"a ::= [^#x0-#x10FFFF] | 'x' - 'x'");
}
