//! What every layer keeps, on any conversation.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use dormouse_base::MessageId;
use dormouse_conversation::{Message, Role, pairing_violations};
use proptest::prelude::*;

use super::testing::{Maker, budget, conversation, tokens};
use super::*;

/// The layers' edits, made.
fn applied(messages: &[Arc<Message>], plan: &LayerPlan) -> Vec<Arc<Message>> {
    let maker = Maker::new(99);
    apply_edits(messages, &plan.edits, |text| maker.meta(&text))
}

fn ids(messages: &[Arc<Message>]) -> Vec<MessageId> {
    messages.iter().map(|message| message.id).collect()
}

/// The last answer and what follows.
fn protected(messages: &[Arc<Message>]) -> &[Arc<Message>] {
    let from = messages.iter().rposition(|message| message.role == Role::Assistant);
    &messages[from.unwrap_or(0)..]
}

/// Holds for every view: pairs are whole, the tail is the same allocation, what is left is in order,
/// summaries are there, and what was promised was freed.
fn check(messages: &[Arc<Message>], plan: &LayerPlan) -> Result<Vec<Arc<Message>>, TestCaseError> {
    let view = applied(messages, plan);
    let whole = |messages: &[Arc<Message>]| {
        pairing_violations(messages.iter().map(|message| &**message)).is_empty()
    };
    prop_assert!(whole(messages), "the test's own conversation");
    prop_assert!(whole(&view), "{view:#?}");
    let tail = protected(messages);
    let end = &view[view.len() - tail.len()..];
    prop_assert!(tail.iter().zip(end).all(|(old, new)| Arc::ptr_eq(old, new)));
    let known: BTreeSet<MessageId> = ids(messages).into_iter().collect();
    let left: Vec<MessageId> = ids(&view).into_iter().filter(|id| known.contains(id)).collect();
    let order: BTreeSet<MessageId> = left.iter().copied().collect();
    prop_assert_eq!(
        &left,
        &ids(messages).into_iter().filter(|id| order.contains(id)).collect::<Vec<_>>()
    );
    for summary in messages.iter().filter(|message| message.flags.compact_summary) {
        prop_assert!(view.iter().any(|message| Arc::ptr_eq(message, summary)));
    }
    prop_assert_eq!(tokens(messages) - tokens(&view), plan.report.freed_tokens);
    Ok(view)
}

fn sent_summary(span: FoldSpan) -> SpanFold {
    SpanFold { span, summary: "in short".to_owned() }
}

