//! `dormouse hook`: answers hook events of other agents. An error must not stop the other agent: nothing is
//! printed, the exit code is 0, and the reason goes to a log file.

use std::io::Read;
use std::sync::Arc;

use dormouse_base::{LayerSwitch, Project, Settings, Switches, find_project, names};
use dormouse_engine::EngineEvent;
use dormouse_memory::{IndexUse, MemoryRules, Saving, StoreScope};
use dormouse_serve::ClientMemories;
use dormouse_serve::hook::{ClientHookEvent, HookInput, HookState, about_prompt, at_start, output};

use crate::args::HookArguments;
use crate::message_catalog::msg;
use crate::wiring::catch_up::{self, EXTRACT};
use crate::wiring::embedder;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::memory_directories::{DirectoryAccess, MemoryDirectories};
use crate::wiring::print;
use crate::wiring::settings;
use crate::wiring::trust::Untrusted;
use crate::wiring::world::{World, current_project};

/// Longer input is truncated.
const MAX_INPUT: u64 = 4 * 1024 * 1024;

pub(crate) async fn run(arguments: &HookArguments, world: &World) -> Result<Exit, Failure> {
    match answer(arguments, world).await {
        Ok(Some(text)) => print::data_line(&text),
        Ok(None) => {}
        Err(failure) => log(&failure.message(), world),
    }
    Ok(Exit::Done)
}

/// Errors of the log itself are ignored.
fn log(why: &str, world: &World) {
    if let Ok(home) = world.home()
        && let Ok(state) = HookState::open(&home)
    {
        drop(state.log(why, world.clock.now()));
    }
}

async fn answer(arguments: &HookArguments, world: &World) -> Result<Option<String>, Failure> {
    let word = arguments.event.first().map_or("", String::as_str);
    if word == EXTRACT {
        extract(&arguments.event, world).await?;
        return Ok(None);
    }
    let event = ClientHookEvent::from_word(word)
        .ok_or_else(|| Failure::usage(anyhow::anyhow!(msg!("hook-unknown-event", name = word))))?;
    let input = HookInput::read(&read_input()?).map_err(Failure::failed)?;
    let project = match &input.cwd {
        Some(folder) => find_project(folder)?,
        None => current_project()?,
    };
    let in_force = settings::load(world, None, &project, Untrusted::Pass)?;
    let switches = &in_force.switches;
    if !switches.is_on(LayerSwitch::Memory) {
        return Ok(None);
    }
    let hook = ProjectMemory { world, project: &project, settings: &in_force.settings, switches };
    match event {
        ClientHookEvent::SessionStart => hook.session_start(&input).await,
        ClientHookEvent::Prompt if switches.is_on(LayerSwitch::Recall) => hook.prompt(&input).await,
        ClientHookEvent::Prompt => Ok(None),
        ClientHookEvent::Stop => {
            hook.state()?.queue(&input, world.clock.now()).map_err(Failure::failed)?;
            let rest = arguments.event.get(1..).unwrap_or_default();
            if rest.first().is_some_and(|word| word == EXTRACT) {
                catch_up::start_detached(rest, &project.folder)?;
            }
            Ok(None)
        }
    }
}

/// Extracts memories from what is queued, in the background: what comes of it goes to the log.
async fn extract(words: &[String], world: &World) -> Result<(), Failure> {
    let provider = words.get(1).ok_or_else(|| {
        Failure::usage(anyhow::anyhow!(msg!("hook-unknown-event", name = EXTRACT)))
    })?;
    let model = words.get(2).map(String::as_str);
    let mut saved = |event| {
        if let EngineEvent::Remembered(change) = event {
            log(&change, world);
        }
    };
    catch_up::run_detached(provider, model, world, &mut saved).await
}

fn read_input() -> Result<String, Failure> {
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(MAX_INPUT).read_to_end(&mut bytes).map_err(Failure::failed)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

struct ProjectMemory<'a> {
    world: &'a World,
    project: &'a Project,
    settings: &'a Settings,
    switches: &'a Switches,
}

impl ProjectMemory<'_> {
    fn state(&self) -> Result<HookState, Failure> {
        HookState::open(&self.world.home()?).map_err(Failure::failed)
    }

    fn index(&self) -> IndexUse {
        if self.switches.is_on(LayerSwitch::Index) { IndexUse::Kept } else { IndexUse::LeftOut }
    }

    /// Opens the existing memories; creates none.
    async fn memories(&self) -> Result<ClientMemories, Failure> {
        let directories = MemoryDirectories::find(
            self.world,
            self.project,
            (self.settings, self.switches),
            DirectoryAccess::Read,
        )
        .await?;
        let mut stores = Vec::new();
        // Memories in the repository come from its authors, not from the user: other agents do not get them.
        for directory in
            directories.list().iter().filter(|directory| directory.scope != StoreScope::Repo)
        {
            stores.extend(directories.existing(directory)?);
        }
        let folder = |scope| directories.of(scope).map(|directory| directory.path.clone());
        let project = folder(StoreScope::Project).unwrap_or_default();
        let rules = MemoryRules {
            user: folder(StoreScope::User).unwrap_or_else(|| project.clone()),
            project,
            team: folder(StoreScope::Team).filter(|team| team.is_dir()),
            index: self.index(),
            saving: Saving::Entries,
            past_sessions: false,
            extra: self.world.environment.get(names::MEMORY_EXTRA_GUIDELINES).map(str::to_owned),
        };
        let cache = self.world.home()?.join("cache");
        let embedder = embedder::embedder_or_note(self.settings, self.world);
        let clock = Arc::clone(&self.world.clock);
        Ok(ClientMemories::new(stores, &cache, embedder, rules, clock))
    }

    async fn session_start(&self, input: &HookInput) -> Result<Option<String>, Failure> {
        let state = self.state()?;
        state.sweep(self.world.clock.now()).map_err(Failure::failed)?;
        if let Some(session) = input.session_id.as_deref().filter(|_| input.starts_anew()) {
            state.forget(session).map_err(Failure::failed)?;
        }
        let context = at_start(&self.memories().await?, self.index()).map_err(Failure::failed)?;
        Ok(Some(output(input.event_name(ClientHookEvent::SessionStart), &context)))
    }

    async fn prompt(&self, input: &HookInput) -> Result<Option<String>, Failure> {
        let Some(prompt) = &input.prompt else { return Ok(None) };
        let state = self.state()?;
        let session = input.session_id.as_deref();
        let (seen, spent) = session.map(|session| state.seen(session)).unwrap_or_default();
        let memories = self.memories().await?;
        let recalled =
            about_prompt(&memories, prompt, &seen, spent, self.index()).map_err(Failure::failed)?;
        let Some(text) = recalled.text else { return Ok(None) };
        if let Some(session) = session {
            state.note_seen(session, &recalled.files, text.len()).map_err(Failure::failed)?;
        }
        Ok(Some(output(input.event_name(ClientHookEvent::Prompt), &text)))
    }
}
