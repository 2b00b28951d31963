//! Why the store refuses a change, whatever the write policy says. The author, often a model, reads the message.

use dormouse_base::RelPathError;
use thiserror::Error;

use super::change_id::ChangeId;
use crate::names::MemoryFile;

/// Why the store refuses a change.
#[derive(Debug, Error)]
pub enum ChangeRefusal {
    /// An agent tries to undo a change by the user.
    #[error("change {0} was made by the user; only the user can undo it: ask them")]
    UserChange(ChangeId),
    /// The new text is not UTF-8.
    #[error("the new text of `{0}` is not valid UTF-8")]
    NotUtf8(MemoryFile),
    /// The new text is binary.
    #[error("the new text of `{0}` contains NUL bytes; a memory is text")]
    Binary(MemoryFile),
    /// The quarantine would not be visible in the first lines.
    #[error(
        "the frontmatter of `{0}` is too long or unusual to be marked as text from outside; make it shorter"
    )]
    Unmarkable(MemoryFile),
    /// The file is in a folder that belongs to another store.
    #[error("`{0}` is in a folder of another scope; save it there, or elsewhere")]
    OtherScope(MemoryFile),
    /// A name or description that is too long for lists.
    #[error("the {label} of `{file}` is longer than {limit} characters; move the text to the body")]
    LongLabel {
        /// `name` or `description`.
        label: &'static str,
        /// File of the memory.
        file: MemoryFile,
        /// Maximum length.
        limit: usize,
    },
    /// A name or description that is not printable.
    #[error("the {label} of `{file}` contains control or hidden characters; leave them out")]
    UnprintableLabel {
        /// `name` or `description`.
        label: &'static str,
        /// File of the memory.
        file: MemoryFile,
    },
    /// A file name that looks like a secret.
    #[error("the file name looks like a secret ({0}); choose another name")]
    SecretFileName(&'static str),
    /// A secret in the index or in the reason of the change.
    #[error(
        "the index line or the reason looks like a secret ({0}) and was not saved; leave the value out"
    )]
    SecretInIndexOrReason(String),
    /// A note without text.
    #[error("the note is empty")]
    EmptyNote,
    /// A note that is too long for the daily log.
    #[error(
        "the note is longer than {0} characters; shorten it to a sentence or two, or write several notes"
    )]
    LongNote(usize),
    /// A note with a secret.
    #[error("the note looks like a secret ({0}) and was not written; leave the value out")]
    SecretInNote(String),
    /// The index was changed since it was read.
    #[error("MEMORY.md has changed since it was read; read it again")]
    IndexChanged,
    /// The index would be too long.
    #[error("MEMORY.md was not changed: it is too long; move text into memories")]
    IndexTooLong,
    /// The index would contain control characters.
    #[error("MEMORY.md was not changed: it contains control characters; leave them out")]
    IndexControlCharacters,
    /// The index would contain text from outside.
    #[error(
        "MEMORY.md was not changed: it would show text from outside (the web, another server) to every session; save \
         that as a memory, which the user can review first"
    )]
    IndexFromOutside,
    /// The policy requires confirmation of changes, and the index cannot be proposed.
    #[error(
        "MEMORY.md was not changed: the user wants to review changes of memory first; the program keeps its lines: \
         change the description of a memory instead"
    )]
    IndexNeedsReview,
    /// More memories than one import may add.
    #[error("{count} memories are too many for one import; import at most {limit} at once")]
    TooManyImports {
        /// Number of memories.
        count: usize,
        /// Maximum number.
        limit: usize,
    },
    /// The copy of a dream did not take a change.
    #[error("the copy of the memories was not changed; try again")]
    DraftUnchanged,
    /// A path that is not valid.
    #[error(transparent)]
    Path(#[from] RelPathError),
}
