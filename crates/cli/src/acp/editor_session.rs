//! The sessions of an editor: opening, resuming and listing them, their turns.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use dormouse_base::{Project, find_project};
use dormouse_conversation::transcript::{SessionSummary, list_sessions};
use dormouse_engine::{EngineEvent, SessionFolder, TaskOccasion, TurnEnd, TurnReport};
use dormouse_hooks::SessionEndReason;
use dormouse_tools::{EditorFiles, EditorTerminals, EditorTools};
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use crate::args::Arguments;
use crate::message_catalog::msg;
use crate::wiring::background_tasks;
use crate::wiring::editor_servers::{EditorServers, trust_editor_servers};
use crate::wiring::exit::Failure;
use crate::wiring::mcp_servers;
use crate::wiring::permission_modes::modes_up_to;
use crate::wiring::piped_turn::run_turn;
use crate::wiring::print;
use crate::wiring::session_start::{self, ActiveSession, SessionChoice};
use crate::wiring::user_access::UserAccess;
use crate::wiring::world::World;

use super::client_files::ClientFiles;
use super::client_terminals::{CallTerminals, ClientTerminals};
use super::commands::{EditorInput, available_commands, dispatch};
use super::connection::{Editor, RpcRefusal};
use super::editor_link::EditorLink;
use super::history::replayed;
use super::offered_servers::{ask_about_servers, server_specs};
use super::open_session::EditorSession;
use super::permission::{EditorAnswer, EditorAsker};
use super::prompt_blocks::prompt_text;
use super::protocol::{
    CancelTurn, ClientCapabilities, EditorUpdate, ListSessions, LoadSession, NewSession,
    OfferedServer, Prompt, PromptBlock, SetMode,
};
use super::updates::{SessionUpdates, said};

/// All sessions of one editor.
pub(super) struct EditorSessions {
    world: World,
    arguments: Arguments,
    editor: Arc<Editor>,
    open: Mutex<HashMap<String, Arc<EditorSession>>>,
    /// The commands of sessions whose editor has not been told yet.
    untold: Mutex<Vec<(Arc<EditorLink>, EditorUpdate)>>,
}

impl EditorSessions {
    pub(super) fn new(world: World, arguments: Arguments, editor: Arc<Editor>) -> Self {
        Self { world, arguments, editor, open: Mutex::default(), untold: Mutex::default() }
    }

    /// Keeps what the editor offers.
    pub(super) fn editor_offers(&self, offered: ClientCapabilities) {
        self.editor.initialized(offered);
    }

    /// `session/new`.
    pub(super) async fn open_new(&self, request: NewSession) -> Result<Value, RpcRefusal> {
        let opening = (request.cwd, request.mcp_servers);
        let (id, session) = self.open(opening, SessionChoice::New).await?;
        Ok(json!({"sessionId": id, "modes": session.modes()}))
    }

    /// `session/load`: resumes a session, and shows what was said in it.
    pub(super) async fn load(&self, request: LoadSession) -> Result<Value, RpcRefusal> {
        let choice = SessionChoice::Named(request.session_id);
        let opening = (request.cwd, request.mcp_servers);
        let (_, session) = self.open(opening, choice).await?;
        let active = session.take()?;
        let updates = replayed(active.engine.conversation(), &active.project.folder);
        session.give_back(active);
        for update in updates {
            session.link.show(update);
        }
        Ok(json!({"modes": session.modes()}))
    }

    async fn open(
        &self,
        (cwd, offered): (PathBuf, Vec<OfferedServer>),
        choice: SessionChoice,
    ) -> Result<(String, Arc<EditorSession>), RpcRefusal> {
        let refused = |failure: Failure| RpcRefusal::because(&failure.message());
        let project = project_of(&cwd)?;
        let servers = EditorServers::new(server_specs(offered), &project, &self.world);
        let servers = servers.map_err(refused)?;
        let link = Arc::new(EditorLink::new(Arc::clone(&self.editor), project.clone(), cwd));
        let ready =
            session_start::prepare_in(project, &self.arguments, &choice, &self.world, &servers);
        let ready = Box::pin(ready).await.map_err(refused)?;
        let calls = Arc::default();
        let user = self.user_access(&link, &calls);
        let mut active = ready.open(&self.arguments, &self.world, user).map_err(refused)?;
        active.set_up(&self.arguments, &mut crate::wiring::print::notice).await;
        active.engine.notify_tasks(TaskOccasion::Opened);
        let id = active.engine.conversation().session().to_string();
        link.opened_as(&id);
        let commands = (Arc::clone(&link), available_commands(&active));
        self.untold.lock().unwrap_or_else(PoisonError::into_inner).push(commands);
        let session = EditorSession::new(link, calls, servers.waiting(), active);
        session.watch(&self.world);
        self.sessions().insert(id.clone(), Arc::clone(&session));
        Ok((id, session))
    }

