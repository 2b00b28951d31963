//! The user's messages of a session, and where each is found: every compaction keeps them.

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use dormouse_base::{Dir, MessageId, RelPath};
use dormouse_context::compact::{UserText, user_text_in};
use dormouse_conversation::Message;
use dormouse_conversation::transcript::LoadedTranscript;
use jiff::Timestamp;

/// The folder of messages that are too long for a line, in the session's folder.
const FOLDER: &str = "said";
/// A message with more characters cannot be read from its line of the transcript as a whole.
const LONGEST_IN_LINE: usize = 1_200;

/// One message of the user's.
#[derive(Debug)]
struct UserEntry {
    message: MessageId,
    at: Timestamp,
    text: String,
    line: u64,
    /// Where it is found, once that was asked for.
    location: OnceLock<String>,
}

/// All messages of the user's, in order.
#[derive(Debug, Default)]
pub(crate) struct UserMessages(Vec<UserEntry>);

impl UserMessages {
    /// Those of a resumed session.
    pub(crate) fn of(loaded: &LoadedTranscript) -> Self {
        let lines: HashMap<MessageId, u64> =
            loaded.user_messages.iter().map(|message| (message.message, message.line)).collect();
        let mut messages = Self::default();
        for message in loaded.all_messages() {
            messages.add(message, lines.get(&message.id).copied().unwrap_or_default());
        }
        messages.0.sort_by_key(|entry| entry.line);
        messages
    }

    /// Adds a message that is in this line of the transcript.
    pub(crate) fn add(&mut self, message: &Message, line: u64) {
        if let Some(text) = user_text_in(message) {
            self.0.push(UserEntry {
                message: message.id,
                at: message.timestamp,
                text,
                line,
                location: OnceLock::new(),
            });
        }
    }

    /// The task of a fork, in this line of its transcript.
    pub(super) fn of_task(message: &Message, task: &str, line: u64) -> Self {
        Self(vec![UserEntry {
            message: message.id,
            at: message.timestamp,
            text: task.to_owned(),
            line,
            location: OnceLock::new(),
        }])
    }

    /// The messages other than these, each with the location where it is found.
    pub(super) fn except(&self, kept: &HashSet<MessageId>, session: &Dir) -> Vec<UserText> {
        self.0
            .iter()
            .filter(|entry| !kept.contains(&entry.message))
            .map(|entry| UserText {
                message: entry.message,
                at: entry.at,
                text: entry.text.clone(),
                location: entry.location.get_or_init(|| location(entry, session)).clone(),
            })
            .collect()
    }
}

/// A long message gets a file of its own: a line of the transcript is shown truncated.
fn location(entry: &UserEntry, session: &Dir) -> String {
    let in_line = format!("line {} of the transcript", entry.line);
    if entry.text.chars().count() <= LONGEST_IN_LINE {
        return in_line;
    }
    let name = format!("{FOLDER}/{}.txt", entry.line);
    let Ok(file) = RelPath::new(&name) else { return in_line };
    // Without the file, the transcript still has it.
    let written =
        session.read(&file).is_ok() || session.replace(&file, entry.text.as_bytes()).is_ok();
    if written { session.path().join(name).display().to_string() } else { in_line }
}
