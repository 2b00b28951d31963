//! Output of the interactive mode: engine events in, rows on the terminal out.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use dormouse_base::printable;
use dormouse_conversation::known_tools::traits_of;
use dormouse_conversation::{ResultDisplay, Role};
use dormouse_engine::{EngineEvent, RecallReceipt};
use dormouse_permissions::PermissionGate;
use dormouse_tools::ConfirmationRequest;
use tokio::time::Instant;

use crate::wiring::exit::Failure;
use dormouse_tui::markdown::{Flow, Renderer};
use dormouse_tui::style::{Color, Piece, Style};
use dormouse_tui::width;

use super::confirmation;
use super::progress::TurnProgress;
use super::screen::Screen;
use super::slash_commands::rows::{Rows, mode_label};
use super::tool_calls::{self, CallOutcome};
use crate::terminal::tty::columns;
use crate::wiring::compaction_notice::compaction_notice;

/// The mark before a tool call.
const CALL: &str = "→ ";

/// The kind of the last output. An empty row separates different kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LastOutput {
    Gap,
    Text,
    Call,
    Note,
}

/// Whether the text of a response has begun and not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TextState {
    Open,
    Closed,
}

/// Renders engine events and notes.
#[derive(Debug)]
pub(crate) struct TerminalView {
    screen: Screen,
    folder: PathBuf,
    gate: PermissionGate,
    markdown: Renderer,
    text: TextState,
    progress: TurnProgress,
    last: LastOutput,
    /// The to-do list of a running `TodoWrite` call, shown when the call succeeds.
    steps: Vec<(String, Style)>,
    /// Rows of tool calls, held back until the text has ended.
    waiting: Vec<Vec<Piece>>,
    /// Events held back while a permission prompt is open.
    held: Option<Vec<EngineEvent>>,
    /// The recalls of this turn.
    receipts: Vec<RecallReceipt>,
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

    pub(crate) fn say(&self, text: &str) {
        self.borrow_mut().note(text, Style::PLAIN);
    }

    pub(crate) fn list(&self, rows: &Rows) {
        self.borrow_mut().table(rows);
    }

    pub(crate) fn failure(&self, failure: &Failure) {
        let mut view = self.borrow_mut();
        view.note(&format!("error: {}", failure.message()), Style::PLAIN.color(Color::Red));
        for hint in failure.hints() {
            view.note(hint, Style::DIM);
        }
    }
}

/// The notice about a memory that was saved.
pub(crate) fn memory_notice(what: &str) -> String {
    printable(&format!("memory: {what} · Alt-U to undo")).into_owned()
}

impl TerminalView {
    pub(crate) fn new(screen: Screen, folder: PathBuf, gate: PermissionGate) -> Self {
        let markdown = Renderer::new(columns());
        Self {
            screen,
            folder,
            gate,
            markdown,
            text: TextState::Closed,
            progress: TurnProgress::new(Instant::now()),
            last: LastOutput::Gap,
            steps: Vec::new(),
            waiting: Vec::new(),
            held: None,
            receipts: Vec::new(),
        }
    }

    /// Shows a prompt that was not typed, as the line editor would have shown it.
    pub(crate) fn echo(&mut self, prompt: &str) {
        self.begin(LastOutput::Note);
        for (at, line) in printable(prompt).lines().enumerate() {
            let mark = if at == 0 { "> " } else { "" };
            self.row(&format!("{mark}{line}"), Style::PLAIN);
        }
        self.row_ended();
    }

    /// Prepares for the prompt.
    pub(crate) fn before_prompt(&mut self) {
        self.close_text();
        self.gap();
    }

    /// The line editor or another program has written; the cursor is at the start of a row.
    pub(crate) fn row_ended(&mut self) {
        self.screen.row_ended();
        self.last = LastOutput::Note;
    }

    pub(crate) fn turn_started(&mut self) {
        self.screen.row_ended();
        let now = Instant::now();
        self.progress.rest(now);
        self.progress.waiting(now);
        self.receipts.clear();
    }

    /// The user has interrupted the turn.
    pub(crate) fn stopping(&mut self) {
        self.progress.stopping(Instant::now());
    }

