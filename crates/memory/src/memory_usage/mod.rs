//! Whether a memory helped: what one turn says about the memories that were in its context.
//!
//! Invariant: plain functions of the memories and of what happened. Each kind counts once for a turn and a
//! memory, however often it happened in it.

mod prohibitions;
mod quote;
mod terms;

use crate::anchor::Anchor;
use crate::kind::MemoryType;

pub use prohibitions::{Firmness, ProhibitedAction, Prohibition, find_prohibitions};
use quote::{Quotable, says_words};
use terms::{Terms, Touched};

/// When a memory came into the context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContextTiming {
    /// The person began the turn when it was there already.
    BeforeTurn,
    /// With the person's words, or later.
    DuringTurn,
}

/// A memory that was in the context of a turn.
#[derive(Debug, Clone)]
pub struct MemoryInContext {
    /// The name of its file.
    pub file: String,
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: String,
    /// Its type.
    pub kind: Option<MemoryType>,
    /// Its text.
    pub body: String,
    /// The files it is about.
    pub anchors: Vec<Anchor>,
    /// When it came.
    pub arrival: ContextTiming,
    /// Whether an agent has changed it in this turn, or wanted to.
    pub updated: bool,
}

/// What happened in a turn.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TurnActivity {
    /// What the model said to the person.
    pub answers: Vec<String>,
    /// The files and folders that its calls named.
    pub paths: Vec<String>,
    /// The commands that it ran.
    pub commands: Vec<String>,
    /// Other words of its calls: what it wrote, replaced, looked for.
    pub words: Vec<String>,
}

/// What a turn says about a memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TurnUsage {
    /// An answer named it, or quoted it.
    pub cited: bool,
    /// What it is about came up, and nobody had to correct anything.
    pub heeded: bool,
    /// The person had to say it again.
    pub violated: bool,
}

impl TurnUsage {
    /// Whether it was good for anything.
    pub fn helped(self) -> bool {
        self.cited || self.heeded
    }
}

/// What a turn says about the memories in its context, in their order.
pub fn assess_usage(memories: &[MemoryInContext], turn: &TurnActivity) -> Vec<TurnUsage> {
    let answers: Vec<Quotable> = turn.answers.iter().map(|answer| Quotable::of(answer)).collect();
    let touched = Touched::by(turn);
    let of = |memory: &MemoryInContext| {
        let violated = is_violated(memory);
        TurnUsage {
            cited: answers.iter().any(|answer| cites(answer, memory)),
            heeded: !violated
                && touched.has(&Terms::of(memory))
                && !did_what_it_forbids(memory, turn),
            violated,
        }
    };
    memories.iter().map(of).collect()
}

/// Whether what a memory is about comes up.
pub fn is_relevant(memory: &MemoryInContext, turn: &TurnActivity) -> bool {
    Touched::by(turn).has(&Terms::of(memory))
}

/// The person spoke, and what they said made somebody write the rule anew that had been there all along.
fn is_violated(memory: &MemoryInContext) -> bool {
    memory.updated
        && memory.arrival == ContextTiming::BeforeTurn
        && memory.kind == Some(MemoryType::Feedback)
}

fn cites(answer: &Quotable, memory: &MemoryInContext) -> bool {
    answer.has_file(&memory.file)
        || (is_distinctive(&memory.name) && says_words(answer, &memory.name))
        || answer.shares_a_run(&Quotable::of(&memory.body))
        || answer.shares_a_run(&Quotable::of(&memory.description))
}

/// Whether a name is hardly ever said without the memory being meant.
fn is_distinctive(name: &str) -> bool {
    let words = name.split_whitespace().count();
    let unspaced = name.chars().filter(|c| dormouse_search::is_unspaced(*c)).count();
    let odd = name.contains(['_', '-']) || name.contains(|c: char| c.is_ascii_digit());
    words >= 3 || unspaced >= 4 || (odd && name.chars().count() >= 6)
}

/// What a rule forbids was done all the same, whether anybody noticed or not.
fn did_what_it_forbids(memory: &MemoryInContext, turn: &TurnActivity) -> bool {
    let rules = find_prohibitions(&memory.name, &memory.body);
    rules.iter().any(|rule| turn.commands.iter().any(|line| rule.is_done_by(line)))
}

#[cfg(test)]
#[path = "memory_usage_tests.rs"]
mod tests;
