//! The Anthropic memory tool for another agent: its commands, by the hand of the client that asks.

use dormouse_memory::Scope;
use dormouse_memory::file_commands::{self, Build, Hand, NotMade};
use serde_json::Value;

use crate::memories::ScopedStore;
use crate::{Client, ClientMemories, MemoryRequestError};

/// Carries out a command on the project's memories; where there is one directory for everything, on that.
pub(crate) fn run(
    memories: &ClientMemories,
    client: &Client,
    input: &Value,
) -> Result<String, String> {
    let shelf = memories.shelf(Scope::Project).map_err(|error| format!("Error: {error}"))?;
    let scan = shelf.scan().map_err(|error| format!("Error: {error}"))?;
    file_commands::run(&shelf.store, scan, &ClientHand { shelf, client }, input)
}

struct ClientHand<'a> {
    shelf: &'a ScopedStore,
    client: &'a Client,
}

impl Hand for ClientHand<'_> {
    fn change(&self, _: &str, reason: &str, build: Build<'_>) -> Result<(), NotMade> {
        let outcome = self.shelf.store.change(&self.client.by(reason), build)?;
        let changed = self.shelf.done(outcome).map_err(not_made)?;
        if changed.is_written() { Ok(()) } else { Err(NotMade::Withheld(changed.words())) }
    }
}

fn not_made(error: MemoryRequestError) -> NotMade {
    match error {
        MemoryRequestError::Change(error) => NotMade::Refused(error),
        other => NotMade::Withheld(other.to_string()),
    }
}