    pub(crate) fn turn_ended(&mut self) {
        self.release();
        self.close_text();
        self.progress.rest(Instant::now());
        self.screen.clear_status();
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
        let two_columns = names <= columns() / 2;
        let indent = if two_columns { names } else { 2 };
        for (name, text) in rows {
            let mut flow = Flow::new(columns());
            let rest = vec![(" ".repeat(indent), Style::PLAIN)];
            let name = format!("{name}{}", " ".repeat(names - width::of(name)));
            if two_columns {
                flow.begin(vec![(name, Style::DIM)], rest);
            } else {
                flow.put_verbatim(name.trim_end(), Style::DIM);
                flow.end_row();
                flow.begin(rest.clone(), rest);
            }
            printable(text).chars().for_each(|c| flow.put(c, Style::PLAIN));
            flow.end_row();
            let pieces = flow.take();
            self.show(&pieces);
        }
    }

    fn row(&mut self, line: &str, style: Style) {
        let mut flow = Flow::new(columns());
        let blanks = line.len() - line.trim_start().len();
        let hang = " ".repeat(blanks.min(columns() / 4));
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
        self.screen.clear_status();
        self.gap();
        let rows = confirmation::rows(question, &self.folder, columns());
        self.show(&rows);
        self.held.get_or_insert_default();
        self.last = LastOutput::Note;
    }

    /// Closes the permission prompt and shows the events held back meanwhile.
    pub(crate) fn answered(&mut self) {
        self.row_ended();
        self.last = LastOutput::Gap;
        self.progress.shown(Instant::now());
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
        if let Some(line) = self.progress.line(Instant::now(), self.screen.status_mode()) {
            if !self.screen.is_mid_row() {
                self.gap();
            }
            let mode = mode_label(self.gate.mode());
            let mode = mode.map(|mode| format!("{mode} · ")).unwrap_or_default();
            self.screen.set_status(&format!("{mode}{line}"));
        }
    }

    /// Shows an engine event.
    pub(crate) fn event(&mut self, event: EngineEvent) {
        if let Some(held) = &mut self.held {
            held.push(event);
            return;
        }
        let now = Instant::now();
        match event {
            EngineEvent::Text(text) => {
                self.progress.writing(now);
                self.write(&text);
            }
            EngineEvent::Thinking(_) => self.progress.thinking(now),
            EngineEvent::Withdrawn => {
                self.progress.waiting(now);
                self.withdraw();
            }
            EngineEvent::Message(message) => {
                self.close_text();
                if message.role == Role::User {
                    self.progress.waiting(now);
                }
            }
            EngineEvent::ToolStarted { id, name, input } => {
                // The text before the call is complete.
                self.close_text();
                if is_todo_list(&name) {
                    self.steps = tool_calls::todo_rows(&input);
                }
                let label = tool_calls::label(&name, &input, &self.folder);
                self.progress.call_started(id, name, label, now);
            }
            EngineEvent::ToolChanged { id, input } => {
                self.progress.call_changed(&id, |name| {
                    format!("{} (changed by a hook)", tool_calls::label(name, &input, &self.folder))
                });
            }
            // A denial is shown in the call's row; a plan is shown by its permission prompt.
            EngineEvent::Answering | EngineEvent::ToolDenied { .. } | EngineEvent::Planned(_) => {}
            EngineEvent::ToolPrinted { id, line } => {
                self.progress.call_printed(&id, printable(&line).trim());
            }
            EngineEvent::ToolFinished { id, name, result, .. } => {
                let label = self.progress.call_finished(&id, now).unwrap_or_else(|| name.clone());
                let outcome = tool_calls::outcome(&name, &result, &self.folder);
                match &outcome {
                    CallOutcome::Succeeded(_) if is_todo_list(&name) => self.list_steps(),
                    CallOutcome::Succeeded(_) | CallOutcome::Failed(_) => {
                        self.call(&label, &outcome);
                    }
                }
            }
            EngineEvent::Retrying { error, delay, retry, of } => {
                self.progress.retrying(delay, retry, of, now);
                self.note(&format!("{error}"), Style::PLAIN.color(Color::Yellow));
            }
            EngineEvent::Recalled(receipt) => self.recalled(receipt),
            EngineEvent::Remembered(what) => {
                self.note(&memory_notice(&what), Style::DIM);
            }
            EngineEvent::Corrected(corrected) => {
                self.note(&corrected.line("/guard"), Style::PLAIN);
            }
            EngineEvent::Compacting(_) => self.progress.compacting(now),
            EngineEvent::Compacted(report) => {
                self.progress.waiting(now);
                self.note(&compaction_notice(&report), Style::DIM);
            }
            EngineEvent::Notice(text) => self.note(&text, Style::DIM),
        }
    }

