//! The diff of an edit in a permission prompt: numbered rows with `-` and `+`, readable without color.
//!
//! Shown lines are never cut; the number of lines left out is shown.

use std::time::Duration;

use dormouse_base::printable;
use dormouse_tools::FileChangePreview;
use similar::{ChangeTag, TextDiff};

use dormouse_tui::markdown::Flow;
use dormouse_tui::style::{Color, Piece, Style};

/// Unchanged lines around a change.
const AROUND: usize = 3;
/// The most lines shown.
const MOST: usize = 300;
/// Texts that take longer to compare are shown as removed and added as a whole.
const PATIENCE: Duration = Duration::from_secs(1);

/// The rows of a change, for a terminal of this width.
pub(crate) fn rows(change: &FileChangePreview, columns: usize) -> Vec<Piece> {
    let diff = TextDiff::configure()
        .timeout(PATIENCE)
        .diff_lines(change.before.as_str(), change.after.as_str());
    let digits = change.before.lines().count().max(change.after.lines().count()).to_string().len();
    let mut flow = Flow::new(columns);
    let (mut shown, mut left_out) = (0, 0);
    for (at, group) in diff.grouped_ops(AROUND).iter().enumerate() {
        if at > 0 && shown < MOST {
            flow.put_verbatim(&format!("{:>digits$} …", ""), Style::DIM);
            flow.end_row();
        }
        for line in group.iter().flat_map(|op| diff.iter_changes(op)) {
            if shown == MOST {
                left_out += 1;
                continue;
            }
            shown += 1;
            let number = match line.tag() {
                ChangeTag::Delete => line.old_index(),
                ChangeTag::Insert | ChangeTag::Equal => line.new_index(),
            };
            let number = number.map_or(String::new(), |number| (number + 1).to_string());
            row(&mut flow, &number, digits, line.tag(), line.value());
        }
    }
    if left_out > 0 {
        let text = format!("… {left_out} more lines are not shown");
        flow.put_verbatim(&text, Style::BOLD);
        flow.end_row();
    }
    flow.take()
}

fn row(flow: &mut Flow, number: &str, digits: usize, tag: ChangeTag, text: &str) {
    let (mark, style) = match tag {
        ChangeTag::Delete => ('-', Style::PLAIN.color(Color::Red)),
        ChangeTag::Insert => ('+', Style::PLAIN.color(Color::Green)),
        ChangeTag::Equal => (' ', Style::PLAIN),
    };
    let first = vec![(format!("{number:>digits$} "), Style::DIM), (format!("{mark} "), style)];
    let rest = vec![(" ".repeat(digits + 3), Style::PLAIN)];
    flow.begin(first, rest);
    let text = text.trim_end_matches(['\n', '\r']).replace('\t', "    ");
    flow.put_verbatim(&printable(&text).replace('\n', "\u{fffd}"), style);
    flow.end_row();
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
        rows(&change, columns).into_iter().map(text).collect()
    }

    #[test]
    fn a_change_with_what_is_around_it() {
        assert_eq!(shown("a\nb\nc\n", "a\nB\nc\n", 40), "1   a\n2 - b\n2 + B\n3   c\n");
        assert_eq!(shown("", "new\n", 40), "1 + new\n");
        assert_eq!(shown("a", "a\n", 40), "1 - a\n1 + a\n");
    }

    #[test]
    fn long_lines_go_on_and_far_ones_are_left_out() {
        assert_eq!(shown("", "0123456789", 10), "1 + 012345\n    6789\n");
        let many = "line\n".repeat(500);
        assert!(shown("", &many, 40).ends_with("300 + line\n… 200 more lines are not shown\n"));
    }
}
