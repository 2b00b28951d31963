//! Who works beside a conversation: the notes about the session, and the memories of it; and waiting for them.

use std::sync::Arc;
use std::time::Duration;

use dormouse_background::{
    EXTRACTION, Extraction, ExtractionRules, QueueTranscript, TranscriptQueue,
};
use dormouse_base::{LayerSwitch, Project, Settings, Switches, names};
use dormouse_engine::{BackgroundTask, Engine, EngineEvent};

use crate::wiring::exit::Failure;
use crate::wiring::session_notes;
use crate::wiring::world::is_bare;
use crate::wiring::world::{World, is_remote};

/// What is awaited when a session ends, and for how long.
const AWAITED: &[&str] = &[EXTRACTION];
const PATIENCE: Duration = Duration::from_mins(1);

/// Whether something is under way that is worth waiting for.
pub(crate) fn is_busy(engine: &Engine) -> bool {
    AWAITED.iter().any(|kind| engine.jobs().is_running(kind))
}

/// Waits for it, and says what came of it.
pub(crate) async fn finish(engine: &Engine, sink: &mut (dyn FnMut(EngineEvent) + Send)) {
    // What is not done in time is done when the session is next opened.
    let _in_time = engine.jobs().drained(AWAITED, PATIENCE).await;
    engine.take_memory_notices().into_iter().for_each(|said| sink(EngineEvent::Remembered(said)));
}

/// Whether somebody is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Run {
    /// A person talks.
    Talk,
    /// One question, one answer; what is done beside it is awaited, or not.
    Headless { wait: bool },
    /// Nothing is asked: what waits is looked through.
    CatchUp,
}

/// Those who work beside a conversation of this kind.
pub(crate) fn attendants(
    world: &World,
    settings: &Settings,
    switches: &Switches,
    project: &Project,
    run: Run,
) -> Result<Vec<Arc<dyn BackgroundTask>>, Failure> {
    let mut beside: Vec<Arc<dyn BackgroundTask>> = Vec::new();
    beside.extend(session_notes::keeper(world, settings.session_notes, switches)?);
    if extracts(world, switches, run)? {
        beside.push(extraction(world, settings, project, run)?);
    }
    Ok(beside)
}

/// Done now, or put off until somebody talks in this project.
fn extraction(
    world: &World,
    settings: &Settings,
    project: &Project,
    run: Run,
) -> Result<Arc<dyn BackgroundTask>, Failure> {
    let home = world.home()?;
    let extraction = Extraction::new(rules(world, settings));
    Ok(match run {
        Run::Talk | Run::CatchUp => {
            Arc::new(extraction.with_queue(TranscriptQueue::new(home, project.root.clone())))
        }
        Run::Headless { wait: true } => Arc::new(extraction),
        Run::Headless { wait: false } => {
            Arc::new(QueueTranscript::new(home, project.folder.clone(), Arc::clone(&world.clock)))
        }
    })
}

/// Whether transcripts of a project wait to be looked through, and may be.
pub(crate) fn something_waits(
    world: &World,
    switches: &Switches,
    project: &Project,
) -> Result<bool, Failure> {
    let waits =
        || Ok::<_, Failure>(TranscriptQueue::new(world.home()?, project.root.clone()).is_waiting());
    Ok(extracts(world, switches, Run::CatchUp)? && waits()?)
}

/// Not in a bare run, which makes no requests but its own; nor on a machine that belongs to nobody.
fn extracts(world: &World, switches: &Switches, run: Run) -> Result<bool, Failure> {
    let wanted = match run {
        Run::Talk | Run::CatchUp => true,
        Run::Headless { .. } => switches.is_on(LayerSwitch::ExtractionHeadless),
    };
    let on =
        wanted && switches.is_on(LayerSwitch::Memory) && switches.is_on(LayerSwitch::Extraction);
    Ok(on && !is_bare(world)? && !is_remote(world)?)
}

fn rules(world: &World, settings: &Settings) -> ExtractionRules {
    let usual = ExtractionRules::default();
    let unguarded = world.environment.get(names::TEST_ECHO_GUARD) == Some("0");
    ExtractionRules {
        every_turns: settings.extraction.every_turns.unwrap_or(usual.every_turns).max(1),
        guarded: !(unguarded && cfg!(debug_assertions)),
    }
}
