//! Writing a transcript: one writer per session, one line per write.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

use dormouse_base::{
    AgentId, AppendFile, AppendTail, Clock, Dir, FileAction, FileError, IdSource, Lock, LockError,
    MessageId, RelPath, SessionId, UnterminatedLine, fault,
};

use super::boundary::{BOUNDARY, BOUNDARY_TEXT, CompactionBoundary, SNIP};
use super::compaction_record::CompactionRecord;
use super::envelope::{LineEnvelope, LineNotes, MessageHeader};
use super::error::TranscriptError;
use super::format::{LineBody, LineOut, MessageOut, format_timestamp};
use super::loaded::{LoadedTranscript, TranscriptWarning};
use super::read::{load_subagent_transcript, load_transcript};
use super::record_kind::RecordKind;
use super::rewound::RewindMark;
use super::sessions::{
    lock_file, session_file, session_folder, side_chains, side_file, side_folder,
};
use crate::block::Block;
use crate::facts::EnvironmentFacts;
use crate::message::{Message, Role, StopReason};
use crate::prefix::{Prefix, PrefixOrigin};
use crate::skill::UsedSkill;

/// How much of a torn line is kept.
const MAX_TORN_BYTES: usize = 1024 * 1024;

/// How many started messages are remembered.
const REMEMBERED_MESSAGES: usize = 4;

/// The open transcript of a session.
pub struct Transcript {
    file: AppendFile,
    /// The folder of the session or subagent: the lock, stored results.
    folder: Dir,
    _lock: Lock,
    session: SessionId,
    /// The subagent, if it is a subagent's transcript.
    agent: Option<AgentId>,
    envelope: LineEnvelope,
    last_line: Option<MessageId>,
    /// The newest messages with at least one line. Lines of two messages may alternate (a call runs while
    /// the response still streams), lines of more than two do not.
    started: VecDeque<MessageId>,
    lines: u64,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdSource>,
}

/// The owner of a transcript, with its folder and lock.
struct Owner {
    folder: Dir,
    lock: Lock,
    session: SessionId,
    agent: Option<AgentId>,
}

impl Transcript {
    /// Starts the transcript of a session in the project's folder.
    pub fn create(
        dir: &Dir,
        session: SessionId,
        envelope: LineEnvelope,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn IdSource>,
    ) -> Result<Self, TranscriptError> {
        let owner = Owner::of_session(dir, session)?;
        let (file, _) = AppendFile::open(dir, &session_file(session), UnterminatedLine::Discard)?;
        Ok(Self::new(file, owner, envelope, clock, ids))
    }

    /// Starts the transcript of a subagent, in the session's folder.
    pub fn create_subagent(
        session_folder: &Dir,
        session: SessionId,
        agent: AgentId,
        envelope: LineEnvelope,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn IdSource>,
    ) -> Result<Self, TranscriptError> {
        let dir = session_folder.create_folder(&side_chains())?;
        let folder = dir.create_folder(&side_folder(agent))?;
        let lock = lock_in(&folder, session)?;
        let (file, _) = AppendFile::open(&dir, &side_file(agent), UnterminatedLine::Discard)?;
        let owner = Owner { folder, lock, session, agent: Some(agent) };
        Ok(Self::new(file, owner, envelope, clock, ids))
    }

    fn new(
        file: AppendFile,
        owner: Owner,
        envelope: LineEnvelope,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn IdSource>,
    ) -> Self {
        Self {
            file,
            folder: owner.folder,
            _lock: owner.lock,
            session: owner.session,
            agent: owner.agent,
            envelope,
            last_line: None,
            started: VecDeque::new(),
            lines: 0,
            clock,
            ids,
        }
    }

    /// Opens the transcript of a session to continue it, and loads its content.
    pub fn resume(
        dir: &Dir,
        session: SessionId,
        envelope: LineEnvelope,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn IdSource>,
    ) -> Result<(Self, LoadedTranscript), TranscriptError> {
        let path = session_file(session);
        let missing = |error: FileError| {
            if error.is_not_found() { TranscriptError::Missing(session) } else { error.into() }
        };
        dir.open_file(&path).map_err(missing)?;
        let owner = Owner::of_session(dir, session)?;
        Self::reopen((dir, &path), owner, load_transcript, (envelope, clock, ids))
    }

