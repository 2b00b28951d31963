//! The model's tools for memory: save and delete, or as files, or note; search, list.

use std::path::Path;
use std::sync::Arc;

use dormouse_memory::{
    Age, Entry, MemoryType, NewMemory, ProposalId, Saving, Scope, manifest_line,
};
use dormouse_permissions::{Access, InternalAccess};
use dormouse_tools::{CallContext, Tool, ToolClass, ToolError, ToolOutput, ToolSpec, parse_input};
use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::file_tool::MemoryFileTool;
use super::saving::SaveRequest;
use super::session_memory::{FoundMemory, MemoryWriteResult, SessionMemory};
use super::tool_specs::{DELETE, LIST, LOG, SAVE, SEARCH};

/// Results of a search unless the call says otherwise.
const USUAL_RESULTS: usize = 5;
const MOST_RESULTS: usize = 20;
/// Of a memory that was found, so much is shown.
const PREVIEW_CHARS: usize = 600;

/// The tools over these stores.
pub fn memory_tools(access: &Arc<SessionMemory>) -> Vec<Arc<dyn Tool>> {
    let tool = |spec: &'static ToolSpec, run: ToolFunction| {
        Arc::new(MemoryTool { spec, run, access: Arc::clone(access) }) as Arc<dyn Tool>
    };
    let (search, list) = (tool(&SEARCH, search), tool(&LIST, list));
    match access.saving() {
        Saving::Entries => vec![tool(&SAVE, save), tool(&DELETE, delete), search, list],
        // What is not the project's, the tool that the model knows does not reach.
        Saving::Files => {
            vec![Arc::new(MemoryFileTool(Arc::clone(access))), tool(&DELETE, delete), search, list]
        }
        Saving::DailyLog => vec![tool(&LOG, log), search, list],
    }
}

pub(super) type ToolFunction = fn(&SessionMemory, &RawValue) -> Result<String, ToolError>;
/// Memory has a write policy of its own, which plan mode does not replace.
pub(super) const MEMORY_WRITE: Access = Access::Internal(InternalAccess {
    reason: "memory has a write policy of its own",
    denied_in_plan_mode: Some("it writes memory"),
});

struct MemoryTool {
    spec: &'static ToolSpec,
    run: ToolFunction,
    access: Arc<SessionMemory>,
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
        run_blocking(&self.access, input, self.run)
    }
}

/// Runs it on a thread of its own. Disk, and a lock that others may hold: the terminal must not stand still
/// meanwhile.
pub(super) fn run_blocking<'a>(
    access: &Arc<SessionMemory>,
    input: &RawValue,
    run: ToolFunction,
) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
    let (access, input) = (Arc::clone(access), input.to_owned());
    Box::pin(async move {
        match tokio::task::spawn_blocking(move || run(&access, &input)).await {
            Ok(done) => done.map(ToolOutput::text),
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(_) => Err(ToolError::interrupted()),
        }
    })
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

fn save(access: &SessionMemory, input: &RawValue) -> Result<String, ToolError> {
    let input: SaveInput = parse_input(input)?;
    for (field, text) in [("name", &input.name), ("content", &input.content)] {
        if text.trim().is_empty() {
            return Err(ToolError::invalid(format!("`{field}`: is empty")));
        }
    }
    let memory =
        NewMemory::new(&input.name, &input.description, &input.content).with_kind(input.kind);
    let onto = match &input.file {
        Some(file) => Some(access.find(file, input.scope).map_err(failed)?),
        None => None,
    };
    answer(access.save(&SaveRequest {
        memory: &memory,
        onto: onto.as_ref(),
        scope: input.scope.unwrap_or(usual_scope(access, input.kind)),
        supersedes: &input.supersedes,
        quotes: &input.quotes,
    }))
}

/// What concerns the person goes with the person.
fn usual_scope(access: &SessionMemory, kind: MemoryType) -> Scope {
    let wanted = match kind {
        MemoryType::User | MemoryType::Feedback => Scope::User,
        MemoryType::Project | MemoryType::Reference => Scope::Project,
    };
    let first = || access.stores().first().map(|store| store.scope());
    if access.store(wanted).is_some() { wanted } else { first().unwrap_or(wanted) }
}

