//! The memory stores that a command works on, finding a memory by name, and confirmation for secrets.

use std::io::IsTerminal;
use std::path::Path;
use std::sync::Arc;

use dormouse_base::{Project, Settings, nearest_name};
use dormouse_memory::{
    Age, ChangeError, ChangeOrigin, ChangeOutcome, MemoryEntry, MemoryType, MemoryUsage, Receipt,
    ScanCache, Scanned, Store, Trust, fold,
};
use jiff::Timestamp;
use serde::Serialize;

use crate::args::MemoryScopeArgument;
use crate::message_catalog::msg;
use crate::wiring::exit::Failure;
use crate::wiring::input;
use crate::wiring::memory_places::{Places, Visit, Whose};
use crate::wiring::print;
use crate::wiring::settings;
use crate::wiring::trust::Untrusted;
use crate::wiring::world::{World, current_project};

/// A store with its scope.
pub(super) struct ScopedStore {
    pub(super) whose: Whose,
    pub(super) store: Arc<Store>,
}

/// The stores of a command.
pub(super) struct SelectedStores {
    pub(super) list: Vec<ScopedStore>,
    pub(super) places: Places,
    pub(super) project: Project,
    pub(super) settings: Settings,
    pub(super) now: Timestamp,
}

impl SelectedStores {
    /// Opens the existing stores of a scope, or of all scopes.
    pub(super) async fn open(
        world: &World,
        scope: Option<MemoryScopeArgument>,
    ) -> Result<Self, Failure> {
        let (places, project, settings) = find(world, Visit::Look).await?;
        let mut list = Vec::new();
        let selected = scope.map(|scope| places.of(scope.into()));
        for place in places.list() {
            if selected.is_some_and(|selected| selected != Some(place)) {
                continue;
            }
            if let Some(store) = places.existing(place)? {
                list.push(ScopedStore { whose: place.whose, store: Arc::new(store) });
            }
        }
        Ok(Self { list, places, project, settings, now: world.clock.now() })
    }

    /// All memories, newest first.
    pub(super) fn memories(&self) -> Result<Vec<FoundMemory<'_>>, Failure> {
        let mut found = Vec::new();
        let mut skipped = 0;
        for scoped in &self.list {
            let scan = scoped.store.scan(&mut ScanCache::default())?;
            skipped += scan.skipped.len();
            found.extend(scan.memories.into_iter().map(|memory| FoundMemory::of(scoped, memory)));
        }
        if skipped > 0 {
            print::note(&msg!("memory-unreadable-files", count = skipped));
        }
        found.sort_by_key(|found| std::cmp::Reverse(found.changed));
        Ok(found)
    }

    /// Finds a memory by file name, path or title.
    pub(super) fn find_by_name(&self, name: &str) -> Result<FoundMemory<'_>, Failure> {
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
pub(super) async fn open_for_writing(world: &World, whose: Whose) -> Result<ScopedStore, Failure> {
    let (places, ..) = find(world, Visit::Write(whose)).await?;
    let place = places.of(whose).ok_or_else(no_repo_scope)?;
    Ok(ScopedStore { whose: place.whose, store: Arc::new(places.open(place)?) })
}

/// In the home directory, the repository's memory folder would be the user's own.
pub(super) fn no_repo_scope() -> Failure {
    Failure::usage(anyhow::anyhow!(msg!("memory-no-repo-scope")))
        .hint(msg!("memory-no-repo-scope-hint"))
}

async fn find(world: &World, visit: Visit) -> Result<(Places, Project, Settings), Failure> {
    let project = current_project()?;
    let in_force = settings::load(world, None, &project, Untrusted::Pass)?;
    let places =
        Places::find(world, &project, (&in_force.settings, &in_force.switches), visit).await?;
    if let Some(old) = &places.taken_over_from {
        print::note(&msg!("memory-repository-moved", path = old.display().to_string()));
    }
    Ok((places, project, in_force.settings))
}

fn ambiguous<'a>(name: &str, matching: impl Iterator<Item = &'a FoundMemory<'a>>) -> Failure {
    let each: Vec<String> =
        matching.map(|found| format!("{} ({})", found.memory.file, found.scoped.whose)).collect();
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

/// A memory, its store, and the time of its last change.
pub(super) struct FoundMemory<'a> {
    pub(super) scoped: &'a ScopedStore,
    pub(super) memory: Arc<Scanned>,
    pub(super) changed: Timestamp,
}

