//! The diff of an edit in a permission prompt: numbered rows with `-` and `+`, readable without color; the words that differ stand
//! out, and code has its colors.
//!
//! Shown lines are never cut; the number of lines left out is shown.

use std::time::Duration;

use dormouse_base::printable;
use dormouse_tools::FileChangePreview;
use dormouse_tui::highlight::{CodeToken, Highlighter};
use similar::{ChangeTag, DiffOp, DiffTag, InlineChange, TextDiff};

use dormouse_tui::markdown::Flow;
use dormouse_tui::style::{Attribute, Color, Piece, Style};

use crate::message_catalog::msg;

/// Unchanged lines around a change.
const AROUND: usize = 3;
/// The most lines shown where the rest can be looked at in a pager.
pub(crate) const MOST: usize = 300;
/// Texts that take longer to compare are shown as removed and added as a whole.
const PATIENCE: Duration = Duration::from_secs(1);
/// Longer texts are shown without the colors of code.
const LONGEST_CODE: usize = 1 << 20;

/// A diff as rows.
pub(crate) struct DiffRows {
    pub(crate) rows: Vec<Piece>,
    /// How much changes, in words.
    pub(crate) summary: String,
}

/// The rows of a change, for a terminal of this width; at most so many lines.
pub(crate) fn rows(change: &FileChangePreview, columns: usize, most: usize) -> DiffRows {
    let diff = TextDiff::configure()
        .timeout(PATIENCE)
        .diff_lines(change.before.as_str(), change.after.as_str());
    let digits = change.before.lines().count().max(change.after.lines().count()).to_string().len();
    let code = Code::of(change);
    let mut flow = Flow::new(columns);
    let (mut shown, mut left_out, mut added, mut removed) = (0, 0, 0, 0);
    let groups = diff.grouped_ops(AROUND);
    for (at, group) in groups.iter().enumerate() {
        if at > 0 && shown < most {
            flow.put_verbatim(&format!("{:>digits$} …", ""), Style::DIM);
            flow.end_row();
        }
        for line in group.iter().flat_map(|op| diff.iter_inline_changes(op)) {
            added += usize::from(line.tag() == ChangeTag::Insert);
            removed += usize::from(line.tag() == ChangeTag::Delete);
            if shown == most {
                left_out += 1;
                continue;
            }
            shown += 1;
            row(&mut flow, digits, &line, &code);
        }
    }
    if left_out > 0 {
        flow.put_verbatim(&msg!("diff-left-out", count = left_out), Style::BOLD);
        flow.end_row();
    }
    let summary = msg!("diff-summary", hunks = groups.len(), added = added, removed = removed);
    DiffRows { rows: flow.take(), summary }
}

/// How many lines a diff has, with those around its changes.
pub(crate) fn line_count(change: &FileChangePreview) -> usize {
    let (before, after) = (change.before.as_str(), change.after.as_str());
    let diff = TextDiff::configure().timeout(PATIENCE).diff_lines(before, after);
    let lines = |op: &DiffOp| match op.tag() {
        DiffTag::Equal => op.new_range().len(),
        DiffTag::Delete | DiffTag::Insert | DiffTag::Replace => {
            op.old_range().len() + op.new_range().len()
        }
    };
    diff.grouped_ops(AROUND).iter().flatten().map(lines).sum()
}

/// The tokens of the text after the change, line by line; those of lines that stay are the same before it.
struct Code(Vec<Vec<(String, CodeToken)>>);

impl Code {
    fn of(change: &FileChangePreview) -> Self {
        let ending = change.path.extension().and_then(|ending| ending.to_str());
        let name = change.path.file_name().and_then(|name| name.to_str());
        let highlighter = ending.or(name).and_then(Highlighter::new);
        let highlighter = highlighter.filter(|_| change.after.len() <= LONGEST_CODE);
        let Some(mut highlighter) = highlighter else { return Self(Vec::new()) };
        let line = |line: &str| {
            let owned = |(text, token): (&str, CodeToken)| (text.to_owned(), token);
            highlighter.line(line).into_iter().map(owned).collect()
        };
        Self(change.after.lines().map(line).collect())
    }

