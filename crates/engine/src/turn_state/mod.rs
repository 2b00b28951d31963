//! A turn as a pure step: `(state, event) → actions`. No I/O, no clock: a test can walk through any order of events.
//!
//! Invariants: every call gets exactly one result, whatever happens; nothing half-finished reaches the history; after
//! the end nothing more is done.

mod action;
mod action_lists;
mod next_step;
mod partial_response;
mod recovery;
mod repetition;
mod result_notes;
mod step;

pub(crate) use action::{TurnAction, TurnEvent};
pub(crate) use next_step::NextStep;
pub(crate) use partial_response::PendingCall;
pub(crate) use recovery::Recovery;
pub(crate) use repetition::is_known_result;
pub(crate) use step::TurnState;
