//! A span of messages that collapse folds, and its summary.

use dormouse_base::MessageId;
use serde::{Deserialize, Serialize};

/// Consecutive whole rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoldSpan {
    /// Its first message.
    pub from: MessageId,
    /// Its last.
    pub to: MessageId,
    /// What it takes, estimated.
    pub tokens: u64,
}

/// A span with its summary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpanFold {
    /// What is folded.
    pub span: FoldSpan,
    /// What is shown instead.
    pub summary: String,
}
