//! The model's memory tools: saving and deleting, or file commands, or notes; searching and listing.

use std::path::Path;
use std::sync::Arc;

use dormouse_memory::recall::QuarantineFilter;
use dormouse_memory::{
    FoundMemory, LookupError, MemoryType, NewMemory, ReachableMemories, Saving, Scope,
};
use dormouse_permissions::Access;
use dormouse_tools::{CallContext, Tool, ToolClass, ToolError, ToolOutput, ToolSpec, parse_input};
use futures_util::future::BoxFuture;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::error::SessionMemoryError;
use super::file_tool::MemoryFileTool;
use super::session_memory::SessionMemory;
use super::tool_run::{MEMORY_WRITE, MemoryToolFunction, failed, proposal_text, run_blocking};
use super::tool_specs::{DELETE, LIST, LOG, SAVE, SEARCH};
use super::writing::{MemoryWriteResult, SaveRequest};

/// Results of a search without `max_results`, and the most of one with it.
const DEFAULT_RESULTS: usize = 5;
const MOST_RESULTS: usize = 20;

/// The memory tools of a session.
pub fn memory_tools(memory: &Arc<SessionMemory>) -> Vec<Arc<dyn Tool>> {
    let tool = |spec: &'static ToolSpec, run: MemoryToolFunction| {
        Arc::new(MemoryTool { spec, run, memory: Arc::clone(memory) }) as Arc<dyn Tool>
    };
    let search = tool(&SEARCH, search);
    let list = tool(&LIST, list);
    match memory.saving() {
        Saving::Entries => vec![tool(&SAVE, save), tool(&DELETE, delete), search, list],
        // The file tool reaches the project's memory only: the other scopes need MemoryDelete.
        Saving::Files => {
            vec![Arc::new(MemoryFileTool(Arc::clone(memory))), tool(&DELETE, delete), search, list]
        }
        Saving::DailyLog => vec![tool(&LOG, log), search, list],
    }
}

struct MemoryTool {
    spec: &'static ToolSpec,
    run: MemoryToolFunction,
    memory: Arc<SessionMemory>,
}

impl Tool for MemoryTool {
    fn spec(&self) -> &ToolSpec {
        self.spec
    }

    fn access(&self, _: &RawValue, _: &Path) -> Access {
        match self.spec.class {
            ToolClass::ReadOnly => Access::Reads,
            ToolClass::Parallel | ToolClass::Exclusive => MEMORY_WRITE,
        }
    }

