//! A conversation as data: messages and blocks kept as received, the frozen prefix, the neutral
//! request, usage, the transcript, the metrics log, token estimates, windows and budgets.
//!
//! Invariants: a block goes back as the bytes it came as; a history never parts a tool call from its
//! result; a transcript line is wholly there or dropped and said. This crate touches its own files
//! through `base` and nothing else: no network, no prompts.

#![forbid(unsafe_code)]

mod block;
mod budget;
mod context_tokens;
mod facts;
mod forwarded_call;
mod history;
pub mod known_tools;
mod message;
pub mod metrics;
mod pairing;
mod prefix;
mod raw_fields;
mod recall_reason;
mod reminder_tags;
mod reminders_in_answers;
mod request;
mod skill;
mod tokens;
mod tool_traits;
pub mod transcript;
mod usage;
mod window;

pub use block::{
    Block, BlockError, BlockKind, INTERRUPTED_RESULT, INVALID_JSON_KEY, ResultContent, TextLength,
    ToolUse, ToolUseId,
};
pub use budget::{
    Budget, CompactionBudget, NotesBudget, PromptBudget, PromptSize, ResultBudget, WindowState,
};
pub use context_tokens::{TokenCount, context_tokens};
pub use facts::EnvironmentFacts;
pub use history::{MessageHistory, MessageHistoryError};
pub use message::{Message, MessageFlags, Response, Role, StopReason};
pub use pairing::{PairingRepair, pairing_violations, repair_pairing};
pub use prefix::{Prefix, PrefixOrigin, ServerTool, SystemBlock, ToolDefinition};
pub use raw_fields::RawFields;
pub use recall_reason::{RecallForm, RecallMatch, RecallRanking, RecallReason, RecallStep};
pub use reminder_tags::{
    REMINDER_CLOSING, REMINDER_OPENING, as_reminder, is_reminder, neutralize,
    neutralize_reminder_tags, reminder_text,
};
pub use reminders_in_answers::{ImitatedReminderFilter, without_imitated_reminders};
pub use request::{Effort, RequestOptions, ResponseFormat, ToolChoice, UnknownEffort};
pub use skill::UsedSkill;
pub use tokens::{estimate_bytes, estimate_json, estimate_text};
pub use tool_traits::{
    CallLabel, FileUse, OutputAuthor, ResultDisplay, ToolListing, ToolPurpose, ToolTraits,
};
pub use usage::Usage;
pub use window::{
    ContextWindow, DEFAULT_WINDOW, MIN_WINDOW, WindowError, WindowSource, resolve_window,
};
