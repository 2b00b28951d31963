//! Going back to before one of the user's messages: files, conversation or both.
//!
//! Invariant: a rewind takes effect completely or not at all. Its journal is written first; a session that is opened with one
//! finishes what it names.

use std::time::{Duration, SystemTime};

use dormouse_base::{Dir, FileAction, FileError, MessageId};
use dormouse_checkpoint::{
    CheckpointError, ContentStore, LoggedChange, LoggedTurn, Rewind, RewindPlan, RewindReport,
    RewindRequest, RewindScope, RewindTarget, load_log, net_changes, remove_old_checkpoints,
};
use dormouse_context::compact::user_text_in;
use dormouse_conversation::transcript::{
    LoadedTranscript, RewindMark, Transcript, load_transcript,
};

use crate::compact::CompactionState;
use crate::config::EngineConfig;
use crate::config::services::Services;
use crate::conversation::Conversation;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::event::EngineEvent;
use crate::event_sink::{EventSink, TurnContext};
use crate::jobs::AGENT_JOB;
use crate::recall::RecallState;
use crate::resume::repair;
use crate::session::OpenedSession;

/// A place in a session that can be gone back to.
#[derive(Debug, Clone)]
pub struct RewindPoint {
    /// Where it is.
    pub target: RewindTarget,
    /// The user's message, without attachments; none for an earlier rewind, which can be taken back.
    pub text: Option<String>,
    /// What changed from here up to the next point.
    pub changes: Vec<LoggedChange>,
    /// How long listing files took for the commands from here up to the next point.
    pub listing: Duration,
}

/// What a rewind did.
#[derive(Debug, Default)]
pub struct RewindOutcome {
    /// What it did to files.
    pub files: RewindReport,
    /// The message that was taken back, to be edited and sent again; none if the conversation stays.
    pub prompt: Option<String>,
}

impl RewindPoint {
    fn new(target: RewindTarget, text: Option<String>) -> Self {
        Self { target, text, changes: Vec::new(), listing: Duration::ZERO }
    }
}

impl OpenedSession {
    /// The places that can be gone back to, the oldest first.
    pub fn rewind_points(&self) -> Result<Vec<RewindPoint>, EngineError> {
        Ok(points(&self.loaded, &turns(&self.transcript)?))
    }

    /// What going back there would do to files.
    pub fn rewind_plan(
        &self,
        target: RewindTarget,
        checkout: &std::path::Path,
    ) -> Result<RewindPlan, EngineError> {
        Ok(RewindPlan::make(&turns(&self.transcript)?, target.line, Some(checkout))?)
    }

    /// The contents that checkpoints have kept; none if there are no checkpoints.
    pub fn checkpoint_contents(&self) -> Option<ContentStore> {
        ContentStore::of_session(self.transcript.session_folder())
    }

    /// Goes back.
    pub fn rewind(
        &mut self,
        request: RewindRequest,
        plan: &RewindPlan,
        services: &Services,
    ) -> Result<RewindOutcome, EngineError> {
        let prompt = prompt_of(&self.loaded, request);
        let id = MessageId::generate(&*services.ids);
        let transcript = &mut self.transcript;
        let rewind = begin(transcript, plan, request, id)?;
        let (files, loaded) = carry_out(transcript, rewind, &self.loaded.rewinds)?;
        if let Some(loaded) = loaded {
            self.loaded = loaded;
        }
        Ok(RewindOutcome { files, prompt })
    }

    /// Finishes a rewind that a crash cut off.
    pub(crate) fn finish_interrupted_rewind(&mut self) -> Result<(), EngineError> {
        if let Some(rewind) = Rewind::interrupted(self.transcript.session_folder())? {
            let (report, loaded) = carry_out(&mut self.transcript, rewind, &self.loaded.rewinds)?;
            if let Some(loaded) = loaded {
                self.loaded = loaded;
            }
            self.finished_rewind = Some(report);
        }
        Ok(())
    }

    /// What finishing a rewind that a crash had cut off did; none if there was none.
    pub fn finished_rewind(&self) -> Option<&RewindReport> {
        self.finished_rewind.as_ref()
    }
}