    fn call<'a>(
        &'a self,
        input: &'a RawValue,
        _: &'a CallContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        run_blocking(&self.memory, input, self.run)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SaveInput {
    name: String,
    description: String,
    #[serde(rename = "type")]
    kind: MemoryType,
    content: String,
    scope: Option<Scope>,
    file: Option<String>,
    #[serde(default)]
    quotes: Vec<String>,
    #[serde(default)]
    supersedes: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DeleteInput {
    name: String,
    scope: Option<Scope>,
    reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LogInput {
    note: String,
    scope: Option<Scope>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SearchInput {
    query: String,
    max_results: Option<usize>,
    scope: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListInput {
    scope: Option<String>,
}

fn save(memory: &SessionMemory, input: &RawValue) -> Result<String, ToolError> {
    let input: SaveInput = parse_input(input)?;
    for (field, text) in [("name", &input.name), ("content", &input.content)] {
        if text.trim().is_empty() {
            return Err(ToolError::invalid(format!("`{field}`: is empty")));
        }
    }
    let new = NewMemory::new(&input.name, &input.description, &input.content).with_kind(input.kind);
    let existing = match &input.file {
        Some(file) => {
            let found = memory.memories().find(file, input.scope, QuarantineFilter::Include);
            Some(found.map_err(|error| match error {
                LookupError::Unknown(_) => ToolError::invalid(format!(
                    "`file`: {error}; leave out `file` to make a new one"
                )),
                other => failed(other),
            })?)
        }
        None => None,
    };
    result(memory.save(&SaveRequest {
        memory: &new,
        existing: existing.as_ref(),
        scope: input.scope.unwrap_or(default_scope(memory.memories(), input.kind)),
        supersedes: &input.supersedes,
        quotes: &input.quotes,
    }))
}

/// Memories about the user go to the user's memory, the others to the project's; where there is none, to the first.
fn default_scope(memories: &ReachableMemories, kind: MemoryType) -> Scope {
    let scope = match kind {
        MemoryType::User | MemoryType::Feedback => Scope::User,
        MemoryType::Project | MemoryType::Reference => Scope::Project,
    };
    if memories.store(scope).is_ok() {
        return scope;
    }
    memories.stores().first().map_or(scope, |store| store.scope())
}

fn delete(memory: &SessionMemory, input: &RawValue) -> Result<String, ToolError> {
    let input: DeleteInput = parse_input(input)?;
    let found = memory.memories().find(&input.name, input.scope, QuarantineFilter::Include);
    result(memory.delete(&found.map_err(failed)?, input.reason.as_deref()))
}

fn log(memory: &SessionMemory, input: &RawValue) -> Result<String, ToolError> {
    let input: LogInput = parse_input(input)?;
    memory.add_log_note(input.scope.unwrap_or(Scope::Project), &input.note).map_err(failed)
}

fn result(written: Result<MemoryWriteResult, SessionMemoryError>) -> Result<String, ToolError> {
    match written {
        Ok(MemoryWriteResult::Written(text)) => Ok(text),
        Ok(MemoryWriteResult::Proposed(id)) => Ok(proposal_text(id)),
        Err(error) => Err(failed(error)),
    }
}

fn scope(text: Option<&str>) -> Result<Option<Scope>, ToolError> {
    match text {
        None | Some("all") => Ok(None),
        Some(text) => Scope::from_word(text).map(Some).ok_or_else(|| {
            ToolError::invalid(format!("`scope`: `{text}` is not user, project, team or all"))
        }),
    }
}

fn search(memory: &SessionMemory, input: &RawValue) -> Result<String, ToolError> {
    let input: SearchInput = parse_input(input)?;
    let scope = scope(input.scope.as_deref())?;
    let limit = input.max_results.unwrap_or(DEFAULT_RESULTS).clamp(1, MOST_RESULTS);
    let memories = memory.memories();
    let now = memory.clock().now();
    let ranking = memories.search(&input.query, scope, limit, now);
    let ranking = ranking.map_err(failed)?;
    let found: Vec<FoundMemory> =
        ranking.hits.iter().filter_map(|hit| memories.found(hit)).collect();
    if found.is_empty() {
        return Ok(format!("no memory has any of the words of `{}`", input.query));
    }
    let mut parts: Vec<String> =
        found.iter().map(|found| search_result(memories, found, now)).collect();
    if ranking.omitted > 0 {
        parts.push(format!("[{} more; give `max_results` or more words]", ranking.omitted));
    }
    Ok(parts.join("\n\n"))
}

fn search_result(memories: &ReachableMemories, found: &FoundMemory, now: Timestamp) -> String {
    let line = found.manifest_line(now);
    let path = found.path();
    let caveat = memories.caveat(found, now);
    let caveat = if caveat.is_empty() { caveat } else { format!("\n{caveat}") };
    let preview = found.preview().unwrap_or_else(|error| error.to_string());
    format!("{line}\n{}{caveat}\n{preview}", path.display())
}

fn list(memory: &SessionMemory, input: &RawValue) -> Result<String, ToolError> {
    let input: ListInput = parse_input(input)?;
    let now = memory.clock().now();
    let scope = scope(input.scope.as_deref())?;
    let found = memory.memories().list(scope, QuarantineFilter::Exclude).map_err(failed)?;
    let lines: Vec<String> = found.iter().map(|found| found.manifest_line(now)).collect();
    Ok(if lines.is_empty() { "there are no memories yet".to_owned() } else { lines.join("\n") })
}
