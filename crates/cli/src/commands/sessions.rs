//! `dormouse sessions`: what was talked about in this project.

use std::time::{Duration, SystemTime};

use dormouse_conversation::transcript::{SessionSummary, list_sessions};
use dormouse_engine::SessionFolder;
use serde::Serialize;

use crate::args::SessionsArguments;
use crate::message_catalog::msg;
use crate::terminal::width;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::print;
use crate::wiring::session_notes;
use crate::wiring::world::{World, current_project};

#[derive(Serialize)]
struct Line<'a> {
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
            name_by_notes(session, folder);
        }
    }
    let shown = sessions.as_slice();
    if arguments.json {
        let lines: Vec<Line<'_>> = shown.iter().map(|session| line(session, now)).collect();
        print::data_line(&serde_json::to_string_pretty(&lines).map_err(Failure::failed)?);
    } else {
        print(shown, now);
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

/// Notes know better what a session is about than its first words.
fn name_by_notes(session: &mut SessionSummary, folder: &SessionFolder) {
    if let Some(title) = session_notes::title(folder.dir(), session.session) {
        session.title = width::fitted(&title, LONGEST_TITLE);
    }
}

fn line(session: &SessionSummary, now: SystemTime) -> Line<'_> {
    Line {
        session_id: session.session.to_string(),
        title: &session.title,
        age_seconds: age(session, now).as_secs(),
        messages: session.messages,
        tokens: session.tokens,
        model: session.model.as_deref(),
        cwd: session.folder.as_deref(),
    }
}

/// Enough of an id to name a session: the time, to the millisecond.
const SHORT_ID: usize = 13;
/// Longer titles are cut, as those from first words are.
const LONGEST_TITLE: usize = 80;
/// What is left of 80 columns for a title.
const TITLE_COLUMNS: usize = 42;

fn print(sessions: &[SessionSummary], now: SystemTime) {
    for session in sessions {
        let id: String = session.session.to_string().chars().take(SHORT_ID).collect();
        print::data_line(&format!(
            "{id}  {:>7}  {:>4} msg  {:>5}k  {}",
            in_words(age(session, now)),
            session.messages,
            session.tokens.div_ceil(1_000),
            width::fitted(&session.title, TITLE_COLUMNS)
        ));
    }
}

fn age(session: &SessionSummary, now: SystemTime) -> Duration {
    now.duration_since(session.modified).unwrap_or_default()
}

fn in_words(age: Duration) -> String {
    match age.as_secs() {
        seconds if seconds < 60 => "now".to_owned(),
        seconds if seconds < 3_600 => format!("{} min", seconds / 60),
        seconds if seconds < 86_400 => format!("{} h", seconds / 3_600),
        seconds => format!("{} days", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages() {
        let words = |seconds| in_words(Duration::from_secs(seconds));
        assert_eq!(
            [words(5), words(65), words(7_300), words(200_000)],
            ["now", "1 min", "2 h", "2 days"]
        );
    }
}
