//! What was done, and taking it back: `log`, `diff`, `undo`, `restore`. Every store counts its own changes.

use dormouse_memory::{By, ChangeId, Effect, FileDiff, LogEntry, MemoryFile, ScanCache, fold};
use serde::Serialize;
use similar::TextDiff;

use super::desk::{Desk, Shelf, written};
use super::places::Whose;
use super::print_json;
use super::table::{Looks, Table};
use crate::args::{DiffArguments, LogArguments, RestoreArguments, UndoArguments};
use crate::exit::{Exit, Failure};
use crate::markdown::{Colour, Style};
use crate::show;
use crate::world::World;

/// A change, for programs.
#[derive(Serialize)]
struct Logged {
    change: u64,
    scope: Whose,
    time: String,
    author: String,
    reason: String,
    sources: Vec<String>,
    undoes: Option<u64>,
    undone_by: Option<u64>,
    undoable: bool,
    files: Vec<Touched>,
}

#[derive(Serialize)]
struct Touched {
    file: String,
    effect: &'static str,
}

fn word(effect: Effect) -> &'static str {
    match effect {
        Effect::Added => "added",
        Effect::Changed => "changed",
        Effect::Removed => "removed",
    }
}

/// A change, and in which store.
struct Change<'a> {
    shelf: &'a Shelf,
    entry: LogEntry,
}

/// All changes, newest first; what other programs did is noted before.
fn changes(desk: &Desk) -> Result<Vec<Change<'_>>, Failure> {
    let mut all = Vec::new();
    for shelf in &desk.shelves {
        shelf.store.notice()?;
        all.extend(shelf.store.log()?.into_iter().map(|entry| Change { shelf, entry }));
    }
    // Within a store the numbers tell the order, whatever the clock did.
    all.sort_by_key(|change| std::cmp::Reverse((change.entry.time, change.entry.id)));
    Ok(all)
}

pub(super) async fn log(arguments: &LogArguments, world: &World) -> Result<Exit, Failure> {
    let desk = Desk::open(world, arguments.common.scope).await?;
    let mut all = changes(&desk)?;
    if let Some(name) = &arguments.name {
        let files = files_of(&desk, name, &all)?;
        all.retain(|change| touches(change, &files));
    }
    let count = all.len();
    all.truncate(arguments.limit);
    if arguments.common.json {
        print_json(&all.iter().map(logged).collect::<Vec<_>>())?;
    } else {
        table(&all).print(&world.environment);
    }
    match count {
        0 => show::note("no changes yet"),
        count if count > arguments.limit => show::note(&format!(
            "note: {} more are not listed; --limit {count} lists them",
            count - arguments.limit
        )),
        _ => {}
    }
    Ok(Exit::Done)
}

