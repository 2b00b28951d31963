//! What a dream needs from outside, and the facts that its gates ask for.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::SystemTime;

use dormouse_base::{Clock, Dir, IdSource, MessageId, SessionId, fault};
use dormouse_conversation::transcript::sessions_since;
use dormouse_engine::SessionMemory;
use dormouse_memory::{DreamState, Scope, Store};
use jiff::Timestamp;

use super::gates::GateFacts;

/// What a dream needs from outside.
pub struct DreamSetup {
    /// Memory, as the conversation has it.
    pub access: Arc<SessionMemory>,
    /// The folder of the project's transcripts.
    pub sessions: Dir,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// New ids.
    pub ids: Arc<dyn IdSource>,
}

impl DreamSetup {
    /// The memories that are dreamt over: the project's first, then the person's. The team's is not ours to change.
    pub fn stores(&self) -> impl Iterator<Item = &Arc<Store>> {
        let of = |scope: Scope| self.access.stores().iter().filter(move |s| s.scope() == scope);
        of(Scope::Project).chain(of(Scope::User))
    }

    pub(super) fn new_id(&self) -> String {
        MessageId::generate(&*self.ids).to_string()
    }

    /// The dreams that were undone.
    pub(super) fn undone(&self) -> BTreeSet<String> {
        // A history that can not be read keeps nobody from dreaming: its logs only count as read.
        self.stores().flat_map(|store| store.undone_wholes().unwrap_or_default()).collect()
    }

    /// The sessions that have gone on since, but for the one at hand.
    pub(super) fn sessions_since(
        &self,
        since: Option<Timestamp>,
        current: Option<SessionId>,
    ) -> Result<Vec<SessionId>, String> {
        let since = since.map_or(SystemTime::UNIX_EPOCH, SystemTime::from);
        let found = fault::point("dream.scan_sessions").map_err(|error| error.to_string());
        let mut found = found.and_then(|()| {
            sessions_since(&self.sessions, since).map_err(|error| error.to_string())
        })?;
        found.retain(|session| Some(*session) != current);
        Ok(found)
    }
}

/// The facts, as they are.
pub(super) struct CurrentFacts<'a> {
    pub(super) setup: &'a DreamSetup,
    pub(super) switches: Result<(), String>,
    pub(super) scanned: Option<Timestamp>,
    pub(super) current: Option<SessionId>,
}

impl GateFacts for CurrentFacts<'_> {
    fn switches(&mut self) -> Result<(), String> {
        self.switches.clone()
    }

    fn last_dream(&mut self) -> Result<Option<Timestamp>, String> {
        let Some(store) = self.setup.stores().next() else {
            return Err("there is no memory here to dream about".to_owned());
        };
        store.last_dream().map_err(|error| error.to_string())
    }

    fn last_scan(&mut self) -> Option<Timestamp> {
        self.scanned
    }

    fn sessions_since(&mut self, since: Option<Timestamp>) -> Result<Vec<SessionId>, String> {
        self.setup.sessions_since(since, self.current)
    }

    fn holder(&mut self) -> Result<DreamState, String> {
        let Some(store) = self.setup.stores().next() else { return Ok(DreamState::Awake) };
        store.dream_state().map_err(|error| error.to_string())
    }
}
