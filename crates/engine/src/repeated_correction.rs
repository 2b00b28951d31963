//! A memory that the user had to repeat, often enough for a guard to be offered.

/// A memory that the user had to repeat, often enough for a guard to be offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepeatedCorrection {
    /// Its name.
    pub name: String,
    /// Its file's name.
    pub file: String,
    /// How often it was corrected.
    pub times: u64,
}

impl RepeatedCorrection {
    /// One line for the user; `command` with the file's name shows a guard.
    pub fn line(&self, command: &str) -> String {
        let Self { name, file, times } = self;
        format!("{times} times corrected: {name} — `{command} {file}` shows a guard")
    }
}
