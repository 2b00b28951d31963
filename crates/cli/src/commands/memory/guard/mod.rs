//! `dormouse memory guard`: from a memory that was corrected again and again to a rule or a hook that keeps the
//! mistake from being made. Shown whole, put in only where the person says so, taken out without a trace.

mod lines;
mod remind;
pub(crate) mod settings_file;

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use dormouse_base::{SettingsFiles, SettingsSource};
use dormouse_memory::{CORRECTIONS, Guard, GuardBook, MemoryType, fold};
use serde::Serialize;
use serde_json::Value;

use super::desk::{Desk, Found};
use crate::args::GuardArguments;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::git_exclude::keep_from_git;
use crate::wiring::input;
use crate::wiring::memory_places::Whose;
use crate::wiring::print;
use crate::wiring::settings_file::guard_is_installed;
use crate::wiring::world::World;
use lines::{Drafted, Kind, Line, draft};
use settings_file::{Planned, install, plan, remove};

pub(super) async fn run(arguments: &GuardArguments, world: &World) -> Result<Exit, Failure> {
    if let Some(file) = &arguments.remind {
        remind::run(file, world).await;
        return Ok(Exit::Done);
    }
    let desk = Desk::open(world, arguments.common.scope).await?;
    let book = GuardBook::read(desk.places.state())?;
    match &arguments.name {
        None => list(arguments, &desk, &book),
        Some(name) if arguments.remove => take_out(arguments, &desk, &book, name),
        Some(name) => of_memory(arguments, &desk, &book, name, world).await,
    }
}

/// A memory whose guard is offered, for programs.
#[derive(Serialize)]
struct Offer {
    name: String,
    file: String,
    path: String,
    scope: Whose,
    violated: u64,
}

/// A guard in force, for programs.
#[derive(Serialize)]
struct Standing<'a> {
    name: &'a str,
    memory: &'a Path,
    settings: &'a Path,
    lines: Vec<Shown<'a>>,
    since: String,
    /// Whether all of its lines are still there.
    in_force: bool,
}

#[derive(Serialize)]
struct Shown<'a> {
    list: String,
    value: &'a Value,
}

#[derive(Serialize)]
struct Listed<'a> {
    offers: Vec<Offer>,
    guards: Vec<Standing<'a>>,
}

fn standing(guard: &Guard) -> Standing<'_> {
    let shown = |(list, value): (&[String], _)| Shown { list: list.join("."), value };
    let lines = guard.lines.iter().map(|line| (line.list.as_slice(), &line.value));
    Standing {
        name: &guard.name,
        memory: &guard.memory,
        settings: &guard.settings,
        lines: lines.map(shown).collect(),
        since: guard.since.to_string(),
        in_force: guard_is_installed(guard),
    }
}

/// What is offered, and what is in force.
fn list(arguments: &GuardArguments, desk: &Desk, book: &GuardBook) -> Result<Exit, Failure> {
    let mut offers = Vec::new();
    for found in desk.memories()? {
        let (violated, path) = (found.uses().violated, found.path());
        let is_rule = found.memory.header.kind == Some(MemoryType::Feedback);
        if is_rule && book.is_due(Path::new(&path), violated) {
            let (name, file) = (found.memory.name().to_owned(), found.memory.file.to_string());
            offers.push(Offer { name, file, path, scope: found.shelf.whose, violated });
        }
    }
    let guards = book.guards.iter().map(standing).collect();
    let listed = Listed { offers, guards };
    if arguments.common.json {
        print::json(&listed)?;
        return Ok(Exit::Done);
    }
    for Offer { name, file, violated, .. } in &listed.offers {
        print::data_line(&format!(
            "offered   {name}: {violated} times corrected; `dormouse memory guard {file}` shows it"
        ));
    }
    for guard in &listed.guards {
        let state = if guard.in_force { "in force " } else { "not there" };
        print::data_line(&format!("{state} {}: {}", guard.name, guard.settings.display()));
        guard.lines.iter().for_each(|line| print::data_line(&format!("          {}", line.text())));
    }
    if listed.offers.is_empty() && listed.guards.is_empty() {
        print::note(&format!(
            "no guards, and none offered: one is when a `feedback` memory was corrected {CORRECTIONS} times"
        ));
    }
    Ok(Exit::Done)
}

