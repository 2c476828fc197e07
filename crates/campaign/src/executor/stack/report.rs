//! The report that a sanitizer writes before it aborts.

use super::Frame;

/// What a report says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// `AddressSanitizer: heap-use-after-free on address …`
    pub summary: String,
    /// The first stack.
    pub stack: Vec<Frame>,
    /// Whether it is about memory that ran out.
    pub memory: bool,
}

const MEMORY: [&str; 4] =
    ["out-of-memory", "allocation-size-too-big", "rss limit exhausted", "exceeds maximum supported size"];

/// Looks for a report in what a target wrote.
pub fn read(output: &[u8]) -> Option<Report> {
    let text = String::from_utf8_lossy(output);
    let mut lines = text.lines().skip_while(|line| !is_head(line));
    let head = lines.next()?;
    let summary = match head.split_once("ERROR: ") {
        Some((_, rest)) => rest,
        None => head.split_once("runtime error: ").map_or(head, |(_, rest)| rest),
    };
    let mut stack: Vec<Frame> = Vec::new();
    for line in lines {
        match frame(line.trim_start()) {
            // A second stack begins with 0 again: where memory was freed.
            Some((0, _)) if !stack.is_empty() => break,
            Some((_, frame)) => stack.push(frame),
            None => {}
        }
    }
    let memory = MEMORY.iter().any(|word| head.contains(word)) || text.contains("hard rss limit exhausted");
    Some(Report { summary: summary.trim().to_string(), stack, memory })
}

fn is_head(line: &str) -> bool {
    (line.contains("ERROR: ") && line.contains("Sanitizer"))
        || line.contains("runtime error: ")
        || line.contains("rss limit exhausted")
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
        frame.module = path.to_string();
        frame.address = u64::from_str_radix(offset, 16).ok()?;
        rest = before.trim();
    }
    if let Some(name) = rest.strip_prefix("in ") {
        let (name, place) = match name.rsplit_once(' ') {
            Some((name, place)) if place.starts_with('/') || place.contains(':') => (name, Some(place)),
            _ => (name, None),
        };
        frame.function = Some(name.trim().to_string());
        let mut parts = place.unwrap_or_default().split(':');
        frame.file = parts.next().filter(|file| !file.is_empty()).map(str::to_string);
        frame.line = parts.next().and_then(|line| line.parse().ok());
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
        let memory =
            read(b"==1==ERROR: AddressSanitizer: out-of-memory: allocator is out of memory").expect("one");
        assert!(memory.memory && memory.stack.is_empty());
    }
}