/// Going back within an open session, between two turns.
pub struct SessionRewind<'e> {
    /// The session.
    pub engine: &'e mut Engine,
}

impl SessionRewind<'_> {
    /// The places that can be gone back to, the oldest first.
    pub fn points(&self) -> Result<Vec<RewindPoint>, EngineError> {
        let transcript = &self.engine.conversation.transcript;
        Ok(points(&load(transcript)?, &turns(transcript)?))
    }

    /// What going back there would do to files.
    pub fn plan(&self, target: RewindTarget) -> Result<RewindPlan, EngineError> {
        let checkout = &self.engine.config.project.checkout;
        let turns = turns(&self.engine.conversation.transcript)?;
        Ok(RewindPlan::make(&turns, target.line, Some(checkout))?)
    }

    /// The contents that checkpoints have kept; none if there are no checkpoints.
    pub fn contents(&self) -> Option<ContentStore> {
        ContentStore::of_session(self.engine.conversation.transcript.session_folder())
    }

    /// Goes back.
    pub fn go_back(
        &mut self,
        request: RewindRequest,
        plan: &RewindPlan,
    ) -> Result<RewindOutcome, EngineError> {
        if self.engine.tool_state.has_running_shells() {
            return Err(EngineError::StillWriting("a command in the background"));
        }
        if self.engine.jobs.is_running(AGENT_JOB) {
            return Err(EngineError::StillWriting("a subagent in the background"));
        }
        self.engine.conversation.write_pending()?;
        let transcript = &mut self.engine.conversation.transcript;
        let before = load(transcript)?;
        let prompt = prompt_of(&before, request);
        let id = MessageId::generate(&*self.engine.config.services.ids);
        let rewind = begin(transcript, plan, request, id)?;
        let (files, loaded) = carry_out(transcript, rewind, &before.rewinds)?;
        // Files that were read may be others now.
        self.engine.tool_state.forget_files();
        match loaded {
            Some(loaded) => self.continue_from(loaded)?,
            None => self.engine.hooks.add_notes(files_note(&files)),
        }
        if request.scope == RewindScope::Conversation {
            self.engine.hooks.add_notes([KEPT_FILES.to_owned()]);
        }
        Ok(RewindOutcome { files, prompt })
    }

    /// The conversation goes on from an earlier point of its transcript.
    fn continue_from(&mut self, loaded: LoadedTranscript) -> Result<(), EngineError> {
        self.engine.compaction = CompactionState::of(&loaded);
        let LoadedTranscript { messages, prefix, facts, skills, .. } = loaded;
        let (history, _) =
            repair(messages, &mut self.engine.conversation.transcript, &self.engine.config)?;
        self.engine.conversation.go_back(prefix, history, facts);
        self.engine.session_tools.skills.restore(skills);
        self.engine.memory.recall = RecallState::default();
        Ok(())
    }
}

/// Removes checkpoints of the project's sessions that are too old to go back to.
pub(crate) fn remove_unneeded_checkpoints(
    sink: &mut EventSink<'_>,
    config: &EngineConfig,
    conversation: &Conversation,
) {
    if config.tools.checkpoints.is_none() || config.is_subagent() {
        return;
    }
    let Some(project) = conversation.transcript_path().parent() else { return };
    let now = SystemTime::from(config.services.clock.now());
    let removed = Dir::open(project).map_err(CheckpointError::from);
    if let Err(error) = removed.and_then(|project| remove_old_checkpoints(&project, now)) {
        let text = format!("old checkpoints could not be removed: {error}");
        sink(EngineEvent::Notice(text.into()));
    }
}

/// Records what commands in the background changed until the end of the turn.
pub(crate) async fn end_checkpoint(turn: &mut TurnContext<'_>, config: &EngineConfig) {
    // A subagent's changes belong to the turn of its session, which goes on.
    let Some(checkpoints) = config.tools.checkpoints.clone().filter(|_| !config.is_subagent())
    else {
        return;
    };
    let ended = tokio::task::spawn_blocking(move || {
        checkpoints.end_turn();
        checkpoints.take_notices()
    });
    // A panic loses a checkpoint, not the turn.
    for notice in ended.await.unwrap_or_default() {
        turn.emit(EngineEvent::Notice(notice.into()));
    }
}

