//! `dormouse search --sessions`: search in past sessions.

use dormouse_conversation::Role;
use dormouse_conversation::transcript::{Passage, search_sessions};
use dormouse_engine::SessionFolder;
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::args::{SearchArguments, SearchPastArguments};
use crate::message_catalog::msg;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::print;
use crate::wiring::world::{World, current_project};

/// A passage in JSON output.
#[derive(Serialize)]
struct PassageJson<'a> {
    session_id: String,
    time: Option<String>,
    by: &'static str,
    text: &'a str,
    score: f64,
}

pub(crate) fn run(arguments: &SearchPastArguments, world: &World) -> Result<Exit, Failure> {
    let SearchArguments { query, limit, common } = &arguments.search;
    let query = query.join(" ");
    if query.trim().is_empty() {
        return Err(Failure::usage(anyhow::anyhow!(msg!("search-empty")))
            .hint(msg!("search-sessions-empty-hint")));
    }
    let folder = SessionFolder::existing(&world.home()?, &current_project()?)?;
    let passages = match folder {
        Some(folder) => search_sessions(folder.dir(), &query, *limit)?,
        None => Vec::new(),
    };
    if common.json {
        print::json(&passages.iter().map(to_json).collect::<Vec<_>>())?;
    } else {
        passages.iter().for_each(print_passage);
    }
    if passages.is_empty() {
        print::note(&msg!("search-sessions-no-match", query = query));
    }
    Ok(Exit::Done)
}

fn to_json(passage: &Passage) -> PassageJson<'_> {
    PassageJson {
        session_id: passage.session.to_string(),
        time: passage.time.map(|time| time.to_string()),
        by: author(passage),
        text: &passage.text,
        score: passage.score,
    }
}

fn author(passage: &Passage) -> &'static str {
    match (passage.is_result, passage.role) {
        (true, _) => "tool",
        (false, Role::User) => "user",
        (false, Role::Assistant) => "model",
    }
}

fn print_passage(passage: &Passage) {
    let time = passage.time.map(|time| time.to_zoned(TimeZone::system()));
    let time = time.map_or("?".to_owned(), |time| time.strftime("%Y-%m-%d %H:%M").to_string());
    print::data_line(&format!("{} {time} {}", passage.session, author(passage)));
    print::data_line(&format!("  {}", passage.text));
}