    /// The same for the transcript of a subagent, in the session's folder.
    pub fn resume_subagent(
        session_folder: &Dir,
        session: SessionId,
        agent: AgentId,
        envelope: LineEnvelope,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn IdSource>,
    ) -> Result<(Self, LoadedTranscript), TranscriptError> {
        let dir = session_folder.open_folder(&side_chains())?;
        let folder = dir.open_folder(&side_folder(agent))?;
        let lock = lock_in(&folder, session)?;
        let owner = Owner { folder, lock, session, agent: Some(agent) };
        let place = (&dir, &side_file(agent));
        Self::reopen(place, owner, load_subagent_transcript, (envelope, clock, ids))
    }

    fn reopen(
        (dir, path): (&Dir, &RelPath),
        owner: Owner,
        load: fn(&[u8]) -> LoadedTranscript,
        (envelope, clock, ids): (LineEnvelope, Arc<dyn Clock>, Arc<dyn IdSource>),
    ) -> Result<(Self, LoadedTranscript), TranscriptError> {
        let bytes = dir.read(path)?;
        let loaded = load(&bytes);
        let torn = matches!(loaded.warnings.last(), Some(TranscriptWarning::Torn { .. }));
        let lacks_newline = !torn && bytes.last().is_some_and(|byte| *byte != b'\n');
        let unterminated =
            if lacks_newline { UnterminatedLine::AddNewline } else { UnterminatedLine::Discard };
        let (file, tail) = AppendFile::open(dir, path, unterminated)?;
        let started = newest(&loaded);
        let mut transcript = Self {
            last_line: loaded.last_line,
            lines: loaded.lines,
            started,
            ..Self::new(file, owner, envelope, clock, ids)
        };
        transcript.record_torn(tail)?;
        Ok((transcript, loaded))
    }

    /// Keeps the remains of a torn line as text.
    fn record_torn(&mut self, tail: AppendTail) -> Result<(), TranscriptError> {
        let AppendTail::Torn(bytes) = tail else { return Ok(()) };
        let kept = bytes.get(..MAX_TORN_BYTES).unwrap_or(&bytes);
        self.write(RecordKind::TornLine, LineBody::Torn { text: &String::from_utf8_lossy(kept) })
    }

    /// The number of lines.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// The id of the session.
    pub fn session(&self) -> SessionId {
        self.session
    }

    /// The folder for other files of the session or subagent.
    pub fn session_folder(&self) -> &Dir {
        &self.folder
    }

    /// The path of the transcript.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Writes a complete message in one line.
    pub fn record_message(&mut self, message: &Message) -> Result<(), TranscriptError> {
        self.record_blocks(MessageHeader::of(message), &message.blocks)
    }

    /// Writes blocks of a message, as they complete.
    pub fn record_blocks(
        &mut self,
        header: MessageHeader<'_>,
        blocks: &[Block],
    ) -> Result<(), TranscriptError> {
        self.record_noted(header, blocks, LineNotes::default())
    }

    /// Writes the final token counts of a response: a line without content, for tools that read the last
    /// line of a message.
    pub fn record_response_end(
        &mut self,
        header: MessageHeader<'_>,
    ) -> Result<(), TranscriptError> {
        self.record_blocks(header, &[])
    }

    /// Writes blocks of a message, with what only the transcript is to know about them.
    pub fn record_noted(
        &mut self,
        header: MessageHeader<'_>,
        blocks: &[Block],
        notes: LineNotes<'_>,
    ) -> Result<(), TranscriptError> {
        let response = header.response;
        let has_newlines = blocks.iter().any(Block::has_newlines);
        let single_line: Vec<Block> = if has_newlines {
            blocks.iter().map(Block::to_single_line).collect()
        } else {
            Vec::new()
        };
        let message = MessageOut {
            id: response.map(|response| response.id.as_str()),
            kind: response.map(|_| "message"),
            role: header.role,
            model: response.map(|response| response.model.as_str()),
            content: if has_newlines { &single_line } else { blocks },
            stop_reason: response
                .and_then(|response| response.stop_reason.as_ref())
                .map(StopReason::as_str),
            usage: response.map(|response| response.usage),
        };
        let body = LineBody::Message {
            request_id: response.and_then(|response| response.request_id.as_deref()),
            message,
            raw_content: if has_newlines {
                blocks.iter().map(Block::raw).collect()
            } else {
                Vec::new()
            },
            delivers: notes.delivers,
            recalled: notes.recalled,
        };
        let kind = match header.role {
            Role::User => RecordKind::User,
            Role::Assistant => RecordKind::Assistant,
        };
        // The first line of a message has the id of the message, the others have their own.
        let is_first = !self.started.contains(&header.message);
        let uuid = if is_first { header.message } else { MessageId::generate(&*self.ids) };
        let flags = header.flags;
        let line = LineOut {
            uuid,
            message_uuid: Some(header.message),
            is_sidechain: flags.side_chain || self.agent.is_some(),
            is_meta: flags.meta,
            is_compact_summary: flags.compact_summary,
            is_attachment: flags.attachment,
            ..self.line(kind, uuid, body)
        };
        let line = serde_json::to_vec(&line)?;
        self.append(&line)?;
        self.last_line = Some(uuid);
        if is_first {
            self.started.truncate(REMEMBERED_MESSAGES - 1);
            self.started.push_front(header.message);
        }
        Ok(())
    }

