//! Control sequences that draw nothing: the window's title, the bell, notifications, the clipboard.
//!
//! *Invariant:* the text in a sequence has no control characters, so that it cannot end the sequence early.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use dormouse_base::printable;

/// Saves the title that the terminal has, where it can, to be restored by [`RESTORE_TITLE`].
pub const SAVE_TITLE: &str = "\x1b[22;0t";
/// Restores the title of before.
pub const RESTORE_TITLE: &str = "\x1b[23;0t";
/// The longest title and notification, in characters.
const LONGEST: usize = 80;

/// A control sequence that draws nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TerminalSequence {
    /// The title of the window.
    Title(String),
    /// The bell.
    Bell,
    /// A notification, as iTerm2, kitty and Windows Terminal know it (OSC 9).
    Notification(String),
    /// A notification, as urxvt, foot and Ghostty know it (OSC 777).
    TitledNotification(String),
    /// Puts a text, encoded in base64, into the clipboard (OSC 52).
    Clipboard(Base64Text),
}

/// A text in base64.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Base64Text(String);

impl Base64Text {
    /// Encodes a text.
    pub fn encode(text: &str) -> Self {
        Self(STANDARD.encode(text))
    }
}

impl TerminalSequence {
    /// The bytes to write.
    pub fn text(&self) -> String {
        match self {
            Self::Title(text) => format!("\x1b]0;{}\x07", plain(text)),
            Self::Bell => "\x07".to_owned(),
            Self::Notification(text) => format!("\x1b]9;{}\x07", plain(text)),
            Self::TitledNotification(text) => {
                format!("\x1b]777;notify;dormouse;{}\x07", plain(text).replace(';', ","))
            }
            Self::Clipboard(Base64Text(text)) => format!("\x1b]52;c;{text}\x07"),
        }
    }
}

fn plain(text: &str) -> String {
    printable(text).chars().filter(|letter| !letter.is_control()).take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_ends_its_sequence() {
        let bad = "a\x07b\x1b\\c\u{9c}d\n";
        for sequence in [
            TerminalSequence::Title(bad.to_owned()),
            TerminalSequence::Notification(bad.to_owned()),
            TerminalSequence::TitledNotification(bad.to_owned()),
        ] {
            let text = sequence.text();
            let inner = text.strip_prefix("\x1b]").and_then(|rest| rest.strip_suffix('\x07'));
            assert!(!inner.unwrap().contains(char::is_control), "{text:?}");
        }
    }
}
