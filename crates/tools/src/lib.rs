//! The tools the model calls, how their calls are scheduled and guarded, and the one door to child
//! processes.
//!
//! Invariants: nothing starts a process but [`process`](output) here, always in a group of its own and
//! without the model's keys; every result is bounded and says what it left out; a tool that fails or
//! panics becomes an error result and never ends the program. No network, no terminal, no prompts.

#![forbid(unsafe_code)]

mod bash;
mod blocking;
mod call;
mod capture;
mod gate;
mod glob;
mod input;
mod nearest;
mod orchestrator;
mod process;
mod read;
mod read_cache;
mod registry;
mod tool;

pub use bash::Bash;
pub use call::{CallResult, INVALID_JSON_KEY, run_call};
pub use gate::{Gate, Verdict};
pub use glob::Glob;
pub use input::parse_input;
pub use orchestrator::{CallStatus, MAX_SIDE_BY_SIDE, ResponseState, Scheduled, startable};
pub use process::{ProcessError, ProcessOutput, output};
pub use read::Read;
pub use read_cache::{CachedFile, Extent, ReadCache};
pub use registry::ToolSet;
pub use tool::{CallContext, ResultLimit, Tool, ToolClass, ToolError, ToolOutput, definition};