    /// Withdraws a message: its response broke off and is requested again.
    pub fn record_withdrawn(&mut self, message: MessageId) -> Result<(), TranscriptError> {
        self.write_about(message, RecordKind::Withdrawn, LineBody::Empty {})
    }

    /// Writes how much the server cleared by itself before it answered with a message.
    pub fn record_server_clearing(
        &mut self,
        answer: MessageId,
        cleared_tokens: u64,
    ) -> Result<(), TranscriptError> {
        let body = LineBody::ServerClearing { cleared_tokens };
        self.write_about(answer, RecordKind::ServerClearing, body)
    }

    /// Writes the blocks that are sent instead of stored results of a message.
    pub fn record_stored(
        &mut self,
        message: MessageId,
        blocks: &[Block],
    ) -> Result<(), TranscriptError> {
        let out = MessageOut {
            id: None,
            kind: None,
            role: Role::User,
            model: None,
            content: blocks,
            stop_reason: None,
            usage: None,
        };
        let body = LineBody::Message {
            request_id: None,
            message: out,
            raw_content: Vec::new(),
            delivers: &[],
            recalled: &[],
        };
        self.write_about(message, RecordKind::StoredResult, body)
    }

    /// Writes that the thinking in these messages is no longer sent.
    pub fn record_thinking_dropped(
        &mut self,
        messages: &[MessageId],
    ) -> Result<(), TranscriptError> {
        self.write(RecordKind::ThinkingDropped, LineBody::ThinkingDropped { messages })
    }

    /// Writes a compaction: the boundary with the rebuilt prefix, then the messages that it adds.
    pub fn record_boundary(
        &mut self,
        boundary: &CompactionBoundary,
        prefix: &Prefix,
        origin: &PrefixOrigin,
        messages: &[Message],
    ) -> Result<(), TranscriptError> {
        let uuid = MessageId::generate(&*self.ids);
        let body = LineBody::Boundary {
            prefix,
            origin,
            subtype: BOUNDARY,
            content: BOUNDARY_TEXT,
            logical_parent_uuid: self.last_line,
            compact_metadata: boundary,
        };
        let line = LineOut { parent_uuid: None, ..self.line(RecordKind::System, uuid, body) };
        let line = serde_json::to_vec(&line)?;
        self.append(&line)?;
        self.last_line = Some(uuid);
        self.record_added(messages)
    }

    /// Writes that the oldest messages are dropped, then the marker in their place.
    pub fn record_snip(
        &mut self,
        boundary: &CompactionBoundary,
        messages: &[Message],
    ) -> Result<(), TranscriptError> {
        self.write(
            RecordKind::System,
            LineBody::Snip { subtype: SNIP, compact_metadata: boundary },
        )?;
        self.record_added(messages)
    }

    fn record_added(&mut self, messages: &[Message]) -> Result<(), TranscriptError> {
        messages.iter().try_for_each(|message| {
            // A process that dies here leaves an incomplete boundary.
            fault::point("transcript.boundary")
                .map_err(|error| FileError::new(FileAction::Write, "fault", error))?;
            self.record_message(message)
        })
    }

    /// Writes a new prefix and the model that it was built for.
    pub fn record_prefix(
        &mut self,
        prefix: &Prefix,
        origin: &PrefixOrigin,
    ) -> Result<(), TranscriptError> {
        self.write(RecordKind::Prefix, LineBody::Prefix { prefix, origin })
    }

