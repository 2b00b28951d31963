//! The reasons why a subagent cannot be started. The model reads them as a tool result.

use dormouse_engine::EngineError;
use thiserror::Error;

use crate::manual::ManualError;
use crate::memory::AgentMemoryError;
use crate::messages::AgentNameError;
use crate::registry::ModelUnavailableError;
use crate::worktree::WorktreeError;

/// A subagent could not be started.
#[derive(Debug, Error)]
pub(crate) enum PreparationError {
    #[error("there is no agent `{name}`.{suggestion} There are: {known}")]
    UnknownAgent { name: String, suggestion: String, known: String },
    #[error("a fork cannot fork: do the task yourself, here")]
    NestedFork,
    #[error("agents go {0} deep, and this one is that deep already: do the task yourself, here")]
    TooDeep(u8),
    #[error("a fork has the model of its conversation; name an agent to use another")]
    ForkModel,
    #[error("no worktree can be created in plan mode")]
    WorktreeInPlanMode,
    #[error("no interrupted agent is called `{name}`{known}")]
    NotInterrupted { name: String, known: String },
    #[error(
        "`{0}` was a fork, and the conversation that it was forked from is gone; start another one with its task: its transcript is {1}"
    )]
    InterruptedFork(String, String),
    #[error(
        "the worktree of `{0}` is gone, and its changes with it; start another agent with its task"
    )]
    WorktreeGone(String),
    #[error("there is no name left for `{0}`")]
    NoFreeName(String),
    #[error("`{agent}` cannot have a memory: its folder belongs to the agent `{owner}`")]
    MemoryFolderTaken { agent: String, owner: String },
    #[error("the price of {0} is not known, and there is a cost limit: leave `model` out")]
    UnknownPrice(String),
    #[error(transparent)]
    Name(#[from] AgentNameError),
    #[error(transparent)]
    Worktree(#[from] WorktreeError),
    #[error(transparent)]
    Memory(#[from] AgentMemoryError),
    #[error(transparent)]
    Manual(#[from] ManualError),
    #[error(transparent)]
    Model(#[from] ModelUnavailableError),
    #[error(transparent)]
    Engine(Box<EngineError>),
}
