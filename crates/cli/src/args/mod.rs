//! The command line, as typed. Nothing outside this module and its first reader sees these structs.

mod agents;
mod doors;
mod dream;
mod memory;
mod plugin;
mod profile;
mod send;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use dormouse_engine::SetupTrigger;

pub(crate) use agents::*;
pub(crate) use doors::*;
pub(crate) use dream::*;
pub(crate) use memory::*;
pub(crate) use plugin::*;
pub(crate) use profile::*;
pub(crate) use send::*;

/// A coding agent for the terminal that remembers.
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line are what they are")]
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

    /// The most to spend in this run, at known prices; then it ends with exit code 3
    #[arg(long, value_name = "USD", value_parser = dollars)]
    pub(crate) max_cost: Option<f64>,

    /// What is permitted without a question
    #[arg(long, value_enum, value_name = "MODE")]
    pub(crate) permission_mode: Option<PermissionMode>,

    /// Rules for what may run, as in 'Read' or 'Bash(cargo test:*)'; may be given several times
    #[arg(long, value_name = "RULE")]
    pub(crate) allowed_tools: Vec<String>,

    /// Rules for what never runs; may be given several times
    #[arg(long, value_name = "RULE")]
    pub(crate) disallowed_tools: Vec<String>,

    /// A further folder in which edits may be accepted; may be given several times
    #[arg(long, value_name = "FOLDER")]
    pub(crate) add_dir: Vec<PathBuf>,

    /// No memory, hooks, skills, plugins, MCP servers or instruction files
    #[arg(long)]
    pub(crate) bare: bool,

    /// Settings for this run: a file, or JSON
    #[arg(long, value_name = "FILE|JSON")]
    pub(crate) settings: Option<String>,

    /// A name by which other agents and `dormouse send` write to this session
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<dormouse_agents::messages::AgentName>,

    /// More MCP servers for this run: a file such as .mcp.json, or JSON; may be given several times
    #[arg(long, value_name = "FILE|JSON")]
    pub(crate) mcp_config: Vec<String>,

    /// Replace the static part of the system prompt
    #[arg(long, value_name = "TEXT")]
    pub(crate) system_prompt: Option<String>,

    /// Add to the static part of the system prompt
    #[arg(long, value_name = "TEXT")]
    pub(crate) append_system_prompt: Option<String>,

    /// Without colours, and without writing over what was shown: for screen readers and logs
    #[arg(long)]
    pub(crate) plain: bool,

    /// With -p: wait for what is done beside the conversation, such as writing memories of it
    #[arg(long)]
    pub(crate) wait: bool,

    /// Run the hooks at `Setup` first: a project is set up for the first time
    #[arg(long, conflicts_with_all = ["init_only", "maintenance"])]
    pub(crate) init: bool,

    /// Run the hooks at `Setup` and end
    #[arg(long, conflicts_with = "maintenance")]
    pub(crate) init_only: bool,

    /// Run the hooks at `Setup` first: a project is maintained
    #[arg(long)]
    pub(crate) maintenance: bool,

    /// Say more about what is going on, on standard error
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

/// An amount that can be spent.
fn dollars(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|amount: &f64| amount.is_finite() && *amount > 0.0)
        .ok_or_else(|| "an amount of dollars above 0 is expected, such as 0.50".to_owned())
}

impl Arguments {
    /// Whether nobody is talked with: a question to answer, or a list to print.
    pub(crate) fn is_headless(&self) -> bool {
        self.print || self.init_only || self.resume.as_deref() == Some(LIST)
    }

    /// Why the project is to be set up first, if it is.
    pub(crate) fn set_up(&self) -> Option<SetupTrigger> {
        match (self.init || self.init_only, self.maintenance) {
            (true, _) => Some(SetupTrigger::Init),
            (false, true) => Some(SetupTrigger::Maintenance),
            (false, false) => None,
        }
    }
}

/// Stands for `--resume` without an id.
pub(crate) const LIST: &str = "?";

