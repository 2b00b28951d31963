//! Writing memories in a session: every change with its author and the messages that it came from.

use std::sync::Arc;

use dormouse_memory::recall::QuarantineFilter;
use dormouse_memory::{
    ChangeAuthor, ChangeError, ChangeOrigin, ChangeOutcome, Claims, ContentHash, Expected,
    FoundMemory, MemoryDraft, MemoryFile, NewMemory, PolicyAction, Proposal, ProposalId,
    ReachableMemories, Receipt, Scope, Store, TextRelation, Trust,
};
use dormouse_provenance::{ClaimedText, ProposedMemory, ProvenanceCheck};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::change_text::ChangeText;
use super::confirmation::ChangeDecision;
use super::error::SessionMemoryError;
use super::notices::WrittenChange;
use super::session_memory::SessionMemory;

/// The result of a change that the model asked for.
pub(crate) enum MemoryWriteResult {
    /// The change was made, or nothing had to change. The text is for the model.
    Written(String),
    /// The change waits in the inbox.
    Proposed(ProposalId),
}

/// A call of the tool for saving.
pub(super) struct SaveRequest<'a> {
    pub(super) memory: &'a NewMemory,
    /// The memory to change; none for a new one.
    pub(super) existing: Option<&'a FoundMemory>,
    pub(super) scope: Scope,
    /// File names, or names.
    pub(super) supersedes: &'a [String],
    pub(super) quotes: &'a [String],
}

/// Memories that a new one is compared with: the most similar.
const COMPARED: usize = 5;
/// The claims of a text that says less are not compared: too little of it tells it from others.
const LEAST_CLAIMS: usize = 5;

type WriteResult = Result<MemoryWriteResult, SessionMemoryError>;

impl SessionMemory {
    /// Saves a new memory, or replaces text, description and type of an existing one; its other fields stay.
    pub(super) fn save(&self, request: &SaveRequest<'_>) -> WriteResult {
        let store = match request.existing {
            Some(found) => &found.store,
            None => self.memories().store(request.scope)?,
        };
        let supersedes = self.superseded(store, request)?;
        let proposed = ProposedMemory {
            scope: store.scope(),
            memory: request.memory,
            file: request.existing.map(|found| &found.memory.file),
            supersedes: &supersedes,
            quotes: request.quotes,
        };
        if let Some((draft, check)) = self.draft_of(store) {
            return save_in_draft(draft, check, &proposed)
                .inspect_err(|error| check.on_rejected(&proposed.memory.name, &error.to_string()));
        }
        // Extraction has a check of its own, which knows more than memories.
        let is_new = request.existing.is_none() && supersedes.is_empty() && self.check.is_none();
        if is_new {
            let origin = self.by_proposal(&proposed, "saved");
            let is_users_word = origin.is_ok_and(|by| by.trust() == Trust::Typed);
            let now = self.clock().now();
            if let Some(text) = answer_by_known(&proposed, is_users_word, self.memories(), now) {
                return Ok(MemoryWriteResult::Written(text));
            }
        }
        let written = match request.existing {
            Some(found) => self.update(found, &proposed),
            None => self.add(store, &proposed),
        }?;
        if let Some(check) = &self.check {
            check.on_saved(&proposed);
        }
        Ok(written)
    }

    /// The files of the memories to replace. They are in the same store: a change is made in one store.
    fn superseded(
        &self,
        store: &Arc<Store>,
        request: &SaveRequest<'_>,
    ) -> Result<Vec<MemoryFile>, SessionMemoryError> {
        let mut files = Vec::new();
        for name in request.supersedes {
            let found = self
                .memories()
                .find(name, Some(store.scope()), QuarantineFilter::Include)
                .map_err(SessionMemoryError::Superseded)?;
            let file = found.memory.file.clone();
            let itself = request.existing.is_some_and(|existing| existing.memory.file == file);
            if !itself && !files.contains(&file) {
                files.push(file);
            }
        }
        Ok(files)
    }

