//! MCP servers of an agent: those of the conversation above as far as its definition goes, and its own, which are
//! started and ended with it.

use std::sync::Arc;

use dormouse_conversation::{PromptSize, ToolDefinition};
use dormouse_engine::{AnnouncedFact, Announcer, EngineConfig};
use dormouse_mcp_client::{
    CALL_TIMEOUT, MCP_CALL, McpHub, McpSetup, RestrictedTool, START_TIMEOUT, ServerOrigin,
    ServerSpec, Variables, read_servers,
};
use dormouse_tools::{Tool, ToolSet};

use crate::AgentDefinition;
use crate::tool_access::has;

/// What others announce, for an agent that may not have all of it.
pub(crate) struct FilteredAnnouncer {
    pub(crate) inner: Arc<dyn Announcer>,
    pub(crate) agent: AgentDefinition,
}

impl FilteredAnnouncer {
    fn passed(&self, tools: Vec<Arc<dyn Tool>>) -> Vec<Arc<dyn Tool>> {
        let (door, mut passed): (Vec<_>, Vec<_>) =
            tools.into_iter().partition(|tool| tool.name() == MCP_CALL);
        passed.retain(|tool| has(&self.agent, tool.name()));
        // The way to tools that come later is of use only to whoever has one of them.
        if !passed.is_empty() {
            let narrowed = door.into_iter().map(|door| {
                let agent = self.agent.clone();
                Arc::new(RestrictedTool::new(door, move |name| has(&agent, name))) as Arc<dyn Tool>
            });
            passed.extend(narrowed);
        }
        passed
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
        self.passed(self.inner.tools())
    }

    fn tools_as_sent(&self, sent: &[ToolDefinition]) -> Vec<Arc<dyn Tool>> {
        self.passed(self.inner.tools_as_sent(sent))
    }
}

/// Starts the servers of an agent's own; nothing, if it has none. What is wrong with one is a remark.
pub(crate) async fn start_own_servers(
    agent: &AgentDefinition,
    config: &EngineConfig,
    remarks: &mut Vec<String>,
) -> Option<Arc<McpHub>> {
    // A list names servers of the settings: those it has anyway.
    if !agent.mcp_servers.is_object() {
        return None;
    }
    let file = agent.file.clone().unwrap_or_default();
    let origin = ServerOrigin::new(format!("agent {}", agent.name), file);
    let variables = Variables::new(config.tools.environment.clone());
    let read = read_servers(&agent.mcp_servers, &origin, &variables, &|_| None);
    remarks.extend(read.problems.iter().map(ToString::to_string));
    let setup = McpSetup {
        folder: config.project.folder.clone(),
        environment: config.tools.environment.clone(),
        reaper: config.tools.reaper.clone(),
        call_timeout: CALL_TIMEOUT,
        redactor: config
            .tools
            .redactor
            .clone()
            .with(read.servers.iter().flat_map(ServerSpec::secrets)),
    };
    let hub = McpHub::new(read.servers, setup);
    hub.start();
    hub.settled(START_TIMEOUT).await;
    Some(Arc::new(hub))
}
