//! Forks: a second conversation that starts as an exact copy of the first (A-2, B-1 to B-4).
//!
//! Every fork is a copy of the conversation's messages and bytes and one opening message (`opening`), so the server
//! reads the parent's cached prefix. A background task runs its fork in a short loop without a transcript (`source`,
//! `run`), with a gate that says what it may call (`gate`). A subagent's fork is an engine of its own (`point`). Both
//! spend from the parent's budget.
//!
//! Invariant: a [`ForkSource`] is made from an engine and from nothing else, so a background fork cannot fork.

mod accounting;
mod cached;
mod gate;
mod opening;
mod order;
mod point;
mod route;
mod run;
mod server_summary;
mod session_source;
mod source;

pub use gate::{ForkGate, Writes};
pub use opening::FORK_TAG;
pub use order::{ForkEnd, ForkOrder, ForkReport};
pub use route::{ForkRoute, TaskSize};
pub(crate) use session_source::cached;
pub use source::ForkSource;