    fn add(&self, store: &Arc<Store>, proposed: &ProposedMemory<'_>) -> WriteResult {
        let by = self.by_proposal(proposed, "saved")?;
        let outcome = store.change(&by, |plan| {
            let file = plan.save(proposed.memory)?;
            if proposed.supersedes.is_empty() {
                return Ok(());
            }
            let text = plan.read(&file)?.unwrap_or_default();
            let text = with_superseded(&text, proposed.supersedes);
            plan.merge(&file, proposed.supersedes, &text)
        });
        self.finish(store, outcome)
    }

    fn update(&self, found: &FoundMemory, proposed: &ProposedMemory<'_>) -> WriteResult {
        let file = &found.memory.file;
        let (bytes, hash) = found.store.read(file)?;
        let text = proposed.memory.onto(&bytes)?;
        let by = self.by_proposal(proposed, "updated")?;
        let outcome = found.store.change(&by, |plan| {
            plan.write(file, text.as_bytes(), &Expected::Content(hash.clone()))?;
            if proposed.supersedes.is_empty() {
                return Ok(());
            }
            let text = with_superseded(text.as_bytes(), proposed.supersedes);
            plan.merge(file, proposed.supersedes, &text)
        });
        self.finish(&found.store, outcome)
    }

    /// Removes a memory.
    pub(super) fn delete(&self, found: &FoundMemory, reason: Option<&str>) -> WriteResult {
        let file = &found.memory.file;
        if let Some((draft, check)) = self.draft_of(&found.store) {
            return delete_in_draft(draft, check, file, reason)
                .inspect_err(|error| check.on_rejected(file.as_str(), &error.to_string()));
        }
        let description =
            reason.map_or("removed".to_owned(), |reason| format!("removed: {reason}"));
        let by = match &self.check {
            Some(check) => {
                check.check_removal(file, reason)?;
                ChangeOrigin::new(check.author(), description)
            }
            None => self.by_model("", &description),
        };
        let outcome = found.store.change(&by, |plan| plan.delete(file, &Expected::Present));
        self.finish(&found.store, outcome)
    }

    /// Adds a note to the daily log. Where the scope has no store, the project's is used.
    pub(super) fn add_log_note(
        &self,
        scope: Scope,
        text: &str,
    ) -> Result<String, SessionMemoryError> {
        let memories = self.memories();
        let store = memories.store(scope).or_else(|_| memories.store(Scope::Project))?;
        let now = self.clock().now().to_zoned(TimeZone::system()).datetime();
        let file = store.note(&self.by_model(text, "noted"), text, now)?;
        Ok(format!("noted in {}", file.display()))
    }

    /// Replaces the whole file of a memory that was last seen with the content `before`.
    pub(super) fn write_file(
        &self,
        store: &Arc<Store>,
        file: &MemoryFile,
        before: Option<ContentHash>,
        text: &[u8],
    ) -> WriteResult {
        let by = self.by_model(&String::from_utf8_lossy(text), "written as a file");
        let expected = before.map_or(Expected::Absent, Expected::Content);
        let outcome = store.change(&by, |plan| plan.write(file, text, &expected));
        self.finish(store, outcome)
    }

    /// Replaces the index.
    pub(super) fn write_index(
        &self,
        store: &Arc<Store>,
        before: Option<ContentHash>,
        text: &str,
    ) -> WriteResult {
        // Only new lines have a source in this conversation.
        let old = store.index_text()?;
        let new: Vec<&str> =
            text.lines().filter(|line| !old.lines().any(|known| known == *line)).collect();
        // An order or a heading is nobody's claim: only words from outside count.
        let new = new.join("\n");
        let by = if self.is_from_outside(&new) {
            self.by_model(&new, "index edited")
        } else {
            ChangeOrigin::new(ChangeAuthor::Model, "index edited")
        };
        let expected = before.map_or(Expected::Absent, Expected::Content);
        let outcome = store.change(&by, |plan| plan.write_index(text, &expected));
        self.finish(store, outcome)
    }

    /// The draft that is written to in place of a store, with its check.
    fn draft_of(&self, store: &Arc<Store>) -> Option<(&MemoryDraft, &dyn ProvenanceCheck)> {
        let draft = self.drafts.iter().find(|draft| Arc::ptr_eq(draft.store(), store))?;
        Some((draft, self.check.as_deref()?))
    }

