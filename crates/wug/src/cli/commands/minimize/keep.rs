//! What a reduction keeps.

/// Tells whether an input still does what is of interest.
pub trait Keep {
    /// Whether it does.
    fn holds(&mut self, input: &[u8]) -> Result<bool, Trouble>;
    /// What is kept, in a few words.
    fn kept(&self) -> String;
    /// Why the input itself is of no interest.
    fn refusal(&self) -> String;
}

/// Why it cannot be told.
#[derive(Debug)]
pub enum Trouble {
    /// Somebody wants this to stop.
    Interrupted,
    /// Something is wrong with the machine or the command.
    Failed(String),
}
