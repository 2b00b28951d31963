//! Whether the memories in a turn's context were used and helped.
//!
//! Invariant: pure functions of the memories and of the turn's activity. Each kind of use counts at most once per turn
//! and memory.

mod prohibitions;
mod quote;
mod terms;
mod turn;

use crate::kind::MemoryType;

pub use prohibitions::{Firmness, ProhibitedAction, Prohibition, find_prohibitions};
use quote::{Quotable, says_words};
use terms::{Terms, Touched};
pub use turn::{ContextTiming, MemoryInContext, TurnActivity};

/// How one turn used a memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TurnUsage {
    /// A response named or quoted it.
    pub cited: bool,
    /// The turn touched its subject, and no correction was needed.
    pub heeded: bool,
    /// The user had to repeat it.
    pub violated: bool,
}

impl TurnUsage {
    /// Whether the memory was of use.
    pub fn helped(self) -> bool {
        self.cited || self.heeded
    }
}

/// How a turn used the memories in its context, in their order.
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

/// Whether a turn touches the subject of a memory.
pub fn is_relevant(memory: &MemoryInContext, turn: &TurnActivity) -> bool {
    Touched::by(turn).has(&Terms::of(memory))
}

/// A feedback memory that was already in the context was rewritten in this turn: the user had to repeat the rule.
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

/// Whether a name is so unusual that a response containing it refers to the memory.
fn is_distinctive(name: &str) -> bool {
    let words = name.split_whitespace().count();
    let unspaced = name.chars().filter(|c| dormouse_search::is_unspaced(*c)).count();
    let odd = name.contains(['_', '-']) || name.contains(|c: char| c.is_ascii_digit());
    words >= 3 || unspaced >= 4 || (odd && name.chars().count() >= 6)
}

/// Whether a command of the turn did what the memory forbids, even if nobody objected.
fn did_what_it_forbids(memory: &MemoryInContext, turn: &TurnActivity) -> bool {
    let rules = find_prohibitions(&memory.name, &memory.body);
    rules.iter().any(|rule| turn.commands.iter().any(|line| rule.is_done_by(line)))
}

#[cfg(test)]
#[path = "memory_usage_tests.rs"]
mod tests;
