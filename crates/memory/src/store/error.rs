//! Why a change was not made. Each says what, why and what to do; none ever quotes a secret.

use dormouse_base::{AppendError, FileError, LockError};
use thiserror::Error;

use super::change_id::ChangeId;
use super::content::ContentHash;
use crate::entry::LONGEST_MEMORY;
use crate::kind::MemoryType;
use crate::names::{MemoryFile, MemoryFileError};
use dormouse_frontmatter::FrontmatterEditError;
use dormouse_secrets::SecretFinding;

/// A change that was not made.
#[derive(Debug, Error)]
pub enum ChangeError {
    /// The file system refused.
    #[error(transparent)]
    File(#[from] FileError),
    /// Another process holds the lock for too long.
    #[error("another process is changing this memory directory: {0}; try again")]
    Lock(#[source] LockError),
    /// The history could not be written.
    #[error(transparent)]
    Journal(#[from] AppendError),
    /// No place for a memory.
    #[error(transparent)]
    Name(#[from] MemoryFileError),
    /// There is a memory of that name, or of one that some file systems take for it.
    #[error(
        "there is a memory `{other}` already; choose another name than `{file}`, or change that one"
    )]
    Exists {
        /// The one to be made.
        file: MemoryFile,
        /// The one that is there.
        other: String,
    },
    /// No memory there.
    #[error("there is no memory `{0}`; `dormouse memory list` shows those there are")]
    Missing(MemoryFile),
    /// A link, a device or a folder.
    #[error("`{0}` is no plain file (a link, folder or device); remove it by hand")]
    NotPlain(String),
    /// It changed since it was read.
    #[error("`{file}` has changed since it was read ({what}); read it again")]
    Stale {
        /// Which.
        file: MemoryFile,
        /// What changed: its content now, or that it is gone.
        what: String,
        /// Its content now.
        now: Option<ContentHash>,
    },
    /// What looks like a secret.
    #[error("{}", say_secrets(.0))]
    Secrets(Vec<(MemoryFile, SecretFinding)>),
    /// A memory about the person that the person did not say.
    #[error(
        "a `{0}` memory needs a message that the person typed, and this one has none; \
         save it as another type, or ask the person"
    )]
    NeedsPerson(MemoryType),
    /// Text from outside into a memory that is trusted, or the other way round.
    #[error(
        "`{0}` and the new text are on different sides of the quarantine: text that comes only from \
         outside is not mixed with the rest; save it as a memory of its own"
    )]
    Quarantine(MemoryFile),
    /// Only a person can do this.
    #[error("only the person can confirm `{0}`; ask them")]
    PersonOnly(MemoryFile),
    /// Too much text.
    #[error("`{0}` would be longer than {LONGEST_MEMORY} bytes; split it")]
    TooLong(MemoryFile),
    /// The frontmatter can not be changed.
    #[error("`{file}`: {source}")]
    Frontmatter {
        /// Whose.
        file: MemoryFile,
        /// Why.
        #[source]
        source: FrontmatterEditError,
    },
    /// The index can not be kept.
    #[error("MEMORY.md is not valid UTF-8 and can not be kept up to date; save it as UTF-8")]
    Index,
    /// Writing failed half way, and so did going back.
    #[error(
        "the change could be neither finished nor taken back ({0}); it is finished the next time the \
         memory directory is opened"
    )]
    Interrupted(FileError),
    /// No such change.
    #[error("there is no change {0}; `dormouse memory log` lists them")]
    NoChange(ChangeId),
    /// A change that is about other memories.
    #[error(
        "change {id} contains no version of `{file}`; `dormouse memory log {file}` lists its changes"
    )]
    NotTouched {
        /// The change.
        id: ChangeId,
        /// The memory.
        file: MemoryFile,
    },
    /// Undoing it would take back more than it did.
    #[error(
        "`{0}` was changed later; undo the later changes first: `dormouse memory log {0}` lists them"
    )]
    ChangedLater(MemoryFile),
    /// It was undone before.
    #[error("change {0} has been undone already")]
    UndoneAlready(ChangeId),
    /// Nothing left to undo.
    #[error("there is nothing to undo")]
    NothingToUndo,
    /// What it would bring back is gone for good.
    #[error(
        "the old content of `{0}` is no longer kept (it is for 30 days); it can not be brought back"
    )]
    Purged(MemoryFile),
    /// No such proposal.
    #[error("there is no proposal {0} in the inbox; `dormouse memory inbox` lists them")]
    NoProposal(u64),
    /// The person's decision is needed first; the caller can not ask.
    #[error("{0}")]
    Refused(String),
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
