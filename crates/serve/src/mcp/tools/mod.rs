//! The tools that other agents have.

mod call;
mod definitions;
mod read;
mod write;

pub(super) use call::{ServedTool, ToolAnswer, ToolCallError};
pub(super) use definitions::{ALL, MEMORY_TOOL};
