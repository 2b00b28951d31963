//! How many columns a text takes.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The columns of one letter. Terminals disagree on joined emoji: the larger number is taken, so that
/// nothing runs over the edge on either kind.
pub(crate) fn of_letter(letter: &str) -> usize {
    let apart: usize = letter.chars().map(|c| c.width().unwrap_or(0)).sum();
    apart.max(letter.width())
}

/// The columns of a text.
pub(crate) fn of(text: &str) -> usize {
    text.graphemes(true).map(of_letter).sum()
}

/// The beginning of a text that fits, with an ellipsis where something is left out.
pub(crate) fn fitted(text: &str, columns: usize) -> String {
    if of(text) <= columns {
        return text.to_owned();
    }
    let room = columns.saturating_sub(1);
    let mut used = 0;
    let kept: String = text
        .graphemes(true)
        .take_while(|letter| {
            used += of_letter(letter);
            used <= room
        })
        .collect();
    if columns == 0 { kept } else { kept + "…" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_letters_count_twice() {
        assert_eq!((of("abc"), of("睡鼠"), of("é"), of("e\u{301}")), (3, 4, 1, 1));
        assert_eq!(of("❤\u{fe0f}"), 2);
    }

    #[test]
    fn what_does_not_fit_is_cut() {
        assert_eq!(fitted("hello", 5), "hello");
        assert_eq!(fitted("hello", 4), "hel…");
        assert_eq!(fitted("睡鼠睡鼠", 4), "睡…");
        assert_eq!(fitted("hello", 0), "");
    }
}
