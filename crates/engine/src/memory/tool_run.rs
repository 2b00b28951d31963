//! How calls of the memory tools run, and how their results read.

use std::fmt::Display;
use std::sync::Arc;

use dormouse_memory::ProposalId;
use dormouse_permissions::{Access, InternalAccess};
use dormouse_tools::{ToolError, ToolOutput};
use futures_util::future::BoxFuture;
use serde_json::value::RawValue;

use super::session_memory::SessionMemory;

/// Memory has a write policy of its own, which plan mode does not replace.
pub(super) const MEMORY_WRITE: Access = Access::Internal(InternalAccess {
    reason: "memory has a write policy of its own",
    denied_in_plan_mode: Some("it writes memory"),
});

/// What a memory tool does with its input.
pub(super) type MemoryToolFunction = fn(&SessionMemory, &RawValue) -> Result<String, ToolError>;

/// Runs a call on a blocking thread: it waits for the disk, and for a lock that another process may hold.
pub(super) fn run_blocking<'a>(
    memory: &Arc<SessionMemory>,
    input: &RawValue,
    run: MemoryToolFunction,
) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
    let memory = Arc::clone(memory);
    let input = input.to_owned();
    Box::pin(async move {
        memory.switch.check()?;
        match tokio::task::spawn_blocking(move || run(&memory, &input)).await {
            Ok(done) => done.map(ToolOutput::text),
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(_) => Err(ToolError::interrupted()),
        }
    })
}

/// The result of a change that waits in the inbox.
pub(super) fn proposal_text(id: ProposalId) -> String {
    format!(
        "not written yet: it is proposal {} in the user's inbox (`dormouse memory inbox`), because it replaces or \
         removes the user's own words, or because the user reviews such changes first",
        id.0
    )
}

pub(super) fn failed(error: impl Display) -> ToolError {
    ToolError::Failed { message: error.to_string() }
}
