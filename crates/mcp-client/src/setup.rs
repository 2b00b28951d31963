//! What MCP servers are started with.

use std::path::PathBuf;
use std::time::Duration;

use dormouse_base::{Deadlines, Environment, Redactor};
use dormouse_tools::Reaper;

use crate::elicitation::UserQuestions;
use crate::oauth::TokenStore;

/// What servers are started with.
#[derive(Debug, Clone)]
pub struct McpSetup {
    /// The working directory of server processes.
    pub folder: PathBuf,
    /// Their environment; the model's API keys are removed.
    pub environment: Environment,
    /// Ends server processes with the program.
    pub reaper: Reaper,
    /// How long a call may take, unless the server's entry says otherwise.
    pub call_timeout: Duration,
    /// How long servers are waited for.
    pub deadlines: Deadlines,
    /// Removes secrets from messages about servers.
    pub redactor: Redactor,
    /// Where tokens of logins are; none where nobody has logged in.
    pub tokens: Option<TokenStore>,
    /// How servers ask the user.
    pub questions: UserQuestions,
}

/// How long a call may take by default.
pub const CALL_TIMEOUT: Duration = Duration::from_mins(10);
