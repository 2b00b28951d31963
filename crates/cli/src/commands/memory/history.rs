//! `dormouse memory log`, `diff` and `undo`. Change numbers are counted per store.

use std::ops::Deref;

use dormouse_memory::{
    ChangeError, ChangeKind, FileDiff, LogEntry, MemoryFile, MessageSource, Receipt, StoreChange,
    StoreScope, UndoneChanges, fold, undo_changes,
};
use serde::Serialize;

use super::restore::find_in_trash;
use super::stores::SelectedStores;
use super::table::TextTable;
use crate::args::{DiffArguments, LogArguments, UndoArguments};
use crate::message_catalog::msg;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::memory_stores::ScopedStore;
use crate::wiring::print;
use crate::wiring::world::World;

/// A change in JSON output.
#[derive(Serialize)]
struct ChangeJson<'a> {
    change: u64,
    scope: StoreScope,
    time: String,
    author: String,
    reason: &'a str,
    /// The messages that it is based on.
    sources: &'a [MessageSource],
    undoes: Option<u64>,
    undone_by: Option<u64>,
    /// The dream that it belongs to; all changes of a dream are undone together.
    #[serde(skip_serializing_if = "Option::is_none")]
    part_of: Option<&'a str>,
    undoable: bool,
    files: Vec<ChangedFileJson>,
}

#[derive(Serialize)]
struct ChangedFileJson {
    file: String,
    effect: &'static str,
}

fn change_word(effect: ChangeKind) -> &'static str {
    match effect {
        ChangeKind::Added => "added",
        ChangeKind::Changed => "changed",
        ChangeKind::Removed => "removed",
    }
}

/// A change and its store with its scope.
struct ScopedChange<'a> {
    scoped: &'a ScopedStore,
    found: StoreChange,
}

impl Deref for ScopedChange<'_> {
    type Target = StoreChange;

    fn deref(&self) -> &StoreChange {
        &self.found
    }
}

impl SelectedStores {
    fn scoped_change(&self, found: StoreChange) -> Option<ScopedChange<'_>> {
        Some(ScopedChange { scoped: self.list.get(found.position)?, found })
    }
}

/// All changes, newest first, including those made by other programs.
fn changes(stores: &SelectedStores) -> Result<Vec<ScopedChange<'_>>, Failure> {
    stores.list.iter().try_for_each(ScopedStore::notice)?;
    known_changes(stores)
}

/// The recorded changes, newest first.
fn known_changes(stores: &SelectedStores) -> Result<Vec<ScopedChange<'_>>, Failure> {
    let all = stores.reachable.changes()?.into_iter();
    Ok(all.filter_map(|found| stores.scoped_change(found)).collect())
}

/// Some changes of a task were undone, and then one could not be.
fn partly_undone(
    error: ChangeError,
    stores: &SelectedStores,
    next: Option<&StoreChange>,
) -> Failure {
    let scoped = next.and_then(|next| stores.list.get(next.position));
    let scope = scoped.map(|scoped| scoped.scope.to_string()).unwrap_or_default();
    Failure::from(error).hint(msg!("memory-undo-partial", scope = scope))
}

pub(super) async fn log(arguments: &LogArguments, world: &World) -> Result<Exit, Failure> {
    let stores = SelectedStores::open(world, arguments.common.scope.as_ref()).await?;
    let mut all = changes(&stores)?;
    if let Some(name) = &arguments.name {
        let files = files_of(&stores, name, &all)?;
        all.retain(|change| touches(change, &files));
    }
    let count = all.len();
    all.truncate(arguments.limit);
    if arguments.common.json {
        print::json(&all.iter().map(logged).collect::<Vec<_>>())?;
    } else {
        table(&all).print(&world.environment);
    }
    match count {
        0 => print::note(&msg!("memory-no-changes")),
        all if all > arguments.limit => {
            print::note(&msg!("list-truncated", count = all - arguments.limit, all = all));
        }
        _ => {}
    }
    Ok(Exit::Done)
}

