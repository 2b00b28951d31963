//! What a recall leaves behind: which memories, what they took, why, and what was passed over.

use std::time::Duration;

/// Which of the two steps found something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecallStep {
    /// The ranking on this machine.
    Local,
    /// The small model.
    Selector,
}

/// A memory that was put into the conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct RecallReceiptEntry {
    /// Its file, as the model was told.
    pub path: String,
    /// Its file's name.
    pub file: String,
    /// Whose memory it is.
    pub scope: String,
    /// What it took, as estimated.
    pub tokens: u32,
    /// Why it was chosen.
    pub why: String,
}

/// A memory that was considered and left out.
#[derive(Debug, Clone, PartialEq)]
pub struct SkippedMemory {
    /// Its file's name.
    pub file: String,
    /// Why it was left out.
    pub why: String,
}

/// One recall.
#[derive(Debug, Clone, PartialEq)]
pub struct RecallReceipt {
    /// By which step.
    pub step: RecallStep,
    /// What was searched for.
    pub query: String,
    /// What was put in.
    pub recalled: Vec<RecallReceiptEntry>,
    /// The best of what was not.
    pub skipped: Vec<SkippedMemory>,
    /// How many memories there were to choose from.
    pub considered: usize,
    /// What kept it from doing more: no time, no budget, a model that failed.
    pub note: Option<String>,
    /// How long it took.
    pub took: Duration,
}

fn counted(memories: usize) -> String {
    if memories == 1 { "1 memory".to_owned() } else { format!("{memories} memories") }
}

impl RecallReceipt {
    /// Tokens that the memories took together.
    pub fn tokens(&self) -> u32 {
        self.recalled.iter().map(|memory| memory.tokens).sum()
    }

    /// In a line: what the person sees of it at once.
    pub fn line(&self) -> String {
        let files: Vec<&str> = self.recalled.iter().map(|memory| memory.file.as_str()).collect();
        let (count, tokens) = (counted(files.len()), self.tokens());
        format!("recalled {count} ({tokens} tokens): {}", files.join(", "))
    }

    /// All of it, for whoever wants to know why.
    pub fn explained(&self) -> Vec<String> {
        let by = match self.step {
            RecallStep::Local => "by the words",
            RecallStep::Selector => "by the small model",
        };
        let mut lines = vec![format!(
            "{} looked at {by}, in {} ms",
            counted(self.considered),
            self.took.as_millis()
        )];
        for RecallReceiptEntry { path, tokens, why, .. } in &self.recalled {
            lines.push(format!("+ {path} ({tokens} tokens): {why}"));
        }
        for SkippedMemory { file, why } in &self.skipped {
            lines.push(format!("- {file}: {why}"));
        }
        lines.extend(self.note.iter().map(|note| format!("note: {note}")));
        lines
    }
}
