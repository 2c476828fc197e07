//! Names of entries: where an input came from, told by its file's name.
//!
//! In:  an [`Origin`], or a name that some fuzzer gave.
//! Out: the name as AFL++ writes it, or the origin.
//!
//! The names are all that a campaign needs to go on after a stop; a second
//! file beside the queue that says the same was rejected, since the two
//! would have to be kept alike through every crash.

use std::fmt;

/// The number of an entry: its place in the order of finding.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct EntryId(pub u32);

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:06}", self.0)
    }
}

/// Where an input came from.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Origin {
    /// Milliseconds since the campaign began. Names of imported entries do
    /// not tell it.
    pub time: u64,
    /// Executions until then; likewise.
    pub execs: u64,
    /// How it was made.
    pub how: How,
    /// Whether it reached what no earlier entry had reached: `+cov`. Names of
    /// seeds do not tell it.
    pub new_coverage: bool,
}

/// How an input was made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum How {
    /// Given by the user: the file's name.
    Seed(String),
    /// Found by another fuzzer.
    Sync {
        /// Its name.
        fuzzer: String,
        /// The entry's number there.
        source: EntryId,
    },
    /// Made by a mutator, or from nothing by a producer.
    Mutation {
        /// From what: none if it was made from nothing; names hold two.
        parents: Vec<EntryId>,
        /// The mutator.
        op: String,
        /// How often it was applied.
        rep: Option<u32>,
    },
}

impl Default for How {
    fn default() -> How {
        How::Mutation { parents: Vec::new(), op: String::new(), rep: None }
    }
}

/// What the name of an entry says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Name {
    /// Its number.
    pub id: EntryId,
    /// Of a crash: the signal.
    pub signal: Option<u8>,
    /// Where it came from, as far as the name tells.
    pub origin: Origin,
}

/// Longest text that is taken over into a name, in bytes: file names end at
/// 255.
const TEXT: usize = 120;

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "id:{}", self.id)?;
        if let Some(signal) = self.signal {
            write!(f, ",sig:{signal:02}")?;
        }
        let Origin { time, execs, how, new_coverage } = &self.origin;
        match how {
            How::Seed(name) => {
                return write!(f, ",time:{time},execs:{execs},orig:{}", clean(name, |c| c == '/'));
            }
            How::Sync { fuzzer, source } => write!(f, ",sync:{},src:{source}", clean(fuzzer, is_special))?,
            How::Mutation { parents, op, rep } => {
                match parents[..] {
                    [] => {}
                    [parent] => write!(f, ",src:{parent}")?,
                    [parent, other, ..] => write!(f, ",src:{parent}+{other}")?,
                }
                write!(f, ",time:{time},execs:{execs},op:{}", clean(op, is_special))?;
                if let Some(rep) = rep {
                    write!(f, ",rep:{rep}")?;
                }
            }
        }
        if *new_coverage { write!(f, ",+cov") } else { Ok(()) }
    }
}

/// What would end a field, or the name.
fn is_special(c: char) -> bool {
    matches!(c, '/' | ',')
}

/// A text as a part of a name.
fn clean(text: &str, special: impl Fn(char) -> bool) -> String {
    let mut result = String::with_capacity(text.len().min(TEXT));
    for c in text.chars() {
        let c = if c.is_control() || c == char::REPLACEMENT_CHARACTER || special(c) { '_' } else { c };
        if result.len() + c.len_utf8() > TEXT {
            break;
        }
        result.push(c);
    }
    result
}

