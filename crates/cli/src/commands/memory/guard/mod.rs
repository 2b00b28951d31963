//! `dormouse memory guard`: turns a memory that was violated repeatedly into a permission rule or a hook. The
//! guard is shown in full, installed only with the user's consent, and removed without a trace.

mod lines;
mod remind;
pub(crate) mod settings_file;

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use dormouse_base::{SettingsFiles, SettingsSource};
use dormouse_memory::{CORRECTIONS, GuardRegistry, MemoryGuard, MemoryType, StoreScope, fold};
use serde::Serialize;
use serde_json::Value;

use super::stores::{ScopedMemory, SelectedStores};
use crate::args::GuardArguments;
use crate::message_catalog::msg;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::git_exclude::keep_from_git;
use crate::wiring::input;
use crate::wiring::print;
use crate::wiring::settings_file::guard_is_installed;
use crate::wiring::world::World;
use lines::{GuardDraft, GuardKind, GuardSettingsLine, draft};
use settings_file::{SettingsPlan, install, plan, remove};

pub(super) async fn run(arguments: &GuardArguments, world: &World) -> Result<Exit, Failure> {
    if let Some(file) = &arguments.remind {
        remind::run(file, world).await;
        return Ok(Exit::Done);
    }
    let stores = SelectedStores::open(world, arguments.common.scope.as_ref()).await?;
    let book = GuardRegistry::read(stores.directories.state())?;
    match &arguments.name {
        None => list(arguments, &stores, &book),
        Some(name) if arguments.remove => remove_guard(arguments, &stores, &book, name),
        Some(name) => handle_memory(arguments, &stores, &book, name, world).await,
    }
}

/// A suggested guard in JSON output.
#[derive(Serialize)]
struct GuardOffer {
    name: String,
    file: String,
    path: String,
    scope: StoreScope,
    violated: u64,
}

/// An installed guard in JSON output.
#[derive(Serialize)]
struct InstalledGuard<'a> {
    name: &'a str,
    memory: &'a Path,
    settings: &'a Path,
    lines: Vec<GuardLineJson<'a>>,
    since: String,
    /// Whether all of its lines are in the settings file.
    in_force: bool,
}

#[derive(Serialize)]
struct GuardLineJson<'a> {
    list: String,
    value: &'a Value,
}

#[derive(Serialize)]
struct GuardList<'a> {
    offers: Vec<GuardOffer>,
    guards: Vec<InstalledGuard<'a>>,
}

fn installed_guard(guard: &MemoryGuard) -> InstalledGuard<'_> {
    let shown = |(list, value): (&[String], _)| GuardLineJson { list: list.join("."), value };
    let lines = guard.lines.iter().map(|line| (line.list.as_slice(), &line.value));
    InstalledGuard {
        name: &guard.name,
        memory: &guard.memory,
        settings: &guard.settings,
        lines: lines.map(shown).collect(),
        since: guard.since.to_string(),
        in_force: guard_is_installed(guard),
    }
}

/// Lists suggested and installed guards.
fn list(
    arguments: &GuardArguments,
    stores: &SelectedStores,
    book: &GuardRegistry,
) -> Result<Exit, Failure> {
    let mut offers = Vec::new();
    for found in stores.memories()? {
        let violated = found.usage().violated;
        let path = found.path();
        let is_rule = found.memory.header.kind == Some(MemoryType::Feedback);
        if is_rule && book.is_due(&path, violated) {
            offers.push(GuardOffer {
                name: found.memory.name().to_owned(),
                file: found.memory.file.to_string(),
                path: found.path_text(),
                scope: found.scoped.scope,
                violated,
            });
        }
    }
    let guards = book.guards.iter().map(installed_guard).collect();
    let listed = GuardList { offers, guards };
    if arguments.common.json {
        print::json(&listed)?;
        return Ok(Exit::Done);
    }
    for GuardOffer { name, file, violated, .. } in &listed.offers {
        print::data_line(&format!(
            "suggested {}",
            msg!("guard-suggested", name = name, violated = violated, file = file)
        ));
    }
    for guard in &listed.guards {
        let state = if guard.in_force { "active   " } else { "missing  " };
        print::data_line(&format!("{state} {}: {}", guard.name, guard.settings.display()));
        guard.lines.iter().for_each(|line| print::data_line(&format!("          {}", line.text())));
    }
    if listed.offers.is_empty() && listed.guards.is_empty() {
        print::note(&msg!("guard-none", corrections = CORRECTIONS));
    }
    Ok(Exit::Done)
}

