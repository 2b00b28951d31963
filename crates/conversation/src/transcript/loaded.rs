//! The result of loading a transcript.

use std::sync::Arc;

use dormouse_base::MessageId;
use jiff::Timestamp;
use thiserror::Error;

use super::boundary::CompactionBoundary;
use super::compaction_record::CompactionRecord;
use crate::facts::EnvironmentFacts;
use crate::message::Message;
use crate::prefix::{Prefix, PrefixOrigin};
use crate::skill::UsedSkill;

/// A part of a transcript that could not be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TranscriptWarning {
    /// A line that cannot be read, not the last one.
    #[error("line {line} was skipped: {problem}")]
    BadLine {
        /// Its number, from 1.
        line: usize,
        /// Why it cannot be read.
        problem: String,
    },
    /// The last line, cut off by a crash.
    #[error("line {line}, the last, was cut off by a crash ({bytes} bytes) and dropped")]
    Torn {
        /// Its number, from 1.
        line: usize,
        /// The number of bytes that were written.
        bytes: usize,
    },
    /// A compaction that a crash cut off.
    #[error(
        "the compaction in line {line} was cut off by a crash; the conversation is as before it"
    )]
    IncompleteBoundary {
        /// Its number, from 1.
        line: usize,
    },
}

/// The position of a user message in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserMessagePosition {
    /// The message.
    pub message: MessageId,
    /// When it was written.
    pub at: Timestamp,
    /// The number of its line, from 1.
    pub line: u64,
    /// The number of the first line that goes with it: what was announced in front of it.
    pub begins: u64,
}

/// The content of a transcript.
#[derive(Debug, Default)]
pub struct LoadedTranscript {
    /// The main conversation as it is sent, in order.
    pub messages: Vec<Message>,
    /// Messages replaced by compactions, in order.
    pub compacted: Vec<Message>,
    /// The compactions.
    pub boundaries: Vec<CompactionBoundary>,
    /// The position of each user message, compacted or not.
    pub user_messages: Vec<UserMessagePosition>,
    /// The number of lines, not counting one that was cut off.
    pub lines: u64,
    /// The most recent prefix.
    pub prefix: Option<Arc<Prefix>>,
    /// The model that prefix was built for.
    pub origin: Option<PrefixOrigin>,
    /// The most recent environment facts, if any were announced after the prefix.
    pub facts: Option<EnvironmentFacts>,
    /// Skills that were used, in order.
    pub skills: Vec<UsedSkill>,
    /// What compaction remembers.
    pub compaction: CompactionRecord,
    /// Ids of incoming messages that were delivered, in order.
    pub delivered: Vec<String>,
    /// The folder of the last line that names one.
    pub folder: Option<String>,
    /// The id of the last line that is part of the conversation.
    pub last_line: Option<MessageId>,
    /// The rewinds, abandoned ones too.
    pub rewinds: Vec<MessageId>,
    /// Lines that could not be used.
    pub warnings: Vec<TranscriptWarning>,
}

impl LoadedTranscript {
    /// All messages, compacted ones first.
    pub fn all_messages(&self) -> impl Iterator<Item = &Message> {
        self.compacted.iter().chain(&self.messages)
    }
}
