//! The command line, as typed. Nothing outside this module and its first reader sees these structs.

use clap::{Args, Parser, Subcommand, ValueEnum};

/// A coding agent for the terminal that remembers.
#[derive(Debug, Parser)]
#[command(
    name = "dormouse",
    version,
    about = "A coding agent for the terminal that remembers",
    args_conflicts_with_subcommands = true,
    after_help = EXAMPLES
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,

    /// What to say to the model
    pub(crate) prompt: Vec<String>,

    /// Answer and end, without asking anything; what is piped in is added to the prompt
    #[arg(short, long)]
    pub(crate) print: bool,

    /// How the answer is printed
    #[arg(long, value_enum, default_value_t = OutputFormat::Text, value_name = "FORMAT")]
    pub(crate) output_format: OutputFormat,

    /// The model to talk to
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,

    /// Go on with this project's last session
    #[arg(short, long, conflicts_with = "resume")]
    pub(crate) r#continue: bool,

    /// Go on with a session of this project, named by its id or the beginning of it; without one, list them
    #[arg(short, long, value_name = "ID", num_args = 0..=1, default_missing_value = LIST)]
    pub(crate) resume: Option<String>,

    /// The most requests to the model in this run; then it ends with exit code 3
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_turns: Option<u32>,

    /// What is permitted without a question
    #[arg(long, value_enum, value_name = "MODE")]
    pub(crate) permission_mode: Option<PermissionMode>,

    /// Rules for what may run, as in 'Read' or 'Bash(cargo test:*)'; may be given several times
    #[arg(long, value_name = "RULE")]
    pub(crate) allowed_tools: Vec<String>,

    /// Rules for what never runs; may be given several times
    #[arg(long, value_name = "RULE")]
    pub(crate) disallowed_tools: Vec<String>,

    /// Settings for this run: a file, or JSON
    #[arg(long, value_name = "FILE|JSON")]
    pub(crate) settings: Option<String>,

    /// Replace the static part of the system prompt
    #[arg(long, value_name = "TEXT")]
    pub(crate) system_prompt: Option<String>,

    /// Add to the static part of the system prompt
    #[arg(long, value_name = "TEXT")]
    pub(crate) append_system_prompt: Option<String>,

    /// Say more about what is going on, on standard error
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

/// Stands for `--resume` without an id.
pub(crate) const LIST: &str = "?";

const EXAMPLES: &str = "\
Examples:
  dormouse -p \"what does this project do?\"
  git diff | dormouse -p \"review this\"
  dormouse -p --continue \"and the tests?\"
  dormouse -p --output-format json \"list the public functions\" | jq -r .result
  dormouse demo

Exit codes:
  0    the model was done
  1    it could not be done: the server, the disk
  2    the command line, the settings or the set-up is wrong
  3    stopped before it was done: --max-turns, a cut, empty or declined answer
  101  a bug in Dormouse; a report is written
  130  interrupted";

/// The commands beside talking.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Play a short story through the real program, with a scripted model
    #[command(after_help = "Example:\n  dormouse demo")]
    Demo,
    /// List this project's sessions
    #[command(
        after_help = "Examples:\n  dormouse sessions\n  dormouse sessions --search migration --json"
    )]
    Sessions(SessionsArguments),
    /// See what is permitted
    #[command(
        subcommand,
        after_help = "Examples:\n  dormouse permissions check Bash 'git diff'\n  dormouse permissions check Edit src/main.rs --json"
    )]
    Permissions(PermissionsCommand),
}

#[derive(Debug, Subcommand)]
pub(crate) enum PermissionsCommand {
    /// Say whether a call would be allowed, and why; nothing is run
    #[command(
        after_help = "Examples:\n  dormouse permissions check Bash 'git diff'\n  dormouse permissions check Bash 'find . -delete' --json\n  dormouse permissions check Edit src/main.rs --permission-mode accept-edits"
    )]
    Check(CheckArguments),
}

#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// The tool
    pub(crate) tool: String,
    /// Its arguments as JSON; or, for Bash, the command, and for others the file
    pub(crate) input: String,
    /// The mode to ask about
    #[arg(long, value_enum, value_name = "MODE")]
    pub(crate) permission_mode: Option<PermissionMode>,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PermissionMode {
    /// Ask before a write or a command
    Default,
    /// Edits in the working directory need no question
    #[value(alias = "acceptEdits")]
    AcceptEdits,
    /// Nothing but reading
    Plan,
    /// Everything but what a rule denies
    #[value(alias = "bypassPermissions")]
    Bypass,
}

#[derive(Debug, Args)]
pub(crate) struct SessionsArguments {
    /// Only those that contain this text
    #[arg(long, value_name = "TEXT")]
    pub(crate) search: Option<String>,
    /// The most to list
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// The answer
    Text,
    /// One JSON object, at the end
    Json,
    /// A JSON object a line, as things happen
    StreamJson,
}
