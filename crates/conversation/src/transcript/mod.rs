//! The transcript: one JSONL file a session, append-only.
//!
//! The field names are those that public tools already read, so that existing viewers work on our
//! files and our reader on theirs. A message is several lines, one a block, as each completes; they
//! share `messageUuid` (and, from the model, `message.id`), while every line has a `uuid` of its own.
//! Decisions that must survive a resume are lines too: the rendered prefix, facts told since, results that
//! were stored, thinking that was dropped, compactions and rewinds.

mod boundary;
mod branch;
mod compaction_record;
mod envelope;
mod error;
mod format;
mod lines;
mod loaded;
mod pending;
mod pending_boundary;
mod read;
mod record_kind;
mod replay;
mod rewound;
mod search;
mod sessions;
mod write;

pub use boundary::{CompactionBoundary, CompactionTrigger, RemovedSpan, without_usage};
pub use compaction_record::{CompactionRecord, FoundWindow};
pub use envelope::{LineEnvelope, LineNotes, MessageHeader};
pub use error::TranscriptError;
pub use loaded::{LoadedTranscript, TranscriptWarning, UserMessagePosition};
pub use pending::{PendingTranscript, PendingTranscripts, PendingTranscriptsError};
pub use read::{load_subagent_transcript, load_transcript};
pub use replay::{
    Replay, ReplayEvent, ReplayedCompaction, ReplayedMessage, replay_abridged,
    replay_abridged_subagent, replay_transcript,
};
pub use rewound::RewindMark;
pub use search::{Passage, search_sessions};
pub use sessions::{
    SessionHead, SessionSummary, list_sessions, newest_session, session_file, session_head,
    session_heads, sessions_since,
};
pub use write::{Transcript, check_not_open};
