//! Text that came from a file, a model or a server, made safe to show on a terminal.

use std::borrow::Cow;

/// The text without control characters (an escape sequence could move the cursor, set the window's
/// title or answer for the user) and without characters that nobody sees; tabs and newlines stay.
pub fn printable(text: &str) -> Cow<'_, str> {
    let harmless = |c: char| c == '\n' || c == '\t' || !(is_control(c) || is_unseen(c));
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

/// Characters without width, which can split a word or a key unseen. The two joiners stay: emoji and some scripts are written
/// with them, and a stream is shown piece by piece, so that what stands before one is not known.
fn is_unseen(c: char) -> bool {
    matches!(
        c,
        '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2060}'
            ..='\u{2064}' | '\u{feff}' | '\u{180e}' | '\u{61c}'
    )
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
        assert_eq!(printable("pass\u{200b}word\u{feff}"), "pass\u{fffd}word\u{fffd}");
        let joined =
            "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467} \u{645}\u{6cc}\u{200c}\u{62e}\u{648}";
        assert_eq!(printable(joined), joined);
        assert_eq!(printable("plain\u{e0041}\u{e007f}"), "plain\u{fffd}\u{fffd}");
    }
}
