//! A guard's lines in a settings file: put in, looked for, taken out. Every byte that is not ours stays.

use std::path::{Path, PathBuf};

use dormouse_base::{
    Dir, FileAction, FileError, ListAddition, RelPath, Settings, add_to_list, is_empty_object,
    remove_from_list, remove_if_empty,
};
use dormouse_memory::{Before, Guard, GuardBook, GuardBookError, GuardLine, LineOrigin, Made};
use jiff::Timestamp;

use super::lines::Line;
use crate::wiring::exit::Failure;

/// What would become of a settings file.
pub(super) struct Planned {
    before: Option<String>,
    after: String,
    /// What goes in, piece by piece.
    pub(super) pieces: Vec<String>,
    made: Vec<Vec<String>>,
    lines: Vec<GuardLine>,
}

/// Works out what the lines would make of a file. Nothing is written.
pub(super) fn plan(file: &Path, lines: &[Line]) -> Result<Planned, Failure> {
    let before = read(file)?;
    let mut planned = Planned {
        after: before.clone().unwrap_or_default(),
        before,
        pieces: Vec::new(),
        made: Vec::new(),
        lines: Vec::new(),
    };
    for Line { list, value } in lines {
        let added = add_to_list(&planned.after, list, value).map_err(|error| unfit(file, error))?;
        let origin = if added.is_some() { LineOrigin::Ours } else { LineOrigin::Theirs };
        if let Some(ListAddition { text, inserted: piece, created: made }) = added {
            planned.after = text;
            planned.pieces.push(piece);
            planned.made.extend(made);
        }
        planned.lines.push(GuardLine { list: list.clone(), value: value.clone(), origin });
    }
    check(file, &planned.after)?;
    Ok(planned)
}

/// Puts a guard in, and writes it into the book first: what the book knows can be taken out.
pub(super) fn install(
    state: &Path,
    memory: &Path,
    name: &str,
    file: &Path,
    planned: Planned,
    now: Timestamp,
) -> Result<(), Failure> {
    let Planned { before, after, made, lines, .. } = planned;
    let guard = Guard {
        memory: memory.to_owned(),
        name: name.to_owned(),
        settings: file.to_owned(),
        lines,
        since: now,
    };
    let record = |book: &mut GuardBook| -> Result<(), Failure> {
        let known = book.made.entry(file.to_owned()).or_default();
        known.whole = known.whole.take().or_else(|| nothing(before.as_deref()));
        known.containers.extend(made);
        if *known == Made::default() {
            book.made.remove(file);
        }
        book.refused.remove(memory);
        book.guards.push(guard);
        Ok(())
    };
    let unchanged = before.as_ref() == Some(&after);
    GuardBook::change(state, record, |()| {
        if read(file)? != before {
            return Err(Failure::failed(anyhow::anyhow!(
                "{} has just been changed",
                file.display()
            ))
            .hint("try again"));
        }
        if unchanged { Ok(()) } else { write(file, Some(&after)) }
    })
}

/// Takes the guard of a memory out of its settings file and of the book. Gives it back, with whether all of its
/// lines were still there.
pub(super) fn remove(state: &Path, memory: &Path) -> Result<Option<(Guard, bool)>, Failure> {
    let take = |book: &mut GuardBook| -> Result<_, Failure> {
        let Some(at) = book.guards.iter().position(|guard| guard.memory == memory) else {
            return Ok(None);
        };
        let guard = book.guards.remove(at);
        let whole = take_out(book, &guard)?;
        Ok(Some((guard, whole)))
    };
    GuardBook::change(state, take, |_| Ok(()))
}