const EXAMPLES: &str = "\
Examples:
  dormouse
  dormouse \"why does the build fail?\"
  dormouse -p \"what does this project do?\"
  git diff | dormouse -p \"review this\"
  dormouse -p --continue \"and the tests?\"
  dormouse -p --output-format json \"list the public functions\" | jq -r .result
  dormouse demo

Exit codes:
  0    the model was done
  1    it could not be done: the server, the disk
  2    the command line, the settings or the set-up is wrong
  3    stopped before it was done: --max-turns, --max-cost, a cut, empty or declined answer
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
    /// Show what requests cost, how well the cache works, and what each layer did
    #[command(
        after_help = "Examples:\n  dormouse stats\n  dormouse stats --all --since 7d\n  dormouse stats --session 0193b0a4 --json | jq .cache_hit_rate"
    )]
    Stats(StatsArguments),
    /// Replay a session through the layers: tokens, cache, breaks and cost, request by request
    #[command(after_help = CONTEXT_HELP)]
    Context(ContextArguments),
    /// Check keys, folders, locks, git, the terminal and the model server, and say how to mend each
    #[command(
        after_help = "Examples:\n  dormouse doctor\n  dormouse doctor --offline\n  dormouse doctor --json | jq '.findings[] | select(.status != \"ok\")'\n\nExit codes:\n  0    nothing has to be mended\n  1    something has"
    )]
    Doctor(DoctorArguments),
    /// See what is permitted
    #[command(
        subcommand,
        after_help = "Examples:\n  dormouse permissions check Bash 'git diff'\n  dormouse permissions check Edit src/main.rs --json"
    )]
    Permissions(PermissionsCommand),
    /// See and change settings, and where each comes from
    #[command(
        after_help = "Examples:\n  dormouse config\n  dormouse config get permissions.allow\n  dormouse config set model claude-opus-5-5\n  dormouse config set layers.dream false --scope project\n  dormouse config unset model"
    )]
    Config(ConfigArguments),
    /// See, change, search and check what is remembered; no model is needed
    #[command(subcommand, after_help = MEMORY_HELP)]
    Memory(MemoryCommand),
    /// Tidy up what is remembered: merge what many sessions learned, correct, remove what was disproved
    #[command(after_help = DREAM_HELP)]
    Dream(DreamArguments),
    /// Ask what is remembered: the memories that fit a question best; no model is needed
    #[command(
        after_help = "Examples:\n  dormouse recall \"which port has the test database\"\n  dormouse recall \"slow migration\" --explain\n  dormouse recall database --json --limit 3"
    )]
    Recall(RecallArguments),
    /// Search memories, or what was said in past sessions; no model is needed
    #[command(
        after_help = "Examples:\n  dormouse search --sessions \"broken pipe\"\n  dormouse search --sessions parse_header --json\n  dormouse search database"
    )]
    Search(SearchPastArguments),
    /// List the agents that a conversation can start, and where each comes from
    #[command(after_help = AGENTS_HELP)]
    Agents(AgentsArguments),
    /// Serve this project's memory to other agents, as an MCP server; or see and set up the servers that this agent uses
    #[command(after_help = MCP_HELP)]
    Mcp(McpArguments),
    /// Say which hooks run at an event, where each comes from, and why others do not
    #[command(after_help = HOOKS_HELP)]
    Hooks(HooksArguments),
    /// Answer a hook event of another agent, from what it says on standard input
    #[command(after_help = HOOK_HELP)]
    Hook(HookArguments),
    /// Set another agent up to use this memory, or take that back
    #[command(after_help = SETUP_HELP)]
    Setup(SetupArguments),
    /// Install, list, trust and remove plugins: skills, agents, hooks and MCP servers of others
    #[command(subcommand, after_help = PLUGIN_HELP)]
    Plugin(PluginCommand),
    /// Write to a session that has a name
    #[command(after_help = SEND_HELP)]
    Send(SendArguments),
    /// Print completions for a shell, or the man page
    #[command(
        after_help = "Examples:\n  dormouse completions bash > ~/.local/share/bash-completion/completions/dormouse\n  dormouse completions zsh > ~/.zfunc/_dormouse\n  dormouse completions fish > ~/.config/fish/completions/dormouse.fish\n  dormouse completions man > ~/.local/share/man/man1/dormouse.1"
    )]
    Completions {
        /// The shell, or `man` for the man page
        #[arg(value_enum)]
        whom: CompletionsFor,
    },
}

