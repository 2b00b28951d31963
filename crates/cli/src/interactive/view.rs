//! Output of the interactive mode: engine events in, rows on the terminal out.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use dormouse_base::printable;
use dormouse_engine::{EngineEvent, RecallReceipt};
use dormouse_permissions::PermissionGate;
use dormouse_tools::ConfirmationRequest;
use dormouse_tui::interface::Interface;
use dormouse_tui::live::{LiveRow, StatusParts};
use dormouse_tui::markdown::{Flow, Renderer};
use dormouse_tui::style::{Color, Piece, Style};
use dormouse_tui::width;
use tokio::time::Instant;

use crate::message_catalog::msg;
use crate::wiring::exit::Failure;

use super::attention::SessionActivity;
use super::confirmation;
use super::edit_diff;
use super::latest_account::LatestAccount;
use super::live_screen::LiveScreen;
use super::progress::TurnProgress;
use super::screen::Screen;
use super::slash_commands::rows::{Rows, mode_label};
use super::tool_calls::{self, CallOutcome};

/// The kind of the last output. An empty row separates different kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LastOutput {
    Gap,
    Text,
    Call,
    Note,
}

/// A message of more lines is shown by its first ones: it stands in the transcript.
const LONGEST_ECHO: usize = 20;
const ECHO_ROWS: usize = 10;

/// Whether the text of a response has begun and not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextState {
    Open,
    Closed,
}

/// The model's to-do lists.
#[derive(Debug, Default)]
pub(super) struct TodoLists {
    /// Of a call that runs.
    pub(super) wanted: LiveRow,
    /// In force, and not in the scrollback yet.
    pub(super) pinned: LiveRow,
}

impl TodoLists {
    /// The call has succeeded: its list is in force.
    pub(super) fn pin(&mut self) -> LiveRow {
        self.pinned = std::mem::take(&mut self.wanted);
        self.pinned.clone()
    }
}

/// Renders engine events and notes.
#[derive(Debug)]
pub(crate) struct TerminalView {
    screen: Screen,
    pub(super) folder: PathBuf,
    gate: PermissionGate,
    markdown: Renderer,
    pub(super) text: TextState,
    pub(super) progress: TurnProgress,
    pub(super) last: LastOutput,
    /// The to-do list of a running `TodoWrite` call, and that of the last one.
    pub(super) todos: TodoLists,
    /// Rows of tool calls, held back until the text has ended.
    pub(super) waiting: Vec<Vec<Piece>>,
    /// Events held back while a permission prompt is open.
    pub(super) held: Option<Vec<EngineEvent>>,
    /// The recalls of this turn.
    pub(super) receipts: Vec<RecallReceipt>,
    /// The output of the last call.
    pub(super) last_output: Option<String>,
    /// What the model thinks, until it goes on.
    pub(super) thinking: String,
    /// What it thought last.
    pub(super) last_thinking: Option<String>,
    /// What the session has used so far.
    pub(super) account: LatestAccount,
}

/// A response that is being written while something else is shown above its last row.
#[derive(Debug)]
pub(super) struct TextAside {
    markdown: Renderer,
    waiting: Vec<Vec<Piece>>,
    row: LiveRow,
}

impl TextAside {
    /// Makes room above the row that is being written; none where no response is.
    pub(super) fn begin(view: &mut TerminalView) -> Option<Self> {
        if view.text == TextState::Closed {
            return None;
        }
        let row = view.screen.live()?.replace_row(LiveRow::new());
        view.text = TextState::Closed;
        let markdown = std::mem::replace(&mut view.markdown, Renderer::new(view.screen.columns()));
        Some(Self { markdown, waiting: std::mem::take(&mut view.waiting), row })
    }

    /// The response goes on where it was.
    pub(super) fn end(self, view: &mut TerminalView) {
        view.gap();
        (view.markdown, view.waiting) = (self.markdown, self.waiting);
        (view.text, view.last) = (TextState::Open, LastOutput::Text);
        view.screen.live().map(|live| live.replace_row(self.row));
    }
}

