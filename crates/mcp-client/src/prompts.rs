//! Prompts of servers: what the user calls as `/mcp__server__prompt WORDS`.

use std::sync::Arc;

use dormouse_conversation::Block;
use dormouse_tools::ToolError;
use rmcp::model::{GetPromptRequestParams, JsonObject, Role};
use thiserror::Error;

use crate::catalog::{OfferedArgument, OfferedPrompt, cut};
use crate::hub::McpHub;
use crate::server::McpServer;
use crate::tool_name::tool_name;
use crate::tool_result::{ContentPiece, piece};

/// Longer errors are cut.
const ERROR_CHARS: usize = 200;
/// A longer text is cut, as that of a resource is.
const PROMPT_CHARS: usize = 100_000;

/// A prompt that the user can call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpPrompt {
    /// What it is called by: `mcp__server__prompt`.
    pub name: String,
    /// What the server says about it, in one line.
    pub description: String,
    /// Its arguments, as help shows them; optional ones in brackets.
    pub hint: String,
    server: String,
    offered: OfferedPrompt,
}

/// What a prompt says: its text, and pictures.
#[derive(Debug, Clone, Default)]
pub struct PromptContent {
    /// The text; the server's, not the user's.
    pub text: String,
    /// The pictures.
    pub pictures: Vec<Block>,
}

/// Why a prompt says nothing.
#[derive(Debug, Error)]
pub enum PromptError {
    /// An argument is missing.
    #[error("/{name} needs the argument `{argument}`: /{name} {hint}")]
    MissingArgument {
        /// What the prompt is called by.
        name: String,
        /// The argument.
        argument: String,
        /// All arguments.
        hint: String,
    },
    /// The server did not send it.
    #[error(transparent)]
    Server(#[from] ToolError),
}

impl McpHub {
    /// The prompts of the servers that have answered.
    pub fn prompts(&self) -> Vec<McpPrompt> {
        let of_server = |server: &Arc<McpServer>| {
            let name = server.spec.name.clone();
            let offered = server.catalog().prompts.clone();
            offered.into_iter().map(move |offered| McpPrompt {
                name: tool_name(&name, &offered.name),
                description: offered.description.clone(),
                hint: hint(&offered.arguments),
                server: name.clone(),
                offered,
            })
        };
        self.servers().flat_map(of_server).collect()
    }

    /// The prompt that a line calls with `/name`, and the words after it.
    pub fn called_prompt<'l>(&self, line: &'l str) -> Option<(McpPrompt, &'l str)> {
        let line = line.trim();
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let name = word.strip_prefix('/')?;
        let prompt = self.prompts().into_iter().find(|prompt| prompt.name == name)?;
        Some((prompt, rest.trim()))
    }

    /// What a prompt says with these words as its arguments.
    pub async fn prompt(
        &self,
        prompt: &McpPrompt,
        words: &str,
    ) -> Result<PromptContent, PromptError> {
        let arguments = prompt.arguments(words)?;
        match self.servers().find(|server| server.spec.name == prompt.server) {
            Some(server) => Ok(server.get_prompt(&prompt.offered.name, arguments).await?),
            None => Err(ToolError::Failed { message: format!("no server `{}`", prompt.server) })?,
        }
    }
}

impl McpPrompt {
    /// The words by the names of the arguments, in their order; the last one takes the rest.
    fn arguments(&self, words: &str) -> Result<JsonObject, PromptError> {
        let mut words = shlex::split(words)
            .unwrap_or_else(|| words.split_whitespace().map(str::to_owned).collect());
        let known = &self.offered.arguments;
        if let Some(last) = known.len().checked_sub(1).filter(|last| words.len() > last + 1) {
            let rest = words.split_off(last).join(" ");
            words.push(rest);
        }
        let missing = known.iter().skip(words.len()).find(|argument| argument.required);
        if let Some(OfferedArgument { shown, .. }) = missing {
            return Err(PromptError::MissingArgument {
                name: self.name.clone(),
                argument: shown.clone(),
                hint: self.hint.clone(),
            });
        }
        let named = known.iter().zip(words);
        Ok(named.map(|(argument, word)| (argument.name.clone(), word.into())).collect())
    }
}

fn hint(arguments: &[OfferedArgument]) -> String {
    let shown = arguments.iter().map(|OfferedArgument { shown, required, .. }| {
        if *required { shown.to_uppercase() } else { format!("[{}]", shown.to_uppercase()) }
    });
    shown.collect::<Vec<_>>().join(" ")
}

impl McpServer {
    async fn get_prompt(
        self: &Arc<Self>,
        name: &str,
        arguments: JsonObject,
    ) -> Result<PromptContent, ToolError> {
        let work = async {
            let peer = self.peer().await.map_err(|error| self.not_available(&error))?;
            let mut params = GetPromptRequestParams::new(name);
            params.arguments = Some(arguments).filter(|arguments| !arguments.is_empty());
            let got = peer.get_prompt(params).await.map_err(|error| {
                let reason = cut(&error.to_string(), ERROR_CHARS);
                self.failed(&format!("its prompt `{name}` cannot be used: {reason}"))
            })?;
            let mut content = PromptContent::default();
            let mut texts = Vec::new();
            for message in got.messages {
                match (piece(message.content), message.role) {
                    (ContentPiece::Text(text), Role::Assistant) => {
                        texts.push(format!("Assistant: {text}"));
                    }
                    (ContentPiece::Text(text), Role::User) => texts.push(text),
                    (ContentPiece::Picture { kind, data }, _) => {
                        content.pictures.push(Block::image(&kind, &data));
                    }
                }
            }
            content.text = self.redact(&cut(&texts.join("\n\n"), PROMPT_CHARS));
            Ok(content)
        };
        let timeout = self.call_timeout();
        tokio::time::timeout(timeout, work).await.unwrap_or_else(|_| {
            let time = timeout.as_millis();
            Err(self.failed(&format!("its prompt `{name}` was not sent within {time} ms")))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompt(arguments: &[(&str, bool)]) -> McpPrompt {
        let argument = |(name, required): &(&str, bool)| OfferedArgument {
            name: (*name).to_owned(),
            shown: (*name).to_owned(),
            required: *required,
        };
        let arguments: Vec<OfferedArgument> = arguments.iter().map(argument).collect();
        McpPrompt {
            name: "mcp__s__p".to_owned(),
            description: String::new(),
            hint: hint(&arguments),
            server: "s".to_owned(),
            offered: OfferedPrompt { name: "p".into(), description: String::new(), arguments },
        }
    }

    #[test]
    fn words_are_arguments_in_their_order() {
        let two = prompt(&[("file", true), ("why", false)]);
        let check = |words: &str, expected: &str| {
            let arguments = two.arguments(words).unwrap();
            assert_eq!(serde_json::Value::Object(arguments).to_string(), expected, "{words}");
        };
        check("a", r#"{"file":"a"}"#);
        check("'a b' c", r#"{"file":"a b","why":"c"}"#);
        check("a b c \"d e\"", r#"{"file":"a","why":"b c d e"}"#);
        check("it's", r#"{"file":"it's"}"#);
        let missing = two.arguments(" ").unwrap_err().to_string();
        assert_eq!(missing, "/mcp__s__p needs the argument `file`: /mcp__s__p FILE [WHY]");
        assert!(prompt(&[]).arguments("more words").unwrap().is_empty());
    }
}