impl<'a> FoundMemory<'a> {
    pub(super) fn of(scoped: &'a ScopedStore, memory: Arc<Scanned>) -> Self {
        let changed = scoped.store.changed_at(&memory);
        Self { scoped, memory, changed }
    }

    pub(super) fn path(&self) -> String {
        self.scoped.path_of(self.memory.file.as_str())
    }

    pub(super) fn age(&self, now: Timestamp) -> Age {
        Age::between(self.changed, now)
    }

    fn is_file(&self, name: &str) -> bool {
        fold(self.memory.file.as_str()) == fold(name) || Path::new(name) == Path::new(&self.path())
    }

    fn has_title(&self, name: &str) -> bool {
        let name = fold(name.trim());
        fold(self.memory.name()) == name || fold(self.memory.file.stem()) == name
    }

    pub(super) fn row(&self, now: Timestamp) -> MemoryRow {
        let (header, uses) = (&self.memory.header, self.uses());
        MemoryRow {
            name: self.memory.name().to_owned(),
            description: header.description.clone(),
            kind: header.kind,
            scope: self.scoped.whose,
            file: self.memory.file.to_string(),
            path: self.path(),
            age_days: self.age(now).days(),
            modified: self.changed.to_string(),
            bytes: self.memory.size,
            pinned: header.pinned,
            quarantined: header.quarantined,
            trust: header.effective_trust(),
            recalled: uses.recalled,
            cited: uses.cited,
            heeded: uses.heeded,
            violated: uses.violated,
            tokens: uses.tokens,
            last_helped: uses.last_helped.map(|time| time.to_string()),
        }
    }

    /// How often it was recalled, cited and helpful.
    pub(super) fn uses(&self) -> MemoryUsage {
        self.scoped.store.usage().of(self.memory.file.as_str()).unwrap_or_default()
    }

    /// The parsed memory and the text of its file.
    pub(super) fn entry(&self) -> Result<(MemoryEntry, String), Failure> {
        let (bytes, _) = self.scoped.store.read(&self.memory.file)?;
        let entry = MemoryEntry::read(&bytes, self.memory.size);
        Ok((entry, String::from_utf8_lossy(&bytes).into_owned()))
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
pub(super) struct MemoryRow {
    pub(super) name: String,
    pub(super) description: Option<String>,
    #[serde(rename = "type")]
    pub(super) kind: Option<MemoryType>,
    pub(super) scope: Whose,
    pub(super) file: String,
    pub(super) path: String,
    pub(super) age_days: u64,
    pub(super) modified: String,
    pub(super) bytes: u64,
    pub(super) pinned: bool,
    pub(super) quarantined: bool,
    pub(super) trust: Trust,
    /// How often it was added to a conversation automatically.
    pub(super) recalled: u64,
    /// Number of turns in which a response named or quoted it.
    pub(super) cited: u64,
    /// Number of turns in which its topic came up and no correction was needed.
    pub(super) heeded: u64,
    /// Number of turns in which the user had to repeat it.
    pub(super) violated: u64,
    /// Tokens used by recalls of it.
    pub(super) tokens: u64,
    /// Time of the last turn in which it helped.
    pub(super) last_helped: Option<String>,
}

/// Makes a change that may contain a secret; the user must allow that (M-16).
pub(super) fn confirm_secrets<T>(
    by: ChangeOrigin,
    allowed: bool,
    attempt: impl Fn(&ChangeOrigin) -> Result<T, ChangeError>,
) -> Result<T, Failure> {
    let by = if allowed { by.allowing_secrets() } else { by };
    let refused = |found| {
        let failure = Failure::from(ChangeError::Secrets(found));
        failure.hint(msg!("memory-secret-hint"))
    };
    match attempt(&by) {
        Err(ChangeError::Secrets(found)) if can_ask_user() => {
            let rules: Vec<&str> = found.iter().map(|(_, found)| found.rule).collect();
            print::note(&msg!("memory-secret-confirm", rules = rules.join(", ")));
            if input::confirm() {
                return Ok(attempt(&by.allowing_secrets())?);
            }
            Err(refused(found))
        }
        Err(ChangeError::Secrets(found)) => Err(refused(found)),
        other => Ok(other?),
    }
}

fn can_ask_user() -> bool {
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
