//! Bodies of fuzz targets for what others write: the shared memory of a target,
//! its output and files when it crashed, the output folder of an earlier
//! campaign.
//!
//! In:  any bytes, which tell how something valid is changed.
//! Out: nothing: no panic, and bounds that hold.
//!
//! The same functions run for a second under `cargo test`
//! (`tests/fuzz_bodies.rs`) and for as long as one likes under `cargo fuzz`
//! (`fuzz/`).

pub mod board;
pub mod crashes;
pub(crate) mod elf;
pub mod folder;

/// Draws from the bytes of a fuzzer; zeros when they are used up.
#[derive(Debug)]
pub(crate) struct Draw<'a>(pub &'a [u8]);

impl Draw<'_> {
    pub fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    /// A number below another, which is not 0.
    pub fn below(&mut self, end: usize) -> usize {
        usize::from(u16::from_le_bytes([self.byte(), self.byte()])) % end
    }

    /// A number that programs add to, multiply or index with.
    pub fn number(&mut self) -> u64 {
        const EDGES: [u64; 12] = [
            0,
            1,
            7,
            4095,
            4096,
            1 << 20,
            i32::MAX as u64,
            u32::MAX as u64 - 1,
            u32::MAX as u64,
            i64::MAX as u64,
            u64::MAX - 1,
            u64::MAX,
        ];
        match self.byte() {
            kind @ 0..=199 => EDGES[usize::from(kind) % EDGES.len()],
            200..=227 => self.byte().into(),
            _ => u64::from_le_bytes(std::array::from_fn(|_| self.byte())),
        }
    }

    pub fn is_over(&self) -> bool {
        self.0.is_empty()
    }
}
