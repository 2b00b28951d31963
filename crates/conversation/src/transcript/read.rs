//! Reading a transcript: every whole line counts, a bad one is skipped and named.

use std::collections::HashMap;
use std::sync::Arc;

use dormouse_base::MessageId;
use jiff::Timestamp;
use thiserror::Error;

use super::boundary::{BOUNDARY, CompactionBoundary, Pending, SNIP};
use super::format::{LineIn, MessageIn, STORED, UNTHOUGHT, WITHDRAWN};
use crate::{
    Block, BlockKind, EnvironmentFacts, Message, MessageFlags, Prefix, PrefixOrigin, Role,
    StopReason, UsedSkill,
};

/// Something in a transcript that could not be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TranscriptWarning {
    /// A line that is not one of ours, in the middle.
    #[error("line {line} was skipped: {problem}")]
    BadLine {
        /// Its number, from 1.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// The last line, cut off by a crash.
    #[error("line {line}, the last, was cut off by a crash ({bytes} bytes) and dropped")]
    Torn {
        /// Its number, from 1.
        line: usize,
        /// How much there was of it.
        bytes: usize,
    },
    /// A compaction that a crash cut off.
    #[error(
        "the compaction in line {line} was cut off by a crash; the conversation is as before it"
    )]
    IncompleteBoundary {
        /// Its number, from 1.
        line: usize,
    },
}

/// Something that the person said, and where that stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserMessagePosition {
    /// The message.
    pub message: MessageId,
    /// When.
    pub at: Timestamp,
    /// The number of its line, from 1.
    pub line: u64,
}

/// What a transcript holds.
#[derive(Debug, Default)]
pub struct LoadedTranscript {
    /// The main conversation as it is sent, in order.
    pub messages: Vec<Message>,
    /// What compactions have put away, in order.
    pub compacted: Vec<Message>,
    /// The compactions.
    pub boundaries: Vec<CompactionBoundary>,
    /// Where each message of the person stands, put away or not.
    pub user_messages: Vec<UserMessagePosition>,
    /// How many lines there are, without one that was cut off.
    pub lines: u64,
    /// The prefix that was last built.
    pub prefix: Option<Arc<Prefix>>,
    /// The model that prefix was built for.
    pub origin: Option<PrefixOrigin>,
    /// What the model was last told about the world, if anything was told after the prefix.
    pub facts: Option<EnvironmentFacts>,
    /// Skills that were used, in order.
    pub skills: Vec<UsedSkill>,
    /// What came from outside and was told, in order.
    pub delivered: Vec<String>,
    /// The folder of the last line that names one.
    pub folder: Option<String>,
    /// The last line that is part of the conversation.
    pub last_line: Option<MessageId>,
    /// What could not be used.
    pub warnings: Vec<TranscriptWarning>,
}

impl LoadedTranscript {
    /// All messages, those that were put away in front.
    pub fn all_messages(&self) -> impl Iterator<Item = &Message> {
        self.compacted.iter().chain(&self.messages)
    }
}

/// Reads a transcript from its bytes. Never fails: what can be read, is.
pub fn load_transcript(bytes: &[u8]) -> LoadedTranscript {
    load_with(Reader::default(), bytes)
}

/// Reads an agent's side chain in the same way.
pub fn load_subagent_transcript(bytes: &[u8]) -> LoadedTranscript {
    load_with(Reader { is_side: true, ..Reader::default() }, bytes)
}

fn load_with(mut reader: Reader, bytes: &[u8]) -> LoadedTranscript {
    let read = each_line(bytes, |number, line| {
        reader.number = number;
        reader.read_line(line)
    });
    reader.loaded.lines = read.lines;
    reader.loaded.warnings.extend(read.warnings);
    if let Some(pending) = reader.pending.take() {
        pending.give_up(&mut reader.loaded);
    }
    // What is left without content was withdrawn.
    reader.loaded.messages.retain(|message| !message.blocks.is_empty());
    reader.loaded
}

/// How the lines of a file went.
pub(super) struct LinesRead {
    /// How many there are, without one that was cut off.
    pub(super) lines: u64,
    /// Those that could not be used.
    pub(super) warnings: Vec<TranscriptWarning>,
}

