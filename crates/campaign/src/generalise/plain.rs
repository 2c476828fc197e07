//! The paper's way to find gaps, Algorithm 1: each piece is tried once.

/// Sizes of chunks.
pub const CHUNKS: [usize; 6] = [256, 128, 64, 32, 2, 1];
pub const SEPARATORS: &[u8] = b".;,\n\r\t# ";
pub const BRACKETS: [(u8, u8); 6] =
    [(b'(', b')'), (b'[', b']'), (b'{', b'}'), (b'<', b'>'), (b'\'', b'\''), (b'"', b'"')];

/// Pieces that are left out one after the other.
pub struct Plain<'a, C> {
    pub input: &'a [u8],
    pub removed: Vec<bool>,
    pub runs: usize,
    pub check: C,
}

impl<'a, C: FnMut(&[u8]) -> bool> Plain<'a, C> {
    pub fn new(input: &'a [u8], check: C) -> Plain<'a, C> {
        Plain { input, removed: vec![false; input.len()], runs: 0, check }
    }

    /// All rules, in the paper's order. Chunks overlap by half if that is
    /// wanted.
    pub fn all(mut self, overlap: bool) -> Plain<'a, C> {
        for size in CHUNKS {
            self.chunks(size, if overlap { (size / 2).max(1) } else { size });
        }
        for separator in SEPARATORS {
            self.pieces(*separator);
        }
        for (open, close) in BRACKETS {
            self.inside(open, close);
        }
        self
    }

    pub fn chunks(&mut self, size: usize, step: usize) {
        let mut start = 0;
        while start < self.input.len() {
            self.leave_out(start, (start + size).min(self.input.len()));
            start += step;
        }
    }

    pub fn pieces(&mut self, separator: u8) {
        let mut start = 0;
        while start < self.input.len() {
            let next = self.input[start..].iter().position(|&byte| byte == separator);
            let end = next.map_or(self.input.len(), |next| start + next + 1);
            self.leave_out(start, end);
            start = end;
        }
    }

    pub fn inside(&mut self, open: u8, close: u8) {
        let mut start = 0;
        while start < self.input.len() {
            if self.input[start] == open && !self.removed[start] {
                for end in (start + 1..self.input.len()).rev() {
                    if self.input[end] == close && !self.removed[end] && self.leave_out(start + 1, end) {
                        break;
                    }
                }
            }
            start += 1;
        }
    }

    fn leave_out(&mut self, start: usize, end: usize) -> bool {
        if (start..end).all(|at| self.removed[at]) {
            return false;
        }
        let left = |at: &usize| !self.removed[*at] && !(start..end).contains(at);
        let candidate: Vec<u8> = (0..self.input.len()).filter(left).map(|at| self.input[at]).collect();
        if candidate.is_empty() {
            return false;
        }
        self.runs += 1;
        let went = (self.check)(&candidate);
        if went {
            self.removed[start..end].fill(true);
        }
        went
    }
}
