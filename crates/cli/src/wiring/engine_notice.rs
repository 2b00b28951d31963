//! Notices of the engine in the user's language. Rare ones stay English.

use dormouse_engine::{AgentEnd, EngineNotice};

use crate::message_catalog::msg;

/// A notice in the user's language.
pub(crate) fn notice_text(notice: &EngineNotice) -> String {
    match notice {
        EngineNotice::Attached { path } => msg!("notice-attached", path = path.as_str()),
        EngineNotice::NotAttached { problem } => {
            msg!("notice-not-attached", problem = problem.as_str())
        }
        EngineNotice::TooManyFiles { most } => msg!("notice-too-many-files", most = *most),
        EngineNotice::ResultsCleared { count, tokens } => {
            msg!("notice-results-cleared", count = *count, tokens = *tokens)
        }
        EngineNotice::MessagesCollapsed { count, tokens } => {
            msg!("notice-messages-collapsed", count = *count, tokens = *tokens)
        }
        EngineNotice::MessagesDropped { count, tokens } => {
            msg!("notice-messages-dropped", count = *count, tokens = *tokens)
        }
        EngineNotice::CacheBroken { read, expected, cause } => {
            msg!("notice-cache-broken", read = *read, expected = *expected, cause = cause.as_str())
        }
        EngineNotice::CompactionRefused { why } => {
            msg!("notice-compaction-refused", why = why.as_str())
        }
        EngineNotice::TurnEndedByHook { why } => msg!("notice-turn-ended", why = why.as_str()),
        EngineNotice::StopHookIgnored { times } => msg!("notice-stop-hook", times = *times),
        EngineNotice::BackgroundHook => msg!("notice-background-hook"),
        EngineNotice::AgentEnded { name, end, task } => {
            let (name, task) = (name.as_str(), task.as_str());
            match end {
                AgentEnd::Done => msg!("notice-agent-done", name = name, task = task),
                AgentEnd::Failed => msg!("notice-agent-failed", name = name, task = task),
                AgentEnd::Stopped => msg!("notice-agent-stopped", name = name, task = task),
            }
        }
        EngineNotice::WebSearch { query } => msg!("notice-web-search", query = query.as_str()),
        EngineNotice::WebResults { pages } => {
            let rows = pages.iter().map(|(title, url)| format!("\n  {title}: {url}"));
            format!("{}{}", msg!("notice-web-results"), rows.collect::<String>())
        }
        EngineNotice::Text(text) => text.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn english_notices_are_those_of_the_engine() {
        let text = || "text".to_owned();
        for notice in [
            EngineNotice::Attached { path: text() },
            EngineNotice::NotAttached { problem: text() },
            EngineNotice::TooManyFiles { most: 10 },
            EngineNotice::ResultsCleared { count: 3, tokens: 4_000 },
            EngineNotice::MessagesCollapsed { count: 3, tokens: 4_000 },
            EngineNotice::MessagesDropped { count: 3, tokens: 4_000 },
            EngineNotice::CacheBroken { read: 1, expected: 2_000, cause: text() },
            EngineNotice::CompactionRefused { why: text() },
            EngineNotice::TurnEndedByHook { why: text() },
            EngineNotice::StopHookIgnored { times: 8 },
            EngineNotice::BackgroundHook,
            EngineNotice::AgentEnded { name: text(), end: AgentEnd::Done, task: text() },
            EngineNotice::AgentEnded { name: text(), end: AgentEnd::Failed, task: text() },
            EngineNotice::AgentEnded { name: text(), end: AgentEnd::Stopped, task: text() },
            EngineNotice::WebSearch { query: text() },
            EngineNotice::WebResults { pages: vec![(text(), text())] },
            EngineNotice::Text(text()),
        ] {
            assert_eq!(notice_text(&notice), notice.to_string());
        }
    }
}
