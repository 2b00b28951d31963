//! The rows that slash commands show: names and texts from the state of the session.

use std::path::Path;

use dormouse_base::{FileError, group_digits, names};
use dormouse_conversation::metrics::{MetricsFilter, MetricsLog, summarize_metrics};
use dormouse_engine::{Engine, SessionAccount};
use dormouse_permissions::{PermissionGate, PermissionMode, PermissionRule};
use thiserror::Error;

use crate::args::PermissionModeArgument;
use crate::commands::stats::text::{spent, text};
use crate::message_catalog::msg;
use crate::wiring::permission_modes::mode_description;
use crate::wiring::session_start::ActiveSession;
use crate::wiring::world::World;

use super::command_list::{COMMANDS, SlashCommandRow};

/// The columns that the statistics tables need.
const TABLE_COLUMNS: usize = 80;

/// Commands and keys.
pub(crate) fn help() -> Rows {
    let commands = COMMANDS.iter().map(|command| {
        let SlashCommandRow { name, arguments, .. } = command;
        (format!("/{name} {arguments}").trim_end().to_owned(), command.help())
    });
    commands.chain(keys()).collect()
}

fn keys() -> Rows {
    rows([
        ("Enter", msg!("key-enter")),
        ("Alt-Enter, Ctrl-J", msg!("key-newline")),
        ("Up, Down", msg!("key-history")),
        ("Ctrl-R", msg!("key-search")),
        ("@path", msg!("key-attach")),
        ("Ctrl-V", msg!("key-image")),
        ("!command", msg!("key-command")),
        ("Tab", msg!("key-tab")),
        ("Esc", msg!("key-esc")),
        ("Ctrl-O", msg!("key-output")),
        ("Alt-T", msg!("key-thinking")),
        ("Ctrl-G", msg!("key-editor")),
        ("Shift-Tab", msg!("key-mode")),
        ("Alt-U", msg!("key-undo")),
        ("Alt-R", msg!("key-recall")),
        ("Ctrl-C", msg!("key-interrupt")),
        ("Ctrl-Z", msg!("key-suspend")),
        ("Ctrl-D", msg!("key-leave")),
    ])
}

/// Names, each with a text.
pub(crate) type Rows = Vec<(String, String)>;

fn rows<const COUNT: usize>(rows: [(&str, String); COUNT]) -> Rows {
    rows.map(|(name, text)| (name.to_owned(), text)).into()
}

/// Tokens and cost of this run.
pub(crate) fn cost(account: &SessionAccount) -> Rows {
    let usage = account.usage;
    let known = account.known_cost();
    let is_all = known.is_some() && !account.spent.is_incomplete;
    let mut cost = known.unwrap_or_else(|| msg!("row-unknown"));
    if !is_all {
        cost = format!("{cost} ({})", msg!("cost-unknown", model = account.model.as_str()));
    }
    // What was not spent costs nothing, whatever its price.
    let is_free = account.background.known == 0.0 && !account.background.is_incomplete;
    let mut background = if is_free { msg!("row-none") } else { account.background.to_string() };
    if account.is_share_spent {
        background = format!("{background} ({})", msg!("cost-share-spent"));
    }
    vec![
        (msg!("cost-new-input"), tokens(usage.input_tokens)),
        (msg!("cost-cache-written"), tokens(usage.cache_creation_input_tokens)),
        (msg!("cost-cache-read"), tokens(usage.cache_read_input_tokens)),
        (msg!("cost-output"), tokens(usage.output_tokens)),
        (msg!("cost-total"), cost),
        (msg!("cost-background"), background),
    ]
}

/// How full the context window is.
pub(crate) fn window(engine: &Engine) -> Rows {
    let left = engine.account().status.state.percent_left;
    vec![
        (msg!("row-messages"), engine.conversation().history().messages().len().to_string()),
        (msg!("row-context-left"), format!("{left} %")),
    ]
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
        true => msg!("no-requests-yet"),
        false if columns < TABLE_COLUMNS => spent(&summary.total),
        false => text(&summary),
    })
}

/// The configuration in effect, and where files are.
pub(crate) fn config(session: &ActiveSession, world: &World) -> Rows {
    let ActiveSession { engine, project, gate, key, .. } = session;
    let home =
        world.home().map_or_else(|error| error.to_string(), |home| home.display().to_string());
    let key = key.source.clone().unwrap_or_else(|| msg!("row-none"));
    let settings = format!("{home}/settings.json");
    vec![
        (msg!("row-model"), engine.model().name.as_str().to_owned()),
        (msg!("row-key"), key),
        (msg!("row-permissions"), mode_description(gate.mode())),
        (msg!("row-folder"), project.folder.display().to_string()),
        (msg!("row-home"), msg!("row-home-value", path = home, variable = names::HOME)),
        (msg!("row-settings"), settings),
        (msg!("row-transcript"), engine.conversation().transcript_path().display().to_string()),
    ]
}

/// The permission mode and rules.
pub(crate) fn permissions(gate: &PermissionGate) -> Rows {
    let rules = gate.rules();
    let list = |rules: &[PermissionRule]| {
        let rules: Vec<String> = rules.iter().map(ToString::to_string).collect();
        if rules.is_empty() { msg!("row-none") } else { rules.join(", ") }
    };
    vec![
        (msg!("row-mode"), mode_description(gate.mode())),
        (msg!("row-allowed"), list(&rules.allow)),
        (msg!("row-ask"), list(&rules.ask)),
        (msg!("row-denied"), list(&rules.deny)),
        (msg!("row-granted"), list(&gate.granted())),
    ]
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
