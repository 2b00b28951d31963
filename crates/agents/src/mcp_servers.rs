//! MCP servers of a subagent: the parent's servers limited to the allowed tools, and the servers of the definition, which
//! run as long as the subagent.

use std::sync::Arc;

use dormouse_conversation::known_tools::MCP_CALL;
use dormouse_conversation::{PromptSize, ToolDefinition};
use dormouse_engine::{AnnouncedFact, Announcer, EngineConfig};
use dormouse_mcp_client::{
    CALL_TIMEOUT, McpHub, McpSetup, RestrictedTool, ServerOrigin, ServerSpec, Variables,
    read_servers,
};
use dormouse_tools::{Tool, ToolSet};

use crate::definition::AgentDefinition;
use crate::tool_access::may_use;

/// An announcer limited to the tools that an agent may use.
pub(crate) struct FilteredAnnouncer {
    pub(crate) inner: Arc<dyn Announcer>,
    pub(crate) agent: AgentDefinition,
}

impl FilteredAnnouncer {
    fn allowed_tools(&self, tools: Vec<Arc<dyn Tool>>) -> Vec<Arc<dyn Tool>> {
        let (call_tool, mut allowed): (Vec<_>, Vec<_>) =
            tools.into_iter().partition(|tool| tool.name() == MCP_CALL.name);
        allowed.retain(|tool| may_use(&self.agent, tool.name()));
        // Without an allowed tool of the server, the tool that calls its tools is of no use.
        if !allowed.is_empty() {
            let restricted = call_tool.into_iter().map(|tool| {
                let agent = self.agent.clone();
                Arc::new(RestrictedTool::new(tool, move |name| may_use(&agent, name)))
                    as Arc<dyn Tool>
            });
            allowed.extend(restricted);
        }
        allowed
    }
}

impl Announcer for FilteredAnnouncer {
    fn announced(&self, listed: &ToolSet, size: PromptSize) -> Vec<AnnouncedFact> {
        if self.tools().is_empty() {
            return Vec::new();
        }
        self.inner.announced(listed, size)
    }

    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        self.allowed_tools(self.inner.tools())
    }

    fn tools_as_sent(&self, sent: &[ToolDefinition]) -> Vec<Arc<dyn Tool>> {
        self.allowed_tools(self.inner.tools_as_sent(sent))
    }
}

/// Starts the servers of a definition. Problems become remarks.
pub(crate) async fn start_own_servers(
    agent: &AgentDefinition,
    config: &EngineConfig,
    remarks: &mut Vec<String>,
) -> Option<Arc<McpHub>> {
    // A list names configured servers, which are available anyway.
    if !agent.extensions.mcp_servers.is_object() {
        return None;
    }
    let file = agent.source.file.clone().unwrap_or_default();
    let origin = ServerOrigin::new(format!("agent {}", agent.name), file);
    let variables = Variables::new(config.tools.environment.clone());
    let read = read_servers(&agent.extensions.mcp_servers, &origin, &variables, &|_| None);
    remarks.extend(read.problems.iter().map(ToString::to_string));
    let setup = McpSetup {
        folder: config.project.folder.clone(),
        environment: config.tools.environment.clone(),
        reaper: config.tools.reaper.clone(),
        call_timeout: CALL_TIMEOUT,
        deadlines: config.services.deadlines,
        redactor: config
            .tools
            .redactor
            .clone()
            .with(read.servers.iter().flat_map(ServerSpec::secrets)),
        tokens: config.extensions.servers.as_ref().and_then(|servers| servers.tokens()),
        questions: config
            .extensions
            .servers
            .as_ref()
            .map(|servers| servers.questions())
            .unwrap_or_default(),
    };
    let hub = McpHub::new(read.servers, setup);
    hub.start();
    hub.settled(config.services.deadlines.mcp_start).await;
    Some(Arc::new(hub))
}
