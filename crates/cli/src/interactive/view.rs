//! What a turn looks like: events of the engine in, rows on the terminal out.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use dormouse_base::printable;
use dormouse_conversation::Role;
use dormouse_engine::{EngineEvent, RecallReceipt};
use dormouse_permissions::PermissionGate;
use dormouse_tools::Question;
use tokio::time::Instant;

use crate::terminal::markdown::{Colour, Flow, Piece, Renderer, Style};
use crate::terminal::width;

use super::answers;
use super::calls::{self, Outcome};
use super::progress::Progress;
use super::question;
use super::screen::Screen;
use crate::terminal::tty::columns;

/// In front of a call.
const CALL: &str = "→ ";

/// What was put out last: where another kind begins, a row is left empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Last {
    Gap,
    Text,
    Call,
    Note,
}

/// Whether an answer's text has begun and not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Text {
    Open,
    Closed,
}

/// Shows what happens.
#[derive(Debug)]
pub(crate) struct View {
    screen: Screen,
    folder: PathBuf,
    gate: PermissionGate,
    markdown: Renderer,
    text: Text,
    progress: Progress,
    last: Last,
    /// What the model says is to be done, until it is known that the list was taken.
    steps: Vec<(String, Style)>,
    /// Lines about calls that wait until the text has ended.
    waiting: Vec<Vec<Piece>>,
    /// Events that wait until a question is answered.
    held: Option<Vec<EngineEvent>>,
    /// What was looked for in memory since the turn began.
    receipts: Vec<RecallReceipt>,
}

/// The one view, shared by what runs at once. Nobody holds it while they wait for something.
#[derive(Debug)]
pub(crate) struct ViewCell(Mutex<View>);

impl ViewCell {
    pub(crate) fn new(view: View) -> Self {
        Self(Mutex::new(view))
    }

    pub(crate) fn borrow_mut(&self) -> MutexGuard<'_, View> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What was remembered, in a line.
pub(crate) fn remembered(what: &str) -> String {
    printable(&format!("memory: {what} · Alt-U takes it back")).into_owned()
}

impl View {
    pub(crate) fn new(screen: Screen, folder: PathBuf, gate: PermissionGate) -> Self {
        let markdown = Renderer::new(columns());
        Self {
            screen,
            folder,
            gate,
            markdown,
            text: Text::Closed,
            progress: Progress::new(Instant::now()),
            last: Last::Gap,
            steps: Vec::new(),
            waiting: Vec::new(),
            held: None,
            receipts: Vec::new(),
        }
    }

    /// A line in the person's own hand, as the editor would have shown it.
    pub(crate) fn echo(&mut self, prompt: &str) {
        self.begin(Last::Note);
        for (at, line) in printable(prompt).lines().enumerate() {
            let mark = if at == 0 { "> " } else { "" };
            self.row(&format!("{mark}{line}"), Style::PLAIN);
        }
        self.typed();
    }

    /// The editor is about to be shown.
    pub(crate) fn before_prompt(&mut self) {
        self.close_text();
        self.gap();
    }

    /// The editor has been there.
    pub(crate) fn typed(&mut self) {
        self.screen.row_ended();
        self.last = Last::Note;
    }

    /// A turn begins.
    pub(crate) fn turn_begins(&mut self) {
        self.screen.row_ended();
        let now = Instant::now();
        self.progress.rest(now);
        self.progress.waiting(now);
        self.receipts.clear();
    }

    /// The person wants the turn to stop.
    pub(crate) fn stopping(&mut self) {
        self.progress.stopping(Instant::now());
    }

    /// A turn has ended.
    pub(crate) fn turn_ended(&mut self) {
        self.release();
        self.close_text();
        self.progress.rest(Instant::now());
        self.screen.clear_status();
    }

    /// A row of our own, beside the conversation; long ones go on below.
    pub(crate) fn note(&mut self, text: &str, style: Style) {
        self.close_text();
        self.begin(Last::Note);
        for line in printable(text).lines() {
            self.row(line, style);
        }
    }

    /// A text in markdown, whole.
    pub(crate) fn markdown(&mut self, text: &str) {
        self.close_text();
        self.write(&format!("{}\n", text.trim_end()));
        self.close_text();
    }