impl Shown<'_> {
    fn text(&self) -> String {
        format!("{}: {}", self.list, self.value)
    }
}

/// The guard of one memory, for programs.
#[derive(Serialize)]
struct OfMemory<'a> {
    name: &'a str,
    file: String,
    path: &'a Path,
    violated: u64,
    /// Whether it is offered now.
    offered: bool,
    /// Whether it is in force.
    installed: bool,
    settings: &'a Path,
    lines: Vec<Shown<'a>>,
    /// What goes into the file, to the letter; nothing where it is there already.
    pieces: &'a [String],
}

/// A guard that could be put in, and where.
struct Proposed {
    memory: PathBuf,
    drafted: Drafted,
    settings: PathBuf,
    planned: Planned,
}

async fn of_memory(
    arguments: &GuardArguments,
    desk: &Desk,
    book: &GuardBook,
    name: &str,
    world: &World,
) -> Result<Exit, Failure> {
    let found = desk.named(name)?;
    let violated = found.uses().violated;
    let memory = PathBuf::from(found.path());
    if arguments.refuse {
        return refuse(arguments, desk, &found, &memory, violated);
    }
    if let Some(guard) = book.guard_of(&memory) {
        return show_standing(arguments, guard);
    }
    let proposed = propose(&found, memory, desk, world)?;
    let due = book.is_due(&proposed.memory, violated);
    let wanted = if arguments.install {
        Wanted::Yes
    } else if arguments.common.json || !asks() {
        Wanted::Unsaid
    } else {
        tell(&found, &proposed, violated);
        ask()
    };
    if wanted == Wanted::No && due {
        return refuse(arguments, desk, &found, &proposed.memory, violated);
    }
    let installed = wanted == Wanted::Yes;
    if arguments.common.json {
        let lines = proposed.drafted.lines.iter();
        print::json(&OfMemory {
            name: found.memory.name(),
            file: found.memory.file.to_string(),
            path: &proposed.memory,
            violated,
            offered: due && !installed,
            installed,
            settings: &proposed.settings,
            lines: lines
                .map(|line| Shown { list: line.list.join("."), value: &line.value })
                .collect(),
            pieces: &proposed.planned.pieces,
        })?;
    } else if wanted == Wanted::Unsaid || arguments.install {
        tell(&found, &proposed, violated);
    }
    if installed {
        put_in(desk, &found, proposed, world).await?;
        print::note("in force from now on; `--remove` takes it out again");
    } else if wanted == Wanted::Unsaid && !arguments.common.json {
        print::note("nothing was changed; `--install` puts it in, `--refuse` ends the offer");
    }
    Ok(Exit::Done)
}

/// What the person says to a guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Yes,
    No,
    /// Nobody was asked.
    Unsaid,
}

fn asks() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

fn ask() -> Wanted {
    print::note("Put this in? [y/N]");
    if input::says_yes() { Wanted::Yes } else { Wanted::No }
}

fn propose(
    found: &Found<'_>,
    memory: PathBuf,
    desk: &Desk,
    world: &World,
) -> Result<Proposed, Failure> {
    let (entry, _) = found.entry()?;
    let drafted = draft(found.memory.name(), entry.text(), &memory, found.shelf.whose, &program()?);
    let places = SettingsFiles::new(&world.environment, &world.home()?, Some(&desk.project));
    let settings = places.file(drafted.source).or_else(|| places.file(SettingsSource::User));
    let settings = settings.ok_or_else(|| {
        Failure::usage(anyhow::anyhow!("there is no settings file to put a guard into"))
    })?;
    let planned = plan(&settings, &drafted.lines)?;
    Ok(Proposed { memory, drafted, settings, planned })
}

/// This program, as a hook starts it.
fn program() -> Result<String, Failure> {
    let path = std::env::current_exe().map_err(|error| {
        Failure::failed(anyhow::anyhow!("can not tell where this program is: {error}"))
    })?;
    path.into_os_string().into_string().map_err(|path| {
        let shown = path.to_string_lossy().into_owned();
        Failure::failed(anyhow::anyhow!("the path of this program is not UTF-8: {shown}"))
            .hint("install it in a folder whose name is text")
    })
}

