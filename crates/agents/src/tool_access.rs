//! A subagent's access to the parent's tools, permissions and user confirmation.

use std::sync::Arc;

use dormouse_permissions::PermissionGate;
use dormouse_tools::{ConfirmationReply, ConfirmationRequest, Confirmer};
use futures_util::future::BoxFuture;

use crate::definition::{AgentDefinition, AgentTools};

/// Asks the user for confirmation and names the subagent.
pub(crate) struct SubagentConfirmer {
    pub(crate) inner: Arc<dyn Confirmer>,
    pub(crate) agent: String,
}

impl Confirmer for SubagentConfirmer {
    fn ask(&self, request: ConfirmationRequest) -> BoxFuture<'_, ConfirmationReply> {
        let why = format!("the agent {} asks: {}", self.agent, request.why);
        self.inner.ask(ConfirmationRequest { why, ..request })
    }
}

/// Whether a definition allows a tool.
pub(crate) fn may_use(agent: &AgentDefinition, name: &str) -> bool {
    let listed = |words: &[String]| words.iter().any(|word| tool_matches(tool_of_rule(word), name));
    let allowed = match &agent.tools {
        AgentTools::All => true,
        AgentTools::Only(words) => listed(words),
    };
    allowed && !listed(&agent.disallowed)
}

/// Returns the tool of a rule: `Bash` for `Bash(git:*)`. The permission gate checks the rest.
pub(crate) fn tool_of_rule(word: &str) -> &str {
    word.split('(').next().unwrap_or(word)
}

/// Whether a word matches a tool: by name, by server (`mcp__docs`), or by prefix with `*` at the end.
pub(crate) fn tool_matches(word: &str, name: &str) -> bool {
    let of_server = || {
        name.strip_prefix(word)
            .is_some_and(|rest| word.starts_with("mcp__") && rest.starts_with("__"))
    };
    let begins = || word.strip_suffix('*').is_some_and(|start| name.starts_with(start));
    word == name || of_server() || begins()
}

/// Returns the parent's gate in the mode of the definition. It never allows more than the parent's mode.
pub(crate) fn permission_gate(agent: &AgentDefinition, parent: &PermissionGate) -> PermissionGate {
    agent.mode.map_or_else(|| parent.clone(), |mode| parent.in_mode(mode))
}
