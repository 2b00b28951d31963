//! Collapse: the oldest spans are shown as summaries, like folded code (C-11, C-12).
//!
//! Spans are staged ahead of need, so that their summaries are ready when they are committed; the view is
//! the committed folds replayed over the messages. Invariant: spans are whole rounds, do not overlap, and
//! keep the bounds of the budget.

use std::collections::HashMap;
use std::sync::Arc;

use dormouse_base::MessageId;
use dormouse_conversation::{Budget, Message};

use super::edit::{HistoryEdit, LayerPlan, LayerReport};
use super::fold_span::{FoldSpan, SpanFold};
use super::fold_text::folded_text;
use super::view::{free_rounds, ids_of, share_of, tokens_of_text};
use crate::compact::Round;

/// Spans are staged from this share of the effective window on.
const STAGE_SHARE: f64 = 0.90;
/// Staged spans are committed from this share on.
const COMMIT_SHARE: f64 = 0.95;
/// So many spans are staged that this share would be left without them: each commit costs the cache,
/// so it should last a while.
const GOAL_SHARE: f64 = 0.70;

/// The spans to stage now, oldest first, besides those that are staged already. Empty below the share at
/// which staging begins, or when nothing more can be folded. A round that alone is longer than a span may
/// be is not folded.
pub fn plan_spans(
    messages: &[Arc<Message>],
    staged: &[FoldSpan],
    used: u64,
    budget: &Budget,
) -> Vec<FoldSpan> {
    if used < share_of(budget.effective, STAGE_SHARE) {
        return Vec::new();
    }
    let staged_tokens: u64 = staged.iter().map(|span| span.tokens).sum();
    let goal =
        used.saturating_sub(share_of(budget.effective, GOAL_SHARE)).saturating_sub(staged_tokens);
    let mut found = Found { messages, budget, spans: Vec::new(), tokens: 0, open: None };
    let taken = places(messages, staged);
    for round in free_rounds(messages) {
        if found.tokens >= goal {
            break;
        }
        if taken.iter().any(|range| range.contains(&round.range.start)) {
            found.close();
        } else {
            found.take(round);
        }
    }
    if found.tokens < goal {
        found.close();
    }
    found.spans
}

/// The spans found so far, and the one that grows.
struct Found<'a> {
    messages: &'a [Arc<Message>],
    budget: &'a Budget,
    spans: Vec<FoldSpan>,
    tokens: u64,
    open: Option<Round>,
}

impl Found<'_> {
    /// Adds a round to the open span, or closes it and begins the next.
    fn take(&mut self, round: Round) {
        let most = u64::from(self.budget.compaction.span_max_tokens);
        match &mut self.open {
            Some(open)
                if open.range.end == round.range.start && open.tokens + round.tokens <= most =>
            {
                open.range.end = round.range.end;
                open.tokens += round.tokens;
            }
            _ => {
                self.close();
                self.open = (round.tokens <= most).then_some(round);
            }
        }
    }

    /// Keeps the open span if it is long enough.
    fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        let ids = ids_of(self.messages, &open.range);
        if open.tokens >= u64::from(self.budget.compaction.span_min_tokens)
            && let (Some(from), Some(to)) = (ids.first(), ids.last())
        {
            self.tokens += open.tokens;
            self.spans.push(FoldSpan { from: *from, to: *to, tokens: open.tokens });
        }
    }
}

/// The folds to commit now: all that are staged, at once, or none before it is due. One whose summary is
/// not shorter than its span is not worth it.
pub fn folds_to_commit<'a>(
    staged: &'a [SpanFold],
    used: u64,
    budget: &Budget,
) -> Vec<&'a SpanFold> {
    if used < share_of(budget.effective, COMMIT_SHARE) {
        return Vec::new();
    }
    staged.iter().filter(|fold| tokens_of_text(&fold.summary) < fold.span.tokens).collect()
}

/// The edits that show the folds instead of their spans; folds whose span does not exist are passed over.
/// `transcript` is where the messages can be read.
pub fn plan_folds(
    messages: &[Arc<Message>],
    folds: &[SpanFold],
    transcript: &str,
) -> Option<LayerPlan> {
    let spans: Vec<FoldSpan> = folds.iter().map(|fold| fold.span).collect();
    let mut edits = Vec::new();
    let (mut freed_tokens, mut changed) = (0_u64, 0_u64);
    let mut done = 0;
    for (fold, range) in folds.iter().zip(all_places(messages, &spans)) {
        let Some(range) = range.filter(|range| range.start >= done) else { continue };
        let text = folded_text(fold, messages.get(range.clone()).unwrap_or_default(), transcript);
        let shown = tokens_of_text(&text);
        if shown >= fold.span.tokens {
            continue;
        }
        freed_tokens += fold.span.tokens - shown;
        changed += range.len() as u64;
        done = range.end;
        edits.push(HistoryEdit::Insert { before: Some(fold.span.from), text });
        edits.push(HistoryEdit::Drop { messages: ids_of(messages, &range) });
    }
    let report = LayerReport {
        layer: "collapse",
        freed_tokens,
        messages: messages.len() as u64,
        changed,
        prefix_changed: true,
    };
    (!edits.is_empty()).then_some(LayerPlan { edits, report })
}