/// The guard, whole.
fn tell(found: &Found<'_>, proposed: &Proposed, violated: u64) {
    let (name, file) = (found.memory.name(), &found.memory.file);
    print::data_line(&format!("{name} ({file}): {violated} times corrected"));
    print::data_line(&proposed.settings.display().to_string());
    for line in proposed.planned.pieces.iter().flat_map(|piece| piece.lines()) {
        let line = line.trim_start_matches(',').trim_end();
        if !line.trim().is_empty() {
            print::data_line(&format!("+ {line}"));
        }
    }
    if proposed.planned.pieces.is_empty() {
        let said = |Line { list, value }: &Line| format!("= {}: {value}", list.join("."));
        proposed.drafted.lines.iter().for_each(|line| print::data_line(&said(line)));
        print::note("all of it is there already; it would only be linked to the memory");
    }
    print::note(match proposed.drafted.kind {
        Kind::Rule => "what the rules deny does not run, and what they ask about asks you first",
        Kind::Reminder => {
            "the memory does not name a command or a path that a rule could forbid; these hooks put it in front of \
             the model whenever what it is about comes up"
        }
    });
}

async fn put_in(
    desk: &Desk,
    found: &Found<'_>,
    proposed: Proposed,
    world: &World,
) -> Result<(), Failure> {
    let Proposed { memory, settings, planned, drafted } = proposed;
    let is_local = drafted.source == SettingsSource::Local;
    let (state, now) = (desk.places.state(), world.clock.now());
    install(state, &memory, found.memory.name(), &settings, planned, now)?;
    if is_local {
        keep_from_git(&settings, &desk.project, &world.environment).await;
    }
    Ok(())
}

/// The guard is in force already.
fn show_standing(arguments: &GuardArguments, guard: &Guard) -> Result<Exit, Failure> {
    let shown = standing(guard);
    if arguments.common.json {
        print::json(&shown)?;
        return Ok(Exit::Done);
    }
    print::data_line(&guard.settings.display().to_string());
    shown.lines.iter().for_each(|line| print::data_line(&format!("= {}", line.text())));
    print::note(if shown.in_force {
        "in force; `--remove` takes it out"
    } else {
        "some of it is no longer there; `--remove` takes out what is left"
    });
    Ok(Exit::Done)
}

fn refuse(
    arguments: &GuardArguments,
    desk: &Desk,
    found: &Found<'_>,
    memory: &Path,
    violated: u64,
) -> Result<Exit, Failure> {
    let note = |book: &mut GuardBook| -> Result<(), Failure> {
        book.refused.insert(memory.to_owned(), violated);
        Ok(())
    };
    GuardBook::change(desk.places.state(), note, |()| Ok(()))?;
    if arguments.common.json {
        print::json(
            &serde_json::json!({"file": found.memory.file.as_str(), "refused_at": violated}),
        )?;
    } else {
        print::note(&format!("refused; it is offered again after {CORRECTIONS} more corrections"));
    }
    Ok(Exit::Done)
}

/// Takes a guard out; its memory may be gone.
fn take_out(
    arguments: &GuardArguments,
    desk: &Desk,
    book: &GuardBook,
    name: &str,
) -> Result<Exit, Failure> {
    let memory = match desk.named(name) {
        Ok(found) => PathBuf::from(found.path()),
        Err(unknown) => guard_called(book, name).ok_or(unknown)?.memory.clone(),
    };
    let Some((guard, whole)) = remove(desk.places.state(), &memory)? else {
        return Err(Failure::failed(anyhow::anyhow!("no guard is in force for `{name}`"))
            .hint("`dormouse memory guard` lists those that are"));
    };
    if arguments.common.json {
        print::json(&standing(&guard))?;
        return Ok(Exit::Done);
    }
    print::data_line(&guard.settings.display().to_string());
    standing(&guard).lines.iter().for_each(|line| print::data_line(&format!("- {}", line.text())));
    print::note(if whole {
        "taken out; what else the file says is as it was"
    } else {
        "taken out, as far as it was still there"
    });
    Ok(Exit::Done)
}

fn guard_called<'a>(book: &'a GuardBook, name: &str) -> Option<&'a Guard> {
    let wanted = fold(name.trim());
    book.guards.iter().find(|guard| {
        let file = guard.memory.file_name().map(|file| file.to_string_lossy().into_owned());
        let stem = guard.memory.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        guard.memory == Path::new(name)
            || [Some(guard.name.clone()), file, stem]
                .into_iter()
                .flatten()
                .any(|n| fold(&n) == wanted)
    })
}
