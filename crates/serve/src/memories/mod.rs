//! The memories that another agent can find and change.
//!
//! Invariants: memories in quarantine are not found; every change is made in the name of the client (M-17).

mod change;
mod client;
mod client_memories;
mod error;
mod found;
mod ranking;

pub(crate) use change::{ClientChange, MemoryEdit, delete, finish, save, undo, update};
pub use client::Client;
pub use client_memories::ClientMemories;
pub use error::MemoryRequestError;
pub(crate) use found::{ServedMemory, caveat_line, count_recall};
pub(crate) use ranking::{RankedForClient, search, unasked};
