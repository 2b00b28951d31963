//! The interactive mode: `dormouse` without `-p`.
//!
//! Finished output scrolls into the terminal's own history; below it is the prompt, or a one-row status while a turn
//! runs. One task owns the terminal: engine events, permission prompts, signals and keyboard input all go to it.

mod background;
mod confirmation;
mod edit_diff;
mod input_loop;
mod line_editor;
mod progress;
mod prompt_history;
mod screen;
mod session;
mod signals;
mod slash_commands;
mod status_line;
mod tool_calls;
mod turn;
mod turn_end;
mod view;

use std::io::IsTerminal;
use std::sync::Arc;

use dormouse_base::{Environment, names};

use crate::args::{Arguments, OutputFormat};
use crate::message_catalog::msg;
use crate::terminal::color::ColorMode;
use crate::terminal::tty::NoEcho;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::print;
use crate::wiring::session_start;
use crate::wiring::trust::Untrusted;
use crate::wiring::world::World;

use line_editor::LineEditor;
use progress::notify_if_slow;
use prompt_history::PromptHistory;
use screen::{Screen, StatusMode};
use session::{CONNECTING, InteractiveSession};
use signals::Signals;
use slash_commands::skills;
use status_line::StatusLine;
use view::{SharedView, TerminalView};

/// Runs a session until the user leaves.
pub(crate) async fn run(arguments: &Arguments, world: &World) -> Result<Exit, Failure> {
    check_command(arguments)?;
    check_terminal(arguments)?;
    let (confirmer, confirmations) = confirmation::channel();
    let ready = Box::pin(session_start::prepare(arguments, world, Untrusted::Ask));
    let ready = notify_if_slow(ready, || print::note(CONNECTING)).await?;
    let session = ready.open(arguments, world, Some(Arc::new(confirmer)))?;
    let history = PromptHistory::new(world.home()?);
    let entries = history.entries().map_err(Failure::failed)?;
    let is_dumb = is_dumb(&world.environment);
    let screen = screen(arguments, &world.environment, is_dumb);
    let folder = session.project.folder.clone();
    let view = TerminalView::new(screen, folder, session.gate.clone());
    let unreadable = |error| Failure::failed(anyhow::anyhow!("cannot read the terminal: {error}"));
    let no_echo = if is_dumb { None } else { Some(NoEcho::enable().map_err(unreadable)?) };
    let editor = LineEditor::start(entries, skills::names(&session)).map_err(unreadable)?;
    let interactive = InteractiveSession {
        arguments,
        world,
        session,
        view: SharedView::new(view),
        editor,
        confirmations,
        signals: Signals::listen()?,
        history,
        typed_ahead: String::new(),
        no_echo,
        status_line: StatusLine::default(),
    };
    Box::pin(interactive.run(arguments.prompt.join(" "))).await
}

/// Words that look like a misspelled command are not sent to the model.
fn check_command(arguments: &Arguments) -> Result<(), Failure> {
    let Some((word, similar)) = arguments.misspelled_command() else { return Ok(()) };
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

fn screen(arguments: &Arguments, environment: &Environment, is_dumb: bool) -> Screen {
    if arguments.plain || is_dumb {
        Screen::new(ColorMode::Plain, StatusMode::Appended)
    } else if environment.get(names::NO_COLOR).is_some() {
        Screen::new(ColorMode::Plain, StatusMode::InPlace)
    } else {
        Screen::new(ColorMode::Colored, StatusMode::InPlace)
    }
}