fn delete(access: &SessionMemory, input: &RawValue) -> Result<String, ToolError> {
    let input: DeleteInput = parse_input(input)?;
    let found = access.find(&input.name, input.scope);
    answer(found.and_then(|found| access.delete(&found, input.reason.as_deref())))
}

fn log(access: &SessionMemory, input: &RawValue) -> Result<String, ToolError> {
    let input: LogInput = parse_input(input)?;
    access
        .note(input.scope.unwrap_or(Scope::Project), &input.note)
        .map_err(|message| ToolError::Failed { message })
}

fn answer(done: Result<MemoryWriteResult, String>) -> Result<String, ToolError> {
    match done {
        Ok(MemoryWriteResult::Written(what)) => Ok(what),
        Ok(MemoryWriteResult::Proposed(id)) => Ok(proposed(id)),
        Err(message) => Err(ToolError::Failed { message }),
    }
}

/// What the model is told about a change that waits.
pub(super) fn proposed(id: ProposalId) -> String {
    format!(
        "not written yet: it is proposal {} in the person's inbox (`dormouse memory inbox`), because it replaces or \
         removes something that they wrote, or because they want to see such changes first",
        id.0
    )
}

fn scope(text: Option<&str>) -> Result<Option<Scope>, ToolError> {
    match text {
        None | Some("all") => Ok(None),
        Some(text) => Scope::from_word(text).map(Some).ok_or_else(|| {
            ToolError::invalid(format!("`scope`: `{text}` is not user, project, team or all"))
        }),
    }
}

fn failed(error: impl std::fmt::Display) -> ToolError {
    ToolError::Failed { message: error.to_string() }
}

fn search(access: &SessionMemory, input: &RawValue) -> Result<String, ToolError> {
    let input: SearchInput = parse_input(input)?;
    let only = scope(input.scope.as_deref())?;
    let most = input.max_results.unwrap_or(USUAL_RESULTS).clamp(1, MOST_RESULTS);
    let (hits, more) = access.search(&input.query, only, most).map_err(failed)?;
    if hits.is_empty() {
        return Ok(format!("no memory has any of the words of `{}`", input.query));
    }
    let mut parts: Vec<String> = hits.iter().map(|found| shown(access, found)).collect();
    if more > 0 {
        parts.push(format!("[{more} more; give `max_results` or more words]"));
    }
    Ok(parts.join("\n\n"))
}

/// A memory as a search shows it.
fn shown(access: &SessionMemory, found: &FoundMemory) -> String {
    let now = access.clock().now();
    let changed = found.store.changed_at(&found.memory);
    let line = manifest_line(&found.memory, found.store.scope(), changed, now);
    let path = found.store.dir().path().join(found.memory.file.as_str());
    let body = match found.store.read(&found.memory.file) {
        Ok((bytes, _)) => Entry::read(&bytes, found.memory.size).body,
        Err(error) => error.to_string(),
    };
    let preview: String = body.trim().chars().take(PREVIEW_CHARS).collect();
    let more = if preview.len() < body.trim().len() { " […]" } else { "" };
    let caveat = Age::between(changed, now).caveat().map(|caveat| format!("\n{caveat}"));
    format!("{line}\n{}{}\n{preview}{more}", path.display(), caveat.unwrap_or_default())
}

fn list(access: &SessionMemory, input: &RawValue) -> Result<String, ToolError> {
    let input: ListInput = parse_input(input)?;
    let now = access.clock().now();
    let found = access.all(scope(input.scope.as_deref())?).map_err(failed)?;
    let lines: Vec<String> = found
        .iter()
        .filter(|found| !found.memory.header.quarantined)
        .map(|found| {
            let changed = found.store.changed_at(&found.memory);
            manifest_line(&found.memory, found.store.scope(), changed, now)
        })
        .collect();
    Ok(if lines.is_empty() { "there are no memories yet".to_owned() } else { lines.join("\n") })
}
