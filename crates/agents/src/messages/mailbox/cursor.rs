//! Which messages of a mailbox were delivered, derived from transcripts.
//!
//! A session may end at any moment, and another one may take over its name. A file beside the mailbox records the session
//! that reads it, and the last message that was delivered before that session started; the transcript of the session
//! has the messages delivered since.

use std::collections::HashSet;

use dormouse_base::{Dir, FileError, RelPath, SessionId};
use dormouse_conversation::transcript::{load_transcript, session_file};
use serde::{Deserialize, Serialize};

use super::plain;
use crate::messages::AgentName;

/// The session that reads a mailbox.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CursorRecord {
    /// The session; none before the first one.
    pub(super) session: Option<SessionId>,
    /// The last message that was delivered before it started.
    pub(super) after: Option<String>,
}

impl CursorRecord {
    fn file(name: &AgentName) -> RelPath {
        plain(&format!("{name}.session"))
    }

    /// Reads the record; empty if there is none.
    pub(super) fn read(dir: &Dir, name: &AgentName) -> Result<Self, FileError> {
        match dir.read(&Self::file(name)) {
            // The file is replaced atomically: an invalid one is not ours.
            Ok(bytes) => Ok(serde_json::from_slice(&bytes).unwrap_or_default()),
            Err(error) if error.is_not_found() => Ok(Self::default()),
            Err(error) => Err(error),
        }
    }

    pub(super) fn write(&self, dir: &Dir, name: &AgentName) -> Result<(), FileError> {
        // Serializing two strings cannot fail.
        dir.replace(&Self::file(name), &serde_json::to_vec(self).unwrap_or_default())
    }

    /// The ids of messages that are known to be delivered.
    pub(super) fn delivered(&self, project: &Dir) -> Result<HashSet<String>, FileError> {
        let mut ids: HashSet<String> = self.after.iter().cloned().collect();
        let Some(session) = self.session else { return Ok(ids) };
        match project.read(&session_file(session)) {
            Ok(bytes) => ids.extend(load_transcript(&bytes).delivered),
            // The user removed the transcript.
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(error),
        }
        Ok(ids)
    }
}