/// Gives every line with its number, from 1; what is wrong with one is kept as a warning.
pub(super) fn each_line(
    bytes: &[u8],
    mut read: impl FnMut(usize, &[u8]) -> Result<(), String>,
) -> LinesRead {
    let mut warnings = Vec::new();
    let mut rest = bytes;
    let mut number = 0;
    while !rest.is_empty() {
        let from_here = rest;
        // Finds the line's end many bytes at a time; reading from memory has no way to fail.
        let length = std::io::BufRead::skip_until(&mut rest, b'\n').unwrap_or(from_here.len());
        let (line, _) = from_here.split_at_checked(length).unwrap_or((from_here, &[]));
        number += 1;
        if line.trim_ascii().is_empty() {
            continue;
        }
        if let Err(problem) = read(number, line) {
            warnings.push(if line.ends_with(b"\n") {
                TranscriptWarning::BadLine { line: number, problem }
            } else {
                number -= 1;
                TranscriptWarning::Torn { line: number + 1, bytes: line.len() }
            });
        }
    }
    LinesRead { lines: u64::try_from(number).unwrap_or(u64::MAX), warnings }
}

#[derive(Default)]
struct Reader {
    loaded: LoadedTranscript,
    /// Where the message with this key stands: its lines may come with others between them.
    places: HashMap<String, usize>,
    /// What each message brought from outside.
    brought: HashMap<String, Vec<String>>,
    /// Whether the file is a side chain: its lines are the conversation then.
    is_side: bool,
    /// The number of the line that is being read.
    number: usize,
    /// A compaction whose messages are still to come.
    pending: Option<Pending>,
}

