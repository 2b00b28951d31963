//! Set-up and report of dreams (memory consolidation), in a session and by command.

use std::sync::Arc;

use dormouse_background::{DreamReport, DreamSetup, DreamTask};
use dormouse_base::{Dir, LayerSwitch, Switches};
use dormouse_engine::{SessionFolder, SessionMemory};

use crate::message_catalog::msg;
use crate::wiring::exit::Failure;
use crate::wiring::world::{World, is_remote};

/// The dream task of a session; none where memory is off.
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

pub(crate) fn setup(world: &World, access: Arc<SessionMemory>, sessions: Dir) -> DreamSetup {
    DreamSetup { access, sessions, clock: Arc::clone(&world.clock), ids: Arc::clone(&world.ids) }
}

/// The lines of a report; the last one sums it up.
pub(crate) fn report_lines(report: &DreamReport) -> Vec<String> {
    let mut lines = Vec::new();
    for memory in &report.memories {
        let deeds =
            memory.deeds.iter().map(|deed| format!("{} memory: {}", memory.scope, deed.line()));
        lines.extend(deeds);
        if memory.kept > 0 {
            let scope = memory.scope.to_string();
            lines.push(msg!("dream-report-unchanged", scope = scope, count = memory.kept));
        }
    }
    let refused = report.refused.iter();
    lines.extend(refused.map(|change| msg!("dream-report-refused", change = change)));
    let left_out = report.left_out.iter();
    lines.extend(left_out.map(|change| msg!("dream-report-left-out", change = change)));
    lines.push(report.headline());
    lines
}