    /// Names and what there is to say of each, in two columns; on a narrow terminal one below the other.
    pub(crate) fn table(&mut self, rows: &[(String, String)]) {
        self.close_text();
        self.begin(Last::Note);
        let names = rows.iter().map(|(name, _)| width::of(name)).max().unwrap_or(0) + 2;
        let beside = names <= columns() / 2;
        let indent = if beside { names } else { 2 };
        for (name, text) in rows {
            let mut flow = Flow::new(columns());
            let rest = vec![(" ".repeat(indent), Style::PLAIN)];
            let name = format!("{name}{}", " ".repeat(names - width::of(name)));
            if beside {
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

    /// Shows a question; what happens meanwhile waits.
    pub(crate) fn ask(&mut self, question: &Question) {
        self.close_text();
        self.screen.clear_status();
        self.gap();
        let rows = question::rows(question, &self.folder, columns());
        self.show(&rows);
        self.held.get_or_insert_default();
        self.last = Last::Note;
    }

    /// The question is answered: what has happened meanwhile is shown.
    pub(crate) fn answered(&mut self) {
        self.typed();
        self.last = Last::Gap;
        self.progress.shown(Instant::now());
        self.release();
    }

    fn release(&mut self) {
        for event in self.held.take().unwrap_or_default() {
            self.event(event);
        }
    }

    /// Time has passed.
    pub(crate) fn tick(&mut self) {
        if self.held.is_some() {
            return;
        }
        if let Some(line) = self.progress.line(Instant::now(), self.screen.status_kind()) {
            if !self.screen.is_mid_row() {
                self.gap();
            }
            let mode = answers::mode_word(self.gate.mode());
            let mode = mode.map(|mode| format!("{mode} · ")).unwrap_or_default();
            self.screen.set_status(&format!("{mode}{line}"));
        }
    }

    /// Something has happened.
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
                // The text before it is whole; what may follow is another.
                self.close_text();
                if name == "TodoWrite" {
                    self.steps = calls::steps(&input);
                }
                let label = calls::label(&name, &input, &self.folder);
                self.progress.call_started(id, (name, label), now);
            }
            EngineEvent::ToolChanged { id, input } => {
                self.progress.call_changed(&id, |name| {
                    format!("{} (changed by a hook)", calls::label(name, &input, &self.folder))
                });
            }
            // Its result says so, in the row of the call; a plan is shown by the question about it.
            EngineEvent::Answering | EngineEvent::ToolDenied { .. } | EngineEvent::Planned(_) => {}
            EngineEvent::ToolPrinted { id, line } => {
                self.progress.call_printed(&id, printable(&line).trim());
            }
            EngineEvent::ToolFinished { id, name, result, .. } => {
                let label = self.progress.call_finished(&id, now).unwrap_or_else(|| name.clone());
                let outcome = calls::outcome(&name, &result, &self.folder);
                match &outcome {
                    Outcome::Fine(_) if name == "TodoWrite" => self.list_steps(),
                    Outcome::Fine(_) | Outcome::Failed(_) => self.call(&label, &outcome),
                }
            }
            EngineEvent::Retrying { error, delay, retry, of } => {
                self.progress.retrying(delay, retry, of, now);
                self.note(&format!("{error}"), Style::PLAIN.colour(Colour::Yellow));
            }
            EngineEvent::Recalled(receipt) => self.recalled(receipt),
            EngineEvent::Remembered(what) => {
                self.note(&remembered(&what), Style::DIM);
            }
            EngineEvent::Corrected(corrected) => {
                self.note(&corrected.line("/guard"), Style::PLAIN);
            }
            EngineEvent::Compacting(_) => self.progress.compacting(now),
            EngineEvent::Compacted(report) => {
                self.progress.waiting(now);
                self.note(&report.to_string(), Style::DIM);
            }
            EngineEvent::Notice(text) => self.note(&text, Style::DIM),
        }
    }

    /// What was recalled, in a line; the whole of it waits for whoever wants to know.
    fn recalled(&mut self, receipt: RecallReceipt) {
        if !receipt.recalled.is_empty() {
            self.note(&format!("{} · Alt-R says why", receipt.line()), Style::DIM);
        }
        self.receipts.push(receipt);
    }

    /// Why memories were recalled in the last turn, and which were not.
    pub(crate) fn explain_recall(&mut self) {
        let receipts = std::mem::take(&mut self.receipts);
        if receipts.is_empty() {
            self.note("nothing was looked for in memory yet", Style::DIM);
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
        if self.text == Text::Closed {
            self.begin(Last::Text);
            self.text = Text::Open;
        }
        self.show(&pieces);
    }

    /// What was shown stays, and is said not to count; what was not shown never is.
    fn withdraw(&mut self) {
        if self.text == Text::Open {
            self.note("what came of this answer is withdrawn; it comes anew", Style::DIM);
        }
        self.markdown = Renderer::new(columns());
    }

    fn close_text(&mut self) {
        let rest = self.markdown.finish();
        if !rest.is_empty() {
            if self.text == Text::Closed {
                self.begin(Last::Text);
            }
            self.show(&rest);
        }
        self.text = Text::Closed;
        for line in std::mem::take(&mut self.waiting) {
            self.begin(Last::Call);
            self.show(&line);
        }
    }

    /// A call that has finished: one row.
    fn call(&mut self, label: &str, outcome: &Outcome) {
        let room = columns().saturating_sub(width::of(CALL) + 1);
        let (text, style) = match outcome {
            Outcome::Fine(text) => (text.clone(), Style::DIM),
            Outcome::Failed(text) => (text.clone(), Style::PLAIN.colour(Colour::Red)),
        };
        let line = call_row(label, &text, style, room);
        if self.text == Text::Open {
            self.waiting.push(line);
        } else {
            self.begin(Last::Call);
            self.show(&line);
        }
    }

    /// The list of what is to be done, as the model keeps it.
    fn list_steps(&mut self) {
        self.close_text();
        self.gap();
        for (step, style) in std::mem::take(&mut self.steps) {
            self.row(&step, style);
        }
        self.last = Last::Note;
    }

    fn begin(&mut self, kind: Last) {
        if self.last != kind {
            self.gap();
        }
        self.last = kind;
    }

    /// An empty row, unless there is one.
    fn gap(&mut self) {
        if self.screen.is_mid_row() {
            self.show(&[Piece::Newline]);
        }
        if self.last != Last::Gap {
            self.show(&[Piece::Newline]);
            self.last = Last::Gap;
        }
    }

    fn show(&mut self, pieces: &[Piece]) {
        self.screen.put(pieces);
        self.progress.shown(Instant::now());
    }
}

/// The call gets what room its outcome leaves, but never less than half.
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
