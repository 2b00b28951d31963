//! The report of a dream (B-23, B-24): what it merged, corrected, removed, kept and refused, with reasons.

use dormouse_memory::{DraftChange, MemoryFile, Scope, Store, UnitOutcome};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// How a dream ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DreamStatus {
    /// Its changes were applied.
    Completed,
    /// Its changes were only shown.
    Previewed,
    /// It failed, or its changes could not be used.
    Failed,
    /// It was ended from outside.
    Killed,
}

/// The report of a dream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DreamReport {
    /// Its id, which its changes carry too.
    pub id: String,
    /// When it began.
    pub began: Timestamp,
    /// When it ended.
    pub ended: Timestamp,
    /// How it ended.
    pub status: DreamStatus,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The number of sessions that it was about.
    pub sessions: usize,
    /// The number of its requests.
    pub turns: u32,
    /// What it did to each memory directory.
    pub memories: Vec<MemoryReport>,
    /// What was refused during the dream, with reasons.
    pub refused: Vec<String>,
    /// Memory directories that it left out, with reasons.
    pub left_out: Vec<String>,
    /// Its final message.
    pub said: String,
}

/// What a dream did to one memory directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryReport {
    /// The scope.
    pub scope: Scope,
    /// The number of the change in the history.
    pub change: Option<u64>,
    /// The number of unchanged memories.
    pub kept: usize,
    /// What it did, or would do.
    pub deeds: Vec<DreamAction>,
}

/// An action of a dream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DreamAction {
    /// `merged`, `corrected`, `added` or `removed`.
    pub what: String,
    /// The memory.
    pub file: String,
    /// The memories that were merged into it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub from: Vec<String>,
    /// The reason for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// `made`, `waits` (in the inbox), `overtaken` (by another change), `refused` or `unchanged`.
    pub fate: String,
    /// Details of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl DreamAction {
    pub(super) fn of(drafted: &DraftChange, fate: &UnitOutcome) -> Self {
        let (what, file, from, reason) = match drafted {
            DraftChange::Merged { into, from } => ("merged", into, names(from), None),
            DraftChange::Corrected(file) => ("corrected", file, Vec::new(), None),
            DraftChange::Added(file) => ("added", file, Vec::new(), None),
            DraftChange::Removed { file, reason } => {
                ("removed", file, Vec::new(), Some(presentable(reason)))
            }
        };
        let (fate, note) = match fate {
            UnitOutcome::Made => ("made", None),
            UnitOutcome::Unchanged => ("unchanged", None),
            UnitOutcome::Waits(Some(id)) => {
                ("waits", Some(format!("proposal {id} in the inbox, for the user to accept")))
            }
            UnitOutcome::Waits(None) => ("waits", Some("it would wait in the inbox".to_owned())),
            UnitOutcome::Overtaken(file) => (
                "overtaken",
                Some(format!("{file} was changed meanwhile, and that change was kept")),
            ),
            UnitOutcome::Refused(why) => ("refused", Some(why.clone())),
        };
        let (what, fate) = (what.to_owned(), fate.to_owned());
        Self { what, file: file.to_string(), from, reason, fate, note }
    }

    fn is_made(&self) -> bool {
        self.fate == "made"
    }

    /// One line for the user.
    pub fn line(&self) -> String {
        let mut line = match self.from.as_slice() {
            [] => format!("{} {}", self.what, self.file),
            from => format!("{} {} into {}", self.what, from.join(", "), self.file),
        };
        if let Some(reason) = &self.reason {
            line.push_str(&format!(" ({reason})"));
        }
        if !self.is_made() {
            let note = self.note.as_deref().unwrap_or("nothing had to change");
            line = format!("not done: {line}: {note}");
        }
        line
    }
}

/// A model's text as it can be saved and shown: without secrets and control characters.
pub(super) fn presentable(text: &str) -> String {
    if dormouse_secrets::scan(text).is_empty() {
        return dormouse_base::printable(text).into_owned();
    }
    "[hidden: looks like a secret]".to_owned()
}

fn names(files: &[MemoryFile]) -> Vec<String> {
    files.iter().map(ToString::to_string).collect()
}

impl DreamReport {
    /// The number of improved memories.
    pub fn improved(&self) -> usize {
        self.deeds().filter(|deed| deed.is_made()).count()
    }

    /// The actions in all memory directories.
    pub fn deeds(&self) -> impl Iterator<Item = &DreamAction> {
        self.memories.iter().flat_map(|memory| &memory.deeds)
    }

    /// The outcome in one line.
    pub fn headline(&self) -> String {
        let memories = |count: usize| {
            if count == 1 { "1 memory".to_owned() } else { format!("{count} memories") }
        };
        let improved = memories(self.improved());
        match (self.status, &self.why) {
            (DreamStatus::Completed, _) => format!("Improved {improved}"),
            (DreamStatus::Previewed, _) => format!("Would improve {improved}"),
            (DreamStatus::Killed, _) => "The dream was stopped; nothing was changed".to_owned(),
            (DreamStatus::Failed, why) => {
                let why = why.as_deref().unwrap_or("unknown reason");
                match self.improved() {
                    0 => format!("The dream failed, and nothing was changed: {why}"),
                    _ => format!("The dream failed after it had improved {improved}: {why}"),
                }
            }
        }
    }
}

/// The reports of dreams over a store, newest first. Unreadable ones are left out.
pub fn dream_reports(store: &Store) -> Result<Vec<DreamReport>, dormouse_base::FileError> {
    let reports = store.dream_records().reports()?.into_iter();
    Ok(reports.filter_map(|report| serde_json::from_slice(&report).ok()).collect())
}
