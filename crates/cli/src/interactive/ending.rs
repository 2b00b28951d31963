//! How a turn ended, in words: what happened and what can be done about it here.

use dormouse_engine::{EngineError, TurnEnd};
use dormouse_model::ModelError;

use crate::terminal::markdown::{Colour, Style};
use crate::wiring::exit::Failure;
use crate::wiring::server_failure::server_failure;
use crate::wiring::session_start::KeyOrigin;

const KEPT: &str = "the conversation is kept: say `go on` to try again";

/// Nothing, where the answer speaks for itself.
pub(crate) fn of_turn(end: &TurnEnd, key: &KeyOrigin) -> Vec<(String, Style)> {
    let note = |text: &str| vec![(text.to_owned(), Style::DIM)];
    match end {
        TurnEnd::Completed => Vec::new(),
        TurnEnd::Interrupted => note("interrupted; what had come is kept"),
        TurnEnd::Cut => note("the answer reached its token limit and was cut; say `go on`"),
        TurnEnd::Refused => note("the model declined to answer"),
        TurnEnd::Empty => note("the model gave an empty answer; asking again often helps"),
        TurnEnd::MaxTurns => note("--max-turns was reached before the model was done; say `go on`"),
        TurnEnd::MaxCost => note("--max-cost was reached, so nothing more is sent in this run"),
        TurnEnd::Halted(why) => note(&format!("a hook ended the turn: {why}")),
        TurnEnd::Blocked(why) => {
            note(&format!("a hook blocked the prompt, which was not sent: {why}"))
        }
        TurnEnd::Failed(error) => of_server(error, key),
    }
}

fn of_server(error: &ModelError, key: &KeyOrigin) -> Vec<(String, Style)> {
    let mut lines = vec![red(&error.to_string())];
    match error {
        _ if error.is_transient() => lines.push((KEPT.to_owned(), Style::DIM)),
        ModelError::TooLong { .. }
        | ModelError::RequestTooLarge(_)
        | ModelError::ThinkingRefused(_) => {
            lines.push((
                "/context says what fills the window; /clear begins a new session".to_owned(),
                Style::DIM,
            ));
        }
        _ => {
            let failure = server_failure(error, key.source.as_deref(), &key.variable);
            lines.extend(hints(&failure));
        }
    }
    lines
}

/// The disk, or a fault of our own.
pub(crate) fn of_error(error: &EngineError) -> Vec<(String, Style)> {
    vec![red(&error.to_string()), (KEPT.to_owned(), Style::DIM)]
}

fn red(text: &str) -> (String, Style) {
    (format!("error: {text}"), Style::PLAIN.colour(Colour::Red))
}

fn hints(failure: &Failure) -> Vec<(String, Style)> {
    failure.hints().iter().map(|hint| (hint.clone(), Style::DIM)).collect()
}
