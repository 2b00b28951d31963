//! What the first session in a repository offers: an instruction file made of what is there, and what other agents know.

use std::ffi::OsStr;
use std::path::Path;

use dormouse_base::{Environment, Project, SessionId};
use dormouse_engine::SessionFolder;
use dormouse_instructions::PROJECT_FILES;

use crate::args::OtherAgent;
use crate::message_catalog::msg;

/// The offers, a line each; none after the first session. What cannot be read is not offered.
pub(super) fn offers(
    project: &Project,
    session: SessionId,
    home: &Path,
    environment: &Environment,
) -> Vec<String> {
    if !project.is_git || had_session(home, project, session) {
        return Vec::new();
    }
    let mut lines = Vec::new();
    if !PROJECT_FILES.iter().any(|file| project.checkout.join(file).exists()) {
        lines.push(msg!("first-session-init"));
    }
    let known = OtherAgent::ALL.iter().filter_map(|agent| {
        let found = agent.memories(project, environment).ok()?.memories.len();
        (found > 0).then(|| format!("{} ({found})", agent.name()))
    });
    let known: Vec<String> = known.collect();
    if !known.is_empty() {
        lines.push(msg!("first-session-import", agents = known.join(", ")));
    }
    lines
}

/// Whether the project has a transcript of another session.
fn had_session(home: &Path, project: &Project, current: SessionId) -> bool {
    let Ok(Some(folder)) = SessionFolder::existing(home, project) else { return false };
    let Ok(mut entries) = std::fs::read_dir(folder.dir().path()) else { return true };
    let current = format!("{current}.jsonl");
    entries.any(|entry| {
        entry.is_ok_and(|entry| {
            entry.path().extension() == Some(OsStr::new("jsonl"))
                && entry.file_name() != OsStr::new(&current)
        })
    })
}