/// The view, shared by concurrent futures. It is never borrowed across an await point.
#[derive(Debug)]
pub(crate) struct SharedView(Mutex<TerminalView>);

impl SharedView {
    pub(crate) fn new(view: TerminalView) -> Self {
        Self(Mutex::new(view))
    }

    pub(crate) fn borrow_mut(&self) -> MutexGuard<'_, TerminalView> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something with the live part, where there is one.
    pub(crate) fn live<T>(&self, work: impl FnOnce(&mut LiveScreen) -> T) -> Option<T> {
        self.borrow_mut().live().map(work)
    }

    /// Shows an engine event, and what the turn does now.
    pub(crate) fn event(&self, event: EngineEvent) {
        let mut view = self.borrow_mut();
        view.event(event);
        view.show_progress();
    }

    /// Whether a frame is to be drawn.
    pub(crate) fn wants_frame(&self) -> bool {
        let mut view = self.borrow_mut();
        view.account.is_new() || view.live().is_some_and(|live| live.wants_frame())
    }

    pub(crate) fn say(&self, text: &str) {
        self.borrow_mut().note(text, Style::PLAIN);
    }

    pub(crate) fn list(&self, rows: &Rows) {
        self.borrow_mut().table(rows);
    }

    pub(crate) fn failure(&self, failure: &Failure) {
        let mut view = self.borrow_mut();
        view.note(&msg!("error-line", text = failure.message()), Style::PLAIN.color(Color::Red));
        for hint in failure.hints() {
            view.note(hint, Style::DIM);
        }
    }
}

/// The notice about a memory that was saved.
pub(crate) fn memory_notice(what: &str) -> String {
    printable(&msg!("memory-notice", what = what)).into_owned()
}

impl TerminalView {
    pub(crate) fn new(screen: Screen, folder: PathBuf, gate: PermissionGate) -> Self {
        let markdown = Renderer::new(screen.columns());
        Self {
            screen,
            folder,
            gate,
            markdown,
            text: TextState::Closed,
            progress: TurnProgress::new(Instant::now()),
            last: LastOutput::Gap,
            todos: TodoLists::default(),
            waiting: Vec::new(),
            held: None,
            receipts: Vec::new(),
            last_output: None,
            thinking: String::new(),
            last_thinking: None,
            account: LatestAccount::default(),
        }
    }

    /// Shows a message of the user's.
    pub(crate) fn echo(&mut self, prompt: &str) {
        self.begin(LastOutput::Note);
        let count = prompt.lines().count();
        let shown = if count > LONGEST_ECHO { ECHO_ROWS } else { count };
        for (at, line) in printable(prompt).lines().take(shown).enumerate() {
            let mark = if at == 0 { "> " } else { "  " };
            self.row(&format!("{mark}{line}"), Style::BOLD);
        }
        if count > shown {
            self.row(&format!("  {}", msg!("echo-more", count = count - shown)), Style::DIM);
        }
        self.row_ended();
    }

    /// Shows what was sent: the composer is empty again. A line editor leaves it on the screen by itself.
    pub(crate) fn echo_sent(&mut self, prompt: &str) {
        if self.screen.live().is_some() && !prompt.trim().is_empty() {
            self.echo(prompt);
        }
    }

    /// Prepares for the prompt.
    pub(crate) fn before_prompt(&mut self) {
        self.close_text();
        self.gap();
    }

    /// The live part, where there is one.
    pub(crate) fn live(&mut self) -> Option<&mut LiveScreen> {
        self.screen.live()
    }

    /// Changes the model of the live part, where there is one.
    pub(crate) fn change(&mut self, change: impl FnOnce(&mut Interface)) {
        if let Some(live) = self.screen.live() {
            live.change(change);
        }
    }

    /// Shows the status line of the user's command; where there is no live part, above the prompt.
    pub(crate) fn show_command_status(&mut self, line: &str) {
        let fitted = width::fitted(line, self.columns());
        if self.screen.live().is_none() && !line.trim().is_empty() {
            self.note(&fitted, Style::DIM);
        }
        self.set_status(StatusParts { parts: vec![(fitted, Style::DIM)], mode_at: None });
    }

