//! A summary without a model (C-19): worse than a written one, never a dead end.

use std::sync::Arc;

use dormouse_conversation::{Message, Role};

use super::texts::{bytes_of, head_and_tail};

/// What is folded. The person's words are not part of it: they stand beside it in the summary message.
#[derive(Debug, Clone, Copy)]
pub struct FoldInput<'a> {
    /// The messages that go.
    pub dropped: &'a [Arc<Message>],
    /// The summary of an earlier compaction, which goes too.
    pub earlier_summary: Option<&'a str>,
    /// The session notes so far.
    pub notes: Option<&'a str>,
    /// What is still to be done, a line each.
    pub open_tasks: &'a [String],
    /// The transcript's path.
    pub transcript: &'a str,
    /// What the fold may take.
    pub budget_tokens: u64,
}

/// The folded text: files touched, commands run with their outcome, errors, the model's last words, open
/// tasks, notes so far, and where the whole is.
pub fn fold(input: &FoldInput<'_>) -> String {
    let last = input.dropped.iter().rev().find(|message| message.role == Role::Assistant);
    let mut text = format!("The whole conversation stands in {}.\n", input.transcript);
    for task in input.open_tasks {
        text.push_str(&format!("- open: {task}\n"));
    }
    for part in [input.notes, input.earlier_summary].into_iter().flatten() {
        text.push_str(&format!("\n{part}\n"));
    }
    if let Some(last) = last {
        text.push_str(&format!("\n{}\n", last.text()));
    }
    head_and_tail(&text, bytes_of(input.budget_tokens)).into_owned()
}
