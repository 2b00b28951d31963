//! What is written down, and under which names. These structs are the lines' bodies: a field that is
//! missing reads as nothing, one that is new is skipped, so that old and new programs share a log.

use serde::{Deserialize, Serialize};

use crate::usage::Usage;

/// One event of the log.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Metric {
    /// A request to a model.
    Request(RequestMetric),
    /// A layer that keeps the window small has done something.
    Layer(LayerMetric),
    /// A tool call.
    Tool(ToolMetric),
    /// A background job.
    Job(JobMetric),
    /// Something happened to memories.
    Memory(MemoryMetric),
    /// How memories in the context helped a turn.
    MemoryEffect(MemoryEffectMetric),
    /// A circuit breaker opened or closed.
    Breaker(BreakerMetric),
    /// A kind that this version does not know: only read, and counted.
    #[serde(skip_serializing)]
    Other(String),
}

impl Metric {
    /// Reads the body of a line of this kind.
    pub(super) fn read(kind: &str, line: &[u8]) -> Result<Self, serde_json::Error> {
        Ok(match kind {
            "request" => Self::Request(serde_json::from_slice(line)?),
            "layer" => Self::Layer(serde_json::from_slice(line)?),
            "tool" => Self::Tool(serde_json::from_slice(line)?),
            "job" => Self::Job(serde_json::from_slice(line)?),
            "memory" => Self::Memory(serde_json::from_slice(line)?),
            "memory_effect" => Self::MemoryEffect(serde_json::from_slice(line)?),
            "breaker" => Self::Breaker(serde_json::from_slice(line)?),
            other => Self::Other(other.to_owned()),
        })
    }
}

/// Which conversation a request is part of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConversationKind {
    /// The user's.
    #[default]
    Main,
    /// A copy of it that shares its cached prefix.
    Fork,
    /// A conversation of its own: a subagent, or a single question to a model.
    #[serde(rename = "side")]
    Subagent,
}

impl ConversationKind {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Main => "main",
            Self::Fork => "fork",
            Self::Subagent => "side",
        }
    }
}

/// What became of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestOutcome {
    /// It was answered to the end.
    #[default]
    Answered,
    /// The user interrupted it.
    Interrupted,
    /// It failed: the kind of error, a word.
    Failed(String),
}

/// A request that went out, whatever became of it: every retry is one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RequestMetric {
    /// The model asked.
    pub model: String,
    /// In which conversation.
    pub lane: ConversationKind,
    /// The layer or job it was made for; none for the conversation itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub purpose: Option<String>,
    /// What became of it.
    pub outcome: RequestOutcome,
    /// Tokens in, out, read from and written to the cache.
    pub usage: Usage,
    /// From sending to the end of the answer.
    pub duration_ms: u64,
    /// Messages in it.
    pub messages: u64,
    /// At list prices; none where the model's price is not known.
    pub cost_usd: Option<f64>,
    /// The server read less from its cache than it should have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_break: Option<CacheBreakMetric>,
}

/// A cache break that nobody announced (L-23).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CacheBreakMetric {
    /// A word: `model`, `head`, `message`, `time_to_live`, `unknown`.
    pub cause: String,
    /// Tokens that should have been read.
    pub expected: u64,
    /// Tokens that were.
    pub read: u64,
}

/// A layer has done something.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LayerMetric {
    /// By the name of its switch, such as `stored_results`.
    pub name: String,
    /// Tokens that need not be sent any more, as estimated.
    pub freed_tokens: u64,
    /// Messages it looked at.
    pub messages: u64,
    /// Results, rounds or messages that it changed.
    pub changed: u64,
    /// Summaries that it put instead of messages.
    pub summaries: u64,
    /// Whether it changed what had been sent, so that the cache is read again.
    pub prefix_changed: bool,
    /// What its summary kept of the messages it replaced, where that was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<KeptShares>,
}

/// How much of what a summary replaced it still says, in percent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KeptShares {
    /// Identifiers, URLs and hashes.
    pub names_percent: u8,
    /// Messages of the user.
    pub user_messages_percent: u8,
}

/// A tool call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolMetric {
    /// The tool; `(unknown)` for a name that no tool has, which could be any text.
    pub name: String,
    /// What the gate said: `allow`, `ask` or `deny`; none where it was not asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    /// Whether the result is an error; of a denial it is.
    pub is_error: bool,
    /// How long it took.
    pub duration_ms: u64,
    /// Bytes of its result that went to a file; 0 where it was sent whole.
    pub stored_bytes: u64,
}

/// How a background job ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobOutcome {
    /// It did its work.
    #[default]
    Completed,
    /// There was nothing to do, or a gate said no.
    Skipped,
    /// It failed.
    Failed,
    /// Somebody ended it.
    Killed,
}

/// A background job that has ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct JobMetric {
    /// Such as `extraction`, `session_notes`, `dream`.
    pub name: String,
    /// How it ended.
    pub outcome: JobOutcome,
    /// How long it took.
    pub duration_ms: u64,
    /// Requests it made.
    pub turns: u64,
    /// Messages it looked at.
    pub messages: u64,
    /// Files that it changed.
    pub changed: u64,
    /// Calls that its gate denied.
    pub denied: u64,
}

/// What happened to memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryAction {
    /// Saved.
    Written,
    /// Put into a conversation.
    Recalled,
    /// Changed by the user, because it was wrong.
    Corrected,
    /// Taken back by the user.
    Undone,
    /// Proposed by a job and not saved: it rested on nothing, or was known already.
    Dropped,
}

/// Something happened to memories.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryMetric {
    /// What.
    pub action: MemoryAction,
    /// To how many.
    pub count: u64,
    /// By whom: `model`, `user`, or a job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Tokens they took in the conversation.
    #[serde(default)]
    pub tokens: u64,
}

/// How memories in the context helped a turn: the counts that each memory keeps, added up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MemoryEffectMetric {
    /// Memories that the answer named or quoted.
    pub cited: u64,
    /// Memories that were cited, or whose files or terms the turn touched without a correction.
    pub helpful: u64,
    /// Memories that the user's correction changed.
    pub violated: u64,
}

/// Whether something is no longer tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BreakerState {
    /// It failed too often: not tried any more.
    Open,
    /// Tried again.
    Closed,
}

/// A circuit breaker changed its state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BreakerMetric {
    /// Of what, such as `auto_compact`.
    pub name: String,
    /// What it is now.
    pub state: BreakerState,
}
