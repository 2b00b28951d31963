//! When the conversation is compacted: the arithmetic of the window, without the conversation.

use dormouse_conversation::{Budget, ContextWindow, WindowState};

use super::rules::CompactionRules;
use crate::config::EngineConfig;

/// The context window of a session, for display.
#[derive(Debug, Clone)]
pub struct WindowStatus {
    /// How full it is.
    pub state: WindowState,
    /// At how many tokens the conversation is compacted by itself.
    pub compacts_at: u32,
}

/// The budgets of a model and the rules of compaction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WindowPolicy {
    pub(super) budget: Budget,
    pub(super) rules: CompactionRules,
}

impl WindowStatus {
    /// The window of this configuration with so many tokens in it.
    pub(crate) fn of(config: &EngineConfig, used: u64) -> Self {
        let policy = WindowPolicy::of(config);
        Self { state: policy.state(used), compacts_at: policy.compacts_at() }
    }
}

impl WindowPolicy {
    pub(super) fn of(config: &EngineConfig) -> Self {
        Self { budget: config.model.budget, rules: config.window.compaction }
    }

    fn compacts_ahead(&self) -> bool {
        self.rules.auto && !self.rules.reactive_only && !self.rules.collapse
    }

    /// The budgets that count for compacting ahead: the user may set a smaller window.
    pub(super) fn budget_ahead(&self) -> Budget {
        let budget = self.budget;
        let wanted = self.rules.auto_window.unwrap_or(budget.window);
        match ContextWindow::new(wanted.min(budget.window)) {
            Ok(window) => Budget::for_window(window, budget.max_output),
            Err(_) => budget,
        }
    }

    /// At how many tokens a compaction is due: only a full window, where nothing is compacted ahead.
    pub(super) fn compacts_at(&self) -> u32 {
        if self.compacts_ahead() { self.budget_ahead().auto_compact } else { self.budget.blocking }
    }

    pub(super) fn state(&self, used: u64) -> WindowState {
        let ahead = Budget { auto_compact: self.compacts_at(), ..self.budget_ahead() };
        let blocking = WindowState::at(used, &self.budget).blocking;
        WindowState { blocking, ..WindowState::at(used, &ahead) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(rules: CompactionRules) -> WindowPolicy {
        let window = ContextWindow::new(200_000).unwrap();
        WindowPolicy { budget: Budget::for_window(window, 16_000), rules }
    }

    #[test]
    fn without_compacting_ahead_only_a_full_window_is_compacted() {
        let ahead = policy(CompactionRules::default());
        assert_eq!(ahead.compacts_at(), ahead.budget.auto_compact);
        let rules = CompactionRules { reactive_only: true, ..CompactionRules::default() };
        let reactive = policy(rules);
        assert_eq!(reactive.compacts_at(), reactive.budget.blocking);
        assert!(reactive.compacts_at() > ahead.compacts_at());
    }

    #[test]
    fn a_smaller_window_for_compaction_changes_nothing_about_blocking() {
        let rules = CompactionRules { auto_window: Some(50_000), ..CompactionRules::default() };
        let state = policy(rules).state(60_000);
        assert!(state.auto_compact && !state.blocking);
        assert!(!policy(CompactionRules::default()).state(60_000).auto_compact);
    }
}
