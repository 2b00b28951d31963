//! Stored results (C-2): taken away from a session that has them, or put into one that has not.

use std::collections::HashMap;
use std::sync::Arc;

use dormouse_base::LayerSwitch;
use dormouse_conversation::known_tools::{BASH, GREP, READ};
use dormouse_conversation::{
    Block, BlockKind, Budget, Message, ResultContent, ToolUseId, estimate_bytes,
};

use super::counters::{with, without};
use super::results::LayerStatus;
use super::simulated_request::{SimulatedOutcome, SimulatedRequest};
use super::simulations::LayerSimulation;
use crate::result_storage_plan::{StorageLimit, preview_of, stream_file_name};

/// How the text that stands for a stored result begins, here and in other agents.
const MARK: &str = "<persisted-output>";
/// Tools with a bound of their own, in characters.
const BOUNDS: [(&str, StorageLimit); 3] = [
    (READ.name, StorageLimit::Unlimited),
    (BASH.name, StorageLimit::Chars(30_000)),
    (GREP.name, StorageLimit::Chars(20_000)),
];

/// The session with results stored that were not, or with those put back that were.
pub(super) struct Storing {
    status: LayerStatus,
    bound: StorageLimit,
    /// The tools of the calls that were made.
    tools: HashMap<ToolUseId, String>,
    /// What storing frees in the messages that are in requests.
    freed: u64,
    /// Messages with results that would have been stored since the last request, and what that frees.
    new_runs: u64,
    new_freed: u64,
}

impl Storing {
    pub(super) fn new(status: LayerStatus, budget: &Budget) -> Self {
        let most = usize::try_from(budget.results.tool_chars).unwrap_or(usize::MAX);
        let bound = StorageLimit::Chars(most);
        Self { status, bound, tools: HashMap::new(), freed: 0, new_runs: 0, new_freed: 0 }
    }

    /// What storing the results of a message frees.
    fn freed_in(&self, message: &Message) -> u64 {
        message.blocks.iter().map(|block| self.freed_by(block)).sum()
    }

    fn freed_by(&self, block: &Block) -> u64 {
        let BlockKind::ToolResult { id } = block.kind() else { return 0 };
        if self.status == LayerStatus::Fired {
            return stored_freed(block).unwrap_or(0);
        }
        let tool = self.tools.get(id).map_or("", String::as_str);
        let own = BOUNDS.iter().find(|(name, _)| *name == tool);
        let bound = own.map_or(self.bound, |(_, bound)| *bound);
        let StorageLimit::Chars(most) = bound else { return 0 };
        // The text itself may be abridged: its length is known, and a preview shows no more than what was kept.
        let Some(length) = block.result_length().filter(|length| length.chars > most) else {
            return 0;
        };
        let Some(ResultContent::Text(head)) = block.result_content() else { return 0 };
        let (chars, bytes) = (length.chars as u64, length.bytes as u64);
        let left = Block::text(&preview_of(&head, chars, bytes, &stream_file_name(id))).tokens();
        u64::from(block.tokens().saturating_sub(left))
    }
}

impl LayerSimulation for Storing {
    fn layer(&self) -> LayerSwitch {
        LayerSwitch::StoredResults
    }

    fn add_message(&mut self, message: &Arc<Message>) {
        for block in &message.blocks {
            if let BlockKind::ToolUse { id, name } = block.kind() {
                self.tools.insert(id.clone(), name.clone());
            }
        }
        let freed = self.freed_in(message);
        self.new_runs += u64::from(freed > 0);
        self.new_freed = self.new_freed.saturating_add(freed);
        self.freed = self.freed.saturating_add(freed);
    }

    fn view_changed(&mut self, view: &[Arc<Message>]) {
        self.freed = view.iter().map(|message| self.freed_in(message)).sum();
    }

    fn compacted(&mut self, view: &[Arc<Message>], _: u64) {
        self.view_changed(view);
    }

    fn request(&mut self, moment: &SimulatedRequest<'_>) -> SimulatedOutcome {
        let fired = self.status == LayerStatus::Fired;
        let usage = if fired {
            with(moment.usage, self.freed)
        } else {
            without(moment.usage, self.freed, None)
        };
        SimulatedOutcome {
            overflows: fired && usage.input_total() > u64::from(moment.budget.window),
            usage,
            kept_out: self.freed,
            runs: std::mem::take(&mut self.new_runs),
            freed: std::mem::take(&mut self.new_freed),
            ..SimulatedOutcome::default()
        }
    }
}

/// What storing a result freed; none for one that was not stored.
pub(super) fn stored_freed(block: &Block) -> Option<u64> {
    let whole = estimate_bytes(stored_bytes(block)?);
    Some(whole.saturating_sub(u64::from(block.tokens())))
}

/// How long a result was before it was stored; none for one that was not.
pub(super) fn stored_bytes(block: &Block) -> Option<u64> {
    if !matches!(block.kind(), BlockKind::ToolResult { .. }) || !block.raw().contains(MARK) {
        return None;
    }
    let Some(ResultContent::Text(text)) = block.result_content() else { return None };
    let head = text.trim_start().strip_prefix(MARK)?;
    let head: String = head.chars().take(200).collect();
    in_bytes(&head)
}

/// `(22000 bytes)`, as we write it, or `(119.8KB)`, as others do.
fn in_bytes(head: &str) -> Option<u64> {
    let inside = head.split_once('(')?.1.split_once(')')?.0;
    let digits: String = inside.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
    let unit: f64 = match inside.chars().find(char::is_ascii_alphabetic)? {
        'K' | 'k' => 1_000.0,
        'M' => 1_000_000.0,
        _ => 1.0,
    };
    let number: f64 = digits.parse().ok()?;
    Some(dormouse_conversation::Usage::tokens(Some(number * unit)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result_storage_plan::preview;

    #[test]
    fn lengths_of_stored_results() {
        let ours = preview(&"x".repeat(90_000), "/t/a.txt");
        assert_eq!(in_bytes(&ours), Some(90_000));
        assert_eq!(in_bytes("\nOutput too large (119.8KB). Saved to: x"), Some(119_800));
        assert_eq!(in_bytes("(2.5 MB)"), Some(2_500_000));
        assert_eq!([in_bytes("no length"), in_bytes("(-)"), in_bytes("(.B)")], [None; 3]);
    }

    #[test]
    fn only_a_result_that_begins_so_was_stored() {
        let result = |text: &str| {
            let text = ResultContent::Text(text.to_owned());
            stored_bytes(&Block::tool_result(&ToolUseId::new("t"), &text, false))
        };
        assert_eq!(result(&preview(&"x".repeat(90_000), "/t/a.txt")), Some(90_000));
        assert_eq!(result("the mark <persisted-output> (9 bytes) in a file"), None);
        assert_eq!(stored_bytes(&Block::text("<persisted-output>\n(9 bytes)")), None);
    }
}
