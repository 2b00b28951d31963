//! Session notes: the task that keeps them, and the titles and texts for the user.

use std::sync::Arc;

use dormouse_background::{NotesConfig, SessionNotes, saved_title};
use dormouse_base::{Dir, LayerSwitch, RelPath, SessionId, SessionNotesSettings, Switches};
use dormouse_engine::{BackgroundTask, Engine, TITLE_FILE};

use crate::message_catalog::msg;
use crate::wiring::exit::Failure;
use crate::wiring::print;
use crate::wiring::world::World;
use crate::wiring::world::is_bare;

/// The task that keeps session notes; none where they are off or unused, or in a bare run, which makes no other
/// requests.
pub(crate) fn keeper(
    world: &World,
    settings: SessionNotesSettings,
    switches: &Switches,
) -> Result<Option<Arc<dyn BackgroundTask>>, Failure> {
    if !switches.is_on(LayerSwitch::SessionNotes)
        || !switches.is_on(LayerSwitch::AutoCompact)
        || is_bare(&world.environment)?
    {
        return Ok(None);
    }
    let (sheets, problems) = NotesConfig::read(&world.home()?);
    for problem in problems {
        print::note(&format!("warning: {problem}"));
    }
    Ok(Some(Arc::new(SessionNotes::new(sheets, settings))))
}

/// The title of a session: set by a hook, else from its notes.
pub(crate) fn title(sessions: &Dir, session: SessionId) -> Option<String> {
    // A session without a folder has neither.
    let own = sessions.open_folder(&RelPath::new(session.to_string()).ok()?).ok()?;
    given_title(&own).or_else(|| saved_title(&own))
}

fn given_title(own: &Dir) -> Option<String> {
    let bytes = own.read(&RelPath::new(TITLE_FILE).ok()?).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The notes of a session, for `/notes`.
pub(crate) fn notes_text(engine: &Engine) -> String {
    match engine.saved_notes() {
        Some(notes) => format!("{}\n\n{}", notes.path.display(), notes.text.trim_end()),
        None => msg!("notes-none"),
    }
}
