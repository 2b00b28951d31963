//! `dormouse context`: profiles a session by replaying it through the context layers (C-24).

mod text;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use dormouse_base::{Dir, RelPath};
use dormouse_context::profile::Profile;
use dormouse_conversation::Usage;
use dormouse_conversation::metrics::{LayerTotals, RequestTotals};
use dormouse_model::PRICES_DATED;
use dormouse_web::offline_profile_page;
use serde::Serialize;

use crate::args::ContextArguments;
use crate::message_catalog::msg;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::print;
use crate::wiring::session_profile::{ProfiledSession, SessionLog, SubagentProfile};
use crate::wiring::world::World;

pub(crate) fn run(arguments: &ContextArguments, world: &World) -> Result<Exit, Failure> {
    let session = ProfiledSession::read(arguments, world)?;
    let problems = session.problems();
    if arguments.json {
        print::json(&ProfileJson::new(&session))?;
    } else if arguments.html.is_none() {
        print::data(&text::text(&session));
    }
    if let Some(path) = &arguments.html {
        let path = write(path, &offline_profile_page(&session.into_page()))?;
        print::note(&msg!("profile-written", path = path.display().to_string()));
    }
    for problem in problems {
        print::note(&problem);
    }
    Ok(Exit::Done)
}

#[derive(Serialize)]
struct ProfileJson<'a> {
    transcript: String,
    lines: u64,
    skipped: Vec<String>,
    other_lines: &'a BTreeMap<String, u64>,
    window_tokens: u32,
    cache_ttl: &'static str,
    prices_dated: &'static str,
    /// Other conversations in the same file, which are not replayed.
    side_chains: SideChains,
    /// Conversations of subagents, from their own transcripts.
    subagents: &'a [SubagentProfile],
    /// All requests of the session by its own log, also those that are in no transcript.
    log: Option<LogJson<'a>>,
    #[serde(flatten)]
    profile: &'a Profile,
}

#[derive(Serialize)]
struct LogJson<'a> {
    total: &'a RequestTotals,
    by_purpose: &'a BTreeMap<String, RequestTotals>,
    layers: &'a BTreeMap<String, LayerTotals>,
}

#[derive(Serialize)]
struct SideChains {
    requests: usize,
    usage: Usage,
}

impl<'a> ProfileJson<'a> {
    fn new(session: &'a ProfiledSession) -> Self {
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
            subagents: &session.subagents,
            log: session.log.as_ref().map(|SessionLog(log)| LogJson {
                total: &log.total,
                by_purpose: &log.by_purpose,
                layers: &log.layers,
            }),
            profile: &session.profile,
        }
    }
}

/// Writes the page atomically.
fn write(path: &Path, page: &str) -> Result<PathBuf, Failure> {
    let path = std::path::absolute(path).map_err(|error| not_writable(path, &error))?;
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(not_writable(&path, &"not a file name"));
    };
    let name =
        RelPath::new(&*name.to_string_lossy()).map_err(|error| not_writable(&path, &error))?;
    Dir::open(folder)?.replace(&name, page.as_bytes())?;
    Ok(path)
}

fn not_writable(path: &Path, why: &dyn std::fmt::Display) -> Failure {
    let text =
        msg!("profile-not-writable", path = path.display().to_string(), error = why.to_string());
    Failure::usage(anyhow::anyhow!(text)).hint(msg!("profile-not-writable-hint"))
}
