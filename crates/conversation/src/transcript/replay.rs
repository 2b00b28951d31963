//! A transcript as what happened, in order: for whoever asks how a session went, not how it ended.
//!
//! Nothing is left out that was paid for: what compactions put away is here, and answers that were
//! withdrawn are. A message stands where its first line does. Branches that the user went back from are
//! read in the order of the file, and named as such. Never fails: what can be read, is; the rest is named.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::sync::Arc;

use dormouse_base::MessageId;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::boundary::{BOUNDARY, CompactionBoundary, SNIP};
use super::branch::BranchFinder;
use super::format::{
    LineIn, MessageIn, SERVER_CLEARING, STORED, THINKING_DROPPED, TranscriptLineError, WITHDRAWN,
};
use super::lines::{LinesRead, each_line, each_line_of};
use super::loaded::TranscriptWarning;
use super::read::{exact_blocks, merge, replace_results_in};
use super::rewound::{Abandoned, RewindFinder};
use crate::block::Block;
use crate::message::{Message, Response, Role};
use crate::prefix::PrefixOrigin;
use crate::recall_reason::RecallReason;
use crate::tokens::estimate_text;
use crate::usage::Usage;

/// Something that happened.
#[derive(Debug, Clone)]
pub enum ReplayEvent {
    /// A message came.
    Message(ReplayedMessage),
    /// The conversation was compacted.
    Compacted(ReplayedCompaction),
    /// A layer left messages out, put a summary in their place, or put them back.
    LeftOut(ReplayedCompaction),
    /// Results that had been sent are sent as these blocks from here on.
    ResultsReplaced {
        /// The message with the results.
        message: MessageId,
        /// Its new blocks; the others stay.
        blocks: Vec<Block>,
    },
    /// System prompt and tools were built; so many tokens, estimated.
    PrefixBuilt(u64),
    /// Thinking was taken out of earlier messages.
    ThinkingDropped,
}

/// A message, with what only the transcript knows of it.
#[derive(Debug, Clone)]
pub struct ReplayedMessage {
    /// The message, whole.
    pub message: Arc<Message>,
    /// Whether what its request wrote to the cache is kept for an hour, as far as the line tells.
    pub one_hour_cache: bool,
    /// Whether it was undone: it was paid for, and is in no later request.
    pub withdrawn: bool,
    /// Tokens that the server left out of its request by itself.
    pub server_cleared: Option<u64>,
    /// Why the memories that came with it were recalled; empty if none came, or if an earlier version wrote the line.
    pub recalled: Vec<RecallReason>,
}

/// A compaction or a smaller change by a layer, of this or another agent.
#[derive(Debug, Clone, Default)]
pub struct ReplayedCompaction {
    /// What started it: a word.
    pub trigger: String,
    /// Who wrote the summary, or which layer it was: a word; empty if the line does not tell.
    pub method: String,
    /// Tokens before it; 0 if the line does not tell.
    pub pre_tokens: u64,
    /// Tokens after it, estimated; 0 if the line does not tell.
    pub post_tokens: u64,
    /// The messages that stay, where the line names them. The others that belong to it follow.
    pub view: Vec<MessageId>,
    /// How much of what was put away the summary still holds, as written.
    pub fidelity: Option<Box<RawValue>>,
}

/// What a transcript tells.
#[derive(Debug, Clone, Default)]
pub struct Replay {
    /// What happened in the main conversation.
    pub events: Vec<ReplayEvent>,
    /// Messages on branches that the user went back from.
    pub abandoned: HashSet<MessageId>,
    /// Answers in side chains: other conversations that the same file holds.
    pub side_chains: Vec<Response>,
    /// For which model and server the prefix was last built.
    pub origin: Option<PrefixOrigin>,
    /// How many lines there are, without one that was cut off.
    pub lines: u64,
    /// Lines that are no part of a conversation, by their `type`.
    pub other_lines: BTreeMap<String, u64>,
    /// What could not be used.
    pub warnings: Vec<TranscriptWarning>,
}

