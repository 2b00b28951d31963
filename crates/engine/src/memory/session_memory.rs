//! The stores of a session, and what its tools know about the conversation.

use dormouse_memory::recall::{MemoryHit, MemoryQuery, MemorySearch, QuarantineFilter};
use dormouse_search::Embedder;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use dormouse_base::{Clock, FileError, MessageId, SessionId};
use dormouse_memory::{
    Author, By, ChangeError, ContentHash, Draft, Effect, Entry, Expected, INDEX, MemoryFile,
    Outcome, Proposal, ProposalId, Receipt, Rule, Saving, ScanCache, Scanned, Scope, Store, Trust,
    manifest_line,
};

use dormouse_tools::Asker;

use jiff::tz::TimeZone;

use super::changed_memories::ChangedMemories;
use super::confirmation::{self, ChangeDecision};
use super::hook_notify::MemoryHooks;
use super::sources::{Sources, Unconfirmed};
use super::vector_schedule::{FILLED_AT_ONCE, VectorSchedule};
use super::witness::Witness;

/// Memory, as a session has it.
pub struct SessionMemory {
    stores: Vec<Arc<Store>>,
    recall: Arc<MemorySearch>,
    saving: Saving,
    clock: Arc<dyn Clock>,
    heard: Mutex<Heard>,
    asker: OnceLock<Arc<dyn Asker>>,
    filling: Arc<VectorSchedule>,
    /// Which memories were changed because of what was said, in whosever hands.
    pub(super) updates: Arc<ChangedMemories>,
    /// Who says what a memory rests on, where it is not the model in its conversation that writes.
    pub(super) witness: Option<Arc<dyn Witness>>,
    /// Copies that are written to instead, where that is so.
    pub(super) drafts: Vec<Arc<Draft>>,
    /// Who hears of what is written, in whosever hands: the hooks of the session.
    pub(super) ears: Arc<MemoryHooks>,
}

impl std::fmt::Debug for SessionMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let scopes: Vec<_> = self.stores.iter().map(|store| store.scope()).collect();
        f.debug_struct("SessionMemory").field("scopes", &scopes).finish_non_exhaustive()
    }
}

#[derive(Debug, Default)]
pub(super) struct Heard {
    session: String,
    sources: Sources,
    notices: Vec<String>,
    /// What was written, in its order.
    pub(super) written: Vec<Written>,
    /// The person has said yes to all changes of this session.
    all_wanted: bool,
}

/// What a memory says.
#[derive(Debug, Clone)]
pub struct MemoryText {
    /// Where it is.
    pub scope: Scope,
    /// Its file.
    pub file: MemoryFile,
    /// Its description and its text.
    pub text: String,
}

/// A change that was made or proposed.
#[derive(Debug, Clone)]
pub struct Written {
    /// In which memory.
    pub scope: Scope,
    /// Which files, and what became of each.
    pub files: Vec<(MemoryFile, Effect)>,
    /// The proposal, where it waits for the person.
    pub waits: Option<ProposalId>,
}

/// A memory, and where it is.
#[derive(Clone)]
pub(crate) struct FoundMemory {
    pub(crate) store: Arc<Store>,
    pub(crate) memory: Arc<Scanned>,
}

impl FoundMemory {
    /// Its file.
    pub(crate) fn path(&self) -> PathBuf {
        self.store.dir().path().join(self.memory.file.as_str())
    }
}

impl std::fmt::Debug for FoundMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("FoundMemory").field(&self.path()).finish()
    }
}

/// What became of a change that the model wanted.
pub(crate) enum MemoryWriteResult {
    /// It is made, or was so already.
    Written(String),
    /// It waits for the person.
    Proposed(ProposalId),
}

impl SessionMemory {
    /// Memory in these stores, one a scope. `cache` is the folder of what can be derived anew; `embedder` a model
    /// for vectors, where the person has one.
    pub fn new(
        stores: Vec<Arc<Store>>,
        saving: Saving,
        cache: Option<&Path>,
        clock: Arc<dyn Clock>,
        embedder: Option<Arc<dyn Embedder>>,
    ) -> Arc<Self> {
        let mut recall = MemorySearch::open(stores.clone(), cache);
        if let Some(embedder) = embedder {
            recall = recall.with_embedder(embedder);
        }
        let root = stores.iter().find_map(|store| store.project_root()).cloned();
        let recall = match root {
            Some(root) => recall.with_project(root),
            None => recall,
        };
        Arc::new(Self {
            stores,
            recall: Arc::new(recall),
            saving,
            clock,
            heard: Mutex::default(),
            asker: OnceLock::new(),
            filling: Arc::default(),
            updates: Arc::default(),
            witness: None,
            drafts: Vec::new(),
            ears: Arc::default(),
        })
    }

