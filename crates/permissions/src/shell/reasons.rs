//! Why a command line is not known to only read, in the words that the user and the model see.

use thiserror::Error;

use super::syntax::UnsupportedSyntax;

/// Why a command line is not known to only read. Names the first part that stands in the way.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NotReadOnly {
    /// Too long to be looked at.
    #[error("the line is longer than {limit} bytes")]
    TooLong {
        /// The longest line that is parsed.
        limit: usize,
    },
    /// The words of the line are not known for certain.
    #[error(transparent)]
    Syntax(#[from] UnsupportedSyntax),
    /// Letters that could hide another program or flag.
    #[error("`{0}` has letters outside ASCII, which can look like those of another command")]
    LookalikeLetters(String),
    /// A quoted or escaped program or subcommand.
    #[error("`{0}` has to be written without quotes and backslashes")]
    QuotedName(String),
    /// A path to git, which bypasses the function that guards it.
    #[error("`{0}` is not checked; write plain `git`")]
    GitByPath(String),
    /// A file of `/proc` that can hold keys.
    #[error("`{0}` may be the environment of a process, which can hold keys")]
    ProcessEnvironment(String),
    /// A program that is not listed as reading.
    #[error("`{0}` is not known as a read-only command")]
    Program(String),
    /// A subcommand of git that is not listed as reading.
    #[error("`git {0}` is not a read-only git subcommand")]
    GitSubcommand(String),
    /// `git` alone.
    #[error("`git` has no subcommand")]
    NoGitSubcommand,
    /// Only one form of this subcommand of git reads.
    #[error("of `{command}`, only `{command} {form}` is read-only")]
    OtherGitForm {
        /// The program with its subcommand.
        command: String,
        /// The form that reads.
        form: &'static str,
    },
    /// A flag that is not listed as harmless.
    #[error("`{program} {flag}` may do more than read")]
    Flag {
        /// The program.
        program: String,
        /// The flag, as written.
        flag: String,
    },
    /// A flag at the end that takes a value.
    #[error("`{program}`: the flag `{flag}` has no value")]
    NoValue {
        /// The program.
        program: String,
        /// The flag, without its dashes.
        flag: String,
    },
    /// A value that may be a flag itself.
    #[error("`{program}`: `{value}` is not a clear value of the flag `{flag}`")]
    UnclearValue {
        /// The program.
        program: String,
        /// The flag, without its dashes.
        flag: String,
        /// The value.
        value: String,
    },
    /// A pattern whose expansion decides what the program does.
    #[error("{0}")]
    Pattern(#[from] PatternRisk),
    /// A part that is known to change something.
    #[error("`{part}` {action}")]
    Action {
        /// The part of the line.
        part: String,
        /// What it does.
        action: CommandAction,
    },
    /// A program without the script it runs.
    #[error("`{0}` has no script to run")]
    NoScript(String),
    /// A script that is not understood to its end.
    #[error("the {program} script `{script}` is not known to only print")]
    Script {
        /// The program that runs it.
        program: &'static str,
        /// The script.
        script: String,
    },
    /// A part of a script that may do more than print.
    #[error("`{part}` in the {program} script {risk}")]
    ScriptPart {
        /// The program that runs the script.
        program: &'static str,
        /// The part.
        part: &'static str,
        /// What it may do.
        risk: ScriptRisk,
    },
    /// A format of printf that may do more than print.
    #[error("the printf format `{0}` is not known to only print")]
    PrintfFormat(String),
}

/// An unquoted pattern such as `*`, and what it may expand to.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PatternRisk {
    /// A flag.
    #[error("`{pattern}` may expand to any flag of `{program}`")]
    Flag {
        /// The pattern.
        pattern: String,
        /// The program.
        program: String,
    },
    /// A file whose name begins with a dash.
    #[error(
        "`{pattern}` may expand to a file whose name is a flag of `{program}`; write `./{pattern}`"
    )]
    FileNamedLikeFlag {
        /// The pattern.
        pattern: String,
        /// The program.
        program: String,
    },
    /// More arguments than the program may have.
    #[error("`{pattern}` may expand to several arguments of `{program}`")]
    SeveralArguments {
        /// The pattern.
        pattern: String,
        /// The program.
        program: String,
    },
    /// A script.
    #[error("`{pattern}` may expand to any {program} script")]
    Script {
        /// The pattern.
        pattern: String,
        /// The program.
        program: String,
    },
}

/// What a command does besides reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum CommandAction {
    /// Starts another program.
    #[error("runs a program")]
    RunsProgram,
    /// May start the program that the settings of git name for signatures.
    #[error("may run a program to check a signature")]
    ChecksSignature,
    /// Writes a file.
    #[error("writes to a file")]
    WritesFile,
    /// Writes the file that is its second operand.
    #[error("writes to its second file")]
    WritesSecondFile,
    /// Deletes files.
    #[error("deletes the files it finds")]
    DeletesFiles,
    /// Sets the clock.
    #[error("sets the clock")]
    SetsClock,
    /// Sets the name of the machine.
    #[error("sets the host name")]
    SetsHostName,
    /// Changes the repository, or may.
    #[error("may change the repository")]
    ChangesRepository,
    /// Creates a branch or a tag.
    #[error("creates one; use `--list` to list them")]
    CreatesRef,
    /// Changes a setting of git, or may.
    #[error("may change a setting; use `--get` or `--list` to read them")]
    ChangesSetting,
    /// Has an argument that is not listed as harmless.
    #[error("may modify files")]
    Unknown,
}

/// What a part of a script may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ScriptRisk {
    /// Starts another program.
    #[error("may run a program")]
    RunsProgram,
    /// Writes a file.
    #[error("may write to a file")]
    WritesFile,
    /// Reads another file, or the output of a program.
    #[error("may read any file or the output of a program")]
    ReadsAnything,
    /// Loads code.
    #[error("may load code")]
    LoadsCode,
    /// Shows environment variables.
    #[error("may show environment variables, which can hold keys")]
    ShowsEnvironment,
}
