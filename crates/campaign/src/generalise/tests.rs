//! The paper's Examples 2 to 8, step by step; the quick way to find gaps
//! beside the plain one.

use super::plain::Plain;
use super::*;
use std::cell::Cell;
use wug_grammar::builtin;
use wug_parse::{Cache, Limits, Parser};
use wug_produce::{Engine, Options, Program, Scratch};
use wug_random::Rng;

const IF: &[u8] = b"if(x>1) then x=3 end";

/// A statement that is right, and compares `x` with 1.
fn is_if(input: &[u8]) -> bool {
    let Some(rest) = input.strip_prefix(b"if(x>1)") else { return false };
    let rest = rest.strip_prefix(b" ").unwrap_or(rest);
    let Some(rest) = rest.strip_prefix(b"then ") else { return false };
    let rest = rest.strip_prefix(b"x=3").unwrap_or(rest);
    rest.strip_prefix(b" ").unwrap_or(rest) == b"end"
}

fn is_print(input: &[u8]) -> bool {
    input.len() >= 9 && input.starts_with(b"pprint '") && input.ends_with(b"'")
}

fn quick(input: &[u8], check: impl Fn(&[u8]) -> bool) -> Generalised {
    let found = gaps(input, usize::MAX, |input| Ok::<bool, ()>(check(input))).expect("it cannot fail");
    Generalised::new(input, &found.removed)
}

/// With gaps written as `□`.
fn generalised(text: &str) -> Generalised {
    let (mut input, mut removed) = (Vec::new(), Vec::new());
    for character in text.chars() {
        let gap = character == '□';
        let mut bytes = [0; 4];
        let bytes = if gap { "-" } else { character.encode_utf8(&mut bytes) };
        removed.extend(std::iter::repeat_n(gap, bytes.len()));
        input.extend_from_slice(bytes.as_bytes());
    }
    Generalised::new(&input, &removed)
}

/// `if`, sums and `pprint` as the examples have them, in this order.
fn library() -> Library {
    let mut library = Library::default();
    let rng = &mut Rng::new(1, 2);
    for text in ["if(x>1)□then □end", "□x=□y+□", "pprint '□'"] {
        library.add(generalised(text), rng);
    }
    library
}

fn strings(texts: &[&str]) -> Vec<Box<[u8]>> {
    texts.iter().map(|text| text.as_bytes().into()).collect()
}

#[test]
fn example_2_what_does_not_matter_becomes_a_gap() {
    assert_eq!(quick(IF, is_if).to_string(), "if(x>1)□then □end");
    let plain = Plain::new(IF, is_if).all(false);
    assert_eq!(Generalised::new(IF, &plain.removed).to_string(), "if(x>1)□then □end");
}

#[test]
fn example_3_gaps_are_filled_with_inputs_and_slices() {
    let library = library();
    let mut made = Workbench::default();
    made.begin(&library, 0);
    assert_eq!(made.to_string(), "□if(x>1)□then □end□");
    // The second gap of the input gets the second input.
    made.replace(2, &Piece::Part(1, 0..4), &library);
    assert_eq!(made.to_string(), "□if(x>1)□then □x=□y+□end□");
    // The last but one of these the slice `□y+□`.
    made.replace(4, &Piece::Part(1, 2..4), &library);
    assert_eq!(made.to_string(), "□if(x>1)□then □x=□y+□y+□end□");
    assert_eq!(made.content(), b"if(x>1)then x=y+y+end");
}

#[test]
fn example_4_chunks_do_not_overlap_and_neighbours_merge() {
    let input = b"pprint 'aaaa'";
    let tried = Cell::new(0);
    let mut plain = Plain::new(input, |candidate: &[u8]| {
        tried.set(tried.get() + 1);
        is_print(candidate)
    });
    plain.chunks(2, 2);
    // Seven chunks, of which the fifth and the sixth go.
    assert_eq!(plain.runs, 7);
    let gone: Vec<usize> = (0..input.len()).filter(|at| plain.removed[*at]).collect();
    assert_eq!(gone, [8, 9, 10, 11]);
    assert_eq!(Generalised::new(input, &plain.removed).to_string(), "pprint '□'");
    assert_eq!(quick(input, is_print).to_string(), "pprint '□'");
}

#[test]
fn example_5_tokens_stand_between_gaps() {
    let tokens = |text: &str| -> Vec<Vec<u8>> { generalised(text).tokens().map(<[u8]>::to_vec).collect() };
    assert_eq!(tokens("if(x>1)□then □end"), [&b"if(x>1)"[..], b"then ", b"end"]);
    assert_eq!(tokens("□x=□y+□"), [b"x=", b"y+"]);
    let all: Vec<&[u8]> = vec![b"if(x>1)", b"then ", b"end", b"x=", b"y+", b"pprint '", b"'"];
    assert_eq!(library().tokens().iter().map(|token| &**token).collect::<Vec<_>>(), all);
}

