//! Suggestions below the composer: slash commands after `/`, files after `@`.

use std::collections::HashSet;

use crate::live::{LiveRow, NOT_SELECTED, SELECTED, fitted_row};
use crate::style::Style;
use crate::width;

/// How many are shown at once.
const MOST_ROWS: usize = 8;
/// How many earlier prompts are found.
const MOST_PROMPTS: usize = 100;

/// What is suggested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SuggestionKind {
    /// Slash commands and skills: the whole text is replaced.
    Command,
    /// Files and other things to attach: the word after `@` is replaced.
    Attachment,
    /// Earlier prompts: the whole text is replaced.
    EarlierPrompt,
}

/// One suggestion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion {
    /// What it puts into the text.
    pub name: String,
    /// What it is, in a few words; may be empty.
    pub description: String,
}

/// The list that is open below the composer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuggestionList {
    /// What is listed.
    pub kind: SuggestionKind,
    entries: Vec<Suggestion>,
    selected: usize,
    /// What was written before a search began.
    before: String,
}

impl SuggestionList {
    /// A list; none if nothing fits.
    pub fn new(kind: SuggestionKind, entries: Vec<Suggestion>) -> Option<Self> {
        let list = Self { kind, entries, selected: 0, before: String::new() };
        (!list.is_empty()).then_some(list)
    }

    /// The earlier prompts that a search has found; there may be none. `before` is what was written when it began.
    pub fn searched(entries: Vec<Suggestion>, before: String) -> Self {
        Self { kind: SuggestionKind::EarlierPrompt, entries, selected: 0, before }
    }

    /// Whether these are earlier prompts that a search has found.
    pub fn is_search(&self) -> bool {
        self.kind == SuggestionKind::EarlierPrompt
    }

    /// What was written before the search began.
    pub fn before(&self) -> &str {
        &self.before
    }

    /// Whether nothing fits.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Selects the next or the previous one.
    pub fn select(&mut self, is_down: bool) {
        let Some(last) = self.entries.len().checked_sub(1) else { return };
        self.selected = match (is_down, self.selected) {
            (true, at) if at == last => 0,
            (true, at) => at + 1,
            (false, 0) => last,
            (false, at) => at - 1,
        };
    }

    /// The selected one.
    pub fn selected(&self) -> Option<&Suggestion> {
        self.entries.get(self.selected)
    }

    /// The rows to draw.
    pub fn rows(&self, columns: usize) -> Vec<LiveRow> {
        let shown = |entry: &Suggestion| entry.name.lines().next().unwrap_or_default().to_owned();
        let names = self.entries.iter().map(|entry| width::of(&shown(entry))).max().unwrap_or(0);
        let names = names.min(columns / 2);
        let first = (self.selected + 1).saturating_sub(MOST_ROWS);
        let visible = self.entries.iter().enumerate().skip(first).take(MOST_ROWS);
        let mut rows: Vec<LiveRow> = visible
            .map(|(at, entry)| {
                let name = width::fitted(&shown(entry), columns.saturating_sub(4));
                let blanks = " ".repeat(names.saturating_sub(width::of(&name)));
                let mark = if at == self.selected { SELECTED } else { NOT_SELECTED };
                let text = format!("{mark}{name}{blanks}  {}", entry.description);
                let style = if at == self.selected { Style::BOLD } else { Style::DIM };
                fitted_row(text.trim_end(), style, columns)
            })
            .collect();
        let hidden = self.entries.len() - rows.len();
        if hidden > 0 {
            rows.push(fitted_row(&format!("  and {hidden} more"), Style::DIM, columns));
        }
        rows
    }
}

/// The commands that begin with what was typed after the slash, one of exactly that name first; then those of which a later
/// part does (`/ship` in `/plugin:ship` and in `/mcp__server__ship`).
pub fn fitting_commands(commands: &[Suggestion], typed: &str) -> Vec<Suggestion> {
    let typed = typed.to_lowercase();
    let fit = |entry: &Suggestion| {
        let name = entry.name.to_lowercase();
        let name = name.strip_prefix('/').unwrap_or(&name);
        let mut parts = name.split(':').flat_map(|part| part.split("__")).skip(1);
        match name {
            _ if name == typed => Some(0),
            _ if name.starts_with(&typed) => Some(1),
            _ => parts.any(|part| part.starts_with(&typed)).then_some(2),
        }
    };
    let mut fitting: Vec<(i32, &Suggestion)> =
        commands.iter().filter_map(|entry| Some((fit(entry)?, entry))).collect();
    fitting.sort_by_key(|(how, _)| *how);
    fitting.into_iter().map(|(_, entry)| entry.clone()).collect()
}

/// The earlier prompts that contain what was typed, newest first, each once.
pub fn fitting_prompts(earlier: &[String], typed: &str) -> Vec<Suggestion> {
    let typed = typed.to_lowercase();
    let mut seen = HashSet::new();
    let fits = |entry: &&String| entry.to_lowercase().contains(&typed);
    let newest = earlier.iter().rev().filter(fits).filter(|entry| seen.insert(entry.as_str()));
    let suggestion =
        |entry: &String| Suggestion { name: entry.clone(), description: String::new() };
    newest.take(MOST_PROMPTS).map(suggestion).collect()
}
