//! The task of a background fork, and its result.

use std::sync::Arc;

use dormouse_conversation::Usage;
use dormouse_model::ModelError;
use dormouse_tools::Tool;

use super::gate::ForkGate;

/// A task for a fork.
#[derive(Clone)]
pub struct ForkOrder {
    /// The purpose of its requests, in the figures.
    pub purpose: &'static str,
    /// The task.
    pub message: String,
    /// Which calls are allowed.
    pub gate: ForkGate,
    /// Its own implementations of tools of the parent; their descriptions stay the parent's.
    pub tools: Vec<Arc<dyn Tool>>,
    /// The most requests.
    pub most_turns: u32,
    /// Whether a response whose calls have all succeeded, and changed something, is the last: nothing more is asked for.
    pub ends_after_changes: bool,
}

/// How a fork ended.
#[derive(Debug, Clone, PartialEq)]
pub enum ForkEnd {
    /// The model was done.
    Completed,
    /// Its response was truncated at the token limit.
    Cut,
    /// Its response only repeated itself, and was ended.
    Repeated,
    /// It reached its limit of requests.
    MaxTurns,
    /// The request failed.
    Failed(ModelError),
}

/// The result of a fork.
#[derive(Debug, Clone)]
pub struct ForkReport {
    /// How it ended.
    pub end: ForkEnd,
    /// The text of its last response.
    pub text: String,
    /// Requests made.
    pub turns: u32,
    /// Their tokens.
    pub usage: Usage,
    /// Calls that were denied.
    pub denied: u32,
    /// The reasons of the first of them.
    pub denials: Vec<String>,
}
