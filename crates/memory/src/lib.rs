//! Memory as files: every memory is a markdown file that a person can read, edit, copy and delete.
//!
//! Owns entries, the index, history, the guard against secrets and escapes, and instruction files.
//! Deliberately absent: network, async, the model.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod instructions;
pub mod secrets;
