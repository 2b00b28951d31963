//! One session of an editor: whose turn it is, its mode, and what is shown between turns.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dormouse_engine::TaskOccasion;
use dormouse_mcp_client::ServerSpec;
use dormouse_permissions::{PermissionGate, PermissionMode};
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::interactive::background::{failure_notices, is_busy};
use crate::message_catalog::msg;
use crate::wiring::catch_up::wait_idle;
use crate::wiring::engine_notice::notice_text;
use crate::wiring::permission_modes::{mode_description, modes_up_to};
use crate::wiring::session_start::ActiveSession;
use crate::wiring::world::World;

use super::client_terminals::CallTerminals;
use super::connection::RpcRefusal;
use super::editor_link::EditorLink;
use super::protocol::EditorUpdate;
use super::updates::{noted, remembered};

/// How often is looked for news while something runs.
const TICK: Duration = Duration::from_secs(1);
/// After so long without a turn the user counts as away.
const IDLE: Duration = Duration::from_mins(2);

/// A session. One turn runs at a time.
pub(super) struct EditorSession {
    pub(super) link: Arc<EditorLink>,
    pub(super) calls: Arc<CallTerminals>,
    /// Servers of the editor that the user has not been asked about.
    waiting: Mutex<Option<Vec<ServerSpec>>>,
    /// None while a turn has it.
    active: Mutex<Option<ActiveSession>>,
    pub(super) gate: PermissionGate,
    /// The permission mode at the start: the editor cannot choose one that allows more.
    pub(super) most_allowed: PermissionMode,
    /// Of the turn that runs, or was requested.
    interrupt: Mutex<CancellationToken>,
    /// The watch between turns.
    watch: Mutex<JoinSet<()>>,
}

impl EditorSession {
    pub(super) fn new(
        link: Arc<EditorLink>,
        calls: Arc<CallTerminals>,
        waiting: Option<Vec<ServerSpec>>,
        active: ActiveSession,
    ) -> Arc<Self> {
        Arc::new(Self {
            link,
            calls,
            waiting: Mutex::new(waiting),
            gate: active.gate.clone(),
            most_allowed: active.gate.mode(),
            active: Mutex::new(Some(active)),
            interrupt: Mutex::default(),
            watch: Mutex::default(),
        })
    }

    /// The servers to ask about, once.
    pub(super) fn take_waiting_servers(&self) -> Option<Vec<ServerSpec>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// A turn was requested: what is cancelled from now on is that one, unless another one runs.
    pub(super) fn turn_requested(&self) {
        if self.active.lock().unwrap_or_else(PoisonError::into_inner).is_some() {
            *self.interrupt.lock().unwrap_or_else(PoisonError::into_inner) =
                CancellationToken::new();
        }
    }

    /// Cancelled with the turn that runs, or was requested.
    pub(super) fn interrupt(&self) -> CancellationToken {
        self.interrupt.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Shows, until the next turn, what background tasks, subagents and other sessions have to say. When nothing was asked for
    /// a while, tasks that wait for that begin.
    pub(super) fn watch(self: &Arc<Self>, world: &World) {
        let (session, world) = (Arc::downgrade(self), world.clone());
        let show_news = move || session.upgrade().and_then(|session| session.show_news());
        let session = Arc::downgrade(self);
        let mut watch = self.watch.lock().unwrap_or_else(PoisonError::into_inner);
        watch.spawn(async move {
            let idle = world.deadlines.away_after(IDLE);
            let away = wait_idle(world.clock.as_ref(), idle);
            tokio::pin!(away);
            let (mut is_away, mut was_busy) = (false, true);
            while let Some(is_busy) = show_news() {
                // What ended last may have left something to say.
                let expects_news = is_busy || std::mem::replace(&mut was_busy, is_busy);
                tokio::select! {
                    () = &mut away, if !is_away => {
                        is_away = true;
                        was_busy = true;
                        if let Some(session) = session.upgrade() {
                            session.paused();
                        }
                    }
                    () = tokio::time::sleep(TICK), if expects_news => {}
                    else => return,
                }
            }
        });
    }

    /// Shows what is new, and says whether more may come; none while a turn runs.
    fn show_news(&self) -> Option<bool> {
        let mut active = self.active.lock().unwrap_or_else(PoisonError::into_inner);
        let active = active.as_mut()?;
        let saved = active.engine.take_memory_notices().into_iter();
        let saved = saved.map(|what| remembered(&what));
        let failed = failure_notices(active).into_iter().map(|line| noted(&line));
        let failed: Vec<EditorUpdate> = failed.collect();
        let received = active.engine.receive().into_iter();
        let received = received.map(|notice| noted(&notice_text(&notice)));
        saved.chain(failed).chain(received).for_each(|update| self.link.show(update));
        Some(is_busy(active))
    }

    /// The user is away.
    fn paused(&self) {
        let active = self.active.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(active) = active.as_ref() {
            active.engine.notify_tasks(TaskOccasion::Paused);
        }
    }

    /// Takes the session for a turn.
    pub(super) fn take(&self) -> Result<ActiveSession, RpcRefusal> {
        self.watch.lock().unwrap_or_else(PoisonError::into_inner).abort_all();
        let active = self.active.lock().unwrap_or_else(PoisonError::into_inner).take();
        active.ok_or_else(|| RpcRefusal::because(&msg!("acp-busy")))
    }

    pub(super) fn give_back(&self, active: ActiveSession) {
        *self.active.lock().unwrap_or_else(PoisonError::into_inner) = Some(active);
    }

    pub(super) fn cancel(&self) {
        self.interrupt.lock().unwrap_or_else(PoisonError::into_inner).cancel();
    }

    pub(super) fn modes(&self) -> Value {
        let modes = modes_up_to(self.most_allowed).into_iter().map(|mode| {
            json!({"id": mode.name(), "name": mode.name(), "description": mode_description(mode)})
        });
        json!({
            "currentModeId": self.gate.mode().name(),
            "availableModes": modes.collect::<Vec<_>>(),
        })
    }
}