#[test]
fn example_6_inputs_are_extended_before_and_behind() {
    let mut library = Library::default();
    let rng = &mut Rng::new(1, 2);
    library.add(generalised("pprint '□'"), rng);
    library.add(generalised("□x=□y+□"), rng);
    let mut seen = std::collections::BTreeSet::new();
    let mut made = Workbench::default();
    for round in 0..200 {
        made.extend(&library, 0, &[], round % 2 == 0, rng).expect("there are inputs");
        seen.insert(String::from_utf8_lossy(made.content()).into_owned());
    }
    assert!(seen.contains("pprint ''x=y+") && seen.contains("x=y+pprint ''"), "{seen:?}");
}

#[test]
fn example_7_replacement_goes_on_in_what_was_put_in() {
    let library = library();
    let mut made = Workbench::default();
    made.begin(&library, 2);
    assert_eq!(made.to_string(), "□pprint '□'□");
    made.replace(0, &Piece::Part(0, 0..7), &library);
    assert_eq!(made.to_string(), "□if(x>1)□pprint '□'□");
    made.replace(2, &Piece::Part(1, 0..4), &library);
    assert_eq!(made.to_string(), "□if(x>1)□pprint '□x=□y+□'□");
    assert_eq!(made.content(), b"if(x>1)pprint 'x=y+'");
    // And by chance, in some of many tries.
    let rng = &mut Rng::new(3, 4);
    let mut hit = |wanted: &[u8]| {
        (0..100_000).any(|_| {
            made.recurse(&library, 2, &[], 1000, rng);
            made.content().windows(wanted.len()).any(|part| part == wanted)
        })
    };
    assert!(hit(b"if(x>1)then end") && hit(b"pprint 'x=y+'") && hit(b"if(x>1)pprint '"));
}

#[test]
fn example_8_known_strings_are_replaced_once_or_everywhere() {
    let input = b"if(x>1)pprint 'x=y+'";
    let strings = strings(&["if", "while", "key", "pprint", "eval", "+", "=", "-"]);
    let made = |strings: &[Box<[u8]>], puts: &[&str], all: bool| -> std::collections::BTreeSet<String> {
        let found = Occurrences::of(input, strings);
        let (rng, mut out) = (&mut Rng::new(1, 2), Vec::new());
        let mut seen = std::collections::BTreeSet::new();
        for round in 0..400 {
            found.replace(input, puts[round % puts.len()].as_bytes(), all, rng, &mut out);
            seen.insert(String::from_utf8_lossy(&out).into_owned());
        }
        seen
    };
    let seen = made(&strings, &["while", "eval", "-"], false);
    for wanted in ["while(x>1)pprint 'x=y+'", "if(x>1)eval 'x=y+'", "if(x>1)pprint 'x=y-'"] {
        assert!(seen.contains(wanted), "{wanted}: {seen:?}");
    }
    let with_x = [&strings[..], &[b"x"[..].into()]].concat();
    assert!(made(&with_x, &["key"], true).contains("if(key>1)pprint 'key=y+'"));
}

#[test]
fn a_string_at_the_very_end_is_found() {
    for (input, string) in [("x=y+", "+"), ("end", "end"), ("print(end", "end")] {
        let found = Occurrences::of(input.as_bytes(), &strings(&[string]));
        let mut out = Vec::new();
        let replaced = found.replace(input.as_bytes(), b"!", false, &mut Rng::new(1, 2), &mut out);
        assert_eq!((replaced, out.last()), (1, Some(&b'!')), "{input}");
    }
    // A token at the end of an item, too.
    assert_eq!(generalised("if□end").tokens().last(), Some(&b"end"[..]));
}

/// Inputs of a grammar, with what each must keep: that it parses, and one of
/// its own words.
fn sample(name: &str, count: usize) -> Vec<(Vec<u8>, Vec<u8>)> {
    let grammar = builtin::find(name).expect("it is built in").load().expect("it loads").grammar;
    let program = Program::new(&grammar, Options::default()).expect("it ends");
    let (mut scratch, mut out, rng) = (Scratch::default(), Vec::new(), &mut Rng::new(5, 6));
    for index in 0..10_000 {
        let mut input = Vec::new();
        program.produce(Engine::Recursive, 3, index, &mut scratch, &mut input);
        let words: Vec<_> = links::words(&input).collect();
        if (60..400).contains(&input.len()) && words.len() > 2 {
            let word = words[rng.below(words.len() as u32) as usize].clone();
            out.push((input.clone(), input[word].to_vec()));
        }
        if out.len() == count {
            break;
        }
    }
    out
}

