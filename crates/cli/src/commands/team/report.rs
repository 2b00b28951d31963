//! A sync's report as text and JSON.

use dormouse_team::{PullReason, SyncReport};
use serde::Serialize;

use crate::message_catalog::msg;
use crate::wiring::exit::Failure;
use crate::wiring::print;
use crate::wiring::team::layers_off;

#[derive(Serialize)]
struct SyncReportJson {
    pushed: Vec<String>,
    proposed: Vec<String>,
    waiting: Vec<String>,
    pulled: Vec<PulledJson>,
    removed: Vec<String>,
    replaced: Vec<ReplacedJson>,
    held_back: Vec<HeldBackJson>,
    postponed: Vec<String>,
    layers_off: Option<Vec<String>>,
}

#[derive(Serialize)]
struct PulledJson {
    name: String,
    author: String,
}

#[derive(Serialize)]
struct ReplacedJson {
    name: String,
    author: Option<String>,
}

#[derive(Serialize)]
struct HeldBackJson {
    file: String,
    reason: String,
}

/// Prints a report as JSON.
pub(super) fn print_json(report: &SyncReport) -> Result<(), Failure> {
    let names =
        |entries: &[dormouse_team::EntryName]| entries.iter().map(ToString::to_string).collect();
    let pulled = report.pulled.iter();
    let replaced = report.replaced.iter();
    let held_back = report.held_back.iter();
    print::json(&SyncReportJson {
        pushed: names(&report.pushed),
        proposed: names(&report.proposed),
        waiting: names(&report.waiting),
        pulled: pulled
            .map(|entry| PulledJson {
                name: entry.name.to_string(),
                author: entry.author.to_string(),
            })
            .collect(),
        removed: report.removed.iter().map(|(name, _)| name.to_string()).collect(),
        replaced: replaced
            .map(|entry| ReplacedJson {
                name: entry.name.to_string(),
                author: entry.author.as_ref().map(ToString::to_string),
            })
            .collect(),
        held_back: held_back
            .map(|held| HeldBackJson { file: held.file.clone(), reason: held.reason.clone() })
            .collect(),
        postponed: names(&report.postponed),
        layers_off: report.switched_off.clone(),
    })
}

/// Prints a report as lines.
pub(super) fn print(report: &SyncReport) {
    for line in lines(report) {
        print::data_line(&line);
    }
}

/// What a sync did, a line each.
pub(crate) fn lines(report: &SyncReport) -> Vec<String> {
    let mut lines = Vec::new();
    lines.extend(report.pushed.iter().map(|name| msg!("team-pushed", name = name.to_string())));
    lines.extend(report.proposed.iter().map(|name| msg!("team-proposed", name = name.to_string())));
    lines.extend(report.waiting.iter().map(|name| msg!("team-waiting", name = name.to_string())));
    for entry in &report.pulled {
        let (name, author) = (entry.name.to_string(), entry.author.to_string());
        lines.push(match entry.reason {
            PullReason::DeletedHere => msg!("team-came-back", name = name),
            PullReason::Added | PullReason::Changed | PullReason::ProposalDecided => {
                msg!("team-pulled", name = name, author = author)
            }
        });
    }
    lines.extend(
        report.removed.iter().map(|(name, _)| msg!("team-removed", name = name.to_string())),
    );
    for entry in &report.replaced {
        let name = entry.name.to_string();
        lines.push(match &entry.author {
            Some(author) => msg!("team-replaced", name = name, author = author.to_string()),
            None => msg!("team-replaced-deleted", name = name),
        });
    }
    lines.extend(report.held_back.iter().map(|held| {
        msg!("team-held-back", file = held.file.clone(), reason = held.reason.clone())
    }));
    lines.extend(
        report.postponed.iter().map(|name| msg!("team-postponed", name = name.to_string())),
    );
    lines.extend(report.switched_off.as_deref().map(layers_off));
    if lines.is_empty() {
        lines.push(msg!("team-up-to-date"));
    }
    lines
}