/// The files with a name, by store: an existing memory, or a former one.
fn files_of(
    stores: &SelectedStores,
    name: &str,
    changes: &[ScopedChange<'_>],
) -> Result<Vec<(StoreScope, MemoryFile)>, Failure> {
    let failure = match stores.find_by_name(name) {
        Ok(found) => return Ok(vec![(found.scoped.scope, found.memory.file.clone())]),
        Err(failure) => failure,
    };
    let mut former = Vec::new();
    for scoped in &stores.list {
        former.extend(find_in_trash(scoped, name)?.into_iter().map(|file| (scoped.scope, file)));
    }
    for change in changes {
        let files = change.entry.files.iter().map(|(file, _)| file);
        let matching = files.filter(|file| fold(file.as_str()) == fold(name));
        former.extend(matching.map(|file| (change.scoped.scope, file.clone())));
    }
    if former.is_empty() { Err(failure) } else { Ok(former) }
}

fn touches(change: &ScopedChange<'_>, files: &[(StoreScope, MemoryFile)]) -> bool {
    files.iter().any(|(scope, wanted)| {
        *scope == change.scoped.scope && change.entry.files.iter().any(|(file, _)| file == wanted)
    })
}

fn logged<'a>(change: &'a ScopedChange<'_>) -> ChangeJson<'a> {
    let entry = &change.entry;
    let changed_file = |(file, effect): &(MemoryFile, ChangeKind)| ChangedFileJson {
        file: file.to_string(),
        effect: change_word(*effect),
    };
    ChangeJson {
        change: entry.id.0,
        scope: change.scoped.scope,
        time: entry.time.to_string(),
        author: entry.author.to_string(),
        reason: &entry.reason,
        sources: &entry.sources,
        undoes: entry.undoes.map(|id| id.0),
        undone_by: entry.undone_by.map(|id| id.0),
        part_of: entry.part_of.as_deref(),
        undoable: entry.undoable && entry.undone_by.is_none(),
        files: entry.files.iter().map(changed_file).collect(),
    }
}

fn table(changes: &[ScopedChange<'_>]) -> TextTable {
    let mut table = TextTable::new(&["change", "scope", "when", "who", "what"]);
    for change in changes {
        let (scoped, entry) = (change.scoped, &change.entry);
        let mut what = format!("{} ({})", describe_files(&entry.files), reason(entry));
        if let Some(by) = entry.undone_by {
            what.push_str(&format!(" (undone by {by})"));
        }
        let when = entry.time.strftime("%Y-%m-%d %H:%M").to_string();
        table.row([
            entry.id.to_string(),
            scoped.scope.to_string(),
            when,
            entry.author.to_string(),
            what,
        ]);
    }
    table
}

/// Maximum number of files listed for a change; the diff shows all.
const LISTED_FILES: usize = 4;

fn describe_files(files: &[(MemoryFile, ChangeKind)]) -> String {
    if files.is_empty() {
        return "the index".to_owned();
    }
    let each = files.iter().map(|(file, effect)| format!("{} {file}", change_word(*effect)));
    let mut listed = each.take(LISTED_FILES).collect::<Vec<_>>().join(", ");
    if files.len() > LISTED_FILES {
        listed.push_str(&format!(" and {} more", files.len() - LISTED_FILES));
    }
    listed
}

/// Why a change was made, and the messages it is based on.
fn reason(entry: &LogEntry) -> String {
    let sources: Vec<String> = entry.sources.iter().map(ToString::to_string).collect();
    match sources.as_slice() {
        [] => entry.reason.clone(),
        sources => format!("{}, from {}", entry.reason, sources.join(", ")),
    }
}

/// A change with its diff in JSON output.
#[derive(Serialize)]
struct DiffJson<'a> {
    #[serde(flatten)]
    change: ChangeJson<'a>,
    diff: Vec<FileDiffJson>,
}

#[derive(Serialize)]
struct FileDiffJson {
    file: String,
    before: Option<String>,
    after: Option<String>,
}

pub(super) async fn diff(arguments: &DiffArguments, world: &World) -> Result<Exit, Failure> {
    let stores = SelectedStores::open(world, arguments.common.scope.as_ref()).await?;
    let mut all = changes(&stores)?;
    let change = match arguments.target.as_deref() {
        None => all.into_iter().next().ok_or_else(no_change)?,
        Some(text) => match text.parse() {
            Ok(number) => find_change(all, number)?,
            Err(_) => {
                let files = files_of(&stores, text, &all)?;
                all.retain(|change| touches(change, &files));
                all.into_iter().next().ok_or_else(no_change)?
            }
        },
    };
    let files = change.scoped.store.history().diff(change.entry.id)?;
    if arguments.common.json {
        let text = |bytes: &Option<Vec<u8>>| {
            bytes.as_ref().map(|bytes| String::from_utf8_lossy(bytes).into_owned())
        };
        let file = |diff: &FileDiff| FileDiffJson {
            file: diff.file.to_string(),
            before: text(&diff.before),
            after: text(&diff.after),
        };
        let diff = files.iter().map(file).collect();
        print::json(&DiffJson { change: logged(&change), diff })?;
        return Ok(Exit::Done);
    }
    let entry = &change.entry;
    print::note(&format!(
        "change {} ({}), {} by {}: {}",
        entry.id,
        change.scoped.scope,
        entry.time.strftime("%Y-%m-%d %H:%M"),
        entry.author,
        reason(entry)
    ));
    if files.is_empty() {
        print::note(&msg!("memory-only-index-changed"));
    }
    for file in &files {
        print::file_diff(file, &world.environment);
    }
    Ok(Exit::Done)
}

fn no_change() -> Failure {
    Failure::failed(anyhow::anyhow!(msg!("memory-no-changes")))
}

/// Finds a change by its number, which may exist in several stores.
fn find_change(changes: Vec<ScopedChange<'_>>, number: u64) -> Result<ScopedChange<'_>, Failure> {
    let mut matching: Vec<ScopedChange<'_>> =
        changes.into_iter().filter(|change| change.entry.id.0 == number).collect();
    match (matching.pop(), matching.is_empty()) {
        (Some(only), true) => Ok(only),
        (None, _) => Err(Failure::failed(anyhow::anyhow!(msg!(
            "memory-unknown-change",
            number = number.to_string()
        )))
        .hint(msg!("memory-unknown-change-hint"))),
        (Some(last), false) => {
            let scopes =
                matching.iter().chain([&last]).map(|change| change.scoped.scope.to_string());
            let scopes = scopes.collect::<Vec<_>>().join(", ");
            let text =
                msg!("memory-ambiguous-change", number = number.to_string(), scopes = scopes);
            Err(Failure::usage(anyhow::anyhow!(text)).hint(msg!("memory-scope-hint")))
        }
    }
}

pub(super) async fn undo(arguments: &UndoArguments, world: &World) -> Result<Exit, Failure> {
    let stores = SelectedStores::open(world, arguments.common.scope.as_ref()).await?;
    let change = match arguments.change {
        Some(number) => find_change(changes(&stores)?, number)?,
        None => last_undoable(&stores)?,
    };
    let together = stores.reachable.with_same_task(change.found)?;
    let UndoneChanges { receipts, error } = undo_changes(&together);
    let left = match error {
        Some(error) if receipts.is_empty() => return Err(error.into()),
        Some(error) => Some(partly_undone(error, &stores, together.get(receipts.len()))),
        None => None,
    };
    let undone: Vec<(ScopedChange<'_>, Receipt)> = together
        .into_iter()
        .filter_map(|found| stores.scoped_change(found))
        .zip(receipts)
        .collect();
    if arguments.common.json {
        let all = changes(&stores)?;
        let is_done = |done: &&ScopedChange<'_>| {
            let same = |(change, receipt): &(ScopedChange<'_>, Receipt)| {
                done.scoped.scope == change.scoped.scope && done.entry.id == receipt.id
            };
            undone.iter().any(same)
        };
        let done: Vec<ChangeJson<'_>> = all.iter().filter(is_done).map(logged).collect();
        match done.as_slice() {
            [one] => print::json(one)?,
            several => print::json(&several)?,
        }
    } else {
        for (change, receipt) in &undone {
            print_undone(change, receipt);
        }
    }
    left.map_or(Ok(Exit::Done), Err)
}

fn print_undone(change: &ScopedChange<'_>, receipt: &Receipt) {
    print::data_line(&msg!(
        "memory-undone",
        number = change.entry.id.to_string(),
        scope = change.scoped.scope.to_string(),
        author = change.entry.author.to_string(),
        reason = reason(&change.entry)
    ));
    for (file, effect) in &receipt.files {
        print::data_line(&format!(
            "{} {}",
            change_word(*effect),
            change.scoped.path_of(file.as_str())
        ));
    }
}

/// The last change that is neither undone nor an undo. Changes by other programs that were not recorded yet
/// do not count.
fn last_undoable(stores: &SelectedStores) -> Result<ScopedChange<'_>, Failure> {
    let mut all = known_changes(stores)?.into_iter();
    let last = all.find(|change| change.can_be_undone() && change.entry.undoes.is_none());
    last.ok_or_else(|| Failure::failed(anyhow::anyhow!(msg!("memory-nothing-to-undo"))))
}