/// Runs and bytes in gaps, of the quick way and of the plain one, with chunks
/// that overlap and without.
fn compare(name: &str) -> [(usize, usize); 3] {
    let grammar = builtin::find(name).expect("it is built in").load().expect("it loads").grammar;
    let parser = Parser::new(&grammar).expect("it is small");
    let cache = &mut Cache::new(&parser);
    let mut sums = [(0, 0); 3];
    for (input, word) in sample(name, 12) {
        let mut check = |candidate: &[u8]| {
            candidate.windows(word.len()).any(|part| part == word)
                && parser.parse(candidate, cache, Limits::default()).is_ok()
        };
        if !check(&input) {
            continue;
        }
        let gone = |removed: &[bool]| removed.iter().filter(|gone| **gone).count();
        let found = gaps(&input, usize::MAX, |input| Ok::<bool, ()>(check(input))).expect("it cannot fail");
        // All gaps together keep what the input has to be.
        assert!(check(Generalised::new(&input, &found.removed).content()));
        sums[0].0 += found.runs;
        sums[0].1 += gone(&found.removed);
        for (sum, overlap) in sums[1..].iter_mut().zip([false, true]) {
            let plain = Plain::new(&input, &mut check).all(overlap);
            sum.0 += plain.runs;
            sum.1 += gone(&plain.removed);
        }
    }
    sums
}

#[test]
fn the_quick_way_finds_as_much_as_the_plain_one_with_half_of_its_runs() {
    let (mut quick, mut plain) = ((0, 0), (0, 0));
    for name in ["json", "lua", "xml", "ini"] {
        let sums = compare(name);
        eprintln!("{name}: quick {:?}, plain {:?}, plain with overlap {:?}", sums[0], sums[1], sums[2]);
        assert!(sums[0].0 * 2 <= sums[1].0, "{name}: {sums:?}");
        quick = (quick.0 + sums[0].0, quick.1 + sums[0].1);
        plain = (plain.0 + sums[1].0, plain.1 + sums[1].1);
    }
    assert!(quick.1 >= plain.1, "{quick:?} {plain:?}");
}

#[test]
fn gaps_are_found_on_any_bytes_and_within_a_budget() {
    wug_property::check(|u| {
        let input: Vec<u8> = u.arbitrary()?;
        let needed: Vec<u8> = u.arbitrary::<[u8; 3]>()?.to_vec();
        let runs = u.int_in_range(0..=300)?;
        // The needed bytes in this order, as far as the input has them.
        let keeps = |candidate: &[u8]| {
            let mut wanted = needed.iter().filter(|byte| input.contains(byte)).peekable();
            candidate.iter().for_each(|byte| {
                wanted.next_if(|next| *next == byte);
            });
            wanted.peek().is_none()
        };
        let asked = Cell::new(0);
        let found = gaps(&input, runs, |candidate| {
            asked.set(asked.get() + 1);
            Ok::<bool, ()>(keeps(candidate))
        });
        let found = found.expect("it cannot fail");
        assert!(asked.get() <= runs && found.runs == asked.get() && found.removed.len() == input.len());
        if keeps(&input) && !input.is_empty() {
            assert!(keeps(Generalised::new(&input, &found.removed).content()));
        }
        Ok(())
    })
    .for_cases(100);
}

#[test]
fn words_that_are_only_right_together_are_linked() {
    // A tag, its end, and the same word as a text between them.
    let document = b"<ab>ab</ab>";
    let is_document = |text: &[u8]| -> bool {
        let Ok(text) = std::str::from_utf8(text) else { return false };
        let Some((name, rest)) = text.strip_prefix('<').and_then(|rest| rest.split_once('>')) else {
            return false;
        };
        !name.is_empty() && rest.ends_with(&format!("</{name}>"))
    };
    let (found, runs) =
        links(document, 100, |text| Ok::<bool, ()>(is_document(text))).expect("it cannot fail");
    assert_eq!(found, [Link { places: vec![1, 8], len: 2 }]);
    assert_eq!(runs, 4);
    // Words that may change alone are not.
    let (found, _) = links(b"a b a", 100, |_| Ok::<bool, ()>(true)).expect("it cannot fail");
    assert!(found.is_empty());
    // Nor those that may not change at all.
    let (found, _) = links(b"a b a", 100, |_| Ok::<bool, ()>(false)).expect("it cannot fail");
    assert!(found.is_empty());
}

#[test]
fn what_fits_is_put_there_again() {
    let mut library = library();
    let rng = &mut Rng::new(7, 8);
    let share = |library: &Library, rng: &mut Rng| {
        let mut made = Workbench::default();
        let hits = (0..4000).filter(|_| {
            made.recurse(library, 0, &[], 200, rng);
            made.put().contains(&((0, 1), 1))
        });
        hits.count()
    };
    let before = share(&library, rng);
    library.fits((0, 1), 1, rng);
    library.fits((0, 1), 1, rng);
    assert_eq!(library.pairs(), 1);
    let after = share(&library, rng);
    assert!(after * 10 > before * 13, "{before} {after}");
}

