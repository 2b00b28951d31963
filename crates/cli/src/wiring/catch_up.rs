//! Extraction from queued transcripts (B-5, R-17): those of other agents and of headless runs, in a temporary session.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use dormouse_base::{Clock, Deadlines, Dir, Environment, Lock, LockError, RelPath, names};
use dormouse_conversation::transcript::PendingTranscripts;
use dormouse_engine::{EngineEvent, Saving, SessionFolder, TaskOccasion};
use dormouse_model::{ANTHROPIC_URL, OPENAI_URL};
use jiff::Timestamp;

use crate::args::Arguments;
use crate::message_catalog::msg;
use crate::wiring::background_tasks::{self, RunKind};
use crate::wiring::exit::Failure;
use crate::wiring::session_start::{self, SessionChoice};
use crate::wiring::settings;
use crate::wiring::trust::Untrusted;
use crate::wiring::user_access::UserAccess;
use crate::wiring::world::{World, current_project};

/// The word of the hook that has memories extracted.
pub(crate) const EXTRACT: &str = "extract";
/// The providers that have a name; others are given by their address.
const PROVIDERS: [&str; 2] = [ANTHROPIC, OPENAI];
const ANTHROPIC: &str = "anthropic";
const OPENAI: &str = "openai";
/// A session counts as ended when its agent has not stopped again for so long. What is waited is at most twice that.
const QUIET: Duration = Duration::from_secs(25);
/// Below the usual priority by so much.
const NICE: i32 = 10;

/// Extracts memories from the queued transcripts of the project.
pub(crate) async fn run(
    typed: &Arguments,
    world: &World,
    sink: &mut (dyn FnMut(EngineEvent) + Send),
) -> Result<(), Failure> {
    let scratch = ScratchFolder::create(&world.home()?)?;
    let choice = SessionChoice::of(typed);
    let saving = Some(Saving::Entries);
    let ready = session_start::prepare_for(typed, &choice, world, Untrusted::Pass, saving).await?;
    let ready = ready.in_folder(SessionFolder::of(scratch.folder.clone()));
    let session = ready.open_for(RunKind::CatchUp, typed, world, UserAccess::default())?;
    session.engine.notify_tasks(TaskOccasion::Opened);
    background_tasks::finish(&session.engine, sink).await;
    Ok(())
}

/// Starts [`run_detached`] in a process of its own, which outlives this one.
#[expect(
    clippy::disallowed_methods,
    reason = "it must outlive this process, and makes a group of its own"
)]
pub(crate) fn start_detached(words: &[String], folder: &Path) -> Result<(), Failure> {
    let program = std::env::current_exe().map_err(Failure::failed)?;
    Command::new(program)
        .arg("hook")
        .args(words)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(Failure::failed)?;
    Ok(())
}

/// Waits until the other agent's session is quiet, extracts with the provider that the user named, and ends. One at a time.
pub(crate) async fn run_detached(
    provider: &str,
    model: Option<&str>,
    world: &World,
    sink: &mut (dyn FnMut(EngineEvent) + Send),
) -> Result<(), Failure> {
    // The agent that started it may be ended with everything in its process group.
    let _own_group = rustix::process::setsid();
    let _lower = rustix::process::nice(NICE);
    let home = world.home()?;
    let folder = Dir::create(home.join("hooks"))?;
    let Some(next) = try_lock(&folder, "extraction-next.lock")? else { return Ok(()) };
    // One works and one waits: what is queued while the first is about to end is seen by the second.
    let _lock = loop {
        match try_lock(&folder, "extraction.lock")? {
            Some(lock) => break lock,
            None => tokio::time::sleep(world.deadlines.away_after(QUIET)).await,
        }
    };
    drop(next);
    let project = current_project()?;
    let typed = arguments(provider, model, &world.environment)?;
    let in_force = settings::load(world, typed.settings.as_deref(), &project, Untrusted::Pass)?;
    let mut before = usize::MAX;
    while background_tasks::something_waits(world, &in_force.switches, &project)? {
        wait_until_quiet(&home, &world.deadlines).await;
        let waiting = count(&home);
        // What cannot be looked at stays in the queue for somebody who can say why.
        if waiting >= before {
            break;
        }
        before = waiting;
        run(&typed, world, sink).await?;
    }
    Ok(())
}

