//! The slash commands that do not wait for the end of the turn: they show what is known beside the conversation, or change
//! what applies from the next call on.

use dormouse_permissions::PermissionGate;
use jiff::Timestamp;

use crate::interactive::view::{SharedView, TextAside};

use super::command_list::{ParsedCommand, SlashCommand, parse};
use super::tasks::{self, TaskList};
use super::{agents, context, rows, set_mode};

/// What the commands use.
pub(crate) struct TurnSources<'t> {
    pub(crate) view: &'t SharedView,
    pub(crate) gate: &'t PermissionGate,
    pub(crate) tasks: &'t TaskList,
    pub(crate) now: Timestamp,
}

/// Whether a text is one of these commands.
pub(crate) fn is_at_once(text: &str) -> bool {
    let Some(ParsedCommand::Known(command, rest)) = parse(text) else { return false };
    match command {
        // That is a turn of its own.
        SlashCommand::Agents => !rest.starts_with("resume "),
        SlashCommand::Tasks
        | SlashCommand::Permissions
        | SlashCommand::Cost
        | SlashCommand::Context => true,
        _ => false,
    }
}

/// Runs one of these commands.
pub(crate) fn run(sources: &TurnSources<'_>, text: &str) {
    let Some(ParsedCommand::Known(command, rest)) = parse(text) else { return };
    let TurnSources { view, gate, tasks, now } = *sources;
    let aside = TextAside::begin(&mut view.borrow_mut());
    view.borrow_mut().before_prompt();
    view.borrow_mut().echo(text);
    let account = view.borrow_mut().account.latest.clone();
    match (command, account) {
        (SlashCommand::Tasks, _) => tasks::run(view, tasks, &rest, now),
        (SlashCommand::Agents, _) => agents::run(&tasks.subagents, view, &rest),
        (SlashCommand::Permissions, _) => set_mode(view, gate, &rest),
        (SlashCommand::Cost, Some(account)) => view.list(&rows::cost(&account)),
        // Of what the window is full is known between the requests only.
        (SlashCommand::Context, Some(account)) => view.list(&context::totals(&account)),
        _ => {}
    }
    if let Some(aside) = aside {
        aside.end(&mut view.borrow_mut());
    }
}
