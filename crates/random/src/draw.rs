//! Numbers drawn from the bytes of a fuzzer, for the bodies of fuzz targets.

/// Draws from the bytes of a fuzzer; zeros when they are used up.
#[derive(Debug)]
pub struct Draw<'a>(pub &'a [u8]);

impl Draw<'_> {
    /// The next byte.
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

    /// Whether all bytes are used up.
    pub fn is_over(&self) -> bool {
        self.0.is_empty()
    }
}
