//! The state of an interactive session.

use dormouse_engine::Surroundings;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::args::Arguments;
use crate::terminal::tty::NoEcho;
use crate::wiring::exit::Exit;
use crate::wiring::session_start::ActiveSession;
use crate::wiring::world::World;

use super::confirmation::PendingConfirmation;
use super::line_editor::LineEditor;
use super::prompt_history::PromptHistory;
use super::signals::Signals;
use super::status_line::StatusLine;
use super::view::SharedView;

/// The notice while the model's server has not answered yet.
pub(super) const CONNECTING: &str = "Connecting to the model server…";

/// The conversation, the terminal, and keyboard input.
pub(super) struct InteractiveSession<'a> {
    pub(super) arguments: &'a Arguments,
    pub(super) world: &'a World,
    pub(super) session: ActiveSession,
    pub(super) view: SharedView,
    pub(super) editor: LineEditor,
    pub(super) confirmations: UnboundedReceiver<PendingConfirmation>,
    pub(super) signals: Signals,
    pub(super) history: PromptHistory,
    /// Keys typed before a permission prompt appeared, kept for the next prompt.
    pub(super) typed_ahead: String,
    /// Restores the terminal when dropped. None on a terminal that can only print.
    pub(super) no_echo: Option<NoEcho>,
    pub(super) status_line: StatusLine,
}

/// What follows after a line of input was handled.
pub(super) enum AfterInput {
    Prompt,
    Leave(Exit),
}

impl InteractiveSession<'_> {
    /// The state of the working directory now.
    pub(super) async fn surroundings(&self) -> Surroundings {
        let ActiveSession { project, environment, .. } = &self.session;
        Surroundings::look(project, environment, &*self.world.clock).await
    }
}
