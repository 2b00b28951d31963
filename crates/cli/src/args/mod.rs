//! The command line. Help texts are in the message catalog ([`help`]): a doc comment on a field or variant
//! would become one. `after_help` holds the example command lines only.

mod acp;
mod agents;
mod completions;
mod config;
mod demo;
mod diagnostics;
mod dream;
mod help;
mod hooks;
mod manual;
mod mcp;
mod memory;
mod memory_scope;
mod permissions;
mod plugin;
mod profile;
mod rewind;
mod send;
mod sessions;
mod setup;
mod team;
mod ui;

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::PathBuf;

use clap::{CommandFactory, Parser, Subcommand, ValueEnum};
use dormouse_base::nearest_name;
use dormouse_conversation::Effort;
use dormouse_hooks::SetupTrigger;

pub(crate) use acp::*;
pub(crate) use agents::*;
pub(crate) use completions::*;
pub(crate) use config::*;
pub(crate) use demo::*;
pub(crate) use diagnostics::*;
pub(crate) use dream::*;
pub(crate) use help::{JsonOutput, command_with_help, parse_arguments, wanted_json};
pub(crate) use hooks::*;
pub(crate) use manual::*;
pub(crate) use mcp::*;
pub(crate) use memory::*;
pub(crate) use memory_scope::*;
pub(crate) use permissions::*;
pub(crate) use plugin::*;
pub(crate) use profile::*;
pub(crate) use rewind::*;
pub(crate) use send::*;
pub(crate) use sessions::*;
pub(crate) use setup::*;
pub(crate) use team::*;
pub(crate) use ui::*;

#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[derive(Debug, Parser)]
#[command(
    name = "dormouse",
    version,
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true,
    after_help = "\
dormouse
dormouse \"why does the build fail?\"
dormouse -p \"what does this project do?\"
git diff | dormouse -p \"review this\"
dormouse -p --continue \"and the tests?\"
dormouse -p --output-format json \"list the public functions\" | jq -r .result
dormouse demo"
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Option<CliCommand>,
    pub(crate) prompt: Vec<String>,
    #[arg(short, long)]
    pub(crate) print: bool,
    #[arg(long, value_enum, default_value_t = OutputFormat::Text, value_name = "FORMAT")]
    pub(crate) output_format: OutputFormat,
    #[arg(long, value_enum, default_value_t = InputFormat::Text, value_name = "FORMAT")]
    pub(crate) input_format: InputFormat,
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    #[arg(long, value_name = "LEVEL")]
    pub(crate) effort: Option<Effort>,
    #[arg(short, long, conflicts_with = "resume")]
    pub(crate) r#continue: bool,
    #[arg(short, long, value_name = "ID", num_args = 0..=1, default_missing_value = LIST_SESSIONS)]
    pub(crate) resume: Option<String>,
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_turns: Option<u32>,
    #[arg(long, value_name = "USD", value_parser = parse_dollars)]
    pub(crate) max_cost: Option<f64>,
    #[arg(long, value_enum, value_name = "MODE")]
    pub(crate) permission_mode: Option<PermissionModeArgument>,
    #[arg(long, value_name = "RULE")]
    pub(crate) allowed_tools: Vec<String>,
    #[arg(long, value_name = "RULE")]
    pub(crate) disallowed_tools: Vec<String>,
    #[arg(long, value_name = "FOLDER")]
    pub(crate) add_dir: Vec<PathBuf>,
    #[arg(long)]
    pub(crate) bare: bool,
    #[arg(long, value_name = "FILE|JSON")]
    pub(crate) settings: Option<String>,
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<dormouse_agents::messages::AgentName>,
    #[arg(long, value_name = "FILE|JSON")]
    pub(crate) mcp_config: Vec<String>,
    #[arg(long, value_name = "TEXT")]
    pub(crate) system_prompt: Option<String>,
    #[arg(long, value_name = "TEXT")]
    pub(crate) append_system_prompt: Option<String>,
    #[arg(long)]
    pub(crate) plain: bool,
    #[arg(long)]
    pub(crate) wait: bool,
    #[arg(long, conflicts_with_all = ["init_only", "maintenance"])]
    pub(crate) init: bool,
    #[arg(long, conflicts_with = "maintenance")]
    pub(crate) init_only: bool,
    #[arg(long)]
    pub(crate) maintenance: bool,
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

#[derive(Debug, thiserror::Error)]
#[error("expected an amount in dollars greater than 0, such as 0.50")]
struct InvalidAmount;

fn parse_dollars(text: &str) -> Result<f64, InvalidAmount> {
    let amount = text.parse().ok();
    amount.filter(|amount: &f64| amount.is_finite() && *amount > 0.0).ok_or(InvalidAmount)
}

impl Arguments {
    /// Whether the run is not interactive: it prints an answer or a list and ends.
    pub(crate) fn is_headless(&self) -> bool {
        self.print
            || self.init_only
            || self.input_format == InputFormat::StreamJson
            || self.lists_sessions()
    }

    /// Whether `--resume` lists the sessions, because no picker can be shown.
    fn lists_sessions(&self) -> bool {
        let has_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
        let can_pick = has_terminal
            && !self.plain
            && self.output_format == OutputFormat::Text
            && self.prompt.is_empty();
        self.resume.as_deref() == Some(LIST_SESSIONS) && !can_pick
    }

