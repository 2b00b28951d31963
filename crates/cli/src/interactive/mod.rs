//! The interactive mode: `dormouse` without `-p`.
//!
//! Finished output scrolls into the terminal's own history; below it live the row being written, the composer and the status
//! line ([`live_screen`]). One task owns the terminal: engine events, permission prompts, signals and keys all go to it. With
//! `--plain` and on terminals without control sequences everything is a line ([`line_editor`]).

mod attention;
pub(crate) mod background;
mod confirmation;
mod dragged_image;
mod edit_diff;
mod file_suggestions;
mod first_session;
mod form;
mod images;
mod input_loop;
mod keyboard;
mod latest_account;
mod line_editor;
mod live_screen;
mod outside_programs;
mod pick;
pub(crate) mod progress;
mod prompt_history;
mod replay;
mod resume_picker;
mod screen;
mod session;
mod signals;
pub(crate) mod slash_commands;
mod status_line;
mod terminal_input;
pub(crate) mod tool_calls;
mod turn;
mod turn_end;
mod user_command;
mod view;
mod view_events;

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::time::SystemTime;

use dormouse_agents::AgentDefinition;
use dormouse_base::{Environment, names};
use dormouse_engine::{SessionFolder, Steering};
use dormouse_tui::inline::{LiveStyles, WrapScroll};
use dormouse_tui::interface::Interface;
use dormouse_tui::interface_texts::InterfaceTexts;
use dormouse_tui::suggestions::Suggestion;

use crate::args::{Arguments, LIST_SESSIONS, OutputFormat};
use crate::message_catalog::msg;
use crate::terminal::tty::NoEcho;
use crate::wiring::agent_text::description_text;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::print;
use crate::wiring::session_start::{self, ActiveSession, SessionChoice};
use crate::wiring::trust::Untrusted;
use crate::wiring::user_access::UserAccess;
use crate::wiring::world::{World, current_project};

use attention::Attention;
use file_suggestions::FileSuggestions;
use line_editor::LineEditor;
use live_screen::LiveScreen;
use progress::notify_if_slow;
use prompt_history::PromptHistory;
use resume_picker::SessionPicker;
use screen::{LineScreen, Screen};
use session::{InteractiveSession, SessionEnd};
use signals::Signals;
use slash_commands::skills;
use status_line::StatusLine;
use terminal_input::TerminalInput;
use view::{SharedView, TerminalView};

/// Runs sessions until the user leaves.
pub(crate) async fn run(arguments: &Arguments, world: &World) -> Result<Exit, Failure> {
    check_command(arguments)?;
    check_terminal(arguments)?;
    let mut choice = SessionChoice::of(arguments);
    if arguments.resume.as_deref() == Some(LIST_SESSIONS) {
        let folder = SessionFolder::existing(&world.home()?, &current_project()?)?;
        let now = SystemTime::from(world.clock.now());
        let Some(picker) = SessionPicker::load(folder.as_ref(), None, now)? else {
            return Err(Failure::usage(anyhow::anyhow!(msg!("session-none-to-continue")))
                .hint(msg!("session-none-to-continue-hint")));
        };
        let picked =
            picker.pick_at_start(&world.environment).await.map_err(|error| unreadable(&error))?;
        let Some(session) = picked else { return Ok(Exit::Done) };
        choice = SessionChoice::Named(session.to_string());
    }
    let mut prompt = arguments.prompt.join(" ");
    loop {
        let prompt = std::mem::take(&mut prompt);
        match Box::pin(run_session(arguments, &choice, world, prompt)).await? {
            SessionEnd::Leave(exit) => return Ok(exit),
            SessionEnd::Resume(session) => choice = SessionChoice::Named(session.to_string()),
        }
    }
}

/// Runs a session, with a first prompt unless that is empty.
async fn run_session(
    arguments: &Arguments,
    choice: &SessionChoice,
    world: &World,
    prompt: String,
) -> Result<SessionEnd, Failure> {
    let (confirmer, confirmations) = confirmation::channel();
    let ready = Box::pin(session_start::prepare(arguments, choice, world, Untrusted::Ask));
    let ready = notify_if_slow(ready, || print::note(&msg!("connecting"))).await?;
    let session = ready.open(arguments, world, UserAccess::asking(Arc::new(confirmer)))?;
    let (asker, forms) = form::channel();
    session.servers.questions().set(Arc::new(asker));
    let history = PromptHistory::new(world.home()?);
    let entries = history.entries().map_err(Failure::failed)?;
    let (screen, input) = terminal(arguments, &world.environment, &session, entries)
        .map_err(|error| unreadable(&error))?;
    let folder = session.project.folder.clone();
    let view = TerminalView::new(screen, folder, session.gate.clone());
    let interactive = InteractiveSession {
        arguments,
        world,
        session,
        view: SharedView::new(view),
        input,
        confirmations,
        forms,
        signals: Signals::listen()?,
        history,
        status_line: StatusLine::default(),
        steering: Steering::default(),
    };
    Box::pin(interactive.run(prompt)).await
}

