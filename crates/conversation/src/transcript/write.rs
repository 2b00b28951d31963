//! Writing a transcript: one writer a session, one line a write.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

use dormouse_base::{
    AgentId, AppendError, AppendFile, AppendTail, Clock, Dir, FileAction, FileError, IdSource,
    Lock, LockError, MessageId, SessionId, UnterminatedLine, fault,
};
use thiserror::Error;

use super::boundary::{BOUNDARY, BOUNDARY_TEXT, CompactionBoundary, SNIP};
use super::format::{LineOut, MessageOut, STORED, UNTHOUGHT, WITHDRAWN, format_timestamp};
use super::read::{LoadedTranscript, TranscriptWarning, load_transcript};
use super::sessions::{
    lock_file, session_file, session_folder, side_chains, side_file, side_folder,
};
use crate::{
    Block, EnvironmentFacts, Message, MessageFlags, Prefix, PrefixOrigin, Response, Role,
    StopReason, UsedSkill,
};

/// A transcript that can not be opened or written.
#[derive(Debug, Error)]
pub enum TranscriptError {
    /// Another process writes it.
    #[error("session {session} is open elsewhere: {source}")]
    InUse {
        /// The session.
        session: SessionId,
        /// Who holds it.
        source: LockError,
    },
    /// There is no such file.
    #[error("there is no session {0} in this project; `dormouse sessions` lists those there are")]
    Missing(SessionId),
    /// The disk refused; the file is as it was.
    #[error("the transcript could not be written: {0}")]
    Append(#[from] AppendError),
    /// The disk refused.
    #[error(transparent)]
    File(#[from] FileError),
    /// A line that can not be put into JSON.
    #[error("a transcript line could not be encoded: {0}")]
    Encode(#[from] serde_json::Error),
}

/// What every line says about where it was written.
#[derive(Debug, Clone)]
pub struct LineEnvelope {
    /// The working directory.
    pub folder: String,
    /// The program's version.
    pub version: String,
    /// The git branch, if there is one.
    pub git_branch: String,
}

/// Whose block a line holds, and of which message.
#[derive(Debug, Clone, Copy)]
pub struct MessageHeader<'a> {
    /// The message that the block is part of.
    pub message: MessageId,
    /// Who speaks.
    pub role: Role,
    /// The message's marks.
    pub flags: MessageFlags,
    /// For the model's blocks: what is known of the response so far.
    pub response: Option<&'a Response>,
}

impl<'a> MessageHeader<'a> {
    /// The author of a whole message.
    pub fn of(message: &'a Message) -> Self {
        Self {
            message: message.id,
            role: message.role,
            flags: message.flags,
            response: message.response.as_ref(),
        }
    }
}

/// As much of a torn line is kept: what a crash leaves is shorter, what is longer is noise.
const LONGEST_TORN: usize = 1024 * 1024;

/// How many begun messages are remembered.
const REMEMBERED: usize = 4;

/// The open transcript of a session.
pub struct Transcript {
    file: AppendFile,
    /// The session's own folder: the lock, stored results.
    own: Dir,
    _lock: Lock,
    session: SessionId,
    /// Whose side chain it is; none for the conversation itself.
    agent: Option<AgentId>,
    envelope: LineEnvelope,
    last_line: Option<MessageId>,
    /// The newest messages whose first line is written. Lines of two may alternate (a call runs while
    /// the answer still streams), those of more than two do not.
    begun: VecDeque<MessageId>,
    /// How many lines it has.
    lines: u64,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdSource>,
}

/// Whose a transcript is, and what belongs to it beside.
struct Belongs {
    own: Dir,
    lock: Lock,
    session: SessionId,
    agent: Option<AgentId>,
}

impl Transcript {
    /// Begins a session in the project's folder.
    pub fn create(
        dir: &Dir,
        session: SessionId,
        envelope: LineEnvelope,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn IdSource>,
    ) -> Result<Self, TranscriptError> {
        let (own, lock) = take_lock(dir, session)?;
        let (file, _) = AppendFile::open(dir, &session_file(session), UnterminatedLine::Discard)?;
        let belongs = Belongs { own, lock, session, agent: None };
        Ok(Self::empty(file, belongs, envelope, (clock, ids)))
    }

    /// Begins the side chain of an agent below a session, in that session's own folder.
    pub fn create_subagent(
        session_folder: &Dir,
        session: SessionId,
        agent: AgentId,
        envelope: LineEnvelope,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn IdSource>,
    ) -> Result<Self, TranscriptError> {
        let dir = session_folder.create_folder(&side_chains())?;
        let own = dir.create_folder(&side_folder(agent))?;
        let lock = lock_in(&own, session)?;
        let (file, _) = AppendFile::open(&dir, &side_file(agent), UnterminatedLine::Discard)?;
        let belongs = Belongs { own, lock, session, agent: Some(agent) };
        Ok(Self::empty(file, belongs, envelope, (clock, ids)))
    }

    /// One without lines.
    fn empty(
        file: AppendFile,
        Belongs { own, lock, session, agent }: Belongs,
        envelope: LineEnvelope,
        (clock, ids): (Arc<dyn Clock>, Arc<dyn IdSource>),
    ) -> Self {
        let (last_line, begun, lines) = (None, VecDeque::new(), 0);
        Self {
            file,
            own,
            _lock: lock,
            session,
            agent,
            envelope,
            last_line,
            begun,
            lines,
            clock,
            ids,
        }
    }

    /// Opens a session to go on with it, and reads what it holds.
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
        let (own, lock) = take_lock(dir, session)?;
        let bytes = dir.read(&path)?;
        let loaded = load_transcript(&bytes);
        let torn = matches!(loaded.warnings.last(), Some(TranscriptWarning::Torn { .. }));
        let whole = !torn && bytes.last().is_some_and(|byte| *byte != b'\n');
        let unended = if whole { UnterminatedLine::AddNewline } else { UnterminatedLine::Discard };
        let (file, tail) = AppendFile::open(dir, &path, unended)?;
        let begun =
            loaded.messages.iter().rev().take(REMEMBERED).map(|message| message.id).collect();
        let (last_line, lines) = (loaded.last_line, loaded.lines);
        let mut transcript = Self {
            file,
            own,
            _lock: lock,
            session,
            agent: None,
            envelope,
            last_line,
            begun,
            lines,
            clock,
            ids,
        };
        transcript.mend(tail)?;
        Ok((transcript, loaded))
    }

    /// What a crash left of a line is kept as text, so that not even that is lost.
    fn mend(&mut self, tail: AppendTail) -> Result<(), TranscriptError> {
        let AppendTail::Torn(bytes) = tail else { return Ok(()) };
        let kept = bytes.get(..LONGEST_TORN).unwrap_or(&bytes);
        let text = String::from_utf8_lossy(kept);
        let line =
            LineOut { text: Some(&text), ..self.line("torn-line", None, MessageFlags::default()) };
        let line = serde_json::to_vec(&line)?;
        self.append(&line)
    }

    fn append(&mut self, line: &[u8]) -> Result<(), TranscriptError> {
        self.file.append(line)?;
        self.lines += 1;
        Ok(())
    }

    /// How many lines it has: the number of the one that was written last.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// The session.
    pub fn session(&self) -> SessionId {
        self.session
    }

    /// The session's own folder, for what belongs to it beside the transcript.
    pub fn session_folder(&self) -> &Dir {
        &self.own
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Writes a message whole, in one line.
    pub fn record_message(&mut self, message: &Message) -> Result<(), TranscriptError> {
        self.record_blocks(MessageHeader::of(message), &message.blocks)
    }

    /// Writes blocks of a message, as they complete.
    pub fn record_blocks(
        &mut self,
        author: MessageHeader<'_>,
        blocks: &[Block],
    ) -> Result<(), TranscriptError> {
        self.write_message(author, blocks, &[])
    }

    /// Writes blocks that tell what came from outside, and in the same line the ids of what came: whoever sent it knows
    /// by these that it has arrived.
    pub fn record_incoming(
        &mut self,
        author: MessageHeader<'_>,
        blocks: &[Block],
        delivers: &[String],
    ) -> Result<(), TranscriptError> {
        self.write_message(author, blocks, delivers)
    }

    /// Writes the final counters of a response: a line without content, which tools that keep the
    /// last line of a message count right.
    pub fn record_response_end(
        &mut self,
        author: MessageHeader<'_>,
    ) -> Result<(), TranscriptError> {
        self.write_message(author, &[], &[])
    }

    fn write_message(
        &mut self,
        author: MessageHeader<'_>,
        blocks: &[Block],
        delivers: &[String],
    ) -> Result<(), TranscriptError> {
        let response = author.response;
        let unfit = blocks.iter().any(Block::has_newlines);
        let flat: Vec<Block> =
            if unfit { blocks.iter().map(Block::to_single_line).collect() } else { Vec::new() };
        let message = MessageOut {
            id: response.map(|response| response.id.as_str()),
            kind: response.map(|_| "message"),
            role: author.role,
            model: response.map(|response| response.model.as_str()),
            content: if unfit { &flat } else { blocks },
            stop_reason: response
                .and_then(|response| response.stop_reason.as_ref())
                .map(StopReason::as_str),
            usage: response.map(|response| response.usage),
        };
        let kind = match author.role {
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        let line = LineOut {
            message: Some(message),
            raw_content: if unfit { blocks.iter().map(Block::raw).collect() } else { Vec::new() },
            request_id: response.and_then(|response| response.request_id.as_deref()),
            delivers,
            ..self.line(kind, Some(author.message), author.flags)
        };
        let (uuid, line) = (line.uuid, serde_json::to_vec(&line)?);
        self.append(&line)?;
        self.last_line = Some(uuid);
        if !self.begun.contains(&author.message) {
            self.begun.truncate(REMEMBERED - 1);
            self.begun.push_front(author.message);
        }
        Ok(())
    }

    /// Writes that what was written of a message does not count: its answer broke off and was asked
    /// for again.
    pub fn record_withdrawn(&mut self, message: MessageId) -> Result<(), TranscriptError> {
        let line =
            serde_json::to_vec(&self.line(WITHDRAWN, Some(message), MessageFlags::default()))?;
        self.append(&line)
    }

    /// Writes that results of a message were stored: these blocks are sent in their place.
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
        let line = LineOut {
            message: Some(out),
            ..self.line(STORED, Some(message), MessageFlags::default())
        };
        let line = serde_json::to_vec(&line)?;
        self.append(&line)
    }

    /// Writes that the thinking in these messages is not sent any more.
    pub fn record_thinking_dropped(
        &mut self,
        messages: &[MessageId],
    ) -> Result<(), TranscriptError> {
        let line = LineOut { messages, ..self.line(UNTHOUGHT, None, MessageFlags::default()) };
        let line = serde_json::to_vec(&line)?;
        self.append(&line)
    }

    /// Writes a compaction: the boundary with the prefix that was built anew, then the messages that are new
    /// with it.
    pub fn record_boundary(
        &mut self,
        boundary: &CompactionBoundary,
        prefix: &Prefix,
        origin: &PrefixOrigin,
        messages: &[Message],
    ) -> Result<(), TranscriptError> {
        let line = LineOut {
            subtype: Some(BOUNDARY),
            content: Some(BOUNDARY_TEXT),
            logical_parent_uuid: self.last_line,
            parent_uuid: None,
            compact_metadata: Some(boundary),
            prefix: Some(prefix),
            origin: Some(origin),
            ..self.line("system", None, MessageFlags::default())
        };
        let (uuid, line) = (line.uuid, serde_json::to_vec(&line)?);
        self.append(&line)?;
        self.last_line = Some(uuid);
        self.record_new_with(messages)
    }

    /// Writes that the oldest messages are left out, then the marker in their place.
    pub fn record_snip(
        &mut self,
        boundary: &CompactionBoundary,
        messages: &[Message],
    ) -> Result<(), TranscriptError> {
        let line = LineOut {
            subtype: Some(SNIP),
            compact_metadata: Some(boundary),
            ..self.line("system", None, MessageFlags::default())
        };
        let line = serde_json::to_vec(&line)?;
        self.append(&line)?;
        self.record_new_with(messages)
    }

    fn record_new_with(&mut self, messages: &[Message]) -> Result<(), TranscriptError> {
        messages.iter().try_for_each(|message| {
            // A process that dies here leaves a boundary behind that lacks its messages.
            fault::point("transcript.boundary")
                .map_err(|error| FileError::new(FileAction::Write, "fault", error))?;
            self.record_message(message)
        })
    }

    /// Writes a prefix that was just built, and for which model.
    pub fn record_prefix(
        &mut self,
        prefix: &Prefix,
        origin: &PrefixOrigin,
    ) -> Result<(), TranscriptError> {
        let line = LineOut {
            prefix: Some(prefix),
            origin: Some(origin),
            ..self.line("prefix", None, MessageFlags::default())
        };
        let line = serde_json::to_vec(&line)?;
        self.append(&line)
    }

    /// Writes what the model has just been told about the world.
    pub fn record_facts(&mut self, facts: &EnvironmentFacts) -> Result<(), TranscriptError> {
        let line =
            LineOut { facts: Some(facts), ..self.line("facts", None, MessageFlags::default()) };
        let line = serde_json::to_vec(&line)?;
        self.append(&line)
    }

    /// Writes that a skill was used, and what the model was told of it.
    pub fn record_skill(&mut self, skill: &UsedSkill) -> Result<(), TranscriptError> {
        let line =
            LineOut { skill: Some(skill), ..self.line("skill", None, MessageFlags::default()) };
        let line = serde_json::to_vec(&line)?;
        self.append(&line)
    }

    /// Makes what was written survive a loss of power.
    pub fn sync(&self) -> Result<(), TranscriptError> {
        Ok(self.file.sync()?)
    }

    fn line(
        &self,
        kind: &'static str,
        message: Option<MessageId>,
        flags: MessageFlags,
    ) -> LineOut<'_> {
        // The first line of a message bears its id, all others get one of their own.
        let speaks = kind == "user" || kind == "assistant";
        let uuid = match message {
            Some(id) if speaks && !self.begun.contains(&id) => id,
            _ => MessageId::generate(&*self.ids),
        };
        LineOut {
            kind,
            uuid,
            parent_uuid: self.last_line,
            message_uuid: message,
            session_id: self.session,
            timestamp: format_timestamp(self.clock.now()),
            cwd: &self.envelope.folder,
            version: &self.envelope.version,
            git_branch: &self.envelope.git_branch,
            is_sidechain: flags.side_chain || self.agent.is_some(),
            agent_id: self.agent,
            is_meta: flags.meta,
            is_compact_summary: flags.compact_summary,
            is_attachment: flags.attachment,
            request_id: None,
            skill: None,
            message: None,
            raw_content: Vec::new(),
            prefix: None,
            origin: None,
            facts: None,
            text: None,
            subtype: None,
            content: None,
            logical_parent_uuid: None,
            compact_metadata: None,
            messages: &[],
            delivers: &[],
        }
    }
}

fn lock_in(own: &Dir, session: SessionId) -> Result<Lock, TranscriptError> {
    Lock::try_acquire(own, &lock_file()).map_err(|error| match error {
        held @ LockError::Held { .. } => TranscriptError::InUse { session, source: held },
        LockError::File(error) => error.into(),
    })
}

/// The lock stands in the session's own folder, beside what else belongs to the session.
fn take_lock(dir: &Dir, session: SessionId) -> Result<(Dir, Lock), TranscriptError> {
    let own = dir.create_folder(&session_folder(session))?;
    let lock = lock_in(&own, session)?;
    Ok((own, lock))
}
