//! The newest account of a session, for the status line and for commands during a turn.

use dormouse_engine::SessionAccount;

/// What the session has used so far.
#[derive(Debug, Default)]
pub(super) struct LatestAccount {
    pub(super) latest: Option<Box<SessionAccount>>,
    /// Whether the status line shows an older one.
    is_new: bool,
}

impl LatestAccount {
    pub(super) fn set(&mut self, account: Box<SessionAccount>) {
        (self.latest, self.is_new) = (Some(account), true);
    }

    pub(super) fn is_new(&self) -> bool {
        self.is_new
    }

    /// Whether there is one that was not shown yet; it counts as shown then.
    pub(super) fn take_new(&mut self) -> bool {
        std::mem::take(&mut self.is_new)
    }
}
