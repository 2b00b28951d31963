//! The memories in reach of a command: which stores, which memory is meant, and what a person is asked.

use std::io::IsTerminal;
use std::path::Path;
use std::sync::Arc;

use dormouse_base::{Project, Settings, nearest_name};
use dormouse_memory::{
    Age, By, ChangeError, Entry, MemoryType, Outcome, Receipt, ScanCache, Scanned, Store, Trust,
    Uses, fold,
};
use jiff::Timestamp;
use serde::Serialize;

use crate::args::MemoryScopeArgument;
use crate::wiring::exit::Failure;
use crate::wiring::input;
use crate::wiring::memory_places::{Places, Visit, Whose};
use crate::wiring::print;
use crate::wiring::settings;
use crate::wiring::trust::Untrusted;
use crate::wiring::world::{World, current_project};

/// A store, and whose memories it has.
pub(super) struct Shelf {
    pub(super) whose: Whose,
    pub(super) store: Arc<Store>,
}

/// The stores of a command.
pub(super) struct Desk {
    pub(super) shelves: Vec<Shelf>,
    pub(super) places: Places,
    pub(super) project: Project,
    pub(super) settings: Settings,
    pub(super) now: Timestamp,
}

impl Desk {
    /// What is there, to look at or to change.
    pub(super) async fn open(
        world: &World,
        scope: Option<MemoryScopeArgument>,
    ) -> Result<Self, Failure> {
        let (places, project, settings) = find(world, Visit::Look).await?;
        let mut shelves = Vec::new();
        let wanted = scope.map(|scope| places.of(scope.into()));
        for place in places.list() {
            if wanted.is_some_and(|wanted| wanted != Some(place)) {
                continue;
            }
            if let Some(store) = places.existing(place)? {
                shelves.push(Shelf { whose: place.whose, store: Arc::new(store) });
            }
        }
        Ok(Self { shelves, places, project, settings, now: world.clock.now() })
    }

    /// Every memory: newest first, the whole of it.
    pub(super) fn memories(&self) -> Result<Vec<Found<'_>>, Failure> {
        let mut found = Vec::new();
        let mut skipped = 0;
        for shelf in &self.shelves {
            let scan = shelf.store.scan(&mut ScanCache::default())?;
            skipped += scan.skipped.len();
            found.extend(scan.memories.into_iter().map(|memory| Found::of(shelf, memory)));
        }
        if skipped > 0 {
            print::note(&format!(
                "note: files that could not be read: {skipped}; `dormouse memory doctor` says why"
            ));
        }
        found.sort_by_key(|found| std::cmp::Reverse(found.changed));
        Ok(found)
    }

    /// The memory that is meant by a file, a path or a name.
    pub(super) fn named(&self, name: &str) -> Result<Found<'_>, Failure> {
        let all = self.memories()?;
        let names: Vec<String> = all.iter().map(|found| found.memory.name().to_owned()).collect();
        let (by_file, rest): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|found| found.is_file(name));
        let mut fitting = if by_file.is_empty() {
            rest.into_iter().filter(|found| found.is_called(name)).collect()
        } else {
            by_file
        };
        match (fitting.pop(), fitting.is_empty()) {
            (Some(only), true) => Ok(only),
            (Some(last), false) => Err(ambiguous(name, fitting.iter().chain([&last]))),
            (None, _) => Err(unknown(name, names)),
        }
    }
}

/// The store that new memories go into.
pub(super) async fn shelf_to_fill(world: &World, whose: Whose) -> Result<Shelf, Failure> {
    let (places, ..) = find(world, Visit::Write(whose)).await?;
    let place = places.of(whose).ok_or_else(no_repository)?;
    Ok(Shelf { whose: place.whose, store: Arc::new(places.open(place)?) })
}

/// At the top of a home folder the repository's folder is the person's own.
pub(super) fn no_repository() -> Failure {
    Failure::usage(anyhow::anyhow!("here the repository's memories would be your own"))
        .hint("leave --scope repo out")
}

async fn find(world: &World, visit: Visit) -> Result<(Places, Project, Settings), Failure> {
    let project = current_project()?;
    let in_force = settings::load(world, None, &project, Untrusted::Pass)?;
    let places =
        Places::find(world, &project, (&in_force.settings, &in_force.switches), visit).await?;
    if let Some(old) = &places.taken_over_from {
        print::note(&format!(
            "note: this repository was at {}; its memories have been taken over from there",
            old.display()
        ));
    }
    Ok((places, project, in_force.settings))
}

fn ambiguous<'a>(name: &str, fitting: impl Iterator<Item = &'a Found<'a>>) -> Failure {
    let each: Vec<String> =
        fitting.map(|found| format!("{} ({})", found.memory.file, found.shelf.whose)).collect();
    Failure::usage(anyhow::anyhow!("`{name}` fits several memories: {}", each.join(", ")))
        .hint("name the file; --scope chooses between files of one name")
}

