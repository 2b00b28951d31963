//! The width of text in terminal columns.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The width of a grapheme. Terminals disagree on joined emoji: the larger width is used, so that no row is too wide.
pub fn of_grapheme(grapheme: &str) -> usize {
    let separate: usize = grapheme.chars().map(|c| c.width().unwrap_or(0)).sum();
    separate.max(grapheme.width())
}

/// The width of a text.
pub fn of(text: &str) -> usize {
    text.graphemes(true).map(of_grapheme).sum()
}

/// A text shortened to a width, with an ellipsis.
pub fn fitted(text: &str, columns: usize) -> String {
    if of(text) <= columns {
        return text.to_owned();
    }
    let room = columns.saturating_sub(1);
    let mut used = 0;
    let kept: String = text
        .graphemes(true)
        .take_while(|grapheme| {
            used += of_grapheme(grapheme);
            used <= room
        })
        .collect();
    if columns == 0 { kept } else { kept + "…" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_count_twice() {
        assert_eq!((of("abc"), of("睡鼠"), of("é"), of("e\u{301}")), (3, 4, 1, 1));
        assert_eq!(of("❤\u{fe0f}"), 2);
    }

    #[test]
    fn long_text_is_shortened() {
        assert_eq!(fitted("hello", 5), "hello");
        assert_eq!(fitted("hello", 4), "hel…");
        assert_eq!(fitted("睡鼠睡鼠", 4), "睡…");
        assert_eq!(fitted("hello", 0), "");
    }
}
