//! The receipt of a recall: which memories were shown and why, their size, and which were left out.

use std::time::Duration;

use dormouse_conversation::{RecallForm, RecallRanking, RecallReason, RecallStep};

/// A memory that was put into the conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct RecallReceiptEntry {
    /// Its file, as the model sees it.
    pub path: String,
    /// Its file's name.
    pub file: String,
    /// Its scope.
    pub scope: String,
    /// How much of it was shown.
    pub form: RecallForm,
    /// The estimated size of what was shown.
    pub tokens: u32,
    /// Why it was chosen.
    pub why: String,
    /// How the local ranking judged it; none where the small model chose.
    pub ranking: Option<RecallRanking>,
}

/// A memory that was considered and left out.
#[derive(Debug, Clone, PartialEq)]
pub struct SkippedMemory {
    /// Its file's name.
    pub file: String,
    /// Why it was left out.
    pub why: String,
}

/// A recall.
#[derive(Debug, Clone, PartialEq)]
pub struct RecallReceipt {
    /// The step.
    pub step: RecallStep,
    /// The query.
    pub query: String,
    /// The memories that were shown.
    pub recalled: Vec<RecallReceiptEntry>,
    /// The best of those that were not.
    pub skipped: Vec<SkippedMemory>,
    /// How many memories were considered.
    pub considered: usize,
    /// Whether the search did not end before the request had to go.
    pub is_late: bool,
    /// How many memories the index lists that the conversation begins with; only in the first message.
    pub listed: Option<usize>,
    /// Why it found no more: out of time, out of budget, a model that failed.
    pub note: Option<String>,
    /// How long it took.
    pub took: Duration,
}

fn counted(memories: usize) -> String {
    if memories == 1 { "1 memory".to_owned() } else { format!("{memories} memories") }
}

impl RecallReceipt {
    /// The estimated size of all memories.
    pub fn tokens(&self) -> u32 {
        self.recalled.iter().map(|memory| memory.tokens).sum()
    }

    /// Why each memory was recalled, for the transcript.
    pub(crate) fn reasons(&self) -> Vec<RecallReason> {
        let reason = |entry: &RecallReceiptEntry| RecallReason {
            path: entry.path.clone(),
            step: self.step,
            form: entry.form,
            ranking: entry.ranking.clone(),
        };
        self.recalled.iter().map(reason).collect()
    }

    /// Whether memories were put into the conversation, or why there are fewer than there might be.
    pub fn has_news(&self) -> bool {
        !self.recalled.is_empty() || self.is_late || self.note.is_some()
    }

    /// Whether a user who is there is told of it: also of what a conversation begins with.
    pub fn concerns_user(&self) -> bool {
        self.has_news() || self.listed.is_some_and(|listed| listed > 0)
    }

    /// The files that were shown in this form.
    pub fn files(&self, form: RecallForm) -> Vec<&str> {
        let of_form = self.recalled.iter().filter(|memory| memory.form == form);
        of_form.map(|memory| memory.file.as_str()).collect()
    }

    /// One line for the user.
    pub fn line(&self) -> String {
        let (bodies, lines) = (self.files(RecallForm::Body), self.files(RecallForm::Line));
        let tokens = self.tokens();
        let mut parts = Vec::new();
        if let Some(listed) = self.listed.filter(|listed| *listed > 0) {
            parts.push(format!("{} listed", counted(listed)));
        }
        if !bodies.is_empty() {
            let (count, files) = (counted(bodies.len()), bodies.join(", "));
            parts.push(format!("recalled {count} ({tokens} tokens): {files}"));
        }
        if !lines.is_empty() {
            let named = format!("named {}: {}", counted(lines.len()), lines.join(", "));
            let size =
                if bodies.is_empty() { format!(" ({tokens} tokens)") } else { String::new() };
            parts.push(named + &size);
        }
        if self.is_late {
            parts.push(
                "memory not ready in time; what it finds goes with the next request".to_owned(),
            );
        } else if let Some(note) = &self.note {
            parts.push(note.clone());
        } else if self.recalled.is_empty() {
            parts.push("none recalled".to_owned());
        }
        parts.join("; ")
    }

    /// All details, a line each.
    pub fn explained(&self) -> Vec<String> {
        let by = match self.step {
            RecallStep::Local => "by word match",
            RecallStep::Vectors => "by word match and embeddings",
            RecallStep::Selector => "by the small model",
        };
        let mut lines = vec![format!(
            "{} considered {by}, in {} ms",
            counted(self.considered),
            self.took.as_millis()
        )];
        for RecallReceiptEntry { path, form, tokens, why, .. } in &self.recalled {
            let named = if *form == RecallForm::Line { ", named only" } else { "" };
            lines.push(format!("+ {path} ({tokens} tokens{named}): {why}"));
        }
        for SkippedMemory { file, why } in &self.skipped {
            lines.push(format!("- {file}: {why}"));
        }
        if self.is_late {
            lines.push("note: the search had not ended when the request was sent".to_owned());
        }
        lines.extend(self.note.iter().map(|note| format!("note: {note}")));
        lines
    }
}
