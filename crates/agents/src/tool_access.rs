//! What an agent reaches of what the conversation above it has: tools, permissions, the person.

use std::sync::Arc;

use dormouse_permissions::PermissionGate;
use dormouse_tools::{ConfirmationReply, ConfirmationRequest, Confirmer};
use futures_util::future::BoxFuture;

use crate::{AgentDefinition, AgentTools};

/// Asks the person, and says for whom.
pub(crate) struct SubagentConfirmer {
    pub(crate) inner: Arc<dyn Confirmer>,
    pub(crate) agent: String,
}

impl Confirmer for SubagentConfirmer {
    fn ask(&self, question: ConfirmationRequest) -> BoxFuture<'_, ConfirmationReply> {
        let why = format!("the agent {} asks: {}", self.agent, question.why);
        self.inner.ask(ConfirmationRequest { why, ..question })
    }
}

/// Whether an agent has a tool, as far as its definition goes.
pub(crate) fn has(agent: &AgentDefinition, name: &str) -> bool {
    let named = |words: &[String]| words.iter().any(|word| fits(tool_of_rule(word), name));
    let wanted = match &agent.tools {
        AgentTools::All => true,
        AgentTools::Only(words) => named(words),
    };
    wanted && !named(&agent.disallowed)
}

/// `Bash(git:*)` names the tool Bash; what of it may run is the gate's business.
pub(crate) fn tool_of_rule(word: &str) -> &str {
    word.split('(').next().unwrap_or(word)
}

/// Whether a word names a tool: by its name, by its server (`mcp__docs`), or with `*` at the end.
pub(crate) fn fits(word: &str, name: &str) -> bool {
    let of_server = || {
        name.strip_prefix(word)
            .is_some_and(|rest| word.starts_with("mcp__") && rest.starts_with("__"))
    };
    let begins = || word.strip_suffix('*').is_some_and(|start| name.starts_with(start));
    word == name || of_server() || begins()
}

/// The parent's gate, in the agent's mode where it has one. What the parent's mode forbids stays forbidden.
pub(crate) fn gate(agent: &AgentDefinition, parent: &PermissionGate) -> PermissionGate {
    agent.mode.map_or_else(|| parent.clone(), |mode| parent.in_mode(mode))
}