impl Name {
    /// Reads a name that we or AFL++ gave; fields that are not known are
    /// passed over. None for any other name.
    pub fn parse(name: &str) -> Option<Name> {
        let (id, mut rest) = number_at(name.strip_prefix("id:")?)?;
        if !rest.is_empty() && !rest.starts_with(',') {
            return None;
        }
        let mut parsed = Name { id: EntryId(id), signal: None, origin: Origin::default() };
        let (mut parents, mut op, mut rep, mut fuzzer, mut seed) = (Vec::new(), None, None, None, None);
        while let Some(fields) = rest.strip_prefix(',') {
            if let Some(name) = fields.strip_prefix("orig:") {
                // The last one: seeds may have commas in their names.
                seed = Some(name.to_owned());
                break;
            }
            let field;
            (field, rest) = fields.split_at(fields.find(',').unwrap_or(fields.len()));
            let (key, value) = field.split_once(':').unwrap_or((field, ""));
            match key {
                "sig" => parsed.signal = value.parse().ok(),
                "src" => parents = value.split('+').filter_map(|id| id.parse().ok().map(EntryId)).collect(),
                "time" => parsed.origin.time = value.parse().unwrap_or(0),
                "execs" => parsed.origin.execs = value.parse().unwrap_or(0),
                "op" => op = Some(value.to_owned()),
                "rep" => rep = value.parse().ok(),
                "sync" => fuzzer = Some(value.to_owned()),
                "+cov" => parsed.origin.new_coverage = true,
                _ => {}
            }
        }
        parsed.origin.how = match (seed, fuzzer) {
            (Some(name), _) => How::Seed(name),
            (None, Some(fuzzer)) => {
                How::Sync { fuzzer, source: parents.first().copied().unwrap_or(EntryId(0)) }
            }
            (None, None) => How::Mutation { parents, op: op.unwrap_or_default(), rep },
        };
        Some(parsed)
    }
}

/// The number at the beginning of an entry's name, six digits or more, and
/// what follows it.
fn number_at(text: &str) -> Option<(u32, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    (end >= 6).then_some(())?;
    Some((text[..end].parse().ok()?, &text[end..]))
}

/// The number that a file of a queue begins with, whatever else its name
/// says: AFL++ looks no further when it imports.
pub(crate) fn number(name: &[u8]) -> Option<u32> {
    let digits = name.strip_prefix(b"id:")?;
    let end = digits.iter().position(|b| !b.is_ascii_digit()).unwrap_or(digits.len());
    (end >= 6).then_some(())?;
    std::str::from_utf8(&digits[..end]).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, id: u32, signal: Option<u8>, origin: Origin) {
        let parsed = Name { id: EntryId(id), signal, origin };
        assert_eq!(Name::parse(name), Some(parsed.clone()));
        assert_eq!(parsed.to_string(), name);
    }

    fn mutation(parents: &[u32], op: &str, rep: Option<u32>) -> How {
        How::Mutation { parents: parents.iter().copied().map(EntryId).collect(), op: op.into(), rep }
    }

    /// Names that afl-fuzz gave.
    #[test]
    fn names_of_afl_are_read_and_written() {
        let seed = How::Seed("my seed,x".into());
        check(
            "id:000000,time:0,execs:0,orig:my seed,x",
            0,
            None,
            Origin { time: 0, execs: 0, how: seed, new_coverage: false },
        );
        check(
            "id:000005,src:000000,time:27,execs:76,op:havoc,rep:16,+cov",
            5,
            None,
            Origin { time: 27, execs: 76, how: mutation(&[0], "havoc", Some(16)), new_coverage: true },
        );
        check(
            "id:000123,src:000045+000067,time:1,execs:2,op:splice,rep:4",
            123,
            None,
            Origin { time: 1, execs: 2, how: mutation(&[45, 67], "splice", Some(4)), new_coverage: false },
        );
        let sync = How::Sync { fuzzer: "b".into(), source: EntryId(9) };
        check(
            "id:000124,sync:b,src:000009,+cov",
            124,
            None,
            Origin { how: sync, new_coverage: true, ..Origin::default() },
        );
        check(
            "id:000000,sig:06,src:000000,time:74,execs:199,op:havoc,rep:2",
            0,
            Some(6),
            Origin { time: 74, execs: 199, how: mutation(&[0], "havoc", Some(2)), new_coverage: false },
        );
    }

    #[test]
    fn fields_of_others_are_passed_over() {
        let name = Name::parse("id:000007,src:000003,time:9,execs:4,op:arith8,pos:3,val:be:+7,+cov").unwrap();
        assert_eq!(name.origin.how, mutation(&[3], "arith8", None));
        assert!(name.origin.new_coverage);
        assert_eq!(Name::parse("id:000007").unwrap().id, EntryId(7));
        assert_eq!(Name::parse("id:1234567,op:x").unwrap().id, EntryId(1234567));
    }

    #[test]
    fn other_names_are_none() {
        for name in ["", "id:", "id:00001", "id:0000011111111111111", "seed", "id:000001x", "x,id:000001"] {
            assert_eq!(Name::parse(name), None, "{name}");
        }
    }
}
