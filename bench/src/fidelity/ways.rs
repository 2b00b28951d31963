//! The ways to compact that are compared: what the model sees afterwards, as text.

use std::sync::Arc;

use dormouse_context::compact::{
    CompactionMethod, CompactionSummary, FoldInput, INDEX_CHARS, TailRule, UserText,
    compose_summary, fold_messages, identifier_index, keep_user_texts, notes, plan_tail,
    user_text_in,
};
use dormouse_conversation::{Budget, ContextWindow, Message};

use super::cases::Case;
use super::notes::scripted;

const TRANSCRIPT: &str = "/home/person/.dormouse/session.jsonl";
const NOTES: &str = "/home/person/.dormouse/notes.md";

/// A way, by name, and the text that it leaves.
pub(crate) type NamedWay = (&'static str, fn(&Case) -> String);

/// All of them, in the order of the table.
pub(crate) const WAYS: [NamedWay; 5] = [
    ("its own summary", |case| case.summary.clone()),
    ("the same, our index", own_with_index),
    ("our fold", folded),
    ("notes", noted),
    ("notes and tail", noted_with_tail),
];

fn budget() -> Budget {
    Budget::for_window(ContextWindow::new(200_000).expect("a window"), 64_000)
}

fn own_with_index(case: &Case) -> String {
    format!("{}\n{}", case.summary, identifier_index(&case.dropped, &case.summary, INDEX_CHARS))
}

fn folded(case: &Case) -> String {
    let earlier = case.dropped.first().filter(|message| message.flags.compact_summary);
    let earlier = earlier.map(|message| message.text());
    let text = fold_messages(&FoldInput {
        dropped: &case.dropped,
        earlier_summary: earlier.as_deref(),
        notes: None,
        open_tasks: &[],
        transcript: TRANSCRIPT,
        budget_tokens: u64::from(budget().compaction.summary_tokens),
    });
    message(CompactionMethod::Fold, &text, &case.dropped)
}

fn noted(case: &Case) -> String {
    let text = notes::truncate_notes(&scripted(&case.dropped), &budget(), NOTES);
    message(CompactionMethod::Notes, &text, &case.dropped)
}

/// As shipped: the newest messages stay as they are.
fn noted_with_tail(case: &Case) -> String {
    let tail = plan_tail(&case.dropped, case.dropped.len(), &TailRule::of(&budget()));
    let (gone, kept) = case.dropped.split_at(tail.from);
    let text = notes::truncate_notes(&scripted(gone), &budget(), NOTES);
    let mut after = message(CompactionMethod::Notes, &text, gone);
    for text in kept.iter().flat_map(|message| super::cases::all_texts(message)) {
        after.push('\n');
        after.push_str(&text);
    }
    after
}

/// The summary message, with the user's words and the index.
fn message(way: CompactionMethod, text: &str, dropped: &[Arc<Message>]) -> String {
    let words = keep_user_texts(&said(dropped), u64::from(budget().compaction.user_words_tokens));
    let index = identifier_index(dropped, &format!("{text}\n{words}"), INDEX_CHARS);
    compose_summary(&CompactionSummary {
        method: way,
        text,
        user_words: &words,
        index: &index,
        transcript: TRANSCRIPT,
        lost_words: "",
        lost_uncovered: false,
    })
}

fn said(messages: &[Arc<Message>]) -> Vec<UserText> {
    let one = |(number, message): (usize, &Arc<Message>)| {
        Some(UserText {
            message: message.id,
            at: message.timestamp,
            text: user_text_in(message)?,
            location: format!("message {number}"),
        })
    };
    messages.iter().enumerate().filter_map(one).collect()
}
