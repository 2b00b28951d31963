//! What a dream came to (B-23, B-24): merged, corrected, removed, kept, refused, with reasons.

use dormouse_memory::{Drafted, Fate, MemoryFile, Scope, Store};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// How a dream ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DreamStatus {
    /// It is applied.
    Completed,
    /// It was only looked at.
    Previewed,
    /// It could not be done, or nothing of it could be used.
    Failed,
    /// Somebody ended it.
    Killed,
}

/// A dream, afterwards.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DreamReport {
    /// Which: its changes carry the same name.
    pub id: String,
    /// DreamTiming it began.
    pub began: Timestamp,
    /// DreamTiming it ended.
    pub ended: Timestamp,
    /// How it ended.
    pub status: DreamStatus,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// How many sessions it was shown.
    pub sessions: usize,
    /// Requests it made.
    pub turns: u32,
    /// What became of each memory directory.
    pub memories: Vec<MemoryReport>,
    /// What was refused on the way, and why.
    pub refused: Vec<String>,
    /// Memory that it did not touch, and why.
    pub left_out: Vec<String>,
    /// What it said at its end.
    pub said: String,
}

/// What a dream did to one memory directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryReport {
    /// Whose.
    pub scope: Scope,
    /// The change, in its history.
    pub change: Option<u64>,
    /// How many memories are as they were.
    pub kept: usize,
    /// What it did, or would have.
    pub deeds: Vec<DreamAction>,
}

/// Something that a dream did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DreamAction {
    /// `merged`, `corrected`, `added` or `removed`.
    pub what: String,
    /// Which memory.
    pub file: String,
    /// What went into it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub from: Vec<String>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// `made`, `waits` (in the inbox), `overtaken` (by somebody else's change), `refused` or `unchanged`.
    pub fate: String,
    /// More about that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl DreamAction {
    pub(super) fn of(drafted: &Drafted, fate: &Fate) -> Self {
        let (what, file, from, reason) = match drafted {
            Drafted::Merged { into, from } => ("merged", into, names(from), None),
            Drafted::Corrected(file) => ("corrected", file, Vec::new(), None),
            Drafted::Added(file) => ("added", file, Vec::new(), None),
            Drafted::Removed { file, reason } => {
                ("removed", file, Vec::new(), Some(presentable(reason)))
            }
        };
        let (fate, note) = match fate {
            Fate::Made => ("made", None),
            Fate::Unchanged => ("unchanged", None),
            Fate::Waits(Some(id)) => {
                ("waits", Some(format!("proposal {id} in the inbox, for the person to accept")))
            }
            Fate::Waits(None) => ("waits", Some("it would wait in the inbox".to_owned())),
            Fate::Overtaken(file) => {
                ("overtaken", Some(format!("{file} was changed meanwhile, and that counts")))
            }
            Fate::Refused(why) => ("refused", Some(why.clone())),
        };
        let (what, fate) = (what.to_owned(), fate.to_owned());
        Self { what, file: file.to_string(), from, reason, fate, note }
    }

    fn is_made(&self) -> bool {
        self.fate == "made"
    }

    /// In a line.
    pub fn line(&self) -> String {
        let mut line = match self.from.as_slice() {
            [] => format!("{} {}", self.what, self.file),
            from => format!("{} {} into {}", self.what, from.join(", "), self.file),
        };
        if let Some(reason) = &self.reason {
            line.push_str(&format!(" ({reason})"));
        }
        if !self.is_made() {
            let note = self.note.as_deref().unwrap_or("it was so already");
            line = format!("not done: {line}: {note}");
        }
        line
    }
}

/// What a model said, as it can be kept and shown: without a secret, and without what steers a terminal.
pub(super) fn presentable(text: &str) -> String {
    if dormouse_secrets::scan(text).is_empty() {
        return dormouse_base::printable(text).into_owned();
    }
    "something that looks like a secret, and is not shown".to_owned()
}

fn names(files: &[MemoryFile]) -> Vec<String> {
    files.iter().map(ToString::to_string).collect()
}

impl DreamReport {
    /// How many memories are better for it.
    pub fn improved(&self) -> usize {
        self.deeds().filter(|deed| deed.is_made()).count()
    }

    /// What was done.
    pub fn deeds(&self) -> impl Iterator<Item = &DreamAction> {
        self.memories.iter().flat_map(|memory| &memory.deeds)
    }

    /// In one line.
    pub fn headline(&self) -> String {
        let memories = |count: usize| {
            if count == 1 { "1 memory".to_owned() } else { format!("{count} memories") }
        };
        let improved = memories(self.improved());
        match (self.status, &self.why) {
            (DreamStatus::Completed, _) => format!("Improved {improved}"),
            (DreamStatus::Previewed, _) => format!("Would improve {improved}"),
            (DreamStatus::Killed, _) => "The dream was ended; nothing was changed".to_owned(),
            (DreamStatus::Failed, why) => {
                let why = why.as_deref().unwrap_or("it is not known why");
                match self.improved() {
                    0 => format!("The dream came to nothing, and nothing was changed: {why}"),
                    _ => format!("The dream was cut short after it had improved {improved}: {why}"),
                }
            }
        }
    }
}

/// The reports of dreams over a store, newest first. Those that can not be read are left out.
pub fn dream_reports(store: &Store) -> Result<Vec<DreamReport>, dormouse_base::FileError> {
    let reports = store.dreams()?.into_iter();
    Ok(reports.filter_map(|report| serde_json::from_slice(&report).ok()).collect())
}
