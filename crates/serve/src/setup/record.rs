//! The texts that were inserted into other agents' files, so that an undo removes exactly them. Nothing else of those
//! files is recorded: they may hold keys.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use dormouse_base::{Dir, RelPath};
use serde::{Deserialize, Serialize};

use super::agent::Agent;
use super::error::SetupError;

/// The insertions into one file.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct FileRecord {
    /// Whether the file did not exist before.
    pub(super) created: bool,
    /// For each edit the inserted text; `None` if the entry already existed.
    pub(super) inserted: Vec<Option<String>>,
}

/// The insertions for one agent.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct SetupRecord {
    files: BTreeMap<PathBuf, FileRecord>,
}

impl SetupRecord {
    /// The record; empty if it is missing or unreadable.
    pub(super) fn of(home: &Path, agent: Agent) -> Result<Self, SetupError> {
        let Ok(folder) = Dir::open(home.join("setup")) else { return Ok(Self::default()) };
        let bytes = folder.read(&name(agent)?).unwrap_or_default();
        Ok(serde_json::from_slice(&bytes).unwrap_or_default())
    }

    pub(super) fn get(&self, file: &Path) -> Option<&FileRecord> {
        self.files.get(file)
    }

    /// Records insertions into a file, in addition to earlier ones that are still there.
    pub(super) fn set(&mut self, file: &Path, mut record: FileRecord) {
        if let Some(known) = self.files.get(file).filter(|_| !record.inserted.is_empty()) {
            record.created |= known.created;
            for (now, before) in record.inserted.iter_mut().zip(&known.inserted) {
                *now = now.take().or_else(|| before.clone());
            }
        }
        if record.inserted.iter().all(Option::is_none) {
            self.files.remove(file);
        } else {
            self.files.insert(file.to_owned(), record);
        }
    }

    pub(super) fn keep(&self, home: &Path, agent: Agent) -> Result<(), SetupError> {
        let text = serde_json::to_vec_pretty(self).map_err(SetupError::Record)?;
        Ok(Dir::create(home.join("setup"))?.replace(&name(agent)?, &text)?)
    }
}

fn name(agent: Agent) -> Result<RelPath, SetupError> {
    Ok(RelPath::new(format!("{}.json", agent.as_str()))?)
}
