//! `dormouse context`: a session replayed through the layers (C-24).

mod html;
mod plots;
mod session;
mod text;

use std::path::{Path, PathBuf};

use dormouse_base::{Dir, RelPath};
use dormouse_context::profile::Profile;
use dormouse_conversation::Usage;
use dormouse_model::PRICES_DATED;
use serde::Serialize;

use crate::args::ContextArguments;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::print;
use crate::wiring::world::World;
use session::Session;

pub(crate) fn run(arguments: &ContextArguments, world: &World) -> Result<Exit, Failure> {
    let session = Session::read(arguments, world)?;
    if let Some(path) = &arguments.html {
        let path = write(path, &html::page(&session))?;
        print::note(&format!("written to {}", path.display()));
    }
    if arguments.json {
        let answer = Answer::of(&session);
        print::data_line(&serde_json::to_string_pretty(&answer).map_err(Failure::failed)?);
    } else if arguments.html.is_none() {
        print::data(&text::text(&session));
    }
    for problem in session.problems() {
        print::note(&problem);
    }
    Ok(Exit::Done)
}

/// For programs.
#[derive(Serialize)]
struct Answer<'a> {
    transcript: String,
    lines: u64,
    skipped: Vec<String>,
    other_lines: &'a std::collections::BTreeMap<String, u64>,
    window_tokens: u32,
    cache_ttl: &'static str,
    prices_dated: &'static str,
    /// Other conversations in the same file: counted, not replayed.
    side_chains: SideChains,
    #[serde(flatten)]
    profile: &'a Profile,
}

#[derive(Serialize)]
struct SideChains {
    requests: usize,
    usage: Usage,
}

impl<'a> Answer<'a> {
    fn of(session: &'a Session) -> Self {
        let side_chains = &session.replay.side_chains;
        let usage = side_chains.iter().fold(Usage::default(), |sum, answer| sum.plus(answer.usage));
        Self {
            transcript: session.path.display().to_string(),
            lines: session.replay.lines,
            skipped: session.replay.warnings.iter().map(ToString::to_string).collect(),
            other_lines: &session.replay.other_lines,
            window_tokens: session.budget.window,
            cache_ttl: session.ttl_words(),
            prices_dated: PRICES_DATED,
            side_chains: SideChains { requests: side_chains.len(), usage },
            profile: &session.profile,
        }
    }
}

/// Writes the page, whole or not at all.
fn write(path: &Path, page: &str) -> Result<PathBuf, Failure> {
    let path = std::path::absolute(path).map_err(|error| no_file(path, &error))?;
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(no_file(&path, &"it has no name"));
    };
    let name = RelPath::new(&*name.to_string_lossy()).map_err(|error| no_file(&path, &error))?;
    Dir::open(folder)?.replace(&name, page.as_bytes())?;
    Ok(path)
}

fn no_file(path: &Path, why: &dyn std::fmt::Display) -> Failure {
    Failure::usage(anyhow::anyhow!("`{}` can not be written: {why}", path.display()))
        .hint("give --html the name of a file in a folder that is there")
}
