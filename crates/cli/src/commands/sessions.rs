//! `dormouse sessions`: lists the sessions of this project.

use std::time::{Duration, SystemTime};

use dormouse_conversation::transcript::{SessionSummary, list_sessions};
use dormouse_engine::SessionFolder;
use dormouse_tui::width;
use serde::Serialize;

use crate::args::SessionsArguments;
use crate::message_catalog::msg;
use crate::terminal::tty;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::print;
use crate::wiring::session_notes;
use crate::wiring::world::{World, current_project};

#[derive(Serialize)]
struct SessionJson<'a> {
    session_id: String,
    title: &'a str,
    age_seconds: u64,
    messages: usize,
    tokens: u64,
    model: Option<&'a str>,
    cwd: Option<&'a str>,
}

pub(crate) fn run(arguments: &SessionsArguments, world: &World) -> Result<Exit, Failure> {
    let folder = SessionFolder::existing(&world.home()?, &current_project()?)?;
    let mut sessions = match &folder {
        Some(folder) => list_sessions(folder.dir(), arguments.search.as_deref())?,
        None => Vec::new(),
    };
    let now = SystemTime::from(world.clock.now());
    let all = sessions.len();
    sessions.truncate(arguments.limit);
    if let Some(folder) = &folder {
        for session in &mut sessions {
            use_notes_title(session, folder);
        }
    }
    let shown = sessions.as_slice();
    if arguments.json {
        let lines: Vec<SessionJson<'_>> =
            shown.iter().map(|session| to_json(session, now)).collect();
        print::data_line(&serde_json::to_string_pretty(&lines).map_err(Failure::failed)?);
    } else {
        print_sessions(shown, now);
    }
    match (&arguments.search, all) {
        (Some(text), 0) => print::note(&msg!("sessions-no-match", text = text)),
        (None, 0) => print::note(&msg!("sessions-none")),
        (_, all) if all > shown.len() => {
            print::note(&msg!("list-truncated", count = all - shown.len(), all = all));
        }
        _ => {}
    }
    Ok(Exit::Done)
}

/// Uses the title of the session notes instead of the first words of the session.
pub(crate) fn use_notes_title(session: &mut SessionSummary, folder: &SessionFolder) {
    if let Some(title) = session_notes::title(folder.dir(), session.session) {
        session.title = width::fitted(&title, MAX_TITLE);
    }
}

fn to_json(session: &SessionSummary, now: SystemTime) -> SessionJson<'_> {
    SessionJson {
        session_id: session.session.to_string(),
        title: &session.title,
        age_seconds: age(session, now).as_secs(),
        messages: session.messages,
        tokens: session.tokens,
        model: session.model.as_deref(),
        cwd: session.folder.as_deref(),
    }
}

/// Length of an id prefix that identifies a session: the time in milliseconds.
const SHORT_ID: usize = 13;
/// Columns for the age.
const AGE_COLUMNS: usize = 7;
/// Longer titles are truncated.
const MAX_TITLE: usize = 80;
/// Columns for the title where output is not a terminal.
const TITLE_COLUMNS: usize = 42;
/// With fewer columns for it, a title has rows of its own.
const LEAST_TITLE_COLUMNS: usize = 20;

fn print_sessions(sessions: &[SessionSummary], now: SystemTime) {
    for session in sessions {
        let facts = facts(session, now);
        let room = if print::is_terminal() {
            tty::columns().saturating_sub(width::of(&facts) + 2)
        } else {
            TITLE_COLUMNS
        };
        if room >= LEAST_TITLE_COLUMNS {
            print::data_line(&format!("{facts}  {}", width::fitted(&session.title, room)));
        } else {
            print::wrapped_data_line(&facts, 2);
            print::wrapped_data_line(&format!("  {}", session.title), 2);
        }
    }
}

/// Id, age and size.
fn facts(session: &SessionSummary, now: SystemTime) -> String {
    let id: String = session.session.to_string().chars().take(SHORT_ID).collect();
    let age = format_age(age(session, now));
    let padding = " ".repeat(AGE_COLUMNS.saturating_sub(width::of(&age)));
    let (messages, tokens) = (session.messages, session.tokens.div_ceil(1_000));
    format!("{id}  {padding}{age}  {messages:>4} msg  {tokens:>5}k")
}

fn age(session: &SessionSummary, now: SystemTime) -> Duration {
    now.duration_since(session.modified).unwrap_or_default()
}

/// An age as a person says it.
pub(crate) fn format_age(age: Duration) -> String {
    match age.as_secs() {
        seconds if seconds < 60 => msg!("age-now"),
        seconds if seconds < 3_600 => msg!("age-minutes", count = seconds / 60),
        seconds if seconds < 86_400 => msg!("age-hours", count = seconds / 3_600),
        seconds => msg!("age-days", count = seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages() {
        let words = |seconds| format_age(Duration::from_secs(seconds));
        assert_eq!(
            [words(5), words(65), words(7_300), words(200_000)],
            ["now", "1 min", "2 h", "2 days"]
        );
    }
}
