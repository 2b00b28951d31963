//! Asking a person whether a call may run. The gate says when; an interface says how.

use std::fmt;
use std::path::PathBuf;

use futures_util::future::BoxFuture;
use serde_json::value::RawValue;

/// What a call would make of a file, for the person who is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChangePreview {
    /// The file, where its path really leads.
    pub path: PathBuf,
    /// What it holds now; empty for a new one. What is not text shows as replacement characters.
    pub before: String,
    /// What it would hold.
    pub after: String,
}

/// A question to the person.
#[derive(Debug, Clone)]
pub struct ConfirmationRequest {
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub input: Box<RawValue>,
    /// Why it is asked at all.
    pub why: String,
    /// What would become of a file.
    pub change: Option<FileChangePreview>,
    /// The rule that [`ConfirmationReply::Always`] stands for, as text.
    pub rule: String,
}

/// What the person says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfirmationReply {
    /// Yes, this time.
    Once,
    /// Yes, and whatever the question's rule covers until the session ends.
    Always,
    /// No; with what the model is told besides.
    No {
        /// What to do instead, in the person's words.
        said: Option<String>,
    },
}

/// Somebody who can be asked. Calls side by side may ask at the same time: an confirmer puts one question
/// after the other.
pub trait Confirmer: Send + Sync {
    /// Asks, and waits for the reply. Dropped when the call is interrupted meanwhile.
    fn ask(&self, question: ConfirmationRequest) -> BoxFuture<'_, ConfirmationReply>;
}

impl fmt::Debug for dyn Confirmer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Asker")
    }
}