    /// The author of a proposal with the messages that it came from.
    fn by_proposal(
        &self,
        proposed: &ProposedMemory<'_>,
        reason: &str,
    ) -> Result<ChangeOrigin, SessionMemoryError> {
        let Some(check) = &self.check else {
            return Ok(self.by_quoting_model(&proposed.text(), proposed.quotes, reason));
        };
        let sources = check.sources(proposed)?;
        Ok(sources
            .into_iter()
            .fold(ChangeOrigin::new(check.author(), reason), ChangeOrigin::from_message))
    }

    /// The model as author, with the messages that a text came from.
    pub(super) fn by_model(&self, text: &str, reason: &str) -> ChangeOrigin {
        self.by_quoting_model(text, &[], reason)
    }

    /// The same, with the words that the model says a text rests on.
    fn by_quoting_model(&self, text: &str, quotes: &[String], reason: &str) -> ChangeOrigin {
        let quarantined = self.memories().quarantined(self.clock().now());
        let claimed = ClaimedText { text, quotes };
        let sources = self.provenance().sources_of(&claimed, &quarantined);
        sources
            .into_iter()
            .fold(ChangeOrigin::new(ChangeAuthor::Model, reason), ChangeOrigin::from_message)
    }

    /// Finishes a change: reports it, or asks the user where the policy says so.
    pub(super) fn finish(
        &self,
        store: &Arc<Store>,
        outcome: Result<ChangeOutcome, ChangeError>,
    ) -> WriteResult {
        match outcome? {
            ChangeOutcome::Unchanged => {
                Ok(MemoryWriteResult::Written("nothing had to change".to_owned()))
            }
            ChangeOutcome::Written(receipt) => {
                if self.counts_as_correction() {
                    self.changed.add_receipt(store, &receipt);
                }
                Ok(MemoryWriteResult::Written(self.report(store, &receipt)))
            }
            ChangeOutcome::Ask(proposal) => self.confirm(store, proposal),
            ChangeOutcome::InInbox(id) => Ok(self.proposed(store, id)),
        }
    }

    /// Asks the user. Without a way to ask, the change goes to the inbox.
    fn confirm(&self, store: &Arc<Store>, proposal: Proposal) -> WriteResult {
        match self.confirmation.decide(store, &proposal) {
            None => {
                let id = store.inbox().propose(proposal)?;
                Ok(self.proposed(store, id))
            }
            Some(ChangeDecision::Reject { reason }) => Err(SessionMemoryError::Rejected { reason }),
            Some(ChangeDecision::Accept) => self.finish(store, store.inbox().accept_now(&proposal)),
        }
    }

    /// A change waits in the inbox.
    fn proposed(&self, store: &Arc<Store>, id: ProposalId) -> MemoryWriteResult {
        if self.counts_as_correction() {
            self.changed.add_proposal(store, id);
        }
        let scope = store.scope();
        self.notices().add_written(WrittenChange { scope, files: Vec::new(), proposal: Some(id) });
        self.hooks.notify_proposal(store, &self.author(), id);
        MemoryWriteResult::Proposed(id)
    }

    /// What the model and the extraction change, they change because of what the user said. A dream corrects nothing.
    fn counts_as_correction(&self) -> bool {
        matches!(self.author(), ChangeAuthor::Model | ChangeAuthor::Extraction)
    }

    /// Reports a change: to hooks, to the user where the policy says so, and in the text for the model.
    fn report(&self, store: &Arc<Store>, receipt: &Receipt) -> String {
        let scope = store.scope();
        let text = ChangeText { scope, files: receipt.files.clone() }.to_string();
        self.hooks.notify_change(store, &self.author(), &receipt.files);
        let files = receipt.files.clone();
        self.notices().add_written(WrittenChange { scope, files, proposal: None });
        if receipt.rule == PolicyAction::Notify {
            self.notices().add(text.clone());
        }
        text
    }
}

