//! What a tool is: its name, its texts for the model, its schema, its class, and a call.
//!
//! A tool is an object, because those of MCP servers come at run time. It bounds its own work and
//! watches the cancellation token; whoever calls it decides whether it may run at all.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dormouse_base::{Environment, Redactor};
use dormouse_conversation::{Block, PromptSize, ResultContent, ServerTool, ToolDefinition};
use dormouse_permissions::{Access, HostPattern, PermissionRequest, WriteTargetError};
use futures_util::future::{BoxFuture, ready};
use serde::Deserialize;
use serde_json::value::RawValue;
use thiserror::Error;
use tokio_util::sync::CancellationToken;

use crate::{
    CommandProgress, FileChangePreview, FileGuard, OutputFile, ReadCache, Reaper, Shells,
    StoredOutput, TodoList,
};

/// What a call may do to the world, and so what may run beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolClass {
    /// Changes nothing, and is safe to run beside others of its kind.
    ReadOnly,
    /// Starts once the whole answer is there, and runs beside others of its kind and those that only read.
    Parallel,
    /// Runs alone, in its turn.
    Exclusive,
}

/// The access of a tool that writes its `file_path`.
pub(crate) fn file_access(input: &RawValue, folder: &Path) -> Access {
    match named_file(input) {
        Some(file) => Access::Writes(folder.join(file)),
        None => Access::Other,
    }
}

/// The `file_path` of a call's arguments.
pub(crate) fn named_file(input: &RawValue) -> Option<PathBuf> {
    #[derive(Deserialize)]
    struct FileArgument {
        file_path: PathBuf,
    }
    serde_json::from_str::<FileArgument>(input.get()).ok().map(|argument| argument.file_path)
}

/// The file or folder that a call's arguments name.
fn named_path(input: &RawValue) -> Option<PathBuf> {
    #[derive(Deserialize)]
    struct PathArguments {
        file_path: Option<PathBuf>,
        path: Option<PathBuf>,
    }
    let arguments: PathArguments = serde_json::from_str(input.get()).ok()?;
    arguments.file_path.or(arguments.path)
}

/// How long a tool's result may be before it is stored in a file and shown in part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultLimit {
    /// The tool bounds itself; its results are never stored.
    OwnBound,
    /// At most this many characters.
    Chars(u32),
}

/// How long a command of the model's may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommandLimits {
    /// Where the call does not say.
    pub default: Duration,
    /// The longest a call may ask for.
    pub most: Duration,
}

impl Default for CommandLimits {
    fn default() -> Self {
        Self { default: Duration::from_mins(2), most: Duration::from_mins(10) }
    }
}

/// What a call is given besides its arguments.
#[derive(Debug, Clone)]
pub struct CallContext {
    /// The working directory: absolute; relative paths start here.
    pub folder: PathBuf,
    /// The environment that children inherit, less the model's keys.
    pub environment: Environment,
    /// Fires when the call is to stop.
    pub cancel: CancellationToken,
    /// What the conversation has read so far.
    pub read_cache: Arc<Mutex<ReadCache>>,
    /// The most tokens one Read may return: `Budget::read_tokens`.
    pub read_tokens: u32,
    /// Who says which files may be written, besides the gate.
    pub file_guard: Option<Arc<dyn FileGuard>>,
    /// The list that `TodoWrite` keeps.
    pub todos: Arc<Mutex<TodoList>>,
    /// Who sees to it that commands end with the program.
    pub reaper: Reaper,
    /// How long commands may take.
    pub commands: CommandLimits,
    /// Commands that run in the background.
    pub shells: Arc<Shells>,
    /// Where this call may put a result that is too long to hold.
    pub overflow: Option<OutputFile>,
    /// Takes secrets out of what is shown or stored before the call is over.
    pub redactor: Redactor,
    /// Who is shown what a running command prints.
    pub progress: Option<Arc<dyn CommandProgress>>,
    /// Hosts that a rule of the person's names: they may be in a private network.
    pub private_hosts: Vec<HostPattern>,
}

impl CallContext {
    /// A context with an empty cache and a token of its own.
    pub fn new(folder: impl Into<PathBuf>, environment: Environment, read_tokens: u32) -> Self {
        Self {
            folder: folder.into(),
            environment,
            cancel: CancellationToken::new(),
            read_cache: Arc::default(),
            read_tokens,
            file_guard: None,
            todos: Arc::default(),
            reaper: Reaper::none(),
            commands: CommandLimits::default(),
            shells: Arc::default(),
            overflow: None,
            redactor: Redactor::default(),
            progress: None,
            private_hosts: Vec::new(),
        }
    }
}

