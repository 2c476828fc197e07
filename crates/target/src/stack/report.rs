//! The report that a sanitizer writes before it aborts.

use super::Frame;
use super::message::{cut, normal, plain};
use super::symbols::MAX_NAME;

/// What a report says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// `AddressSanitizer: heap-use-after-free on address …`
    pub summary: String,
    /// The same without what differs from input to input:
    /// `AddressSanitizer: heap-use-after-free`.
    pub kind: String,
    /// The first stack.
    pub stack: Vec<Frame>,
    /// Whether it is about memory that ran out.
    pub memory: bool,
    /// Whether it is about the stack that was used up.
    pub overflow: bool,
}

const MEMORY: [&str; 4] =
    ["out-of-memory", "allocation-size-too-big", "rss limit exhausted", "exceeds maximum supported size"];
/// Frames that are read.
const MAX_FRAMES: usize = 1024;
/// Stacks of one report are this many lines at most.
const MAX_LINES: usize = 100_000;

/// Looks for a report in what a target wrote.
pub fn read(output: &[u8]) -> Option<Report> {
    let text = String::from_utf8_lossy(output);
    let mut lines = text.lines().skip_while(|line| !is_head(line)).take(MAX_LINES);
    let head = lines.next()?;
    let rest = head.split_once("ERROR: ").or_else(|| head.split_once("WARNING: "));
    let summary = match rest {
        Some((_, rest)) => rest,
        None => head.split_once("runtime error: ").map_or(head, |(_, rest)| rest),
    };
    let mut stack: Vec<Frame> = Vec::new();
    for line in lines {
        match frame(line.trim_start()) {
            // A second stack begins with 0 again: where memory was freed.
            Some((0, _)) if !stack.is_empty() => break,
            Some((_, frame)) if stack.len() < MAX_FRAMES => stack.push(frame),
            _ => {}
        }
    }
    let memory = MEMORY.iter().any(|word| head.contains(word)) || text.contains("hard rss limit exhausted");
    let overflow = summary.contains("Sanitizer: stack-overflow");
    Some(Report { summary: cut(summary), kind: kind(head, summary), stack, memory, overflow })
}

fn is_head(line: &str) -> bool {
    let warns = ["WARNING: MemorySanitizer: ", "WARNING: ThreadSanitizer: "];
    (line.contains("ERROR: ") && line.contains("Sanitizer"))
        || warns.iter().any(|warning| line.contains(warning))
        // Not "fatal runtime error: ", which is Rust's.
        || line.contains(": runtime error: ")
        || line.contains("rss limit exhausted")
}

/// What is the same for all inputs: of UBSan also the place, which compilers
/// write into the program.
fn kind(head: &str, summary: &str) -> String {
    if let Some((place, what)) = head.split_once("runtime error: ") {
        let what = what.split(": ").next().unwrap_or(what);
        return cut(&format!("{place}{}", normal(what)));
    }
    let (tool, what) = summary.split_once(": ").unwrap_or(("", summary));
    let ends = [" on ", " (", ": ", " 0x", " at ", ", "].iter().filter_map(|end| what.find(end)).min();
    let what = normal(&what[..ends.unwrap_or(what.len())]);
    cut(&if tool.is_empty() { what } else { format!("{tool}: {what}") })
}

/// `#3 0x55d0 in name file.c:12:3`, `#3 0x55d0 in name (module+0x12d0)`, or
/// `#3 0x55d0  (module+0x12d0)`.
fn frame(line: &str) -> Option<(u32, Frame)> {
    let (number, rest) = line.strip_prefix('#')?.split_once(' ')?;
    let rest = rest.trim_start().strip_prefix("0x")?;
    let (_, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    let mut frame = Frame::default();
    let mut rest = rest.trim();
    // Some versions add the identity of the build.
    if let Some((before, _)) = rest.split_once(" (BuildId") {
        rest = before;
    }
    if let Some((before, module)) = rest.rsplit_once('(')
        && let Some((path, offset)) = module.trim_end_matches(')').rsplit_once("+0x")
    {
        frame.module = plain(path, MAX_NAME);
        frame.address = u64::from_str_radix(offset, 16).ok()?;
        rest = before.trim();
    }
    if let Some(name) = rest.strip_prefix("in ") {
        let (name, place) = match name.rsplit_once(' ') {
            Some((name, place)) if place.starts_with('/') || place.contains(':') => (name, Some(place)),
            _ => (name, None),
        };
        frame.function = Some(plain(name, MAX_NAME));
        let mut parts = place.unwrap_or_default().split(':');
        frame.file = parts.next().filter(|file| !file.is_empty()).map(|file| plain(file, MAX_NAME));
        frame.line = parts.next().and_then(|line| line.parse().ok());
        frame.column = parts.next().and_then(|column| column.parse().ok());
    }
    Some((number.parse().ok()?, frame))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_read_with_symbols_and_without() {
        let text = "some output\n\
            =================================================================\n\
            ==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602 at pc 0x55\n\
            READ of size 1 at 0x602 thread T0\n\
            \x20   #0 0x55f7 in parse(char const*, int) /src/a.c:12:3\n\
            \x20   #1 0x55f8 in main (/bin/target+0x12d0) (BuildId: 00ff)\n\
            \x20   #2 0x55f9  (/bin/target+0x1300)\n\n\
            0x602 is located 0 bytes after\n\
            \x20   #0 0x7f in malloc (/lib/libasan.so+0x1)\n";
        let report = read(text.as_bytes()).expect("a report");
        assert_eq!(report.summary, "AddressSanitizer: heap-buffer-overflow on address 0x602 at pc 0x55");
        let shown: Vec<String> = report.stack.iter().map(ToString::to_string).collect();
        assert_eq!(
            shown,
            ["parse(char const*, int) at /src/a.c:12", "main in /bin/target", "/bin/target+0x1300"]
        );
        assert!(!report.memory && read(b"ERROR: no such file").is_none());
        assert!(read(b"fatal runtime error: stack overflow, aborting").is_none());
        let memory =
            read(b"==1==ERROR: AddressSanitizer: out-of-memory: allocator is out of memory").expect("one");
        assert!(memory.memory && memory.stack.is_empty());
    }

    #[test]
    fn kinds_are_the_same_for_all_inputs() {
        let check = |head: &str, kind: &str| assert_eq!(read(head.as_bytes()).expect("one").kind, kind);
        let address = "AddressSanitizer: ";
        for (head, kind) in [
            ("heap-use-after-free on address 0x602 at pc", "heap-use-after-free"),
            ("attempting double-free on 0x602 in thread T0:", "attempting double-free"),
            ("requested allocation size 0xffff (0x1000 after) exceeds", "requested allocation size"),
            ("SEGV on unknown address 0x00 (pc 0x55", "SEGV"),
        ] {
            check(&format!("==7==ERROR: {address}{head}"), &format!("{address}{kind}"));
        }
        check("==7==WARNING: ThreadSanitizer: data race (pid=7)", "ThreadSanitizer: data race");
        check(
            "a.c:3:9: runtime error: signed integer overflow: 2147483647 + 1 cannot",
            "a.c:3:9: signed integer overflow",
        );
        check(
            "a.c:3:9: runtime error: index 48 out of bounds for type 'int [3]'",
            "a.c:3:9: index # out of bounds for type ''",
        );
        assert!(read(b"==1==ERROR: AddressSanitizer: stack-overflow on address 0x7f").expect("one").overflow);
    }
}
