//! The rows that slash commands show: names and texts from the state of the session.

use std::path::Path;

use dormouse_base::{FileError, group_digits, names};
use dormouse_conversation::metrics::{MetricsFilter, MetricsLog, summarize_metrics};
use dormouse_engine::Engine;
use dormouse_permissions::{PermissionGate, PermissionMode, PermissionRule};
use thiserror::Error;

use crate::args::PermissionModeArgument;
use crate::commands::stats::text::{spent, text};
use crate::message_catalog::msg;
use crate::wiring::session_start::ActiveSession;
use crate::wiring::world::World;

use super::command_list::COMMANDS;

/// The columns that the statistics tables need.
const TABLE_COLUMNS: usize = 80;

const KEYS: &[(&str, &str)] = &[
    (
        "Enter",
        "send the message; during a turn: queue it, and again: send it with the next request",
    ),
    ("Alt-Enter, Ctrl-J", "insert a line break; also \\ and Enter"),
    ("Up, Down", "earlier messages; during a turn, Up takes a queued message back"),
    ("Ctrl-R", "search earlier messages"),
    ("Tab", "complete a command"),
    ("Esc", "interrupt the turn; twice at an empty prompt: go back to an earlier message"),
    ("Ctrl-O", "show the whole output of the last call"),
    ("Ctrl-G", "edit the message in your editor"),
    ("Shift-Tab", "at an empty prompt: next permission mode (default, accept-edits, plan)"),
    ("Alt-U", "at an empty prompt: undo the last memory change"),
    ("Alt-R", "at an empty prompt: explain the last recall"),
    ("Ctrl-C", "clear the message, then interrupt the turn; twice at an empty prompt: leave"),
    ("Ctrl-Z", "stop the program; fg continues it"),
    ("Ctrl-D", "leave"),
];

/// Commands and keys.
pub(crate) fn help() -> Rows {
    let commands = COMMANDS.iter().map(|(_, name, takes, does)| {
        (format!("/{name} {takes}").trim_end().to_owned(), (*does).to_owned())
    });
    let keys = KEYS.iter().map(|(keys, does)| ((*keys).to_owned(), (*does).to_owned()));
    commands.chain(keys).collect()
}

/// Names, each with a text.
pub(crate) type Rows = Vec<(String, String)>;

fn rows<const COUNT: usize>(rows: [(&str, String); COUNT]) -> Rows {
    rows.map(|(name, text)| (name.to_owned(), text)).into()
}

/// Tokens and cost of this run.
pub(crate) fn cost(engine: &Engine) -> Rows {
    let usage = engine.spending().usage();
    let cost = match engine.spending().cost_usd(&usage) {
        Some(cost) => msg!("cost-usd", usd = format!("{cost:.4}")),
        None => msg!("cost-unknown", model = engine.model().name.as_str()),
    };
    let background = format!("{:.4}", engine.spending().background_usd());
    vec![
        (msg!("cost-new-input"), tokens(usage.input_tokens)),
        (msg!("cost-cache-written"), tokens(usage.cache_creation_input_tokens)),
        (msg!("cost-cache-read"), tokens(usage.cache_read_input_tokens)),
        (msg!("cost-output"), tokens(usage.output_tokens)),
        (msg!("cost-total"), cost),
        (msg!("cost-background"), msg!("cost-usd", usd = background)),
    ]
}

/// How full the context window is.
pub(crate) fn window(engine: &Engine) -> Rows {
    rows([
        ("messages", engine.conversation().history().messages().len().to_string()),
        ("context left", format!("{} %", engine.context_window().state.percent_left)),
    ])
}

/// What fills the context window.
pub(crate) fn context(engine: &Engine) -> Rows {
    let window = engine.context_window();
    let mut rows: Rows = window
        .shares
        .into_iter()
        .map(|share| (share.what.to_owned(), format!("about {} tokens", share.tokens)))
        .collect();
    let budget = engine.model().budget;
    rows.push((
        "used".to_owned(),
        format!("{} of {} tokens", engine.conversation().tokens_used(), budget.window),
    ));
    rows.push(("auto-compaction at".to_owned(), format!("{} tokens", window.compacts_at)));
    rows.push((
        "left until then".to_owned(),
        format!("{} %", engine.context_window().state.percent_left),
    ));
    rows
}

