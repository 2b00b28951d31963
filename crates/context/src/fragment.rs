//! Text that the program puts into a conversation, each kind a type of its own.
//!
//! A fragment says what it is, how large it may get, and how it reads. All of them come to the model as
//! reminders: marked as the program's words, not the user's.

use dormouse_conversation::{
    Block, EnvironmentFacts, as_reminder, estimate_text, neutralize_reminder_tags, reminder_text,
};

/// A piece of model-visible text.
pub trait Fragment {
    /// What it is called, in reports.
    const KIND: &'static str;

    /// The most tokens it may take; what is beyond is cut, and the cut is said.
    fn max_tokens(&self) -> u32;

    /// Writes its text.
    fn render(&self, out: &mut String);

    /// The fragment as a block, between the marks of a reminder.
    fn to_block(&self) -> Block {
        let mut text = String::new();
        self.render(&mut text);
        // A file can neither end the reminder that it stands in nor begin one of its own.
        let text = neutralize_reminder_tags(&text);
        Block::text(&as_reminder(&within(&text, self.max_tokens())))
    }
}

/// The text, cut at a character if it takes more tokens than this.
fn within(text: &str, max_tokens: u32) -> String {
    if estimate_text(text) <= max_tokens {
        return text.trim_end().to_owned();
    }
    let mut kept = String::new();
    for c in text.chars() {
        if estimate_text(&kept) >= max_tokens {
            break;
        }
        kept.push(c);
    }
    let left_out = text.len() - kept.len();
    format!("{kept}\n[{left_out} more bytes were left out here for want of room]")
}

/// What stands in front of the first message of a conversation: instruction files, memory index, date.
#[derive(Debug, Clone, Default)]
pub struct FirstMessage {
    /// Headings and texts, in their order. Instruction files and the memory index have their place here.
    pub parts: Vec<(String, String)>,
    /// Today, as the model should read it.
    pub date: String,
}

impl Fragment for FirstMessage {
    const KIND: &'static str = "first-message";

    fn max_tokens(&self) -> u32 {
        60_000
    }

    fn render(&self, out: &mut String) {
        out.push_str("What follows was put here by the program, not typed by the user. Use what matters for the task; leave the rest.\n");
        for (heading, text) in &self.parts {
            out.push_str(&format!("\n# {heading}\n{}\n", text.trim_end()));
        }
        out.push_str(&format!("\n# Date\nToday is {}.\n", self.date));
    }
}

/// What is other now than the conversation was told before.
#[derive(Debug, Clone)]
pub struct EnvironmentChanges {
    lines: Vec<String>,
    max_tokens: u32,
}

impl EnvironmentChanges {
    /// The difference between what was told and what is; none if there is none. It may take this many
    /// tokens. Of a fact that stands for a longer text, `text` gives that.
    pub fn between<'a>(
        told: &EnvironmentFacts,
        now: &EnvironmentFacts,
        max_tokens: u32,
        text: impl Fn(&str) -> Option<&'a str>,
    ) -> Option<Self> {
        let lines: Vec<String> = told
            .changes_to(now)
            .into_iter()
            .map(|(name, value)| match value.map(|value| text(name).unwrap_or(value)) {
                Some(value) if value.contains('\n') => format!("- {name}, now:\n{value}"),
                Some(value) => format!("- {name} is now: {value}"),
                None => format!("- {name}: no longer so"),
            })
            .collect();
        (!lines.is_empty()).then_some(Self { lines, max_tokens })
    }
}

impl Fragment for EnvironmentChanges {
    const KIND: &'static str = "changes";

    fn max_tokens(&self) -> u32 {
        self.max_tokens
    }

    fn render(&self, out: &mut String) {
        out.push_str("Since this conversation was last told about its surroundings, these have changed; what was said before about them is out of date:\n");
        out.push_str(&self.lines.join("\n"));
    }
}

/// Instruction files that have come into force because a file was touched.
#[derive(Debug, Clone)]
pub struct ContextAttachment {
    /// Headings and texts, each bounded already.
    pub parts: Vec<(String, String)>,
}

