//! Loading a transcript: every complete line counts, a line that cannot be read is skipped with a warning.

use std::collections::HashMap;
use std::sync::Arc;

use dormouse_base::MessageId;

use super::boundary::{BOUNDARY, CompactionBoundary, SNIP};
use super::branch::lines_of_other_branches;
use super::format::{LineIn, MessageIn, STORED, THINKING_DROPPED, TranscriptLineError, WITHDRAWN};
use super::lines::each_line;
use super::loaded::{LoadedTranscript, UserMessagePosition};
use super::pending_boundary::PendingBoundary;
use super::rewound::Abandoned;
use crate::block::{Block, BlockKind};
use crate::message::{Message, MessageFlags, Role, StopReason};
use crate::prefix::Prefix;
use crate::skill::UsedSkill;

/// Loads a transcript. Never fails: lines that cannot be read become warnings.
pub fn load_transcript(bytes: &[u8]) -> LoadedTranscript {
    load_with(Reader::default(), bytes)
}

/// Loads a subagent's transcript.
pub fn load_subagent_transcript(bytes: &[u8]) -> LoadedTranscript {
    load_with(Reader { is_subagent: true, ..Reader::default() }, bytes)
}

fn load_with(mut reader: Reader, bytes: &[u8]) -> LoadedTranscript {
    let abandoned = Abandoned::of(bytes);
    let other_branches = lines_of_other_branches(bytes);
    let read = each_line(bytes, |number, line| {
        if abandoned.has(u64::try_from(number).unwrap_or(u64::MAX))
            || other_branches.contains(&number)
        {
            return Ok(());
        }
        reader.number = number;
        let read = reader.read_line(line);
        if !reader.goes_with_next {
            reader.next_begins = number + 1;
        }
        read
    });
    reader.loaded.rewinds = abandoned.rewinds;
    reader.loaded.lines = read.lines;
    reader.loaded.warnings.extend(read.warnings);
    if let Some(pending) = reader.pending.take() {
        pending.discard(&mut reader.loaded);
    }
    // A message without content was withdrawn.
    reader.loaded.messages.retain(|message| !message.blocks.is_empty());
    reader.loaded
}

#[derive(Default)]
struct Reader {
    loaded: LoadedTranscript,
    /// The index of the message with this key: its lines may be interleaved with others.
    positions: HashMap<String, usize>,
    /// Ids of incoming messages delivered by each message.
    deliveries: HashMap<String, Vec<String>>,
    /// Whether the file belongs to a subagent: then sidechain lines are the conversation.
    is_subagent: bool,
    /// The number of the current line.
    number: usize,
    /// Whether the current line only goes with the user's next message: facts, and what the program announces.
    goes_with_next: bool,
    /// The number of the first line that goes with the user's next message.
    next_begins: usize,
    /// A compaction whose messages are still to come.
    pending: Option<PendingBoundary>,
}

impl Reader {
    fn read_line(&mut self, line: &[u8]) -> Result<(), TranscriptLineError> {
        let text = std::str::from_utf8(line)?;
        let mut line: LineIn<'_> = serde_json::from_str(text)?;
        self.goes_with_next = line.kind == "facts"
            || (line.kind == "user" && line.is_meta && !line.is_compact_summary);
        if let Some(folder) = line.cwd.take() {
            let same = self.loaded.folder.as_deref() == Some(&folder);
            if !same {
                self.loaded.folder = Some(folder.into_owned());
            }
        }
        self.record_deliveries(&mut line);
        if matches!(line.subtype.as_deref(), Some(BOUNDARY | SNIP)) {
            return self.begin_boundary(&line);
        }
        if line.kind == THINKING_DROPPED {
            return self.drop_thinking(&line);
        }
        if let Some(prefix) = line.prefix {
            let prefix: Prefix = serde_json::from_str(prefix.get())?;
            self.loaded.prefix = Some(Arc::new(prefix));
            self.loaded.origin = line.origin.take();
            self.loaded.facts = None;
        }
        if line.facts.is_some() {
            self.loaded.facts = line.facts.take();
        }
        if let Some(record) = line.compaction_record.take() {
            self.loaded.compaction = record;
        }
        if let Some(skill) = line.skill.take() {
            let at = line.timestamp.as_deref().and_then(|text| text.parse().ok());
            self.loaded.skills.push(UsedSkill { at: at.unwrap_or_default(), ..skill });
        }
        if line.kind == WITHDRAWN
            && let Some(position) =
                line.message_uuid.as_deref().and_then(|key| self.positions.get(key))
            && let Some(message) = self.loaded.messages.get_mut(*position)
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
        let is_message = line.kind == "user" || line.kind == "assistant";
        match line.message.take() {
            Some(mut message) if is_message && line.is_sidechain == self.is_subagent => {
                if !line.raw_content.is_empty() {
                    message.content.0 = exact_blocks(std::mem::take(&mut line.raw_content))?;
                }
                self.add(&line, message)
            }
            _ => Ok(()),
        }
    }

    /// Records deliveries; a withdrawn message delivered nothing.
    fn record_deliveries(&mut self, line: &mut LineIn<'_>) {
        if line.delivers.is_empty() && line.kind != WITHDRAWN {
            return;
        }
        let key = line.message_uuid.as_deref().unwrap_or_default().to_owned();
        if line.kind == WITHDRAWN {
            let withdrawn = self.deliveries.remove(&key).unwrap_or_default();
            self.loaded.delivered.retain(|id| !withdrawn.contains(id));
            return;
        }
        self.deliveries.entry(key).or_default().extend(line.delivers.iter().cloned());
        self.loaded.delivered.append(&mut line.delivers);
    }

