//! The reasons of the gate, and the shell verdicts against bash itself.

#![expect(clippy::unwrap_used, reason = "tests")]
#![expect(clippy::disallowed_methods, reason = "tests make the files that commands look at")]

mod gate_reasons;
mod shell;
mod shell_git;
mod shell_lines;
mod shell_reads;

/// Longer than anything here takes, even on a busy machine.
const HANGS: std::time::Duration = std::time::Duration::from_mins(5);
