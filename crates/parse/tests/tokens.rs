//! Grammars with tokens: the parser agrees with a slow recogniser that
//! works on the grammar as it is written, over the tokens that the lexer of
//! the grammar crate finds; and what producers make from them is parsed.

use wug_grammar::lexical::{Lexicon, TokenId, lexer};
use wug_grammar::testing::lexical_grammar;
use wug_grammar::{BodyId, Grammar, Notation, Symbol, load::load_text, print};
use wug_parse::{Cache, Failure, Limits, Parser};

/// Which stretches of the tokens each body derives: the least fixed point,
/// by going over all of it again and again.
struct Slow<'a> {
    grammar: &'a Grammar,
    lexicon: &'a Lexicon,
    tokens: Vec<TokenId>,
    /// For each body and place: the places where it can end.
    ends: Vec<Vec<Vec<bool>>>,
}

impl Slow<'_> {
    fn accepts(grammar: &Grammar, lexicon: &Lexicon, tokens: Vec<TokenId>) -> bool {
        let places = tokens.len() + 1;
        let ends = vec![vec![vec![false; places]; places]; grammar.body_count()];
        let mut slow = Slow { grammar, lexicon, tokens, ends };
        loop {
            let mut grew = false;
            for body in (0..grammar.body_count() as u32).map(BodyId) {
                for from in 0..places {
                    for alt in grammar.alternatives(body) {
                        let mut at = vec![false; places];
                        at[from] = true;
                        for &symbol in grammar.symbols(alt) {
                            at = slow.symbol(symbol, &at);
                        }
                        for (end, _) in at.iter().enumerate().filter(|(_, yes)| **yes) {
                            grew |= !std::mem::replace(&mut slow.ends[body.index()][from][end], true);
                        }
                    }
                }
            }
            if !grew {
                let mut at = vec![false; places];
                at[0] = true;
                return slow.symbol(Symbol::Rule(grammar.start()), &at)[places - 1];
            }
        }
    }

    fn symbol(&self, symbol: Symbol, at: &[bool]) -> Vec<bool> {
        let mut out = vec![false; at.len()];
        if let Some(token) = self.lexicon.token_of(self.grammar, symbol) {
            for (i, &found) in self.tokens.iter().enumerate() {
                out[i + 1] = at[i] && found == token;
            }
            return out;
        }
        match symbol {
            Symbol::Rule(rule) => self.body(self.grammar.rule(rule).body, at),
            Symbol::Group(body) => self.body(body, at),
            Symbol::Repeat(repeat) => {
                let repeat = self.grammar.repeat(repeat);
                let mut round = at.to_vec();
                // After so many rounds nothing new comes.
                let enough = at.len() as u32 + 1;
                for count in 0..=repeat.max.unwrap_or(u32::MAX).min(repeat.min.saturating_add(enough)) {
                    if count >= repeat.min {
                        out.iter_mut().zip(&round).for_each(|(o, r)| *o |= r);
                    }
                    let next = self.body(repeat.body, &round);
                    if next == round {
                        out.iter_mut().zip(&round).for_each(|(o, r)| *o |= r);
                        break;
                    }
                    round = next;
                }
                out
            }
            Symbol::Bytes(_) | Symbol::Class(_) => out,
        }
    }

    fn body(&self, body: BodyId, at: &[bool]) -> Vec<bool> {
        let mut out = vec![false; at.len()];
        for (from, _) in at.iter().enumerate().filter(|(_, yes)| **yes) {
            out.iter_mut().zip(&self.ends[body.index()][from]).for_each(|(o, e)| *o |= e);
        }
        out
    }
}

/// Checks one text; whether it was accepted.
fn check(grammar: &Grammar, lexicon: &Lexicon, parser: &Parser, cache: &mut Cache, text: &[u8]) -> bool {
    let meant = lexer::lex(lexicon, text).is_ok_and(|tokens| {
        Slow::accepts(grammar, lexicon, tokens.into_iter().map(|(token, _)| token).collect())
    });
    let shown = || format!("{:?}\n{}", String::from_utf8_lossy(text), print::wug::print(grammar));
    match parser.parse(text, cache, Limits::default()) {
        Ok(parsed) => {
            assert!(meant, "accepted: {}", shown());
            let mut out = Vec::new();
            parsed.derivation.print(grammar, &mut out).expect("it fits");
            assert_eq!(out, text, "printed otherwise: {}", shown());
        }
        Err(Failure::Rejected(_)) => assert!(!meant, "rejected: {}", shown()),
        Err(failure) => panic!("{failure:?}: {}", shown()),
    }
    meant
}

#[test]
fn made_up_grammars_with_tokens() {
    let (mut yes, mut no) = (0, 0);
    wug_property::check(|u| {
        let grammar = lexical_grammar(u)?;
        let (Ok(lexicon), Ok(parser)) = (Lexicon::of(&grammar), Parser::new(&grammar)) else {
            return Ok(());
        };
        let mut cache = Cache::new(&parser);
        for _ in 0..8 {
            let len = u.choose_index(9)?;
            let text: Vec<u8> = (0..len).map(|_| Ok(b"abc"[u.choose_index(3)?])).collect::<Result<_, _>>()?;
            match check(&grammar, &lexicon, &parser, &mut cache, &text) {
                true => yes += 1,
                false => no += 1,
            }
        }
        Ok(())
    })
    .for_cases(40);
    assert!(yes > 5 && no > 30, "{yes} accepted, {no} rejected");
}

#[test]
fn modes_order_and_skipped_tokens() {
    let text = r#"
        s = (ID "=" value ";")* ;
        value = NUMBER | "on" | QUOTE PART* END ;
        token ID = [a-z]+ ;
        token NUMBER = [0-9]+ ;
        skip SPACE = [ \n]+ ;
        skip COMMENT = "/*" .*? "*/" ;
        token QUOTE = '"' -> push(text) ;
        mode text { token PART = [^"]+ ; token END = '"' -> pop ; }
    "#;
    let grammar = load_text("test.wug", text, Notation::Wug).expect("a grammar").grammar;
    let lexicon = Lexicon::of(&grammar).expect("small");
    let parser = Parser::new(&grammar).expect("small");
    let mut cache = Cache::new(&parser);
    let mut check = |text: &str| check(&grammar, &lexicon, &parser, &mut cache, text.as_bytes());
    assert!(check("") && check("  /* nothing */\n"));
    assert!(check("a = 1; b=on ;\n c = \" /* on */ 1 \";/* end */ "));
    assert!(check("once = \"\";"));
    // `on` is the literal, not a name; a quotation must end.
    assert!(!check("on = 1;"));
    assert!(!check("a = \"b;"));
    assert!(!check("a = 1; ?"));
}