/// Reads a transcript from its bytes.
pub fn replay_transcript(bytes: &[u8]) -> Replay {
    let mut reader = Reader::default();
    let mut passed = PassedLines::default();
    each_line(bytes, |number, line| {
        passed.see(number, line);
        Ok(())
    });
    let passed = passed.finish();
    let read = each_line(bytes, |number, line| {
        reader.is_abandoned = passed.has(number);
        reader.read_line(line)
    });
    reader.finish(read)
}

/// Reads a transcript line by line, for whoever counts: of long texts only the beginning is kept, and what they took. The
/// memory that it needs grows with the number of messages, not with their length.
pub fn replay_abridged(file: &mut (impl Read + Seek)) -> std::io::Result<Replay> {
    replay_lines(Reader { is_abridging: true, ..Reader::default() }, file)
}

/// The same for a subagent's own transcript: there, side-chain lines are the conversation.
pub fn replay_abridged_subagent(file: &mut (impl Read + Seek)) -> std::io::Result<Replay> {
    replay_lines(Reader { is_abridging: true, is_subagent: true, ..Reader::default() }, file)
}

fn replay_lines(mut reader: Reader, file: &mut (impl Read + Seek)) -> std::io::Result<Replay> {
    let mut passed = PassedLines::default();
    each_line_of(BufReader::new(&mut *file), |number, line| {
        passed.see(number, line);
        Ok(())
    })?;
    let passed = passed.finish();
    file.seek(SeekFrom::Start(0))?;
    let read = each_line_of(BufReader::new(file), |number, line| {
        reader.is_abandoned = passed.has(number);
        reader.read_line(line)
    })?;
    Ok(reader.finish(read))
}

/// Finds the lines that the user went back from.
#[derive(Default)]
struct PassedLines {
    rewinds: RewindFinder,
    branches: BranchFinder,
}

impl PassedLines {
    fn see(&mut self, number: usize, line: &[u8]) {
        self.rewinds.see(u64::try_from(number).unwrap_or(u64::MAX), line);
        self.branches.see(number, line);
    }

    fn finish(self) -> FoundPassedLines {
        FoundPassedLines { rewound: self.rewinds.finish(), others: self.branches.finish() }
    }
}

/// The lines that the user went back from.
struct FoundPassedLines {
    rewound: Abandoned,
    others: HashSet<usize>,
}

impl FoundPassedLines {
    fn has(&self, number: usize) -> bool {
        self.others.contains(&number) || self.rewound.has(u64::try_from(number).unwrap_or(u64::MAX))
    }
}

/// An event that may still grow.
enum Draft {
    /// Boxed: there are many, and the list of them grows.
    Said(Box<Drafted>),
    Done(ReplayEvent),
}

struct Drafted {
    message: Message,
    for_an_hour: bool,
    withdrawn: bool,
    recalled: Vec<RecallReason>,
}

#[derive(Default)]
struct Reader {
    drafts: Vec<Draft>,
    /// Whether the file is a subagent's.
    is_subagent: bool,
    /// Whether long texts are cut.
    is_abridging: bool,
    /// Where the message with this key stands.
    places: HashMap<String, usize>,
    /// Where the newest answer of the model stands: what is in front of it was sent.
    answered: usize,
    /// By key of the answer: tokens that the server cleared for it.
    cleared: HashMap<String, u64>,
    /// Answers of side chains by key: their lines repeat the counters too.
    side: HashMap<String, Response>,
    side_order: Vec<String>,
    /// Whether the user went back from the current line.
    is_abandoned: bool,
    replay: Replay,
}

