//! `MoreTools`: describes the tools that are seldom needed, so that their definitions need not be in every request.
//!
//! A call with `arguments` never arrives here: its block is read as a call of the tool that it names (`Block::as_tool_use`).
//! The list of tools stays as it was sent, because another list would change the cached prefix.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use dormouse_conversation::known_tools::MORE_TOOLS;
use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    CallContext, ResultLimit, Tool, ToolClass, ToolError, ToolOutput, ToolSpec, parse_input,
};

/// The tool that describes others. See the module.
pub struct MoreTools {
    tools: BTreeMap<String, Arc<dyn Tool>>,
    spec: ToolSpec,
}

#[derive(Deserialize)]
struct Input {
    tool: String,
    arguments: Option<serde_json::Value>,
}

impl MoreTools {
    /// For these tools, by name.
    pub fn new(tools: BTreeMap<String, Arc<dyn Tool>>) -> Self {
        let lines: Vec<String> = tools
            .values()
            .map(|tool| format!("- {}: {}", tool.name(), tool.spec().short))
            .collect();
        let names: Vec<String> = tools.keys().map(|name| format!("\"{name}\"")).collect();
        let full = format!(
            "Calls a tool that is seldom needed:\n{}\n\nWith `tool` alone it describes the tool and its arguments; with \
             `arguments` it calls the tool.",
            lines.join("\n")
        );
        let schema = format!(
            r#"{{"type":"object","properties":{{"tool":{{"type":"string","enum":[{}],"description":"Its name."}},"arguments":{{"type":"object","description":"Its arguments; leave them out to be told which."}}}},"required":["tool"],"additionalProperties":false}}"#,
            names.join(",")
        );
        let spec = ToolSpec {
            name: Cow::Borrowed(MORE_TOOLS.name),
            full: Cow::Owned(full),
            short: Cow::Borrowed("Calls a tool that is seldom needed."),
            schema: Cow::Owned(schema),
            class: ToolClass::ReadOnly,
            limit: ResultLimit::OwnBound,
            traits: MORE_TOOLS.traits,
        };
        Self { tools, spec }
    }

    fn describe(&self, name: &str) -> Result<String, ToolError> {
        let Some(tool) = self.tools.get(name) else {
            let names: Vec<&str> = self.tools.keys().map(String::as_str).collect();
            return Err(ToolError::invalid(format!(
                "`tool`: there is no `{name}` here; there are {}",
                names.join(", ")
            )));
        };
        let spec = tool.spec();
        Ok(format!(
            "{name}: {}\n\nSchema of its arguments: {}\n\nCall it with {} {{\"tool\":\"{name}\",\"arguments\":{{…}}}}.",
            spec.full, spec.schema, MORE_TOOLS.name
        ))
    }
}

impl Tool for MoreTools {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call<'a>(
        &'a self,
        input: &'a RawValue,
        _context: &'a CallContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let Input { tool, arguments } = parse_input(input)?;
            let description = self.describe(&tool)?;
            match arguments {
                None => Ok(ToolOutput::text(description)),
                Some(_) => Err(ToolError::invalid(format!(
                    "`arguments`: give them as a JSON object, not as text. {description}"
                ))),
            }
        })
    }
}
