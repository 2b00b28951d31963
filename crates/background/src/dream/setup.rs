//! What a dream needs from its caller, and the facts for its gates.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::SystemTime;

use dormouse_base::{Clock, Dir, IdSource, MessageId, SessionId, fault};
use dormouse_conversation::transcript::sessions_since;
use dormouse_engine::SessionMemory;
use dormouse_memory::{DreamState, Scope, Store};
use jiff::Timestamp;

use super::gates::{DreamBlocked, GateFacts};

/// What a dream needs from its caller.
pub struct DreamSetup {
    /// The memory of the session.
    pub access: Arc<SessionMemory>,
    /// The folder of the project's transcripts.
    pub sessions: Dir,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// New ids.
    pub ids: Arc<dyn IdSource>,
}

impl DreamSetup {
    /// The stores to dream over: the project's first, then the user's. The team's is left alone.
    pub fn stores(&self) -> impl Iterator<Item = &Arc<Store>> {
        let of = |scope: Scope| {
            self.access.memories().stores().iter().filter(move |s| s.scope() == scope)
        };
        of(Scope::Project).chain(of(Scope::User))
    }

    pub(super) fn new_id(&self) -> String {
        MessageId::generate(&*self.ids).to_string()
    }

    /// The dreams that were undone.
    pub(super) fn undone(&self) -> BTreeSet<String> {
        // With an unreadable history, logs count as read.
        self.stores().flat_map(|store| store.history().undone_tasks().unwrap_or_default()).collect()
    }

    /// The sessions that were active since a time, without the current one.
    pub(super) fn sessions_since(
        &self,
        since: Option<Timestamp>,
        current: Option<SessionId>,
    ) -> Result<Vec<SessionId>, DreamBlocked> {
        let since = since.map_or(SystemTime::UNIX_EPOCH, SystemTime::from);
        fault::point("dream.scan_sessions").map_err(DreamBlocked::cannot)?;
        let mut found = sessions_since(&self.sessions, since).map_err(DreamBlocked::cannot)?;
        found.retain(|session| Some(*session) != current);
        Ok(found)
    }
}

/// The facts as they are.
pub(super) struct CurrentFacts<'a> {
    pub(super) setup: &'a DreamSetup,
    pub(super) disabled: Option<String>,
    pub(super) scanned: Option<Timestamp>,
    pub(super) current: Option<SessionId>,
}

impl GateFacts for CurrentFacts<'_> {
    fn disabled(&mut self) -> Option<String> {
        self.disabled.clone()
    }

    fn last_dream(&mut self) -> Result<Option<Timestamp>, DreamBlocked> {
        let store = self.setup.stores().next().ok_or_else(DreamBlocked::no_memory)?;
        store.dream_records().last_success().map_err(DreamBlocked::cannot)
    }

    fn last_scan(&mut self) -> Option<Timestamp> {
        self.scanned
    }

    fn sessions_since(&mut self, since: Option<Timestamp>) -> Result<Vec<SessionId>, DreamBlocked> {
        self.setup.sessions_since(since, self.current)
    }

    fn holder(&mut self) -> Result<DreamState, DreamBlocked> {
        let Some(store) = self.setup.stores().next() else { return Ok(DreamState::Awake) };
        store.dream_records().lock_state().map_err(DreamBlocked::cannot)
    }
}