    /// Drafts of memories in the hands of a dream: nothing but these copies is read or written.
    pub fn over_drafts(&self, drafts: Vec<Arc<Draft>>, witness: Arc<dyn Witness>) -> Arc<Self> {
        let stores: Vec<Arc<Store>> =
            drafts.iter().map(|draft| Arc::clone(draft.store())).collect();
        Arc::new(Self {
            recall: Arc::new(MemorySearch::open(stores.clone(), None)),
            stores,
            saving: Saving::Entries,
            clock: Arc::clone(&self.clock),
            heard: Mutex::default(),
            asker: OnceLock::new(),
            // What a dream does is no correction of the person's.
            updates: Arc::default(),
            filling: Arc::default(),
            witness: Some(witness),
            drafts,
            ears: Arc::default(),
        })
    }

    /// Whether a text has words that came from outside, in this session or in a memory that nobody has confirmed.
    pub fn is_from_outside(&self, text: &str) -> bool {
        let unconfirmed = self.unconfirmed();
        let heard = self.heard();
        let sources = heard.sources.of(text, &heard.session, &unconfirmed);
        sources.iter().any(|source| source.trust == Trust::Outside)
    }

    /// The same memory in other hands: those of work beside the conversation, for which somebody vouches.
    /// Nobody is asked; what a policy wants to ask about goes to the inbox.
    pub fn for_background(&self, witness: Arc<dyn Witness>) -> Arc<Self> {
        Arc::new(Self {
            stores: self.stores.clone(),
            recall: Arc::clone(&self.recall),
            saving: self.saving,
            clock: Arc::clone(&self.clock),
            heard: Mutex::default(),
            asker: OnceLock::new(),
            filling: Arc::clone(&self.filling),
            updates: Arc::clone(&self.updates),
            witness: Some(witness),
            drafts: self.drafts.clone(),
            ears: Arc::clone(&self.ears),
        })
    }

    /// The stores.
    pub fn stores(&self) -> &[Arc<Store>] {
        &self.stores
    }

    /// The ranking over them.
    pub(crate) fn recall(&self) -> &MemorySearch {
        &self.recall
    }

    /// Takes up what others have changed, and makes vectors of it where there is a model for that. In the
    /// background: it may take long.
    pub(crate) fn look_around(&self) {
        // What can not be looked at is as it was; a search says so if it fails for the same reason.
        let _as_it_was = self.recall.rescan(self.clock.now());
        if self.recall.embedder_location().is_some() && self.filling.is_due(self.clock.elapsed()) {
            let filled = self.recall.fill(self.clock.now(), FILLED_AT_ONCE);
            self.filling.done(filled.is_ok());
        }
    }

    /// How the model saves.
    pub fn saving(&self) -> Saving {
        self.saving
    }

    /// How many changes wait for the person to accept or refuse them (M-21).
    pub fn waiting(&self) -> Result<usize, ChangeError> {
        self.stores.iter().map(|store| Ok(store.inbox()?.len())).sum()
    }

    pub(crate) fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    pub(super) fn heard(&self) -> MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Somebody is there who can be asked about a change.
    pub(crate) fn set_asker(&self, asker: Arc<dyn Asker>) {
        self.asker.get_or_init(|| asker);
    }

    /// A session begins: what was said before belongs to another.
    pub(crate) fn begin(&self, session: SessionId) {
        *self.heard() = Heard { session: session.to_string(), ..Heard::default() };
        drop(self.updates.take());
    }

    /// Something was said in it.
    pub(crate) fn record(&self, id: MessageId, trust: Trust, text: &str) {
        self.heard().sources.hear(id, trust, text);
    }

    /// Whether something from outside had these words in it.
    pub(super) fn heard_outside(&self, words: &str) -> bool {
        self.heard().sources.is_outside(words)
    }

    /// The person is to be told something about memory.
    pub fn say(&self, notice: String) {
        self.heard().notices.push(notice);
    }

    /// What the person is to be told.
    pub fn take_notices(&self) -> Vec<String> {
        std::mem::take(&mut self.heard().notices)
    }

    /// What was written with it since this was last asked.
    pub fn take_written(&self) -> Vec<Written> {
        std::mem::take(&mut self.heard().written)
    }

    /// The store of a scope.
    pub(crate) fn store(&self, scope: Scope) -> Option<&Arc<Store>> {
        self.stores.iter().find(|store| store.scope() == scope)
    }

