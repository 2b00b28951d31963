//! What was done, and taking it back: `log`, `diff`, `undo`. Every store counts its own changes.

use dormouse_memory::{By, Effect, FileDiff, LogEntry, MemoryFile, MessageSource, Receipt, fold};
use serde::Serialize;

use super::desk::{Desk, Shelf};
use super::restore::gone;
use super::table::Table;
use crate::args::{DiffArguments, LogArguments, UndoArguments};
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::memory_places::Whose;
use crate::wiring::print;
use crate::wiring::world::World;

/// A change, for programs.
#[derive(Serialize)]
struct Logged<'a> {
    change: u64,
    scope: Whose,
    time: String,
    author: String,
    reason: &'a str,
    /// The messages that it came from.
    sources: &'a [MessageSource],
    undoes: Option<u64>,
    undone_by: Option<u64>,
    /// The dream that it is a part of: its changes are undone together.
    #[serde(skip_serializing_if = "Option::is_none")]
    part_of: Option<&'a str>,
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
        shelf.notice()?;
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
        print::json(&all.iter().map(logged).collect::<Vec<_>>())?;
    } else {
        table(&all).print(&world.environment);
    }
    match count {
        0 => print::note("no changes yet"),
        count if count > arguments.limit => print::note(&format!(
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
    let failure = match desk.named(name) {
        Ok(found) => return Ok(vec![(found.shelf.whose, found.memory.file.clone())]),
        Err(failure) => failure,
    };
    let mut were = Vec::new();
    for shelf in &desk.shelves {
        were.extend(gone(shelf, name)?.into_iter().map(|file| (shelf.whose, file)));
    }
    for change in changes {
        let files = change.entry.files.iter().map(|(file, _)| file);
        let fitting = files.filter(|file| fold(file.as_str()) == fold(name));
        were.extend(fitting.map(|file| (change.shelf.whose, file.clone())));
    }
    if were.is_empty() { Err(failure) } else { Ok(were) }
}

fn touches(change: &Change<'_>, files: &[(Whose, MemoryFile)]) -> bool {
    files.iter().any(|(whose, wanted)| {
        *whose == change.shelf.whose && change.entry.files.iter().any(|(file, _)| file == wanted)
    })
}

fn logged<'a>(change: &'a Change<'_>) -> Logged<'a> {
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
        reason: &entry.reason,
        sources: &entry.sources,
        undoes: entry.undoes.map(|id| id.0),
        undone_by: entry.undone_by.map(|id| id.0),
        part_of: entry.part_of.as_deref(),
        undoable: entry.undoable && entry.undone_by.is_none(),
        files: entry.files.iter().map(touched).collect(),
    }
}

fn table(changes: &[Change<'_>]) -> Table {
    let mut table = Table::new(&["change", "scope", "when", "who", "what"]);
    for Change { shelf, entry } in changes {
        let mut what = format!("{} ({})", touched(&entry.files), because(entry));
        if let Some(by) = entry.undone_by {
            what.push_str(&format!(" (undone by {by})"));
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

/// A change of more than these is counted, not listed; its diff shows all.
const LISTED: usize = 4;

fn touched(files: &[(MemoryFile, Effect)]) -> String {
    if files.is_empty() {
        return "the index".to_owned();
    }
    let each = files.iter().map(|(file, effect)| format!("{} {file}", word(*effect)));
    let mut listed = each.take(LISTED).collect::<Vec<_>>().join(", ");
    if files.len() > LISTED {
        listed.push_str(&format!(" and {} more", files.len() - LISTED));
    }
    listed
}

/// Why a change was made, and from which messages.
fn because(entry: &LogEntry) -> String {
    let sources: Vec<String> = entry.sources.iter().map(ToString::to_string).collect();
    match sources.as_slice() {
        [] => entry.reason.clone(),
        sources => format!("{}, from {}", entry.reason, sources.join(", ")),
    }
}

/// A change and what it did, for programs.
#[derive(Serialize)]
struct Diff<'a> {
    #[serde(flatten)]
    change: Logged<'a>,
    /// The texts.
    diff: Vec<DiffedFile>,
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
    let change = match arguments.target.as_deref() {
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
        let diff = files.iter().map(file).collect();
        print::json(&Diff { change: logged(&change), diff })?;
        return Ok(Exit::Done);
    }
    let entry = &change.entry;
    print::note(&format!(
        "change {} ({}), {} by {}: {}",
        entry.id,
        change.shelf.whose,
        entry.time.strftime("%Y-%m-%d %H:%M"),
        entry.author,
        because(entry)
    ));
    if files.is_empty() {
        print::note("only the index changed");
    }
    for file in &files {
        print::file_diff(file, &world.environment);
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

pub(super) async fn undo(arguments: &UndoArguments, world: &World) -> Result<Exit, Failure> {
    let desk = Desk::open(world, arguments.common.scope).await?;
    let change = match arguments.change {
        Some(number) => numbered(changes(&desk)?, number)?,
        None => last_undoable(&desk)?,
    };
    let together = with_the_rest(&desk, change)?;
    let (undone, left) = undo_all(&together)?;
    if arguments.common.json {
        let all = changes(&desk)?;
        let is_done = |done: &&Change<'_>| {
            let same = |(change, receipt): &(&Change<'_>, Receipt)| {
                done.shelf.whose == change.shelf.whose && done.entry.id == receipt.id
            };
            undone.iter().any(same)
        };
        let done: Vec<Logged<'_>> = all.iter().filter(is_done).map(logged).collect();
        match done.as_slice() {
            [one] => print::json(one)?,
            several => print::json(&several)?,
        }
    } else {
        for (change, receipt) in &undone {
            tell_undone(change, receipt);
        }
    }
    left.map_or(Ok(Exit::Done), Err)
}

/// A change and all others that it was made together with, such as those of a dream: they are undone as one.
fn with_the_rest<'d>(desk: &'d Desk, change: Change<'d>) -> Result<Vec<Change<'d>>, Failure> {
    let Some(whole) = change.entry.part_of.clone() else { return Ok(vec![change]) };
    let (shelf, id) = (change.shelf.whose, change.entry.id);
    let mut all = vec![change];
    for other in changes(desk)? {
        let entry = &other.entry;
        let belongs = entry.part_of.as_deref() == Some(&whole) && entry.undone_by.is_none();
        if belongs && entry.undoes.is_none() && (other.shelf.whose, entry.id) != (shelf, id) {
            all.push(other);
        }
    }
    Ok(all)
}

/// What was undone, and why the rest was not.
type Undone<'c, 'd> = (Vec<(&'c Change<'d>, Receipt)>, Option<Failure>);

/// Undoes changes, one after the other, up to the first that can not be.
fn undo_all<'c, 'd>(changes: &'c [Change<'d>]) -> Result<Undone<'c, 'd>, Failure> {
    let mut undone = Vec::new();
    for change in changes {
        let by = By::person(format!("undo of change {}", change.entry.id));
        match change.shelf.store.undo(&by, Some(change.entry.id)) {
            Ok(receipt) => undone.push((change, receipt)),
            Err(error) if undone.is_empty() => return Err(error.into()),
            Err(error) => {
                let whose = change.shelf.whose;
                let failure = Failure::from(error).hint(format!(
                    "this is about the {whose} memory; what was made with it is undone"
                ));
                return Ok((undone, Some(failure)));
            }
        }
    }
    Ok((undone, None))
}

fn tell_undone(change: &Change<'_>, receipt: &Receipt) {
    let (id, author, why) = (change.entry.id, &change.entry.author, because(&change.entry));
    print::data_line(&format!("undid change {id} ({}) by {author}: {why}", change.shelf.whose));
    for (file, effect) in &receipt.files {
        print::data_line(&format!("{} {}", word(*effect), change.shelf.path_of(file.as_str())));
    }
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
