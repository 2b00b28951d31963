//! The model: it looks at the end of a request and does what the turn's errand says, or what a fork asks for.

use dormouse_engine::FORK_TAG;
use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::typed_text;
use serde_json::{Value, json};

use super::agent_script::{FORKED, answer_forked, rounds_with_agents};
use super::errand::{Deed, answer, thought, turn_of};
use super::memories::dream;

/// What a copy of the conversation is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fork {
    /// A summary in place of the conversation.
    Summary,
    /// A summary in place of a span of it.
    Span,
    /// Notes about it.
    Notes,
    /// Memories worth keeping.
    Extraction,
    /// Memories put in order.
    Dream,
    /// An agent's work.
    Agent,
    /// Anything else.
    Other,
}

/// The line below which the notes say where things stand.
const STATE: &str =
    "_What is being worked on right now, what is unfinished, and the very next step_";

/// What a fork is told in a small window: notes and summaries are plain text there.
const PLAIN_NOTES: &str = "Write notes on the conversation above";
const PLAIN_SUMMARY: &str = "Summarise the conversation above in at most";

impl Fork {
    /// By what the fork is told.
    pub(super) fn of(told: &str) -> Self {
        if told.contains("You keep the long-term memory") {
            Self::Extraction
        } else if told.contains("This is a dream") {
            Self::Dream
        } else if told.contains("/session-memory/summary.md") || told.contains(PLAIN_NOTES) {
            Self::Notes
        } else if told.contains("will be folded") {
            Self::Span
        } else if told.contains("<summary>") || told.contains(PLAIN_SUMMARY) {
            Self::Summary
        } else if told.contains(FORKED) {
            Self::Agent
        } else {
            Self::Other
        }
    }
}

/// The model of the conversation. It remembers where in a turn it is.
#[derive(Debug, Default)]
pub(super) struct Coder {
    /// The last turn of which it has saved a memory.
    pub(super) saved_up_to: Option<usize>,
    turn: Option<usize>,
    round: usize,
}

impl Coder {
    /// What it says to a request of the conversation that ends with this message.
    pub(super) fn answer(&mut self, last: &Value) -> ScriptedTurn {
        let asked = texts(last).into_iter().filter_map(turn_of).next_back();
        match asked.filter(|turn| self.turn.is_none_or(|current| *turn > current)) {
            Some(turn) => (self.turn, self.round) = (Some(turn), 0),
            None => self.round += 1,
        }
        let turn = self.turn.unwrap_or(0);
        match rounds_with_agents(turn).get(self.round) {
            Some(deeds) => self.work(turn, deeds, last),
            None => ScriptedTurn::new().text(answer(turn)),
        }
    }

    fn work(&self, turn: usize, deeds: &[Deed], last: &Value) -> ScriptedTurn {
        let mut said = match thought(turn, self.round) {
            Some(thought) => {
                ScriptedTurn::new().thinking(thought, format!("signed{turn:08}").repeat(12))
            }
            None => ScriptedTurn::new().text(format!("Step {} of turn {turn}.", self.round + 1)),
        };
        for (place, deed) in deeds.iter().enumerate() {
            let id = format!("call_{turn}_{}_{place}", self.round);
            let input = match deed.tool {
                "Edit" => edit(&deed.input, &last.to_string()),
                _ => deed.input.clone(),
            };
            said = said.call(id, deed.tool, input);
        }
        said
    }
}

/// Counts the revision up that the file was just read with.
fn edit(file: &str, read: &str) -> String {
    let number = read
        .split_once("// revision ")
        .map_or("0", |(_, rest)| rest.split(|c: char| !c.is_ascii_digit()).next().unwrap_or("0"));
    let next = number.parse::<u64>().unwrap_or(0) + 1;
    let (old, new) = (format!("// revision {number}\n"), format!("// revision {next}\n"));
    json!({"file_path": file, "old_string": old, "new_string": new}).to_string()
}

/// What it says to a request of a fork: `told` is the fork's own message, `last` the last one.
pub(super) fn answer_fork(kind: Fork, told: &str, last: &Value, number: u64) -> ScriptedTurn {
    let is_first = is_first_of_fork(last);
    match kind {
        Fork::Summary => ScriptedTurn::new().text(format!(
            "<draft>what was it about</draft>\n<summary>\n{}</summary>",
            summary(number, 9, 600)
        )),
        Fork::Span => {
            ScriptedTurn::new().text(format!("<summary>\n{}</summary>", summary(number, 3, 300)))
        }
        Fork::Notes if told.contains(PLAIN_NOTES) => {
            ScriptedTurn::new().text(summary(number, 1, 900))
        }
        Fork::Notes if is_first => notes(told, number),
        Fork::Agent => answer_forked(!is_first, number),
        Fork::Dream => dream(told, last),
        Fork::Extraction => ScriptedTurn::new().text("Saved."),
        Fork::Notes | Fork::Other => ScriptedTurn::new().text("Nothing more to do."),
    }
}

/// Whether a message is the one that begins a fork.
pub(super) fn is_first_of_fork(message: &Value) -> bool {
    texts(message).iter().any(|text| text.starts_with(FORK_TAG))
}

/// Numbered parts, as a summary has them.
fn summary(number: u64, parts: usize, bytes: usize) -> String {
    let mut dice = crate::generate::Dice(number ^ 0x5eed);
    let part = |part| format!("{part}. (summary {number}) {}\n", dice.prose(bytes).trim());
    (1..=parts).map(part).collect::<Vec<String>>().concat()
}

/// Brings the notes up to date: what they say about where things stand is replaced.
fn notes(told: &str, number: u64) -> ScriptedTurn {
    const FILE: &str = "/session-memory/summary.md";
    let path = told
        .split_once(FILE)
        .map_or("", |(before, _)| before.rsplit([' ', '"', '\n', '`']).next().unwrap_or_default());
    let state = format!("Notes {number}: {}\n", summary(number, 1, 900).trim().replace('\n', " "));
    let behind = told.split_once(&format!("{STATE}\n")).map_or("", |(_, behind)| behind);
    let (old, new) = match behind.lines().next().filter(|line| line.starts_with("Notes ")) {
        Some(line) => (format!("{line}\n"), state),
        None => (format!("{STATE}\n"), format!("{STATE}\n{state}")),
    };
    let input = json!({"file_path": format!("{path}{FILE}"), "old_string": old, "new_string": new});
    ScriptedTurn::new().call(format!("notes_{number}"), "Edit", input.to_string())
}

/// The texts of a message's own blocks, as they were typed.
pub(super) fn texts(message: &Value) -> Vec<&str> {
    match message.get("content") {
        Some(Value::String(text)) => vec![typed_text(text)],
        Some(Value::Array(blocks)) => {
            blocks.iter().filter_map(|block| block.get("text")?.as_str()).map(typed_text).collect()
        }
        _ => Vec::new(),
    }
}