impl Reader {
    fn finish(mut self, read: LinesRead) -> Replay {
        self.replay.lines = read.lines;
        self.replay.warnings = read.warnings;
        let cleared: HashMap<usize, u64> = self
            .cleared
            .iter()
            .filter_map(|(key, tokens)| Some((*self.places.get(key)?, *tokens)))
            .collect();
        let events = self.drafts.into_iter().enumerate().map(|(place, draft)| match draft {
            Draft::Done(event) => event,
            Draft::Said(drafted) => {
                let Drafted { message, for_an_hour, withdrawn, recalled } = *drafted;
                ReplayEvent::Message(ReplayedMessage {
                    message: Arc::new(message),
                    one_hour_cache: for_an_hour,
                    withdrawn,
                    server_cleared: cleared.get(&place).copied(),
                    recalled,
                })
            }
        });
        self.replay.events = events.collect();
        let side = self.side_order.iter().filter_map(|key| self.side.remove(key));
        self.replay.side_chains = side.collect();
        self.replay
    }

    fn read_line(&mut self, line: &[u8]) -> Result<(), TranscriptLineError> {
        let text = std::str::from_utf8(line)?;
        let mut line: LineIn<'_> = serde_json::from_str(text)?;
        match line.subtype.as_deref() {
            Some(BOUNDARY) => return self.boundary(&line, ReplayEvent::Compacted),
            Some(SNIP) => return self.boundary(&line, ReplayEvent::LeftOut),
            _ => {}
        }
        if let Some(prefix) = line.prefix {
            self.replay.origin = line.origin.take().or(self.replay.origin.take());
            let tokens = u64::from(estimate_text(prefix.get()));
            self.drafts.push(Draft::Done(ReplayEvent::PrefixBuilt(tokens)));
            return Ok(());
        }
        match (&*line.kind, line.message.take()) {
            ("user" | "assistant", Some(message)) if line.is_sidechain != self.is_subagent => {
                self.side_chain(&line, &message)
            }
            ("user" | "assistant", Some(message)) => self.said(&mut line, message),
            (STORED, Some(message)) => {
                self.replaced(&line, message.content.0);
                Ok(())
            }
            (SERVER_CLEARING, _) => {
                if let Some(key) = line.message_uuid.take() {
                    self.cleared.insert(key.into_owned(), Usage::tokens(line.cleared_tokens));
                }
                Ok(())
            }
            (WITHDRAWN, _) => {
                if let Some(drafted) = self.named(&line) {
                    drafted.withdrawn = true;
                }
                Ok(())
            }
            (THINKING_DROPPED, _) => {
                self.drafts.push(Draft::Done(ReplayEvent::ThinkingDropped));
                Ok(())
            }
            (kind, _) => {
                *self.replay.other_lines.entry(kind.to_owned()).or_default() += 1;
                Ok(())
            }
        }
    }

    fn abridge(&self, blocks: &mut [Block]) {
        if self.is_abridging {
            for block in blocks {
                *block = block.abridged();
            }
        }
    }

    /// The message that a line is about.
    fn named(&mut self, line: &LineIn<'_>) -> Option<&mut Drafted> {
        let place = *self.places.get(line.message_uuid.as_deref()?)?;
        match self.drafts.get_mut(place)? {
            Draft::Said(drafted) => Some(drafted),
            Draft::Done(_) => None,
        }
    }

    /// Results get other blocks: before they are first sent that is all there is to them, later it is an event.
    fn replaced(&mut self, line: &LineIn<'_>, mut blocks: Vec<Block>) {
        self.abridge(&mut blocks);
        let place = line.message_uuid.as_deref().and_then(|key| self.places.get(key)).copied();
        let was_sent = place.is_some_and(|place| place < self.answered);
        let Some(drafted) = self.named(line) else { return };
        if was_sent {
            let message = drafted.message.id;
            self.drafts.push(Draft::Done(ReplayEvent::ResultsReplaced { message, blocks }));
        } else {
            replace_results_in(&mut drafted.message, blocks);
        }
    }