impl GuardLineJson<'_> {
    fn text(&self) -> String {
        format!("{}: {}", self.list, self.value)
    }
}

/// The guard of a memory in JSON output.
#[derive(Serialize)]
struct MemoryGuardJson<'a> {
    name: &'a str,
    file: String,
    path: &'a Path,
    violated: u64,
    /// Whether it is suggested now.
    offered: bool,
    installed: bool,
    settings: &'a Path,
    lines: Vec<GuardLineJson<'a>>,
    /// The exact text that is added to the file; empty if it is there already.
    pieces: &'a [String],
}

/// A guard that can be installed, and the settings file for it.
struct GuardProposal {
    memory: PathBuf,
    draft: GuardDraft,
    settings: PathBuf,
    planned: SettingsPlan,
}

async fn handle_memory(
    arguments: &GuardArguments,
    stores: &SelectedStores,
    book: &GuardRegistry,
    name: &str,
    world: &World,
) -> Result<Exit, Failure> {
    let found = stores.find_by_name(name)?;
    let violated = found.usage().violated;
    let memory = found.path();
    if arguments.refuse {
        return refuse(arguments, stores, &found, &memory, violated);
    }
    if let Some(guard) = book.guard_of(&memory) {
        return show_installed(arguments, guard);
    }
    let proposed = propose(&found, memory, stores, world)?;
    let due = book.is_due(&proposed.memory, violated);
    let decision = if arguments.install {
        Decision::Install
    } else if arguments.common.json || !can_ask_user() {
        Decision::NotAsked
    } else {
        print_proposal(&found, &proposed, violated);
        ask_user()
    };
    if decision == Decision::Decline && due {
        return refuse(arguments, stores, &found, &proposed.memory, violated);
    }
    let installed = decision == Decision::Install;
    if arguments.common.json {
        let lines = proposed.draft.lines.iter();
        print::json(&MemoryGuardJson {
            name: found.memory.name(),
            file: found.memory.file.to_string(),
            path: &proposed.memory,
            violated,
            offered: due && !installed,
            installed,
            settings: &proposed.settings,
            lines: lines
                .map(|line| GuardLineJson { list: line.list.join("."), value: &line.value })
                .collect(),
            pieces: &proposed.planned.pieces,
        })?;
    } else if decision == Decision::NotAsked || arguments.install {
        print_proposal(&found, &proposed, violated);
    }
    if installed {
        install_guard(stores, &found, proposed, world).await?;
        print::note(&msg!("guard-installed"));
    } else if decision == Decision::NotAsked && !arguments.common.json {
        print::note(&msg!("guard-not-installed"));
    }
    Ok(Exit::Done)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Decision {
    Install,
    Decline,
    NotAsked,
}

fn can_ask_user() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

fn ask_user() -> Decision {
    print::note(&msg!("guard-confirm"));
    if input::confirm() { Decision::Install } else { Decision::Decline }
}

fn propose(
    found: &ScopedMemory<'_>,
    memory: PathBuf,
    stores: &SelectedStores,
    world: &World,
) -> Result<GuardProposal, Failure> {
    let (entry, _) = found.read()?;
    let draft = draft(found.memory.name(), entry.text(), &memory, found.scoped.scope, &program()?);
    let places = SettingsFiles::new(&world.environment, &world.home()?, Some(&stores.project));
    let settings = places.file(draft.source).or_else(|| places.file(SettingsSource::User));
    let settings =
        settings.ok_or_else(|| Failure::usage(anyhow::anyhow!(msg!("guard-no-settings"))))?;
    let planned = plan(&settings, &draft.lines)?;
    Ok(GuardProposal { memory, draft, settings, planned })
}

/// The path of this program, for hooks.
fn program() -> Result<String, Failure> {
    let path = std::env::current_exe().map_err(|error| {
        Failure::failed(anyhow::anyhow!(msg!("guard-no-program", error = error.to_string())))
    })?;
    path.into_os_string().into_string().map_err(|path| {
        let shown = path.to_string_lossy().into_owned();
        Failure::failed(anyhow::anyhow!(msg!("guard-program-not-utf8", path = shown)))
            .hint(msg!("guard-program-not-utf8-hint"))
    })
}

/// Prints the whole guard.
fn print_proposal(found: &ScopedMemory<'_>, proposed: &GuardProposal, violated: u64) {
    let (name, file) = (found.memory.name(), &found.memory.file);
    print::data_line(&msg!(
        "guard-proposal",
        name = name,
        file = file.to_string(),
        violated = violated
    ));
    print::data_line(&proposed.settings.display().to_string());
    for line in proposed.planned.pieces.iter().flat_map(|piece| piece.lines()) {
        let line = line.trim_start_matches(',').trim_end();
        if !line.trim().is_empty() {
            print::data_line(&format!("+ {line}"));
        }
    }
    if proposed.planned.pieces.is_empty() {
        let shown = |GuardSettingsLine { list, value }: &GuardSettingsLine| {
            format!("= {}: {value}", list.join("."))
        };
        proposed.draft.lines.iter().for_each(|line| print::data_line(&shown(line)));
        print::note(&msg!("guard-already-there"));
    }
    print::note(&match proposed.draft.kind {
        GuardKind::Rule => msg!("guard-explain-rule"),
        GuardKind::Reminder => msg!("guard-explain-reminder"),
    });
}

async fn install_guard(
    stores: &SelectedStores,
    found: &ScopedMemory<'_>,
    proposed: GuardProposal,
    world: &World,
) -> Result<(), Failure> {
    let GuardProposal { memory, settings, planned, draft } = proposed;
    let is_local = draft.source == SettingsSource::Local;
    let (state, now) = (stores.directories.state(), world.clock.now());
    install(state, &memory, found.memory.name(), &settings, planned, now)?;
    if is_local {
        keep_from_git(&settings, &stores.project, &world.environment).await;
    }
    Ok(())
}

/// Prints a guard that is installed already.
fn show_installed(arguments: &GuardArguments, guard: &MemoryGuard) -> Result<Exit, Failure> {
    let shown = installed_guard(guard);
    if arguments.common.json {
        print::json(&shown)?;
        return Ok(Exit::Done);
    }
    print::data_line(&guard.settings.display().to_string());
    shown.lines.iter().for_each(|line| print::data_line(&format!("= {}", line.text())));
    print::note(&if shown.in_force { msg!("guard-active") } else { msg!("guard-incomplete") });
    Ok(Exit::Done)
}

fn refuse(
    arguments: &GuardArguments,
    stores: &SelectedStores,
    found: &ScopedMemory<'_>,
    memory: &Path,
    violated: u64,
) -> Result<Exit, Failure> {
    let note = |book: &mut GuardRegistry| -> Result<(), Failure> {
        book.refused.insert(memory.to_owned(), violated);
        Ok(())
    };
    GuardRegistry::change(stores.directories.state(), note, |()| Ok(()))?;
    if arguments.common.json {
        print::json(
            &serde_json::json!({"file": found.memory.file.as_str(), "refused_at": violated}),
        )?;
    } else {
        print::note(&msg!("guard-refused", corrections = CORRECTIONS));
    }
    Ok(Exit::Done)
}

/// Removes a guard; its memory may no longer exist.
fn remove_guard(
    arguments: &GuardArguments,
    stores: &SelectedStores,
    book: &GuardRegistry,
    name: &str,
) -> Result<Exit, Failure> {
    let memory = match stores.find_by_name(name) {
        Ok(found) => found.path(),
        Err(unknown) => find_guard(book, name).ok_or(unknown)?.memory.clone(),
    };
    let Some((guard, whole)) = remove(stores.directories.state(), &memory)? else {
        return Err(Failure::failed(anyhow::anyhow!(msg!("guard-unknown", name = name)))
            .hint(msg!("guard-unknown-hint")));
    };
    if arguments.common.json {
        print::json(&installed_guard(&guard))?;
        return Ok(Exit::Done);
    }
    print::data_line(&guard.settings.display().to_string());
    installed_guard(&guard)
        .lines
        .iter()
        .for_each(|line| print::data_line(&format!("- {}", line.text())));
    print::note(&if whole { msg!("guard-removed") } else { msg!("guard-removed-partly") });
    Ok(Exit::Done)
}

fn find_guard<'a>(book: &'a GuardRegistry, name: &str) -> Option<&'a MemoryGuard> {
    let folded = fold(name.trim());
    book.guards.iter().find(|guard| {
        let file = guard.memory.file_name().map(|file| file.to_string_lossy().into_owned());
        let stem = guard.memory.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        guard.memory == Path::new(name)
            || [Some(guard.name.clone()), file, stem]
                .into_iter()
                .flatten()
                .any(|n| fold(&n) == folded)
    })
}
