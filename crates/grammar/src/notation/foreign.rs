//! Notations of other tools, which are told apart but not read.
//!
//! In:  the name and the text of a file.
//! Out: what it is, and how to get a grammar that is read.
//!
//! Names of files are believed at once. Content is looked at only where a
//! text could not be read, so the signs may be loose.

use crate::diagnostic::Diagnostic;
use crate::source::Span;

/// A notation that is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Foreign {
    /// What a text in it is: `an ANTLR grammar`.
    pub what: &'static str,
    /// The way to a grammar that is read.
    pub way: &'static str,
}

const OLD_ANTLR: &str =
    "grammars for ANTLR 4 are read, which begin with `grammar NAME;` and are mostly called .g4";
const WRITE: &str = "write its rules in .wug (docs/notation.md)";
const CONVERT: &str = "convert it to the W3C's EBNF, for example with ebnf-convert, or write its rules in .wug (docs/notation.md)";
const RULES_ALONE: &str = "write its rules, without code and constraints, in .wug (docs/notation.md)";
const TOKENS: &str = "write its tokens together with the rules in .wug (docs/notation.md)";
const FORMAT: &str = "wug reads grammars alone: write one for these inputs in .wug (docs/notation.md)";
const AS_JSON: &str = "print its grammar with json.dumps into a .json file, which is read";

const ANTLR: Foreign = Foreign { what: "a grammar for an old ANTLR", way: OLD_ANTLR };
const YACC: Foreign = Foreign { what: "a grammar for yacc or bison", way: CONVERT };
const LEX: Foreign = Foreign { what: "a lexer for lex or flex", way: TOKENS };
const JISON: Foreign = Foreign { what: "a Jison grammar", way: CONVERT };
const LARK: Foreign = Foreign { what: "a Lark grammar", way: WRITE };
const PEST: Foreign = Foreign { what: "a pest grammar", way: WRITE };
const PEG: Foreign = Foreign { what: "a parsing expression grammar (PEG)", way: WRITE };
const PEGJS: Foreign = Foreign { what: "a Peggy grammar", way: CONVERT };
const OHM: Foreign = Foreign { what: "an Ohm grammar", way: WRITE };
const FANDANGO: Foreign = Foreign { what: "a Fandango grammar", way: RULES_ALONE };
const ISLA: Foreign =
    Foreign { what: "a constraint of ISLa", way: "give the grammar that it is about, a .bnf file" };
const NAUTILUS: Foreign = Foreign { what: "a Nautilus grammar", way: RULES_ALONE };
const NAUTILUS_JSON: Foreign = Foreign { what: "a Nautilus grammar", way: WRITE };
const BOOK: Foreign = Foreign { what: "a grammar in Python", way: AS_JSON };
const PYTHON: Foreign = Foreign { what: "a Python program", way: "name a file that holds a grammar" };
const SCRIPT: Foreign = Foreign { what: "a JavaScript program", way: "name a file that holds a grammar" };
const TREE_SITTER: Foreign = Foreign { what: "a tree-sitter grammar", way: WRITE };
const RAILROAD: Foreign = Foreign { what: "a railroad diagram", way: WRITE };
const GRAMMARINATOR: Foreign =
    Foreign { what: "a generator made by Grammarinator", way: "start from the ANTLR grammar it was made of" };
