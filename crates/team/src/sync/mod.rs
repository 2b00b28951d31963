//! Sync as a pure function: what the local directory, the server and the last common state say about each entry.

mod batches;
mod decision;
#[cfg(test)]
mod simulation_tests;

pub use batches::uploads;
pub use decision::{PullReason, PushReason, RemoveReason, SyncAction, SyncStates, plan};
