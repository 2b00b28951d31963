//! Why a change was not made. Messages say what, why and what to do, and never quote a secret.

use dormouse_base::{AppendError, FileError, LockError};
use thiserror::Error;

use super::change_id::ChangeId;
use super::content::ContentHash;
use super::refusal::ChangeRefusal;
use crate::entry::LONGEST_MEMORY;
use crate::kind::MemoryType;
use crate::names::{MemoryFile, MemoryFileError};
use dormouse_frontmatter::FrontmatterEditError;
use dormouse_secrets::SecretFinding;

/// Why a change was not made.
#[derive(Debug, Error)]
pub enum ChangeError {
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// Another process holds the lock for too long.
    #[error("another process is changing this memory directory: {0}; try again")]
    Lock(#[source] LockError),
    /// The journal could not be written.
    #[error(transparent)]
    Journal(#[from] AppendError),
    /// A path that cannot be the file of a memory.
    #[error(transparent)]
    Name(#[from] MemoryFileError),
    /// A memory with this name exists, or with one that some file systems treat as equal.
    #[error(
        "a memory `{other}` already exists; choose another name than `{file}`, or change that one"
    )]
    Exists {
        /// The new file.
        file: MemoryFile,
        /// The existing file.
        other: String,
    },
    /// No such memory.
    #[error("there is no memory `{0}`; `dormouse memory list` lists all")]
    Missing(MemoryFile),
    /// A link, a device or a folder.
    #[error("`{0}` is not a plain file (a link, folder or device); remove it manually")]
    NotPlain(String),
    /// The memory was changed since it was read.
    #[error("`{file}` has changed since it was read ({what}); read it again")]
    Stale {
        /// File of the memory.
        file: MemoryFile,
        /// A description of the difference.
        what: String,
        /// The current content.
        now: Option<ContentHash>,
    },
    /// The text contains secrets.
    #[error("{}", say_secrets(.0))]
    Secrets(Vec<(MemoryFile, SecretFinding)>),
    /// A memory about the user without a message by the user.
    #[error(
        "a `{0}` memory needs a message that the user typed, and this one has none; \
         save it as another type, or ask the user"
    )]
    NeedsUserMessage(MemoryType),
    /// Text from outside in a trusted memory, or the reverse.
    #[error(
        "`{0}` and the new text are on different sides of the quarantine: text that comes only from \
         outside is not mixed with other text; save it as a separate memory"
    )]
    Quarantine(MemoryFile),
    /// Only the user may do this.
    #[error("only the user can confirm `{0}`; ask them")]
    UserOnly(MemoryFile),
    /// The text is too long.
    #[error("`{0}` would be longer than {LONGEST_MEMORY} bytes; split it")]
    TooLong(MemoryFile),
    /// The frontmatter cannot be edited.
    #[error("`{file}`: {source}")]
    Frontmatter {
        /// File of the memory.
        file: MemoryFile,
        /// The reason.
        #[source]
        source: FrontmatterEditError,
    },
    /// The index is not text.
    #[error("MEMORY.md is not valid UTF-8 and cannot be updated; save it as UTF-8")]
    Index,
    /// Writing failed, and so did the rollback.
    #[error(
        "the change could be neither finished nor undone ({0}); it will be finished the next time the \
         memory directory is opened"
    )]
    Interrupted(FileError),
    /// No such change.
    #[error("there is no change {0}; `dormouse memory log` lists them")]
    NoChange(ChangeId),
    /// The change does not contain the memory.
    #[error(
        "change {id} contains no version of `{file}`; `dormouse memory log {file}` lists its changes"
    )]
    NotTouched {
        /// The change.
        id: ChangeId,
        /// The memory.
        file: MemoryFile,
    },
    /// A later change touched the same memory.
    #[error(
        "`{0}` was changed later; undo the later changes first: `dormouse memory log {0}` lists them"
    )]
    ChangedLater(MemoryFile),
    /// The change was already undone.
    #[error("change {0} is already undone")]
    UndoneAlready(ChangeId),
    /// Nothing left to undo.
    #[error("there is nothing to undo")]
    NothingToUndo,
    /// The old content was already purged.
    #[error("the old content of `{0}` was deleted after 30 days and cannot be restored")]
    Purged(MemoryFile),
    /// No such proposal.
    #[error("there is no proposal {0} in the inbox; `dormouse memory inbox` lists them")]
    NoProposal(u64),
    /// The store refuses the change.
    #[error(transparent)]
    Refused(#[from] ChangeRefusal),
}

impl From<LockError> for ChangeError {
    fn from(error: LockError) -> Self {
        match error {
            held @ LockError::Held { .. } => Self::Lock(held),
            LockError::File(error) => Self::File(error),
        }
    }
}

fn say_secrets(findings: &[(MemoryFile, SecretFinding)]) -> String {
    let each: Vec<String> = findings
        .iter()
        .map(|(file, finding)| format!("{} in line {} of `{file}`", finding.rule, finding.line))
        .collect();
    format!("this looks like a secret and was not saved: {}; leave the value out", each.join(", "))
}