const DHARMA: Foreign = Foreign { what: "a Dharma grammar", way: WRITE };
const DOMATO: Foreign = Foreign { what: "a Domato grammar", way: RULES_ALONE };
const LALRPOP: Foreign = Foreign { what: "a LALRPOP grammar", way: RULES_ALONE };
const JAVACC: Foreign = Foreign { what: "a JavaCC grammar", way: RULES_ALONE };
const COCO: Foreign = Foreign { what: "a Coco/R grammar", way: RULES_ALONE };
const IXML: Foreign = Foreign { what: "an Invisible XML grammar", way: CONVERT };
const GBNF: Foreign = Foreign { what: "a GBNF grammar", way: WRITE };
const BNFC: Foreign = Foreign { what: "a labelled BNF grammar (BNFC)", way: WRITE };
const XTEXT: Foreign = Foreign { what: "an Xtext or Langium grammar", way: WRITE };
const GRAMMAR_KIT: Foreign = Foreign { what: "a Grammar-Kit grammar", way: WRITE };
const PYTHON_PEG: Foreign = Foreign { what: "a grammar for Python's pegen", way: WRITE };
const LEZER: Foreign = Foreign { what: "a Lezer grammar", way: WRITE };
const RASCAL: Foreign = Foreign { what: "a grammar for SDF or Rascal", way: WRITE };
const TEXTX: Foreign = Foreign { what: "a textX grammar", way: WRITE };
const TREETOP: Foreign = Foreign { what: "a Treetop grammar", way: WRITE };
const TEXTMATE: Foreign = Foreign { what: "a TextMate grammar", way: FORMAT };
const PEACH: Foreign = Foreign { what: "a Peach pit", way: FORMAT };
const KAITAI: Foreign = Foreign { what: "a Kaitai Struct description", way: FORMAT };
const ASN1: Foreign = Foreign { what: "an ASN.1 module", way: FORMAT };
const PROTOBUF: Foreign = Foreign { what: "a Protocol Buffers schema", way: FORMAT };
const XML_SCHEMA: Foreign = Foreign { what: "a schema for XML", way: FORMAT };
const JSON_SCHEMA: Foreign = Foreign { what: "a JSON Schema", way: FORMAT };
const HTML: Foreign = Foreign { what: "an HTML page", way: "save the grammar that it shows as text" };
const AUTOMATON: Foreign = Foreign {
    what: "an automaton of Gramatron's, not a grammar",
    way: "`wug generate` and `wug automaton` take it; other commands need the grammar it was made of",
};

/// Endings of names, and what such files are.
const EXTENSIONS: [(&str, Foreign); 56] = [
    ("g3", ANTLR),
    ("g", ANTLR),
    ("y", YACC),
    ("yy", YACC),
    ("ypp", YACC),
    ("y++", YACC),
    ("yacc", YACC),
    ("mly", YACC),
    ("jison", JISON),
    ("l", LEX),
    ("ll", LEX),
    ("lex", LEX),
    ("flex", LEX),
    ("mll", LEX),
    ("lark", LARK),
    ("pest", PEST),
    ("peg", PEG),
    ("pegjs", PEGJS),
    ("peggy", PEGJS),
    ("ohm", OHM),
    ("fan", FANDANGO),
    ("isla", ISLA),
    ("dg", DHARMA),
    ("domato", DOMATO),
    ("lalrpop", LALRPOP),
    ("jj", JAVACC),
    ("jjt", JAVACC),
    ("atg", COCO),
    ("ixml", IXML),
    ("gbnf", GBNF),
    ("cf", BNFC),
    ("xtext", XTEXT),
    ("langium", XTEXT),
    ("gram", PYTHON_PEG),
    ("grammar", LEZER),
    ("sdf", RASCAL),
    ("sdf3", RASCAL),
    ("rsc", RASCAL),
    ("tx", TEXTX),
    ("treetop", TREETOP),
    ("tmlanguage", TEXTMATE),
    ("pit", PEACH),
    ("ksy", KAITAI),
    ("asn", ASN1),
    ("asn1", ASN1),
    ("proto", PROTOBUF),
    ("xsd", XML_SCHEMA),
    ("rng", XML_SCHEMA),
    ("rnc", XML_SCHEMA),
    ("dtd", XML_SCHEMA),
    ("html", HTML),
    ("htm", HTML),
    ("py", PYTHON),
    ("js", SCRIPT),
    ("mjs", SCRIPT),
    ("ts", SCRIPT),
];

impl Foreign {
    /// Tells a notation by the name of a file; of programs, by their content.
    pub fn named(name: &str, text: &str) -> Option<Foreign> {
        let extension = name.rsplit_once('.')?.1.to_ascii_lowercase();
        let &(_, foreign) = EXTENSIONS.iter().find(|(e, _)| *e == extension)?;
        let program = foreign == PYTHON || foreign == SCRIPT;
        Some(if program { Foreign::told(text).unwrap_or(foreign) } else { foreign })
    }

