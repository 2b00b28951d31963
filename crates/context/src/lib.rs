//! What is sent to the model, as plain functions: messages in, messages and a report out.
//!
//! Owns the fragments of text that the program itself puts into a conversation, where cache breakpoints
//! go, and the layers that keep the window small: large results go to a file, the cheap layers plan edits,
//! and the arithmetic of the last, compaction.
//! Deliberately absent: I/O, clock, environment, and maps whose order shows.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod agent_message;
mod attached_file;
mod attached_resource;
mod breakpoints;
mod called_prompt;
pub mod compact;
mod fragment;
pub mod layers;
mod nothing_new;
mod plan_mode;
pub mod profile;
mod recalled;
mod result_storage_plan;
mod skill;
mod user_command;

pub use agent_message::{AgentMessage, UnreadableMessage};
pub use attached_file::AttachedFile;
pub use attached_resource::AttachedResource;
pub use breakpoints::{TurnShape, plan_breakpoints};
pub use called_prompt::CalledPrompt;
pub use fragment::{
    ContextAttachment, EnvironmentChanges, FirstMessage, Fragment, HookContext, SubagentResult,
};
pub use nothing_new::NothingNew;
pub use plan_mode::PlanMode;
pub use recalled::RecalledMemories;
pub use result_storage_plan::{
    EMPTY_RESULT, ResultStorage, StorageLimit, plan_message_storage, plan_result_storage, preview,
    preview_of, stream_file_name, truncate_result,
};
pub use skill::InvokedSkill;
pub use user_command::{EndedCommand, UserCommandOutput};
