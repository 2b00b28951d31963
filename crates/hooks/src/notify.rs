//! How background tasks run hooks.

use std::sync::Arc;

use crate::input::{DreamEndEvent, TeamSyncedEvent};
use crate::pending::HookNotice;
use crate::runner::HookRunner;

/// Runs hooks for a background task; does nothing where there are no hooks.
#[derive(Debug, Clone, Default)]
pub struct HookNotifier(Option<Arc<HookRunner>>);

impl HookNotifier {
    /// A notifier for the hooks of a conversation.
    pub fn new(hooks: Option<Arc<HookRunner>>) -> Self {
        Self(hooks)
    }

    /// Runs the `DreamStart` hooks and waits for them.
    pub async fn dream_start(&self, id: &str, sessions: usize, scopes: &[String]) {
        if let Some(hooks) = &self.0 {
            hooks.dream_start(id, sessions, scopes).await;
        }
    }

    /// Runs the `DreamEnd` hooks and waits for them.
    pub async fn dream_end(&self, event: DreamEndEvent<'_>) {
        if let Some(hooks) = &self.0 {
            hooks.dream_end(&event).await;
        }
    }

    /// Runs the `DreamEnd` hooks without waiting: the dream was killed.
    pub fn dream_end_in_background(&self, event: DreamEndEvent<'_>) {
        if let Some(hooks) = &self.0 {
            hooks.dream_end_in_background(&event);
        }
    }

    /// Runs the `TeamSynced` hooks without waiting.
    pub fn team_synced(&self, event: &TeamSyncedEvent) {
        if let Some(hooks) = &self.0 {
            hooks.team_synced(event);
        }
    }

    /// The notices of hooks for the user since the last call.
    pub fn take_notices(&self) -> Vec<String> {
        let notices = self.0.iter().flat_map(|hooks| hooks.take_notices());
        notices
            .filter_map(|notice| match notice {
                HookNotice::Text(text) => Some(text),
                HookNotice::TerminalSequence(_) => None,
            })
            .collect()
    }
}
