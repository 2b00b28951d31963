//! The sessions of an editor: opening, resuming and listing them, their turns, their modes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    ListSessionsRequest, ListSessionsResponse, LoadSessionRequest, LoadSessionResponse,
    NewSessionRequest, NewSessionResponse, PromptRequest, PromptResponse, SessionId, SessionInfo,
    SessionMode, SessionModeState, SessionNotification, SetSessionModeRequest,
    SetSessionModeResponse, StopReason,
};
use agent_client_protocol::{Client, Error};
use dormouse_base::{Project, find_project};
use dormouse_conversation::transcript::list_sessions;
use dormouse_engine::{
    EngineEvent, SessionFolder, Surroundings, TaskOccasion, TurnContext, TurnEnd, TurnReport,
};
use dormouse_hooks::SessionEndReason;
use dormouse_permissions::{PermissionGate, PermissionMode};
use dormouse_tools::Confirmer;
use tokio_util::sync::CancellationToken;

use crate::args::Arguments;
use crate::message_catalog::msg;
use crate::wiring::background_tasks;
use crate::wiring::permission_modes::{mode_description, modes_up_to};
use crate::wiring::session_start::{self, ActiveSession, SessionChoice};
use crate::wiring::trust::Untrusted;
use crate::wiring::world::World;

use super::history::replayed;
use super::permission::EditorAsker;
use super::prompt_blocks::prompt_text;
use super::updates::SessionUpdates;

/// The editor at the other end.
pub(super) type Editor = ConnectionTo<Client>;

/// All sessions of one editor.
pub(super) struct EditorSessions {
    world: World,
    arguments: Arguments,
    open: Mutex<HashMap<SessionId, Arc<EditorSession>>>,
}

/// A session. One turn runs at a time.
struct EditorSession {
    /// None while a turn has it.
    active: Mutex<Option<ActiveSession>>,
    gate: PermissionGate,
    /// The permission mode at the start: the editor cannot choose one that allows more.
    most_allowed: PermissionMode,
    /// Of the turn that runs.
    interrupt: Mutex<CancellationToken>,
}

impl EditorSessions {
    pub(super) fn new(world: World, arguments: Arguments) -> Self {
        Self { world, arguments, open: Mutex::default() }
    }

    /// `session/new`.
    pub(super) async fn open_new(
        &self,
        request: NewSessionRequest,
        editor: Editor,
    ) -> Result<NewSessionResponse, Error> {
        let project = find_project(&request.cwd).map_err(|error| refused(&error))?;
        let (id, session) = self.open(project, SessionChoice::New, editor).await?;
        Ok(NewSessionResponse::new(id).modes(session.modes()))
    }

    /// `session/load`: resumes a session, and shows what was said in it.
    pub(super) async fn load(
        &self,
        request: LoadSessionRequest,
        editor: Editor,
    ) -> Result<LoadSessionResponse, Error> {
        let project = find_project(&request.cwd).map_err(|error| refused(&error))?;
        let choice = SessionChoice::Named(request.session_id.to_string());
        let (id, session) = self.open(project, choice, editor.clone()).await?;
        let active = session.take()?;
        let updates = replayed(active.engine.conversation(), &active.project.folder);
        session.give_back(active);
        for update in updates {
            editor.send_notification(SessionNotification::new(id.clone(), update))?;
        }
        Ok(LoadSessionResponse::new().modes(session.modes()))
    }

    async fn open(
        &self,
        project: Project,
        choice: SessionChoice,
        editor: Editor,
    ) -> Result<(SessionId, Arc<EditorSession>), Error> {
        let asker = Arc::new(EditorAsker::new(editor));
        let confirmer = Arc::clone(&asker) as Arc<dyn Confirmer>;
        let ready = session_start::prepare_in(
            project,
            &self.arguments,
            &choice,
            &self.world,
            Untrusted::Tell,
        );
        let ready = Box::pin(ready).await.map_err(|failure| refused(&failure.message()))?;
        let mut active = ready
            .open(&self.arguments, &self.world, Some(confirmer))
            .map_err(|failure| refused(&failure.message()))?;
        active.set_up(&self.arguments, &mut crate::wiring::print::notice).await;
        active.engine.notify_tasks(TaskOccasion::Opened);
        let id = SessionId::new(active.engine.conversation().session().to_string());
        asker.belongs_to(id.clone(), active.project.folder.clone());
        let session = Arc::new(EditorSession {
            gate: active.gate.clone(),
            most_allowed: active.gate.mode(),
            active: Mutex::new(Some(active)),
            interrupt: Mutex::default(),
        });
        self.sessions().insert(id.clone(), Arc::clone(&session));
        Ok((id, session))
    }

    /// `session/list`: the sessions of a project, the latest first.
    pub(super) fn list(
        &self,
        request: &ListSessionsRequest,
    ) -> Result<ListSessionsResponse, Error> {
        let Some(cwd) = &request.cwd else { return Ok(ListSessionsResponse::new(Vec::new())) };
        let project = find_project(cwd).map_err(|error| refused(&error))?;
        let home = self.world.home().map_err(|error| refused(&error))?;
        let folder = SessionFolder::existing(&home, &project).map_err(|error| refused(&error))?;
        let found = match folder {
            Some(folder) => list_sessions(folder.dir(), None).map_err(|error| refused(&error))?,
            None => Vec::new(),
        };
        let info = |session: dormouse_conversation::transcript::SessionSummary| {
            SessionInfo::new(SessionId::new(session.session.to_string()), cwd.clone())
                .title(session.title)
        };
        Ok(ListSessionsResponse::new(found.into_iter().map(info).collect()))
    }