/// What a call answers.
#[derive(Debug, Clone)]
pub struct ToolOutput {
    /// What the model reads; empty where it is stored already.
    pub content: ResultContent,
    /// The file in which the result is, where it was too long to hold.
    pub spilled: Option<StoredOutput>,
    /// Whether it is told as an error all the same, as of a command that was ended.
    pub is_error: bool,
    /// Why the turn is to end with this call, where it is: nobody is asked for more.
    pub halt: Option<String>,
}

impl ToolOutput {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::of(ResultContent::Text(text.into()))
    }

    /// Blocks, such as a picture.
    pub fn blocks(blocks: Vec<Block>) -> Self {
        Self::of(ResultContent::Blocks(blocks))
    }

    /// A result that is in a file already.
    pub fn spilled(spilled: StoredOutput) -> Self {
        Self { spilled: Some(spilled), ..Self::text("") }
    }

    fn of(content: ResultContent) -> Self {
        Self { content, spilled: None, is_error: false, halt: None }
    }
}

/// Why a call did not succeed. The model reads the message.
#[derive(Debug, Error)]
pub enum ToolError {
    /// The arguments do not fit the schema.
    #[error("the arguments do not fit: {problem}")]
    InvalidInput {
        /// The field, and what was expected.
        problem: String,
    },
    /// There is no such file or folder.
    #[error("{} does not exist; {hint}", path.display())]
    NotFound {
        /// What was looked for.
        path: PathBuf,
        /// What to try instead.
        hint: String,
    },
    /// There is such a file, but it is nothing this tool handles.
    #[error("{} {reason}", path.display())]
    Refused {
        /// The file.
        path: PathBuf,
        /// What it is, and what to do instead.
        reason: String,
    },
    /// The system would not read it.
    #[error("can not read {}: {source}", path.display())]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// What the system answered.
        #[source]
        source: io::Error,
    },
    /// The system would not write it. It is as it was.
    #[error("can not write {}: {source}", path.display())]
    Unwritable {
        /// The file or folder.
        path: PathBuf,
        /// What the system answered.
        #[source]
        source: io::Error,
    },
    /// The call was stopped from outside.
    #[error("interrupted: the call was stopped before it finished{}", after_newline(partial))]
    Interrupted {
        /// What there was until then; may be empty.
        partial: String,
    },
    /// Anything else, told in full.
    #[error("{message}")]
    Failed {
        /// What, why, and what to do.
        message: String,
    },
}

impl ToolError {
    /// Arguments that do not fit.
    pub fn invalid(problem: impl Into<String>) -> Self {
        Self::InvalidInput { problem: problem.into() }
    }

    /// Stopped with nothing to show.
    pub fn interrupted() -> Self {
        Self::Interrupted { partial: String::new() }
    }
}

impl From<WriteTargetError> for ToolError {
    fn from(error: WriteTargetError) -> Self {
        match error {
            WriteTargetError::Invalid { .. } => Self::invalid(error.to_string()),
            WriteTargetError::Unresolvable { path, reason } => {
                Self::Refused { path, reason: reason.to_owned() }
            }
            WriteTargetError::System { path, source } => Self::Unwritable { path, source },
        }
    }
}

fn after_newline(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("\n{text}") }
}

/// What a tool says of itself. Owned where it comes at run time, from a server.
#[derive(Debug, Clone)]
pub struct ToolSpec {
    /// The name the model calls it by.
    pub name: Cow<'static, str>,
    /// What it does, how and when to use it.
    pub full: Cow<'static, str>,
    /// The same in one line, for a small window.
    pub short: Cow<'static, str>,
    /// The JSON schema of its arguments, as text.
    pub schema: Cow<'static, str>,
    /// What may run beside it.
    pub class: ToolClass,
    /// How long its results may be.
    pub limit: ResultLimit,
    /// How the rest of the program treats it.
    pub traits: ToolTraits,
}

/// How the rest of the program treats a tool, whatever the arguments of a call are.
#[derive(Debug, Clone, Copy)]
pub struct ToolTraits {
    /// The tool whose permission rules cover this one as well.
    pub rule_family: Option<&'static str>,
    /// Whether it belongs to MCP servers, whose tools may change during a session.
    pub is_mcp: bool,
}

impl ToolTraits {
    /// A tool about which nothing special is known.
    pub const DEFAULT: Self = Self { rule_family: None, is_mcp: false };
}

/// A call that another stands for.
pub struct Forwarded {
    /// What is really called.
    pub tool: Arc<dyn Tool>,
    /// With what.
    pub input: Box<RawValue>,
}

