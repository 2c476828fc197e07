//! Files of others, read safely, and folders of ours, kept private.
//!
//! Whatever a path leads to that a target, another user or a download may have
//! made is opened by [`regular`]: a pipe, a device or a file without end costs a
//! message, not a hang or all memory. Whatever is executed or linked later, or
//! holds what a user works on, lies in a folder of [`private`].

pub mod private;
pub mod regular;

use std::io;

/// What the system says of an error, without its number.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    match text.rfind(" (os error") {
        Some(end) => text[..end].to_string(),
        None => text,
    }
}