    /// `session/prompt`: a turn.
    pub(super) async fn prompt(
        &self,
        request: PromptRequest,
        editor: Editor,
    ) -> Result<PromptResponse, Error> {
        let session = self.session(&request.session_id)?;
        let mut active = session.take()?;
        let interrupt = CancellationToken::new();
        *session.interrupt.lock().unwrap_or_else(PoisonError::into_inner) = interrupt.clone();
        let ended = self.turn(&mut active, request, &interrupt, editor).await;
        session.give_back(active);
        ended.map(PromptResponse::new)
    }

    async fn turn(
        &self,
        active: &mut ActiveSession,
        request: PromptRequest,
        interrupt: &CancellationToken,
        editor: Editor,
    ) -> Result<StopReason, Error> {
        let folder = active.engine.conversation().session_folder();
        let prompt =
            prompt_text(request.prompt, folder).map_err(|failure| refused(&failure.message()))?;
        background_tasks::make_way(&active.engine).await;
        let mut updates = SessionUpdates::new(active.project.folder.clone());
        let send = |event: &EngineEvent, updates: &mut SessionUpdates| {
            for update in updates.of(event) {
                let update = SessionNotification::new(request.session_id.clone(), update);
                // An editor that is gone has ended the connection, and with it this turn.
                let _gone = editor.send_notification(update);
            }
        };
        let ActiveSession { engine, project, environment, .. } = active;
        let now = Surroundings::look(project, environment, &*self.world.clock).await;
        let mut sink = |event: EngineEvent| send(&event, &mut updates);
        let mut context = TurnContext::new(interrupt, &mut sink);
        let report = engine.run_turn(&prompt, &now, self.arguments.max_turns, &mut context).await;
        for said in engine.take_memory_notices() {
            send(&EngineEvent::Remembered(said), &mut updates);
        }
        let report = report.map_err(|error| refused(&error))?;
        let (reason, said) = stop_reason(&report);
        if let Some(said) = said {
            send(&EngineEvent::Notice(said.into()), &mut updates);
        }
        Ok(reason)
    }

    /// `session/set_mode`.
    pub(super) fn set_mode(
        &self,
        request: &SetSessionModeRequest,
    ) -> Result<SetSessionModeResponse, Error> {
        let session = self.session(&request.session_id)?;
        let mut modes = modes_up_to(session.most_allowed).into_iter();
        let mode = modes.find(|mode| mode.name() == &*request.mode_id.0);
        let mode = mode.ok_or_else(|| {
            refused(&msg!("acp-mode-refused", mode = request.mode_id.to_string()))
        })?;
        session.gate.set_mode(mode);
        Ok(SetSessionModeResponse::new())
    }

    /// `session/cancel`: ends the turn that runs.
    pub(super) fn cancel(&self, id: &SessionId) {
        if let Ok(session) = self.session(id) {
            session.interrupt.lock().unwrap_or_else(PoisonError::into_inner).cancel();
        }
    }

    /// Ends all sessions in order.
    pub(super) async fn close(&self) {
        let open: Vec<_> = self.sessions().drain().map(|(_, session)| session).collect();
        for session in open {
            session.interrupt.lock().unwrap_or_else(PoisonError::into_inner).cancel();
            let Ok(mut active) = session.take() else { continue };
            background_tasks::finish_sending(&active.engine).await;
            active.engine.end(SessionEndReason::Other, &mut |_| {}).await;
            active.servers.close().await;
        }
    }

    fn session(&self, id: &SessionId) -> Result<Arc<EditorSession>, Error> {
        let session = self.sessions().get(id).cloned();
        session.ok_or_else(|| refused(&msg!("acp-session-unknown", id = id.to_string())))
    }

    fn sessions(&self) -> std::sync::MutexGuard<'_, HashMap<SessionId, Arc<EditorSession>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EditorSession {
    /// Takes the session for a turn.
    fn take(&self) -> Result<ActiveSession, Error> {
        let active = self.active.lock().unwrap_or_else(PoisonError::into_inner).take();
        active.ok_or_else(|| refused(&msg!("acp-busy")))
    }

    fn give_back(&self, active: ActiveSession) {
        *self.active.lock().unwrap_or_else(PoisonError::into_inner) = Some(active);
    }

    fn modes(&self) -> SessionModeState {
        let modes = modes_up_to(self.most_allowed).into_iter().map(|mode| {
            SessionMode::new(mode.name(), mode.name()).description(mode_description(mode))
        });
        SessionModeState::new(self.gate.mode().name(), modes.collect())
    }
}

/// Why a turn ended, for the editor; and what the user should read about it.
fn stop_reason(report: &TurnReport) -> (StopReason, Option<String>) {
    match &report.end {
        TurnEnd::Completed | TurnEnd::Empty => (StopReason::EndTurn, None),
        TurnEnd::Cut => (StopReason::MaxTokens, None),
        TurnEnd::Refused => (StopReason::Refusal, None),
        TurnEnd::MaxTurns => (StopReason::MaxTurnRequests, None),
        TurnEnd::Interrupted => (StopReason::Cancelled, None),
        TurnEnd::MaxCost => (StopReason::EndTurn, Some(msg!("acp-max-cost"))),
        TurnEnd::Halted(why) | TurnEnd::Blocked(why) => (StopReason::EndTurn, Some(why.clone())),
        TurnEnd::Failed(error) => (StopReason::EndTurn, Some(error.to_string())),
    }
}

/// A request that cannot be met, with the reason as its message.
pub(super) fn refused(reason: &(impl ToString + ?Sized)) -> Error {
    Error::invalid_params().data(serde_json::Value::from(reason.to_string()))
}
