//! Dreams (memory consolidation) in a session and by command: what both need.

use std::sync::Arc;

use dormouse_background::{DreamReport, DreamSetup, DreamTask};
use dormouse_base::{Dir, LayerSwitch, Switches};
use dormouse_engine::{SessionFolder, SessionMemory};

use crate::wiring::exit::Failure;
use crate::wiring::world::{World, is_remote};

/// Who dreams beside a conversation; nobody without memory.
pub(crate) fn dreamer(
    world: &World,
    access: Option<&Arc<SessionMemory>>,
    sessions: &SessionFolder,
    switches: &Switches,
) -> Result<Option<Arc<DreamTask>>, Failure> {
    let Some(access) = access else { return Ok(None) };
    let setup = setup(world, Arc::clone(access), sessions.dir().clone());
    let disabled = match (switches.is_on(LayerSwitch::Dream), switches.is_on(LayerSwitch::DailyLog))
    {
        _ if is_remote(&world.environment)? => Some("this is a remote session".to_owned()),
        (true, false) => None,
        (false, _) => Some("the switch `dream` is off".to_owned()),
        (true, true) => Some("memories are saved as a daily log".to_owned()),
    };
    Ok(Some(Arc::new(DreamTask::new(setup, disabled))))
}

/// What a dream needs from outside.
pub(crate) fn setup(world: &World, access: Arc<SessionMemory>, sessions: Dir) -> DreamSetup {
    DreamSetup { access, sessions, clock: Arc::clone(&world.clock), ids: Arc::clone(&world.ids) }
}

/// A report in words; the last line is what it came to.
pub(crate) fn report_lines(report: &DreamReport) -> Vec<String> {
    let mut lines = Vec::new();
    for memory in &report.memories {
        let deeds =
            memory.deeds.iter().map(|deed| format!("{} memory: {}", memory.scope, deed.line()));
        lines.extend(deeds);
        let was = if memory.kept == 1 { "it was" } else { "they were" };
        lines.push(format!("{} memory: kept {} as {was}", memory.scope, memory.kept));
    }
    lines.extend(report.refused.iter().map(|refused| format!("refused: {refused}")));
    lines.extend(report.left_out.iter().map(|left| format!("left out: {left}")));
    lines.push(report.headline());
    lines
}