/// What the model is told if only the conversation was taken back.
const KEPT_FILES: &str = "The user went back to an earlier point of this conversation. Files were not changed back: what was \
     done after that point is still in them.";

/// What the model is told if only files were taken back.
fn files_note(files: &RewindReport) -> Option<String> {
    if files.restored.is_empty() {
        return None;
    }
    let shown = files.restored.iter().take(20).map(|path| path.display().to_string());
    let mut list: Vec<String> = shown.collect();
    if files.restored.len() > list.len() {
        list.push(format!("and {} more", files.restored.len() - list.len()));
    }
    Some(format!(
        "The user changed these files back to an earlier state: {}. Read them again before you change them.",
        list.join(", ")
    ))
}

fn begin(
    transcript: &Transcript,
    plan: &RewindPlan,
    request: RewindRequest,
    id: MessageId,
) -> Result<Rewind, CheckpointError> {
    let next_line = transcript.lines() + 1;
    Rewind::begin(transcript.session_folder(), plan, request, id, next_line)
}

/// Does what a journal says. `known` are the rewinds that the transcript has already.
fn carry_out(
    transcript: &mut Transcript,
    rewind: Rewind,
    known: &[MessageId],
) -> Result<(RewindReport, Option<LoadedTranscript>), EngineError> {
    let files = rewind.restore_files()?;
    let RewindTarget { message, line } = rewind.target();
    let mark = RewindMark { id: rewind.id(), message, line };
    let is_new = rewind.scope().has_conversation() && !known.contains(&mark.id);
    let loaded = is_new.then(|| transcript.rewind(mark)).transpose()?;
    rewind.finish()?;
    Ok((files, loaded))
}

fn load(transcript: &Transcript) -> Result<LoadedTranscript, EngineError> {
    let path = transcript.path();
    let bytes =
        std::fs::read(path).map_err(|error| FileError::new(FileAction::Read, path, error))?;
    Ok(load_transcript(&bytes))
}

fn turns(transcript: &Transcript) -> Result<Vec<LoggedTurn>, EngineError> {
    Ok(load_log(transcript.session_folder())?)
}

/// The message that is taken back.
fn prompt_of(loaded: &LoadedTranscript, request: RewindRequest) -> Option<String> {
    let message = loaded.all_messages().find(|message| message.id == request.target.message);
    message.filter(|_| request.scope.has_conversation()).and_then(user_text_in)
}

/// The user's messages and the rewinds after them, each with what changed until the next.
fn points(loaded: &LoadedTranscript, turns: &[LoggedTurn]) -> Vec<RewindPoint> {
    let text = |id: MessageId| {
        loaded.all_messages().find(|message| message.id == id).and_then(user_text_in)
    };
    let said = loaded.user_messages.iter().filter_map(|user| {
        let target = RewindTarget { message: user.message, line: user.begins };
        Some(RewindPoint::new(target, Some(text(user.message)?)))
    });
    let mut points: Vec<RewindPoint> = said.collect();
    let mut rewinds = turns
        .iter()
        .filter(|turn| turn.rewound_to.is_some())
        .map(|turn| RewindPoint::new(RewindTarget { message: turn.id, line: turn.line }, None));
    // Only the newest rewind is offered: it is what somebody would take back.
    points.extend(rewinds.next_back());
    points.sort_by_key(|point| point.target.line);
    let ends: Vec<u64> =
        points.iter().skip(1).map(|point| point.target.line).chain([u64::MAX]).collect();
    for (point, end) in points.iter_mut().zip(ends) {
        let begin = point.target.line;
        let turns = || turns.iter().filter(|turn| (begin..end).contains(&turn.line));
        point.changes = net_changes(turns());
        point.listing = Duration::from_micros(turns().map(|turn| turn.listing_micros).sum());
    }
    points
}
