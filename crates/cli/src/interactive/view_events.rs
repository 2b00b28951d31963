//! Engine events and tool calls, as rows on the terminal.

use std::time::Duration;

use dormouse_base::printable;
use dormouse_conversation::known_tools::traits_of;
use dormouse_conversation::{Block, ResultDisplay, Role};
use dormouse_engine::{EngineEvent, RecallReceipt};
use dormouse_tui::markdown::Flow;
use dormouse_tui::style::{Color, Piece, Style};
use dormouse_tui::width;
use tokio::time::Instant;

use crate::message_catalog::msg;
use crate::wiring::compaction_notice::compaction_notice;
use crate::wiring::engine_notice::notice_text;
use crate::wiring::recall_notice::recall_notice;

use super::tool_calls::{self, CallOutcome};
use super::view::{LastOutput, TerminalView, TextState, memory_notice};

/// The mark before a tool call.
const CALL: &str = "→ ";

impl TerminalView {
    /// Shows an engine event.
    pub(crate) fn event(&mut self, event: EngineEvent) {
        if let Some(held) = &mut self.held {
            held.push(event);
            return;
        }
        let now = Instant::now();
        match event {
            EngineEvent::Counted(account) => self.account.set(account),
            EngineEvent::Text(text) => {
                self.fold_thinking();
                self.progress.writing(now);
                self.write(&text);
            }
            EngineEvent::Thinking(text) => {
                self.progress.thinking(now);
                self.thinking.push_str(&text);
            }
            EngineEvent::Withdrawn => {
                self.thinking.clear();
                self.progress.waiting(now);
                self.withdraw();
            }
            EngineEvent::Message(message) => {
                self.close_text();
                self.fold_thinking();
                if message.role == Role::User {
                    self.progress.waiting(now);
                }
            }
            EngineEvent::ToolStarted { id, name, input } => {
                self.close_text();
                self.fold_thinking();
                if is_todo_list(&name) {
                    self.todos.wanted = tool_calls::todo_rows(&input);
                }
                let label = tool_calls::label(&name, &input, &self.folder);
                self.progress.call_started(id, name, label, now);
            }
            EngineEvent::ToolChanged { id, input } => {
                self.progress.call_changed(&id, |name| {
                    let label = tool_calls::label(name, &input, &self.folder);
                    msg!("changed-by-hook", label = label)
                });
            }
            // A denial is shown in the call's row; a plan is shown by its permission prompt.
            EngineEvent::Answering | EngineEvent::ToolDenied { .. } | EngineEvent::Planned(_) => {}
            EngineEvent::ToolPrinted { id, line } => {
                self.progress.call_printed(&id, printable(&line).trim());
            }
            EngineEvent::ToolFinished { id, name, result, .. } => {
                let call = self.progress.call_finished(&id, now);
                let (label, took) = call.unwrap_or_else(|| (name.clone(), Duration::ZERO));
                self.finished_call(&name, &label, &result, took);
            }
            EngineEvent::Retrying { error, delay, retry, of } => {
                self.progress.retrying(delay, retry, of, now);
                self.note(&format!("{error}"), Style::PLAIN.color(Color::Yellow));
            }
            EngineEvent::Steered(text) => {
                if let Some(live) = self.live() {
                    live.change(|interface| drop(interface.take_steered()));
                }
                self.echo(&text);
            }
            EngineEvent::Recalled(receipt) => self.recalled(receipt),
            EngineEvent::Remembered(what) => self.note(&memory_notice(&what), Style::DIM),
            EngineEvent::Corrected(corrected) => self.note(&corrected.line("/guard"), Style::PLAIN),
            EngineEvent::Compacting(_) => self.progress.compacting(now),
            EngineEvent::Compacted(report) => {
                self.progress.waiting(now);
                self.note(&compaction_notice(&report), Style::DIM);
            }
            EngineEvent::Notice(notice) => self.note(&notice_text(&notice), Style::DIM),
            EngineEvent::TerminalSequence(text) => {
                if let Some(live) = self.live() {
                    live.send_allowed(&text);
                }
            }
        }
    }

    /// Shows in one line that the model has thought; the text is kept for Alt-T.
    fn fold_thinking(&mut self) {
        let thought = std::mem::take(&mut self.thinking);
        if thought.trim().is_empty() {
            return;
        }
        self.note(&msg!("thinking-folded", count = thought.lines().count()), Style::DIM);
        self.last_thinking = Some(thought);
    }