    /// The store whose directory a path is in, and the path in it.
    pub(crate) fn store_of<'p>(&self, path: &'p Path) -> Option<(&Arc<Store>, &'p Path)> {
        let within = |store: &Arc<Store>| {
            let real = store.dir().path().canonicalize();
            path.strip_prefix(real.as_deref().unwrap_or(store.dir().path())).ok()
        };
        // The team's directory is inside the project's: the longest counts.
        let mut found: Vec<_> =
            self.stores.iter().filter_map(|store| Some((store, within(store)?))).collect();
        found.sort_by_key(|(_, rest)| rest.as_os_str().len());
        found.into_iter().next()
    }

    /// A line for each memory that may be shown, scope by scope, newest first (M-10).
    pub fn manifest(&self) -> Result<Vec<String>, ChangeError> {
        let now = self.clock.now();
        let shown = |found: &FoundMemory| !found.memory.header.quarantined;
        let line = |found: &FoundMemory| {
            let changed = found.store.changed_at(&found.memory);
            manifest_line(&found.memory, found.store.scope(), changed, now)
        };
        Ok(self.all(None)?.iter().filter(|found| shown(found)).map(line).collect())
    }

    /// What all memories say, for looking whether something is said already.
    pub fn texts(&self) -> Result<Vec<MemoryText>, ChangeError> {
        let known = |found: FoundMemory| {
            // What can not be read can not be repeated either.
            let (bytes, _) = found.store.read(&found.memory.file).ok()?;
            let entry = Entry::read(&bytes, found.memory.size);
            let description = entry.header.description.clone().unwrap_or_default();
            let text = format!("{description}\n{}", entry.text());
            Some(MemoryText { scope: found.store.scope(), file: found.memory.file.clone(), text })
        };
        Ok(self.all(None)?.into_iter().filter_map(known).collect())
    }

    /// All memories, scope by scope, newest first.
    pub(crate) fn all(&self, scope: Option<Scope>) -> Result<Vec<FoundMemory>, ChangeError> {
        let mut found = Vec::new();
        for store in self.stores.iter().filter(|store| scope.is_none_or(|s| s == store.scope())) {
            let scan = store.scan(&mut ScanCache::default())?;
            found.extend(
                scan.memories
                    .into_iter()
                    .map(|memory| FoundMemory { store: Arc::clone(store), memory }),
            );
        }
        Ok(found)
    }

    /// The memories that fit a query best, and how many more have something of it.
    pub(crate) fn search(
        &self,
        query: &str,
        only: Option<Scope>,
        most: usize,
    ) -> Result<(Vec<FoundMemory>, usize), FileError> {
        let shelf = only.and_then(|scope| self.stores.iter().position(|s| s.scope() == scope));
        if only.is_some() && shelf.is_none() {
            return Ok((Vec::new(), 0));
        }
        let (exclude, now) = (BTreeSet::new(), self.clock.now());
        let quarantined = QuarantineFilter::Exclude;
        let query = MemoryQuery {
            text: query,
            limit: most,
            store_index: shelf,
            exclude: &exclude,
            quarantined,
            now,
        };
        // The model asks and waits for a tool: a server for vectors may be asked too.
        let ranking = self.recall.search(&query)?;
        let found = |hit: MemoryHit| {
            let store = Arc::clone(self.stores.get(hit.store_index)?);
            Some(FoundMemory { store, memory: hit.memory })
        };
        let hits = ranking.hits.into_iter().filter_map(found).collect();
        Ok((hits, ranking.omitted))
    }

    /// The memory of this file or name; or why there is none to be found.
    pub(crate) fn find(&self, name: &str, scope: Option<Scope>) -> Result<FoundMemory, String> {
        let mut named = Vec::new();
        for store in self.stores.iter().filter(|store| scope.is_none_or(|s| s == store.scope())) {
            let scan = store.scan(&mut ScanCache::default()).map_err(|error| error.to_string())?;
            if let Some(memory) = scan.find(name) {
                named.push(FoundMemory { store: Arc::clone(store), memory: Arc::clone(memory) });
            }
        }
        let count = named.len();
        match named.pop() {
            Some(found) if count == 1 => Ok(found),
            Some(_) => Err(format!(
                "there are {count} memories `{name}`, in different scopes; say which with `scope`"
            )),
            None => Err(format!(
                "there is no memory `{name}`, or several share that name; MemoryList shows the file names"
            )),
        }
    }

    /// Adds a note to the log of the day.
    pub(crate) fn note(&self, scope: Scope, text: &str) -> Result<String, String> {
        let store = self.store(scope).or_else(|| self.store(Scope::Project));
        let store = store.ok_or_else(|| format!("there is no `{scope}` memory here"))?;
        let now = self.clock.now().to_zoned(TimeZone::system()).datetime();
        let file = store.note(&self.by(text, "noted"), text, now).map_err(|e| e.to_string())?;
        Ok(format!("noted in {}", file.display()))
    }

    /// Writes a memory's whole file, as it was read.
    pub(crate) fn write(
        &self,
        store: &Arc<Store>,
        file: &MemoryFile,
        before: Option<ContentHash>,
        text: &[u8],
        reason: &str,
    ) -> Result<MemoryWriteResult, String> {
        let by = self.by(&String::from_utf8_lossy(text), reason);
        let expected = before.map_or(Expected::Absent, Expected::Content);
        let outcome = store.change(&by, |plan| plan.write(file, text, &expected));
        self.done(store, outcome)
    }

    /// Writes the index.
    pub(crate) fn write_index(
        &self,
        store: &Arc<Store>,
        before: Option<ContentHash>,
        text: &str,
    ) -> Result<MemoryWriteResult, String> {
        // What was there before is not what this change brings in.
        let old = store.index_text().map_err(|error| error.to_string())?;
        let new: Vec<&str> =
            text.lines().filter(|line| !old.lines().any(|known| known == *line)).collect();
        let by = self.by(&new.join("\n"), "index edited");
        let expected = before.map_or(Expected::Absent, Expected::Content);
        let outcome = store.change(&by, |plan| plan.write_index(text, &expected));
        self.done(store, outcome)
    }

    /// The model, with the messages that a text came from.
    pub(super) fn by(&self, text: &str, reason: &str) -> By {
        let unconfirmed = self.unconfirmed();
        let heard = self.heard();
        let sources = heard.sources.of(text, &heard.session, &unconfirmed);
        sources.into_iter().fold(By::new(Author::Model, reason), By::from_message)
    }

    /// The memories in quarantine: by whatever way their words come back, they are still from outside.
    fn unconfirmed(&self) -> Vec<Unconfirmed> {
        // What can not be read now can not be repeated either.
        let found = self.all(None).unwrap_or_default();
        let quarantined = found.iter().filter(|found| found.memory.header.quarantined);
        let text = |found: &FoundMemory| {
            let (bytes, _) = found.store.read(&found.memory.file).ok()?;
            let text = Entry::read(&bytes, found.memory.size).body;
            Some(Unconfirmed { file: found.memory.file.to_string(), text })
        };
        quarantined.filter_map(text).collect()
    }

    /// What became of a change; the person is asked where that is for them to say.
    pub(super) fn done(
        &self,
        store: &Arc<Store>,
        outcome: Result<Outcome, ChangeError>,
    ) -> Result<MemoryWriteResult, String> {
        match outcome.map_err(|error| error.to_string())? {
            Outcome::Unchanged => Ok(MemoryWriteResult::Written("it was so already".to_owned())),
            Outcome::Written(receipt) => {
                self.note_receipt(store, &receipt);
                Ok(MemoryWriteResult::Written(self.tell(store, &receipt)))
            }
            Outcome::Ask(proposal) => self.asked(store, proposal),
            Outcome::InInbox(id) => Ok(self.waits(store, id)),
        }
    }

    /// Asks the person; where nobody is there, the inbox keeps the change until somebody is.
    fn asked(&self, store: &Arc<Store>, proposal: Proposal) -> Result<MemoryWriteResult, String> {
        let wish = match self.asker.get() {
            _ if self.heard().all_wanted => Some(ChangeDecision::Make),
            Some(asker) => confirmation::ask(asker, store, &proposal),
            None => None,
        };
        match wish {
            None => {
                let id = store.propose(proposal).map_err(|error| error.to_string())?;
                Ok(self.waits(store, id))
            }
            Some(ChangeDecision::Refuse { said }) => {
                let why = said.map(|said| format!(": {said}")).unwrap_or_default();
                Err(format!("the person does not want this change of memory{why}"))
            }
            Some(wish) => {
                self.heard().all_wanted |= wish == ChangeDecision::MakeAll;
                self.done(store, store.accept_now(&proposal))
            }
        }
    }

    /// What was done, for the model; and for the person, where the policy says so.
    fn tell(&self, store: &Arc<Store>, receipt: &Receipt) -> String {
        let files: Vec<String> = receipt
            .files
            .iter()
            .map(|(file, effect)| {
                let done = match effect {
                    Effect::Added => "saved",
                    Effect::Changed => "changed",
                    Effect::Removed => "removed",
                };
                format!("{done} {file}")
            })
            .collect();
        let files = if files.is_empty() { format!("changed {INDEX}") } else { files.join(", ") };
        let what = format!("{files} ({} memory)", store.scope());
        let (scope, files) = (store.scope(), receipt.files.clone());
        self.tell_hooks(store, &receipt.files);
        self.heard().written.push(Written { scope, files, waits: None });
        if receipt.rule == Rule::Notify {
            self.heard().notices.push(what.clone());
        }
        what
    }
}
