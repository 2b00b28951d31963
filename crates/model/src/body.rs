//! The body of a request as append-only bytes.
//!
//! Each message is serialized once, when it is first sent, and its bytes stay. `messages` is the last
//! key, so a request is head + messages + tail; cache markers are spliced in while writing and are no
//! part of what is kept. The only way to change what was sent is [`WireBody::rebuild`], which takes an
//! announcement: an unannounced break of the prefix cannot be written down.

use std::sync::Arc;
use std::time::Duration;

use dormouse_conversation::{Block, BlockKind, Message, Prefix, RequestOptions, Role};
use serde::Serialize;

use crate::breaks::{BreakDetector, HeadHashes, RebuildReason, SentRequest};
use crate::small_model::{Typed, for_small_model, has_reminder};
use crate::wire_format::{Dialect, WireFormat, WireTurn};
use crate::{anthropic, openai};

/// The body of a request.
#[derive(Debug, Clone)]
pub struct WireBody {
    dialect: Dialect,
    head: Vec<u8>,
    messages: Vec<u8>,
    turns: Vec<WireTurn>,
    /// How many turns a server has seen. They cannot be added to any more.
    sent_turns: usize,
    model: String,
    head_hashes: HeadHashes,
    /// Of the turns a server has seen, for telling where two requests part.
    turn_hashes: Vec<blake3::Hash>,
}

/// What ends every body: the list of messages, and the object.
const TAIL: &[u8] = b"]}";

impl WireBody {
    /// A body without messages yet, but for what the prefix puts in front.
    pub fn new(dialect: Dialect, prefix: &Prefix, options: &RequestOptions) -> Self {
        let head = match dialect.wire {
            WireFormat::Anthropic => anthropic::head(&dialect, prefix, options),
            WireFormat::OpenAi => openai::head(&dialect, prefix, options),
        };
        let mut body = Self {
            head_hashes: HeadHashes {
                system: hash_of(prefix.system()),
                tools: hash_of(prefix.tools()),
                whole: blake3::hash(&head),
            },
            head,
            dialect,
            messages: Vec::new(),
            turns: Vec::new(),
            sent_turns: 0,
            model: options.model.clone(),
            turn_hashes: Vec::new(),
        };
        if !prefix.opening_blocks().is_empty() {
            body.write_message(Role::User, prefix.opening_blocks(), true);
        }
        body
    }

    /// Makes room for messages that are about to be appended: growing step by step copies what is there.
    pub fn reserve(&mut self, messages: &[Arc<Message>]) {
        let bytes = |message: &Arc<Message>| {
            message.blocks.iter().map(|block| block.raw().len() + 2).sum::<usize>()
        };
        self.messages.reserve(messages.iter().map(bytes).sum());
    }

    /// Appends a message. A summary that the server wrote has to be the first of all, even before what the prefix opens with. One of the user's that follows another joins it, unless that was sent already;
    /// two of the model's (a paused answer and its end) stay two, sent or not.
    pub fn append(&mut self, message: &Message) {
        if !message.blocks.iter().any(is_server_summary) {
            return self.write_message(message.role, &message.blocks, message.flags.meta);
        }
        if !self.dialect.server_summaries {
            // Another server, or the switch is off: its text is as good as any.
            let blocks: Vec<Block> = message.blocks.iter().map(as_plain_summary).collect();
            return self.write(message.role, &blocks);
        }
        let opening = std::mem::take(&mut self.messages);
        let turns = std::mem::take(&mut self.turns);
        self.write(message.role, &message.blocks);
        if !opening.is_empty() {
            self.messages.push(b',');
        }
        let moved = self.messages.len();
        self.messages.extend_from_slice(&opening);
        self.turns.extend(turns.into_iter().map(|turn| turn.moved(moved)));
    }

    /// Writes a message in the form that the model reads best; `is_meta` if the user did not type its text.
    fn write_message(&mut self, role: Role, blocks: &[Block], is_meta: bool) {
        if !self.dialect.for_small_model || role != Role::User {
            return self.write(role, blocks);
        }
        let typed = if is_meta {
            Typed::Not
        } else if self.joins(role) || has_reminder(blocks) {
            Typed::BesideProgram
        } else {
            Typed::Alone
        };
        self.write(role, &for_small_model(blocks, typed));
    }

    /// Whether the next turn of this role joins the last one.
    fn joins(&self, role: Role) -> bool {
        role == Role::User
            && self.turns.len() > self.sent_turns
            && self.turns.last().is_some_and(|turn| turn.role == Role::User)
    }

    fn write(&mut self, role: Role, blocks: &[Block]) {
        let joins = self.joins(role);
        let writer = match self.dialect.wire {
            WireFormat::Anthropic => anthropic::write_turn,
            WireFormat::OpenAi => openai::write_turn,
        };
        let joined = if joins { self.turns.pop() } else { None };
        let turn = writer(&mut self.messages, joined, role, blocks);
        self.turns.push(WireTurn { end: self.messages.len(), ..turn });
    }

