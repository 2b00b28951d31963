//! Output of running calls, on its way to the interface.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use dormouse_conversation::ToolUseId;
use dormouse_tools::CommandProgress;
use tokio::sync::Notify;

/// The newest output line of each running call, until it is shown.
#[derive(Debug, Clone, Default)]
pub(super) struct ProgressLines {
    newest: Arc<Mutex<BTreeMap<ToolUseId, String>>>,
    more: Arc<Notify>,
}

/// Longer lines are truncated.
const LONGEST_LINE: usize = 200;

impl ProgressLines {
    pub(super) fn of(&self, call: &ToolUseId) -> CallProgress {
        CallProgress { lines: self.clone(), call: call.clone() }
    }

    /// Waits for output.
    pub(super) async fn next(&self) -> Vec<(ToolUseId, String)> {
        loop {
            self.more.notified().await;
            let mut newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
            if !newest.is_empty() {
                return std::mem::take(&mut *newest).into_iter().collect();
            }
        }
    }
}

/// The output of one call.
pub(super) struct CallProgress {
    lines: ProgressLines,
    call: ToolUseId,
}

impl CommandProgress for CallProgress {
    fn printed(&self, text: &str) {
        let Some(line) = text.lines().rev().find(|line| !line.trim().is_empty()) else { return };
        let line = line.chars().take(LONGEST_LINE).collect();
        let mut newest = self.lines.newest.lock().unwrap_or_else(PoisonError::into_inner);
        newest.insert(self.call.clone(), line);
        self.lines.more.notify_one();
    }

    fn call(&self) -> Option<&str> {
        Some(self.call.as_str())
    }
}