proptest! {
    #[test]
    fn snip(messages in conversation(), window in 4_000_u32..60_000, prefix in 0_u64..2_000) {
        let (budget, rule) = (budget(window), SnipRule::default());
        let used = prefix + tokens(&messages);
        let Some(plan) = plan_snip(&messages, used, &budget, &rule, false) else { return Ok(()) };
        let view = check(&messages, &plan)?;
        prop_assert!(used > u64::from(budget.effective) * 85 / 100);
        prop_assert_eq!(view.iter().filter(|message| is_snip_marker(message)).count(), 1);
        let left = used - plan.report.freed_tokens;
        let again = plan_snip(&view, left, &budget, &rule, false);
        prop_assert!(again.is_none(), "{again:?}");
    }

    #[test]
    fn snip_stops_at_the_lower_share(messages in conversation(), window in 4_000_u32..60_000) {
        let (budget, rule) = (budget(window), SnipRule::default());
        let used = tokens(&messages);
        let Some(plan) = plan_snip(&messages, used, &budget, &rule, false) else { return Ok(()) };
        // Without the newest of the rounds that went, the lower share would not have been reached.
        let HistoryEdit::Drop { messages: dropped } = &plan.edits[1] else { panic!("{:?}", plan.edits) };
        let gone: BTreeSet<_> = dropped.iter().collect();
        let newest = crate::compact::rounds(&messages)
            .into_iter()
            .rfind(|round| gone.contains(&messages[round.range.start].id))
            .unwrap();
        let without = plan.report.freed_tokens.saturating_sub(newest.tokens);
        prop_assert!(used - without + 2 > u64::from(budget.effective) * 60 / 100);
    }

    #[test]
    fn clear(messages in conversation(), keep in 0_usize..8) {
        let rule = ClearRule { idle: Duration::from_hours(1), keep };
        prop_assert!(plan_clear(&messages, Duration::from_mins(59), &rule).is_none());
        let Some(plan) = plan_clear(&messages, Duration::from_hours(1), &rule) else {
            return Ok(());
        };
        let view = applied(&messages, &plan);
        prop_assert_eq!(ids(&view), ids(&messages));
        prop_assert_eq!(tokens(&messages) - tokens(&view), plan.report.freed_tokens);
        for (old, new) in messages.iter().zip(&view) {
            prop_assert_eq!(
                old.tool_results().collect::<Vec<_>>(),
                new.tool_results().collect::<Vec<_>>()
            );
            prop_assert!(old.role == Role::User || Arc::ptr_eq(old, new));
        }
        prop_assert!(plan_clear(&view, Duration::from_hours(2), &rule).is_none());
        let noted: BTreeSet<_> = cleared_ids(&plan).into_iter().collect();
        prop_assert_eq!(clear_results(&messages, &noted), Some(plan));
    }

    #[test]
    fn collapse(messages in conversation(), window in 4_000_u32..60_000, prefix in 0_u64..2_000) {
        let budget = budget(window);
        let used = prefix + tokens(&messages);
        let found = plan_spans(&messages, &[], used, &budget);
        prop_assert!(found.is_empty() || used >= u64::from(budget.effective) * 90 / 100);
        for span in &found {
            let bounds = u64::from(budget.compaction.span_min_tokens)..=u64::from(budget.compaction.span_max_tokens);
            prop_assert!(bounds.contains(&span.tokens), "{span:?}");
        }
        let folds: Vec<SpanFold> = found.iter().copied().map(sent_summary).collect();
        let Some(plan) = plan_folds(&messages, &folds, "t.jsonl") else {
            prop_assert!(folds.is_empty());
            return Ok(());
        };
        let view = check(&messages, &plan)?;
        prop_assert_eq!(view.iter().filter(|message| is_fold(message)).count(), folds.len());
        prop_assert!(plan_folds(&view, &folds, "t.jsonl").is_none());
        // Staged once, never staged again, neither before nor after they are folded.
        let more = plan_spans(&messages, &found, used, &budget);
        prop_assert!(more.iter().all(|span| !found.contains(span)));
        let both: Vec<SpanFold> = found.iter().chain(&more).copied().map(sent_summary).collect();
        let mut both = both;
        both.sort_by_key(|fold| messages.iter().position(|m| m.id == fold.span.from));
        let plan = plan_folds(&messages, &both, "t.jsonl").unwrap();
        prop_assert_eq!(plan.edits.len(), 2 * both.len(), "no two overlap");
        let known: BTreeSet<MessageId> = ids(&messages).into_iter().collect();
        for span in plan_spans(&view, &[], used, &budget) {
            prop_assert!(known.contains(&span.from) && known.contains(&span.to));
        }
    }

    #[test]
    fn cache_edits(messages in conversation(), above in 0_usize..30) {
        let rule = CacheEditRule { above, ..CacheEditRule::default() };
        let mut state = CacheEdits::default();
        let mut before: Vec<SentDeletions> = Vec::new();
        for end in 0..=messages.len() {
            let now = &messages[..end];
            state.plan(now, &rule);
            prop_assert_eq!(&state.sent()[..before.len()], &before[..], "sent again, same place");
            before = state.sent().to_vec();
            prop_assert!(state.plan(now, &rule).is_none(), "nothing new");
        }
        let all: Vec<_> = before.iter().flat_map(|sent| &sent.deletions).collect();
        let distinct: BTreeSet<_> = all.iter().map(|one| &one.cache_reference).collect();
        prop_assert_eq!(all.len(), distinct.len());
        prop_assert_eq!(CacheEdits::from_sent(before), state);
    }
}
