//! Whether a shell command line only reads.
//!
//! The permission gate relies on this verdict. Invariant: a line is read-only only if every part of it is
//! understood and known to change nothing. A scanner of our own and tree-sitter's bash grammar parse the
//! line independently; if they find different words, the line is refused. A wrong "changes" costs a
//! confirmation, a wrong "reads" costs files.
//!
//! The verdict holds for bash (4.4 or later) started without start files, with a PATH of absolute
//! folders and [`SAFE_GIT_ENVIRONMENT`] set. Another shell has other built-ins: a caller that falls
//! back to one must not call anything read-only.

mod flags;
mod git;
mod git_environment;
mod git_flags;
mod programs;
mod reasons;
mod scan;
mod scripts;
mod sed;
mod started;
mod syntax;
mod table;
mod tree;

pub use git_environment::SAFE_GIT_ENVIRONMENT;
pub use reasons::{CommandAction, NotReadOnly, PatternRisk, ScriptRisk};
pub use scan::ShellCommand;
pub(crate) use scan::Word;
use scan::scan;
pub(crate) use started::started_commands;
pub use syntax::UnsupportedSyntax;

/// Longer lines are not parsed: that would take long, and users could not check them either.
const MAX_LINE_BYTES: usize = 10_000;

/// What a command line does to the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShellVerdict {
    /// It looks at things and leaves them as they are.
    ReadOnly,
    /// It changes something, or may.
    Changes {
        /// Which part, and why.
        reason: NotReadOnly,
    },
}

/// Decides whether a line only reads. Pure: looks at nothing but the text.
pub fn classify(line: &str) -> ShellVerdict {
    let judged = understand(line).and_then(|commands| commands.iter().try_for_each(judge));
    match judged {
        Ok(()) => ShellVerdict::ReadOnly,
        Err(reason) => ShellVerdict::Changes { reason },
    }
}

/// The commands of a line; none when any part of the line is not understood. Says nothing about what they do.
pub fn commands(line: &str) -> Option<Vec<ShellCommand>> {
    let commands = understand(line).ok()?;
    commands.iter().try_for_each(check_letters).ok()?;
    Some(commands)
}

impl ShellCommand {
    /// The words without their quotes. A pattern such as `*.rs` is given as written, like a word that was quoted: rules
    /// match both as text.
    pub fn words(&self) -> impl DoubleEndedIterator<Item = &str> + Clone {
        self.words.iter().map(|word| word.text.as_str())
    }

    /// Whether a word behind the first ones is a pattern that may expand to a flag.
    pub(crate) fn has_open_pattern(&self, skipped: usize) -> bool {
        self.words.iter().skip(skipped).any(|word| word.open_start)
    }

    /// Whether it only reads, by the same rules as [`classify`].
    pub fn is_read_only(&self) -> bool {
        judge(self).is_ok()
    }
}

fn understand(line: &str) -> Result<Vec<ShellCommand>, NotReadOnly> {
    if line.len() > MAX_LINE_BYTES {
        return Err(NotReadOnly::TooLong { limit: MAX_LINE_BYTES });
    }
    let commands = scan(line)?;
    tree::confirm(line, &commands)?;
    Ok(commands)
}

fn judge(command: &ShellCommand) -> Result<(), NotReadOnly> {
    check_letters(command)?;
    let Some((program, arguments)) = command.words.split_first() else {
        return Err(UnsupportedSyntax::NoCommandAtEnd.into());
    };
    let name = program_name(program)?;
    // The environment of a process holds keys.
    if let Some(word) = arguments.iter().find(|word| word.text.contains("environ")) {
        return Err(NotReadOnly::ProcessEnvironment(word.text.clone()));
    }
    table::check(name, arguments)
}

/// Letters that look like others do not pass where they could hide a program or a flag.
fn check_letters(command: &ShellCommand) -> Result<(), NotReadOnly> {
    for (index, word) in command.words.iter().enumerate() {
        let looks_like_flag = word.text.chars().next().is_some_and(is_dash);
        if (index == 0 || looks_like_flag) && !word.text.is_ascii() {
            return Err(NotReadOnly::LookalikeLetters(word.text.clone()));
        }
    }
    Ok(())
}

fn is_dash(letter: char) -> bool {
    matches!(
        letter,
        '-' | '\u{ad}' | '\u{58a}' | '\u{5be}' | '\u{1806}' | '\u{2010}'
            ..='\u{2015}'
                | '\u{2043}'
                | '\u{207b}'
                | '\u{208b}'
                | '\u{2212}'
                | '\u{2796}'
                | '\u{2e3a}'
                | '\u{2e3b}'
                | '\u{30fc}'
                | '\u{fe31}'
                | '\u{fe58}'
                | '\u{fe63}'
                | '\u{ff0d}'
    )
}

/// The bare name of the program; a path counts only where the system keeps its own.
fn program_name(word: &Word) -> Result<&str, NotReadOnly> {
    let text = word.text.as_str();
    if !word.bare {
        return Err(NotReadOnly::QuotedName(text.to_owned()));
    }
    let name = ["/usr/bin/", "/bin/"].iter().find_map(|folder| text.strip_prefix(folder));
    match name {
        // The guard around git is a function of that name, which a path would go past.
        Some("git") => Err(NotReadOnly::GitByPath(text.to_owned())),
        Some(name) if !name.contains('/') => Ok(name),
        _ => Ok(text),
    }
}
