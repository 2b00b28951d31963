//! `--scope` of the memory commands.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, Error};

/// In front of the name of an agent.
const AGENT: &str = "agent:";

/// Whose memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum MemoryScopeArgument {
    User,
    Project,
    Team,
    Repo,
    /// Of the subagent with this name.
    Agent(String),
}

/// Reads a scope: a word, or `agent:` and a name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MemoryScopeParser;

impl TypedValueParser for MemoryScopeParser {
    type Value = MemoryScopeArgument;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<MemoryScopeArgument, Error> {
        let text = value.to_string_lossy();
        match text.as_ref() {
            "user" => return Ok(MemoryScopeArgument::User),
            "project" => return Ok(MemoryScopeArgument::Project),
            "team" => return Ok(MemoryScopeArgument::Team),
            "repo" => return Ok(MemoryScopeArgument::Repo),
            _ => {}
        }
        if let Some(name) = text.strip_prefix(AGENT).filter(|name| !name.is_empty()) {
            return Ok(MemoryScopeArgument::Agent(name.to_owned()));
        }
        let mut error = Error::new(ErrorKind::InvalidValue).with_cmd(command);
        let named = argument.map(ToString::to_string).unwrap_or_default();
        error.insert(ContextKind::InvalidArg, ContextValue::String(named));
        error.insert(ContextKind::InvalidValue, ContextValue::String(text.into_owned()));
        let known = ["user", "project", "team", "repo", "agent:NAME"].map(str::to_owned);
        error.insert(ContextKind::ValidValue, ContextValue::Strings(known.into()));
        Err(error)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let known = ["user", "project", "team", "repo", "agent:NAME"];
        Some(Box::new(known.into_iter().map(PossibleValue::new)))
    }
}
