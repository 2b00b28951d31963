//! The tools that the model calls, how their calls are scheduled and guarded, and child processes.
//!
//! Invariants: only [`process`](output) starts processes, always in a process group of their own and without the model's
//! API keys; every result is bounded and says what it leaves out; a tool that fails or panics yields an error result and
//! never ends the program. No network except [`WebFetch`], [`WebSearch`], [`post_json`] and MCP servers; no terminal, no prompts.

#![forbid(unsafe_code)]

mod address_reach;
mod arguments;
mod bash;
mod bash_output;
mod blocking;
mod call;
mod call_context;
mod call_refusal;
mod call_result;
mod capture;
mod command_sandbox;
mod command_setup;
mod confirmation;
mod edit;
mod editor_files;
mod editor_terminals;
mod exit_note;
mod file_guard;
mod glob;
mod grep;
mod input;
mod kill_shell;
mod more_tools;
mod notebook_edit;
mod observer;
mod orchestrator;
mod output_file;
mod platform;
mod post_json;
mod printed;
mod process;
mod progress;
mod project_file;
mod public_address;
mod read;
mod read_cache;
mod reaper;
mod registry;
mod repair;
mod shell_note;
mod shells;
mod snippet;
mod todo_list;
mod todo_write;
mod tool;
mod tool_result;
mod tool_spec;
mod web_fetch;
mod web_search;
mod write;

pub use address_reach::{AddressReach, PrivateAddress, ReachError};
pub use bash::Bash;
pub use bash_output::BashOutput;
pub use call::CallRunner;
pub use call_context::{CallContext, EditorTools};
pub use call_refusal::CallRefusal;
pub use call_result::CallResult;
pub use command_setup::{CommandLimits, CommandSandbox, CommandSetup};
pub use confirmation::{
    ConfirmationReply, ConfirmationRequest, Confirmer, FileChangePreview, Grant,
};
pub use edit::Edit;
pub use editor_files::{EditorFiles, EditorWrite, EditorWriteError, TextFingerprint};
pub use editor_terminals::{EditorTerminals, TerminalCommand, TerminalEnd, TerminalRun};
pub use exit_note::ExitNote;
pub use file_guard::{FileGuard, FileRoute, FileWriteError, FileWriteOutcome, FileWriter};
pub use glob::Glob;
pub use grep::Grep;
pub use input::parse_input;
pub use kill_shell::KillShell;
pub use more_tools::MoreTools;
pub use notebook_edit::NotebookEdit;
pub use observer::{
    AfterCall, BeforeCall, CallObserver, CallOpinion, CallView, ConfirmationOverride,
};
pub use orchestrator::{CallStatus, MAX_SIDE_BY_SIDE, ResponseState, Scheduled, startable};
pub use output_file::{OutputFile, StoredOutput};
pub use post_json::{PostError, PostResponse, post_json};
pub use process::{
    MODEL_KEYS, PipedProcess, ProcessCommand, ProcessError, ProcessOutput, RunningProcess, output,
    output_and_first_line, output_with_input,
};
pub use progress::CommandProgress;
pub use read::Read;
pub use read_cache::{CachedFile, ReadCache, ReadExtent};
pub use reaper::{Reaper, serve_as_reaper};
pub use registry::ToolSet;
pub use repair::RepairedArguments;
pub use shell_note::{ShellEnd, ShellNote};
pub use shells::{ShellSummary, Shells};
pub use todo_list::{Todo, TodoList, TodoStatus};
pub use todo_write::TodoWrite;
pub use tool::{Forwarded, Tool, definition};
pub use tool_result::{ToolError, ToolOutput};
pub use tool_spec::{ResultLimit, ToolClass, ToolSpec};
pub use web_fetch::WebFetch;
pub use web_search::{SearchApi, SearchServer, ServerWebSearch, WebSearch};
pub use write::Write;
