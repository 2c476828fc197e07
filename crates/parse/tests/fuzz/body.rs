//! Any grammar, any bytes: what the fuzz target `parse` and a property test
//! both do.
//!
//! In:  random bytes.
//! Out: no panic, no hang: a grammar is made of them, or read from a text
//!      with edits; it gets inputs of its own with damages, letters of its
//!      alphabet, or plain bytes. Each parse, forest and cover ends within
//!      its limits with an answer that can be checked.

use arbitrary::{Result, Unstructured};
use wug_grammar::testing::{grammar, lexical_grammar};
use wug_grammar::{Grammar, Notation, fuzzing, load::load_text};
use wug_parse::{Cache, Failure, Islands, Limits, Parser, Piece};
use wug_produce::{Engine, Options, Program, Scratch};

const LIMITS: Limits = Limits { memory: 1 << 24, steps: 100_000 };

/// What came of the inputs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    pub accepted: usize,
    pub rejected: usize,
    pub given_up: usize,
    /// Grammars that were read from a text.
    pub read: usize,
}

/// Checks one grammar on a few inputs.
pub fn check(u: &mut Unstructured<'_>, tally: &mut Tally) -> Result<()> {
    let Some(grammar) = made(u, tally)? else { return Ok(()) };
    let (Ok(parser), Ok(islands)) = (Parser::new(&grammar), Islands::new(&grammar)) else { return Ok(()) };
    let (mut cache, mut islands_cache) = (Cache::new(&parser), islands.cache());
    let options = Options { max_depth: 8, max_size: 300, ..Options::default() };
    let program = Program::new(&grammar, options).ok();
    for _ in 0..16 {
        let text = text(program.as_ref(), u)?;
        match parser.parse(&text, &mut cache, LIMITS) {
            Ok(parsed) => {
                let mut out = Vec::new();
                parsed.derivation.print(&grammar, &mut out).expect("a derivation of this grammar");
                assert_eq!(out, text);
                tally.accepted += 1;
            }
            Err(Failure::Rejected(rejected)) => {
                assert!(rejected.valid <= text.len() && !rejected.to_string().is_empty());
                tally.rejected += 1;
            }
            Err(Failure::Limit(_, at)) => {
                assert!(at <= text.len());
                tally.given_up += 1;
            }
        }
        let _ = parser.forest(&text, &mut cache, LIMITS);
        if let Ok(pieces) = islands.cover(&text, &mut islands_cache, LIMITS) {
            let joined: usize = pieces.iter().map(|piece: &Piece| piece.span().len()).sum();
            assert_eq!(joined, text.len());
        }
    }
    Ok(())
}

fn made(u: &mut Unstructured<'_>, tally: &mut Tally) -> Result<Option<Grammar>> {
    Ok(match u.choose_index(4)? {
        0 => Some(lexical_grammar(u)?),
        1 => Some(grammar(u)?),
        _ => {
            let notation = Notation::ALL[u.choose_index(Notation::ALL.len())?].1;
            let edits: [u8; 16] = u.arbitrary()?;
            let text = fuzzing::edited(notation, &edits[..4 * u.choose_index(5)?]);
            let loaded = load_text("fuzz", &String::from_utf8_lossy(&text), notation);
            tally.read += usize::from(loaded.is_ok());
            loaded.ok().map(|loaded| loaded.grammar)
        }
    })
}

fn text(program: Option<&Program>, u: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    match u.choose_index(3)? {
        0 => {
            if let Some(program) = program {
                let (seed, mut scratch) = (u.arbitrary()?, Scratch::default());
                program.produce(Engine::Recursive, seed, 0, &mut scratch, &mut text);
            }
            for _ in 0..u.choose_index(4)? {
                let at = u.choose_index(text.len() + 1)?;
                let end = (at + u.choose_index(4)?).min(text.len());
                let put: [u8; 2] = u.arbitrary()?;
                text.splice(at..end, put[..u.choose_index(3)?].iter().copied());
            }
        }
        1 => {
            for _ in 0..u.choose_index(200)? {
                text.push(b"aaabbbccc\xC3\xA9\xFE\0"[u.choose_index(13)?]);
            }
        }
        _ => text.extend_from_slice(u.bytes(u.len().min(64))?),
    }
    Ok(text)
}
