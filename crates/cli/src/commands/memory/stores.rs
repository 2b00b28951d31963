//! The memory stores that a command works on, finding a memory by name, and confirmation for secrets.

use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use dormouse_base::{Project, Settings, nearest_name};
use dormouse_memory::recall::{MemoryHit, QuarantineFilter};
use dormouse_memory::{
    ChangeError, ChangeOrigin, ChangeOutcome, FoundMemory, MemoryType, MemoryUsage,
    ReachableMemories, Receipt, StoreScope, Trust, fold,
};
use dormouse_search::Embedder;
use jiff::Timestamp;
use serde::Serialize;

use crate::args::MemoryScopeArgument;
use crate::commands::memory::agent_scope::world_of_scope;
use crate::message_catalog::msg;
use crate::wiring::exit::Failure;
use crate::wiring::input;
use crate::wiring::memory_directories::{DirectoryAccess, MemoryDirectories};
use crate::wiring::memory_stores::{self, OpenedStores, ScopedStore};
use crate::wiring::print;
use crate::wiring::world::World;

/// The stores of a command.
pub(super) struct SelectedStores {
    pub(super) list: Vec<ScopedStore>,
    /// The memories of the stores in `list`, in the same order.
    pub(super) reachable: ReachableMemories,
    pub(super) directories: MemoryDirectories,
    pub(super) project: Project,
    pub(super) now: Timestamp,
}

impl SelectedStores {
    /// Opens the existing stores of a scope, or of all scopes.
    pub(super) async fn open(
        world: &World,
        scope: Option<&MemoryScopeArgument>,
    ) -> Result<Self, Failure> {
        Self::open_with(world, scope, |_| Ok(None)).await
    }

    /// Like [`Self::open`]; memories are also ranked by the vectors of an embedder.
    pub(super) async fn open_with(
        world: &World,
        scope: Option<&MemoryScopeArgument>,
        embedder: impl FnOnce(&Settings) -> Result<Option<Arc<dyn Embedder>>, Failure>,
    ) -> Result<Self, Failure> {
        let chosen = scope.map(|scope| world_of_scope(scope, world)).transpose()?;
        let (world, scope) = match &chosen {
            Some((world, scope)) => (world, Some(*scope)),
            None => (world, None),
        };
        let OpenedStores { list, reachable, directories, project, .. } =
            OpenedStores::open(world, scope, embedder).await?;
        Ok(Self { list, reachable, directories, project, now: world.clock.now() })
    }

    /// All memories, newest first.
    pub(super) fn memories(&self) -> Result<Vec<ScopedMemory<'_>>, Failure> {
        let found = self.reachable.list(None, QuarantineFilter::Include)?;
        let unreadable = self.reachable.unreadable()?;
        if unreadable > 0 {
            print::note(&msg!("memory-unreadable-files", count = unreadable));
        }
        let mut memories: Vec<_> =
            found.into_iter().filter_map(|found| self.scoped(found)).collect();
        memories.sort_by_cached_key(|memory| std::cmp::Reverse(memory.changed_at()));
        Ok(memories)
    }

    /// The memory of a search result.
    pub(super) fn memory_of(&self, hit: &MemoryHit) -> Option<ScopedMemory<'_>> {
        self.scoped(self.reachable.found(hit)?)
    }

    fn scoped(&self, found: FoundMemory) -> Option<ScopedMemory<'_>> {
        Some(ScopedMemory { scoped: self.list.get(found.position)?, found })
    }

    /// Finds a memory by file name, path or title.
    pub(super) fn find_by_name(&self, name: &str) -> Result<ScopedMemory<'_>, Failure> {
        let all = self.memories()?;
        let names: Vec<String> = all.iter().map(|found| found.memory.name().to_owned()).collect();
        let (by_file, rest): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|found| found.is_file(name));
        let mut matching = if by_file.is_empty() {
            rest.into_iter().filter(|found| found.has_title(name)).collect()
        } else {
            by_file
        };
        match (matching.pop(), matching.is_empty()) {
            (Some(only), true) => Ok(only),
            (Some(last), false) => Err(ambiguous(name, matching.iter().chain([&last]))),
            (None, _) => Err(unknown(name, names)),
        }
    }
}

/// Opens the store of a scope for new memories, creating it if needed.
pub(super) async fn open_for_writing(
    world: &World,
    scope: StoreScope,
) -> Result<ScopedStore, Failure> {
    let (directories, ..) = memory_stores::find(DirectoryAccess::Write(scope), world).await?;
    let directory = directories.of(scope).ok_or_else(no_repo_scope)?;
    Ok(ScopedStore { scope: directory.scope, store: Arc::new(directories.open(directory)?) })
}

/// In the home directory, the repository's memory folder would be the user's own.
pub(super) fn no_repo_scope() -> Failure {
    Failure::usage(anyhow::anyhow!(msg!("memory-no-repo-scope")))
        .hint(msg!("memory-no-repo-scope-hint"))
}

fn ambiguous<'a>(name: &str, matching: impl Iterator<Item = &'a ScopedMemory<'a>>) -> Failure {
    let each: Vec<String> =
        matching.map(|found| format!("{} ({})", found.memory.file, found.scoped.scope)).collect();
    let text = msg!("memory-ambiguous", name = name, memories = each.join(", "));
    Failure::usage(anyhow::anyhow!(text)).hint(msg!("memory-ambiguous-hint"))
}

