//! The tools of MCP servers (L-16). `spec`, `read` and `expand` say which servers there are; `connection` talks to one, over
//! `stdio` or `http`, in messages of bounded length (`flood`); `server` is one in a session, `catalog` what it offers, `hub`
//! all of them; `tool` is a tool of theirs as the model calls it, by its `name`, and `result` what it answers.
//!
//! Invariant: nothing that a server does changes what the model was told at the start; what has changed since is told by
//! who asks the hub.

mod catalog;
mod connection;
mod expand;
mod flood;
mod http;
mod hub;
mod name;
mod read;
mod result;
mod server;
mod spec;
mod stdio;
mod tool;

use std::path::PathBuf;
use std::time::Duration;

use dormouse_base::{Environment, Redactor};

use crate::Reaper;

pub use expand::Variables;
pub use hub::{McpHub, ServerView};
pub use read::{ServerProblem, ServersRead, parse_servers, read_servers};
pub use server::ServerStatus;
pub use spec::{ServerOrigin, ServerSpec, Transport};
pub use tool::{MCP_CALL, Narrowed};

/// What servers are given.
#[derive(Debug, Clone)]
pub struct Setup {
    /// Where programs run.
    pub folder: PathBuf,
    /// Their environment; the model's keys are taken out.
    pub environment: Environment,
    /// Who sees to it that they end with the program.
    pub reaper: Reaper,
    /// How long a call may take, where the server's entry does not say.
    pub call_timeout: Duration,
    /// Takes secrets out of what servers say of themselves.
    pub redactor: Redactor,
}

/// How long a call may take unless something else is set.
pub const CALL_TIMEOUT: Duration = Duration::from_mins(10);
/// How long the start of a session waits for servers unless something else is set.
pub const START_PATIENCE: Duration = Duration::from_secs(5);
