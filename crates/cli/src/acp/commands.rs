//! Slash commands in an editor: those that need no terminal, and the user's skills and command files.

use std::time::Duration;

use dormouse_base::nearest_name;
use dormouse_conversation::transcript::CompactionTrigger;
use dormouse_engine::{CompactionRequest, CompactionScope, EngineEvent, TurnContext};
use tokio_util::sync::CancellationToken;

use crate::commands::{hooks, mcp_servers};
use crate::interactive::slash_commands::command_list::{
    COMMANDS, ParsedCommand, SlashCommand, is_command, parse,
};
use crate::interactive::slash_commands::compact::outcome_text;
use crate::interactive::slash_commands::rows::{self, Rows};
use crate::interactive::slash_commands::{context, prompts, skills};
use crate::message_catalog::msg;
use crate::wiring::connect::other_model;
use crate::wiring::exit::Failure;
use crate::wiring::session_notes;
use crate::wiring::session_start::ActiveSession;
use crate::wiring::world::World;

use super::prompt_blocks::fence_for;
use super::protocol::{AvailableCommand, CommandHint, EditorUpdate};

/// The commands of the terminal that an editor has too.
const OFFERED: [SlashCommand; 13] = [
    SlashCommand::Compact,
    SlashCommand::Context,
    SlashCommand::Cost,
    SlashCommand::Stats,
    SlashCommand::Memory,
    SlashCommand::Recall,
    SlashCommand::Notes,
    SlashCommand::Skills,
    SlashCommand::Mcp,
    SlashCommand::Hooks,
    SlashCommand::Model,
    SlashCommand::Init,
    SlashCommand::Review,
];
/// How long a command of the command line may take.
const COMMAND_TIMEOUT: Duration = Duration::from_mins(2);
/// The columns of tables.
const COLUMNS: usize = 100;

/// What a prompt turned out to be.
pub(super) enum EditorInput {
    /// For the model.
    Prompt(String),
    /// A command, and its answer.
    Answer(String),
}

/// The commands and skills that the editor suggests.
pub(super) fn available_commands(session: &ActiveSession) -> EditorUpdate {
    let own = session.engine.session_tools().skills();
    let commands = COMMANDS.iter().filter(|row| OFFERED.contains(&row.command));
    let commands = commands
        .filter(|row| is_command(row.name) || own.get(row.name).is_none())
        .map(|row| available(row.name, row.help(), row.arguments));
    let skills = skills::callable(session).map(|skill| {
        let hint = skill.hint.as_deref().unwrap_or_default();
        available(&skill.name, skill.description.clone(), hint)
    });
    EditorUpdate::AvailableCommandsUpdate { available_commands: commands.chain(skills).collect() }
}

fn available(name: &str, description: String, hint: &str) -> AvailableCommand {
    let input = (!hint.is_empty()).then(|| CommandHint { hint: hint.to_owned() });
    AvailableCommand { name: name.to_owned(), description, input }
}

/// Runs the command in a prompt, if it is one.
pub(super) async fn dispatch(
    prompt: String,
    session: &mut ActiveSession,
    (world, interrupt): (&World, &CancellationToken),
    sink: &mut (dyn FnMut(EngineEvent) + Send),
) -> EditorInput {
    let is_skill = session.engine.session_tools().skills().called(&prompt).is_some();
    let answer = match parse(&prompt) {
        None => return EditorInput::Prompt(prompt),
        // The user's own command of that name is used instead of ours.
        Some(
            ParsedCommand::Unknown { .. }
            | ParsedCommand::Known(SlashCommand::Init | SlashCommand::Review, _),
        ) if is_skill => return EditorInput::Prompt(prompt),
        Some(ParsedCommand::Known(SlashCommand::Init, _)) => {
            return EditorInput::Prompt(prompts::INIT.to_owned());
        }
        Some(ParsedCommand::Known(SlashCommand::Review, rest)) => {
            return EditorInput::Prompt(prompts::review(&rest));
        }
        Some(ParsedCommand::Known(SlashCommand::Compact, rest)) => {
            compact(&rest, session, interrupt, sink).await
        }
        Some(ParsedCommand::Known(command, rest)) => answered(command, &rest, session, world).await,
        Some(ParsedCommand::Unknown { name, similar }) => {
            let similar = similar.or_else(|| nearest_name(&name, skills::names(session)));
            let hint = similar.map(|name| msg!("command-suggestion", name = name));
            msg!("command-unknown-here", name = name, hint = hint.unwrap_or_default())
        }
    };
    EditorInput::Answer(answer)
}