    /// Says which commands there are in sessions that were opened. An editor knows a session once its request is answered.
    pub(super) fn show_commands(&self) {
        let untold =
            std::mem::take(&mut *self.untold.lock().unwrap_or_else(PoisonError::into_inner));
        for (link, commands) in untold {
            link.show(commands);
        }
    }

    /// The user at the editor, and what the editor offers.
    fn user_access(&self, link: &Arc<EditorLink>, calls: &Arc<CallTerminals>) -> UserAccess {
        let offered = self.editor.offered();
        let files = offered.fs.map(|offered| {
            let (link, runtime) = (Arc::clone(link), Handle::current());
            Arc::new(ClientFiles { link, offered, runtime }) as Arc<dyn EditorFiles>
        });
        let terminals = offered.terminal.then(|| {
            let (link, calls) = (Arc::clone(link), Arc::clone(calls));
            let environment = self.world.environment.clone();
            let running = Mutex::default();
            Arc::new(ClientTerminals { link, calls, environment, running })
                as Arc<dyn EditorTerminals>
        });
        UserAccess {
            confirmer: Some(Arc::new(EditorAsker { link: Arc::clone(link) })),
            editor: EditorTools { files, terminals },
        }
    }

    /// `session/list`: the sessions of a project, the latest first.
    pub(super) fn list(&self, request: &ListSessions) -> Result<Value, RpcRefusal> {
        let Some(cwd) = &request.cwd else { return Ok(json!({"sessions": []})) };
        let project = project_of(cwd)?;
        let home = self.world.home().map_err(|error| RpcRefusal::because(&error))?;
        let folder = SessionFolder::existing(&home, &project)
            .map_err(|error| RpcRefusal::because(&error))?;
        let found = match folder {
            Some(folder) => {
                list_sessions(folder.dir(), None).map_err(|error| RpcRefusal::because(&error))?
            }
            None => Vec::new(),
        };
        let info = |session: &SessionSummary| json!({"sessionId": session.session.to_string(), "cwd": cwd, "title": session.title});
        Ok(json!({"sessions": found.iter().map(info).collect::<Vec<_>>()}))
    }

    /// A turn was requested: what is cancelled from now on is that one, unless another one runs.
    pub(super) fn turn_requested(&self, params: &Value) {
        let id = params.get("sessionId").and_then(Value::as_str).unwrap_or_default();
        if let Ok(session) = self.session(id) {
            session.turn_requested();
        }
    }

    /// `session/prompt`: a turn.
    pub(super) async fn prompt(&self, request: Prompt) -> Result<Value, RpcRefusal> {
        let session = self.session(&request.session_id)?;
        let mut active = session.take()?;
        let interrupt = session.interrupt();
        self.ask_about_servers(&session, &active).await;
        let ended = self.turn(&mut active, &session, request.prompt, &interrupt).await;
        session.give_back(active);
        session.watch(&self.world);
        Ok(json!({"stopReason": ended?}))
    }

    /// Asks once about servers that the editor has brought along; those that may start do so before the turn.
    async fn ask_about_servers(&self, session: &EditorSession, active: &ActiveSession) {
        let Some(specs) = session.take_waiting_servers() else { return };
        let answer = ask_about_servers(&specs, &session.link).await;
        if answer == EditorAnswer::No {
            return;
        }
        if answer == EditorAnswer::Always
            && let Err(failure) = trust_editor_servers(&specs, &active.project, &self.world)
        {
            print::note(&failure.message());
        }
        let names: Vec<String> = specs.into_iter().map(|spec| spec.name).collect();
        active.servers.admit(&names);
        mcp_servers::wait_for_start(&active.servers, &active.settings, &self.world.deadlines).await;
    }

