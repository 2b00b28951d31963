//! Snip: the oldest whole rounds are left out, and a marker says so (C-6).

use std::sync::Arc;

use dormouse_base::MessageId;
use dormouse_conversation::{Budget, Message, Role};

use super::edit::{HistoryEdit, LayerPlan, LayerReport};
use super::view::{SNIP_MARK, free_rounds, is_snip_marker, of, share_of, tokens_of_text};

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
/// due or nothing can go. `forced` (manually) asks below the upper share too; what does not fill the
/// window is brought down to the lower share of itself. The usage of the last answer still counts
/// what is left out here: the caller hands `freed_tokens` on.
pub fn plan_snip(
    messages: &[Arc<Message>],
    used: u64,
    budget: &Budget,
    rule: &SnipRule,
    forced: bool,
) -> Option<LayerPlan> {
    if !forced && used <= share_of(budget.effective, rule.from_share) {
        return None;
    }
    let below = u32::try_from(used).ok().filter(|used| forced && *used < budget.effective);
    let whole = below.unwrap_or(budget.effective);
    let goal = used.saturating_sub(share_of(whole, rule.to_share));
    // What the marker will take has to be freed too; its length hangs on the count by a digit or two.
    let gone = oldest(messages, goal + tokens_of_text(&marker(messages.len() as u64)));
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
    let insert = HistoryEdit::Insert { before: gone.last_run, text };
    Some(LayerPlan { edits: vec![insert, HistoryEdit::Drop { messages: gone.messages }], report })
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

/// The oldest rounds that may go, until the goal is reached. What the user asked for last stays, however long ago that was: a
/// subagent has no other task.
fn oldest(messages: &[Arc<Message>], goal: u64) -> Gone {
    let mut gone = Gone::default();
    let mut end = None;
    let request = messages.iter().rposition(|message| is_request(message));
    for round in free_rounds(messages) {
        if gone.tokens >= goal {
            break;
        }
        // An earlier marker behind the request is no part of it.
        let stays = request.is_some_and(|at| round.range.contains(&at));
        let run = of(messages, &round.range).iter();
        let run: Vec<_> = run.filter(|message| !stays || is_snip_marker(message)).collect();
        let Some(first) = run.first() else { continue };
        if stays || end != Some(round.range.start) {
            gone.last_run = Some(first.id);
        }
        end = Some(round.range.end);
        for message in run {
            gone.tokens = gone.tokens.saturating_add(message.tokens());
            gone.take(message);
        }
    }
    gone
}

/// Whether the user asked for something.
fn is_request(message: &Message) -> bool {
    let is_inserted = message.flags.meta || message.flags.compact_summary;
    message.role == Role::User && !is_inserted && message.tool_results().next().is_none()
}

/// What replaces messages that were left out.
fn marker(messages: u64) -> String {
    format!(
        "{SNIP_MARK}{messages}\">{messages} earlier messages were left out here to make room. They are in the transcript of this session. If something from them is needed, look it up again or ask; do not guess.</left-out>"
    )
}

/// How many messages a marker stands for; none if the message is no marker.
fn left_out_before(message: &Message) -> Option<u64> {
    let text = is_snip_marker(message).then(|| message.text())?;
    text.strip_prefix(SNIP_MARK)?.split('"').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::super::apply_edits;
    use super::super::testing::{Maker, budget};
    use super::*;

    fn long(maker: &mut Maker) -> Vec<Arc<Message>> {
        let mut messages = vec![maker.user("do it")];
        (0..10).for_each(|_| messages.extend(maker.read(2_000)));
        messages.push(maker.says("done"));
        messages
    }

    fn texts(messages: &[Arc<Message>]) -> Vec<String> {
        messages.iter().filter(|message| is_snip_marker(message)).map(|one| one.text()).collect()
    }

    #[test]
    fn the_oldest_go_and_a_marker_says_how_many() {
        let mut maker = Maker::new(1);
        let messages = long(&mut maker);
        // The effective window is 18,000: more than 15,300 is too much, 10,800 is the goal.
        let budget = budget(24_000);
        let rule = SnipRule::default();
        assert_eq!(plan_snip(&messages, 15_300, &budget, &rule, false), None);
        let plan = plan_snip(&messages, 15_301, &budget, &rule, false).unwrap();
        assert_eq!(plan.report.changed, 6, "three rounds of two, not that of the request");
        let view = apply_edits(&messages, &plan.edits, |text| maker.meta(&text));
        assert_eq!(view.len(), messages.len() - 6 + 1);
        assert!(texts(&view)[0].contains("6 earlier messages were left out here"));
        assert_eq!(view[0].text(), "do it", "what was asked for stays");
        assert!(is_snip_marker(&view[3]), "in their place");
    }

    #[test]
    fn a_second_marker_takes_the_place_of_the_first_and_counts_on() {
        let mut maker = Maker::new(1);
        let (budget, rule) = (budget(24_000), SnipRule::default());
        let messages = long(&mut maker);
        let plan = plan_snip(&messages, 16_000, &budget, &rule, false).unwrap();
        let view = apply_edits(&messages, &plan.edits, |text| maker.meta(&text));
        let plan = plan_snip(&view, 16_000, &budget, &rule, false).unwrap();
        let view = apply_edits(&view, &plan.edits, |text| maker.meta(&text));
        assert!(texts(&view)[0].contains("12 earlier messages"), "{:?}", texts(&view));
        assert_eq!(texts(&view).len(), 1);
    }

    #[test]
    fn by_hand_it_works_below_the_share_too() {
        let mut maker = Maker::new(1);
        let (budget, rule) = (budget(200_000), SnipRule::default());
        let messages = long(&mut maker);
        let plan = plan_snip(&messages, 20_000, &budget, &rule, true).unwrap();
        assert!((8_000..10_500).contains(&plan.report.freed_tokens), "{:?}", plan.report);
        assert_eq!(plan_snip(&messages[..1], 20_000, &budget, &rule, true), None);
        assert_eq!(plan_snip(&[], 0, &budget, &rule, true), None);
    }

    #[test]
    fn a_summary_stays_and_the_marker_stands_behind_it() {
        let mut maker = Maker::new(1);
        let mut messages = vec![maker.summary("so far")];
        messages.extend(long(&mut maker));
        let plan = plan_snip(&messages, 16_000, &budget(24_000), &SnipRule::default(), false);
        let view = apply_edits(&messages, &plan.unwrap().edits, |text| maker.meta(&text));
        assert!(view[0].flags.compact_summary && is_snip_marker(&view[4]));
    }
}