/// Elements that are closed by their names, with text between them: how many
/// of them, and how deep.
fn elements(text: &[u8]) -> Option<(usize, usize)> {
    let (mut open, mut count, mut deepest, mut rest) = (Vec::new(), 0, 0, text);
    while !rest.is_empty() {
        if count > 0 && open.is_empty() {
            return None;
        }
        let Some(inside) = rest.strip_prefix(b"<") else {
            rest = &rest[1..];
            continue;
        };
        let (tag, behind) = inside.split_at(inside.iter().position(|byte| *byte == b'>')?);
        rest = &behind[1..];
        match tag.strip_prefix(b"/") {
            Some(name) if open.pop() == Some(name) => {}
            None if !tag.is_empty() && !tag.contains(&b'<') => {
                open.push(tag);
                count += 1;
                deepest = deepest.max(open.len());
            }
            _ => return None,
        }
    }
    (open.is_empty() && count > 0).then_some((count, deepest))
}

#[test]
fn places_are_found_where_nothing_can_be_left_out() {
    let mut form = generalised("<ab></ab>");
    let taken =
        nest(&mut form, 100, |text| Ok::<bool, ()>(elements(text).is_some())).expect("it cannot fail");
    assert_eq!((form.to_string().as_str(), taken), ("<ab>□</ab>", vec![0]));
    // Gaps that were there keep their places, and get their new numbers.
    let mut form = generalised("<ab>x□</ab>");
    let taken =
        nest(&mut form, 100, |text| Ok::<bool, ()>(elements(text).is_some())).expect("it cannot fail");
    assert_eq!((form.to_string().as_str(), taken), ("<ab>□x□</ab>", vec![0, 1]));
    // Nothing is asked beyond the budget, nor of what is too long.
    let asked = Cell::new(0);
    let ask = |text: &str, runs: usize| {
        asked.set(0);
        let count = |_: &[u8]| -> Result<bool, ()> {
            asked.set(asked.get() + 1);
            Ok(true)
        };
        let taken = nest(&mut generalised(text), runs, count).expect("it cannot fail");
        assert_eq!(taken.len(), asked.get());
        asked.get()
    };
    assert_eq!((ask("a;b;c;d;", 3), ask("a;b;c;d;", 0), ask("a;b;c;d;", 100)), (3, 0, 7));
    assert_eq!((ask("", 9), ask("a", 9), ask("word", 9), ask(&";".repeat(1000), 9)), (0, 0, 0, 0));
}

#[test]
fn names_change_together_and_gaps_move_with_them() {
    let form = generalised("<ab>□x□</ab>□");
    let link = Link { places: vec![1, 7], len: 2 };
    assert_eq!(form.word(&link), b"ab");
    for word in ["y", "long"] {
        let (text, gaps) = form.renamed(&link, word.as_bytes());
        let shown =
            Generalised { text: text.into(), gaps: gaps.into(), ..Generalised::default() }.to_string();
        assert_eq!(shown, format!("<{word}>□x□</{word}>□"));
    }
}

#[test]
fn what_fits_into_itself_is_nested_under_other_names() {
    let rng = &mut Rng::new(9, 10);
    let mut form = generalised("<ab>x</ab>");
    let taken =
        nest(&mut form, 100, |text| Ok::<bool, ()>(elements(text).is_some())).expect("it cannot fail");
    form.links = vec![Link { places: vec![1, 7], len: 2 }];
    let mut library = Library::default();
    let junk = library.add(generalised("<a<□"), rng);
    let number = library.add(form, rng);
    assert!(!library.nests());
    taken.iter().for_each(|gap| library.takes_itself((number, *gap), rng));
    assert!(library.nests() && taken.len() == 2);
    let mut made = Workbench::default();
    let (mut right, mut deep, mut names) = (0, 0, std::collections::BTreeSet::new());
    for _ in 0..1000 {
        let put = made.nest(&library, junk, &strings(&["up", "down"]), 1000, rng).expect("there is one");
        let Some((count, depth)) = elements(made.content()) else { continue };
        assert_eq!(count, put as usize + 1);
        right += 1;
        deep += usize::from(depth >= 3);
        names.insert(
            made.content().iter().skip(1).take_while(|byte| **byte != b'>').copied().collect::<Vec<_>>(),
        );
    }
    // All but those that get what is not known to fit, which are a quarter.
    assert!((700..800).contains(&right) && deep > 300, "{right} {deep}");
    assert!([&b"ab"[..], b"up", b"down"].iter().all(|name| names.contains(*name)), "{names:?}");
}
