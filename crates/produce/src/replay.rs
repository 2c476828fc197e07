//! Choices as bytes: recorded, and replayed.
//!
//! Each choice among `n` is one index in as few whole bytes as `n` needs
//! (one up to 256, two up to 65,536, else four),
//! little end first. Alternatives are numbered in the full list of their
//! rule, whatever the depth allows; on replay an index is reduced modulo
//! `n`, and one that is not allowed modulo those that are. So any bytes are
//! a program for some input, and a short program is a beginning that random
//! choices complete.

/// A program that is read, written, or both.
#[derive(Clone, Debug, Default)]
pub struct Tape {
    program: Vec<u8>,
    at: usize,
    recorded: Option<Vec<u8>>,
}

impl Tape {
    /// Replays `program`.
    pub fn replay(program: impl Into<Vec<u8>>) -> Tape {
        Tape { program: program.into(), at: 0, recorded: None }
    }

    /// Records what is chosen from here on.
    pub fn recording(mut self) -> Tape {
        self.recorded = Some(Vec::new());
        self
    }

    /// What was recorded.
    pub fn recorded(&self) -> &[u8] {
        self.recorded.as_deref().unwrap_or(&[])
    }

    /// What is replayed.
    pub fn into_program(self) -> Vec<u8> {
        self.program
    }

    /// Whether there is nothing to replay and nobody records.
    pub fn is_blank(&self) -> bool {
        self.program.is_empty() && self.recorded.is_none()
    }

    /// Back to the beginning, nothing recorded.
    pub fn rewind(&mut self) {
        self.at = 0;
        if let Some(recorded) = &mut self.recorded {
            recorded.clear();
        }
    }

    /// Replays no more and records anew: what was replayed did not do.
    pub fn give_up(&mut self) {
        self.rewind();
        self.at = self.program.len();
    }

    /// The next index, below `n`; `None` at the end.
    pub fn next(&mut self, n: u32) -> Option<u32> {
        let width = width(n);
        let bytes = self.program.get(self.at..self.at + width)?;
        self.at += width;
        let value = bytes.iter().rev().fold(0u32, |value, &byte| value << 8 | u32::from(byte));
        Some(value % n)
    }

    /// Notes that `index` was taken among `n`.
    pub fn record(&mut self, index: u32, n: u32) {
        if let Some(recorded) = &mut self.recorded {
            recorded.extend_from_slice(&index.to_le_bytes()[..width(n)]);
        }
    }
}

/// Bytes of an index below `n`.
pub fn width(n: u32) -> usize {
    match n {
        0..=0x100 => 1,
        0x101..=0x1_0000 => 2,
        _ => 4,
    }
}
