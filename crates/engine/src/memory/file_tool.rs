//! The memory tool that some models are trained on: the project's memory as files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dormouse_conversation::ServerTool;
use dormouse_memory::file_commands::{self, ChangeNotMade, CommandWriter, PlanBuilder};
use dormouse_memory::recall::QuarantineFilter;
use dormouse_memory::{MemoryFile, Scope, Store};
use dormouse_permissions::Access;
use dormouse_tools::{CallContext, Tool, ToolError, ToolOutput, ToolSpec};
use futures_util::future::BoxFuture;
use serde_json::Value;
use serde_json::value::RawValue;

use super::session_memory::SessionMemory;
use super::tool_run::{MEMORY_WRITE, failed, proposal_text, run_blocking};
use super::tool_specs::FILES;
use super::writing::MemoryWriteResult;

/// The tool over the project's memory.
pub(super) struct MemoryFileTool(pub(super) Arc<SessionMemory>);

impl Tool for MemoryFileTool {
    fn spec(&self) -> &ToolSpec {
        &FILES
    }

    fn known_as(&self) -> Option<ServerTool> {
        Some(ServerTool::Memory)
    }

    fn access(&self, input: &RawValue, _: &Path) -> Access {
        let looks = parsed(input).is_some_and(|input| file_commands::only_reads(&input));
        if looks { Access::Reads } else { MEMORY_WRITE }
    }

    fn call<'a>(
        &'a self,
        input: &'a RawValue,
        _: &'a CallContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        run_blocking(&self.0, input, run)
    }
}

fn parsed(input: &RawValue) -> Option<Value> {
    serde_json::from_str(input.get()).ok()
}

fn run(memory: &SessionMemory, input: &RawValue) -> Result<String, ToolError> {
    // Input that is no JSON does not fit the schema either, and is reported as such.
    let input = parsed(input).unwrap_or_default();
    let memories = memory.memories();
    let no_memory = |error: &dyn std::fmt::Display| failed(format!("Error: {error}"));
    let store = memories.store(Scope::Project).map_err(|error| no_memory(&error))?;
    let scan = memories.scan(Scope::Project, QuarantineFilter::Exclude);
    let scan = scan.map_err(|error| no_memory(&error))?;
    let done = file_commands::run(store, scan, &ModelWriter { memory, store }, &input);
    done.map_err(failed)
}

/// The file on disk that a command is about.
pub(crate) fn file_of_command(input: &str, memory: &SessionMemory) -> Option<PathBuf> {
    let file: MemoryFile = file_commands::touched(&serde_json::from_str(input).ok()?)?;
    let store = memory.memories().store(Scope::Project).ok()?;
    Some(store.dir().path().join(file.as_str()))
}

/// Makes changes as the model, with the messages that its words came from.
struct ModelWriter<'a> {
    memory: &'a SessionMemory,
    store: &'a Arc<Store>,
}

impl CommandWriter for ModelWriter<'_> {
    fn change(
        &self,
        words: &str,
        reason: &str,
        build: PlanBuilder<'_>,
    ) -> Result<(), ChangeNotMade> {
        let outcome = self.store.change(&self.memory.by_model(words, reason), build)?;
        let written = self.memory.finish(self.store, Ok(outcome));
        match written.map_err(|error| ChangeNotMade::Withheld(error.to_string()))? {
            MemoryWriteResult::Written(_) => Ok(()),
            MemoryWriteResult::Proposed(id) => Err(ChangeNotMade::Withheld(proposal_text(id))),
        }
    }
}
