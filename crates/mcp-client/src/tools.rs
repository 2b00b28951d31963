//! Tools of servers, as the model calls them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use dormouse_conversation::ToolTraits;
use dormouse_conversation::known_tools::MCP_CALL;
use futures_util::future::BoxFuture;
use rmcp::model::JsonObject;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use crate::catalog::OfferedTool;
use crate::server::McpServer;
use crate::tool_name::tool_name;
use dormouse_tools::{
    CallContext, Forwarded, ResultLimit, Tool, ToolClass, ToolError, ToolOutput, ToolSpec,
    parse_input,
};

/// How long a result may be, as for tools of our own.
const RESULT_CHARS: u32 = 50_000;
/// The first line of a description stands for it in a small window, up to here.
const SHORT_CHARS: usize = 200;

/// A tool of a server.
pub(crate) struct McpTool {
    server: Arc<McpServer>,
    /// Its name at the server.
    tool: String,
    spec: ToolSpec,
}

impl McpTool {
    pub(crate) fn new(
        server: Arc<McpServer>,
        tool: String,
        name: String,
        offered: &OfferedTool,
    ) -> Self {
        // A hint decides what may run beside it, never whether it may run.
        let class = if offered.claims_to_read { ToolClass::Parallel } else { ToolClass::Exclusive };
        let spec = ToolSpec {
            name: Cow::Owned(name),
            full: Cow::Owned(offered.description.clone()),
            short: Cow::Owned(short(&offered.description)),
            schema: Cow::Owned(offered.schema.clone()),
            class,
            limit: ResultLimit::Chars(RESULT_CHARS),
            traits: ToolTraits::MCP,
        };
        Self { server, tool, spec }
    }

    /// One of which nothing is known but its name.
    fn unlisted(server: Arc<McpServer>, tool: String) -> Self {
        let spec = ToolSpec {
            name: Cow::Owned(tool_name(&server.spec.name, &tool)),
            full: Cow::Borrowed(""),
            short: Cow::Borrowed(""),
            schema: Cow::Borrowed("{}"),
            class: ToolClass::Exclusive,
            limit: ResultLimit::Chars(RESULT_CHARS),
            traits: ToolTraits::MCP,
        };
        Self { server, tool, spec }
    }

    /// The same, described as a conversation was told.
    pub(crate) fn told_as(mut self, description: &str, schema: &str) -> Self {
        self.spec.full = Cow::Owned(description.to_owned());
        self.spec.schema = Cow::Owned(schema.to_owned());
        self
    }
}

fn short(description: &str) -> String {
    let line = description.lines().next().unwrap_or_default();
    line.chars().take(SHORT_CHARS).collect()
}

impl Tool for McpTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call<'a>(
        &'a self,
        input: &'a RawValue,
        context: &'a CallContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let arguments: JsonObject = parse_input(input)?;
            self.server.call(&self.tool, arguments, &context.cancel).await
        })
    }
}

/// Calls a tool by server and name.
pub(crate) struct McpCall {
    servers: BTreeMap<String, Arc<McpServer>>,
    spec: ToolSpec,
}

#[derive(Deserialize, Serialize)]
struct ForwardedCall {
    server: String,
    tool: String,
    #[serde(default)]
    arguments: JsonObject,
}

impl McpCall {
    pub(crate) fn new(servers: BTreeMap<String, Arc<McpServer>>) -> Self {
        let spec = ToolSpec {
            name: Cow::Borrowed(MCP_CALL.name),
            full: Cow::Borrowed(
                "Calls a tool of an MCP server that is not in your list of tools. Use it only for tools that you were told \
                 of in this conversation as new or changed since the list was made; call all others by their own names.",
            ),
            short: Cow::Borrowed("Calls a tool of an MCP server that came later."),
            schema: Cow::Borrowed(
                r#"{"type":"object","properties":{"server":{"type":"string","description":"The server's name"},"tool":{"type":"string","description":"The tool's name, as you were told it"},"arguments":{"type":"object","description":"Its arguments, as its schema says"}},"required":["server","tool","arguments"],"additionalProperties":false}"#,
            ),
            class: ToolClass::Exclusive,
            limit: ResultLimit::Chars(RESULT_CHARS),
            traits: MCP_CALL.traits,
        };
        Self { servers, spec }
    }
}

impl Tool for McpCall {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// Rules and hooks are about the tool that is called.
    fn called_as(&self, input: &RawValue) -> Cow<'_, str> {
        match serde_json::from_str::<ForwardedCall>(input.get()) {
            Ok(wanted) => Cow::Owned(tool_name(&wanted.server, &wanted.tool)),
            Err(_) => Cow::Borrowed(self.name()),
        }
    }

    /// What cannot be forwarded is for the call itself to complain about.
    fn forwards(&self, input: &RawValue) -> Option<Forwarded> {
        let ForwardedCall { server, tool, arguments } = serde_json::from_str(input.get()).ok()?;
        let server = Arc::clone(self.servers.get(&server)?);
        let input = to_raw_value(&arguments).ok()?;
        Some(Forwarded { tool: Arc::new(McpTool::unlisted(server, tool)), input })
    }

    fn forwarding(&self, input: &RawValue, arguments: Box<RawValue>) -> Box<RawValue> {
        let anew = || {
            let wanted: ForwardedCall = serde_json::from_str(input.get()).ok()?;
            let arguments = serde_json::from_str(arguments.get()).ok()?;
            to_raw_value(&ForwardedCall { arguments, ..wanted }).ok()
        };
        anew().unwrap_or(arguments)
    }

    /// Whoever forwards does not come here with what can be forwarded.
    fn call<'a>(
        &'a self,
        input: &'a RawValue,
        context: &'a CallContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let ForwardedCall { server, tool, arguments } = parse_input(input)?;
            let Some(found) = self.servers.get(&server) else {
                let names: Vec<&str> = self.servers.keys().map(String::as_str).collect();
                return Err(ToolError::Failed {
                    message: format!(
                        "there is no MCP server `{server}`; there are: {}",
                        names.join(", ")
                    ),
                });
            };
            found.call(&tool, arguments, &context.cancel).await
        })
    }
}

/// A tool that calls others, for somebody who may not call all of them.
pub struct RestrictedTool {
    inner: Arc<dyn Tool>,
    allows: Box<dyn Fn(&str) -> bool + Send + Sync>,
}

impl RestrictedTool {
    /// The tool, for calls of those whose names are allowed.
    pub fn new(
        inner: Arc<dyn Tool>,
        allows: impl Fn(&str) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self { inner, allows: Box::new(allows) }
    }
}

impl Tool for RestrictedTool {
    fn spec(&self) -> &ToolSpec {
        self.inner.spec()
    }

    fn called_as(&self, input: &RawValue) -> Cow<'_, str> {
        self.inner.called_as(input)
    }

    fn forwards(&self, input: &RawValue) -> Option<Forwarded> {
        self.inner.forwards(input).filter(|call| self.reaches(call.tool.name()))
    }

    fn forwarding(&self, input: &RawValue, arguments: Box<RawValue>) -> Box<RawValue> {
        self.inner.forwarding(input, arguments)
    }

    fn reaches(&self, name: &str) -> bool {
        (self.allows)(name)
    }

    fn call<'a>(
        &'a self,
        input: &'a RawValue,
        context: &'a CallContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let wanted = self.inner.called_as(input);
            if !self.reaches(&wanted) {
                let message = format!("{wanted} is not among the tools that you may use");
                return Err(ToolError::Failed { message });
            }
            self.inner.call(input, context).await
        })
    }
}
