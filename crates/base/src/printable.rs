//! Text that came from a file, a model or a server, made safe to show on a terminal.

use std::borrow::Cow;

/// The text without control characters (an escape sequence could move the cursor, set the window's
/// title or answer for the user); tabs and newlines stay.
pub fn printable(text: &str) -> Cow<'_, str> {
    let harmless = |c: char| c == '\n' || c == '\t' || !is_control(c);
    if text.chars().all(harmless) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|c| if harmless(c) { c } else { '\u{fffd}' }).collect())
}

/// Control characters proper, the bidirectional overrides that make text read differently from what it is,
/// and the tags, which spell words that a model reads and nobody sees.
fn is_control(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_are_defused() {
        assert_eq!(printable("plain\ttext\n"), "plain\ttext\n");
        assert_eq!(printable("a\x1b[2Jb\r"), "a\u{fffd}[2Jb\u{fffd}");
        assert_eq!(printable("睡鼠"), "睡鼠");
        assert_eq!(printable("\u{202e}txt.exe"), "\u{fffd}txt.exe");
        assert_eq!(printable("plain\u{e0041}\u{e007f}"), "plain\u{fffd}\u{fffd}");
    }
}
