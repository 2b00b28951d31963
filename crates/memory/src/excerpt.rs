//! How much of a memory is shown at once, and which messages are worth a search: the same for our agent
//! and for others.

use dormouse_search::{is_bare_reply, is_unspaced};

/// Maximum number of lines of a recalled memory.
const MOST_LINES: usize = 200;
/// Maximum size of a recalled memory.
pub const MAX_SHOWN_BYTES: usize = 4_096;
/// Minimum number of words of a message that is searched for, or of characters in a script without spaces.
const SHORTEST: usize = 2;

/// The beginning of a text that is shown at once: whole lines, unless a single line is too long.
pub fn beginning(text: &str) -> &str {
    let lines = text.split_inclusive('\n').take(MOST_LINES).map(str::len).sum::<usize>();
    if lines <= MAX_SHOWN_BYTES {
        return text.split_at(lines).0;
    }
    let (head, _) = text.split_at(text.floor_char_boundary(MAX_SHOWN_BYTES));
    let at_a_line = head.rfind('\n').filter(|at| *at >= head.len() / 2);
    at_a_line.map_or(head, |at| head.split_at(at).0)
}

/// Whether a message says enough to be searched for.
pub fn is_substantial(message: &str) -> bool {
    let unspaced = message.chars().filter(|c| is_unspaced(*c)).count();
    let words = message.split(|c: char| c.is_whitespace() || is_unspaced(c));
    let words = words.filter(|word| word.chars().any(char::is_alphanumeric)).count();
    words + unspaced >= SHORTEST && !is_bare_reply(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_at_a_line() {
        let check = |text: String, kept: usize| {
            let shown = beginning(&text);
            assert_eq!(shown.len(), kept, "{shown}");
            assert!(text.starts_with(shown));
        };
        assert_eq!(beginning("short"), "short");
        check("a\n".repeat(200), 400);
        check("a\n".repeat(201), 400);
        check(("睡鼠".repeat(10) + "\n").repeat(150), 4_096 / 61 * 61 - 1);
        check("睡".repeat(2_000), 4_095);
        check(format!("{}\n{}", "a".repeat(3_000), "b".repeat(3_000)), 3_000);
        check(format!("{}\n{}", "a".repeat(30), "b".repeat(9_000)), 4_096);
    }

    #[test]
    fn one_word_and_a_bare_reply_are_no_query() {
        for message in ["", "yes", " ... ", "好", "ok ?", "go on!", "继续吧"] {
            assert!(!is_substantial(message), "{message:?}");
        }
        for message in
            ["go on with it, Marta", "which tabs", "迁移", "v2呢", "データ", "  two words\n"]
        {
            assert!(is_substantial(message), "{message:?}");
        }
    }
}