    /// Writes environment facts that were just announced to the model.
    pub fn record_facts(&mut self, facts: &EnvironmentFacts) -> Result<(), TranscriptError> {
        self.write(RecordKind::Facts, LineBody::Facts { facts })
    }

    /// Writes what compaction remembers from here on.
    pub fn record_compaction(&mut self, record: CompactionRecord) -> Result<(), TranscriptError> {
        self.write(RecordKind::CompactionRecord, LineBody::Compaction { compaction_record: record })
    }

    /// Writes that a skill was used, with its text.
    pub fn record_skill(&mut self, skill: &UsedSkill) -> Result<(), TranscriptError> {
        self.write(RecordKind::Skill, LineBody::Skill { skill })
    }

    /// Goes back to before a message: later lines stay in the file and are not part of the conversation any more. Returns
    /// the transcript as it is read from now on.
    pub fn rewind(&mut self, rewind: RewindMark) -> Result<LoadedTranscript, TranscriptError> {
        self.write(RecordKind::Rewind, LineBody::Rewind { rewind })?;
        self.sync()?;
        let path = self.path();
        let bytes =
            std::fs::read(path).map_err(|error| FileError::new(FileAction::Read, path, error))?;
        let loaded = load_transcript(&bytes);
        self.last_line = loaded.last_line;
        self.started = newest(&loaded);
        Ok(loaded)
    }

    /// Flushes the file to disk.
    pub fn sync(&self) -> Result<(), TranscriptError> {
        Ok(self.file.sync()?)
    }

    /// Writes a line that is not part of the conversation.
    fn write(&mut self, kind: RecordKind, body: LineBody<'_>) -> Result<(), TranscriptError> {
        let line = serde_json::to_vec(&self.line(kind, MessageId::generate(&*self.ids), body))?;
        self.append(&line)
    }

    /// Writes a line about a message.
    fn write_about(
        &mut self,
        message: MessageId,
        kind: RecordKind,
        body: LineBody<'_>,
    ) -> Result<(), TranscriptError> {
        let uuid = MessageId::generate(&*self.ids);
        let line = LineOut { message_uuid: Some(message), ..self.line(kind, uuid, body) };
        let line = serde_json::to_vec(&line)?;
        self.append(&line)
    }

    fn append(&mut self, line: &[u8]) -> Result<(), TranscriptError> {
        self.file.append(line)?;
        self.lines += 1;
        Ok(())
    }

    fn line<'a>(&'a self, kind: RecordKind, uuid: MessageId, body: LineBody<'a>) -> LineOut<'a> {
        LineOut {
            kind: kind.name(),
            uuid,
            parent_uuid: self.last_line,
            message_uuid: None,
            session_id: self.session,
            timestamp: format_timestamp(self.clock.now()),
            cwd: &self.envelope.folder,
            version: &self.envelope.version,
            git_branch: &self.envelope.git_branch,
            is_sidechain: self.agent.is_some(),
            agent_id: self.agent,
            is_meta: false,
            is_compact_summary: false,
            is_attachment: false,
            body,
        }
    }
}

/// The newest messages of a transcript, to which lines may still be added.
fn newest(loaded: &LoadedTranscript) -> VecDeque<MessageId> {
    loaded.messages.iter().rev().take(REMEMBERED_MESSAGES).map(|message| message.id).collect()
}

impl Owner {
    /// Takes the lock of a session, in the folder of the session.
    fn of_session(dir: &Dir, session: SessionId) -> Result<Self, TranscriptError> {
        let folder = dir.create_folder(&session_folder(session))?;
        let lock = lock_in(&folder, session)?;
        Ok(Self { folder, lock, session, agent: None })
    }
}

/// Fails if another process has the session open.
pub fn check_not_open(dir: &Dir, session: SessionId) -> Result<(), TranscriptError> {
    Owner::of_session(dir, session).map(drop)
}

fn lock_in(folder: &Dir, session: SessionId) -> Result<Lock, TranscriptError> {
    Lock::try_acquire(folder, &lock_file()).map_err(|error| match error {
        held @ LockError::Held { .. } => TranscriptError::InUse { session, source: held },
        LockError::File(error) => error.into(),
    })
}