/// The files that a name means, by store: one that is there, or one that was.
fn files_of(
    desk: &Desk,
    name: &str,
    changes: &[Change<'_>],
) -> Result<Vec<(Whose, MemoryFile)>, Failure> {
    let mut gone = Vec::new();
    for change in changes {
        for (file, _) in &change.entry.files {
            let fits = fold(file.as_str()) == fold(name) || fold(file.stem()) == fold(name);
            if fits && !gone.contains(&(change.shelf.whose, file.clone())) {
                gone.push((change.shelf.whose, file.clone()));
            }
        }
    }
    match desk.named(name) {
        Ok(found) => Ok(vec![(found.shelf.whose, found.memory.file.clone())]),
        Err(_) if !gone.is_empty() => Ok(gone),
        Err(failure) => Err(failure),
    }
}

fn touches(change: &Change<'_>, files: &[(Whose, MemoryFile)]) -> bool {
    files.iter().any(|(whose, wanted)| {
        *whose == change.shelf.whose && change.entry.files.iter().any(|(file, _)| file == wanted)
    })
}

fn logged(change: &Change<'_>) -> Logged {
    let entry = &change.entry;
    let touched = |(file, effect): &(MemoryFile, Effect)| Touched {
        file: file.to_string(),
        effect: word(*effect),
    };
    Logged {
        change: entry.id.0,
        scope: change.shelf.whose,
        time: entry.time.to_string(),
        author: entry.author.to_string(),
        reason: entry.reason.clone(),
        sources: entry.sources.iter().map(ToString::to_string).collect(),
        undoes: entry.undoes.map(|id| id.0),
        undone_by: entry.undone_by.map(|id| id.0),
        undoable: entry.undoable && entry.undone_by.is_none(),
        files: entry.files.iter().map(touched).collect(),
    }
}

fn table(changes: &[Change<'_>]) -> Table {
    let mut table = Table::new(&["change", "scope", "when", "who", "what"]);
    for Change { shelf, entry } in changes {
        let files: Vec<String> =
            entry.files.iter().map(|(file, effect)| format!("{} {file}", word(*effect))).collect();
        let mut what = if files.is_empty() { "the index".to_owned() } else { files.join(", ") };
        if let Some(by) = entry.undone_by {
            what.push_str(&format!(" (undone by {by})"));
        } else if let Some(id) = entry.undoes {
            what.push_str(&format!(" (undoes {id})"));
        } else if !entry.reason.is_empty() {
            what.push_str(&format!(" ({})", entry.reason));
        }
        let when = entry.time.strftime("%Y-%m-%d %H:%M").to_string();
        table.row([
            entry.id.to_string(),
            shelf.whose.to_string(),
            when,
            entry.author.to_string(),
            what,
        ]);
    }
    table
}

#[derive(Serialize)]
struct Diff {
    change: u64,
    scope: Whose,
    files: Vec<DiffedFile>,
}

#[derive(Serialize)]
struct DiffedFile {
    file: String,
    before: Option<String>,
    after: Option<String>,
}

pub(super) async fn diff(arguments: &DiffArguments, world: &World) -> Result<Exit, Failure> {
    let desk = Desk::open(world, arguments.common.scope).await?;
    let mut all = changes(&desk)?;
    let change = match arguments.what.as_deref() {
        None => all.into_iter().next().ok_or_else(none_yet)?,
        Some(text) => match text.parse() {
            Ok(number) => numbered(all, number)?,
            Err(_) => {
                let files = files_of(&desk, text, &all)?;
                all.retain(|change| touches(change, &files));
                all.into_iter().next().ok_or_else(none_yet)?
            }
        },
    };
    let files = change.shelf.store.diff(change.entry.id)?;
    if arguments.common.json {
        let text = |bytes: &Option<Vec<u8>>| {
            bytes.as_ref().map(|bytes| String::from_utf8_lossy(bytes).into_owned())
        };
        let file = |diff: &FileDiff| DiffedFile {
            file: diff.file.to_string(),
            before: text(&diff.before),
            after: text(&diff.after),
        };
        let files = files.iter().map(file).collect();
        print_json(&Diff { change: change.entry.id.0, scope: change.shelf.whose, files })?;
        return Ok(Exit::Done);
    }
    let entry = &change.entry;
    show::note(&format!(
        "change {} ({}), {} by {}: {}",
        entry.id,
        change.shelf.whose,
        entry.time.strftime("%Y-%m-%d %H:%M"),
        entry.author,
        entry.reason
    ));
    for file in &files {
        print_diff(
            file.file.as_str(),
            file.before.as_deref(),
            file.after.as_deref(),
            Looks::of(&world.environment),
        );
    }
    Ok(Exit::Done)
}

fn none_yet() -> Failure {
    Failure::failed(anyhow::anyhow!("there is no change yet"))
}

/// A change by its number; two stores may both have one.
fn numbered(changes: Vec<Change<'_>>, number: u64) -> Result<Change<'_>, Failure> {
    let mut fitting: Vec<Change<'_>> =
        changes.into_iter().filter(|change| change.entry.id.0 == number).collect();
    match (fitting.pop(), fitting.is_empty()) {
        (Some(only), true) => Ok(only),
        (None, _) => Err(Failure::failed(anyhow::anyhow!("there is no change {number}"))
            .hint("`dormouse memory log` lists them")),
        (Some(last), false) => {
            let each = fitting.iter().chain([&last]).map(|change| change.shelf.whose.to_string());
            let each = each.collect::<Vec<_>>().join(", ");
            Err(Failure::usage(anyhow::anyhow!("there are several changes {number}: {each}"))
                .hint("--scope says which is meant"))
        }
    }
}

/// A unified diff, as other programs read it.
pub(super) fn print_diff(file: &str, before: Option<&[u8]>, after: Option<&[u8]>, looks: Looks) {
    let text =
        |bytes: Option<&[u8]>| String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned();
    let name = |prefix: &str, there: bool| {
        if there { format!("{prefix}/{file}") } else { "/dev/null".to_owned() }
    };
    let (old, new) = (text(before), text(after));
    let diff = TextDiff::from_lines(&old, &new);
    let unified = diff
        .unified_diff()
        .header(&name("a", before.is_some()), &name("b", after.is_some()))
        .to_string();
    if looks == Looks::Plain {
        return show::data(&unified);
    }
    for line in unified.lines() {
        let style = match line.chars().next() {
            Some('+') => Style::PLAIN.colour(Colour::Green),
            Some('-') => Style::PLAIN.colour(Colour::Red),
            Some('@') => Style::DIM,
            _ => Style::PLAIN,
        };
        show::terminal(&(looks.painted(line, style) + "\n"));
    }
}

pub(super) async fn undo(arguments: &UndoArguments, world: &World) -> Result<Exit, Failure> {
    let desk = Desk::open(world, arguments.common.scope).await?;
    let change = match arguments.change {
        Some(number) => numbered(changes(&desk)?, number)?,
        None => last_undoable(&desk)?,
    };
    let by = By::person(format!("undo of change {}", change.entry.id));
    let receipt = change.shelf.store.undo(&by, Some(change.entry.id))?;
    if arguments.common.json {
        let all = changes(&desk)?;
        let done = all
            .iter()
            .find(|done| done.shelf.whose == change.shelf.whose && done.entry.id == receipt.id);
        print_json(&done.map(logged))?;
        return Ok(Exit::Done);
    }
    show::data_line(&format!(
        "undid change {} ({}): {}",
        change.entry.id, change.shelf.whose, change.entry.reason
    ));
    for (file, effect) in &receipt.files {
        show::data_line(&format!("{} {}", word(*effect), change.shelf.path_of(file.as_str())));
    }
    Ok(Exit::Done)
}

/// The last change that is neither undone nor an undo. What other programs have done unseen is not what is
/// meant by "the last", so nothing is noted before.
fn last_undoable(desk: &Desk) -> Result<Change<'_>, Failure> {
    let mut all = Vec::new();
    for shelf in &desk.shelves {
        all.extend(shelf.store.log()?.into_iter().map(|entry| Change { shelf, entry }));
    }
    all.retain(|change| {
        let entry = &change.entry;
        entry.undoable && entry.undoes.is_none() && entry.undone_by.is_none()
    });
    let last = all.into_iter().max_by_key(|change| (change.entry.time, change.entry.id));
    last.ok_or_else(|| Failure::failed(anyhow::anyhow!("there is nothing to undo")))
}

/// A removed memory, for programs.
#[derive(Serialize)]
struct InTrash {
    file: String,
    scope: Whose,
    removed: String,
    change: u64,
    author: String,
}

#[derive(Serialize)]
struct Restored {
    file: String,
    path: String,
    scope: Whose,
    change: Option<u64>,
}

pub(super) async fn restore(arguments: &RestoreArguments, world: &World) -> Result<Exit, Failure> {
    let desk = Desk::open(world, arguments.common.scope).await?;
    let Some(name) = &arguments.file else { return trash(&desk, arguments.common.json, world) };
    let (shelf, file) = to_restore(&desk, name, arguments.change.is_some())?;
    let version = arguments.change.map(ChangeId);
    let outcome = shelf.store.restore(&By::person("restored by hand"), &file, version)?;
    let change = written(outcome)?.map(|receipt| receipt.id.0);
    if change.is_none() {
        show::note("it is like that already");
    }
    let path = shelf.path_of(file.as_str());
    if arguments.common.json {
        print_json(&Restored { file: file.to_string(), path, scope: shelf.whose, change })?;
    } else {
        show::data_line(&path);
    }
    Ok(Exit::Done)
}

/// Which memory of which store: one in the trash, or one that is there and is to be as it was.
fn to_restore<'a>(
    desk: &'a Desk,
    name: &str,
    of_a_change: bool,
) -> Result<(&'a Shelf, MemoryFile), Failure> {
    let mut fitting = Vec::new();
    for shelf in &desk.shelves {
        shelf.store.notice()?;
        let mut files: Vec<MemoryFile> =
            shelf.store.trash()?.into_iter().map(|trashed| trashed.file).collect();
        if of_a_change {
            let there = shelf.store.scan(&mut ScanCache::default())?.memories;
            files.extend(there.iter().map(|memory| memory.file.clone()));
        }
        let fits = |file: &MemoryFile| {
            fold(file.as_str()) == fold(name) || fold(file.stem()) == fold(name)
        };
        fitting.extend(files.into_iter().filter(fits).map(|file| (shelf, file)));
    }
    match (fitting.pop(), fitting.is_empty()) {
        (Some(only), true) => Ok(only),
        (None, _) => Err(Failure::failed(anyhow::anyhow!("no removed memory is called `{name}`"))
            .hint("`dormouse memory restore` lists them; they are kept for 30 days")),
        (Some(last), false) => {
            let each = fitting.iter().chain([&last]);
            let each: Vec<String> =
                each.map(|(shelf, file)| format!("{file} ({})", shelf.whose)).collect();
            let each = each.join(", ");
            Err(Failure::usage(anyhow::anyhow!("`{name}` fits several memories: {each}"))
                .hint("--scope says which is meant"))
        }
    }
}

fn trash(desk: &Desk, json: bool, world: &World) -> Result<Exit, Failure> {
    let mut rows = Vec::new();
    for shelf in &desk.shelves {
        shelf.store.notice()?;
        rows.extend(shelf.store.trash()?.into_iter().map(|trashed| InTrash {
            file: trashed.file.to_string(),
            scope: shelf.whose,
            removed: trashed.removed.to_string(),
            change: trashed.change.0,
            author: trashed.author.to_string(),
        }));
    }
    if json {
        print_json(&rows)?;
        return Ok(Exit::Done);
    }
    let mut table = Table::new(&["file", "scope", "by", "change", "removed"]);
    for row in &rows {
        let (scope, change) = (row.scope.to_string(), row.change.to_string());
        table.row([row.file.clone(), scope, row.author.clone(), change, row.removed.clone()]);
    }
    table.print(&world.environment);
    if rows.is_empty() {
        show::note("nothing was removed in the last 30 days");
    }
    Ok(Exit::Done)
}