    /// Tells a notation by a text that is in no notation that is read.
    pub fn told(text: &str) -> Option<Foreign> {
        let start = text.trim_start_matches('\u{FEFF}').trim_start();
        match start.as_bytes().first()? {
            b'{' | b'[' => json(start).or_else(|| lines(start)),
            b'<' => markup(start).or_else(|| lines(start)),
            _ => lines(start),
        }
    }

    /// The message, in one line.
    pub fn explain(self, name: &str) -> Diagnostic {
        let message = format!("`{name}` is {}, which is not read: {}", self.what, self.way);
        Diagnostic::error(Span::NONE, message)
    }
}

fn json(text: &str) -> Option<Foreign> {
    let has = |word: &str| text.contains(word);
    if is_automaton(text) {
        return Some(AUTOMATON);
    }
    if has("\"rules\"") && (has("\"SYMBOL\"") || has("\"CHOICE\"") || has("\"SEQ\"") || has("\"PATTERN\"")) {
        return Some(TREE_SITTER);
    }
    if has("\"scopeName\"") && has("\"patterns\"") {
        return Some(TEXTMATE);
    }
    if has("\"$schema\"") || has("\"properties\"") && has("\"type\"") {
        return Some(JSON_SCHEMA);
    }
    if has("\"bnf\"") {
        return Some(JISON);
    }
    if has("parserClass") || has("elementTypeHolderClass") {
        return Some(GRAMMAR_KIT);
    }
    let inside = text.strip_prefix('[')?.trim_start().strip_prefix('[')?;
    inside.trim_start().starts_with('"').then_some(NAUTILUS_JSON)
}

/// Whether a JSON text is an automaton in Gramatron's form.
pub fn is_automaton(text: &str) -> bool {
    text.contains("\"pda\"") && text.contains("\"init_state\"")
}

fn markup(text: &str) -> Option<Foreign> {
    let has = |word: &str| text.contains(word);
    let head = text.chars().take(15).collect::<String>().to_ascii_lowercase();
    if has("<Peach") {
        Some(PEACH)
    } else if has("<xs:schema") || has("<xsd:schema") || has("<!ELEMENT") || has("relaxng.org") {
        Some(XML_SCHEMA)
    } else if head.starts_with("<!doctype html") || head.starts_with("<html") {
        Some(HTML)
    } else {
        None
    }
}

