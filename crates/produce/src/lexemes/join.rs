//! Separators at the joints of a text that was put together from several.
//!
//! Each part was lexed from its beginning before, and what a token is depends
//! on what follows it only by making it longer. So all tokens are as meant if
//! and only if none of them runs across a joint.

use super::Tokens;
use wug_grammar::lexical::dfa::DEAD;

/// Separators that are tried at one joint.
const TRIES: usize = 8;

/// Puts separators where they are needed.
pub(super) fn join(tokens: &Tokens, text: &mut Vec<u8>, joints: &mut [usize]) -> Option<()> {
    // Lexers that look far ahead of each token take quadratic time, and each
    // separator that is tried means to lex again.
    let mut fuel = (1 << 12) + 16 * text.len();
    loop {
        let crossed = match lex(tokens, text, joints, &mut fuel) {
            Lexed::Whole => return Some(()),
            Lexed::Never => return None,
            Lexed::Across(joint) => joint,
        };
        let separators = tokens.separators.of_mode(0);
        let place = joints[crossed];
        // The shortest that serves, at this joint.
        let serves = separators.take(TRIES).find(|&number| {
            let separator = tokens.separators.text(number);
            text.splice(place..place, separator.iter().copied());
            joints[crossed..].iter_mut().skip(1).for_each(|joint| *joint += separator.len());
            let good = match lex(tokens, text, joints, &mut fuel) {
                Lexed::Whole => true,
                Lexed::Across(next) => next > crossed,
                Lexed::Never => false,
            };
            if !good {
                text.drain(place..place + separator.len());
                joints[crossed..].iter_mut().skip(1).for_each(|joint| *joint -= separator.len());
            }
            good
        });
        serves?;
    }
}

enum Lexed {
    /// All tokens end at joints, or between them.
    Whole,
    /// A token runs across this joint.
    Across(usize),
    /// Something is no token at all.
    Never,
}

fn lex(tokens: &Tokens, text: &[u8], joints: &[usize], fuel: &mut usize) -> Lexed {
    let dfa = &tokens.lexicon.modes[0];
    let alphabet = &tokens.lexicon.alphabet;
    let (mut at, mut next) = (0, 0);
    while at < text.len() {
        let (mut state, mut end) = (dfa.start, None);
        for (read, &byte) in text[at..].iter().enumerate() {
            state = dfa.step(state, alphabet.letter(byte));
            if state == DEAD {
                break;
            }
            if dfa.labels[state as usize].is_some() {
                end = Some(at + read + 1);
            }
            if *fuel == 0 {
                return Lexed::Never;
            }
            *fuel -= 1;
        }
        let Some(end) = end.filter(|&end| end > at) else { return Lexed::Never };
        while next < joints.len() && joints[next] <= end {
            if joints[next] > at && joints[next] < end {
                return Lexed::Across(next);
            }
            next += 1;
        }
        at = end;
    }
    Lexed::Whole
}
