//! What survives a compaction: on every place where a real session was compacted, the share of the names
//! that were needed afterwards, for several ways to write the summary; and how long planning takes.
//!
//! All texts are made by the functions that the program ships.

mod cases;
mod notes;
mod planning;
mod table;
mod ways;

use std::path::PathBuf;

use crate::report::BenchSection;

/// The table for transcripts.
pub(crate) fn run(files: &[PathBuf]) -> String {
    let mut cases = Vec::new();
    for file in files {
        match cases::read(file) {
            Ok(found) => cases.extend(found),
            Err(error) => crate::fail::fail(&format!("{}: {error}", file.display())),
        }
    }
    table::render(&cases)
}

/// The sections of a run.
pub(crate) fn sections() -> Vec<BenchSection> {
    vec![planning::run()]
}
