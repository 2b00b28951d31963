//! The one message of a fork's own, after the messages it shares with its parent.

use dormouse_conversation::{Block, MessageFlags, ResultContent, ToolUseId};

/// How the last block of the opening message begins.
pub const FORK_TAG: &str = "<forked-conversation>";

/// Stands in for the result of every call of the parent's last response.
const PLACEHOLDER: &str =
    "Started; its result goes to the conversation that this one was forked from.";

/// Flags of a fork's messages.
pub(super) const FORK_FLAGS: MessageFlags =
    MessageFlags { meta: true, side_chain: true, compact_summary: false, attachment: false };

/// The same placeholder for every open call, then the task. So forks of one response share all bytes up to the task.
pub(super) fn opening_blocks(open_calls: &[ToolUseId], task: &str) -> Vec<Block> {
    let placeholder = ResultContent::Text(PLACEHOLDER.to_owned());
    let results = open_calls.iter().map(|id| Block::tool_result(id, &placeholder, false));
    results.chain([Block::text(&format!("{FORK_TAG}\n{task}"))]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forks_differ_only_in_their_last_block() {
        let calls = [ToolUseId::new("a"), ToolUseId::new("b")];
        let one = opening_blocks(&calls, "one");
        let two = opening_blocks(&calls, "two");
        assert_eq!(one.len(), 3);
        assert_eq!(one[..2], two[..2]);
        assert_ne!(one[2], two[2]);
        assert_eq!(opening_blocks(&[], "one"), one[2..]);
    }
}