/// What the model is told where a memory of the same scope says everything that is proposed, or the opposite of it.
fn answer_by_known(
    proposed: &ProposedMemory<'_>,
    is_users_word: bool,
    memories: &ReachableMemories,
    now: Timestamp,
) -> Option<String> {
    let claims = Claims::of(&proposed.memory.body);
    let query = format!("{} {}", proposed.memory.description, proposed.memory.body);
    // A search that fails finds no such memory: the proposed one is saved.
    let ranking = memories.search(&query, Some(proposed.scope), COMPARED, now).ok()?;
    ranking.hits.iter().filter_map(|hit| memories.found(hit)).find_map(|found| {
        // The user's own words are kept beside what others concluded.
        let is_kept_beside =
            is_users_word && !matches!(found.memory.header.trust, None | Some(Trust::Typed));
        match relation_to(proposed.memory, &claims, &found)? {
            TextRelation::Repeats if is_kept_beside => None,
            TextRelation::Repeats => Some(repeated_text(&found)),
            TextRelation::Contradicts => Some(contradicted_text(&found)),
        }
    })
}

/// How a proposed memory relates to one that exists. A short text is compared only as a whole.
fn relation_to(proposed: &NewMemory, claims: &Claims, known: &FoundMemory) -> Option<TextRelation> {
    // A memory that cannot be read is not known: the proposed one is saved.
    let (entry, _) = known.read().ok()?;
    if known.memory.header.name.as_deref() == Some(&*proposed.name)
        && entry.body.trim() == proposed.body.trim()
    {
        return Some(TextRelation::Repeats);
    }
    if claims.len() < LEAST_CLAIMS {
        return None;
    }
    TextRelation::of(claims, &Claims::of(&known.file_text().unwrap_or_default()))
}

/// What the model is told in the place of a second memory.
fn repeated_text(known: &FoundMemory) -> String {
    format!(
        "not saved: {} says this already. To change it, read it and save it with `file`",
        known.path().display()
    )
}

/// What the model is told in the place of a memory that says the opposite of another.
fn contradicted_text(known: &FoundMemory) -> String {
    let path = known.path().display().to_string();
    let says = known.memory.header.description.as_deref();
    let says = says.map(|says| format!(" ({says})")).unwrap_or_default();
    format!(
        "not saved: it contradicts {path}{says}. If the user has changed their mind, save it with `supersedes`; otherwise follow that memory or ask them"
    )
}

fn save_in_draft(
    draft: &MemoryDraft,
    check: &dyn ProvenanceCheck,
    proposed: &ProposedMemory<'_>,
) -> WriteResult {
    let sources = check.sources(proposed)?;
    let file = draft.save(proposed.memory, proposed.file, proposed.supersedes, &sources)?;
    check.on_draft_changed(proposed.scope, &file);
    let replaced: Vec<String> = proposed.supersedes.iter().map(ToString::to_string).collect();
    let replaced = if replaced.is_empty() {
        String::new()
    } else {
        format!(" instead of {}", replaced.join(", "))
    };
    let scope = proposed.scope;
    let text = format!("saved {file} in the copy of the {scope} memory{replaced}");
    Ok(MemoryWriteResult::Written(text))
}

fn delete_in_draft(
    draft: &MemoryDraft,
    check: &dyn ProvenanceCheck,
    file: &MemoryFile,
    reason: Option<&str>,
) -> WriteResult {
    let scope = draft.store().scope();
    check.check_removal(file, reason)?;
    draft.delete(file, reason.unwrap_or_default())?;
    check.on_draft_changed(scope, file);
    let text = format!("removed {file} from the copy of the {scope} memory");
    Ok(MemoryWriteResult::Written(text))
}

/// The text with the superseded memories named in its frontmatter.
fn with_superseded(text: &[u8], superseded: &[MemoryFile]) -> String {
    let text = String::from_utf8_lossy(text).into_owned();
    let names: Vec<String> = superseded.iter().map(ToString::to_string).collect();
    // A frontmatter that cannot take another field is left as it is: the history has the names as well.
    dormouse_frontmatter::set_list(&text, "supersedes", &names).unwrap_or(text)
}
