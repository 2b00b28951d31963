//! Memory in a session: the stores in reach, the model's tools for them, and the route by which Write and Edit reach
//! them as well.
//!
//! Invariant: whatever the model writes goes through `Store::change`, with the messages it came from.

mod change_text;
mod changed_memories;
mod confirmation;
mod error;
mod file_guard;
mod file_tool;
mod hook_notify;
mod index;
mod notices;
mod provenance_record;
mod session_memory;
mod switch;
mod tool_run;
mod tool_specs;
mod tools;
mod vector_schedule;
mod writing;

pub(crate) use change_text::ChangeText;
pub use error::SessionMemoryError;
pub(crate) use file_guard::MemoryFileGuard;
pub(crate) use file_tool::file_of_command;
pub(crate) use index::{index_parts, index_tokens};
pub use notices::{MemoryNotices, WrittenChange};
pub use session_memory::{MemoryManifest, SessionMemory};
pub use switch::MemorySwitch;
pub use tools::memory_tools;