fn unknown(name: &str, names: Vec<String>) -> Failure {
    let failure = Failure::failed(anyhow::anyhow!(msg!("memory-unknown", name = name)));
    let failure = match nearest_name(name, names) {
        Some(near) => failure.hint(msg!("did-you-mean", name = near)),
        None => failure,
    };
    failure.hint(msg!("memory-unknown-hint"))
}

/// A memory and its store with its scope.
pub(super) struct ScopedMemory<'a> {
    pub(super) scoped: &'a ScopedStore,
    found: FoundMemory,
}

impl Deref for ScopedMemory<'_> {
    type Target = FoundMemory;

    fn deref(&self) -> &FoundMemory {
        &self.found
    }
}

impl ScopedMemory<'_> {
    pub(super) fn path_text(&self) -> String {
        self.path().display().to_string()
    }

    fn is_file(&self, name: &str) -> bool {
        fold(self.memory.file.as_str()) == fold(name) || Path::new(name) == self.path()
    }

    pub(super) fn has_title(&self, name: &str) -> bool {
        let name = fold(name.trim());
        fold(self.memory.name()) == name || fold(self.memory.file.stem()) == name
    }

    /// How often it was recalled, cited and helpful.
    pub(super) fn usage(&self) -> MemoryUsage {
        self.store.usage().of(self.memory.file.as_str()).unwrap_or_default()
    }

    pub(super) fn summary(&self, now: Timestamp) -> MemorySummaryJson {
        let header = &self.memory.header;
        MemorySummaryJson {
            name: self.memory.name().to_owned(),
            description: header.description.clone(),
            kind: header.kind,
            scope: self.scoped.scope,
            file: self.memory.file.to_string(),
            path: self.path_text(),
            age_days: self.age(now).days(),
            modified: self.changed_at().to_string(),
            bytes: self.memory.size,
            pinned: header.pinned,
            quarantined: header.quarantined,
            trust: header.effective_trust(),
            usage: self.usage().into(),
        }
    }
}

impl ScopedStore {
    /// Records changes made by other programs. If that fails, they are left out with a note.
    pub(super) fn notice(&self) -> Result<(), Failure> {
        match self.store.history().record_external_changes() {
            Err(ChangeError::File(error)) => {
                print::note(&msg!("memory-external-changes-skipped", error = error.to_string()));
                Ok(())
            }
            noticed => Ok(noticed.map(drop)?),
        }
    }

    pub(super) fn path_of(&self, file: &str) -> String {
        self.store.dir().path().join(file).display().to_string()
    }
}

/// A memory in JSON output.
#[derive(Serialize)]
pub(super) struct MemorySummaryJson {
    name: String,
    description: Option<String>,
    #[serde(rename = "type")]
    kind: Option<MemoryType>,
    scope: StoreScope,
    file: String,
    path: String,
    age_days: u64,
    modified: String,
    bytes: u64,
    pinned: bool,
    quarantined: bool,
    trust: Trust,
    #[serde(flatten)]
    usage: MemoryUsageJson,
}

/// How often a memory was used, in JSON output.
#[derive(Serialize)]
struct MemoryUsageJson {
    /// How often it was added to a conversation automatically.
    recalled: u64,
    /// Number of turns in which a response named or quoted it.
    cited: u64,
    /// Number of turns in which its topic came up and no correction was needed.
    heeded: u64,
    /// Number of turns in which the user had to repeat it.
    violated: u64,
    /// Tokens used by recalls of it.
    tokens: u64,
    /// Time of the last turn in which it helped.
    last_helped: Option<String>,
}

impl From<MemoryUsage> for MemoryUsageJson {
    fn from(usage: MemoryUsage) -> Self {
        Self {
            recalled: usage.recalled,
            cited: usage.cited,
            heeded: usage.heeded,
            violated: usage.violated,
            tokens: usage.tokens,
            last_helped: usage.last_helped.map(|time| time.to_string()),
        }
    }
}

/// Makes a change that may contain a secret; the user must allow that (M-16).
pub(super) fn confirm_secrets<T>(
    by: ChangeOrigin,
    allowed: bool,
    attempt: impl Fn(&ChangeOrigin) -> Result<T, ChangeError>,
) -> Result<T, Failure> {
    let by = if allowed { by.allowing_secrets() } else { by };
    let found = match attempt(&by) {
        Err(ChangeError::Secrets(found)) => found,
        other => return Ok(other?),
    };
    let rules: BTreeSet<&str> = found.iter().map(|(_, found)| found.rule).collect();
    let rules = rules.into_iter().collect::<Vec<_>>().join(", ");
    if can_ask_user() {
        print::note(&msg!("memory-secret-confirm", rules = rules.as_str()));
        if input::confirm() {
            return Ok(attempt(&by.allowing_secrets())?);
        }
    }
    let refused = anyhow::anyhow!(msg!("memory-secret-found", rules = rules));
    Err(Failure::failed(refused).hint(msg!("memory-secret-hint")))
}

/// Whether there is a terminal to ask the user at.
pub(super) fn can_ask_user() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// The receipt of a change; none if nothing changed. The write policy does not hold back changes by the user.
pub(super) fn into_receipt(outcome: ChangeOutcome) -> Result<Option<Receipt>, Failure> {
    match outcome {
        ChangeOutcome::Written(receipt) => Ok(Some(receipt)),
        ChangeOutcome::Unchanged => Ok(None),
        ChangeOutcome::Ask(_) | ChangeOutcome::InInbox(_) => {
            Err(Failure::failed(anyhow::anyhow!(msg!("memory-change-held")))
                .hint(msg!("memory-change-held-hint")))
        }
    }
}
