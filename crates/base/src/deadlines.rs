//! Waits that lose something when they pass, and pauses after which something begins: one value, given to whoever waits, so
//! that a test can hold or shorten each.
//!
//! What is lost when one passes is said where it happens, and made up for later where that is possible; the table is in
//! docs/deadlines.md.

use std::time::Duration;

use crate::environment::{Environment, names};

/// The names of those that lose something when they pass.
const LOSING: [&str; 11] = [
    "first_recall",
    "only_recall",
    "recall",
    "selector",
    "model_info",
    "git_status",
    "end_hooks",
    "usage_counts",
    "last_usage_counts",
    "mcp_start",
    "mcp_lists",
];

/// How long the program waits for what it can do without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadlines {
    /// A session's first request waits so long for the memories that match: the index is opened meanwhile.
    pub first_recall: Duration,
    /// The same for a session that may have no second request (`-p`).
    pub only_recall: Duration,
    /// Later requests wait so long for the memories that match.
    pub recall: Duration,
    /// Later requests wait so long for steps of recall that run beside them: vectors, the small model, a late search.
    pub recall_beside: Duration,
    /// The small model chooses memories within this time.
    pub selector: Duration,
    /// A server says what it knows of its models within this time.
    pub model_info: Duration,
    /// `git status` answers within this time.
    pub git_status: Duration,
    /// The hooks of a session's end, and those in the background that are still running then.
    pub end_hooks: Duration,
    /// The end of a turn waits so long for the counts of its memories.
    pub usage_counts: Duration,
    /// The end of a session waits so long for them.
    pub last_usage_counts: Duration,
    /// The start of a session waits so long for MCP servers.
    pub mcp_start: Duration,
    /// An MCP server lists its prompts and resources within this time.
    pub mcp_lists: Duration,
    /// The user counts as away after so long without input; the time of its own for each occasion where none is set.
    pub away: Option<Duration>,
    /// How often it is said what a subagent is doing.
    pub subagent_progress: Duration,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self {
            first_recall: Duration::from_millis(150),
            only_recall: Duration::from_millis(500),
            recall: Duration::from_millis(20),
            recall_beside: Duration::ZERO,
            selector: Duration::from_secs(3),
            model_info: Duration::from_secs(2),
            git_status: Duration::from_secs(2),
            end_hooks: Duration::from_millis(1_500),
            usage_counts: Duration::from_millis(250),
            last_usage_counts: Duration::from_secs(2),
            mcp_start: Duration::from_secs(5),
            mcp_lists: Duration::from_secs(2),
            away: None,
            subagent_progress: Duration::from_secs(30),
        }
    }
}

impl Deadlines {
    /// The usual ones. In debug builds `DORMOUSE_TEST_DEADLINES` changes some: `recall=1,end_hooks=60000`, in milliseconds;
    /// `held=300000` sets each of those that lose something.
    pub fn from_environment(environment: &Environment) -> Self {
        let mut deadlines = Self::default();
        let set = environment.get(names::TEST_DEADLINES).filter(|_| cfg!(debug_assertions));
        for (name, value) in
            set.unwrap_or_default().split(',').filter_map(|one| one.split_once('='))
        {
            if let Ok(milliseconds) = value.trim().parse() {
                deadlines.set(name.trim(), Duration::from_millis(milliseconds));
            }
        }
        deadlines
    }

    fn set(&mut self, name: &str, time: Duration) {
        match name {
            "first_recall" => self.first_recall = time,
            "only_recall" => self.only_recall = time,
            "recall" => self.recall = time,
            "recall_beside" => self.recall_beside = time,
            "selector" => self.selector = time,
            "model_info" => self.model_info = time,
            "git_status" => self.git_status = time,
            "end_hooks" => self.end_hooks = time,
            "usage_counts" => self.usage_counts = time,
            "last_usage_counts" => self.last_usage_counts = time,
            "mcp_start" => self.mcp_start = time,
            "mcp_lists" => self.mcp_lists = time,
            "subagent_progress" => self.subagent_progress = time,
            "away" => self.away = Some(time),
            "held" => LOSING.iter().for_each(|name| self.set(name, time)),
            _ => {}
        }
    }

    /// How long nobody must have said anything before the user counts as away; `usual` where nothing is set.
    pub fn away_after(&self, usual: Duration) -> Duration {
        self.away.unwrap_or(usual)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_holds_all_and_shortens_one() {
        let set = |text: &str| {
            Deadlines::from_environment(&Environment::from_pairs([(names::TEST_DEADLINES, text)]))
        };
        let held = set("held=300000, recall=1");
        assert_eq!(
            (held.recall, held.selector),
            (Duration::from_millis(1), Duration::from_mins(5))
        );
        assert_eq!(held.subagent_progress, Deadlines::default().subagent_progress);
        assert_eq!(set("unknown=1,recall=soon"), Deadlines::default());
        assert_eq!(set("away=50").away_after(Duration::from_mins(2)), Duration::from_millis(50));
    }
}
