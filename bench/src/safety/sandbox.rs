//! The cost of the sandbox for one command.

use std::path::PathBuf;
use std::sync::Arc;

use dormouse_tools::{CommandSandbox, Reaper};
use serde_json::json;

use super::calls::{ToolCalls, policy};
use crate::measure::Samples;
use crate::report::{BenchFigure, BenchSection};

const RUNS: usize = 40;

pub(super) fn run(calls: &ToolCalls) -> BenchSection {
    let mut section = BenchSection::new(
        "sandbox",
        format!(
            "Bash with `true` and with `git status` in a repository of 200 files, under a reaper, in the sandbox and not; \
             alternating, {RUNS} runs."
        ),
    );
    let folder = tempfile::tempdir().expect("a temporary folder");
    super::checkpoints::repository(folder.path(), 200);
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let mut free = ToolCalls::context(folder.path());
    free.commands.reaper = Reaper::of_this_program();
    let mut restricted = free.clone();
    let policy = policy(folder.path(), &home, &[]);
    restricted.commands.sandbox =
        Some(CommandSandbox { policy: Arc::new(policy), confirmer: None });
    for command in ["true", "git status --short"] {
        let input = json!({ "command": command });
        let (mut without, mut with) = (Samples::default(), Samples::default());
        for _ in 0..RUNS {
            without.time(|| calls.call("Bash", &input, &free));
            with.time(|| calls.call("Bash", &input, &restricted));
        }
        section.add([
            BenchFigure::median(format!("`{command}`"), &without),
            BenchFigure::median(format!("`{command}` in the sandbox"), &with),
            BenchFigure::ratio(format!("`{command}`: in the sandbox, to not"), &with, &without),
        ]);
    }
    section
}
