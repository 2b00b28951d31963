//! The MCP servers of a conversation, as its hooks call them.

use std::sync::Arc;

use dormouse_conversation::{Block, ResultContent};
use dormouse_hooks::{HookServers, HookToolError};
use dormouse_mcp_client::McpHub;
use futures_util::future::BoxFuture;
use serde_json::{Map, Value};

/// Calls tools for hooks. Nobody is asked: whoever set the hook up has decided.
#[derive(Debug)]
pub(crate) struct ServersOfHooks(pub(crate) Arc<McpHub>);

impl HookServers for ServersOfHooks {
    fn call_tool<'a>(
        &'a self,
        server: &'a str,
        tool: &'a str,
        arguments: Map<String, Value>,
    ) -> BoxFuture<'a, Result<String, HookToolError>> {
        Box::pin(async move {
            let called = self.0.call(server, tool, arguments).await;
            let output = called.ok_or_else(|| HookToolError::NoServer(server.to_owned()))?;
            let output = output.map_err(|error| HookToolError::Failed(error.to_string()))?;
            let text = match output.content {
                ResultContent::Text(text) => text,
                ResultContent::Blocks(blocks) => {
                    let texts: Vec<String> = blocks.iter().filter_map(Block::as_text).collect();
                    texts.join("\n")
                }
            };
            if output.is_error { Err(HookToolError::Failed(text)) } else { Ok(text) }
        })
    }
}
