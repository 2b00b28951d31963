//! The background task that keeps session notes.

use std::sync::Arc;

use dormouse_base::{Dir, SessionNotesSettings};
use dormouse_context::compact::notes;
use dormouse_conversation::Message;
use dormouse_engine::{BackgroundTask, SavedNotes, TurnSnapshot};

use super::config::NotesConfig;
use super::files::NotesFiles;
use super::run::{NotesRun, SESSION_NOTES};
use super::state::SharedNotesState;
use super::thresholds::{NotesReach, Thresholds};

/// Keeps the notes of sessions.
pub struct SessionNotes {
    config: Arc<NotesConfig>,
    settings: SessionNotesSettings,
    state: SharedNotesState,
}

impl SessionNotes {
    /// Notes with this template and prompt, as often as the settings say.
    pub fn new(config: NotesConfig, settings: SessionNotesSettings) -> Self {
        Self { config: Arc::new(config), settings, state: SharedNotesState::default() }
    }

    /// The reach of a run that starts now, if one is due.
    fn due(&self, snapshot: &TurnSnapshot<'_>) -> Option<NotesReach> {
        let message = snapshot.messages().last()?.id;
        // The prompt in front of what was said does not count.
        let tokens = snapshot.conversation_tokens();
        let mut state = self.state.lock();
        state.switch_to(snapshot.session_folder());
        if state.has_given_up() {
            return None;
        }
        // After a compaction the conversation is smaller than it was.
        if let Some(last) = &mut state.last {
            last.tokens = last.tokens.min(tokens);
        }
        let thresholds = Thresholds::of(self.settings, snapshot.budget());
        let calls = |last: &NotesReach| calls_since(snapshot.messages(), last);
        if !thresholds.are_met(state.last.as_ref(), tokens, snapshot.is_turn_end(), calls) {
            return None;
        }
        let reach = NotesReach { message, tokens };
        state.last = Some(reach);
        Some(reach)
    }
}

/// Tool calls after a message; all of them if the message is gone.
fn calls_since(messages: &[Arc<Message>], last: &NotesReach) -> usize {
    let newer = messages.iter().rev().take_while(|message| message.id != last.message);
    newer.map(|message| message.tool_calls().count()).sum()
}

impl BackgroundTask for SessionNotes {
    fn on_idle(&self, snapshot: &TurnSnapshot<'_>) {
        let can_pay = snapshot.has_background_room() && !snapshot.quota_is_low();
        // A server that has nothing in its cache does not get the whole conversation for notes.
        if snapshot.jobs().is_running(SESSION_NOTES) || !can_pay || !snapshot.is_cached() {
            return;
        }
        let Some(reach) = self.due(snapshot) else { return };
        let run = NotesRun {
            source: snapshot.fork_source(),
            reach,
            prompt_tokens: snapshot.tokens(),
            budget: *snapshot.budget(),
            config: Arc::clone(&self.config),
            session: snapshot.session_folder().clone(),
            state: self.state.clone(),
            metrics: snapshot.figures().clone(),
        };
        snapshot.jobs().spawn(SESSION_NOTES, |job| run.run(job));
    }

    fn session_notes(&self, session: &Dir) -> Option<SavedNotes> {
        let _locked = self.state.lock();
        let files = NotesFiles::of(session);
        // Unreadable notes count as none: the next run reports and replaces them.
        let current = files.read(&self.config.template).ok()??;
        let reach = files.reach().map(|reach| reach.message);
        let path = files.path();
        Some(SavedNotes { text: current.text, template: current.template, path, reach })
    }
}

/// The title in the notes of a session, if there are notes with one.
pub fn saved_title(session: &Dir) -> Option<String> {
    // A list of sessions does not report unreadable notes.
    let current = NotesFiles::of(session).read(&NotesConfig::default().template).ok()??;
    notes::notes_title(&current.text)
}
