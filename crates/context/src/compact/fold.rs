//! A summary without a model (C-19): worse than a written one, never a dead end.
//!
//! What can be told from the calls and results alone, the newest first, each part within its share of the
//! room; what a part does not use goes to those behind it.

mod work;

use std::sync::Arc;

use dormouse_conversation::{Message, Role};

use self::work::Work;
use super::texts::{bytes_of, head_and_tail};

/// What is folded. The user's words are not part of it: they stand beside it in the summary message.
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

/// The folded text: open tasks, the model's last words, files touched, errors, commands run with their
/// outcome, notes so far, the earlier summary, and where the whole is.
pub fn fold_messages(input: &FoldInput<'_>) -> String {
    let work = Work::of(input.dropped);
    let mut fold = Fold::new(input);
    fold.list("Open tasks", 2, input.open_tasks.to_vec());
    fold.text("What the model said last", 3, &last_words(input.dropped));
    fold.list("Files, the latest first", 3, work.files());
    fold.list("What failed, the latest first", 2, work.failures());
    fold.list("Commands and how they ended, the latest first", 4, work.commands());
    fold.text("Notes of this session so far", 6, input.notes.unwrap_or_default());
    fold.text("The summary of what was before", 6, input.earlier_summary.unwrap_or_default());
    fold.out
}

/// All that is said in numbers of shares, together.
const SHARES: usize = 26;

/// The text so far, and the room for the rest of it.
struct Fold {
    out: String,
    left: usize,
    shares: usize,
}

impl Fold {
    fn new(input: &FoldInput<'_>) -> Self {
        let out = format!(
            "No model wrote this; it is what the calls and results tell. The whole conversation stands in {}.\n",
            input.transcript
        );
        let left = bytes_of(input.budget_tokens).saturating_sub(out.len());
        Self { out, left, shares: SHARES }
    }

    /// The room for a part of so many shares of what is left.
    fn room(&mut self, shares: usize) -> usize {
        let room = self.left * shares / self.shares.max(1);
        self.shares = self.shares.saturating_sub(shares);
        room
    }

    fn text(&mut self, heading: &str, shares: usize, text: &str) {
        let room = self.room(shares).saturating_sub(heading.len() + 8);
        if !text.trim().is_empty() && room > 100 {
            self.add(heading, &head_and_tail(text.trim(), room));
        }
    }

    /// As many lines as fit, and how many there are more.
    fn list(&mut self, heading: &str, shares: usize, lines: Vec<String>) {
        let mut room = self.room(shares).saturating_sub(heading.len() + 60);
        let all = lines.len();
        let mut shown = Vec::new();
        for line in lines {
            if line.len() + 3 > room {
                break;
            }
            room -= line.len() + 3;
            shown.push(format!("- {line}"));
        }
        if shown.len() < all {
            shown.push(format!("- {} more, in the transcript", all - shown.len()));
        }
        if all > 0 {
            self.add(heading, &shown.join("\n"));
        }
    }

    fn add(&mut self, heading: &str, text: &str) {
        let before = self.out.len();
        self.out.push_str(&format!("\n### {heading}\n{text}\n"));
        self.left = self.left.saturating_sub(self.out.len() - before);
    }
}

/// The last text of the model that says something.
fn last_words(messages: &[Arc<Message>]) -> String {
    messages
        .iter()
        .rev()
        .filter(|message| message.role == Role::Assistant && !message.is_synthetic())
        .map(|message| message.text())
        .find(|text| !text.trim().is_empty())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compact::testing::{assistant, call_of, of_model, of_user, results, user};
    use dormouse_conversation::{Block, MessageFlags, ResultContent, ToolUseId};

    fn input(dropped: &[Arc<Message>]) -> FoldInput<'_> {
        FoldInput {
            dropped,
            earlier_summary: None,
            notes: None,
            open_tasks: &[],
            transcript: "/s/t.jsonl",
            budget_tokens: 2_000,
        }
    }

    fn call(
        id: &str,
        name: &str,
        arguments: &str,
        result: &str,
        failed: bool,
    ) -> [Arc<Message>; 2] {
        let result = ResultContent::Text(result.to_owned());
        let result = Block::tool_result(&ToolUseId::new(id), &result, failed);
        [
            of_model(vec![call_of(id, name, arguments)]),
            of_user(vec![result], MessageFlags::default()),
        ]
    }

    #[test]
    fn what_the_calls_tell() {
        let messages: Vec<Arc<Message>> = [
            call("1", "Read", r#"{"file_path":"/p/a.rs"}"#, "text", false),
            call(
                "2",
                "Edit",
                r#"{"file_path":"/p/a.rs","old_string":"x","new_string":"y"}"#,
                "ok",
                false,
            ),
            call("3", "Write", r#"{"file_path":"/p/b.rs","content":"x"}"#, "no such folder", true),
            call(
                "4",
                "Bash",
                r#"{"command":"cargo test\n"}"#,
                "running\nerror: it broke\n[exit code 101]",
                false,
            ),
            call("5", "Bash", r#"{"command":"ls"}"#, "a\nb\n[exit code 0]", false),
        ]
        .concat();
        let mut messages = messages;
        messages.push(assistant(&["It is nearly done."], &[]));
        let tasks = ["write the test".to_owned()];
        let text = fold_messages(&FoldInput {
            notes: Some("# Notes"),
            earlier_summary: Some("Before."),
            open_tasks: &tasks,
            ..input(&messages)
        });
        assert_eq!(
            text,
            "No model wrote this; it is what the calls and results tell. The whole conversation stands in /s/t.jsonl.\n\n\
             ### Open tasks\n- write the test\n\n\
             ### What the model said last\nIt is nearly done.\n\n\
             ### Files, the latest first\n- /p/b.rs (written, failed)\n- /p/a.rs (read, edited)\n\n\
             ### What failed, the latest first\n- Write: no such folder\n\n\
             ### Commands and how they ended, the latest first\n- `ls`: done\n- `cargo test`: exit code 101, error: it broke\n\n\
             ### Notes of this session so far\n# Notes\n\n\
             ### The summary of what was before\nBefore.\n"
        );
    }

    #[test]
    fn bounded_however_much_there_is() {
        let path = |n: usize| format!(r#"{{"file_path":"/p/{n}/{}"}}"#, "x".repeat(300));
        let mut messages: Vec<Arc<Message>> = (0..500)
            .flat_map(|n| call(&n.to_string(), "Read", &path(n), "睡", n % 2 == 0))
            .collect();
        messages.push(assistant(&[&"word ".repeat(100_000)], &[]));
        let notes = "note\n".repeat(100_000);
        let text = fold_messages(&FoldInput { notes: Some(&notes), ..input(&messages) });
        assert!(text.len() <= 8_000, "{}", text.len());
        assert!(text.contains("more, in the transcript") && text.contains("/p/499/"));
        assert!(
            fold_messages(&FoldInput { budget_tokens: 0, ..input(&messages) })
                .contains("/s/t.jsonl")
        );
    }

    #[test]
    fn mean_messages() {
        let text = "睡".repeat(100_000) + "\0\u{202e}";
        let messages = [user(&text), assistant(&[&text], &["1"]), results(&[("1", &text)])];
        assert!(fold_messages(&input(&messages)).len() <= 8_000);
        let odd = [
            of_model(vec![call_of("1", "Bash", r#"{"command":5}"#)]),
            of_model(vec![call_of("2", "Read", "[]")]),
        ];
        assert!(!fold_messages(&input(&odd)).contains("###"));
    }
}
