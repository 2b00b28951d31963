//! The Anthropic memory tool for another agent.

use dormouse_memory::file_commands::{self, Build, Hand, NotMade};
use dormouse_memory::recall::QuarantineFilter;
use dormouse_memory::{Scope, Store};
use serde_json::Value;
use thiserror::Error;

use crate::memories::{Client, ClientMemories, MemoryRequestError, finish};

/// Runs a command on the project's memory.
pub(crate) fn run(
    memories: &ClientMemories,
    client: &Client,
    input: &Value,
) -> Result<String, FileCommandError> {
    let reachable = memories.reachable();
    let store = reachable.store(Scope::Project).map_err(MemoryRequestError::from)?;
    let scan = reachable.scan(Scope::Project, QuarantineFilter::Exclude);
    let scan = scan.map_err(MemoryRequestError::from)?;
    let done = file_commands::run(store, scan, &ClientWriter { store, client }, input);
    done.map_err(|error| FileCommandError::Command(error.clone()))
}

/// Why a command failed.
#[derive(Debug, Error)]
pub(crate) enum FileCommandError {
    #[error("Error: {0}")]
    Memory(#[from] MemoryRequestError),
    #[error("{0}")]
    Command(String),
}

/// Makes changes in the name of a client.
struct ClientWriter<'a> {
    store: &'a Store,
    client: &'a Client,
}

impl Hand for ClientWriter<'_> {
    fn change(&self, _: &str, reason: &str, build: Build<'_>) -> Result<(), NotMade> {
        let outcome = self.store.change(&self.client.by(reason), build)?;
        let change = finish(self.store, outcome).map_err(not_made)?;
        if change.is_written() { Ok(()) } else { Err(NotMade::Withheld(change.text())) }
    }
}

fn not_made(error: MemoryRequestError) -> NotMade {
    match error {
        MemoryRequestError::Change(error) => NotMade::Refused(error),
        other => NotMade::Withheld(other.to_string()),
    }
}
