//! `dormouse sessions`: what was talked about in this project.

use std::time::{Duration, SystemTime};

use dormouse_base::SessionId;
use dormouse_conversation::transcript::{SessionSummary, list_sessions, newest_session};
use dormouse_engine::SessionFolder;
use serde::Serialize;

use crate::args::SessionsArguments;
use crate::exit::{Exit, Failure};
use crate::show;
use crate::world::{World, current_project};

#[derive(Serialize)]
struct Line<'a> {
    session: String,
    title: &'a str,
    age_seconds: u64,
    messages: usize,
    tokens: u64,
}

pub(crate) fn run(arguments: &SessionsArguments, world: &World) -> Result<Exit, Failure> {
    let sessions = match SessionFolder::existing(&world.home()?, &current_project()?)? {
        Some(folder) => list_sessions(folder.dir(), arguments.search.as_deref())?,
        None => Vec::new(),
    };
    let now = SystemTime::from(world.clock.now());
    if arguments.json {
        let lines: Vec<Line<'_>> = sessions.iter().map(|session| line(session, now)).collect();
        show::data_line(&serde_json::to_string_pretty(&lines).map_err(Failure::failed)?);
    } else if sessions.is_empty() {
        show::note("no sessions in this project yet");
    } else {
        print(&sessions, now);
    }
    Ok(Exit::Done)
}

fn line(session: &SessionSummary, now: SystemTime) -> Line<'_> {
    Line {
        session: session.session.to_string(),
        title: &session.title,
        age_seconds: age(session, now).as_secs(),
        messages: session.messages,
        tokens: session.tokens,
    }
}

fn print(sessions: &[SessionSummary], now: SystemTime) {
    for session in sessions {
        show::data_line(&format!(
            "{}  {:>8}  {:>4} messages  {:>7} tokens  {}",
            session.session,
            in_words(age(session, now)),
            session.messages,
            session.tokens,
            session.title
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

/// Which session to go on with.
pub(crate) fn last(folder: &SessionFolder) -> Result<SessionId, Failure> {
    newest_session(folder.dir())?.ok_or_else(|| {
        Failure::usage(anyhow::anyhow!("there is no session in this project to continue"))
            .hint("leave --continue out to begin one")
    })
}

/// A session by its id, or by a beginning that only one has.
pub(crate) fn named(folder: &SessionFolder, name: &str) -> Result<SessionId, Failure> {
    if let Ok(session) = name.parse() {
        return Ok(session);
    }
    let sessions = list_sessions(folder.dir(), None)?;
    let mut matching =
        sessions.iter().filter(|session| session.session.to_string().starts_with(name));
    match (matching.next(), matching.next()) {
        (Some(only), None) => Ok(only.session),
        (None, _) => {
            Err(Failure::usage(anyhow::anyhow!("no session of this project begins with `{name}`"))
                .hint("`dormouse sessions` lists them"))
        }
        (Some(_), Some(_)) => {
            Err(Failure::usage(anyhow::anyhow!("several sessions begin with `{name}`"))
                .hint("give more of the id; `dormouse sessions` lists them"))
        }
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
