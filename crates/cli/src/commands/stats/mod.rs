//! `dormouse stats`: the log of figures, added up.
//!
//! `text::text` and `text::spent` show a [`MetricsSummary`] of any part of the log, also of one session.

mod since;
pub(crate) mod text;

use std::path::Path;

use dormouse_conversation::metrics::{
    MetricsFilter, MetricsLog, MetricsSummary, summarize_metrics,
};
use dormouse_engine::SessionFolder;
use serde::Serialize;

use crate::args::StatsArguments;
use crate::message_catalog::msg;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::print;
use crate::wiring::session_lookup::{find_session, metrics_project};
use crate::wiring::world::{World, current_project};
use since::parse_since;
use text::text;

#[derive(Serialize)]
struct StatsJson<'a> {
    log: String,
    cache_hit_rate: Option<f64>,
    summaries: u64,
    pollution_rate: Option<f64>,
    #[serde(flatten)]
    summary: &'a MetricsSummary,
}

pub(crate) fn run(arguments: &StatsArguments, world: &World) -> Result<Exit, Failure> {
    let home = world.home()?;
    let folder = MetricsLog::folder_in(&home);
    let filter = filter(arguments, &home, world)?;
    let summary = summarize_metrics(&folder, &filter)?;
    if arguments.json {
        print_json(&summary, &folder)?;
    } else if summary.is_empty() {
        print::note(&no_data(arguments, &folder));
    } else {
        print::data_line(&msg!("stats-title", scope = scope(arguments)));
        print::data_line(&msg!("stats-from", folder = folder.display().to_string()));
        print::data_line("");
        print::data(&text(&summary));
    }
    Ok(Exit::Done)
}

fn print_json(summary: &MetricsSummary, folder: &Path) -> Result<(), Failure> {
    let answer = StatsJson {
        log: folder.display().to_string(),
        cache_hit_rate: summary.total.cache_hit_rate(),
        summaries: summary.summaries(),
        pollution_rate: summary.memory.pollution_rate(),
        summary,
    };
    print::data_line(&serde_json::to_string_pretty(&answer).map_err(Failure::failed)?);
    Ok(())
}

fn filter(
    arguments: &StatsArguments,
    home: &Path,
    world: &World,
) -> Result<MetricsFilter, Failure> {
    let since =
        arguments.since.as_deref().map(|text| parse_since(text, world.clock.now())).transpose()?;
    if let Some(name) = &arguments.session {
        let folder = SessionFolder::existing(home, &current_project()?)?;
        let session = Some(find_session(folder.as_ref(), name)?);
        return Ok(MetricsFilter { since, session, project: None });
    }
    let project = if arguments.all { None } else { Some(metrics_project(home)?) };
    Ok(MetricsFilter { since, session: None, project })
}

fn scope(arguments: &StatsArguments) -> String {
    match &arguments.session {
        Some(name) => msg!("stats-scope-session", name = name),
        None if arguments.all => msg!("stats-scope-all"),
        None => msg!("stats-scope-project"),
    }
}

fn no_data(arguments: &StatsArguments, folder: &Path) -> String {
    let folder = folder.display().to_string();
    let is_all = arguments.all && arguments.session.is_none();
    match &arguments.since {
        None if is_all => msg!("stats-none-all", folder = folder),
        Some(since) if is_all => msg!("stats-none-all-since", since = since, folder = folder),
        None => msg!("stats-none", scope = scope(arguments), folder = folder),
        Some(since) => {
            msg!("stats-none-since", scope = scope(arguments), since = since, folder = folder)
        }
    }
}
