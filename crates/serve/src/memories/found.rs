//! A memory that was found, as other agents see it.

use std::sync::Arc;

use dormouse_conversation::estimate_text;
use dormouse_memory::{
    Age, ChangeError, MemoryEntry, MemoryType, RecalledFor, Scanned, Scope, UsageUpdate, beginning,
    manifest_line,
};
use jiff::Timestamp;
use serde::Serialize;

use super::ScopedStore;

/// Of a memory that a search found, so much.
const PREVIEW_CHARS: usize = 600;

/// A memory, and where it is.
pub(crate) struct FoundForClient<'a> {
    pub(crate) shelf: &'a ScopedStore,
    pub(crate) memory: Arc<Scanned>,
}

/// The same for programs.
#[derive(Debug, Serialize)]
pub(crate) struct MemoryRow {
    name: String,
    description: Option<String>,
    #[serde(rename = "type")]
    kind: Option<MemoryType>,
    scope: Scope,
    file: String,
    path: String,
    age_days: u64,
    age: String,
}

impl FoundForClient<'_> {
    pub(crate) fn scope(&self) -> Scope {
        self.shelf.store.scope()
    }

    fn changed(&self) -> Timestamp {
        self.shelf.store.changed_at(&self.memory)
    }

    pub(crate) fn path(&self) -> String {
        self.shelf.store.dir().path().join(self.memory.file.as_str()).display().to_string()
    }

    pub(crate) fn row(&self, now: Timestamp) -> MemoryRow {
        let age = Age::between(self.changed(), now);
        MemoryRow {
            name: self.memory.name().to_owned(),
            description: self.memory.header.description.clone(),
            kind: self.memory.header.kind,
            scope: self.scope(),
            file: self.memory.file.to_string(),
            path: self.path(),
            age_days: age.days(),
            age: age.to_string(),
        }
    }

    /// A line about it (M-10).
    pub(crate) fn line(&self, now: Timestamp) -> String {
        manifest_line(&self.memory, self.scope(), self.changed(), now)
    }

    /// The whole file.
    pub(crate) fn text(&self) -> Result<String, ChangeError> {
        let (bytes, _) = self.shelf.store.read(&self.memory.file)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn body(&self) -> Result<String, ChangeError> {
        let (bytes, _) = self.shelf.store.read(&self.memory.file)?;
        Ok(MemoryEntry::read(&bytes, self.memory.size).body)
    }

    /// What to keep in mind about an old one, on a line of its own.
    pub(crate) fn caveat(&self, now: Timestamp) -> String {
        let caveat = Age::between(self.changed(), now).caveat();
        caveat.map(|caveat| format!("{caveat}\n")).unwrap_or_default()
    }

    /// The beginning of it, for a list of results.
    pub(crate) fn preview(&self) -> Result<String, ChangeError> {
        let body = self.body()?;
        let preview: String = body.trim().chars().take(PREVIEW_CHARS).collect();
        let more = if preview.len() < body.trim().len() { " […]" } else { "" };
        Ok(format!("{preview}{more}"))
    }

    /// Counts a recall. A count that can not be written is no reason to keep the memory back.
    pub(crate) fn note_use(&self, shown: &str) {
        let count = UsageUpdate::of(self.memory.file.clone());
        let count = count.recalled(RecalledFor::Others, estimate_text(shown));
        drop(self.shelf.store.usage().record(&[count]));
    }

    /// It as a recall shows it: age or caveat, path, text.
    pub(crate) fn recalled(&self, now: Timestamp) -> Result<String, ChangeError> {
        let (text, path) = (self.body()?, self.path());
        let shown = beginning(text.trim());
        let rest = if shown.len() < text.trim().len() {
            let file = &self.memory.file;
            format!("\n[cut here; memory_read `{file}`, or the file itself, has the rest]")
        } else {
            String::new()
        };
        let head = match Age::between(self.changed(), now) {
            age if age.caveat().is_none() => format!("Memory (saved {age}): {path}:\n"),
            _ => format!("{}Memory: {path}:\n", self.caveat(now)),
        };
        Ok(format!("{head}{shown}{rest}"))
    }
}