    /// The command that was probably meant by the first word of a prompt: one word alone, or followed by a subcommand of
    /// that command. With `-p`, words are always a prompt.
    pub(crate) fn misspelled_command(&self) -> Option<(&str, String)> {
        let [word, rest @ ..] = self.prompt.as_slice() else { return None };
        if self.print || word.contains(char::is_whitespace) {
            return None;
        }
        let command = Self::command();
        let names = command.get_subcommands().map(|command| command.get_name().to_owned());
        // Many words are near `help` and `ui`, and people say hello and hi.
        let is_clear = |name: &String| name != HELP && name.len() >= CLEAR_NAME;
        let names = names.filter(|name| is_clear(name) || has_same_letters(word, name));
        let elsewhere = OTHER_NAMES.iter().find(|(name, _)| name == word);
        let meant = match elsewhere {
            Some((_, ours)) => (*ours).to_owned(),
            None => nearest_name(word, names)?,
        };
        let is_subcommand = |name: &String| {
            command
                .find_subcommand(&meant)
                .is_some_and(|meant| meant.find_subcommand(name).is_some())
        };
        rest.first().is_none_or(is_subcommand).then_some((word, meant))
    }

    /// The trigger of `Setup` hooks, if they run first.
    pub(crate) fn setup_trigger(&self) -> Option<SetupTrigger> {
        match (self.init || self.init_only, self.maintenance) {
            (true, _) => Some(SetupTrigger::Init),
            (false, true) => Some(SetupTrigger::Maintenance),
            (false, false) => None,
        }
    }
}

/// The name and version, if nothing else is asked for.
pub(crate) fn version_line(words: impl IntoIterator<Item = OsString>) -> Option<String> {
    let mut words = words.into_iter().skip(1);
    let only = words.next().filter(|_| words.next().is_none())?;
    (only == "--version" || only == "-V").then(|| format!("dormouse {}", env!("CARGO_PKG_VERSION")))
}

const HELP: &str = "help";
/// What other programs call commands of ours. Such a word alone is hardly meant as a prompt.
const OTHER_NAMES: [(&str, &str); 4] = [
    ("version", "--version"),
    ("settings", "config"),
    ("configure", "config"),
    ("login", "doctor"),
];
/// Letters of a name that other words are not near by chance.
const CLEAR_NAME: usize = 3;

fn has_same_letters(one: &str, other: &str) -> bool {
    let sorted = |word: &str| {
        let mut letters: Vec<char> = word.chars().collect();
        letters.sort_unstable();
        letters
    };
    sorted(one) == sorted(other)
}

/// The value of `--resume` without an id.
pub(crate) const LIST_SESSIONS: &str = "?";

#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
    #[command(name = "help", after_help = MANUAL_EXAMPLES)]
    Manual(ManualArguments),
    #[command(after_help = "dormouse demo\ndormouse demo --fast")]
    Demo(DemoArguments),
    #[command(after_help = "dormouse sessions\ndormouse sessions --search migration --json")]
    Sessions(SessionsArguments),
    #[command(after_help = REWIND_EXAMPLES)]
    Rewind(RewindArguments),
    #[command(after_help = STATS_EXAMPLES)]
    Stats(StatsArguments),
    #[command(after_help = CONTEXT_EXAMPLES)]
    Context(ContextArguments),
    #[command(after_help = DOCTOR_EXAMPLES)]
    Doctor(DoctorArguments),
    #[command(subcommand, after_help = PERMISSIONS_EXAMPLES)]
    Permissions(PermissionsCommand),
    #[command(after_help = CONFIG_EXAMPLES)]
    Config(ConfigArguments),
    #[command(subcommand, after_help = MEMORY_EXAMPLES)]
    Memory(MemoryCommand),
    #[command(after_help = DREAM_EXAMPLES)]
    Dream(DreamArguments),
    #[command(after_help = RECALL_EXAMPLES)]
    Recall(RecallArguments),
    #[command(after_help = SEARCH_EXAMPLES)]
    Search(SearchPastArguments),
    #[command(after_help = "dormouse agents\ndormouse agents --json | jq '.agents[].name'")]
    Agents(AgentsArguments),
    #[command(after_help = MCP_EXAMPLES)]
    Mcp(McpArguments),
    #[command(after_help = HOOKS_EXAMPLES)]
    Hooks(HooksArguments),
    #[command(after_help = HOOK_EXAMPLES)]
    Hook(HookArguments),
    #[command(after_help = SETUP_EXAMPLES)]
    Setup(SetupArguments),
    #[command(subcommand, after_help = PLUGIN_EXAMPLES)]
    Plugin(PluginCommand),
    #[command(subcommand, after_help = TEAM_EXAMPLES)]
    Team(TeamCommand),
    #[command(after_help = UI_EXAMPLES)]
    Ui(UiArguments),
    #[command(after_help = ACP_EXAMPLES)]
    Acp(AcpArguments),
    #[command(after_help = SEND_EXAMPLES)]
    Send(SendArguments),
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions(CompletionsArguments),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    Text,
    Json,
    StreamJson,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum InputFormat {
    Text,
    StreamJson,
}

#[cfg(test)]
mod tests;
