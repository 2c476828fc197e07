//! `parse-bench LANGUAGE FILE…`: the parser of wug and tree-sitter's parser
//! of the same language, on the same files, in turns. `@LIST` stands for the
//! files that the file LIST names, one in each line, as `tools/corpora.py
//! --list LANGUAGE` prints them.
//!
//! Both build their whole tree: here a derivation, of which every byte has
//! nodes where the grammar is without tokens. Files that either does not
//! accept are left out and counted. The figure is the ratio of CPU times,
//! each the median of rounds.

use std::process::ExitCode;
use std::time::Duration;
use wug_grammar::builtin;
use wug_parse::{Cache, Limits, Parser};

const ROUNDS: usize = 9;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(name) = arguments.next() else {
        eprintln!("parse-bench LANGUAGE FILE…; languages: json, lua, sql, xml");
        return ExitCode::from(2);
    };
    let language: tree_sitter::Language = match name.as_str() {
        "json" => tree_sitter_json::LANGUAGE.into(),
        "lua" => tree_sitter_lua::LANGUAGE.into(),
        "sql" => tree_sitter_sequel::LANGUAGE.into(),
        "xml" => tree_sitter_xml::LANGUAGE_XML.into(),
        _ => {
            eprintln!("no such language: {name}");
            return ExitCode::from(2);
        }
    };
    let grammar = match std::env::var("WUG_GRAMMAR") {
        Ok(path) => {
            let text = std::fs::read_to_string(&path).expect("a grammar");
            wug_grammar::load::load_text(&path, &text, wug_grammar::Notation::Wug).expect("a grammar").grammar
        }
        Err(_) => builtin::find(&name).expect("it is built in").load().expect("it loads").grammar,
    };
    let parser = Parser::new(&grammar).expect("it fits");
    let mut cache = Cache::new(&parser);
    let mut peer = tree_sitter::Parser::new();
    peer.set_language(&language).expect("versions fit");
    let (mut texts, mut ours_refuses, mut peer_refuses) = (Vec::new(), 0, 0);
    let listed = |argument: String| match argument.strip_prefix('@') {
        Some(list) => std::fs::read_to_string(list).expect("a list").lines().map(String::from).collect(),
        None => vec![argument],
    };
    for path in arguments.flat_map(listed) {
        let Ok(text) = std::fs::read(&path) else { continue };
        let ours = parser.parse(&text, &mut cache, Limits::default()).is_ok();
        let theirs = peer.parse(&text, None).is_some_and(|tree| !tree.root_node().has_error());
        ours_refuses += usize::from(!ours);
        peer_refuses += usize::from(!theirs);
        if ours && theirs {
            texts.push(text);
        }
    }
    let bytes: usize = texts.iter().map(Vec::len).sum();
    let (mut ours, mut theirs, mut cold) = (Vec::new(), Vec::new(), Vec::new());
    let mut nodes = 0;
    for _ in 0..ROUNDS {
        theirs.push(cpu(|| texts.iter().for_each(|text| drop(std::hint::black_box(peer.parse(text, None))))));
        ours.push(cpu(|| {
            nodes = 0;
            for text in &texts {
                let parsed = parser.parse(text, &mut cache, Limits::default());
                nodes += parsed.map_or(0, |parsed| parsed.derivation.len());
            }
        }));
        cold.push(cpu(|| {
            let mut cache = Cache::new(&parser);
            for text in &texts {
                let _ = std::hint::black_box(parser.parse(text, &mut cache, Limits::default()));
            }
        }));
    }
    let (ours, theirs, cold) = (median(ours), median(theirs), median(cold));
    let speed = |time: f64| bytes as f64 / time / 1e6;
    println!(
        "{name}: {} files, {bytes} bytes, {nodes} nodes; refused: {ours_refuses} by wug, {peer_refuses} by tree-sitter",
        texts.len()
    );
    println!(
        "  wug {:.1} MB/s ({:.1} MB/s from an empty cache), tree-sitter {:.1} MB/s; wug takes {:.2} times its time",
        speed(ours),
        speed(cold),
        speed(theirs),
        ours / theirs
    );
    ExitCode::SUCCESS
}

fn cpu(run: impl FnOnce()) -> f64 {
    let now = || {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    };
    let begin = now();
    run();
    (now() - begin).as_secs_f64()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}
