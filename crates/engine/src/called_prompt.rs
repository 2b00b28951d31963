//! The prompt of an MCP server that the user's prompt calls with `/mcp__server__prompt`: what it says goes with the message.

use dormouse_context::{CalledPrompt, Fragment};
use dormouse_conversation::Block;
use dormouse_mcp_client::PromptError;

use crate::config::EngineConfig;

/// What the called prompt says, as blocks for the model; nothing if none is called.
pub(crate) async fn called_prompt(
    prompt: &str,
    config: &EngineConfig,
) -> Result<Vec<Block>, PromptError> {
    // A subagent's prompt is the model's: it calls nothing.
    let servers = config.extensions.servers.as_deref().filter(|_| !config.is_subagent());
    let Some((servers, (called, words))) =
        servers.and_then(|servers| Some((servers, servers.called_prompt(prompt)?)))
    else {
        return Ok(Vec::new());
    };
    let content = servers.prompt(&called, words).await?;
    let text = config.tools.redactor.redact(&content.text);
    let block = CalledPrompt { name: called.name, text }.to_block();
    Ok(std::iter::once(block).chain(content.pictures).collect())
}
