//! What another agent changes: each through the store's door, by its client's name.

use dormouse_memory::{
    ChangeAuthor, ChangeKind, ChangeOutcome, Expected, LogEntry, MemoryEntry, MemoryType,
    NewMemory, Receipt, Scope,
};
use serde::Serialize;

use super::{Client, ClientMemories, FoundForClient, MemoryRequestError, ScopedStore};

/// What became of a change.
#[derive(Debug, Serialize)]
pub(crate) struct ClientChange {
    status: Status,
    scope: Scope,
    /// What it did to which file; empty where it waits.
    files: Vec<ChangedFile>,
    /// Its number, for undoing it.
    #[serde(skip_serializing_if = "Option::is_none")]
    change: Option<u64>,
    /// Its number in the person's inbox.
    #[serde(skip_serializing_if = "Option::is_none")]
    proposal: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    /// It is made.
    Done,
    /// Everything was so already.
    Unchanged,
    /// It waits until the person accepts it.
    Proposed,
}

#[derive(Debug, Serialize)]
struct ChangedFile {
    file: String,
    effect: &'static str,
}

impl ClientChange {
    /// In words, for the model.
    pub(crate) fn words(&self) -> String {
        let files: Vec<String> =
            self.files.iter().map(|file| format!("{} {}", file.effect, file.file)).collect();
        let scope = self.scope;
        match (self.status, self.proposal) {
            (Status::Done, _) => format!(
                "{} ({scope} memory); change {}",
                files.join(", "),
                self.change.unwrap_or_default()
            ),
            (Status::Unchanged, _) => format!("it was so already ({scope} memory)"),
            (Status::Proposed, id) => format!(
                "not written yet: it is proposal {} in the person's inbox (`dormouse memory inbox`). What an agent \
                 says about the person, and what replaces or removes their own words, they see first",
                id.unwrap_or_default()
            ),
        }
    }
}

impl ClientChange {
    /// Whether it is made, or was so already.
    pub(crate) fn is_written(&self) -> bool {
        self.status != Status::Proposed
    }
}

/// What is to change in a memory; what is none stays.
#[derive(Debug, Default)]
pub(crate) struct MemoryEdit {
    pub(crate) name: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) kind: Option<MemoryType>,
    pub(crate) body: Option<String>,
}

impl ClientMemories {
    /// Saves something new: in the scope that is named, else in the one that its type belongs to.
    pub(crate) fn save(
        &self,
        client: &Client,
        scope: Option<Scope>,
        memory: &NewMemory,
    ) -> Result<ClientChange, MemoryRequestError> {
        let shelf = match scope {
            Some(scope) => self.shelf(scope)?,
            None => self.usual_shelf(memory.kind)?,
        };
        let by = client.by("saved");
        shelf.done(shelf.store.change(&by, |plan| plan.save(memory).map(drop))?)
    }

    /// What concerns the person goes with the person.
    fn usual_shelf(&self, kind: Option<MemoryType>) -> Result<&ScopedStore, MemoryRequestError> {
        let wanted = match kind {
            Some(MemoryType::User | MemoryType::Feedback) => Scope::User,
            Some(MemoryType::Project | MemoryType::Reference) | None => Scope::Project,
        };
        self.shelf(wanted).or_else(|error| self.shelves.first().ok_or(error))
    }

    /// Undoes a change of the client's own: the one that is named, else its last.
    pub(crate) fn undo(
        &self,
        client: &Client,
        scope: Option<Scope>,
        change: Option<u64>,
    ) -> Result<ClientChange, MemoryRequestError> {
        let author = client.author();
        let mut own: Vec<(&ScopedStore, LogEntry)> = Vec::new();
        for shelf in self.shelves(scope) {
            let log = shelf.store.history().log()?;
            let last = log
                .into_iter()
                .find(|entry| can_undo(entry, &author) && change.is_none_or(|id| entry.id.0 == id));
            own.extend(last.map(|entry| (shelf, entry)));
        }
        let last = own.into_iter().max_by_key(|(_, entry)| entry.time);
        let (shelf, entry) = last.ok_or(MemoryRequestError::NothingOfYours)?;
        let receipt = shelf.store.history().undo(&client.by("undone"), Some(entry.id))?;
        Ok(shelf.written(&receipt))
    }
}

impl FoundForClient<'_> {
    /// Changes a memory as it is now; what else its head says stays.
    pub(crate) fn update(
        &self,
        client: &Client,
        edit: &MemoryEdit,
    ) -> Result<ClientChange, MemoryRequestError> {
        let (shelf, file) = (self.shelf, &self.memory.file);
        let (bytes, hash) = shelf.store.read(file)?;
        let entry = MemoryEntry::read(&bytes, self.memory.size);
        let name = edit.name.as_deref().unwrap_or(self.memory.name());
        let description = edit.description.as_deref().unwrap_or_default();
        let mut memory =
            NewMemory::new(name, description, edit.body.as_deref().unwrap_or(&entry.body));
        memory.kind = edit.kind;
        let text = memory.onto(&bytes).map_err(|source| {
            dormouse_memory::ChangeError::Frontmatter { file: file.clone(), source }
        })?;
        let expected = Expected::Content(hash);
        let by = client.by("updated");
        shelf.done(shelf.store.change(&by, |plan| plan.write(file, text.as_bytes(), &expected))?)
    }

    /// Removes a memory.
    pub(crate) fn delete(&self, client: &Client) -> Result<ClientChange, MemoryRequestError> {
        let (shelf, by) = (self.shelf, client.by("removed"));
        let file = &self.memory.file;
        shelf.done(shelf.store.change(&by, |plan| plan.delete(file, &Expected::Present))?)
    }
}

fn can_undo(entry: &LogEntry, author: &ChangeAuthor) -> bool {
    entry.author == *author && entry.undoable && entry.undoes.is_none() && entry.undone_by.is_none()
}

impl ScopedStore {
    /// What became of it. Nobody can be asked here: what needs an answer waits in the inbox.
    pub(crate) fn done(&self, outcome: ChangeOutcome) -> Result<ClientChange, MemoryRequestError> {
        let scope = self.store.scope();
        let waits = |id: dormouse_memory::ProposalId| ClientChange {
            status: Status::Proposed,
            scope,
            files: Vec::new(),
            change: None,
            proposal: Some(id.0),
        };
        Ok(match outcome {
            ChangeOutcome::Unchanged => ClientChange {
                status: Status::Unchanged,
                scope,
                files: Vec::new(),
                change: None,
                proposal: None,
            },
            ChangeOutcome::Written(receipt) => self.written(&receipt),
            ChangeOutcome::Ask(proposal) => waits(self.store.inbox().propose(proposal)?),
            ChangeOutcome::InInbox(id) => waits(id),
        })
    }

    fn written(&self, receipt: &Receipt) -> ClientChange {
        let files = receipt.files.iter().map(|(file, effect)| ChangedFile {
            file: file.to_string(),
            effect: match effect {
                ChangeKind::Added => "added",
                ChangeKind::Changed => "changed",
                ChangeKind::Removed => "removed",
            },
        });
        ClientChange {
            status: Status::Done,
            scope: self.store.scope(),
            files: files.collect(),
            change: Some(receipt.id.0),
            proposal: None,
        }
    }
}
