//! How far a mailbox was delivered, from the transcripts alone.
//!
//! A session may end at any moment, and the next one under its name may be another. So beside the mailbox stands
//! which session reads it, and the last message that was delivered before that session began: what was delivered
//! since stands in its transcript.

use std::collections::HashSet;

use dormouse_base::{Dir, FileError, RelPath, SessionId};
use dormouse_conversation::transcript::{load_transcript, session_file};
use serde::{Deserialize, Serialize};

use super::plain;
use crate::messages::AgentName;

/// Which session reads a mailbox.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CursorRecord {
    /// The session; none before there was one.
    pub(super) session: Option<SessionId>,
    /// The last message that was delivered before it.
    pub(super) after: Option<String>,
}

impl CursorRecord {
    fn file(name: &AgentName) -> RelPath {
        plain(&format!("{name}.session"))
    }

    /// Reads it; one that was never written is empty.
    pub(super) fn read(dir: &Dir, name: &AgentName) -> Result<Self, FileError> {
        match dir.read(&Self::file(name)) {
            // It is replaced whole: what cannot be read, somebody has put there.
            Ok(bytes) => Ok(serde_json::from_slice(&bytes).unwrap_or_default()),
            Err(error) if error.is_not_found() => Ok(Self::default()),
            Err(error) => Err(error),
        }
    }

    pub(super) fn write(&self, dir: &Dir, name: &AgentName) -> Result<(), FileError> {
        // Two strings have no way to fail to serialize.
        dir.replace(&Self::file(name), &serde_json::to_vec(self).unwrap_or_default())
    }

    /// The ids that are known to be delivered.
    pub(super) fn delivered(&self, project: &Dir) -> Result<HashSet<String>, FileError> {
        let mut ids: HashSet<String> = self.after.iter().cloned().collect();
        let Some(session) = self.session else { return Ok(ids) };
        match project.read(&session_file(session)) {
            Ok(bytes) => ids.extend(load_transcript(&bytes).delivered),
            // The person has removed it.
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(error),
        }
        Ok(ids)
    }
}
