//! MCP servers in a conversation (L-16, L-18): their tools and instructions enter the prefix when it is built; what
//! becomes of them later is told at the end of the conversation.

use std::sync::Arc;

use dormouse_conversation::{PromptSize, ToolDefinition};
use dormouse_mcp_client::McpHub;
use dormouse_tools::{Tool, ToolSet};

use crate::{AnnouncedFact, Announcer, EngineConfig, PromptPosition};

impl Announcer for McpHub {
    fn announced(&self, listed: &ToolSet, _: PromptSize) -> Vec<AnnouncedFact> {
        let standing = self.standing(listed).into_iter();
        let standing = standing.map(|(name, text)| (format!("MCP server {name}"), text));
        let said = self.instructions().into_iter();
        let said = said
            .map(|(name, text)| (format!("What the MCP server {name} says about its use"), text));
        standing
            .chain(said)
            .map(|(fact, text)| AnnouncedFact { fact, text, place: PromptPosition::System })
            .collect()
    }

    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        McpHub::tools(self)
    }

    fn tools_as_sent(&self, sent: &[ToolDefinition]) -> Vec<Arc<dyn Tool>> {
        let sent = sent.iter();
        self.tools_as_told(
            sent.map(|tool| {
                (tool.name.as_str(), tool.description.as_str(), tool.input_schema.get())
            }),
        )
    }
}

impl EngineConfig {
    /// The tools for a prefix that is about to be built: those of servers as they are now.
    pub(crate) fn tools_now(&self) -> Arc<ToolSet> {
        self.with_tools(self.extensions.announcers.iter().flat_map(|each| each.tools()))
    }

    /// The tools for a prefix that was sent.
    pub(crate) fn tools_as_sent(&self, sent: &[ToolDefinition]) -> Arc<ToolSet> {
        self.with_tools(self.extensions.announcers.iter().flat_map(|each| each.tools_as_sent(sent)))
    }

    fn with_tools(&self, tools: impl Iterator<Item = Arc<dyn Tool>>) -> Arc<ToolSet> {
        Arc::new(self.tools.set.as_ref().clone().without_mcp_tools().with(tools))
    }
}
