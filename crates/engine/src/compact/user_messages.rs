//! What the person has said in this session, and where it is found: compaction keeps it, whatever becomes of
//! the rest.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use dormouse_base::{Dir, MessageId, RelPath};
use dormouse_context::compact::{UserText, user_text_in};
use dormouse_conversation::Message;
use dormouse_conversation::transcript::LoadedTranscript;
use jiff::Timestamp;

use crate::Engine;

/// The folder of messages that are too long for a line, in the session's own.
const FOLDER: &str = "said";
/// A message of more characters can not be read from its line of the transcript as a whole.
const LONGEST_IN_LINE: usize = 1_200;

/// A message of the person's that is still part of the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserMessage {
    /// The message.
    pub message: MessageId,
    /// What they said.
    pub text: String,
}

impl Engine {
    /// What the person has said, as far as it stands in the conversation, in order.
    pub fn spoken(&self) -> Vec<UserMessage> {
        let spoken = |message: &Arc<Message>| {
            Some(UserMessage { message: message.id, text: user_text_in(message)? })
        };
        self.history.messages().iter().filter_map(spoken).collect()
    }
}

/// One thing that was said.
#[derive(Debug)]
struct Words {
    message: MessageId,
    at: Timestamp,
    text: String,
    line: u64,
    /// Where it is found, once somebody has asked.
    place: OnceLock<String>,
}

/// All of it, in order.
#[derive(Debug, Default)]
pub(crate) struct UserMessages(Vec<Words>);

impl UserMessages {
    /// What an earlier process heard.
    pub(crate) fn of(loaded: &LoadedTranscript) -> Self {
        let lines: HashMap<MessageId, u64> =
            loaded.user_messages.iter().map(|spoken| (spoken.message, spoken.line)).collect();
        let mut said = Self::default();
        for message in loaded.all_messages() {
            said.hear(message, lines.get(&message.id).copied().unwrap_or_default());
        }
        said.0.sort_by_key(|words| words.line);
        said
    }

    /// A message that stands in this line of the transcript.
    pub(crate) fn hear(&mut self, message: &Message, line: u64) {
        if let Some(text) = user_text_in(message) {
            let (message, at, place) = (message.id, message.timestamp, OnceLock::new());
            self.0.push(Words { message, at, text, line, place });
        }
    }

    /// What a fork was told to do, which stands in this line of its transcript: that is what it must not lose.
    pub(crate) fn order(message: &Message, order: &str, line: u64) -> Self {
        let (at, place) = (message.timestamp, OnceLock::new());
        Self(vec![Words { message: message.id, at, text: order.to_owned(), line, place }])
    }

    /// What was said in messages other than these, each with the place where it is found.
    pub(super) fn beside(&self, kept: &HashSet<MessageId>, session: &Dir) -> Vec<UserText> {
        self.0
            .iter()
            .filter(|words| !kept.contains(&words.message))
            .map(|words| UserText {
                message: words.message,
                at: words.at,
                text: words.text.clone(),
                location: words.place.get_or_init(|| place(words, session)).clone(),
            })
            .collect()
    }
}

/// A long message gets a file of its own: a line of the transcript is shown cut.
fn place(words: &Words, session: &Dir) -> String {
    let in_line = format!("line {} of the transcript", words.line);
    if words.text.chars().count() <= LONGEST_IN_LINE {
        return in_line;
    }
    let name = format!("{FOLDER}/{}.txt", words.line);
    let Ok(file) = RelPath::new(&name) else { return in_line };
    // What can not be written is still in the transcript.
    let written =
        session.read(&file).is_ok() || session.replace(&file, words.text.as_bytes()).is_ok();
    if written { session.path().join(name).display().to_string() } else { in_line }
}
