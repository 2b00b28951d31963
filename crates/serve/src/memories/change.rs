//! Changes by another agent: each through `Store::change`, in the name of its client.

use dormouse_memory::{
    ChangeAuthor, ChangeKind, ChangeOutcome, Expected, FoundMemory, LogEntry, MemoryType,
    NewMemory, ProposalId, Receipt, Scope, Store,
};
use serde::Serialize;

use super::client::Client;
use super::client_memories::ClientMemories;
use super::error::MemoryRequestError;

/// The result of a change.
#[derive(Debug, Serialize)]
pub(crate) struct ClientChange {
    status: ChangeStatus,
    scope: Scope,
    /// What happened to each file; empty if the change waits.
    files: Vec<ChangedFile>,
    /// Its number in the history, for undoing it.
    #[serde(skip_serializing_if = "Option::is_none")]
    change: Option<u64>,
    /// Its number in the user's inbox.
    #[serde(skip_serializing_if = "Option::is_none")]
    proposal: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum ChangeStatus {
    /// It was made.
    Done,
    /// Nothing had to change.
    Unchanged,
    /// It waits for the user.
    Proposed,
}

#[derive(Debug, Serialize)]
struct ChangedFile {
    file: String,
    effect: &'static str,
}

impl ClientChange {
    /// The result as text for the model.
    pub(crate) fn text(&self) -> String {
        let files: Vec<String> =
            self.files.iter().map(|file| format!("{} {}", file.effect, file.file)).collect();
        let scope = self.scope;
        match (self.status, self.proposal) {
            (ChangeStatus::Done, _) => format!(
                "{} ({scope} memory); change {}",
                files.join(", "),
                self.change.unwrap_or_default()
            ),
            (ChangeStatus::Unchanged, _) => format!("nothing had to change ({scope} memory)"),
            (ChangeStatus::Proposed, id) => format!(
                "not written yet: it is proposal {} in the user's inbox (`dormouse memory inbox`). The user \
                 reviews what an agent says about them, and what replaces or removes their own words",
                id.unwrap_or_default()
            ),
        }
    }
}

impl ClientChange {
    /// Whether the memory now has the requested content.
    pub(crate) fn is_written(&self) -> bool {
        self.status != ChangeStatus::Proposed
    }
}

/// A change to a memory; fields that are none stay.
#[derive(Debug, Default)]
pub(crate) struct MemoryEdit {
    pub(crate) name: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) kind: Option<MemoryType>,
    pub(crate) body: Option<String>,
}

/// Saves a new memory, in the given scope or in the one that its type belongs to.
pub(crate) fn save(
    memories: &ClientMemories,
    client: &Client,
    scope: Option<Scope>,
    memory: &NewMemory,
) -> Result<ClientChange, MemoryRequestError> {
    let reachable = memories.reachable();
    let store = match scope {
        Some(scope) => reachable.store(scope)?,
        None => {
            let scope = default_scope(memory.kind);
            reachable.store(scope).or_else(|error| reachable.stores().first().ok_or(error))?
        }
    };
    let by = client.by("saved");
    finish(store, store.change(&by, |plan| plan.save(memory).map(drop))?)
}

/// Memories about the user go to the user's memory, the others to the project's.
fn default_scope(kind: Option<MemoryType>) -> Scope {
    match kind {
        Some(MemoryType::User | MemoryType::Feedback) => Scope::User,
        Some(MemoryType::Project | MemoryType::Reference) | None => Scope::Project,
    }
}

/// Undoes a change by the client: the one with this number, or its last.
pub(crate) fn undo(
    memories: &ClientMemories,
    client: &Client,
    scope: Option<Scope>,
    change: Option<u64>,
) -> Result<ClientChange, MemoryRequestError> {
    let author = client.author();
    let mut own: Vec<(&Store, LogEntry)> = Vec::new();
    let stores = memories.reachable().stores().iter();
    for store in stores.filter(|store| scope.is_none_or(|scope| scope == store.scope())) {
        let is_meant =
            |entry: &LogEntry| can_undo(entry, &author) && change.is_none_or(|id| entry.id.0 == id);
        let last = store.history().log()?.into_iter().find(is_meant);
        own.extend(last.map(|entry| (&**store, entry)));
    }
    let last = own.into_iter().max_by_key(|(_, entry)| entry.time);
    let (store, entry) = last.ok_or(MemoryRequestError::NothingToUndo)?;
    let receipt = store.history().undo(&client.by("undone"), Some(entry.id))?;
    Ok(written(store, &receipt))
}

/// Changes a memory as it is now; the other fields of its frontmatter stay.
pub(crate) fn update(
    found: &FoundMemory,
    client: &Client,
    edit: &MemoryEdit,
) -> Result<ClientChange, MemoryRequestError> {
    let file = &found.memory.file;
    let (bytes, hash) = found.store.read(file)?;
    let (entry, _) = found.read()?;
    let name = edit.name.as_deref().unwrap_or(found.memory.name());
    let description = edit.description.as_deref().unwrap_or_default();
    let body = edit.body.as_deref().unwrap_or(&entry.body);
    let mut memory = NewMemory::new(name, description, body);
    memory.kind = edit.kind;
    let text = memory.onto(&bytes).map_err(|source| dormouse_memory::ChangeError::Frontmatter {
        file: file.clone(),
        source,
    })?;
    let expected = Expected::Content(hash);
    let by = client.by("updated");
    let outcome = found.store.change(&by, |plan| plan.write(file, text.as_bytes(), &expected))?;
    finish(&found.store, outcome)
}

/// Removes a memory.
pub(crate) fn delete(
    found: &FoundMemory,
    client: &Client,
) -> Result<ClientChange, MemoryRequestError> {
    let by = client.by("removed");
    let file = &found.memory.file;
    let outcome = found.store.change(&by, |plan| plan.delete(file, &Expected::Present))?;
    finish(&found.store, outcome)
}

fn can_undo(entry: &LogEntry, author: &ChangeAuthor) -> bool {
    entry.author == *author && entry.undoable && entry.undoes.is_none() && entry.undone_by.is_none()
}

/// Finishes a change. The user cannot be asked here: changes that need confirmation go to the inbox.
pub(crate) fn finish(
    store: &Store,
    outcome: ChangeOutcome,
) -> Result<ClientChange, MemoryRequestError> {
    let scope = store.scope();
    let change = |status, proposal: Option<ProposalId>| ClientChange {
        status,
        scope,
        files: Vec::new(),
        change: None,
        proposal: proposal.map(|id| id.0),
    };
    Ok(match outcome {
        ChangeOutcome::Unchanged => change(ChangeStatus::Unchanged, None),
        ChangeOutcome::Written(receipt) => written(store, &receipt),
        ChangeOutcome::Ask(proposal) => {
            change(ChangeStatus::Proposed, Some(store.inbox().propose(proposal)?))
        }
        ChangeOutcome::InInbox(id) => change(ChangeStatus::Proposed, Some(id)),
    })
}

fn written(store: &Store, receipt: &Receipt) -> ClientChange {
    let files = receipt.files.iter().map(|(file, effect)| ChangedFile {
        file: file.to_string(),
        effect: match effect {
            ChangeKind::Added => "added",
            ChangeKind::Changed => "changed",
            ChangeKind::Removed => "removed",
        },
    });
    ClientChange {
        status: ChangeStatus::Done,
        scope: store.scope(),
        files: files.collect(),
        change: Some(receipt.id.0),
        proposal: None,
    }
}