impl Reader {
    fn read_line(&mut self, line: &[u8]) -> Result<(), String> {
        let text = std::str::from_utf8(line).map_err(|error| error.to_string())?;
        let mut line: LineIn<'_> = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if let Some(folder) = line.cwd.take() {
            let same = self.loaded.folder.as_deref() == Some(&folder);
            if !same {
                self.loaded.folder = Some(folder.into_owned());
            }
        }
        self.hear_of_deliveries(&mut line);
        if matches!(line.subtype.as_deref(), Some(BOUNDARY | SNIP)) {
            return self.begin_boundary(&line);
        }
        if line.kind == UNTHOUGHT {
            return self.drop_thinking(&line);
        }
        if let Some(prefix) = line.prefix {
            let prefix: Prefix =
                serde_json::from_str(prefix.get()).map_err(|error| error.to_string())?;
            self.loaded.prefix = Some(Arc::new(prefix));
            self.loaded.origin = line.origin.take();
            self.loaded.facts = None;
        }
        if line.facts.is_some() {
            self.loaded.facts = line.facts.take();
        }
        if let Some(skill) = line.skill.take() {
            let at = line.timestamp.as_deref().and_then(|text| text.parse().ok());
            self.loaded.skills.push(UsedSkill { at: at.unwrap_or_default(), ..skill });
        }
        if line.kind == WITHDRAWN
            && let Some(place) = line.message_uuid.as_deref().and_then(|key| self.places.get(key))
            && let Some(message) = self.loaded.messages.get_mut(*place)
        {
            message.blocks.clear();
        }
        if line.kind == STORED {
            let key = line.message_uuid.take().unwrap_or_default();
            self.replace_results(
                &key,
                line.message.take().map(|message| message.content.0).unwrap_or_default(),
            );
            return Ok(());
        }
        let speaks = line.kind == "user" || line.kind == "assistant";
        match line.message.take() {
            Some(mut message) if speaks && line.is_sidechain == self.is_side => {
                if !line.raw_content.is_empty() {
                    message.content.0 = exact_blocks(std::mem::take(&mut line.raw_content))?;
                }
                self.add(&line, message)
            }
            _ => Ok(()),
        }
    }

    /// What a message brought that is withdrawn was not delivered.
    fn hear_of_deliveries(&mut self, line: &mut LineIn<'_>) {
        if line.delivers.is_empty() && line.kind != WITHDRAWN {
            return;
        }
        let key = line.message_uuid.as_deref().unwrap_or_default().to_owned();
        if line.kind == WITHDRAWN {
            let none = self.brought.remove(&key).unwrap_or_default();
            self.loaded.delivered.retain(|id| !none.contains(id));
            return;
        }
        self.brought.entry(key).or_default().extend(line.delivers.iter().cloned());
        self.loaded.delivered.append(&mut line.delivers);
    }

    /// A boundary of ours says what is left; another agent's has no such list.
    fn begin_boundary(&mut self, line: &LineIn<'_>) -> Result<(), String> {
        let Some(metadata) = line.compact_metadata else { return Ok(()) };
        let boundary: CompactionBoundary =
            serde_json::from_str(metadata.get()).map_err(|error| error.to_string())?;
        if boundary.view.is_empty() {
            return Ok(());
        }
        let read = |prefix: &serde_json::value::RawValue| {
            serde_json::from_str::<Prefix>(prefix.get()).map_err(|error| error.to_string())
        };
        let prefix = line.prefix.map(read).transpose()?;
        let prefix = prefix.map(|prefix| (Arc::new(prefix), line.origin.clone()));
        self.loaded.messages.retain(|message| !message.blocks.is_empty());
        self.places.clear();
        if let Some(earlier) = self.pending.take() {
            earlier.give_up(&mut self.loaded);
        }
        self.pending = Some(Pending::new(boundary, prefix, &self.loaded, self.number));
        if let Some(uuid) = line.uuid.as_deref().and_then(|uuid| uuid.parse().ok()) {
            self.loaded.last_line = Some(uuid);
        }
        self.settle_boundary();
        Ok(())
    }

    fn settle_boundary(&mut self) {
        if let Some(pending) = self.pending.take_if(|pending| pending.is_whole()) {
            pending.apply(&mut self.loaded);
            self.places.clear();
        }
    }

    /// A message has come while a boundary waits for its own.
    fn offer_to_boundary(&mut self, message: MessageId) {
        let Some(pending) = &mut self.pending else { return };
        if pending.takes(message) {
            return self.settle_boundary();
        }
        if let Some(pending) = self.pending.take() {
            pending.give_up(&mut self.loaded);
            self.places.clear();
        }
    }

    fn drop_thinking(&mut self, line: &LineIn<'_>) -> Result<(), String> {
        let Some(messages) = line.messages else { return Ok(()) };
        let ids: Vec<MessageId> =
            serde_json::from_str(messages.get()).map_err(|error| error.to_string())?;
        for message in self.loaded.messages.iter_mut().filter(|message| ids.contains(&message.id)) {
            let thinks = |block: &Block| {
                matches!(block.kind(), BlockKind::Thinking | BlockKind::RedactedThinking)
            };
            message.blocks.retain(|block| !thinks(block));
        }
        Ok(())
    }

    /// Results of a message that were stored: what was sent takes their place.
    fn replace_results(&mut self, key: &str, blocks: Vec<Block>) {
        let Some(message) =
            self.places.get(key).and_then(|place| self.loaded.messages.get_mut(*place))
        else {
            return;
        };
        put_results(message, blocks);
    }

    fn add(&mut self, line: &LineIn<'_>, message: MessageIn<'_>) -> Result<(), String> {
        self.loaded.last_line =
            line.uuid.as_deref().and_then(|uuid| uuid.parse().ok()).or(self.loaded.last_line);
        let key = line
            .message_uuid
            .as_deref()
            .or(if message.role == Role::Assistant { message.id.as_deref() } else { None })
            .or(line.uuid.as_deref())
            .ok_or("a message without a `uuid`")?;
        if let Some(place) = self.places.get(key)
            && let Some(begun) = self.loaded.messages.get_mut(*place)
        {
            return merge(begun, message);
        }
        let id = line.message_id()?;
        let timestamp = line.time()?;
        let flags = line.flags();
        let response =
            (message.role == Role::Assistant).then(|| line.response(&message)).transpose()?;
        let answers = |block: &Block| matches!(block.kind(), BlockKind::ToolResult { .. });
        let typed = message.role == Role::User && flags == MessageFlags::default();
        if typed && !message.content.0.iter().any(answers) {
            let line = u64::try_from(self.number).unwrap_or(u64::MAX);
            self.loaded.user_messages.push(UserMessagePosition {
                message: id,
                at: timestamp,
                line,
            });
        }
        self.places.insert(key.to_owned(), self.loaded.messages.len());
        self.loaded.messages.push(Message {
            id,
            parent: None,
            timestamp,
            role: message.role,
            blocks: message.content.0,
            flags,
            response,
        });
        self.offer_to_boundary(id);
        Ok(())
    }
}

/// What is sent in place of results.
pub(super) fn put_results(message: &mut Message, blocks: Vec<Block>) {
    for block in blocks {
        if let Some(old) = message.blocks.iter_mut().find(|old| old.kind() == block.kind()) {
            *old = block;
        }
    }
}

/// The blocks as they were received, line ends and all.
pub(super) fn exact_blocks(texts: Vec<String>) -> Result<Vec<Block>, String> {
    texts
        .into_iter()
        .map(|text| Block::from_json(text).map_err(|error| error.to_string()))
        .collect()
}

/// A further line of a message that has begun: more blocks, newer counters.
pub(super) fn merge(begun: &mut Message, mut more: MessageIn<'_>) -> Result<(), String> {
    let usage = more.usage()?;
    begun.blocks.append(&mut more.content.0);
    if let Some(response) = &mut begun.response {
        response.usage = response.usage.updated(usage);
        if let Some(reason) = more.stop_reason {
            response.stop_reason = Some(StopReason::from_wire(&reason));
        }
    }
    Ok(())
}