/// A lock; none where another process holds it.
fn try_lock(folder: &Dir, name: &str) -> Result<Option<Lock>, Failure> {
    let name = RelPath::new(name).map_err(Failure::failed)?;
    match Lock::try_acquire(folder, &name) {
        Ok(lock) => Ok(Some(lock)),
        Err(LockError::Held { .. }) => Ok(None),
        Err(LockError::File(error)) => Err(error.into()),
    }
}

/// Whether extraction can use this provider: one with a name, or the address of a server.
pub(crate) fn check_provider(provider: &str) -> Result<(), Failure> {
    let is_address = provider.starts_with("http://") || provider.starts_with("https://");
    if is_address || PROVIDERS.contains(&provider) {
        return Ok(());
    }
    let text = msg!("setup-unknown-provider", provider = provider);
    let hint = msg!("setup-unknown-provider-hint", providers = PROVIDERS.join(", "));
    Err(Failure::usage(anyhow::anyhow!(text)).hint(hint))
}

/// The arguments of a session with this provider and no other, whatever the user's settings say: a name, or the address of a
/// server that speaks the OpenAI format.
fn arguments(
    provider: &str,
    model: Option<&str>,
    environment: &Environment,
) -> Result<Arguments, Failure> {
    let (kind, variable, official, key) = match provider {
        ANTHROPIC => (provider, names::ANTHROPIC_BASE_URL, ANTHROPIC_URL, names::ANTHROPIC_API_KEY),
        OPENAI => (provider, names::OPENAI_BASE_URL, OPENAI_URL, names::OPENAI_API_KEY),
        address => (OPENAI, "", address, names::OPENAI_API_KEY),
    };
    let address = environment.get(variable).unwrap_or(official);
    // A server of one's own may need no key; the others need theirs.
    let needs_key = address == official && !variable.is_empty();
    let provider = if needs_key {
        serde_json::json!({ "kind": kind, "baseUrl": address, "keyEnv": key })
    } else {
        serde_json::json!({ "kind": kind, "baseUrl": address })
    };
    let settings = serde_json::json!({ "provider": provider }).to_string();
    let mut words = vec!["dormouse".to_owned(), "--settings".to_owned(), settings];
    words.extend(model.iter().flat_map(|model| ["--model".to_owned(), (*model).to_owned()]));
    crate::args::parse_arguments(words).map_err(Failure::usage)
}

async fn wait_until_quiet(home: &Path, deadlines: &Deadlines) {
    let mut newest = pending(home).into_iter().max();
    loop {
        tokio::time::sleep(deadlines.away_after(QUIET)).await;
        let now = pending(home).into_iter().max();
        if now == newest {
            return;
        }
        newest = now;
    }
}

/// Ends when so much time has passed.
#[cfg(not(feature = "movable-clock"))]
pub(crate) async fn wait_idle(_clock: &dyn Clock, time: Duration) {
    tokio::time::sleep(time).await;
}

/// The same by a clock that a benchmark moves.
#[cfg(feature = "movable-clock")]
pub(crate) async fn wait_idle(clock: &dyn Clock, time: Duration) {
    const LOOK_AGAIN: Duration = Duration::from_millis(20);
    let begun = clock.elapsed();
    while clock.elapsed().saturating_sub(begun) < time {
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

fn count(home: &Path) -> usize {
    pending(home).len()
}

/// When each queued transcript was queued. A queue that cannot be read counts as empty.
fn pending(home: &Path) -> Vec<Timestamp> {
    let list = PendingTranscripts::existing(home).and_then(|list| list.list().ok());
    let times = list.unwrap_or_default().into_iter().map(|waiting| waiting.time);
    times.filter_map(|time| time.parse().ok()).collect()
}

/// A temporary folder, removed on drop.
struct ScratchFolder {
    folder: Dir,
}

impl ScratchFolder {
    fn create(home: &Path) -> Result<Self, Failure> {
        let name = format!("catch-up-{}", uuid::Uuid::new_v4().simple());
        Ok(Self { folder: Dir::create(home.join("state").join(name))? })
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        // A leftover folder contains only a system prompt.
        let _left = std::fs::remove_dir_all(self.folder.path());
    }
}
