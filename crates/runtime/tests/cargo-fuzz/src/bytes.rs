//! Rejects what does not begin with `[`, and panics on `[bug]` there.
#![no_main]
use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|data: &[u8]| -> Corpus {
    if data.first() != Some(&b'[') {
        return Corpus::Reject;
    }
    assert!(!data.starts_with(b"[bug]"), "the planted bug");
    Corpus::Keep
});
