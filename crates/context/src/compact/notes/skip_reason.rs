//! Why a compaction is not made from the notes.

use std::fmt;

/// Why the notes do not become the summary this time (C-15).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotesSkipReason {
    /// The settings say so.
    Disabled,
    /// No notes were kept.
    NoNotes,
    /// Nothing was written into them yet.
    OnlyTemplate,
    /// The message that they reach to is no longer there.
    CoverageLost,
    /// The conversation would still be above the threshold.
    StillTooLarge,
    /// Something went wrong.
    Failed(String),
}

impl fmt::Display for NotesSkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Disabled => f.write_str("compaction from session notes is switched off"),
            Self::NoNotes => f.write_str("this session has no notes"),
            Self::OnlyTemplate => f.write_str("nothing was written into the session notes yet"),
            Self::CoverageLost => {
                f.write_str("the message that the session notes reach to is no longer there")
            }
            Self::StillTooLarge => f.write_str(
                "with the session notes and the messages after them the window would still be too full",
            ),
            Self::Failed(why) => write!(f, "the session notes could not be used: {why}"),
        }
    }
}
