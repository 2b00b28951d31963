//! The background tasks of a session (session notes, extraction), and waiting for them.

use std::sync::Arc;
use std::time::Duration;

use dormouse_background::{
    EXTRACTION, Extraction, ExtractionRules, QueueTranscript, SESSION_NOTES, TranscriptQueue,
    WAITS_FOR_PAUSE,
};
use dormouse_base::{Environment, LayerSwitch, Project, Settings, Switches, names};
use dormouse_engine::{BackgroundTask, Engine, EngineEvent, JobStatus, TaskOccasion};

use crate::wiring::exit::Failure;
use crate::wiring::session_notes;
use crate::wiring::team_task::{TEAM_SYNC, TeamTask};
use crate::wiring::world::is_bare;
use crate::wiring::world::{World, is_remote};

/// The tasks that are awaited when a session ends, and for how long.
const AWAITED: &[&str] = &[EXTRACTION, TEAM_SYNC];
/// The tasks that are tried again after the next turn when they were stopped.
const REPEATED: &[&str] = &[EXTRACTION, SESSION_NOTES];
const TIMEOUT: Duration = Duration::from_mins(1);

/// Whether an awaited task is running.
pub(crate) fn is_busy(engine: &Engine) -> bool {
    AWAITED.iter().any(|kind| engine.jobs().is_running(kind))
}

/// What was put off is done now. On a local server that would keep the user waiting: there it is done when the session is next
/// opened.
pub(crate) fn session_ends(engine: &Engine) {
    if !engine.model().client.is_local() {
        engine.notify_tasks(TaskOccasion::Paused);
    }
}

/// How long a run waits for its team memories to be sent; the next session sends what was not.
const SENDING: Duration = Duration::from_secs(10);

/// Waits until what this session wrote has reached the team.
pub(crate) async fn finish_sending(engine: &Engine) {
    let _in_time = engine.jobs().drained(&[TEAM_SYNC], SENDING).await;
}

/// Waits for the awaited tasks and shows their results.
pub(crate) async fn finish(engine: &Engine, sink: &mut (dyn FnMut(EngineEvent) + Send)) {
    // Unfinished work is done when the session is next opened; so is what only waits for a pause.
    let jobs = engine.jobs().list();
    let waiting =
        jobs.iter().filter(|job| job.status == JobStatus::Running && job.phase == WAITS_FOR_PAUSE);
    waiting.for_each(|job| {
        engine.jobs().kill(job.id);
    });
    let _in_time = engine.jobs().drained(AWAITED, TIMEOUT).await;
    engine.take_memory_notices().into_iter().for_each(|said| sink(EngineEvent::Remembered(said)));
}

/// Stops tasks that the user's message would have to wait for, on a server that serves one request at a time. Says which;
/// one that had sent nothing yet is not worth a word.
pub(crate) async fn make_way(engine: &Engine) -> Vec<String> {
    let jobs = engine.jobs().list().into_iter();
    let in_the_way: Vec<_> = jobs
        .filter(|job| job.status == JobStatus::Running && REPEATED.contains(&job.kind))
        .collect();
    let client = &engine.model().client;
    if in_the_way.is_empty() || !client.is_local() || client.slots().await != Some(1) {
        return Vec::new();
    }
    let stopped = in_the_way.iter().filter(|job| engine.jobs().kill(job.id));
    stopped.filter(|job| job.requests > 0).map(|job| job.kind.replace('_', " ")).collect()
}

/// The kind of run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunKind {
    Interactive,
    /// `-p`; `wait` says whether background tasks are awaited.
    Headless {
        wait: bool,
    },
    /// No prompt: only queued transcripts are processed.
    CatchUp,
}

impl RunKind {
    pub(crate) fn is_headless(self) -> bool {
        matches!(self, Self::Headless { .. })
    }
}

/// The background tasks for a kind of run.
pub(crate) fn background_tasks(
    world: &World,
    settings: &Settings,
    switches: &Switches,
    project: &Project,
    run: RunKind,
) -> Result<Vec<Arc<dyn BackgroundTask>>, Failure> {
    let mut tasks: Vec<Arc<dyn BackgroundTask>> = Vec::new();
    tasks.extend(session_notes::keeper(world, settings.session_notes, switches)?);
    if extracts(&world.environment, switches, run)? {
        tasks.push(extraction(world, settings, project, run)?);
    }
    let syncs = run != RunKind::CatchUp && switches.is_on(LayerSwitch::Memory);
    if syncs && switches.is_on(LayerSwitch::Team) && !is_bare(&world.environment)? {
        tasks.push(Arc::new(TeamTask::start(world, project, settings, switches)?));
    }
    Ok(tasks)
}

/// Extraction now, or queued until the next interactive session of the project.
fn extraction(
    world: &World,
    settings: &Settings,
    project: &Project,
    run: RunKind,
) -> Result<Arc<dyn BackgroundTask>, Failure> {
    let home = world.home()?;
    let extraction = Extraction::new(rules(&world.environment, settings));
    Ok(match run {
        RunKind::Interactive | RunKind::CatchUp => {
            Arc::new(extraction.with_queue(TranscriptQueue::new(home, project.root.clone())))
        }
        RunKind::Headless { wait: true } => Arc::new(extraction),
        RunKind::Headless { wait: false } => {
            Arc::new(QueueTranscript::new(home, project.folder.clone(), Arc::clone(&world.clock)))
        }
    })
}

/// Whether transcripts of the project are queued for extraction.
pub(crate) fn something_waits(
    world: &World,
    switches: &Switches,
    project: &Project,
) -> Result<bool, Failure> {
    let waits =
        || Ok::<_, Failure>(TranscriptQueue::new(world.home()?, project.root.clone()).is_waiting());
    Ok(extracts(&world.environment, switches, RunKind::CatchUp)? && waits()?)
}

/// Not in a bare run, which makes no other requests, nor on a remote machine.
fn extracts(environment: &Environment, switches: &Switches, run: RunKind) -> Result<bool, Failure> {
    let wanted = match run {
        RunKind::Interactive | RunKind::CatchUp => true,
        RunKind::Headless { .. } => switches.is_on(LayerSwitch::ExtractionHeadless),
    };
    let on =
        wanted && switches.is_on(LayerSwitch::Memory) && switches.is_on(LayerSwitch::Extraction);
    Ok(on && !is_bare(environment)? && !is_remote(environment)?)
}

fn rules(environment: &Environment, settings: &Settings) -> ExtractionRules {
    let usual = ExtractionRules::default();
    let unguarded = environment.get(names::TEST_ECHO_GUARD) == Some("0");
    ExtractionRules {
        every_turns: settings
            .extraction
            .every_turns
            .map(|turns| turns.max(1))
            .or(usual.every_turns),
        guarded: !(unguarded && cfg!(debug_assertions)),
    }
}
