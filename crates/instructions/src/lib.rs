//! Instruction files: text from the organization, the user or the project that every session starts with (L-20, L-21).
//!
//! Lowest to highest precedence: managed, user, project, local. Rules with `paths:` and files in folders below the
//! working directory are loaded when a tool reads or writes a matching file.
//!
//! *Invariants:* a project cannot make the program read a file outside of it without the user's approval, whether by
//! link, by `..` or by a race: whether a file may be read is decided on its real path, and exactly that path is opened
//! (`file_access`). Loading never fails; problems are [`InstructionNote`]s. Number, size and include depth are bounded.
//!
//! *Absent:* network, the model, memories.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod file_access;
mod instruction_file;
mod instructions;
mod limits;
mod loader;
mod locations;
mod markdown;
mod note;
mod prompt_sections;
mod roots;
mod rule_head;

pub use instruction_file::{InstructionFile, InstructionKind, LoadOccasion, LoadReason};
pub use instructions::Instructions;
pub use locations::PROJECT_FILES;
pub use note::{FileProblem, InstructionNote};
pub use prompt_sections::prompt_sections;
pub use roots::{ApprovedPaths, InstructionRoots};

/// Runs every parser of this crate on the text of a rule, for fuzzing.
#[doc(hidden)]
pub fn read_rule_for_fuzzing(text: &str) -> (Vec<String>, String, Vec<String>) {
    let head = rule_head::split(text);
    let globs = head.paths.clone();
    let _matcher = rule_head::PathMatcher::new(&globs);
    let cleaned = markdown::clean(head.body);
    let mentions = cleaned.mentions.into_iter().map(|mention| mention.path).collect();
    (globs, cleaned.text, mentions)
}
