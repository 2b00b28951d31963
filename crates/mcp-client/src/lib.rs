//! The MCP client: tools of MCP servers as tools of a session (L-16).
//!
//! `server_spec`, `server_settings` and `variables` define which servers there are; `connection` is a connection to one,
//! over `stdio` or `http`, in messages of bounded length (`message_limit`), with tokens of a login (`oauth`); `server` is a server in a session, `catalog`
//! the tools it offers, `hub` all servers, `resources` and `prompts` what the user takes from them,
//! `elicitation` what servers ask the user; `tools` are the tools as the model calls them, by their `tool_name`, and
//! `tool_result` converts their results.
//!
//! Invariant: nothing that a server does changes the tools that the model was given at the start of a conversation; the
//! hub reports what has changed since.

#![forbid(unsafe_code)]

mod catalog;
mod connection;
mod elicitation;
mod http;
mod hub;
mod message_limit;
mod oauth;
mod prompt_list;
mod prompts;
mod resource_list;
mod resources;
mod server;
mod server_settings;
mod server_spec;
mod setup;
mod stdio;
mod tool_name;
mod tool_result;
mod tools;
mod transport;
mod variables;

pub use elicitation::{
    ElicitationForm, ElicitationReply, Elicitor, FieldKind, FormField, UserQuestions,
};
pub use hub::{McpHub, ServerView};
pub use oauth::{LoginPrompt, OAuthError, TokenStore, log_in, log_out};
pub use prompts::{McpPrompt, PromptContent, PromptError};
pub use resources::McpResource;
pub use server::ServerStatus;
pub use server_settings::{ParsedServers, ServerProblem, parse_servers, read_servers};
pub use server_spec::{OAuthSettings, ServerOrigin, ServerSpec, Transport};
pub use setup::{CALL_TIMEOUT, McpSetup};
pub use tools::RestrictedTool;
pub use variables::Variables;