fn take_out(book: &mut GuardBook, guard: &Guard) -> Result<bool, Failure> {
    let file = &guard.settings;
    let Some(before) = read(file)? else {
        book.made.remove(file);
        return Ok(false);
    };
    let (mut text, mut whole) = (before.clone(), true);
    for line in guard.lines.iter().filter(|line| line.origin == LineOrigin::Ours) {
        if hand_over(book, guard, line) {
            continue;
        }
        let shorter = remove_from_list(&text, &line.list, &line.value);
        match shorter.map_err(|error| unfit(file, error))? {
            Some(shorter) => text = shorter,
            None => whole = false,
        }
    }
    let made = book.made.entry(file.clone()).or_default();
    let mut containers: Vec<Vec<String>> = made.containers.iter().cloned().collect();
    containers.sort_by_key(|keys| std::cmp::Reverse(keys.len()));
    for keys in containers {
        if let Some(shorter) = remove_if_empty(&text, &keys).map_err(|error| unfit(file, error))? {
            text = shorter;
            made.containers.remove(&keys);
        }
    }
    let left = if is_empty_object(&text) { made.whole.take() } else { None };
    if left.is_some() || !book.guards.iter().any(|other| other.settings == *file) {
        book.made.remove(file);
    }
    match left {
        // Somebody has taken it out already: the file is theirs.
        _ if text == before => {}
        Some(Before::Absent) => write(file, None)?,
        Some(Before::Blank(blank)) => write(file, Some(&blank))?,
        None => write(file, Some(&text))?,
    }
    Ok(whole)
}

/// What a file was that said nothing; none if it said something.
fn nothing(text: Option<&str>) -> Option<Before> {
    match text {
        None => Some(Before::Absent),
        Some(text) if text.trim_start_matches('\u{feff}').trim().is_empty() => {
            Some(Before::Blank(text.to_owned()))
        }
        Some(_) => None,
    }
}

/// Another guard may rest on the same line: it is that one's from now on.
fn hand_over(book: &mut GuardBook, guard: &Guard, line: &GuardLine) -> bool {
    let others = book.guards.iter_mut().filter(|other| other.settings == guard.settings);
    let mut lines = others.flat_map(|other| &mut other.lines);
    let same = lines.find(|other| other.list == line.list && other.value == line.value);
    same.map(|other| other.origin = LineOrigin::Ours).is_some()
}

impl From<GuardBookError> for Failure {
    fn from(error: GuardBookError) -> Self {
        match error {
            GuardBookError::File(error) => Self::from(error),
            other => Self::failed(other),
        }
    }
}

fn unfit(file: &Path, error: impl std::fmt::Display) -> Failure {
    Failure::usage(anyhow::anyhow!("{}: {error}", file.display()))
        .hint("mend the file first; nothing was changed")
}

/// What is no settings file is not changed: nobody could say what it would mean.
fn check(file: &Path, text: &str) -> Result<(), Failure> {
    let parsed = Settings::parse(file, text.as_bytes());
    parsed
        .map(drop)
        .map_err(|error| Failure::usage(error).hint("mend the file first; nothing was changed"))
}

fn place(file: &Path) -> Result<(PathBuf, RelPath), Failure> {
    let parts = file.parent().zip(file.file_name());
    let (folder, name) = parts.ok_or_else(|| {
        Failure::failed(anyhow::anyhow!("{} is no place for settings", file.display()))
    })?;
    Ok((folder.to_owned(), RelPath::new(name).map_err(Failure::failed)?))
}

/// The text of a settings file, which has to be one; none if there is none.
fn read(file: &Path) -> Result<Option<String>, Failure> {
    let (folder, name) = place(file)?;
    let bytes = match Dir::open(folder).and_then(|folder| folder.read(&name)) {
        Ok(bytes) => bytes,
        Err(error) if error.is_not_found() => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let text = String::from_utf8(bytes).map_err(|_| unfit(file, "it is not UTF-8 text"))?;
    check(file, &text)?;
    Ok(Some(text))
}

/// Replaces the file, or takes it away. Who may read it stays the same.
fn write(file: &Path, text: Option<&str>) -> Result<(), Failure> {
    let (folder, name) = place(file)?;
    let dir = Dir::create(folder)?;
    let Some(text) = text else { return Ok(dir.remove_file(&name)?) };
    let permissions = file.metadata().map(|metadata| metadata.permissions());
    dir.replace(&name, text.as_bytes())?;
    if let Ok(permissions) = permissions {
        std::fs::set_permissions(file, permissions)
            .map_err(|error| FileError::new(FileAction::Write, file, error))?;
    }
    Ok(())
}