fn unreadable(error: &io::Error) -> Failure {
    Failure::failed(anyhow::anyhow!(msg!("terminal-failed", error = error.to_string())))
}

/// Words that look like a misspelled command are not sent to the model.
fn check_command(arguments: &Arguments) -> Result<(), Failure> {
    let Some((word, similar)) = arguments.misspelled_command() else { return Ok(()) };
    if word == similar {
        let line = arguments.prompt.join(" ");
        return Err(Failure::usage(anyhow::anyhow!(msg!(
            "command-behind-options",
            name = word,
            line = line
        ))));
    }
    Err(Failure::usage(anyhow::anyhow!(msg!("command-unknown", name = word)))
        .hint(msg!("did-you-mean", name = similar))
        .hint(msg!("command-unknown-hint", name = word)))
}

fn check_terminal(arguments: &Arguments) -> Result<(), Failure> {
    let hint = msg!("interactive-needs-terminal-hint");
    if arguments.output_format != OutputFormat::Text {
        let text = msg!("output-format-needs-print");
        return Err(Failure::usage(anyhow::anyhow!(text)).hint(hint));
    }
    let stream = match (std::io::stdin().is_terminal(), std::io::stdout().is_terminal()) {
        (true, true) => return Ok(()),
        (false, _) => "stdin",
        (true, false) => "stdout",
    };
    let text = msg!("interactive-needs-terminal", stream = stream);
    Err(Failure::usage(anyhow::anyhow!(text)).hint(hint))
}

/// Whether the terminal supports no control sequences.
fn is_dumb(environment: &Environment) -> bool {
    matches!(environment.get(names::TERM), None | Some("dumb"))
}

/// What the terminal does when it gets narrower, by its name.
fn wrap_scroll(environment: &Environment) -> WrapScroll {
    let name = environment.get(names::TERM).unwrap_or_default();
    // tmux calls itself by either name.
    if name.starts_with("tmux") || name.starts_with("screen") {
        WrapScroll::Always
    } else {
        WrapScroll::WhenFull
    }
}

fn interface_texts() -> InterfaceTexts {
    InterfaceTexts {
        leave: msg!("hint-leave"),
        rewind: msg!("hint-rewind"),
        after_turn: msg!("hint-after-turn"),
        leaving: msg!("hint-leaving"),
        answer: msg!("hint-answer"),
        queue: msg!("hint-queued"),
        queued: msg!("label-queued"),
        default_mode: msg!("status-default-mode"),
        steered: msg!("label-steered"),
        searching: msg!("hint-searching"),
        no_match: msg!("picker-no-match"),
    }
}

/// Where output goes and where input comes from. `entries` is the prompt history.
fn terminal(
    arguments: &Arguments,
    environment: &Environment,
    session: &ActiveSession,
    entries: Vec<String>,
) -> io::Result<(Screen, TerminalInput)> {
    let is_dumb = is_dumb(environment);
    if arguments.plain || is_dumb {
        let no_echo = if is_dumb { None } else { Some(NoEcho::enable()?) };
        let editor = LineEditor::start(entries, skills::names(session))?;
        let screen = Screen::Lines(LineScreen::default());
        return Ok((screen, TerminalInput::lines(editor, no_echo)));
    }
    let has_no_color = environment.get(names::NO_COLOR).is_some();
    let styles = if has_no_color { LiveStyles::None } else { LiveStyles::All };
    let interface = Interface::new(entries, skills::suggestions(session), interface_texts());
    let (files, fitting) = FileSuggestions::new(
        session.project.folder.clone(),
        agent_suggestions(session),
        Arc::clone(&session.servers),
    );
    let folder = session.project.folder.file_name().unwrap_or_default().to_string_lossy();
    let attention = Attention::new(session.settings.terminal, folder.into_owned());
    let looks = (styles, wrap_scroll(environment));
    let screen = LiveScreen::new(interface, files, attention, looks);
    Ok((Screen::Live(Box::new(screen)), TerminalInput::keys(fitting)?))
}

/// Subagents, as they are mentioned in a message.
fn agent_suggestions(session: &ActiveSession) -> Vec<Suggestion> {
    let agents = session.subagents.agents();
    let suggestion = |agent: &AgentDefinition| Suggestion {
        name: format!("agent-{}", agent.name),
        description: description_text(agent),
    };
    agents.all().map(suggestion).collect()
}
