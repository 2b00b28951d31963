//! Hooks: commands, requests and model checks that the user configures to run at events (L-24 to L-27).
//!
//! - Reading: `origin` (who configured a hook, and the text it is read from), `config` (all hooks by event), `handler`
//!   (one hook), `matcher`, `position` (line numbers in JSON), `list` (views for `dormouse hooks`).
//! - Running: `selection` (which hooks run), `input` (their JSON input), `execute` (runs one; `http` and `model_check`
//!   for those kinds), `response` (parses the output), `sanitize` (removes secrets, bounds length), `pending` (output
//!   that nobody has read yet), `background` (hooks that nobody waits for), `dispatch` (ties it together).
//! - Calling: `runner` has a method per event; `observer` runs the hooks around tool calls, `notify` those of background
//!   tasks; `watch` detects changed files.
//!
//! The contract (event names, exit codes, JSON) is that of existing hook scripts. Models are reached through the trait
//! [`HookModel`], which the engine implements.
//!
//! Invariant: a hook that fails, hangs or prints garbage decides nothing and never fails a turn; the user gets a notice.

#![forbid(unsafe_code)]

mod background;
mod config;
mod dispatch;
mod event;
mod execute;
mod handler;
mod http;
mod input;
mod list;
mod matcher;
mod mcp_tool;
mod model_check;
mod notify;
mod observer;
mod origin;
mod pending;
mod position;
mod response;
mod runner;
mod sanitize;
mod selection;
mod watch;

pub use background::BackgroundHooks;
pub use config::{HookProblem, Hooks};
pub use dispatch::{HookRunnerParts, HookSession, HookSubagent, HookVerdict};
pub use event::{HookEvent, UnknownHookEvent};
pub use execute::HookEnvironment;
pub use input::{
    BatchCall, DreamEndEvent, MemoryRecalledEvent, MemorySavedEvent, PromptExpansion, PromptSource,
    PulledMemory, RecalledMemoryInput, SavedMemory, SessionEndReason, SessionSource, SetupTrigger,
    TeamSyncedEvent,
};
pub use list::{HookQuery, HookView};
pub use mcp_tool::{HookServers, HookToolError};
pub use model_check::{HookModel, HookModelError, HookModelRequest};
pub use notify::HookNotifier;
pub use observer::HookObserver;
pub use origin::{HookLayer, HookOrigin, InactiveReason, PluginPaths};
pub use pending::HookNotice;
pub use runner::HookRunner;
