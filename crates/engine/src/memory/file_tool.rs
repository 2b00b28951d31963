//! The memory tool that some models know: memory as files, by the model's own hand in this session.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dormouse_conversation::ServerTool;
use dormouse_memory::file_commands::{self, Build, Hand, NotMade};
use dormouse_memory::{MemoryFile, ScanCache, Scope, Store};
use dormouse_permissions::Access;
use dormouse_tools::{CallContext, Tool, ToolError, ToolOutput, ToolSpec};
use futures_util::future::BoxFuture;
use serde_json::Value;
use serde_json::value::RawValue;

use super::SessionMemory;
use super::session_memory::MemoryWriteResult;
use super::tool_specs::FILES;
use super::tools::{MEMORY_WRITE, proposed, run_blocking};

/// The tool, over the project's memory.
pub(super) struct MemoryFileTool(pub(super) Arc<SessionMemory>);

impl Tool for MemoryFileTool {
    fn spec(&self) -> &ToolSpec {
        &FILES
    }

    fn known_as(&self) -> Option<ServerTool> {
        Some(ServerTool::Memory)
    }

    fn access(&self, input: &RawValue, _: &Path) -> Access {
        let looks = parsed(input).is_some_and(|input| file_commands::only_looks(&input));
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

fn run(access: &SessionMemory, input: &RawValue) -> Result<String, ToolError> {
    // What is no JSON at all does not fit either, and is told so.
    let input = parsed(input).unwrap_or_default();
    let done = directory(access).and_then(|store| {
        let scan = store.scan(&mut ScanCache::default()).map_err(|error| error.to_string())?;
        file_commands::run(store, scan, &ModelHand { access, store }, &input)
    });
    done.map_err(|message| ToolError::Failed { message })
}

/// The directory that the tool calls `/memories`.
fn directory(access: &SessionMemory) -> Result<&Arc<Store>, String> {
    access
        .store(Scope::Project)
        .ok_or_else(|| "Error: there is no `project` memory here".to_owned())
}

/// The file on disk that a command is about.
pub(crate) fn file_of_command(input: &str, access: &SessionMemory) -> Option<PathBuf> {
    let file: MemoryFile = file_commands::touched(&serde_json::from_str(input).ok()?)?;
    Some(directory(access).ok()?.dir().path().join(file.as_str()))
}

/// The model's: with the messages that its words came from, and the person to ask.
struct ModelHand<'a> {
    access: &'a SessionMemory,
    store: &'a Arc<Store>,
}

impl Hand for ModelHand<'_> {
    fn change(&self, words: &str, reason: &str, build: Build<'_>) -> Result<(), NotMade> {
        let outcome = self.store.change(&self.access.by(words, reason), build)?;
        match self.access.done(self.store, Ok(outcome)).map_err(NotMade::Withheld)? {
            MemoryWriteResult::Written(_) => Ok(()),
            MemoryWriteResult::Proposed(id) => Err(NotMade::Withheld(proposed(id))),
        }
    }
}
