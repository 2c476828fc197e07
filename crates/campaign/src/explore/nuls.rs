//! Whether NUL bytes are part of inputs.

/// NUL bytes that are tried before they are left alone.
const NULS: u32 = 4;

/// Whether NUL bytes are part of inputs. In C they mostly end texts: after a
/// few that nothing was read behind they are left alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nuls {
    tries: u32,
    hits: u32,
}

impl Nuls {
    /// Whether they are worth a try.
    pub fn are_read(self) -> bool {
        self.hits > 0 || self.tries < NULS
    }

    /// One was tried; whether anything was read behind it.
    pub fn tried(&mut self, hit: bool) {
        self.tries += 1;
        self.hits += u32::from(hit);
    }
}