    async fn turn(
        &self,
        active: &mut ActiveSession,
        session: &EditorSession,
        prompt: Vec<PromptBlock>,
        interrupt: &CancellationToken,
    ) -> Result<&'static str, RpcRefusal> {
        let folder = active.engine.conversation().session_folder();
        let prompt = prompt_text(prompt, folder)
            .map_err(|failure| RpcRefusal::because(&failure.message()))?;
        let mut updates =
            SessionUpdates::new(active.project.folder.clone(), Arc::clone(&session.calls));
        let send = |event: &EngineEvent, updates: &mut SessionUpdates| {
            for update in updates.of(event) {
                session.link.show(update);
            }
        };
        let mut sink = |event: EngineEvent| send(&event, &mut updates);
        let around = (&self.world, interrupt);
        let prompt = match dispatch(prompt, active, around, &mut sink).await {
            EditorInput::Prompt(prompt) => prompt,
            EditorInput::Answer(text) => {
                session.link.show(said(&text));
                return Ok("end_turn");
            }
        };
        let report = run_turn(active, &prompt, self.arguments.max_turns, around, &mut sink).await;
        let report = report.map_err(|error| RpcRefusal::because(&error))?;
        let (reason, said) = stop_reason(&report);
        if let Some(said) = said {
            send(&EngineEvent::Notice(said.into()), &mut updates);
        }
        Ok(reason)
    }

    /// `session/set_mode`.
    pub(super) fn set_mode(&self, request: &SetMode) -> Result<Value, RpcRefusal> {
        let session = self.session(&request.session_id)?;
        let mut modes = modes_up_to(session.most_allowed).into_iter();
        let mode = modes.find(|mode| mode.name() == request.mode_id);
        let refusal =
            || RpcRefusal::because(&msg!("acp-mode-refused", mode = request.mode_id.as_str()));
        session.gate.set_mode(mode.ok_or_else(refusal)?);
        Ok(json!({}))
    }

    /// Takes a message that wants no answer: `session/cancel` ends the turn that runs.
    pub(super) fn notified(&self, method: &str, params: Value) {
        if method == "session/cancel"
            && let Ok(CancelTurn { session_id }) = serde_json::from_value(params)
            && let Ok(session) = self.session(&session_id)
        {
            session.cancel();
        }
    }

    /// Ends all turns: the editor is gone.
    pub(super) fn cancel_all(&self) {
        self.sessions().values().for_each(|session| session.cancel());
    }

    /// Ends all sessions in order.
    pub(super) async fn close(&self) {
        let open: Vec<_> = self.sessions().drain().map(|(_, session)| session).collect();
        for session in open {
            let Ok(mut active) = session.take() else { continue };
            background_tasks::finish_sending(&active.engine).await;
            active.engine.end(SessionEndReason::Other, &mut |_| {}).await;
            active.servers.close().await;
        }
    }

    fn session(&self, id: &str) -> Result<Arc<EditorSession>, RpcRefusal> {
        let session = self.sessions().get(id).cloned();
        session.ok_or_else(|| RpcRefusal::because(&msg!("acp-session-unknown", id = id)))
    }

    fn sessions(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<EditorSession>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why a turn ended, for the editor; and what the user should read about it.
fn stop_reason(report: &TurnReport) -> (&'static str, Option<String>) {
    match &report.end {
        TurnEnd::Completed | TurnEnd::Empty => ("end_turn", None),
        TurnEnd::Cut => ("max_tokens", None),
        TurnEnd::Refused => ("refusal", None),
        TurnEnd::MaxTurns => ("max_turn_requests", None),
        TurnEnd::Interrupted => ("cancelled", None),
        TurnEnd::MaxCost => ("end_turn", Some(msg!("acp-max-cost"))),
        TurnEnd::Repeating(tool) => {
            ("end_turn", Some(msg!("turn-repeating", tool = tool.as_str())))
        }
        TurnEnd::Halted(why) | TurnEnd::Blocked(why) | TurnEnd::NoPrompt(why) => {
            ("end_turn", Some(why.clone()))
        }
        TurnEnd::Failed(error) => ("end_turn", Some(error.to_string())),
    }
}

/// The project of a folder that the editor names.
fn project_of(cwd: &Path) -> Result<Project, RpcRefusal> {
    if !cwd.is_absolute() {
        let cwd = cwd.display().to_string();
        return Err(RpcRefusal::because(&msg!("acp-cwd-relative", cwd = cwd)));
    }
    find_project(cwd).map_err(|error| RpcRefusal::because(&error))
}