    /// Shows what the model thought last.
    pub(crate) fn show_thinking(&mut self) {
        let text = self.last_thinking.clone().unwrap_or_else(|| msg!("thinking-none"));
        self.note(text.trim(), Style::DIM);
    }

    /// Shows a recall in one line and keeps its details for Alt-R.
    fn recalled(&mut self, receipt: RecallReceipt) {
        if receipt.concerns_user() {
            self.note(&msg!("recall-notice", line = recall_notice(&receipt)), Style::DIM);
        }
        self.receipts.push(receipt);
    }

    /// Shows why memories were recalled in the last turn, and why others were not.
    pub(crate) fn explain_recall(&mut self) {
        let receipts = std::mem::take(&mut self.receipts);
        if receipts.is_empty() {
            self.note(&msg!("recall-none"), Style::DIM);
        }
        for receipt in &receipts {
            receipt.explained().iter().for_each(|line| self.note(line, Style::DIM));
        }
        self.receipts = receipts;
    }

    /// Shows a finished tool call: its row, and a preview of its output.
    pub(super) fn finished_call(
        &mut self,
        name: &str,
        label: &str,
        result: &Block,
        took: Duration,
    ) {
        let outcome = tool_calls::outcome(name, result, &self.folder);
        if matches!(outcome, CallOutcome::Succeeded(_)) && is_todo_list(name) {
            let rows = self.todos.pin();
            // Where it cannot stay in sight, or nothing is left to do, it is listed.
            if self.live().is_none() || rows.iter().all(|(_, style)| *style == Style::DIM) {
                return self.list_todos();
            }
            return self.change(|interface| interface.set_todos(rows));
        }
        let output = tool_calls::result_text(result);
        let preview = tool_calls::preview(name, &output, &outcome);
        self.call(label, &outcome.with_duration(took), &preview);
        if !output.trim().is_empty() {
            self.last_output = Some(output);
        }
    }

    /// Shows a finished tool call in one row, and lines of its output below.
    pub(super) fn call(&mut self, label: &str, outcome: &CallOutcome, preview: &[String]) {
        let room = self.columns().saturating_sub(width::of(CALL) + 1);
        let (text, style) = match outcome {
            CallOutcome::Succeeded(text) => (text.clone(), Style::DIM),
            CallOutcome::Failed(text) => (text.clone(), Style::PLAIN.color(Color::Red)),
        };
        let whole = self.cut_failure(label, outcome, room);
        // A reason that has no room in the row stands below it.
        let in_row = if whole.is_empty() { text.as_str() } else { "" };
        let mut line = call_row(label, in_row, style, room);
        line.extend(whole);
        for row in preview {
            let row = width::fitted(row, room.saturating_sub(2));
            line.extend([Piece::text(format!("  {row}"), Style::DIM), Piece::Newline]);
        }
        if self.text == TextState::Open {
            self.waiting.push(line);
        } else {
            self.begin(LastOutput::Call);
            self.show(&line);
        }
    }

    /// The rows of a failure that the row of its call has no room for.
    fn cut_failure(&self, label: &str, outcome: &CallOutcome, room: usize) -> Vec<Piece> {
        let CallOutcome::Failed(text) = outcome else { return Vec::new() };
        let label = width::of(label).min(label_room(text, room));
        if label + 3 + width::of(text) <= room {
            return Vec::new();
        }
        let mut flow = Flow::new(self.columns());
        let margin = vec![("  ".to_owned(), Style::PLAIN)];
        flow.begin(margin.clone(), margin);
        text.chars().for_each(|c| flow.put(c, Style::PLAIN.color(Color::Red)));
        flow.end_row();
        flow.take()
    }

    /// Lists the to-dos that are pinned.
    pub(super) fn list_todos(&mut self) {
        let rows = std::mem::take(&mut self.todos.pinned);
        if rows.is_empty() {
            return;
        }
        self.change(|interface| interface.set_todos(Vec::new()));
        self.close_text();
        self.gap();
        for (todo, style) in rows {
            self.row(&todo, style);
        }
        self.last = LastOutput::Note;
    }
}

/// The columns of a label: those that the outcome leaves, if that is at least a third, else half.
fn label_room(outcome: &str, room: usize) -> usize {
    let wanted = if outcome.is_empty() { 0 } else { width::of(outcome) + 3 };
    match room.saturating_sub(wanted) {
        left if left >= room / 3 => left,
        _ => room / 2,
    }
}

/// The row of a call and its outcome.
fn call_row(label: &str, outcome: &str, style: Style, room: usize) -> Vec<Piece> {
    let label = width::fitted(label, label_room(outcome, room));
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
