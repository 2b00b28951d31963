//! What the interface looks like: a function of its model.

use crate::live::{CursorPlace, LiveRow, LiveView, fitted_row, fitting_parts, todo_rows};
use crate::menu::MenuFocus;
use crate::style::Style;
use crate::suggestions::SuggestionList;
use crate::width;

use super::{Interface, KeyHint, TurnPhase};

const PROMPT: &str = "> ";
/// The composer shows at most so many rows of a long text.
const COMPOSER_ROWS: usize = 10;

impl Interface {
    /// What is drawn, from top to bottom: the row being written, progress, the queue, the menu or the composer,
    /// suggestions, and the status line.
    pub fn view(&self, columns: u16) -> LiveView {
        let columns = usize::from(columns).saturating_sub(1).max(1);
        let mut rows: Vec<LiveRow> = Vec::new();
        if !self.tail.is_empty() {
            rows.push(self.tail.clone());
        }
        if self.phase == TurnPhase::Running {
            rows.push(LiveRow::new());
            if self.menu.is_none() {
                rows.extend(todo_rows(&self.todos, columns));
                rows.push(fitted_row(&self.progress, Style::DIM, columns));
            }
        }
        let waiting = self.steered.iter().map(|text| (&self.texts.steered, text));
        for (when, text) in waiting.chain(self.queue.iter().map(|text| (&self.texts.queued, text)))
        {
            let line = text.lines().next().unwrap_or_default();
            rows.push(fitted_row(&format!("{when} {line}"), Style::DIM, columns));
        }
        let cursor = self.input_rows(&mut rows, columns);
        if let Some(suggestions) = &self.suggestions {
            if suggestions.is_empty() {
                rows.push(fitted_row(&self.texts.no_match, Style::DIM, columns));
            }
            rows.extend(suggestions.rows(columns));
        }
        rows.push(self.last_row(columns));
        let place = |number: usize| u16::try_from(number).unwrap_or(u16::MAX);
        let cursor = CursorPlace { row: place(cursor.0), column: place(cursor.1) };
        LiveView { rows, has_tail: !self.tail.is_empty(), cursor }
    }

    /// Adds the menu and the composer; returns the place of the cursor.
    fn input_rows(&self, rows: &mut Vec<LiveRow>, columns: usize) -> (usize, usize) {
        if let Some(menu) = &self.menu {
            let (choices, cursor) = menu.rows(columns);
            let top = rows.len();
            rows.extend(choices);
            if menu.focus() == MenuFocus::Menu {
                return (top + cursor.0, cursor.1);
            }
        }
        let label = self.mode.as_ref().map(|mode| format!("{mode} ")).unwrap_or_default();
        let prompt = format!("{label}{PROMPT}");
        let indent = crate::width::of(&prompt);
        let shown = self.composer.rows(columns.saturating_sub(indent), COMPOSER_ROWS);
        let top = rows.len();
        for (at, row) in shown.rows.iter().enumerate() {
            let before = if at == 0 { prompt.clone() } else { " ".repeat(indent) };
            rows.push(vec![(before, Style::DIM), (row.clone(), Style::PLAIN)]);
        }
        (top + shown.cursor_row, indent + shown.cursor_column)
    }

    /// What the keys do now, where that is not plain.
    fn phase_hint(&self) -> Option<&str> {
        let texts = &self.texts;
        match &self.menu {
            None if self.leaves => Some(&texts.leaving),
            Some(menu) if menu.focus() == MenuFocus::Menu => None,
            Some(_) if !self.composer.is_empty() => Some(&texts.answer),
            None if !self.queue.is_empty() && self.composer.is_empty() => Some(&texts.queue),
            Some(_) | None => None,
        }
    }

    /// As much of the status line as fits now, with the mode as it is now.
    fn status_row(&self, columns: usize) -> LiveRow {
        let mut parts = self.status.parts.clone();
        let whole: usize = parts.iter().map(|(text, _)| width::of(text) + 3).sum();
        // Where room is short, the usual mode goes first.
        let is_usual = self.mode.is_none();
        let has_room = whole + width::of(&self.texts.default_mode) <= columns;
        if let Some(at) = self.status.mode_at.filter(|_| has_room || !is_usual) {
            let mode = self.mode.as_ref().unwrap_or(&self.texts.default_mode);
            parts.insert(at.min(parts.len()), (mode.clone(), Style::DIM));
        }
        fitting_parts(&parts, columns)
    }

    /// The status line, or what a key does when it is pressed again.
    fn last_row(&self, columns: usize) -> LiveRow {
        let hint = match self.hint {
            Some(KeyHint::Leave) => Some(self.texts.leave.as_str()),
            Some(KeyHint::Rewind) => Some(self.texts.rewind.as_str()),
            Some(KeyHint::AfterTurn) => Some(self.texts.after_turn.as_str()),
            None if self.suggestions.as_ref().is_some_and(SuggestionList::is_search) => {
                Some(self.texts.searching.as_str())
            }
            None => self.phase_hint(),
        };
        match hint {
            Some(hint) => fitted_row(hint, Style::DIM, columns),
            None => self.status_row(columns),
        }
    }
}
