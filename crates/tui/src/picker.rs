//! A list to choose from, narrowed by typing.

use crate::keys::{KeyCode, KeyEvent, KeyModifiers};
use crate::live::{CursorPlace, LiveRow, LiveView, NOT_SELECTED, SELECTED, fitted_row};
use crate::style::Style;
use crate::width;

const PROMPT: &str = "> ";
/// Rows besides the entries: heading, search, preview and hint.
const OTHER_ROWS: usize = 8;
/// At least so many entries are shown, on however low a terminal.
const FEWEST_ENTRIES: usize = 3;
/// Fewer columns than this have no room for details.
const NARROW: usize = 24;
/// At most so many rows of the selected entry's preview are shown.
const PREVIEW_ROWS: usize = 3;

/// An entry of a picker.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PickerEntry {
    /// What it is called. It is searched first.
    pub title: String,
    /// What is shown behind it: an age, a size.
    pub details: String,
    /// What is shown while it is selected. It is searched as well.
    pub preview: Vec<String>,
}

/// What a key did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PickerResult {
    /// The entry at this position was chosen.
    Picked(usize),
    /// Esc, Ctrl-C or Ctrl-D.
    Cancelled,
    /// It moved the selection or changed the search.
    Taken,
}

/// What a picker says beside its entries.
#[derive(Debug, Clone, Default)]
pub struct PickerTexts {
    /// What is chosen.
    pub heading: String,
    /// What the keys do.
    pub hint: String,
    /// That nothing fits the search.
    pub no_match: String,
}

/// A list to choose from. What is selected is always an entry that fits the search.
#[derive(Debug, Clone)]
pub struct Picker {
    texts: PickerTexts,
    entries: Vec<PickerEntry>,
    search: String,
    /// The positions of the entries that fit the search, those whose title fits first.
    fitting: Vec<usize>,
    selected: usize,
}

impl Picker {
    /// A picker of these entries.
    pub fn new(texts: PickerTexts, entries: Vec<PickerEntry>) -> Self {
        let fitting = (0..entries.len()).collect();
        Self { texts, entries, search: String::new(), fitting, selected: 0 }
    }