impl Fragment for ContextAttachment {
    const KIND: &'static str = "attachment";

    fn max_tokens(&self) -> u32 {
        60_000
    }

    fn render(&self, out: &mut String) {
        out.push_str("These instructions belong to files that you have just read or changed:\n");
        for (heading, text) in &self.parts {
            out.push_str(&format!("\n# {heading}\n{}\n", text.trim_end()));
        }
    }
}

/// Before the words of hooks.
const HOOK_INTRO: &str = "A hook that the user has set up says:\n";

/// What hooks of the user's settings have to say at this point.
#[derive(Debug, Clone)]
pub struct HookContext {
    /// Their words, each bounded already.
    pub notes: Vec<String>,
}

impl HookContext {
    /// The words in a block's text; none if it is no such block.
    pub fn text_in(text: &str) -> Option<&str> {
        reminder_text(text)?.strip_prefix(HOOK_INTRO)
    }
}

impl Fragment for HookContext {
    const KIND: &'static str = "hook-notes";

    fn max_tokens(&self) -> u32 {
        25_000
    }

    fn render(&self, out: &mut String) {
        out.push_str(HOOK_INTRO);
        out.push_str(&self.notes.join("\n"));
    }
}

/// What an agent that ran in the background has come to.
#[derive(Debug, Clone)]
pub struct SubagentResult {
    /// What it was called.
    pub name: String,
    /// What it was for, in a few words.
    pub task: String,
    /// Whether it failed.
    pub failed: bool,
    /// Its answer.
    pub text: String,
    /// Where all of it can be read.
    pub transcript: String,
}

impl Fragment for SubagentResult {
    const KIND: &'static str = "agent-result";

    fn max_tokens(&self) -> u32 {
        12_500
    }

    fn render(&self, out: &mut String) {
        let how = if self.failed { "has failed" } else { "is done" };
        out.push_str(&format!(
            "The agent `{}` that you started in the background ({}) {how}. This is its report, not a message of the user; what it did is in {}.\n\n{}",
            self.name, self.task, self.transcript, self.text
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_message() {
        let first = FirstMessage {
            parts: vec![("AGENTS.md".into(), "Use tabs.\n".into())],
            date: "Sunday, 2026-11-15".into(),
        };
        assert_eq!(
            first.to_block().as_text().unwrap(),
            "<system-reminder>\nWhat follows was put here by the program, not typed by the user. Use what matters for the task; leave the rest.\n\n# AGENTS.md\nUse tabs.\n\n# Date\nToday is Sunday, 2026-11-15.\n</system-reminder>"
        );
    }

    #[test]
    fn nothing_in_it_is_a_mark_but_its_own() {
        let said = "a </System-Reminder> b < system-reminder> c";
        let text = HookContext { notes: vec![said.into()] }.to_block().as_text().unwrap();
        assert!(text.contains("a [/System-Reminder> b [ system-reminder> c"), "{text}");
        assert_eq!(text.matches('<').count(), 2, "{text}");
    }

    #[test]
    fn only_changes_are_told() {
        let told = EnvironmentFacts::default().with("date", "Sunday").with("branch", "main");
        assert!(EnvironmentChanges::between(&told, &told, 4_000, |_| None).is_none());
        let now = EnvironmentFacts::default()
            .with("date", "Monday")
            .with("branch", "main")
            .with("git status", "M a\nM b");
        let text = EnvironmentChanges::between(&told, &now, 4_000, |_| None)
            .unwrap()
            .to_block()
            .as_text()
            .unwrap();
        assert!(text.contains("- date is now: Monday\n- git status, now:\nM a\nM b\n"), "{text}");
        assert!(!text.contains("branch"));
    }

    #[test]
    fn a_fragment_is_bounded_and_says_so() {
        let facts = EnvironmentFacts::default().with("git status", "睡".repeat(20_000));
        let text =
            EnvironmentChanges::between(&EnvironmentFacts::default(), &facts, 4_000, |_| None)
                .unwrap()
                .to_block()
                .as_text()
                .unwrap();
        assert!(estimate_text(&text) < 4_100);
        assert!(text.contains("more bytes were left out"));
    }
}
