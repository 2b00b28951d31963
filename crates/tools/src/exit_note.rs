//! How a command ended, as the model reads it below its output. The note is written and read here only.

use std::fmt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

const CODE: &str = "exit code ";
const SIGNAL: &str = "ended by signal ";

/// How a command ended; displayed as the line below its output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitNote {
    /// With an exit code.
    Code(i32),
    /// By a signal.
    Signal(i32),
}

impl ExitNote {
    /// How a process ended; none if it succeeded.
    pub fn of_failure(status: ExitStatus) -> Option<Self> {
        let signal = || status.signal().map(Self::Signal);
        (!status.success()).then(|| status.code().map(Self::Code).or_else(signal)).flatten()
    }

    /// The note in the last line of a command's output, and the output before it.
    pub fn read(output: &str) -> Option<(Self, &str)> {
        let output = output.trim_end();
        let (before, last) = output.rsplit_once('\n').unwrap_or(("", output));
        let note = last.strip_prefix('[')?.strip_suffix(']')?;
        let number = |start: &str| note.strip_prefix(start)?.parse().ok();
        let note = number(CODE).map(Self::Code).or_else(|| number(SIGNAL).map(Self::Signal))?;
        Some((note, before))
    }
}

impl fmt::Display for ExitNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "[{CODE}{code}]"),
            Self::Signal(signal) => write!(f, "[{SIGNAL}{signal}]"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        for note in [ExitNote::Code(101), ExitNote::Signal(9)] {
            assert_eq!(ExitNote::read(&format!("one\ntwo\n{note}\n")), Some((note, "one\ntwo")));
            assert_eq!(ExitNote::read(&note.to_string()), Some((note, "")));
        }
        for other in ["", "exit code 1", "[exit code one]", "[exit code 1]\nmore"] {
            assert_eq!(ExitNote::read(other), None, "{other}");
        }
    }
}
