//! Messages about how a turn ended.

use dormouse_engine::{EngineError, TurnEnd};
use dormouse_model::ModelError;
use dormouse_tui::style::{Color, Style};

use crate::message_catalog::msg;
use crate::wiring::exit::Failure;
use crate::wiring::server_failure::{server_error, server_failure};
use crate::wiring::session_start::KeyOrigin;

/// Nothing where the turn completed.
pub(crate) fn turn_end_lines(end: &TurnEnd, key: &KeyOrigin) -> Vec<(String, Style)> {
    let note = |text: String| vec![(text, Style::DIM)];
    match end {
        TurnEnd::Completed => Vec::new(),
        TurnEnd::Interrupted => note(msg!("turn-interrupted")),
        TurnEnd::Cut => note(msg!("turn-truncated")),
        TurnEnd::Refused => note(msg!("turn-refused")),
        TurnEnd::Empty => note(msg!("turn-empty")),
        TurnEnd::MaxTurns => note(msg!("turn-max-turns")),
        TurnEnd::MaxCost => note(msg!("turn-max-cost")),
        TurnEnd::Repeating(tool) => note(msg!("turn-repeating", tool = tool.as_str())),
        TurnEnd::Halted(reason) => note(msg!("turn-halted", reason = reason.as_str())),
        TurnEnd::Blocked(reason) => note(msg!("turn-blocked", reason = reason.as_str())),
        TurnEnd::NoPrompt(reason) => note(msg!("turn-no-prompt", reason = reason.as_str())),
        TurnEnd::Failed(error) => server_error_lines(error, key),
    }
}

fn server_error_lines(error: &ModelError, key: &KeyOrigin) -> Vec<(String, Style)> {
    let mut lines = vec![error_line(&server_error(error))];
    match error {
        _ if error.is_transient() => lines.push((msg!("turn-retry-hint"), Style::DIM)),
        ModelError::TooLong { .. }
        | ModelError::RequestTooLarge(_)
        | ModelError::ThinkingRefused(_) => {
            lines.push((msg!("turn-too-long-hint"), Style::DIM));
        }
        _ => {
            let failure = server_failure(error, key.source.as_deref(), &key.variable);
            lines.extend(hint_lines(&failure));
        }
    }
    lines
}

/// The lines for an error of the engine, such as a full disk.
pub(crate) fn engine_error_lines(error: &EngineError) -> Vec<(String, Style)> {
    vec![error_line(&error.to_string()), (msg!("turn-retry-hint"), Style::DIM)]
}

fn error_line(text: &str) -> (String, Style) {
    (msg!("error-line", text = text), Style::PLAIN.color(Color::Red))
}

fn hint_lines(failure: &Failure) -> Vec<(String, Style)> {
    failure.hints().iter().map(|hint| (hint.clone(), Style::DIM)).collect()
}