    /// From now on a marker of the newest turn stands in front of this block, its last: what is before that is shared
    /// with other conversations, which read what this one writes.
    pub fn share_before(&mut self, last: &Block) {
        let behind = last.raw().trim_end().len() + 1;
        if let Some(turn) = self.turns.last_mut().filter(|turn| turn.blocks > 1) {
            turn.marker_at = turn.marker_at.and_then(|at| at.checked_sub(behind));
        }
    }

    /// The turns so far, for choosing where markers go.
    pub fn turns(&self) -> &[WireTurn] {
        &self.turns
    }

    /// The bytes to send, with a cache marker at the end of each of these turns (in ascending order).
    pub fn render(&self, marked: &[usize]) -> Vec<u8> {
        let splice = self.dialect.ttl.marker().as_bytes();
        let mut bytes = Vec::with_capacity(
            self.head.len() + self.messages.len() + 4 * splice.len() + TAIL.len(),
        );
        bytes.extend_from_slice(&self.head);
        let mut written = 0;
        let places = marked.iter().filter_map(|index| self.turns.get(*index)?.marker_at);
        for place in places.filter(|_| self.dialect.wire == WireFormat::Anthropic) {
            bytes.extend_from_slice(self.messages.get(written..place).unwrap_or_default());
            bytes.extend_from_slice(splice);
            written = place;
        }
        bytes.extend_from_slice(self.messages.get(written..).unwrap_or_default());
        bytes.extend_from_slice(TAIL);
        bytes
    }

    /// The bytes that ask the server for a summary of all messages: those of a request, with one field behind them.
    pub fn render_for_summary(&self, marked: &[usize], instructions: &str) -> Vec<u8> {
        let mut bytes = self.render(marked);
        bytes.truncate(bytes.len() - 1);
        let field = serde_json::json!({ "type": "summarize", "instructions": instructions });
        bytes.extend_from_slice(format!(r#","compaction":{field}}}"#).as_bytes());
        bytes
    }

    /// A conversation that continues: all up to the model's last answer was sent by an earlier process.
    /// Gives what the break detector needs, and the turn at which that process wrote the cache last.
    pub fn mark_answered_as_sent(&mut self, at: Duration) -> Option<(SentRequest, usize)> {
        let answer = self.turns.iter().rposition(|turn| turn.role == Role::Assistant)?;
        let sent = self.mark_sent_to(answer + 1, at);
        let asked = self.turns.get(..answer)?.iter().rposition(|turn| turn.role == Role::User)?;
        Some((sent, asked))
    }

    /// The server has seen all of this: from now on it only grows. Gives what the break detector needs.
    pub fn mark_sent(&mut self, at: Duration) -> SentRequest {
        self.mark_sent_to(self.turns.len(), at)
    }

    fn mark_sent_to(&mut self, turns: usize, at: Duration) -> SentRequest {
        let mut start = self.turns.get(self.sent_turns.wrapping_sub(1)).map_or(0, |turn| turn.end);
        for turn in self.turns.iter().take(turns).skip(self.sent_turns) {
            self.turn_hashes
                .push(blake3::hash(self.messages.get(start..turn.end).unwrap_or_default()));
            start = turn.end;
        }
        self.sent_turns = turns;
        SentRequest::new(self.model.clone(), self.head_hashes, self.turn_hashes.clone(), at)
    }

    /// A new body instead of this one: the announced way to change what was sent.
    pub fn rebuild<'a>(
        &mut self,
        announcement: RebuildReason,
        detector: &mut BreakDetector,
        dialect: Dialect,
        prefix: &Prefix,
        options: &RequestOptions,
        messages: impl IntoIterator<Item = &'a Message>,
    ) {
        detector.announce(announcement);
        let mut body = Self::new(dialect, prefix, options);
        for message in messages {
            body.append(message);
        }
        *self = body;
    }
}

/// The kind of a block in which a server has summarized a conversation.
const SERVER_SUMMARY: &str = "compaction";

/// Whether a block is a summary that the server wrote. It is signed, and goes back as it came.
pub fn is_server_summary(block: &Block) -> bool {
    matches!(block.kind(), BlockKind::Other(kind) if kind == SERVER_SUMMARY)
}

/// The text of a summary that the server wrote; none where it says nothing.
pub fn server_summary_text(block: &Block) -> Option<String> {
    block.string_field("content").filter(|text| is_server_summary(block) && !text.trim().is_empty())
}

/// The same as plain text, for a server that does not know the block.
fn as_plain_summary(block: &Block) -> Block {
    match server_summary_text(block) {
        Some(text) => Block::text(&text),
        None if is_server_summary(block) => Block::text("[a summary without text]"),
        None => block.clone(),
    }
}

fn hash_of<T: Serialize + ?Sized>(part: &T) -> blake3::Hash {
    // Strings and raw JSON always serialize.
    blake3::hash(&serde_json::to_vec(part).unwrap_or_default())
}

#[cfg(test)]
#[path = "body_tests.rs"]
mod tests;