    /// What each character of a line is; plain from where nothing is known.
    fn tokens(&self, line: Option<usize>) -> impl Iterator<Item = CodeToken> + '_ {
        let line = line.and_then(|line| self.0.get(line)).into_iter().flatten();
        let known = line.flat_map(|(text, token)| text.chars().map(|_| *token));
        known.chain(std::iter::repeat(CodeToken::Plain))
    }
}

fn row(flow: &mut Flow, digits: usize, line: &InlineChange<'_, str>, code: &Code) {
    let (mark, style, number, tokens) = match line.tag() {
        ChangeTag::Delete => ('-', Style::PLAIN.color(Color::Red), line.old_index(), None),
        ChangeTag::Insert => {
            ('+', Style::PLAIN.color(Color::Green), line.new_index(), line.new_index())
        }
        ChangeTag::Equal => (' ', Style::PLAIN, line.new_index(), line.new_index()),
    };
    let number = number.map_or(String::new(), |number| (number + 1).to_string());
    let first = vec![(format!("{number:>digits$} "), Style::DIM), (format!("{mark} "), style)];
    let rest = vec![(" ".repeat(digits + 3), Style::PLAIN)];
    flow.begin(first, rest);
    let letters = line.iter_strings_lossy().collect::<Vec<_>>();
    let letters = letters.iter().flat_map(|(stands_out, text)| {
        text.trim_end_matches(['\n', '\r']).chars().map(|letter| (letter, *stands_out))
    });
    let mut run = (String::new(), style);
    for ((letter, stands_out), token) in letters.zip(code.tokens(tokens)) {
        let style = token.style(style);
        let style = if stands_out { style.with(Attribute::Reversed) } else { style };
        if style != run.1 {
            put(flow, &std::mem::take(&mut run.0), run.1);
            run.1 = style;
        }
        run.0.push(letter);
    }
    put(flow, &run.0, run.1);
    flow.end_row();
}

fn put(flow: &mut Flow, text: &str, style: Style) {
    flow.put_verbatim(&printable(&text.replace('\t', "    ")).replace('\n', "\u{fffd}"), style);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(before: &str, after: &str, columns: usize) -> String {
        let change =
            FileChangePreview { path: "a".into(), before: before.into(), after: after.into() };
        let text = |piece: Piece| match piece {
            Piece::Text(text, _) => text,
            Piece::Newline => "\n".to_owned(),
        };
        rows(&change, columns, MOST).rows.into_iter().map(text).collect()
    }

    #[test]
    fn a_change_with_what_is_around_it() {
        assert_eq!(shown("a\nb\nc\n", "a\nB\nc\n", 40), "1   a\n2 - b\n2 + B\n3   c\n");
        assert_eq!(shown("", "new\n", 40), "1 + new\n");
        assert_eq!(shown("a", "a\n", 40), "1 - a\n1 + a\n");
    }

    #[test]
    fn code_has_its_colors_and_changed_words_stand_out() {
        let (before, after) = ("fn a() { one() }\n", "fn a() { two() }\n");
        let change =
            FileChangePreview { path: "a.rs".into(), before: before.into(), after: after.into() };
        let diff = rows(&change, 80, MOST);
        let has = |wanted: &str, style: Style| {
            diff.rows.iter().any(|piece| matches!(piece, Piece::Text(text, like) if text == wanted && *like == style))
        };
        assert!(has("fn", Style::PLAIN.color(Color::Magenta)), "{:?}", diff.rows);
        let name = Style::PLAIN.color(Color::Blue).with(Attribute::Reversed);
        assert!(has("two", name), "{:?}", diff.rows);
        assert!(
            has("one", Style::PLAIN.color(Color::Red).with(Attribute::Reversed)),
            "{:?}",
            diff.rows
        );
        assert_eq!(diff.summary, "1 hunk, +1 −1");
    }

    #[test]
    fn long_lines_go_on_and_far_ones_are_left_out() {
        assert_eq!(shown("", "0123456789", 10), "1 + 012345\n    6789\n");
        let many = "line\n".repeat(500);
        assert!(shown("", &many, 80).contains("300 + line\n… 200 more lines"));
        let change = |before: &str, after: &str| FileChangePreview {
            path: "a".into(),
            before: before.into(),
            after: after.into(),
        };
        assert_eq!(line_count(&change("", &many)), 500);
        assert_eq!(line_count(&change("a\nb\nc\n", "a\nB\nc\n")), 4);
    }
}
