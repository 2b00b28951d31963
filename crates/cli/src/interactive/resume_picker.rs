//! The picker of `--resume` and `/resume`: the sessions of this project, newest first.

use std::io;
use std::time::SystemTime;

use dormouse_base::{Environment, SessionId, names};
use dormouse_conversation::transcript::{SessionSummary, list_sessions};
use dormouse_engine::SessionFolder;
use dormouse_tui::inline::LiveStyles;
use dormouse_tui::picker::{Picker, PickerEntry};
use tokio::sync::mpsc::unbounded_channel;

use crate::commands::sessions::{format_age, use_notes_title};
use crate::message_catalog::msg;
use crate::terminal::tty::RawMode;
use crate::wiring::exit::Failure;

use super::keyboard::Keyboard;
use super::pick::{pick, picker_texts};
use super::session::InteractiveSession;

/// The sessions to choose from, and the picker that shows them.
pub(crate) struct SessionPicker {
    sessions: Vec<SessionId>,
    picker: Picker,
}

impl SessionPicker {
    /// The sessions of a folder except the current one; none if there are none.
    pub(crate) fn load(
        folder: Option<&SessionFolder>,
        current: Option<SessionId>,
        now: SystemTime,
    ) -> Result<Option<Self>, Failure> {
        let Some(folder) = folder else { return Ok(None) };
        let mut sessions = list_sessions(folder.dir(), None)?;
        sessions.retain(|session| Some(session.session) != current);
        if sessions.is_empty() {
            return Ok(None);
        }
        for session in &mut sessions {
            use_notes_title(session, folder);
        }
        let entries = sessions.iter().map(|session| entry(session, now)).collect();
        let picker = Picker::new(picker_texts(msg!("picker-sessions")), entries);
        let sessions = sessions.iter().map(|session| session.session).collect();
        Ok(Some(Self { sessions, picker }))
    }

    /// Picks a session before one is open; none if the user picks none.
    pub(crate) async fn pick_at_start(
        self,
        environment: &Environment,
    ) -> io::Result<Option<SessionId>> {
        let _raw = RawMode::enable()?;
        // Nobody looks for files here.
        let (_files, fitting) = unbounded_channel();
        let mut keyboard = Keyboard::open(fitting)?;
        let has_no_color = environment.get(names::NO_COLOR).is_some();
        let styles = if has_no_color { LiveStyles::None } else { LiveStyles::All };
        let picked = pick(&mut keyboard, self.picker, styles).await;
        Ok(picked.and_then(|at| self.sessions.get(at).copied()))
    }
}

impl InteractiveSession<'_> {
    /// Picks another session; none if there is none, or the user picks none.
    pub(super) async fn pick_session(&mut self) -> Result<Option<SessionId>, Failure> {
        let current = self.session.engine.conversation().session();
        let now = SystemTime::from(self.world.clock.now());
        let folder = Some(&self.session.folder);
        let Some(SessionPicker { sessions, picker }) =
            SessionPicker::load(folder, Some(current), now)?
        else {
            self.view.say(&msg!("resume-none"));
            return Ok(None);
        };
        let picked = self.input.pick(&self.view, picker).await;
        Ok(picked.and_then(|at| sessions.get(at).copied()))
    }
}

fn entry(session: &SessionSummary, now: SystemTime) -> PickerEntry {
    let age = now.duration_since(session.modified).unwrap_or_default();
    let branch = session.branch.iter().map(|branch| format!(" · {branch}"));
    let details = msg!(
        "picker-session-details",
        age = format_age(age),
        messages = session.messages,
        tokens = session.tokens.div_ceil(1_000)
    );
    let first = msg!("picker-session-first", text = session.first_prompt.as_str());
    let last =
        session.last_prompt.iter().map(|text| msg!("picker-session-last", text = text.as_str()));
    PickerEntry {
        title: session.title.clone(),
        details: details + &branch.collect::<String>(),
        preview: std::iter::once(first).chain(last).collect(),
    }
}
