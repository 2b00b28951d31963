//! How input is read: key by key into the live part, or line by line.

use std::io;

use dormouse_tui::action::UserAction;
use dormouse_tui::keys::{KeyCode, KeyEvent, KeyModifiers, TerminalEvent};
use dormouse_tui::picker::Picker;
use dormouse_tui::style::Style;
use rustix::process::{Signal, getpid, kill_process};

use crate::message_catalog::msg;
use crate::terminal::tty::{self, NoEcho, RawMode};
use tokio::sync::mpsc::UnboundedReceiver;

use super::file_suggestions::FittingFiles;
use super::keyboard::Keyboard;
use super::line_editor::{InputEvent, LineEditor, ReadRequest};
use super::live_screen::LiveScreen;
use super::pick::pick;
use super::view::SharedView;

/// Where input comes from.
pub(crate) enum TerminalInput {
    /// Keys as they are pressed.
    Keys { keyboard: Keyboard, mode: RawMode },
    /// Lines, for screen readers, logs and terminals without control sequences.
    Lines {
        editor: LineEditor,
        /// Keys typed before a permission prompt appeared, kept for the next prompt.
        typed_ahead: String,
        /// None on a terminal that can only print.
        no_echo: Option<NoEcho>,
    },
}

impl TerminalInput {
    pub(crate) fn keys(files: UnboundedReceiver<FittingFiles>) -> io::Result<Self> {
        let mode = RawMode::enable()?;
        Ok(Self::Keys { keyboard: Keyboard::open(files)?, mode })
    }

    pub(crate) fn lines(editor: LineEditor, no_echo: Option<NoEcho>) -> Self {
        Self::Lines { editor, typed_ahead: String::new(), no_echo }
    }

    /// Reads the next message. `mode` is the label of a permission mode that is not the default one.
    pub(crate) async fn read(
        &mut self,
        view: &SharedView,
        mode: Option<&'static str>,
    ) -> InputEvent {
        match self {
            Self::Keys { keyboard, .. } => read_keys(keyboard, view).await,
            Self::Lines { editor, typed_ahead, .. } => {
                let typed = std::mem::take(typed_ahead);
                editor.read(ReadRequest::Message { typed, mode }).await
            }
        }
    }

    /// The next event of a running turn. Lines have none: the terminal keeps them.
    pub(crate) async fn turn_event(&mut self) -> Option<io::Result<TerminalEvent>> {
        match self {
            Self::Keys { keyboard, .. } => keyboard.next().await,
            Self::Lines { .. } => std::future::pending().await,
        }
    }

    /// Waits for Ctrl-C or Esc, where they are keys and not signals.
    pub(crate) async fn interrupted(&mut self) {
        let stops = [
            KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL),
            KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE),
        ];
        loop {
            match self.turn_event().await {
                Some(Ok(TerminalEvent::Key(key))) if stops.contains(&key) => return,
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return,
            }
        }
    }

    /// Whether Ctrl-C is read as a key at the prompt; otherwise it arrives as a signal.
    pub(crate) fn reads_control_c(&self) -> bool {
        !matches!(self, Self::Lines { no_echo: None, .. })
    }

    /// Replaces the text in the composer.
    pub(crate) fn set_text(&mut self, view: &SharedView, text: &str) {
        match self {
            Self::Keys { .. } => view.borrow_mut().change(|interface| interface.set_text(text)),
            Self::Lines { typed_ahead, .. } => text.clone_into(typed_ahead),
        }
    }

    /// What shows lines above the prompt while it is read.
    pub(crate) fn printer(&self) -> LinePrinter {
        match self {
            Self::Keys { .. } => LinePrinter(None),
            Self::Lines { editor, .. } => LinePrinter(Some(editor.clone())),
        }
    }

    /// Takes the terminal back after another program had it.
    pub(crate) fn take_back(&self, view: &SharedView) {
        self.apply_modes(view);
        view.live(LiveScreen::come_back);
    }

    /// Sets the terminal's modes again.
    pub(crate) fn apply_modes(&self, view: &SharedView) {
        let applied = match self {
            Self::Keys { mode, .. } => mode.reapply(),
            Self::Lines { no_echo, .. } => no_echo.as_ref().map_or(Ok(()), NoEcho::reapply),
        };
        if let Err(error) = applied {
            let text = msg!("terminal-mode-failed", error = error.to_string());
            view.borrow_mut().note(&text, Style::DIM);
        }
    }

    /// Lends the terminal, in its normal mode, to work that prints or asks.
    pub(crate) async fn lend<T>(&mut self, view: &SharedView, work: impl Future<Output = T>) -> T {
        let result = self.lend_screen(view, work).await;
        view.borrow_mut().others_wrote();
        result
    }

    /// Lends the terminal to a program that leaves nothing on the screen, such as an editor.
    pub(crate) async fn lend_screen<T>(
        &mut self,
        view: &SharedView,
        work: impl Future<Output = T>,
    ) -> T {
        view.live(LiveScreen::leave);
        if self.reads_control_c() {
            tty::restore();
        }
        let result = work.await;
        self.take_back(view);
        result
    }

    /// Shows a picker in the place of the composer; none if nothing is picked, or where there is no composer.
    pub(crate) async fn pick(&mut self, view: &SharedView, picker: Picker) -> Option<usize> {
        let Self::Keys { keyboard, .. } = self else { return None };
        let styles = view.live(LiveScreen::styles)?;
        view.live(LiveScreen::leave);
        let picked = pick(keyboard, picker, styles).await;
        view.live(LiveScreen::come_back);
        picked
    }

    /// Stops the program, as Ctrl-Z does, until the shell continues it.
    pub(crate) async fn suspend(&mut self, view: &SharedView) {
        let stop = async {
            // Without job control it goes on at once.
            let _ignored = kill_process(getpid(), Signal::TSTP);
        };
        self.lend(view, stop).await;
    }
}

/// Shows lines above the prompt.
pub(crate) struct LinePrinter(Option<LineEditor>);

impl LinePrinter {
    /// Whether the prompt is a live part of the screen.
    pub(crate) fn is_live(&self) -> bool {
        self.0.is_none()
    }

    pub(crate) fn print(&self, view: &SharedView, line: String) {
        match &self.0 {
            Some(editor) => editor.print(line),
            None => {
                let mut view = view.borrow_mut();
                view.note(&line, Style::DIM);
                view.before_prompt();
            }
        }
    }
}

async fn read_keys(keyboard: &mut Keyboard, view: &SharedView) -> InputEvent {
    view.live(LiveScreen::draw);
    loop {
        let event = match keyboard.next().await {
            None => return InputEvent::Action(UserAction::Leave),
            Some(Err(error)) => return InputEvent::Failed(error.to_string()),
            Some(Ok(event)) => event,
        };
        if let Some(action) = view.live(|live| live.event(&event)).flatten() {
            return InputEvent::Action(action);
        }
    }
}
