//! Anchors: a memory's claims about files of the project, with the content they were made from (M-11).
//!
//! Anchors are made when a memory is written and checked when it is recalled. Age only suggests that a memory is out
//! of date; a changed file shows it. A check costs one metadata lookup per file, unless the file has changed.

mod check;
mod claim;
mod extract;
mod project_file;
mod symbol_lookup;

pub use check::{AnchorCache, Freshness, anchor_caveat, check};
pub use claim::Anchor;
pub use extract::extract;

#[cfg(test)]
#[path = "anchor_tests.rs"]
mod tests;
