//! Asking the user whether a call may run. The permission gate decides when; the interface decides how.

use std::fmt;
use std::path::PathBuf;

use dormouse_conversation::ToolUseId;
use dormouse_permissions::PermissionRule;
use futures_util::future::BoxFuture;
use serde_json::value::RawValue;

/// The change that a call would make to a file, for the permission prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChangePreview {
    /// The file, where its path really leads.
    pub path: PathBuf,
    /// Its content now; empty for a new file. Bytes that are not text become replacement characters.
    pub before: String,
    /// Its content after the call.
    pub after: String,
}

/// Files shorter than this are replaced as a whole often enough.
const LONG_FILE: usize = 20;

impl FileChangePreview {
    /// What would be lost, if it is more than half of a file that is not short.
    pub(crate) fn loss(&self) -> Option<String> {
        let (before, after) = (self.before.lines().count(), self.after.lines().count());
        let lost = before.saturating_sub(after);
        (before >= LONG_FILE && lost * 2 > before).then(|| {
            format!(
                "{} has {before} lines and would have {after}: most of it would be lost. To change a part of it, use Edit",
                self.path.display()
            )
        })
    }
}

/// A request for confirmation.
#[derive(Debug, Clone)]
pub struct ConfirmationRequest {
    /// The call; none where what is asked about is not the call itself.
    pub call: Option<ToolUseId>,
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub input: Box<RawValue>,
    /// Why the call needs permission.
    pub why: String,
    /// The change to a file, if it makes one.
    pub change: Option<FileChangePreview>,
    /// What [`ConfirmationReply::Always`] allows.
    pub grant: Grant,
}

/// What a confirmation allows until the session ends.
#[derive(Debug, Clone)]
pub enum Grant {
    /// Calls that the rule covers.
    Rule(PermissionRule),
    /// Commands that the rule covers, outside the sandbox.
    OutsideSandbox(PermissionRule),
    /// Changes of memories.
    MemoryChanges,
    /// Edits, once the plan is accepted.
    Edits,
}

/// The user's reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfirmationReply {
    /// Yes, this time.
    Once,
    /// Yes, if this rule of the user's covers the call; it holds from now on.
    Rule(PermissionRule),
    /// Yes, and everything that the request grants until the session ends.
    Always,
    /// No.
    No {
        /// What to do instead, in the user's words.
        said: Option<String>,
    },
}

/// Asks the user. Parallel calls may ask at the same time: a confirmer puts one request after the other.
pub trait Confirmer: Send + Sync {
    /// Asks, and waits for the reply. Dropped when the call is interrupted meanwhile.
    fn ask(&self, question: ConfirmationRequest) -> BoxFuture<'_, ConfirmationReply>;
}

impl fmt::Debug for dyn Confirmer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Confirmer")
    }
}