/// Tells a notation by the beginnings of lines, and words in the text.
fn lines(text: &str) -> Option<Foreign> {
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let begins = |words: &[&str]| text.lines().any(|line| words.iter().any(|w| line.starts_with(w)));
    let any = |test: fn(&str) -> bool| text.lines().any(|line| test(line.trim()));

    if has(&["grammarinator"]) {
        return Some(GRAMMARINATOR);
    }
    if has(&["ctx.rule(", "ctx.regex(", "ctx.script("]) {
        return Some(NAUTILUS);
    }
    if has(&["module.exports = grammar(", "export default grammar("]) {
        return Some(TREE_SITTER);
    }
    if any(|line| line.starts_with("Diagram(") || line.starts_with("ComplexDiagram("))
        || has(&["= Diagram(", "railroad.Diagram", "rr.Diagram"])
    {
        return Some(RAILROAD);
    }
    if has(&["\"<start>\":", "'<start>':"]) {
        return Some(BOOK);
    }
    if begins(&["%section%", "%%%"]) {
        return Some(DHARMA);
    }
    if has(&["PARSER_BEGIN("]) {
        return Some(JAVACC);
    }
    if has(&["DEFINITIONS"]) && has(&["BEGIN"]) && has(&["::="]) {
        return Some(ASN1);
    }
    if begins(&["COMPILER "]) && has(&["PRODUCTIONS"]) {
        return Some(COCO);
    }
    if begins(&["syntax = \"proto"]) {
        return Some(PROTOBUF);
    }
    if begins(&["meta:"]) && begins(&["seq:", "types:"]) {
        return Some(KAITAI);
    }
    if any(antlr_head) {
        return Some(ANTLR);
    }
    if any(|line| line == "grammar;" || line.starts_with("grammar<") || line.starts_with("grammar(")) {
        return Some(LALRPOP);
    }
    if begins(&["%import ", "%ignore ", "%declare ", "%extend "]) {
        return Some(LARK);
    }
    if begins(&["%token", "%start", "%left", "%right", "%nonassoc", "%union", "%define", "%type"]) {
        return Some(YACC);
    }
    if any(|line| line == "%%") {
        return Some(if has(&["yytext", "%option", "yylex"]) { LEX } else { YACC });
    }
    if has(&["= {", "= _{", "= @{", "= ${", "= !{"]) && has(&["SOI", " ~ ", "ASCII_", "WHITESPACE"]) {
        return Some(PEST);
    }
    if any(peg_rule) {
        return Some(PEG);
    }
    if begins(&["forall <", "exists <"]) {
        return Some(ISLA);
    }
    let bracketed = |line: &str| line.starts_with('<') && line.contains('>');
    if any(|line| line.starts_with('<') && line.contains("::="))
        && begins(&["where ", "from ", "import ", "def "])
    {
        return Some(FANDANGO);
    }
    if begins(&["!include ", "!import ", "!begin ", "!lineguard "])
        || text.lines().any(|line| bracketed(line) && line.contains("> = "))
    {
        return Some(DOMATO);
    }
    if begins(&["grammar "]) && has(&[" with ", "entry "]) {
        return Some(XTEXT);
    }
    if begins(&["@top ", "@tokens"]) {
        return Some(LEZER);
    }
    if begins(&["root ::="]) {
        return Some(GBNF);
    }
    if any(|line| line.starts_with(':') && !line.starts_with("::")) && any(|line| line.starts_with(';')) {
        return Some(ANTLR);
    }
    if any(colon_rule) {
        let ends = |end: char| text.lines().filter(|line| line.trim_end().ends_with(end)).count();
        return Some(match (ends(';'), ends('.')) {
            (0, 0) => LARK,
            (semicolons, stops) if semicolons >= stops => ANTLR,
            _ => IXML,
        });
    }
    None
}

/// Whether a text begins as ANTLR's do, comments left out.
pub(super) fn is_antlr(text: &str) -> bool {
    let mut rest = text.trim_start_matches('\u{FEFF}');
    loop {
        rest = rest.trim_start();
        let comment = [("//", "\n"), ("/*", "*/")].into_iter().find(|(open, _)| rest.starts_with(open));
        let Some((open, close)) = comment else { break };
        let inside = &rest[open.len()..];
        let Some(end) = inside.find(close) else { return false };
        rest = &inside[end + close.len()..];
    }
    let mut words = rest.split_whitespace();
    let word = words.next();
    let word = if matches!(word, Some("lexer" | "parser")) { words.next() } else { word };
    let name = words.next().unwrap_or("");
    let closed = name.ends_with(';') || words.next().is_some_and(|next| next.starts_with(';'));
    word == Some("grammar") && closed && is_name(name.trim_end_matches(';'))
}

/// `grammar Name;`, or the same of a lexer or a parser.
fn antlr_head(line: &str) -> bool {
    let line = line.strip_prefix("lexer ").or_else(|| line.strip_prefix("parser ")).unwrap_or(line);
    line.strip_prefix("grammar ").and_then(|rest| rest.trim().split(';').next()).is_some_and(is_name)
        && line.contains(';')
}

/// `name <- …`
fn peg_rule(line: &str) -> bool {
    ["<-", "\u{2190}"]
        .iter()
        .any(|arrow| line.split_once(arrow).is_some_and(|(name, _)| is_name(name.trim())))
}

/// `name: …`, as in Lark, ANTLR and Invisible XML.
fn colon_rule(line: &str) -> bool {
    let line = line.trim_start_matches(['?', '!', '@', '^', '-']);
    match line.split_once(':') {
        Some((name, rest)) => is_name(name.trim()) && !rest.starts_with([':', '=', '/']),
        None => false,
    }
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
}
