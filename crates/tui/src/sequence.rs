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
/// The operating system commands that set a title or notify.
const ALLOWED_COMMANDS: [u16; 6] = [0, 1, 2, 9, 99, 777];

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
    /// A title or notification, by the number of its operating system command and its text.
    Command(u16, String),
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
            Self::Command(number, text) => format!("\x1b]{number};{}\x07", uncontrolled(text)),
            Self::Clipboard(Base64Text(text)) => format!("\x1b]52;c;{text}\x07"),
        }
    }
}

impl TerminalSequence {
    /// Reads sequences that another program wrote: the bell, titles (OSC 0, 1 and 2) and notifications (OSC 9, 99 and 777).
    /// None if there is anything else, which could move the cursor, change the clipboard or color the screen.
    pub fn allowed(mut text: &str) -> Option<Vec<Self>> {
        let mut sequences = Vec::new();
        while !text.is_empty() {
            if let Some(rest) = text.strip_prefix('\x07') {
                sequences.push(Self::Bell);
                text = rest;
                continue;
            }
            let (number, rest) = text.strip_prefix("\x1b]")?.split_once(';')?;
            let number = number.parse().ok().filter(|number| ALLOWED_COMMANDS.contains(number))?;
            let end = rest.find(char::is_control)?;
            let (body, rest) = rest.split_at_checked(end)?;
            text = rest.strip_prefix('\x07').or_else(|| rest.strip_prefix("\x1b\\"))?;
            sequences.push(Self::Command(number, body.to_owned()));
        }
        Some(sequences)
    }
}

fn plain(text: &str) -> String {
    uncontrolled(text).chars().take(LONGEST).collect()
}

fn uncontrolled(text: &str) -> String {
    printable(text).chars().filter(|letter| !letter.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_and_notifications_of_others_are_allowed_and_nothing_else() {
        let written = |text: &str| {
            let sequences = TerminalSequence::allowed(text)?;
            Some(sequences.iter().map(TerminalSequence::text).collect::<String>())
        };
        let same = "\x07\x1b]0;a title\x07\x1b]777;notify;Build;done\x07\x1b]9;4;1;50\x07";
        assert_eq!(written(same).as_deref(), Some(same));
        assert_eq!(written("\x1b]2;t\x1b\\").as_deref(), Some("\x1b]2;t\x07"));
        for bad in [
            "words",
            "\x1b[2J",
            "\x1b]52;c;aGk=\x07",
            "\x1b]8;;http://h\x07",
            "\x1b]0;open",
            "\x1b]0;a\x1b[2Jb\x07",
            "\x1b]0;a\x07\x1b]1337;x\x07",
            "\x1b]0\x07",
        ] {
            assert_eq!(written(bad), None, "{bad:?}");
        }
    }

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
