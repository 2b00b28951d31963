//! A conversation as data: messages and blocks kept as received, the frozen prefix, the neutral
//! request, usage, the transcript, the log of figures, token estimates, windows and budgets.
//!
//! Invariants: a block goes back as the bytes it came as; a history never parts a tool call from its
//! result; a transcript line is wholly there or dropped and said. This crate touches its own files
//! through `base` and nothing else: no network, no prompts.

#![forbid(unsafe_code)]

mod block;
mod budget;
mod facts;
pub mod figures;
mod history;
mod marks;
mod message;
mod pairing;
mod prefix;
mod request;
mod skill;
mod tokens;
pub mod transcript;
mod usage;
mod window;

pub use block::{
    Block, BlockError, BlockKind, INTERRUPTED_RESULT, INVALID_JSON, ResultContent, ToolUse,
    ToolUseId,
};
pub use budget::{Budget, PromptSize, WindowState};
pub use facts::Facts;
pub use history::{History, HistoryError};
pub use marks::without_marks;
pub use message::{Flags, Message, Response, Role, StopReason};
pub use pairing::{Repair, repair, violations};
pub use prefix::{Origin, Prefix, ServerTool, SystemBlock, ToolDefinition};
pub use request::{Answer, Effort, RequestOptions, ToolChoice};
pub use skill::SkillInUse;
pub use tokens::{TokenCount, estimate_json, estimate_text, used};
pub use usage::Usage;
pub use window::{
    DEFAULT_WINDOW, SMALLEST_WINDOW, Window, WindowError, WindowSource, resolve_window,
};
