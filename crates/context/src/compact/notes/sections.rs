//! The sections of the notes: how long they are, what is said of those that are too long, and where they
//! are cut.

use dormouse_conversation::{Budget, estimate_text};

use crate::compact::texts::{bytes_of, head_lines};

/// A section of the notes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotesSection {
    /// Its heading, without the mark.
    pub heading: String,
    /// What it takes, estimated.
    pub tokens: u64,
}

/// The sections of the notes, in order.
pub fn sections(notes: &str) -> Vec<NotesSection> {
    pieces(notes)
        .into_iter()
        .filter(|piece| piece.text.starts_with("# "))
        .map(|piece| NotesSection {
            heading: piece.heading().to_owned(),
            tokens: u64::from(estimate_text(piece.text)),
        })
        .collect()
}

/// What the next run is told about notes that are too long; none if they are not.
pub fn length_warning(notes: &str, budget: &Budget) -> Option<String> {
    let each = budget.notes.section_tokens;
    let all = budget.notes.tokens;
    let total = estimate_text(notes);
    let long: Vec<String> = sections(notes)
        .into_iter()
        .filter(|section| section.tokens > u64::from(each))
        .map(|section| format!("- \"{}\": about {} tokens", section.heading, section.tokens))
        .collect();
    if long.is_empty() && total <= all {
        return None;
    }
    let mut text = String::new();
    if total > all {
        text.push_str(&format!("IMPORTANT: the notes take about {total} tokens, and everything above {all} is cut off when they are needed. Shorten them in this run, below {all}: merge what repeats, drop what no longer matters, and keep Current State and Errors & Corrections exact.\n"));
    }
    if !long.is_empty() {
        text.push_str(&format!("These sections are longer than {each} tokens each; shorten them to what matters, without losing names, paths and numbers:\n{}\n", long.join("\n")));
    }
    Some(text)
}

/// The notes as they stand in a summary: each section and the whole cut to their bounds, at the end of a
/// line, with the place of the rest.
pub fn truncate_notes(notes: &str, budget: &Budget, path: &str) -> String {
    let pieces = pieces(notes);
    let sizes: Vec<usize> = pieces.iter().map(|piece| piece.text.len()).collect();
    let each = bytes_of(u64::from(budget.notes.section_tokens));
    let bound = each.min(fair_bound(&sizes, bytes_of(u64::from(budget.notes.tokens))));
    pieces.iter().map(|piece| piece.cut(bound, path)).collect()
}

/// The largest bound with which the sizes, each cut to it, fit into all.
fn fair_bound(sizes: &[usize], all: usize) -> usize {
    let mut sorted = sizes.to_vec();
    sorted.sort_unstable();
    let mut left = all;
    for (index, size) in sorted.iter().enumerate() {
        let share = left / (sorted.len() - index);
        if *size > share {
            return share;
        }
        left -= size;
    }
    usize::MAX
}

/// The text of the title section; none while it is empty.
pub fn notes_title(notes: &str) -> Option<String> {
    let pieces = pieces(notes);
    let first = pieces.iter().find(|piece| piece.text.starts_with("# "))?;
    first
        .text
        .lines()
        .skip(1)
        .map(str::trim)
        .find(|line| !line.is_empty() && !is_italic(line))
        .map(str::to_owned)
}

/// A heading, and the line in italics under it.
pub(super) struct SectionStart<'a> {
    at: usize,
    pub(super) heading: &'a str,
    pub(super) about: Option<&'a str>,
}

/// Where sections start. A heading has its line in italics, so that a comment of a script in the notes is
/// none; in a template without any italics every heading counts.
pub(super) fn section_starts(text: &str) -> Vec<SectionStart<'_>> {
    let starts = headings(text);
    if starts.iter().all(|start| start.about.is_none()) {
        return starts;
    }
    starts.into_iter().filter(|start| start.about.is_some()).collect()
}

fn headings(text: &str) -> Vec<SectionStart<'_>> {
    let mut starts: Vec<SectionStart<'_>> = Vec::new();
    let mut waiting = false;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let shown = line.trim_end();
        if shown.starts_with("# ") {
            starts.push(SectionStart { at, heading: shown, about: None });
            waiting = true;
        } else if waiting && !shown.is_empty() {
            waiting = false;
            if let Some(start) = starts.last_mut().filter(|_| is_italic(shown)) {
                start.about = Some(shown);
            }
        }
        at += line.len();
    }
    starts
}

fn is_italic(line: &str) -> bool {
    line.len() > 2 && line.starts_with('_') && line.ends_with('_')
}

/// A section with its text, or what stands before the first.
struct Piece<'a> {
    text: &'a str,
}

impl Piece<'_> {
    fn heading(&self) -> &str {
        self.text.lines().next().unwrap_or_default().trim_start_matches('#').trim()
    }

    fn cut(&self, bytes: usize, path: &str) -> String {
        if self.text.len() <= bytes {
            return self.text.to_owned();
        }
        let said = |lines: usize| {
            format!("\n[cut here: {lines} more lines of this section are in {path}]\n\n")
        };
        let kept = head_lines(self.text, bytes.saturating_sub(said(usize::MAX).len()));
        let left_out = self.text.get(kept.len()..).unwrap_or_default();
        format!("{kept}{}", said(left_out.trim().lines().count()))
    }
}

fn pieces(notes: &str) -> Vec<Piece<'_>> {
    let mut ends: Vec<usize> = section_starts(notes).iter().map(|start| start.at).collect();
    ends.push(notes.len());
    let mut begin = 0;
    let mut pieces = Vec::new();
    for end in ends {
        if let Some(text) = notes.get(begin..end).filter(|text| !text.is_empty()) {
            pieces.push(Piece { text });
        }
        begin = end;
    }
    pieces
}
