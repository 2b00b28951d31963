//! Memory in a session: the stores, what the model is shown of them, its tools for them, and the door
//! through which Write and Edit reach them as well.
//!
//! Invariant: whatever the model writes goes through `Store::change`, with the messages it came from.

mod changed_memories;
mod confirmation;
mod file_guard;
mod file_tool;
mod hearing;
mod hook_notify;
mod index;
mod saving;
mod session_memory;
mod sources;
mod tool_specs;
mod tools;
mod vector_schedule;
mod voices;
mod witness;

pub(crate) use file_guard::MemoryFileGuard;
pub(crate) use file_tool::file_of_command;
pub(crate) use index::index_parts;
pub(crate) use session_memory::FoundMemory;
pub use session_memory::{MemoryText, SessionMemory, Written};
pub use tool_specs::MEMORY_TOOLS;
pub use tools::memory_tools;
pub use voices::{Said, Voice, voices};
pub use witness::{Wanted, Witness};
