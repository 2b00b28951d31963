//! Messages about how a turn ended.

use dormouse_engine::{EngineError, TurnEnd};
use dormouse_model::ModelError;

use crate::wiring::exit::Failure;
use crate::wiring::server_failure::server_failure;
use crate::wiring::session_start::KeyOrigin;
use dormouse_tui::style::{Color, Style};

const RETRY_HINT: &str = "The conversation is saved: send `continue` to try again.";

/// Nothing where the turn completed.
pub(crate) fn turn_end_lines(end: &TurnEnd, key: &KeyOrigin) -> Vec<(String, Style)> {
    let note = |text: &str| vec![(text.to_owned(), Style::DIM)];
    match end {
        TurnEnd::Completed => Vec::new(),
        TurnEnd::Interrupted => note("Interrupted. Partial output kept."),
        TurnEnd::Cut => {
            note("Response truncated at the output token limit. Send `continue` to get the rest.")
        }
        TurnEnd::Refused => note("The model refused to respond."),
        TurnEnd::Empty => note("The model sent an empty response. Try again."),
        TurnEnd::MaxTurns => {
            note("--max-turns reached before the model finished. Send `continue` to go on.")
        }
        TurnEnd::MaxCost => note("Cost limit (--max-cost) reached. No more requests in this run."),
        TurnEnd::Halted(reason) => note(&format!("A hook stopped the turn: {reason}")),
        TurnEnd::Blocked(reason) => {
            note(&format!("A hook blocked the prompt; it was not sent: {reason}"))
        }
        TurnEnd::Failed(error) => server_error_lines(error, key),
    }
}

fn server_error_lines(error: &ModelError, key: &KeyOrigin) -> Vec<(String, Style)> {
    let mut lines = vec![error_line(&error.to_string())];
    match error {
        _ if error.is_transient() => lines.push((RETRY_HINT.to_owned(), Style::DIM)),
        ModelError::TooLong { .. }
        | ModelError::RequestTooLarge(_)
        | ModelError::ThinkingRefused(_) => {
            lines.push((
                "/context shows what fills the context window; /clear starts a new session."
                    .to_owned(),
                Style::DIM,
            ));
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
    vec![error_line(&error.to_string()), (RETRY_HINT.to_owned(), Style::DIM)]
}

fn error_line(text: &str) -> (String, Style) {
    (format!("error: {text}"), Style::PLAIN.color(Color::Red))
}

fn hint_lines(failure: &Failure) -> Vec<(String, Style)> {
    failure.hints().iter().map(|hint| (hint.clone(), Style::DIM)).collect()
}
