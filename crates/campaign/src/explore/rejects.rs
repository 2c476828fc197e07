//! How a program that parsed its input, and then hung, crashed or failed, is
//! told from one that rejected it.
//!
//! Blocks that every rejected input took and no accepted one are where the
//! program rejects. An input that took none of them was parsed, whatever
//! became of it later. Rejected for certain are inputs with a sentinel behind
//! them whose run ended with an exit code.

/// Runs that are looked at.
const ENOUGH: u32 = 400;
/// Runs before anything is said.
const FEW: u32 = 20;

/// Where a program rejects.
#[derive(Clone, Debug, Default)]
pub struct Rejects {
    /// Blocks of all rejected runs.
    common: Vec<bool>,
    /// Blocks of accepted runs.
    accepted: Vec<bool>,
    rejected: u32,
}

impl Rejects {
    /// A run that was rejected.
    pub fn reject(&mut self, coverage: &[u8]) {
        if self.rejected >= ENOUGH {
            return;
        }
        if self.rejected == 0 {
            self.common = coverage.iter().map(|count| *count > 0).collect();
        }
        self.rejected += 1;
        for (id, common) in self.common.iter_mut().enumerate() {
            *common &= coverage.get(id).is_some_and(|count| *count > 0);
        }
    }

    /// A run that was accepted.
    pub fn accept(&mut self, coverage: &[u8]) {
        self.accepted.resize(self.accepted.len().max(coverage.len()), false);
        for (accepted, count) in self.accepted.iter_mut().zip(coverage) {
            *accepted |= *count > 0;
        }
    }

    /// Whether a run that ended badly had parsed its input before. No, where
    /// nothing is known yet.
    pub fn parsed(&self, coverage: &[u8]) -> bool {
        let accepted = |id: usize| self.accepted.get(id).copied().unwrap_or(false);
        let mut rejecting = (0..self.common.len()).filter(|id| self.common[*id] && !accepted(*id)).peekable();
        self.rejected >= FEW
            && !self.accepted.is_empty()
            && rejecting.peek().is_some()
            && rejecting.all(|id| coverage.get(id).is_none_or(|count| *count == 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_took_no_rejecting_block_was_parsed() {
        let mut rejects = Rejects::default();
        // Blocks: 0 begin, 1 reads a list, 2 rejects, 3 runs, 4 another way to read.
        for i in 0..FEW {
            rejects.reject(if i % 2 == 0 { &[1, 1, 1, 0, 0] } else { &[1, 0, 1, 0, 1] });
        }
        assert!(!rejects.parsed(&[1, 1, 0, 1, 0]), "nothing was accepted yet");
        rejects.accept(&[1, 1, 0, 1, 0]);
        assert!(rejects.parsed(&[1, 1, 0, 9, 1]), "it hung while it ran");
        assert!(!rejects.parsed(&[1, 1, 1, 0, 0]));
    }

    #[test]
    fn a_program_that_rejects_in_no_certain_place_tells_nothing() {
        let mut rejects = Rejects::default();
        rejects.accept(&[1, 0, 0]);
        for i in 0..FEW {
            rejects.reject(if i % 2 == 0 { &[1, 1, 0] } else { &[1, 0, 1] });
        }
        assert!(!rejects.parsed(&[1, 0, 0]));
    }
}