/// What a command answers that sends nothing to the model.
async fn answered(
    command: SlashCommand,
    rest: &str,
    session: &mut ActiveSession,
    world: &World,
) -> String {
    let engine = &session.engine;
    let answer = match command {
        SlashCommand::Cost => Ok(listed(&rows::cost(&engine.account()))),
        SlashCommand::Context => world.home().map_err(Failure::from).and_then(|home| {
            let window = context::window(engine);
            Ok(listed(&window.into_iter().chain(context::layers(engine, &home)?).collect()))
        }),
        SlashCommand::Stats => world
            .home()
            .map_err(Failure::from)
            .and_then(|home| Ok(quoted(&rows::session_stats(engine, &home, COLUMNS)?))),
        SlashCommand::Notes => Ok(session_notes::notes_text(engine)),
        SlashCommand::Skills => Ok(listed(&skills::rows(session))),
        SlashCommand::Hooks => Ok(listed(&hooks::rows(&engine.hooks()))),
        SlashCommand::Mcp => Ok(quoted(&mcp_servers::in_talk(&session.servers, rest).await)),
        SlashCommand::Model if rest.is_empty() => {
            Ok(msg!("model-current", model = engine.model().name.as_str()))
        }
        SlashCommand::Model => switch_model(rest, session, world).await,
        SlashCommand::Memory if matches!(rest, "on" | "off") => {
            Ok(switch_memory(session, rest == "on"))
        }
        SlashCommand::Memory => {
            let words = if rest.is_empty() { "list" } else { rest };
            command_line("memory", &[], words, session).await
        }
        SlashCommand::Recall if !rest.is_empty() => {
            command_line("recall", &["--explain", "--", rest], "", session).await
        }
        _ => Ok(msg!("acp-command-terminal")),
    };
    answer.unwrap_or_else(|failure| failure.message())
}

async fn compact(
    rest: &str,
    session: &mut ActiveSession,
    interrupt: &CancellationToken,
    sink: &mut (dyn FnMut(EngineEvent) + Send),
) -> String {
    let request = CompactionRequest {
        trigger: CompactionTrigger::Manual,
        instructions: Some(rest.to_owned()).filter(|text| !text.is_empty()),
        scope: CompactionScope::Whole,
    };
    let mut context = TurnContext::new(interrupt, sink);
    match session.engine.compact(request, &mut context).await {
        Ok(outcome) => outcome_text(outcome).unwrap_or_default(),
        Err(error) => error.to_string(),
    }
}

async fn switch_model(
    name: &str,
    session: &mut ActiveSession,
    world: &World,
) -> Result<String, Failure> {
    let ActiveSession { engine, settings, switches, project, .. } = session;
    let place = (&*settings, &*switches, &*project);
    let other = other_model(name, place, world, engine.model().effort).await?;
    engine.switch_model(other)?;
    Ok(msg!("model-set", model = engine.model().name.as_str()))
}

fn switch_memory(session: &ActiveSession, is_on: bool) -> String {
    let Some(memory) = &session.memory else { return msg!("memory-not-in-session") };
    memory.switch.set(is_on);
    if is_on { msg!("memory-turned-on") } else { msg!("memory-turned-off") }
}

/// Runs a command of the command line and shows what it prints. It is a process of its own: standard output is the editor's.
async fn command_line(
    command: &str,
    before: &[&str],
    words: &str,
    session: &ActiveSession,
) -> Result<String, Failure> {
    let Some(words) = shlex::split(words) else { return Ok(msg!("unclosed-quote")) };
    let program = std::env::current_exe().map_err(Failure::failed)?;
    let program = program.to_string_lossy();
    let arguments: Vec<&str> = std::iter::once(command)
        .chain(before.iter().copied())
        .chain(words.iter().map(String::as_str))
        .collect();
    let output = dormouse_tools::output(
        &program,
        &arguments,
        &session.project.folder,
        &session.environment,
        COMMAND_TIMEOUT,
    );
    let output = output.await.map_err(Failure::failed)?;
    Ok(quoted(&format!("{}{}", output.stdout, output.stderr)))
}

/// Rows as a list.
fn listed(rows: &Rows) -> String {
    let row = |(name, text): &(String, String)| format!("- {name}: {}", text.replace('\n', "\n  "));
    let rows: Vec<String> = rows.iter().map(row).collect();
    if rows.is_empty() { msg!("row-none") } else { rows.join("\n") }
}

/// Text with its columns.
fn quoted(text: &str) -> String {
    let fence = fence_for(text);
    format!("{fence}\n{}\n{fence}", text.trim_end())
}