    /// Takes a key.
    pub fn key(&mut self, key: KeyEvent) -> PickerResult {
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Esc => return PickerResult::Cancelled,
            KeyCode::Char('c' | 'd') if is_control => return PickerResult::Cancelled,
            KeyCode::Enter => {
                let picked = self.fitting.get(self.selected);
                return picked.map_or(PickerResult::Taken, |at| PickerResult::Picked(*at));
            }
            KeyCode::Up => self.selected = self.selected.saturating_sub(1),
            KeyCode::Char('p') if is_control => self.selected = self.selected.saturating_sub(1),
            KeyCode::Down => self.move_down(1),
            KeyCode::Char('n') if is_control => self.move_down(1),
            KeyCode::PageUp => self.selected = self.selected.saturating_sub(10),
            KeyCode::PageDown => self.move_down(10),
            KeyCode::Backspace => {
                self.search.pop();
                self.narrow();
            }
            KeyCode::Char('u') if is_control => {
                self.search.clear();
                self.narrow();
            }
            KeyCode::Char(letter) if !is_control => {
                self.search.push(letter);
                self.narrow();
            }
            _ => {}
        }
        PickerResult::Taken
    }

    /// Takes pasted text into the search.
    pub fn paste(&mut self, text: &str) {
        self.search.extend(text.chars().filter(|letter| !letter.is_control()));
        self.narrow();
    }

    fn move_down(&mut self, by: usize) {
        self.selected = (self.selected + by).min(self.fitting.len().saturating_sub(1));
    }

    fn narrow(&mut self) {
        let wanted = self.search.to_lowercase();
        let fits = |text: &String| text.to_lowercase().contains(&wanted);
        let (by_title, others): (Vec<_>, Vec<_>) =
            self.entries.iter().enumerate().partition(|(_, entry)| fits(&entry.title));
        let by_preview = others.into_iter().filter(|(_, entry)| entry.preview.iter().any(fits));
        self.fitting = by_title.into_iter().chain(by_preview).map(|(at, _)| at).collect();
        self.selected = 0;
    }

    /// What is drawn, on a terminal of this size.
    pub fn view(&self, columns: u16, rows: u16) -> LiveView {
        let columns = usize::from(columns).saturating_sub(1).max(1);
        let most = usize::from(rows).saturating_sub(OTHER_ROWS).max(FEWEST_ENTRIES);
        let mut shown: Vec<LiveRow> = vec![fitted_row(&self.texts.heading, Style::BOLD, columns)];
        let cursor = width::of(PROMPT) + width::of(&self.search);
        shown.push(fitted_row(&format!("{PROMPT}{}", self.search), Style::PLAIN, columns));
        if self.fitting.is_empty() {
            shown.push(fitted_row(&format!("  {}", self.texts.no_match), Style::DIM, columns));
        }
        let first = (self.selected + 1).saturating_sub(most);
        for (at, entry) in self.fitting.iter().enumerate().skip(first).take(most) {
            shown.extend(self.entries.get(*entry).map(|entry| self.row(at, entry, columns)));
        }
        let hidden = self.fitting.len().saturating_sub(most);
        if hidden > 0 {
            let place = format!("  {} / {}", self.selected + 1, self.fitting.len());
            shown.push(fitted_row(&place, Style::DIM, columns));
        }
        let selected = self.fitting.get(self.selected).and_then(|at| self.entries.get(*at));
        let preview =
            selected.into_iter().flat_map(|entry| entry.preview.iter()).take(PREVIEW_ROWS);
        // It belongs to what is selected, not to the last entry.
        shown.push(LiveRow::new());
        shown.extend(preview.map(|line| fitted_row(&format!("    {line}"), Style::DIM, columns)));
        shown.push(fitted_row(&self.texts.hint, Style::DIM, columns));
        let column = u16::try_from(cursor.min(columns)).unwrap_or(u16::MAX);
        LiveView { rows: shown, has_tail: false, cursor: CursorPlace { row: 1, column } }
    }

    fn row(&self, at: usize, entry: &PickerEntry, columns: usize) -> LiveRow {
        let is_selected = at == self.selected;
        let mark = if is_selected { SELECTED } else { NOT_SELECTED };
        let style = if is_selected { Style::BOLD } else { Style::PLAIN };
        if columns < NARROW {
            return fitted_row(&format!("{mark}{}", entry.title), style, columns);
        }
        let room = columns.saturating_sub(width::of(mark) + width::of(&entry.details) + 2);
        let title = width::fitted(&entry.title, room.max(columns / 2));
        let blanks = " ".repeat(room.saturating_sub(width::of(&title)) + 2);
        let left = columns.saturating_sub(width::of(mark) + width::of(&title) + width::of(&blanks));
        let details = width::fitted(&entry.details, left);
        vec![(format!("{mark}{title}"), style), (format!("{blanks}{details}"), Style::DIM)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picker() -> Picker {
        let entry = |title: &str, details: &str, preview: &str| PickerEntry {
            title: title.to_owned(),
            details: details.to_owned(),
            preview: vec![preview.to_owned()],
        };
        let entries = vec![
            entry("fix the parser", "2 h", "and the tests"),
            entry("修复松果计数", "3 days", "the parser again"),
            entry("write docs", "4 days", "for users"),
        ];
        let texts = PickerTexts {
            heading: "Sessions".to_owned(),
            hint: "Enter, Esc".to_owned(),
            no_match: "none".to_owned(),
        };
        Picker::new(texts, entries)
    }

    fn press(picker: &mut Picker, code: KeyCode) -> PickerResult {
        picker.key(KeyEvent::new(code, KeyModifiers::NONE))
    }

    #[test]
    fn arrows_choose() {
        let mut picker = picker();
        assert_eq!(press(&mut picker, KeyCode::Up), PickerResult::Taken);
        assert_eq!(press(&mut picker, KeyCode::Down), PickerResult::Taken);
        assert_eq!(press(&mut picker, KeyCode::Enter), PickerResult::Picked(1));
        assert_eq!(press(&mut picker, KeyCode::Esc), PickerResult::Cancelled);
    }

    #[test]
    fn typing_narrows_titles_first() {
        let mut picker = picker();
        picker.paste("PARSE");
        press(&mut picker, KeyCode::Char('R'));
        assert_eq!(
            picker.view(40, 20).text(),
            [
                "Sessions",
                "> PARSER",
                "❯ fix the parser                    2 h",
                "  修复松果计数                   3 days",
                "",
                "    and the tests",
                "Enter, Esc",
            ]
        );
        assert_eq!(press(&mut picker, KeyCode::Enter), PickerResult::Picked(0));
        picker.paste("zzz");
        assert_eq!(press(&mut picker, KeyCode::Enter), PickerResult::Taken, "nothing fits");
        assert!(picker.view(40, 20).text().contains(&"  none".to_owned()));
    }

    #[test]
    fn rows_fit_however_narrow_and_low() {
        for columns in [1, 2, 10, 40] {
            for rows in [1, 5, 50] {
                let view = picker().view(columns, rows);
                let widest = view.text().iter().map(|row| width::of(row)).max().unwrap();
                assert!(widest <= usize::from(columns.max(2)), "{columns} {rows}: {widest}");
            }
        }
    }
}
