//! Snip: the oldest whole rounds are left out, and a marker says so (C-6).

use std::sync::Arc;

use dormouse_base::MessageId;
use dormouse_conversation::{Budget, Message};

use super::edit::{Edit, LayerReport, Plan};
use super::view::{SNIP_MARK, free_rounds, made_text, of, share_of, tokens_of_text};

/// When to snip, and how far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SnipRule {
    /// Due above this share of the effective window.
    pub from_share: f64,
    /// Done at this share of it.
    pub to_share: f64,
}

impl Default for SnipRule {
    fn default() -> Self {
        Self { from_share: 0.85, to_share: 0.60 }
    }
}

/// The rounds to leave out: the oldest, until what is used is at most the lower share. None if it is not
/// due or nothing can go. `forced` (by hand) asks below the upper share too, and brings a conversation
/// that is below the lower one down to that share of itself. The usage of the last answer still counts
/// what is left out here: the caller hands `freed_tokens` on.
pub fn plan_snip(
    messages: &[Arc<Message>],
    used: u64,
    budget: &Budget,
    rule: &SnipRule,
    forced: bool,
) -> Option<Plan> {
    if !forced && used <= share_of(budget.effective, rule.from_share) {
        return None;
    }
    let whole = u32::try_from(used).unwrap_or(u32::MAX).min(budget.effective);
    let gone = oldest(messages, used.saturating_sub(share_of(whole, rule.to_share)));
    let text = marker(gone.now.saturating_add(gone.earlier));
    let freed_tokens = gone.tokens.saturating_sub(tokens_of_text(&text));
    // A marker that takes the place of a marker, or more room than it makes, is not worth the cache.
    if gone.now == 0 || freed_tokens == 0 {
        return None;
    }
    let report = LayerReport {
        layer: "snip",
        freed_tokens,
        messages: messages.len() as u64,
        changed: gone.messages.len() as u64,
        prefix_changed: true,
    };
    let insert = Edit::Insert { before: gone.last_run, text };
    Some(Plan { edits: vec![insert, Edit::Drop { messages: gone.messages }], report })
}

/// What goes.
#[derive(Default)]
struct Gone {
    messages: Vec<MessageId>,
    tokens: u64,
    /// Messages that are left out now.
    now: u64,
    /// Messages that the markers among them stand for.
    earlier: u64,
    /// The first message of the last unbroken run: the marker stands there.
    last_run: Option<MessageId>,
}

impl Gone {
    fn take(&mut self, message: &Message) {
        match left_out_before(message) {
            Some(earlier) => self.earlier = self.earlier.saturating_add(earlier),
            None => self.now += 1,
        }
        self.messages.push(message.id);
    }
}

/// The oldest rounds that may go, until the goal is reached.
fn oldest(messages: &[Arc<Message>], goal: u64) -> Gone {
    let mut gone = Gone::default();
    let mut end = None;
    for round in free_rounds(messages) {
        // What the marker will take has to be freed too.
        if gone.tokens >= goal.saturating_add(MARKER_TOKENS) || goal == 0 {
            break;
        }
        let run = of(messages, &round.range);
        if end != Some(round.range.start) {
            gone.last_run = run.first().map(|message| message.id);
        }
        end = Some(round.range.end);
        gone.tokens = gone.tokens.saturating_add(round.tokens);
        for message in run {
            gone.take(message);
        }
    }
    gone
}

/// More than any marker takes.
const MARKER_TOKENS: u64 = 100;

/// What stands in place of messages that were left out.
fn marker(messages: u64) -> String {
    format!(
        "{SNIP_MARK}{messages}\">{messages} earlier messages were left out here to make room. They are in the transcript of this session. If something from them is needed, look it up again or ask; do not guess.</left-out>"
    )
}

/// How many messages a marker stands for; none if the message is no marker.
fn left_out_before(message: &Message) -> Option<u64> {
    let text = made_text(message)?;
    text.strip_prefix(SNIP_MARK)?.split('"').next()?.parse().ok()
}