    /// Shows the status line, where there is a live part.
    pub(crate) fn set_status(&mut self, status: StatusParts) {
        self.change(|interface| interface.set_status(status));
    }

    /// The line editor may have written; the cursor is at the start of a row. A composer leaves nothing behind.
    pub(crate) fn row_ended(&mut self) {
        if self.screen.live().is_none() {
            self.others_wrote();
        }
    }

    /// Another program has written; the cursor is at the start of a row.
    pub(crate) fn others_wrote(&mut self) {
        self.screen.row_ended();
        self.last = LastOutput::Note;
    }

    pub(crate) fn turn_started(&mut self) {
        self.screen.row_ended();
        let now = Instant::now();
        self.progress.rest(now);
        self.progress.waiting(now);
        self.receipts.clear();
        if let Some(live) = self.live() {
            live.set_activity(SessionActivity::Working);
        }
        self.show_progress();
        self.live().map(LiveScreen::release);
    }

    /// The user has interrupted the turn.
    pub(crate) fn stopping(&mut self) {
        self.progress.stopping(Instant::now());
        self.show_progress();
    }

    pub(crate) fn turn_ended(&mut self) {
        self.release();
        self.close_text();
        for label in self.progress.unfinished_calls() {
            self.call(&label, &CallOutcome::Failed(msg!("call-interrupted")), &[]);
        }
        self.progress.rest(Instant::now());
        self.list_todos();
        if let Some(live) = self.live() {
            live.set_activity(SessionActivity::Idle);
        }
    }

    /// Shows a notice of the program, wrapped.
    pub(crate) fn note(&mut self, text: &str, style: Style) {
        self.close_text();
        self.begin(LastOutput::Note);
        for line in printable(text).lines() {
            self.row(line, style);
        }
    }

    /// Shows a complete markdown text.
    pub(crate) fn markdown(&mut self, text: &str) {
        self.close_text();
        self.write(&format!("{}\n", text.trim_end()));
        self.close_text();
    }

    /// Shows names and texts in two columns; on a narrow terminal one below the other.
    pub(crate) fn table(&mut self, rows: &[(String, String)]) {
        self.close_text();
        self.begin(LastOutput::Note);
        let names = rows.iter().map(|(name, _)| width::of(name)).max().unwrap_or(0) + 2;
        let two_columns = names <= self.columns() / 2;
        let indent = if two_columns { names } else { 2 };
        for (name, text) in rows {
            let mut flow = Flow::new(self.columns());
            let rest = vec![(" ".repeat(indent), Style::PLAIN)];
            let name = format!("{name}{}", " ".repeat(names - width::of(name)));
            if two_columns {
                flow.begin(vec![(name, Style::DIM)], rest);
            } else {
                flow.put_verbatim(name.trim_end(), Style::DIM);
                flow.end_row();
                flow.begin(rest.clone(), rest);
            }
            for (at, line) in printable(text).lines().enumerate() {
                if at > 0 {
                    let margin = vec![(" ".repeat(indent), Style::PLAIN)];
                    flow.begin(margin.clone(), margin);
                }
                line.chars().for_each(|c| flow.put(c, Style::PLAIN));
                flow.end_row();
            }
            if text.is_empty() {
                flow.end_row();
            }
            let pieces = flow.take();
            self.show(&pieces);
        }
    }

    pub(super) fn columns(&self) -> usize {
        self.screen.columns()
    }

    pub(super) fn row(&mut self, line: &str, style: Style) {
        let mut flow = Flow::new(self.columns());
        let blanks = line.len() - line.trim_start().len();
        let hang = " ".repeat(blanks.min(self.columns() / 4));
        flow.begin(vec![(hang.clone(), style)], vec![(hang, style)]);
        for c in line.trim_start().chars() {
            flow.put(c, style);
        }
        flow.end_row();
        let pieces = flow.take();
        self.show(&pieces);
    }

