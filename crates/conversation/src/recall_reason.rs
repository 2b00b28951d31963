//! Why a memory came with a message, as it was known when the message was sent. The transcript keeps it beside the message;
//! the model never sees it.

use serde::{Deserialize, Serialize};

/// The step of recall that found memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RecallStep {
    /// The local ranking.
    Local,
    /// The local ranking with a vector that came later.
    Vectors,
    /// The selector, a small model.
    Selector,
}

impl RecallStep {
    /// Its name in hooks and transcripts.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Vectors => "vectors",
            Self::Selector => "selector",
        }
    }
}

/// How much of a memory was put into the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RecallForm {
    /// Its text.
    Body,
    /// A line that names it.
    Line,
}

/// A word of the message that spoke for a memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecallMatch {
    /// The word of the message.
    pub word: String,
    /// The term of the memory.
    pub term: String,
    /// How the two match: the names of `dormouse recall --explain --json`.
    pub fit: String,
    /// Contribution to the score.
    pub gain: f64,
}

/// What the local ranking knew of a memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecallRanking {
    /// Comparable within one ranking only.
    pub score: f64,
    /// The probability that it helps, 0 to 1.
    pub confidence: f64,
    /// How near its vector is to that of the message, if vectors were used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub similarity: Option<f64>,
    /// The matching words, highest gain first.
    #[serde(default)]
    pub matches: Vec<RecallMatch>,
}

/// Why a memory came with a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecallReason {
    /// Its file, as the model sees it.
    pub path: String,
    /// The step that found it.
    pub step: RecallStep,
    /// How much of it was shown.
    pub form: RecallForm,
    /// How the local ranking judged it; none where the small model chose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranking: Option<RecallRanking>,
}