    /// Shows a recall in one line and keeps its details for Alt-R.
    fn recalled(&mut self, receipt: RecallReceipt) {
        if !receipt.recalled.is_empty() {
            self.note(&format!("{} · Alt-R explains", receipt.line()), Style::DIM);
        }
        self.receipts.push(receipt);
    }

    /// Shows why memories were recalled in the last turn, and why others were not.
    pub(crate) fn explain_recall(&mut self) {
        let receipts = std::mem::take(&mut self.receipts);
        if receipts.is_empty() {
            self.note("No recall in this turn yet.", Style::DIM);
        }
        for receipt in &receipts {
            receipt.explained().iter().for_each(|line| self.note(line, Style::DIM));
        }
        self.receipts = receipts;
    }

    fn write(&mut self, text: &str) {
        self.markdown.set_width(columns());
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
    fn withdraw(&mut self) {
        if self.text == TextState::Open {
            self.note("Partial response discarded; the request is retried.", Style::DIM);
        }
        self.markdown = Renderer::new(columns());
    }

    fn close_text(&mut self) {
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

    /// Shows a finished tool call in one row.
    fn call(&mut self, label: &str, outcome: &CallOutcome) {
        let room = columns().saturating_sub(width::of(CALL) + 1);
        let (text, style) = match outcome {
            CallOutcome::Succeeded(text) => (text.clone(), Style::DIM),
            CallOutcome::Failed(text) => (text.clone(), Style::PLAIN.color(Color::Red)),
        };
        let line = call_row(label, &text, style, room);
        if self.text == TextState::Open {
            self.waiting.push(line);
        } else {
            self.begin(LastOutput::Call);
            self.show(&line);
        }
    }

    /// Shows the model's to-do list.
    fn list_steps(&mut self) {
        self.close_text();
        self.gap();
        for (step, style) in std::mem::take(&mut self.steps) {
            self.row(&step, style);
        }
        self.last = LastOutput::Note;
    }

    fn begin(&mut self, kind: LastOutput) {
        if self.last != kind {
            self.gap();
        }
        self.last = kind;
    }

    /// Ensures that the last row is empty.
    fn gap(&mut self) {
        if self.screen.is_mid_row() {
            self.show(&[Piece::Newline]);
        }
        if self.last != LastOutput::Gap {
            self.show(&[Piece::Newline]);
            self.last = LastOutput::Gap;
        }
    }

    fn show(&mut self, pieces: &[Piece]) {
        self.screen.put(pieces);
        self.progress.shown(Instant::now());
    }
}

/// The label gets the columns that the outcome leaves, but at least half.
fn call_row(label: &str, outcome: &str, style: Style, room: usize) -> Vec<Piece> {
    let wanted = if outcome.is_empty() { 0 } else { width::of(outcome) + 3 };
    let label = width::fitted(label, room.saturating_sub(wanted).max(room / 2));
    let mut row = vec![Piece::text(CALL, Style::DIM), Piece::text(label.clone(), Style::PLAIN)];
    if !outcome.is_empty() {
        let outcome = width::fitted(outcome, room.saturating_sub(width::of(&label) + 3));
        row.push(Piece::text(format!(" · {outcome}"), style));
    }
    row.push(Piece::Newline);
    row
}

fn is_todo_list(tool: &str) -> bool {
    traits_of(tool).result_display == ResultDisplay::TodoList
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_takes_one_row() {
        let text = |label: &str, outcome: &str| {
            let row = call_row(label, outcome, Style::DIM, 20);
            let text = |piece| match piece {
                Piece::Text(text, _) => text,
                Piece::Newline => String::new(),
            };
            row.into_iter().map(text).collect::<String>()
        };
        assert_eq!(text("Read a.rs", "5 lines"), "→ Read a.rs · 5 lines");
        assert_eq!(text("Bash: a long command line", "5 lines"), "→ Bash: a l… · 5 lines");
        assert_eq!(text("Read a.rs", "failed: no such file"), "→ Read a.rs · failed:…");
        assert_eq!(text("Edit a.rs", ""), "→ Edit a.rs");
    }
}
