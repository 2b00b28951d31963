//! Compaction (C-14 to C-23): requests, files and transcript. The arithmetic is in `dormouse_context::compact`.
//!
//! A compaction removes a range of messages and puts a text in their place: from the session notes where that is
//! possible, else written by the model, else folded by the program. Invariants: it always ends, with or without a model;
//! the user's messages are kept by the program, not by a summary; files, plan, skills and tasks in use stay in use; and
//! the conversation is either unchanged or completely compacted.

mod apply;
mod auto;
mod breaker;
mod draft;
mod policy;
mod range;
mod rebuilt_prefix;
mod recover;
mod report;
mod request;
mod restored;
mod rules;
mod run;
mod server_summary;
mod state;
mod summarize;
mod user_messages;
mod window_share;

pub(crate) use auto::RoomCheck;
pub use policy::WindowStatus;
pub use report::{CompactionOutcome, CompactionReport};
pub use request::{CompactionRequest, CompactionScope};
pub use rules::CompactionRules;
pub(crate) use state::CompactionState;
pub use window_share::{WindowPart, WindowShare, window_shares};