    fn boundary(
        &mut self,
        line: &LineIn<'_>,
        event: fn(ReplayedCompaction) -> ReplayEvent,
    ) -> Result<(), TranscriptLineError> {
        let raw = line.compact_metadata.map_or("{}", RawValue::get);
        let compaction =
            serde_json::from_str::<CompactionIn>(raw).map_err(TranscriptLineError::Compaction)?;
        let ours = serde_json::from_str::<CompactionBoundary>(raw).ok();
        let (view, way, fidelity) = ours.map_or_else(Default::default, |boundary| {
            (boundary.view, boundary.method, boundary.fidelity)
        });
        self.drafts.push(Draft::Done(event(ReplayedCompaction {
            trigger: compaction.trigger,
            pre_tokens: Usage::tokens(compaction.pre_tokens),
            post_tokens: Usage::tokens(compaction.post_tokens),
            method: way,
            view,
            fidelity,
        })));
        Ok(())
    }

    fn side_chain(
        &mut self,
        line: &LineIn<'_>,
        message: &MessageIn<'_>,
    ) -> Result<(), TranscriptLineError> {
        if message.role == Role::Assistant {
            let response = line.response(message)?;
            let key = key_of(line, message)?;
            match self.side.get_mut(&key) {
                Some(known) => known.usage = known.usage.updated(response.usage),
                None => {
                    self.side_order.push(key.clone());
                    self.side.insert(key, response);
                }
            }
        }
        Ok(())
    }

    fn said(
        &mut self,
        line: &mut LineIn<'_>,
        mut message: MessageIn<'_>,
    ) -> Result<(), TranscriptLineError> {
        if !line.raw_content.is_empty() {
            message.content.0 = exact_blocks(std::mem::take(&mut line.raw_content))?;
        }
        self.abridge(&mut message.content.0);
        let key = key_of(line, &message)?;
        if let Some(tokens) = message.cleared_tokens() {
            self.cleared.insert(key.clone(), tokens);
        }
        if let Some(Draft::Said(begun)) =
            self.places.get(&key).and_then(|place| self.drafts.get_mut(*place))
        {
            begun.for_an_hour |= message.has_one_hour_cache();
            begun.recalled.extend(line.recalled());
            // A line that was copied says nothing new.
            message.content.0.retain(|block| !begun.message.blocks.contains(block));
            return merge(&mut begun.message, message);
        }
        let drafted = Drafted {
            for_an_hour: message.has_one_hour_cache(),
            withdrawn: false,
            recalled: line.recalled(),
            message: message_of(line, message)?,
        };
        if drafted.message.role == Role::Assistant {
            self.answered = self.drafts.len();
        }
        if self.is_abandoned {
            self.replay.abandoned.insert(drafted.message.id);
        }
        self.places.insert(key, self.drafts.len());
        self.drafts.push(Draft::Said(Box::new(drafted)));
        Ok(())
    }
}

/// What lines of one message share: ours the message's id, others the server's ids of message and request.
fn key_of(line: &LineIn<'_>, message: &MessageIn<'_>) -> Result<String, TranscriptLineError> {
    let of_server = message.id.as_deref().filter(|_| message.role == Role::Assistant);
    if let Some(id) = line.message_uuid.as_deref() {
        return Ok(id.to_owned());
    }
    if let Some(id) = of_server {
        return Ok(format!("{id} {}", line.request_id.as_deref().unwrap_or_default()));
    }
    Ok(line.uuid.as_deref().ok_or(TranscriptLineError::NoUuid)?.to_owned())
}

fn message_of(line: &LineIn<'_>, message: MessageIn<'_>) -> Result<Message, TranscriptLineError> {
    let answers = message.role == Role::Assistant;
    Ok(Message {
        id: line.message_id()?,
        parent: None,
        timestamp: line.time()?,
        role: message.role,
        flags: line.flags(),
        response: answers.then(|| line.response(&message)).transpose()?,
        blocks: message.content.0,
    })
}

/// What all agents write of a compaction.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct CompactionIn {
    trigger: String,
    pre_tokens: Option<f64>,
    post_tokens: Option<f64>,
}

#[cfg(test)]
#[path = "replay_tests.rs"]
mod tests;
