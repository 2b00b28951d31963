//! `dormouse search`: what was said before, in memories or, with `--sessions`, in past sessions.

use dormouse_conversation::Role;
use dormouse_conversation::transcript::{Passage, search_sessions};
use dormouse_engine::SessionFolder;
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::args::{SearchArguments, SearchPastArguments};
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::print;
use crate::wiring::world::{World, current_project};

/// A passage, for programs.
#[derive(Serialize)]
struct Line<'a> {
    session_id: String,
    time: Option<String>,
    by: &'static str,
    text: &'a str,
    score: f64,
}

pub(crate) fn run(arguments: &SearchPastArguments, world: &World) -> Result<Exit, Failure> {
    let SearchArguments { query, limit, common } = &arguments.search;
    if query.trim().is_empty() {
        return Err(Failure::usage(anyhow::anyhow!("there is no word to search for"))
            .hint("give an error text, a path or the name of a function"));
    }
    let folder = SessionFolder::existing(&world.home()?, &current_project()?)?;
    let passages = match folder {
        Some(folder) => search_sessions(folder.dir(), query, *limit)?,
        None => Vec::new(),
    };
    if common.json {
        let lines: Vec<Line<'_>> = passages.iter().map(line).collect();
        print::data_line(&serde_json::to_string_pretty(&lines).map_err(Failure::failed)?);
    } else {
        passages.iter().for_each(print);
    }
    if passages.is_empty() {
        print::note(&format!("no session of this project has the words `{query}`"));
    }
    Ok(Exit::Done)
}

fn line(passage: &Passage) -> Line<'_> {
    Line {
        session_id: passage.session.to_string(),
        time: passage.time.map(|time| time.to_string()),
        by: by(passage),
        text: &passage.text,
        score: passage.score,
    }
}

fn by(passage: &Passage) -> &'static str {
    match (passage.is_result, passage.role) {
        (true, _) => "tool",
        (false, Role::User) => "person",
        (false, Role::Assistant) => "model",
    }
}

fn print(passage: &Passage) {
    let time = passage.time.map(|time| time.to_zoned(TimeZone::system()));
    let time = time.map_or("?".to_owned(), |time| time.strftime("%Y-%m-%d %H:%M").to_string());
    print::data_line(&format!("{} {time} {}", passage.session, by(passage)));
    print::data_line(&format!("  {}", passage.text));
}