/// Where the spans that are there stand.
fn places(messages: &[Arc<Message>], spans: &[FoldSpan]) -> Vec<std::ops::Range<usize>> {
    all_places(messages, spans).into_iter().flatten().collect()
}

/// Where each span stands; none for one that does not exist.
fn all_places(
    messages: &[Arc<Message>],
    spans: &[FoldSpan],
) -> Vec<Option<std::ops::Range<usize>>> {
    if spans.is_empty() {
        return Vec::new();
    }
    let places: HashMap<MessageId, usize> =
        messages.iter().enumerate().map(|(index, message)| (message.id, index)).collect();
    spans
        .iter()
        .map(|span| {
            let (from, to) = (*places.get(&span.from)?, *places.get(&span.to)?);
            (from <= to).then(|| from..to + 1)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Maker, budget, tokens};
    use super::super::{apply_edits, fold_prompt, is_fold};
    use super::*;

    fn long(maker: &mut Maker, rounds: usize) -> Vec<Arc<Message>> {
        let mut messages = vec![maker.user("do it")];
        (0..rounds).for_each(|_| messages.extend(maker.read(5_000)));
        messages.push(maker.says("done"));
        messages
    }

    #[test]
    fn staged_at_ninety_committed_at_ninety_five() {
        let mut maker = Maker::new(1);
        let messages = long(&mut maker, 34);
        let budget = budget(200_000);
        assert_eq!(plan_spans(&messages, &[], 161_999, &budget), []);
        let staged = plan_spans(&messages, &[], 162_000, &budget);
        // 36,000 tokens above seven tenths of 180,000: three spans of three rounds.
        assert_eq!(staged.iter().map(|span| span.tokens / 1_000).collect::<Vec<_>>(), [15, 15, 15]);
        assert_eq!(staged[0].from, messages[0].id);
        assert_eq!(plan_spans(&messages, &staged, 162_000, &budget), [], "enough is staged");
        let more = plan_spans(&messages, &staged, 180_000, &budget);
        assert_eq!(more.len(), 1);
        assert!(messages.iter().position(|m| m.id == more[0].from) > Some(15));

        let folds: Vec<SpanFold> =
            staged.iter().map(|span| SpanFold { span: *span, summary: "short".into() }).collect();
        assert!(folds_to_commit(&folds, 170_999, &budget).is_empty());
        assert_eq!(folds_to_commit(&folds, 171_000, &budget).len(), 3);
        let useless = SpanFold { span: staged[0], summary: "long ".repeat(100_000) };
        assert!(folds_to_commit(&[useless], 171_000, &budget).is_empty(), "not shorter");
    }

    #[test]
    fn a_fold_names_what_it_hides_and_how_to_have_it_back() {
        let mut maker = Maker::new(1);
        let messages = long(&mut maker, 34);
        let staged = plan_spans(&messages, &[], 162_000, &budget(200_000));
        let fold = SpanFold { span: staged[0], summary: "Read three files.".into() };
        let plan = plan_folds(&messages, &[fold], "/s/t.jsonl").unwrap();
        let view = apply_edits(&messages, &plan.edits, |text| maker.meta(&text));
        assert!(is_fold(&view[0]) && tokens(&view) < tokens(&messages) - 14_000);
        let text = view[0].text();
        for part in ["/expand", "/s/t.jsonl", "Read three files.", &staged[0].to.to_string()] {
            assert!(text.contains(part), "{part} is not in {text}");
        }
        let prompt = fold_prompt(&messages, &staged[0], 1_000);
        let parts = [
            "messages 1 to 7 of 70",
            "[1] user: do it",
            "[2] you: (calls Read",
            "[7] user: (result) word",
        ];
        for part in parts {
            assert!(prompt.contains(part), "{part} is not in {prompt}");
        }
        assert!(text.contains("The user's words in it") && text.contains("do it"), "{text}");
    }

    #[test]
    fn a_round_too_long_for_a_span_is_left_alone() {
        let mut maker = Maker::new(1);
        let mut messages = maker.read(25_000).to_vec();
        messages.extend(long(&mut maker, 10));
        let found = plan_spans(&messages, &[], 170_000, &budget(200_000));
        assert_eq!(found.first().map(|span| span.from), Some(messages[2].id));
    }
}