    /// Starts a boundary that lists its messages; boundaries of other agents have no such list.
    fn begin_boundary(&mut self, line: &LineIn<'_>) -> Result<(), TranscriptLineError> {
        let Some(metadata) = line.compact_metadata else { return Ok(()) };
        let boundary: CompactionBoundary = serde_json::from_str(metadata.get())?;
        if boundary.view.is_empty() {
            return Ok(());
        }
        let read =
            |prefix: &serde_json::value::RawValue| serde_json::from_str::<Prefix>(prefix.get());
        let prefix = line.prefix.map(read).transpose()?;
        let prefix = prefix.map(|prefix| (Arc::new(prefix), line.origin.clone()));
        self.loaded.messages.retain(|message| !message.blocks.is_empty());
        self.positions.clear();
        if let Some(earlier) = self.pending.take() {
            earlier.discard(&mut self.loaded);
        }
        self.pending = Some(PendingBoundary::new(boundary, prefix, &self.loaded, self.number));
        if let Some(uuid) = line.uuid.as_deref().and_then(|uuid| uuid.parse().ok()) {
            self.loaded.last_line = Some(uuid);
        }
        self.finish_boundary();
        Ok(())
    }

    fn finish_boundary(&mut self) {
        if let Some(pending) = self.pending.take_if(|pending| pending.is_complete()) {
            pending.apply(&mut self.loaded);
            self.positions.clear();
        }
    }

    /// Completes or discards a pending boundary when a message was read.
    fn update_boundary(&mut self, message: MessageId) {
        let Some(pending) = &mut self.pending else { return };
        if pending.accept(message) {
            return self.finish_boundary();
        }
        if let Some(pending) = self.pending.take() {
            pending.discard(&mut self.loaded);
            self.positions.clear();
        }
    }

    fn drop_thinking(&mut self, line: &LineIn<'_>) -> Result<(), TranscriptLineError> {
        let Some(messages) = line.messages else { return Ok(()) };
        let ids: Vec<MessageId> = serde_json::from_str(messages.get())?;
        for message in self.loaded.messages.iter_mut().filter(|message| ids.contains(&message.id)) {
            let is_thinking = |block: &Block| {
                matches!(block.kind(), BlockKind::Thinking | BlockKind::RedactedThinking)
            };
            message.blocks.retain(|block| !is_thinking(block));
        }
        Ok(())
    }

    /// Replaces the results of a message with what was sent for them.
    fn replace_results(&mut self, key: &str, blocks: Vec<Block>) {
        let Some(message) =
            self.positions.get(key).and_then(|position| self.loaded.messages.get_mut(*position))
        else {
            return;
        };
        replace_results_in(message, blocks);
    }

    fn add(
        &mut self,
        line: &LineIn<'_>,
        message: MessageIn<'_>,
    ) -> Result<(), TranscriptLineError> {
        self.loaded.last_line =
            line.uuid.as_deref().and_then(|uuid| uuid.parse().ok()).or(self.loaded.last_line);
        let key = line
            .message_uuid
            .as_deref()
            .or(if message.role == Role::Assistant { message.id.as_deref() } else { None })
            .or(line.uuid.as_deref())
            .ok_or(TranscriptLineError::NoUuid)?;
        if let Some(position) = self.positions.get(key)
            && let Some(started) = self.loaded.messages.get_mut(*position)
        {
            return merge(started, message);
        }
        let id = line.message_id()?;
        let timestamp = line.time()?;
        let flags = line.flags();
        let response =
            (message.role == Role::Assistant).then(|| line.response(&message)).transpose()?;
        let is_result = |block: &Block| matches!(block.kind(), BlockKind::ToolResult { .. });
        let typed = message.role == Role::User && flags == MessageFlags::default();
        if typed && !message.content.0.iter().any(is_result) {
            let line = u64::try_from(self.number).unwrap_or(u64::MAX);
            self.loaded.user_messages.push(UserMessagePosition {
                message: id,
                at: timestamp,
                line,
                begins: u64::try_from(self.next_begins.max(1)).unwrap_or(line),
            });
        }
        self.positions.insert(key.to_owned(), self.loaded.messages.len());
        self.loaded.messages.push(Message {
            id,
            parent: None,
            timestamp,
            role: message.role,
            blocks: message.content.0,
            flags,
            response,
        });
        self.update_boundary(id);
        Ok(())
    }
}

/// Replaces blocks of a message that have the same kind and id.
pub(super) fn replace_results_in(message: &mut Message, blocks: Vec<Block>) {
    for block in blocks {
        if let Some(old) = message.blocks.iter_mut().find(|old| old.kind() == block.kind()) {
            *old = block;
        }
    }
}

/// The blocks as they were received, with their newlines.
pub(super) fn exact_blocks(texts: Vec<String>) -> Result<Vec<Block>, TranscriptLineError> {
    texts.into_iter().map(|text| Ok(Block::from_json(text)?)).collect()
}

/// Adds a further line to a message: more blocks, newer token counts.
pub(super) fn merge(
    started: &mut Message,
    mut more: MessageIn<'_>,
) -> Result<(), TranscriptLineError> {
    let usage = more.usage()?;
    started.blocks.append(&mut more.content.0);
    if let Some(response) = &mut started.response {
        response.usage = response.usage.updated(usage);
        if let Some(reason) = more.stop_reason {
            response.stop_reason = Some(StopReason::from_wire(&reason));
        }
    }
    Ok(())
}
