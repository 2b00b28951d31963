//! What checkpoints and the sandbox cost, and which ordinary commands work in the sandbox.

mod calls;
mod checkpoints;
mod ordinary;
mod sandbox;

use std::path::PathBuf;

use calls::ToolCalls;

use crate::report::BenchSection;

/// The sections with figures.
pub(crate) fn run() -> Vec<BenchSection> {
    let calls = ToolCalls::new();
    vec![checkpoints::run(&calls), sandbox::run(&calls)]
}

/// The table of ordinary commands that files list, if any are given.
pub(crate) fn ordinary_commands(files: &[PathBuf]) -> String {
    files.iter().map(|file| ordinary::run(&ToolCalls::new(), file)).collect()
}