#[derive(Debug, Args)]
pub(crate) struct ConfigArguments {
    #[command(subcommand)]
    pub(crate) command: Option<ConfigCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// List what is set, and every switch, with where each comes from
    #[command(after_help = "Examples:\n  dormouse config list\n  dormouse config list --json")]
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Print one setting
    #[command(
        after_help = "Examples:\n  dormouse config get model\n  dormouse config get layers.dream --json"
    )]
    Get {
        /// The key, as in `permissions.allow`
        key: String,
        /// As JSON, with where it comes from
        #[arg(long)]
        json: bool,
    },
    /// Change one setting
    #[command(
        after_help = "Examples:\n  dormouse config set model claude-opus-5-5\n  dormouse config set permissions.deny '[\"Read(.env)\"]' --scope project"
    )]
    Set {
        /// The key, as in `permissions.allow`
        key: String,
        /// JSON, or plain text
        value: String,
        /// Whose settings
        #[arg(long, value_enum, default_value_t = Scope::User)]
        scope: Scope,
    },
    /// Take one setting out
    #[command(after_help = "Example:\n  dormouse config unset model")]
    Unset {
        /// The key, as in `permissions.allow`
        key: String,
        /// Whose settings
        #[arg(long, value_enum, default_value_t = Scope::User)]
        scope: Scope,
    },
    /// Print the JSON schema of the settings
    #[command(after_help = "Example:\n  dormouse config schema > settings.schema.json")]
    Schema,
}

/// Whose settings are changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Scope {
    /// Your own, for every project
    User,
    /// The project's, for everybody who works on it
    Project,
    /// The project's, on this machine only
    Local,
}

/// For whom `dormouse completions` writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompletionsFor {
    /// Completions for bash
    Bash,
    /// Completions for elvish
    Elvish,
    /// Completions for fish
    Fish,
    /// Completions for PowerShell
    Powershell,
    /// Completions for zsh
    Zsh,
    /// The man page
    Man,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PermissionsCommand {
    /// Show what this project's settings would run or widen, and trust them
    #[command(
        after_help = "Examples:\n  dormouse permissions trust\n  dormouse permissions trust --yes\n  dormouse permissions trust --revoke"
    )]
    Trust(TrustArguments),
    /// Say whether a call would be allowed, and why; nothing is run
    #[command(
        after_help = "Examples:\n  dormouse permissions check Bash 'git diff'\n  dormouse permissions check Bash 'find . -delete' --json\n  dormouse permissions check Edit src/main.rs --permission-mode accept-edits"
    )]
    Check(CheckArguments),
}

#[derive(Debug, Args)]
pub(crate) struct TrustArguments {
    /// Trust without a question; what is trusted is printed
    #[arg(long, conflicts_with = "revoke")]
    pub(crate) yes: bool,
    /// Take the trust back
    #[arg(long)]
    pub(crate) revoke: bool,
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
    /// Nothing but reading, until a plan is accepted
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

#[derive(Debug, Args)]
pub(crate) struct DoctorArguments {
    /// Do not ask the model server
    #[arg(long)]
    pub(crate) offline: bool,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct StatsArguments {
    /// Only what came after: 12h, 7d, 4w, or a date such as 2026-11-02
    #[arg(long, value_name = "WHEN")]
    pub(crate) since: Option<String>,
    /// Only a session, named by its id or the beginning of it
    #[arg(long, value_name = "ID", conflicts_with_all = ["project", "all"])]
    pub(crate) session: Option<String>,
    /// Only this project: what is shown without it, too
    #[arg(long, conflicts_with = "all")]
    pub(crate) project: bool,
    /// Every project
    #[arg(long)]
    pub(crate) all: bool,
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

#[cfg(test)]
mod tests;
