//! What stands in front of every conversation: system prompt, tools, first user message.
//!
//! A prefix is built once and cannot be changed, only replaced by another. It is stored in the
//! transcript each time it is built, so that a resumed session sends the same bytes.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::block::Block;
use crate::facts::EnvironmentFacts;
use crate::tokens::{estimate_json, estimate_text};

/// A block of the system prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SystemBlock {
    /// Its text.
    pub text: String,
    /// Whether it is the same for every user and project. Static blocks come first.
    #[serde(rename = "static")]
    pub is_static: bool,
}

/// A tool that servers define. A model that knows it is told its type and nothing more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ServerTool {
    /// File commands on a memory directory, carried out by the client.
    #[serde(rename = "memory_20250818")]
    Memory,
    /// A web search that the server carries out.
    #[serde(rename = "web_search_20250305")]
    WebSearch,
}

impl ServerTool {
    /// Whether the server carries calls out, so that it is of no use to a server that does not know it.
    pub const fn runs_at_server(self) -> bool {
        matches!(self, Self::WebSearch)
    }
}

/// A tool as the model sees it. One that servers define is described all the same: the conversation may go on
/// with a model that has to be told.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ToolDefinition {
    /// What servers know it as; none for a tool of our own.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub server_tool: Option<ServerTool>,
    /// Its name.
    pub name: String,
    /// What it does and how to use it.
    pub description: String,
    /// The JSON schema of its arguments.
    pub input_schema: Box<RawValue>,
}

/// Which model a prefix was built for, and where that is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrefixOrigin {
    /// The model, as it was asked for.
    pub model: String,
    /// The server's address.
    pub server: String,
    /// The longest answer asked for: it stands in front of the messages, and so must stay.
    #[serde(default)]
    pub max_tokens: Option<u32>,
}

/// The prefix, frozen.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Prefix {
    system: Vec<SystemBlock>,
    tools: Vec<ToolDefinition>,
    first: Vec<Block>,
    facts: EnvironmentFacts,
}

impl Prefix {
    /// Freezes a prefix. Static blocks are put in front; tools stay in their order, which must not change from run to run.
    pub fn new(
        mut system: Vec<SystemBlock>,
        tools: Vec<ToolDefinition>,
        first: Vec<Block>,
        facts: EnvironmentFacts,
    ) -> Arc<Self> {
        system.sort_by_key(|block| !block.is_static);
        Arc::new(Self { system, tools, first, facts })
    }

    /// The system prompt.
    pub fn system(&self) -> &[SystemBlock] {
        &self.system
    }

    /// The tools.
    pub fn tools(&self) -> &[ToolDefinition] {
        &self.tools
    }

    /// What is injected in front of the first user message.
    pub fn opening_blocks(&self) -> &[Block] {
        &self.first
    }

    /// What it says about a changing environment.
    pub fn facts(&self) -> &EnvironmentFacts {
        &self.facts
    }

    /// The tokens it takes, estimated.
    pub fn tokens(&self) -> u64 {
        let system = self.system.iter().map(|block| estimate_text(&block.text));
        let tools = self.tools.iter().map(|tool| {
            estimate_text(&tool.description).saturating_add(estimate_json(tool.input_schema.get()))
        });
        let first = self.first.iter().map(Block::tokens);
        system.chain(tools).chain(first).map(u64::from).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes of a session's prefix are sent again when it continues, whichever version wrote them.
    #[test]
    fn a_stored_tool_stays_as_it_is() {
        for stored in [
            r#"{"name":"Read","description":"reads","input_schema":{"b":1.10,"a":{}}}"#,
            r#"{"type":"memory_20250818","name":"memory","description":"files","input_schema":{}}"#,
        ] {
            let tool: ToolDefinition = serde_json::from_str(stored).unwrap();
            assert_eq!(serde_json::to_string(&tool).unwrap(), stored);
        }
    }
}
