//! What slash commands say: rows of text from the state of the conversation.

use std::path::Path;

use dormouse_base::{FileError, group_digits, names};
use dormouse_conversation::metrics::{MetricsFilter, MetricsLog, summarize_metrics};
use dormouse_engine::Engine;
use dormouse_permissions::{PermissionGate, PermissionMode, PermissionRule};

use crate::args::PermissionModeArgument;
use crate::commands::stats::text::{spent, text};
use crate::wiring::session_start::Conversation;
use crate::wiring::world::World;

use super::commands::COMMANDS;

/// The columns that the tables of figures need.
const FOR_TABLES: usize = 80;

const KEYS: &[(&str, &str)] = &[
    ("Enter", "say it"),
    ("Alt-Enter, Ctrl-J", "a new line; also \\ and Enter"),
    ("Up, Ctrl-R", "what was typed before"),
    ("Tab", "complete a command"),
    ("Shift-Tab", "at an empty prompt: the next mode: default, accept-edits, plan"),
    ("Alt-U", "at an empty prompt: undo the last change of memory"),
    ("Alt-R", "at an empty prompt: why memories were recalled"),
    ("Ctrl-C", "stop the turn; twice at an empty prompt: leave"),
    ("Ctrl-D", "leave"),
];

/// The keys and the commands.
pub(crate) fn help() -> Rows {
    let commands = COMMANDS.iter().map(|(_, name, takes, does)| {
        (format!("/{name} {takes}").trim_end().to_owned(), (*does).to_owned())
    });
    let keys = KEYS.iter().map(|(keys, does)| ((*keys).to_owned(), (*does).to_owned()));
    commands.chain(keys).collect()
}

/// Names and what there is to say of each.
pub(crate) type Rows = Vec<(String, String)>;

fn rows<const COUNT: usize>(rows: [(&str, String); COUNT]) -> Rows {
    rows.map(|(name, text)| (name.to_owned(), text)).into()
}

/// Tokens and money, since this run began to talk in the session.
pub(crate) fn cost(engine: &Engine) -> Rows {
    let usage = engine.totals();
    let money = match engine.cost_usd(&usage) {
        Some(cost) => format!("{cost:.4} USD by the prices in force"),
        None => {
            let model = engine.model_name();
            format!("unknown: the price of {model} is not known; the setting `prices` can say it")
        }
    };
    rows([
        ("new input", tokens(usage.input_tokens)),
        ("cache written", tokens(usage.cache_creation_input_tokens)),
        ("cache read", tokens(usage.cache_read_input_tokens)),
        ("output", tokens(usage.output_tokens)),
        ("cost", money),
        ("agents and work beside it", format!("{:.4} USD", engine.spent_beside_usd())),
    ])
}

/// How full the window is.
pub(crate) fn window(engine: &Engine) -> Rows {
    rows([
        ("messages", engine.history().messages().len().to_string()),
        ("window left", format!("{} %", engine.window_state().percent_left)),
    ])
}

/// What fills the window.
pub(crate) fn context(engine: &Engine) -> Rows {
    let mut rows: Rows = engine
        .fillings()
        .into_iter()
        .map(|filling| (filling.what.to_owned(), format!("about {} tokens", filling.tokens)))
        .collect();
    let budget = engine.budget();
    rows.push(("used".to_owned(), format!("{} of {} tokens", engine.tokens_used(), budget.window)));
    rows.push(("compacted at".to_owned(), format!("{} tokens", engine.compacts_at())));
    rows.push(("left until then".to_owned(), format!("{} %", engine.window_state().percent_left)));
    rows
}

/// What the session has come to, from the log of figures; on a narrow terminal in short.
pub(crate) fn figures(engine: &Engine, home: &Path, columns: usize) -> Result<String, FileError> {
    let filter = MetricsFilter { session: Some(engine.session()), ..MetricsFilter::default() };
    let summary = summarize_metrics(&MetricsLog::folder_in(home), &filter)?;
    Ok(match summary.is_empty() {
        true => "nothing was sent yet".to_owned(),
        false if columns < FOR_TABLES => spent(&summary.total),
        false => text(&summary),
    })
}

/// What is in force, and where things are.
pub(crate) fn config(conversation: &Conversation, world: &World) -> Rows {
    let Conversation { engine, project, gate, key, .. } = conversation;
    let home =
        world.home().map_or_else(|error| error.to_string(), |home| home.display().to_string());
    let key = key.source.clone().unwrap_or_else(|| "none".to_owned());
    rows([
        ("model", engine.model_name().to_owned()),
        ("key from", key),
        ("permissions", mode_name(gate.mode()).to_owned()),
        ("folder", project.folder.display().to_string()),
        ("home", format!("{home} ({} moves it)", names::HOME)),
        ("settings", format!("{home}/settings.json")),
        ("transcript", engine.transcript_path().display().to_string()),
    ])
}

/// The mode and the rules.
pub(crate) fn permissions(gate: &PermissionGate) -> Rows {
    let rules = gate.rules();
    let list = |rules: &[PermissionRule]| {
        let rules: Vec<String> = rules.iter().map(ToString::to_string).collect();
        if rules.is_empty() { "none".to_owned() } else { rules.join(", ") }
    };
    rows([
        ("mode", mode_name(gate.mode()).to_owned()),
        ("allowed", list(&rules.allow)),
        ("asked about", list(&rules.ask)),
        ("denied", list(&rules.deny)),
        ("until you leave", list(&gate.granted())),
    ])
}

pub(crate) fn mode_name(mode: PermissionMode) -> &'static str {
    match mode {
        PermissionMode::Default => "default: asks before a write or a command",
        PermissionMode::AcceptEdits => {
            "accept-edits: edits in the working directory need no question"
        }
        PermissionMode::Plan => "plan: nothing but reading, until you accept a plan",
        PermissionMode::Bypass => "bypass: everything but what a rule denies",
    }
}

/// A word for a mode that is not the usual one.
pub(crate) fn mode_word(mode: PermissionMode) -> Option<&'static str> {
    match mode {
        PermissionMode::Default => None,
        PermissionMode::AcceptEdits => Some("accept-edits"),
        PermissionMode::Plan => Some("plan"),
        PermissionMode::Bypass => Some("bypass"),
    }
}

/// The mode that the key for it goes to.
pub(crate) fn next_mode(mode: PermissionMode) -> PermissionMode {
    match mode {
        PermissionMode::Default => PermissionMode::AcceptEdits,
        PermissionMode::AcceptEdits => PermissionMode::Plan,
        PermissionMode::Plan | PermissionMode::Bypass => PermissionMode::Default,
    }
}

/// The mode of that name, as on the command line.
pub(crate) fn mode_named(name: &str) -> Result<PermissionMode, String> {
    let mode = <PermissionModeArgument as clap::ValueEnum>::from_str(name, true).map_err(|_| {
        format!("there is no mode `{name}`; the modes are default, accept-edits, plan, bypass")
    })?;
    Ok(mode.into())
}

/// A number of tokens.
fn tokens(count: u64) -> String {
    format!("{} tokens", group_digits(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(
            [0, 999, 1_000, 1_234_567].map(tokens),
            ["0 tokens", "999 tokens", "1,000 tokens", "1,234,567 tokens"]
        );
    }

    #[test]
    fn modes_by_name() {
        assert_eq!(mode_named("plan"), Ok(PermissionMode::Plan));
        assert_eq!(mode_named("acceptEdits"), Ok(PermissionMode::AcceptEdits));
        assert!(mode_named("yolo").unwrap_err().contains("bypass"));
    }
}
