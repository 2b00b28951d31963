//! The tools the model calls, how their calls are scheduled and guarded, and the one door to child
//! processes.
//!
//! Invariants: nothing starts a process but [`process`](output) here, always in a group of its own and
//! without the model's keys; every result is bounded and says what it left out; a tool that fails or
//! panics becomes an error result and never ends the program. No network but for [`WebFetch`], [`post_json`] and
//! MCP servers, no terminal, no prompts.

#![forbid(unsafe_code)]

mod arguments;
mod bash;
mod bash_output;
mod blocking;
mod call;
mod capture;
mod confirmation;
mod edit;
mod file_guard;
mod glob;
mod grep;
mod input;
mod kill_shell;
mod observer;
mod orchestrator;
mod overflow;
mod platform;
mod post;
mod printed;
mod process;
mod progress;
mod project_file;
mod read;
mod read_cache;
mod reaper;
mod registry;
mod shells;
mod snippet;
mod todo;
mod tool;
mod web_fetch;
mod write;

pub use bash::{Bash, exit_note};
pub use bash_output::BashOutput;
pub use call::{CallResult, CallRunner};
pub use confirmation::{ConfirmationReply, ConfirmationRequest, Confirmer, FileChangePreview};
pub use edit::Edit;
pub use file_guard::{FileGuard, FileRoute, FileWriteOutcome, FileWriter};
pub use glob::Glob;
pub use grep::Grep;
pub use input::parse_input;
pub use kill_shell::KillShell;
pub use observer::{
    AfterCall, BeforeCall, CallObserver, CallOpinion, CallView, ConfirmationOverride,
};
pub use orchestrator::{CallStatus, MAX_SIDE_BY_SIDE, ResponseState, Scheduled, startable};
pub use overflow::{OutputFile, StoredOutput};
pub use post::{PostResponse, post_json};
pub use process::{
    MODEL_KEYS, PipedProcess, ProcessCommand, ProcessError, ProcessOutput, RunningProcess, output,
    output_and_first_line, output_with_input,
};
pub use progress::CommandProgress;
pub use read::Read;
pub use read_cache::{CachedFile, ReadCache, ReadExtent};
pub use reaper::{Reaper, serve_as_reaper};
pub use registry::ToolSet;
pub use shells::Shells;
pub use todo::{Todo, TodoList, TodoStatus, TodoWrite};
pub use tool::{
    CallContext, CommandLimits, Forwarded, ResultLimit, Tool, ToolClass, ToolError, ToolOutput,
    ToolSpec, ToolTraits, definition,
};
pub use web_fetch::WebFetch;
pub use write::Write;
