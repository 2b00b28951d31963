//! What the results of `Bash`, `BashOutput` and `KillShell` say about a background command. The texts are for the model; they are
//! written and read here only: whoever shows a result to the user says the same in the user's language.

use std::fmt;

use crate::exit_note::ExitNote;

const STARTED: &str = "It runs in the background as ";
const HOW_TO_GO_ON: &str = ". BashOutput shows what it prints, KillShell ends it (both take `shell_id`); it ends with this program at the latest.";
const RUNS: &str = " runs: ";
const HAS_ENDED: &str = " has ended] ";
const KILLED: &str = " has ended: ";
const HAD_ENDED: &str = " had ended already: ";
const STOPPED: &str = "[ended by KillShell]";

/// How a background command ended; displayed as the model reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShellEnd {
    /// By itself, or by a signal.
    Exited(ExitNote),
    /// The model or the user stopped it.
    Stopped,
    /// It could not be waited for.
    Failed {
        /// The reason.
        why: String,
    },
}

impl fmt::Display for ShellEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(note) => note.fmt(f),
            Self::Stopped => f.write_str(STOPPED),
            Self::Failed { why } => write!(f, "[{why}]"),
        }
    }
}

impl ShellEnd {
    fn read(text: &str) -> Option<Self> {
        if text == STOPPED {
            return Some(Self::Stopped);
        }
        let exited = ExitNote::read(text).filter(|(_, before)| before.is_empty());
        if let Some((note, _)) = exited {
            return Some(Self::Exited(note));
        }
        let why = text.strip_prefix('[')?.strip_suffix(']')?;
        Some(Self::Failed { why: why.to_owned() })
    }
}

/// What a result says about a background command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShellNote {
    /// `Bash` has started it.
    Started {
        /// Its id.
        id: String,
    },
    /// `BashOutput` found it running.
    Runs {
        /// Its id.
        id: String,
        /// The command line.
        command: String,
    },
    /// `BashOutput` found that it has ended.
    HasEnded {
        /// Its id.
        id: String,
        /// How.
        end: ShellEnd,
    },
    /// `KillShell` has ended it.
    Killed {
        /// Its id.
        id: String,
        /// How.
        end: ShellEnd,
    },
    /// `KillShell` came too late.
    HadEnded {
        /// Its id.
        id: String,
        /// How.
        end: ShellEnd,
    },
}

impl fmt::Display for ShellNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Started { id } => write!(f, "{STARTED}{id}{HOW_TO_GO_ON}"),
            Self::Runs { id, command } => write!(f, "[{id}{RUNS}{command}]"),
            Self::HasEnded { id, end } => write!(f, "[{id}{HAS_ENDED}{end}"),
            Self::Killed { id, end } => write!(f, "{id}{KILLED}{end}"),
            Self::HadEnded { id, end } => write!(f, "{id}{HAD_ENDED}{end}"),
        }
    }
}

impl ShellNote {
    /// The note that a result begins with, and the lines after it.
    pub fn read(result: &str) -> Option<(Self, &str)> {
        let started = result.strip_prefix(STARTED).and_then(|rest| rest.split_once(HOW_TO_GO_ON));
        if let Some((id, after)) = started {
            return Some((Self::Started { id: id.to_owned() }, after));
        }
        // The command may have several lines.
        let running = result.strip_prefix('[').and_then(|rest| rest.split_once(RUNS));
        if let Some((id, rest)) = running.filter(|(id, _)| is_id(id)) {
            let (command, after) = rest.split_once("]\n")?;
            let note = Self::Runs { id: id.to_owned(), command: command.to_owned() };
            return Some((note, after));
        }
        let (first, after) = result.split_once('\n').unwrap_or((result, ""));
        let ended = |text: &str, mark| {
            let (id, how) = text.split_once(mark).filter(|(id, _)| is_id(id))?;
            Some((id.to_owned(), ShellEnd::read(how)?))
        };
        let has_ended = || {
            let (id, end) = ended(first.strip_prefix('[')?, HAS_ENDED)?;
            Some(Self::HasEnded { id, end })
        };
        let killed = || ended(first, KILLED).map(|(id, end)| Self::Killed { id, end });
        let had_ended = || ended(first, HAD_ENDED).map(|(id, end)| Self::HadEnded { id, end });
        let note = has_ended().or_else(killed).or_else(had_ended)?;
        Some((note, after))
    }
}

fn is_id(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let id = || "shell_1".to_owned();
        let ends = [
            ShellEnd::Exited(ExitNote::Code(0)),
            ShellEnd::Exited(ExitNote::Signal(9)),
            ShellEnd::Stopped,
            ShellEnd::Failed { why: "no such file".to_owned() },
        ];
        let mut notes = vec![
            ShellNote::Started { id: id() },
            ShellNote::Runs { id: id(), command: "cd a\nmake [x]".to_owned() },
        ];
        for end in ends {
            notes.push(ShellNote::HasEnded { id: id(), end: end.clone() });
            notes.push(ShellNote::Killed { id: id(), end: end.clone() });
            notes.push(ShellNote::HadEnded { id: id(), end });
        }
        for note in notes {
            let result = format!("{note}\none\ntwo");
            let (read, after) = ShellNote::read(&result).unwrap();
            assert_eq!((read, after.trim_start()), (note, "one\ntwo"));
        }
        for other in ["", "one runs: two", "[the tests has ended: no]", "a b has ended: [x]"] {
            assert_eq!(ShellNote::read(other), None, "{other}");
        }
    }
}
