//! Frontmatter: the YAML block between two `---` lines at the top of a markdown file.
//!
//! Memories, skills, subagent definitions and hook configurations share this reader.
//!
//! *Invariants:* reading never fails: a block that cannot be read is a [`FrontmatterProblem`], and the text counts
//! as having no fields. A value that lacks only the quotes that YAML wants is read as it stands. Input, nesting and aliases are bounded. Editing changes only the lines of one key, so unknown
//! keys, comments, order and line endings stay as they are; a block too unusual to edit by line is refused.
//!
//! *Absent:* I/O, the meaning of keys.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod edit;
mod parse;
mod plain;
mod scalar;
mod split;
mod unquoted;
mod value;
mod yaml;

pub use edit::{FrontmatterEditError, remove, set, set_first, set_list};
pub use parse::{ParsedFrontmatter, parse, parse_head};
pub use value::{FrontmatterFields, FrontmatterProblem, LONGEST, Value};

#[cfg(test)]
#[path = "frontmatter_tests.rs"]
mod tests;