/// Statistics of the session from the usage log; on a narrow terminal only the totals.
pub(crate) fn session_stats(
    engine: &Engine,
    home: &Path,
    columns: usize,
) -> Result<String, FileError> {
    let filter = MetricsFilter {
        session: Some(engine.conversation().session()),
        ..MetricsFilter::default()
    };
    let summary = summarize_metrics(&MetricsLog::folder_in(home), &filter)?;
    Ok(match summary.is_empty() {
        true => "No requests yet.".to_owned(),
        false if columns < TABLE_COLUMNS => spent(&summary.total),
        false => text(&summary),
    })
}

/// The configuration in effect, and where files are.
pub(crate) fn config(session: &ActiveSession, world: &World) -> Rows {
    let ActiveSession { engine, project, gate, key, .. } = session;
    let home =
        world.home().map_or_else(|error| error.to_string(), |home| home.display().to_string());
    let key = key.source.clone().unwrap_or_else(|| "none".to_owned());
    rows([
        ("model", engine.model().name.as_str().to_owned()),
        ("key from", key),
        ("permissions", mode_description(gate.mode()).to_owned()),
        ("folder", project.folder.display().to_string()),
        ("home", format!("{home} (set {} to move it)", names::HOME)),
        ("settings", format!("{home}/settings.json")),
        ("transcript", engine.conversation().transcript_path().display().to_string()),
    ])
}

/// The permission mode and rules.
pub(crate) fn permissions(gate: &PermissionGate) -> Rows {
    let rules = gate.rules();
    let list = |rules: &[PermissionRule]| {
        let rules: Vec<String> = rules.iter().map(ToString::to_string).collect();
        if rules.is_empty() { "none".to_owned() } else { rules.join(", ") }
    };
    rows([
        ("mode", mode_description(gate.mode()).to_owned()),
        ("allowed", list(&rules.allow)),
        ("ask", list(&rules.ask)),
        ("denied", list(&rules.deny)),
        ("allowed for this session", list(&gate.granted())),
    ])
}

pub(crate) fn mode_description(mode: PermissionMode) -> &'static str {
    match mode {
        PermissionMode::Default => "default: asks before edits and commands",
        PermissionMode::AcceptEdits => {
            "accept-edits: edits in the working directory need no confirmation"
        }
        PermissionMode::Plan => "plan: read-only until you accept a plan",
        PermissionMode::Bypass => "bypass: everything is allowed unless a rule denies it",
    }
}

/// The label of a mode; none for the default mode.
pub(crate) fn mode_label(mode: PermissionMode) -> Option<&'static str> {
    match mode {
        PermissionMode::Default => None,
        PermissionMode::AcceptEdits => Some("accept-edits"),
        PermissionMode::Plan => Some("plan"),
        PermissionMode::Bypass => Some("bypass"),
    }
}

/// The mode that Shift-Tab switches to.
pub(crate) fn next_mode(mode: PermissionMode) -> PermissionMode {
    match mode {
        PermissionMode::Default => PermissionMode::AcceptEdits,
        PermissionMode::AcceptEdits => PermissionMode::Plan,
        PermissionMode::Plan | PermissionMode::Bypass => PermissionMode::Default,
    }
}

/// Why a text is not a permission mode.
#[derive(Debug, Error, PartialEq, Eq)]
pub(crate) enum PermissionModeError {
    /// No mode has this name.
    #[error("unknown mode `{0}`; use default, accept-edits, plan or bypass")]
    Unknown(String),
}

/// Parses a permission mode, spelled as on the command line.
pub(crate) fn parse_mode(name: &str) -> Result<PermissionMode, PermissionModeError> {
    let mode = <PermissionModeArgument as clap::ValueEnum>::from_str(name, true)
        .map_err(|_| PermissionModeError::Unknown(name.to_owned()))?;
    Ok(mode.into())
}

/// `1 file`, `2 files`.
pub(crate) fn counted(count: usize, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}

fn tokens(count: u64) -> String {
    msg!("tokens", count = group_digits(count))
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
        assert_eq!(parse_mode("plan"), Ok(PermissionMode::Plan));
        assert_eq!(parse_mode("acceptEdits"), Ok(PermissionMode::AcceptEdits));
        assert!(parse_mode("yolo").unwrap_err().to_string().contains("bypass"));
    }
}
