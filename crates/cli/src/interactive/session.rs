//! The state of an interactive session.

use dormouse_base::SessionId;
use dormouse_engine::{Steering, Surroundings};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::args::Arguments;
use crate::wiring::exit::Exit;
use crate::wiring::session_start::ActiveSession;
use crate::wiring::world::World;

use super::confirmation::PendingConfirmation;
use super::form::PendingStep;
use super::prompt_history::PromptHistory;
use super::signals::Signals;
use super::status_line::StatusLine;
use super::terminal_input::TerminalInput;
use super::view::SharedView;

/// The conversation, the terminal, and keyboard input.
pub(super) struct InteractiveSession<'a> {
    pub(super) arguments: &'a Arguments,
    pub(super) world: &'a World,
    pub(super) session: ActiveSession,
    pub(super) view: SharedView,
    pub(super) input: TerminalInput,
    pub(super) confirmations: UnboundedReceiver<PendingConfirmation>,
    /// Questions of forms that MCP servers send.
    pub(super) forms: UnboundedReceiver<PendingStep>,
    pub(super) signals: Signals,
    pub(super) history: PromptHistory,
    pub(super) status_line: StatusLine,
    /// Messages for the running turn.
    pub(super) steering: Steering,
}

/// What follows after a line of input was handled.
pub(super) enum AfterInput {
    Prompt,
    End(SessionEnd),
}

/// How a session ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SessionEnd {
    /// The program ends.
    Leave(Exit),
    /// Another session is resumed.
    Resume(SessionId),
}

impl AfterInput {
    pub(super) fn leave(exit: Exit) -> Self {
        Self::End(SessionEnd::Leave(exit))
    }
}

impl InteractiveSession<'_> {
    /// The state of the working directory now.
    pub(super) async fn surroundings(&self) -> Surroundings {
        let ActiveSession { project, environment, .. } = &self.session;
        Surroundings::look(project, environment, &*self.world.clock, &self.world.deadlines).await
    }
}