/// Something the model can call.
pub trait Tool: Send + Sync {
    /// What the model and the program are told of it.
    fn spec(&self) -> &ToolSpec;

    /// The name the model calls it by.
    fn name(&self) -> &str {
        &self.spec().name
    }

    /// The name by which rules and hooks know a call with these arguments: another, where the call is made for another tool.
    fn called_as(&self, _input: &RawValue) -> Cow<'_, str> {
        Cow::Borrowed(self.name())
    }

    /// The call that a call with these arguments is made for: hooks, rules and the person are about that one.
    fn forwards(&self, _input: &RawValue) -> Option<Forwarded> {
        None
    }

    /// A call like this one, which forwards these arguments.
    fn forwarding(&self, _input: &RawValue, arguments: Box<RawValue>) -> Box<RawValue> {
        arguments
    }

    /// Whether the tool of that name may be called through this one, where this one calls others.
    fn reaches(&self, _name: &str) -> bool {
        true
    }

    /// What may run beside it.
    fn class(&self) -> ToolClass {
        self.spec().class
    }

    /// How long its results may be.
    fn result_limit(&self) -> ResultLimit {
        self.spec().limit
    }

    /// What model servers know it as, where they define it; none for a tool of our own.
    fn known_as(&self) -> Option<ServerTool> {
        None
    }

    /// What a call with these arguments would touch; `folder` is where relative paths start.
    fn access(&self, _input: &RawValue, _folder: &Path) -> Access {
        match self.class() {
            ToolClass::ReadOnly => Access::Reads,
            ToolClass::Parallel | ToolClass::Exclusive => Access::Other,
        }
    }

    /// What the permission gate has to decide about for a call with these arguments.
    fn permission_request(&self, input: &RawValue, folder: &Path) -> PermissionRequest {
        PermissionRequest::new(self.called_as(input), self.access(input, folder), folder)
            .with_path(named_path(input))
            .with_rule_family(self.spec().traits.rule_family)
    }

    /// The one file that a call is about, as its arguments name it; none for tools that are about more.
    fn file(&self, _input: &RawValue) -> Option<PathBuf> {
        None
    }

    /// What a call would make of a file, for the person who is asked; an error if it would fail.
    fn change<'a>(
        &'a self,
        _input: &'a RawValue,
        _context: &'a CallContext,
    ) -> BoxFuture<'a, Result<Option<FileChangePreview>, ToolError>> {
        Box::pin(ready(Ok(None)))
    }

    /// Does it. `input` is a JSON object.
    fn call<'a>(
        &'a self,
        input: &'a RawValue,
        context: &'a CallContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>>;
}

/// What stands in for a schema that is not JSON: any object.
const ANY_OBJECT: &str = r#"{"type":"object"}"#;

/// A tool as the model is told of it.
pub fn definition(tool: &dyn Tool, size: PromptSize) -> ToolDefinition {
    let spec = tool.spec();
    let (description, schema) = match size {
        PromptSize::Full => (&spec.full, spec.schema.clone().into_owned()),
        PromptSize::Short => (&spec.short, without_descriptions(&spec.schema)),
    };
    let input_schema = RawValue::from_string(schema)
        .or_else(|_| RawValue::from_string(ANY_OBJECT.to_owned()))
        .unwrap_or_default();
    ToolDefinition {
        server_tool: tool.known_as(),
        name: spec.name.clone().into_owned(),
        description: description.clone().into_owned(),
        input_schema,
    }
}

/// A schema for a small window: names and types say enough.
fn without_descriptions(schema: &str) -> String {
    fn strip(value: &mut serde_json::Value) {
        match value {
            serde_json::Value::Object(fields) => {
                // A property may be called so as well; that one is no text.
                if fields.get("description").is_some_and(serde_json::Value::is_string) {
                    fields.remove("description");
                }
                fields.values_mut().for_each(strip);
            }
            serde_json::Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    match serde_json::from_str(schema) {
        Ok(mut value) => {
            strip(&mut value);
            value.to_string()
        }
        Err(_) => schema.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_schema_keeps_names_and_types() {
        let short = definition(&crate::Bash, PromptSize::Short);
        let schema = short.input_schema.get();
        assert!(schema.contains(r#""description":{"type":"string"}"#), "{schema}");
        assert!(!schema.contains("as bash reads it"), "{schema}");
    }

    #[test]
    fn an_interrupted_call_shows_what_there_was() {
        let bare = "interrupted: the call was stopped before it finished";
        assert_eq!(ToolError::interrupted().to_string(), bare);
        let partial = ToolError::Interrupted { partial: "one\n".into() };
        assert_eq!(partial.to_string(), format!("{bare}\none\n"));
    }
}
