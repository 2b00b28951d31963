//! The program's own look at what a run wants to save: it vouches, and counts what it drops.

use std::sync::{Mutex, PoisonError};

use dormouse_engine::{JobHandle, Wanted, Witness};
use dormouse_memory::{Author, MemoryFile, MessageSource, Scope};

use super::evidence::{Dropped, Evidence, Proposed};

pub(super) struct ExtractionProvenance {
    evidence: Evidence,
    job: JobHandle,
    dropped: Mutex<Vec<Dropped>>,
}

impl ExtractionProvenance {
    pub(super) fn new(evidence: Evidence, job: JobHandle) -> Self {
        Self { evidence, job, dropped: Mutex::default() }
    }

    /// How many proposals were dropped.
    pub(super) fn dropped(&self) -> u64 {
        let dropped = self.dropped.lock().unwrap_or_else(PoisonError::into_inner);
        u64::try_from(dropped.len()).unwrap_or(u64::MAX)
    }
}

impl Witness for ExtractionProvenance {
    fn author(&self) -> Author {
        Author::Extraction
    }

    fn sources(&self, wanted: &Wanted<'_>) -> Result<Vec<MessageSource>, String> {
        let text = text_of(wanted);
        self.evidence.weigh(&proposed(wanted, &text)).map_err(|why| {
            self.job.said(&format!("dropped ({}): {}", why.kind(), wanted.memory.name));
            let said = why.to_string();
            self.dropped.lock().unwrap_or_else(PoisonError::into_inner).push(why);
            said
        })
    }

    fn saved(&self, wanted: &Wanted<'_>) {
        self.evidence.saved(&proposed(wanted, &text_of(wanted)));
    }

    fn may_remove(&self, _: Scope, file: &MemoryFile, reason: Option<&str>) -> Result<(), String> {
        match reason.map(str::trim).filter(|reason| !reason.is_empty()) {
            Some(_) => Ok(()),
            None => Err(format!("{file} is not removed without a `reason`")),
        }
    }
}

fn text_of(wanted: &Wanted<'_>) -> String {
    format!("{}\n{}", wanted.memory.description, wanted.memory.body)
}

fn proposed<'a>(wanted: &'a Wanted<'a>, text: &'a str) -> Proposed<'a> {
    Proposed {
        text,
        body: &wanted.memory.body,
        quotes: wanted.quotes,
        onto: wanted.file.map(|file| (wanted.scope, file)),
        supersedes: wanted.supersedes,
    }
}
