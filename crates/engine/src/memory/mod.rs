//! Memory in a session: the stores, what the model is shown of them, its tools for them, and the door
//! through which Write and Edit reach them as well.
//!
//! Invariant: whatever the model writes goes through `Store::change`, with the messages it came from.

mod access;
mod consent;
mod door;
mod ears;
mod files;
mod filling;
mod hearing;
mod index;
mod saving;
mod sources;
mod specs;
mod tools;
mod updates;
mod voices;
mod witness;

pub(crate) use access::Found;
pub use access::{KnownMemory, MemoryAccess, Written};
pub(crate) use door::MemoryGuard;
pub(crate) use files::file_of_command;
pub(crate) use index::index_parts;
pub use specs::MEMORY_TOOLS;
pub use tools::memory_tools;
pub use voices::{Said, Voice, voices};
pub use witness::{Wanted, Witness};