fn unknown(name: &str, names: Vec<String>) -> Failure {
    let failure = Failure::failed(anyhow::anyhow!("there is no memory `{name}`"));
    let failure = match nearest_name(name, names) {
        Some(near) => failure.hint(format!("did you mean `{near}`?")),
        None => failure,
    };
    failure.hint("`dormouse memory list` shows those there are")
}

/// A memory, where it is, and when it last changed.
pub(super) struct Found<'a> {
    pub(super) shelf: &'a Shelf,
    pub(super) memory: Arc<Scanned>,
    pub(super) changed: Timestamp,
}

impl<'a> Found<'a> {
    pub(super) fn of(shelf: &'a Shelf, memory: Arc<Scanned>) -> Self {
        let changed = shelf.store.changed_at(&memory);
        Self { shelf, memory, changed }
    }

    pub(super) fn path(&self) -> String {
        self.shelf.path_of(self.memory.file.as_str())
    }

    pub(super) fn age(&self, now: Timestamp) -> Age {
        Age::between(self.changed, now)
    }

    fn is_file(&self, name: &str) -> bool {
        fold(self.memory.file.as_str()) == fold(name) || Path::new(name) == Path::new(&self.path())
    }

    fn is_called(&self, name: &str) -> bool {
        let wanted = fold(name.trim());
        fold(self.memory.name()) == wanted || fold(self.memory.file.stem()) == wanted
    }

    pub(super) fn row(&self, now: Timestamp) -> Row {
        let (header, uses) = (&self.memory.header, self.uses());
        Row {
            name: self.memory.name().to_owned(),
            description: header.description.clone(),
            kind: header.kind,
            scope: self.shelf.whose,
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

    /// What it was good for so far.
    pub(super) fn uses(&self) -> Uses {
        self.shelf.store.uses(self.memory.file.as_str()).unwrap_or_default()
    }

    /// The whole memory.
    pub(super) fn entry(&self) -> Result<(Entry, String), Failure> {
        let (bytes, _) = self.shelf.store.read(&self.memory.file)?;
        let entry = Entry::read(&bytes, self.memory.size);
        Ok((entry, String::from_utf8_lossy(&bytes).into_owned()))
    }
}

impl Shelf {
    /// Notes what other programs did. Where nothing can be written down, what is known is all there is to see.
    pub(super) fn notice(&self) -> Result<(), Failure> {
        match self.store.notice() {
            Err(ChangeError::File(error)) => {
                print::note(&format!("note: what other programs changed is left out: {error}"));
                Ok(())
            }
            noticed => Ok(noticed.map(drop)?),
        }
    }

    pub(super) fn path_of(&self, file: &str) -> String {
        self.store.dir().path().join(file).display().to_string()
    }
}

/// A memory, for programs.
#[derive(Serialize)]
pub(super) struct Row {
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
    /// How often it was put into a conversation unasked.
    pub(super) recalled: u64,
    /// In how many turns an answer named or quoted it.
    pub(super) cited: u64,
    /// In how many turns what it is about came up, and nothing had to be corrected.
    pub(super) heeded: u64,
    /// In how many turns it had to be said again.
    pub(super) violated: u64,
    /// The tokens that it took.
    pub(super) tokens: u64,
    /// When it was last cited or heeded.
    pub(super) last_helped: Option<String>,
}

/// Makes a change that may hold a secret: refused, unless the person wants it (M-16).
pub(super) fn heeding_secrets<T>(
    by: By,
    allowed: bool,
    attempt: impl Fn(&By) -> Result<T, ChangeError>,
) -> Result<T, Failure> {
    let by = if allowed { by.allowing_secrets() } else { by };
    let refused = |found| {
        let failure = Failure::from(ChangeError::Secrets(found));
        failure.hint("--allow-secret saves it all the same")
    };
    match attempt(&by) {
        Err(ChangeError::Secrets(found)) if somebody_is_there() => {
            let rules: Vec<&str> = found.iter().map(|(_, found)| found.rule).collect();
            print::note(&format!(
                "This looks like a secret ({}). Everybody who can read the file could read it. Save it all the \
                 same? [y/N]",
                rules.join(", ")
            ));
            if input::says_yes() {
                return Ok(attempt(&by.allowing_secrets())?);
            }
            Err(refused(found))
        }
        Err(ChangeError::Secrets(found)) => Err(refused(found)),
        other => Ok(other?),
    }
}

fn somebody_is_there() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// What was written; none if all was so already. A person's change is never kept back.
pub(super) fn written(outcome: Outcome) -> Result<Option<Receipt>, Failure> {
    match outcome {
        Outcome::Written(receipt) => Ok(Some(receipt)),
        Outcome::Unchanged => Ok(None),
        Outcome::Ask(_) | Outcome::InInbox(_) => {
            Err(Failure::failed(anyhow::anyhow!("the write policy kept the change back"))
                .hint("`dormouse memory inbox` shows what waits"))
        }
    }
}