    /// Shows a permission prompt and holds back events until it is answered.
    pub(crate) fn ask(&mut self, question: &ConfirmationRequest) {
        self.close_text();
        self.gap();
        // A log has no pager: it gets every line.
        let most = if self.screen.live().is_some() { edit_diff::MOST } else { usize::MAX };
        let rows = confirmation::rows(question, &self.folder, (self.columns(), most));
        self.show(&rows);
        if self.screen.live().is_some() {
            self.ask_again(question);
        } else {
            let rows = confirmation::choices_row(question, &self.folder, self.columns());
            self.show(&rows);
        }
        self.held.get_or_insert_default();
        self.last = LastOutput::Note;
    }

    /// Shows the choices of an open permission prompt again.
    pub(crate) fn ask_again(&mut self, question: &ConfirmationRequest) {
        let choices = confirmation::choices(question, &self.folder);
        if let Some(live) = self.screen.live() {
            live.ask(choices);
            live.set_activity(SessionActivity::Asking);
        }
    }

    /// Closes the permission prompt and shows the events held back meanwhile.
    pub(crate) fn answered(&mut self, question: Option<&ConfirmationRequest>) {
        self.row_ended();
        self.last = LastOutput::Gap;
        if let Some(question) = question {
            let label = tool_calls::label(&question.tool, question.input.get(), &self.folder);
            self.progress.call_permitted(&label, Instant::now());
        }
        self.progress.shown(Instant::now());
        self.change(Interface::close_menu);
        if let Some(live) = self.live() {
            live.set_activity(SessionActivity::Working);
        }
        self.release();
    }

    fn release(&mut self) {
        for event in self.held.take().unwrap_or_default() {
            self.event(event);
        }
    }

    /// Updates the status.
    pub(crate) fn tick(&mut self) {
        if self.held.is_some() {
            return;
        }
        self.show_progress();
        if self.live().is_some() {
            return;
        }
        if let Some(line) = self.progress.line(Instant::now()) {
            if !self.screen.is_mid_row() {
                self.gap();
            }
            let mode = mode_label(self.gate.mode());
            let mode = mode.map(|mode| format!("{mode} · ")).unwrap_or_default();
            self.screen.put(&[Piece::text(format!("{mode}{line}"), Style::DIM), Piece::Newline]);
        }
    }

    fn show_progress(&mut self) {
        let text = self.progress.now(Instant::now(), self.columns());
        let mode = mode_label(self.gate.mode());
        if let Some(live) = self.live() {
            live.show_progress(&text, mode);
        }
    }

    pub(super) fn write(&mut self, text: &str) {
        self.markdown.set_width(self.columns());
        let pieces = self.markdown.push(text);
        if pieces.is_empty() {
            return;
        }
        if self.text == TextState::Closed {
            self.begin(LastOutput::Text);
            self.text = TextState::Open;
        }
        self.show(&pieces);
    }

    /// Marks the partial text on the screen as discarded and drops what was not shown yet.
    pub(super) fn withdraw(&mut self) {
        if self.text == TextState::Open {
            self.note(&msg!("response-discarded"), Style::DIM);
        }
        self.markdown = Renderer::new(self.columns());
    }

    pub(super) fn close_text(&mut self) {
        let rest = self.markdown.finish();
        if !rest.is_empty() {
            if self.text == TextState::Closed {
                self.begin(LastOutput::Text);
            }
            self.show(&rest);
        }
        self.text = TextState::Closed;
        for line in std::mem::take(&mut self.waiting) {
            self.begin(LastOutput::Call);
            self.show(&line);
        }
    }

    pub(super) fn begin(&mut self, kind: LastOutput) {
        if self.last != kind {
            self.gap();
        }
        self.last = kind;
    }

    /// Ensures that the last row is empty.
    pub(super) fn gap(&mut self) {
        if self.screen.is_mid_row() {
            self.show(&[Piece::Newline]);
        }
        if self.last != LastOutput::Gap {
            self.show(&[Piece::Newline]);
            self.last = LastOutput::Gap;
        }
    }

    pub(super) fn show(&mut self, pieces: &[Piece]) {
        self.screen.put(pieces);
        self.progress.shown(Instant::now());
    }
}
