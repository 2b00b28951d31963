//! Saving, changing and removing a memory, by whoever has the tools in hand.

use std::sync::Arc;

use dormouse_frontmatter as frontmatter;
use dormouse_memory::{By, Draft, Expected, MemoryFile, NewMemory, Scope, Store};

use super::session_memory::{FoundMemory, MemoryWriteResult, SessionMemory};
use super::witness::{Wanted, Witness};

/// What a call of the tool for saving wants.
pub(super) struct SaveRequest<'a> {
    pub(super) memory: &'a NewMemory,
    /// The memory that is to say it; without one it is new.
    pub(super) onto: Option<&'a FoundMemory>,
    pub(super) scope: Scope,
    /// File names, or names.
    pub(super) supersedes: &'a [String],
    pub(super) quotes: &'a [String],
}

impl SessionMemory {
    /// Saves something new, or gives a memory another text, description or type; what else its head says stays.
    pub(super) fn save(&self, order: &SaveRequest<'_>) -> Result<MemoryWriteResult, String> {
        let store = match order.onto {
            Some(found) => &found.store,
            None => self
                .store(order.scope)
                .ok_or_else(|| format!("there is no `{}` memory here", order.scope))?,
        };
        let replaced = self.replaced(store, order)?;
        let wanted = Wanted {
            scope: store.scope(),
            memory: order.memory,
            file: order.onto.map(|found| &found.memory.file),
            supersedes: &replaced,
            quotes: order.quotes,
        };
        if let Some((draft, witness)) = self.draft_of(store) {
            return in_draft(draft, witness, &wanted)
                .inspect_err(|why| witness.has_refused(&wanted.memory.name, why));
        }
        let done = match order.onto {
            Some(found) => self.update(found, &wanted),
            None => self.add(store, &wanted),
        }?;
        if let Some(witness) = &self.witness {
            witness.saved(&wanted);
        }
        Ok(done)
    }

    /// The memories that are to go. They are in the same memory: one change is made in one place.
    fn replaced(
        &self,
        store: &Arc<Store>,
        order: &SaveRequest<'_>,
    ) -> Result<Vec<MemoryFile>, String> {
        let mut files = Vec::new();
        for name in order.supersedes {
            let file = self.find(name, Some(store.scope()))?.memory.file.clone();
            let itself = order.onto.is_some_and(|onto| onto.memory.file == file);
            if !itself && !files.contains(&file) {
                files.push(file);
            }
        }
        Ok(files)
    }

    fn add(&self, store: &Arc<Store>, wanted: &Wanted<'_>) -> Result<MemoryWriteResult, String> {
        let by = self.by_whom(wanted, "saved")?;
        let outcome = store.change(&by, |plan| {
            let file = plan.save(wanted.memory)?;
            if wanted.supersedes.is_empty() {
                return Ok(());
            }
            let text = plan.read(&file)?.unwrap_or_default();
            plan.merge(&file, wanted.supersedes, &naming(&text, wanted.supersedes))
        });
        self.done(store, outcome)
    }

    fn update(
        &self,
        found: &FoundMemory,
        wanted: &Wanted<'_>,
    ) -> Result<MemoryWriteResult, String> {
        let file = &found.memory.file;
        let (bytes, hash) = found.store.read(file).map_err(|error| error.to_string())?;
        let text = wanted.memory.onto(&bytes).map_err(|error| error.to_string())?;
        let by = self.by_whom(wanted, "updated")?;
        let outcome = found.store.change(&by, |plan| {
            plan.write(file, text.as_bytes(), &Expected::Content(hash.clone()))?;
            if wanted.supersedes.is_empty() {
                return Ok(());
            }
            plan.merge(file, wanted.supersedes, &naming(text.as_bytes(), wanted.supersedes))
        });
        self.done(&found.store, outcome)
    }

    /// Removes a memory.
    pub(super) fn delete(
        &self,
        found: &FoundMemory,
        reason: Option<&str>,
    ) -> Result<MemoryWriteResult, String> {
        let file = &found.memory.file;
        if let Some((draft, witness)) = self.draft_of(&found.store) {
            return out_of_draft(draft, witness, file, reason)
                .inspect_err(|why| witness.has_refused(file.as_str(), why));
        }
        let why = reason.map_or("removed".to_owned(), |reason| format!("removed: {reason}"));
        let by = match &self.witness {
            Some(witness) => {
                witness.may_remove(found.store.scope(), file, reason)?;
                By::new(witness.author(), why)
            }
            None => self.by("", &why),
        };
        let outcome = found.store.change(&by, |plan| plan.delete(file, &Expected::Present));
        self.done(&found.store, outcome)
    }

    /// The copy that is written to in the place of a store, and who vouches for it.
    fn draft_of(&self, store: &Arc<Store>) -> Option<(&Draft, &dyn Witness)> {
        let draft = self.drafts.iter().find(|draft| Arc::ptr_eq(draft.store(), store))?;
        Some((draft, self.witness.as_deref()?))
    }

    /// Who writes, with the messages that it came from.
    fn by_whom(&self, wanted: &Wanted<'_>, reason: &str) -> Result<By, String> {
        let Some(witness) = &self.witness else {
            let memory = wanted.memory;
            return Ok(self.by(&format!("{}\n{}", memory.description, memory.body), reason));
        };
        let sources = witness.sources(wanted)?;
        Ok(sources.into_iter().fold(By::new(witness.author(), reason), By::from_message))
    }
}

fn in_draft(
    draft: &Draft,
    witness: &dyn Witness,
    wanted: &Wanted<'_>,
) -> Result<MemoryWriteResult, String> {
    let sources = witness.sources(wanted)?;
    let file = draft
        .save(wanted.memory, wanted.file, wanted.supersedes, &sources)
        .map_err(|error| error.to_string())?;
    witness.has_changed(wanted.scope, &file);
    let gone: Vec<String> = wanted.supersedes.iter().map(ToString::to_string).collect();
    let instead =
        if gone.is_empty() { String::new() } else { format!(" instead of {}", gone.join(", ")) };
    Ok(MemoryWriteResult::Written(format!(
        "saved {file} in the copy of the {} memory{instead}",
        wanted.scope
    )))
}

fn out_of_draft(
    draft: &Draft,
    witness: &dyn Witness,
    file: &MemoryFile,
    reason: Option<&str>,
) -> Result<MemoryWriteResult, String> {
    let scope = draft.store().scope();
    witness.may_remove(scope, file, reason)?;
    draft.delete(file, reason.unwrap_or_default()).map_err(|error| error.to_string())?;
    witness.has_changed(scope, file);
    Ok(MemoryWriteResult::Written(format!("removed {file} from the copy of the {scope} memory")))
}

/// The text with the names of the memories that it takes the place of in its head.
fn naming(text: &[u8], replaced: &[MemoryFile]) -> String {
    let text = String::from_utf8_lossy(text).into_owned();
    let names: Vec<String> = replaced.iter().map(ToString::to_string).collect();
    // A head that can not take another line is still right without it: the history knows as well.
    frontmatter::set_list(&text, "supersedes", &names).unwrap_or(text)
}
