//! The trait of all tools, and a tool's definition for the model.
//!
//! A tool is an object, because those of MCP servers come at run time. It bounds its own work and stops when its call is
//! cancelled. Whether a call may run is decided by its caller.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dormouse_conversation::{PromptSize, RawFields, ServerTool, ToolDefinition};
use dormouse_permissions::{Access, PermissionRequest};
use futures_util::future::{BoxFuture, ready};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::call_context::CallContext;
use crate::confirmation::FileChangePreview;
use crate::tool_result::{ToolError, ToolOutput};
use crate::tool_spec::{ResultLimit, ToolClass, ToolSpec};

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

/// The call that another call is made for.
pub struct Forwarded {
    /// The tool that is really called.
    pub tool: Arc<dyn Tool>,
    /// Its arguments.
    pub input: Box<RawValue>,
}

/// A tool that the model can call.
pub trait Tool: Send + Sync {
    /// Its fixed properties.
    fn spec(&self) -> &ToolSpec;

    /// The name by which the model calls it.
    fn name(&self) -> &str {
        &self.spec().name
    }

    /// The name by which rules and hooks know a call with these arguments: another one if the call is made for another
    /// tool.
    fn called_as(&self, _input: &RawValue) -> Cow<'_, str> {
        Cow::Borrowed(self.name())
    }

    /// The call that a call with these arguments is made for: hooks, rules and confirmations are about that one.
    fn forwards(&self, _input: &RawValue) -> Option<Forwarded> {
        None
    }

    /// The arguments of a call of this tool that forwards `arguments`.
    fn forwarding(&self, _input: &RawValue, arguments: Box<RawValue>) -> Box<RawValue> {
        arguments
    }

    /// Whether the tool of that name may be called through this one, if this one calls others.
    fn reaches(&self, _name: &str) -> bool {
        true
    }

    /// Which other calls may run at the same time as a call with these arguments.
    fn class(&self, _input: &RawValue) -> ToolClass {
        self.spec().class
    }

    /// The size above which its results are stored.
    fn result_limit(&self) -> ResultLimit {
        self.spec().limit
    }

    /// The tool of the model's server that it stands for; none for the program's own tools.
    fn known_as(&self) -> Option<ServerTool> {
        None
    }

    /// What a call with these arguments would access; relative paths start in `folder`.
    fn access(&self, _input: &RawValue, _folder: &Path) -> Access {
        match self.spec().class {
            ToolClass::ReadOnly => Access::Reads,
            ToolClass::Parallel | ToolClass::Exclusive => Access::Other,
        }
    }

    /// The request to the permission gate for a call with these arguments.
    fn permission_request(&self, input: &RawValue, folder: &Path) -> PermissionRequest {
        let request =
            PermissionRequest::new(self.called_as(input), self.access(input, folder), folder)
                .with_path(named_path(input))
                .with_rule_family(self.spec().traits.rule_family);
        if self.searches() { request.as_search() } else { request }
    }

    /// Whether a call reads the files below the folder that it names.
    fn searches(&self) -> bool {
        false
    }

    /// The one file that a call is about, as its arguments name it; none for tools that handle more than one.
    fn file(&self, _input: &RawValue) -> Option<PathBuf> {
        None
    }

    /// Whether a call replaces a file whole, and may so lose what it does not repeat.
    fn replaces_file(&self) -> bool {
        false
    }

    /// The change that a call would make to a file, for the permission prompt; an error if the call would fail.
    fn change<'a>(
        &'a self,
        _input: &'a RawValue,
        _context: &'a CallContext,
    ) -> BoxFuture<'a, Result<Option<FileChangePreview>, ToolError>> {
        Box::pin(ready(Ok(None)))
    }

    /// Runs a call. `input` is a JSON object.
    fn call<'a>(
        &'a self,
        input: &'a RawValue,
        context: &'a CallContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>>;
}

/// Replaces a schema that is not JSON: any object.
const ANY_OBJECT: &str = r#"{"type":"object"}"#;

/// The definition of a tool for the model.
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

/// The schema for small context windows: names and types are enough. Properties stay in the order of the schema, because models
/// write arguments in it: what Edit looks for comes before what takes its place.
fn without_descriptions(schema: &str) -> String {
    if let Ok(RawFields(fields)) = serde_json::from_str(schema) {
        // A property may have this name as well; its value is an object.
        let is_kept = |(name, value): &&(String, &RawValue)| {
            name != "description" || !value.get().starts_with('"')
        };
        let written = |(name, value): &(String, &RawValue)| {
            let name = serde_json::Value::from(name.as_str());
            format!("{name}:{}", without_descriptions(value.get()))
        };
        let fields: Vec<String> = fields.iter().filter(is_kept).map(written).collect();
        return format!("{{{}}}", fields.join(","));
    }
    match serde_json::from_str::<Vec<&RawValue>>(schema) {
        Ok(items) => {
            let items: Vec<String> =
                items.iter().map(|item| without_descriptions(item.get())).collect();
            format!("[{}]", items.join(","))
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
        assert!(!schema.contains("The command line"), "{schema}");
        let edit = definition(&crate::Edit, PromptSize::Short);
        let at = |name: &str| edit.input_schema.get().find(name).unwrap();
        assert!(at("\"file_path\"") < at("\"old_string\""));
        assert!(at("\"old_string\"") < at("\"new_string\""));
    }
}
