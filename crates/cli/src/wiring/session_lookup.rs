//! Finds the session that `--continue` or `--resume` names.

use std::path::Path;

use dormouse_base::SessionId;
use dormouse_conversation::transcript::{list_sessions, newest_session};
use dormouse_engine::SessionFolder;

use crate::message_catalog::msg;
use crate::wiring::exit::Failure;
use crate::wiring::world::current_project;

/// The session that `--continue` continues.
pub(crate) fn most_recent_session(folder: Option<&SessionFolder>) -> Result<SessionId, Failure> {
    let newest = folder.map(|folder| newest_session(folder.dir())).transpose()?.flatten();
    newest.ok_or_else(|| {
        Failure::usage(anyhow::anyhow!(msg!("session-none-to-continue")))
            .hint(msg!("session-none-to-continue-hint"))
    })
}

/// A session by its id, or by a unique prefix of it.
pub(crate) fn find_session(
    folder: Option<&SessionFolder>,
    name: &str,
) -> Result<SessionId, Failure> {
    let name = name.to_lowercase();
    if let Ok(session) = name.parse() {
        return Ok(session);
    }
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_hexdigit() || c == '-') {
        return Err(Failure::usage(anyhow::anyhow!(msg!("session-invalid-id", name = name)))
            .hint(msg!("session-list-hint")));
    }
    let sessions =
        folder.map(|folder| list_sessions(folder.dir(), None)).transpose()?.unwrap_or_default();
    let mut matching =
        sessions.iter().filter(|session| session.session.to_string().starts_with(&name));
    match (matching.next(), matching.next()) {
        (Some(only), None) => Ok(only.session),
        (None, _) => Err(Failure::usage(anyhow::anyhow!(msg!("session-unknown", name = name)))
            .hint(msg!("session-list-hint"))),
        (Some(_), Some(_)) => {
            Err(Failure::usage(anyhow::anyhow!(msg!("session-ambiguous", name = name)))
                .hint(msg!("session-ambiguous-hint")))
        }
    }
}

/// The name of this project's folder, by which its figures go.
pub(crate) fn metrics_project(home: &Path) -> Result<String, Failure> {
    let project = current_project()?;
    let folder = SessionFolder::existing(home, &project)?;
    let name = folder.as_ref().and_then(|folder| folder.dir().path().file_name());
    Ok(name.map_or(project.slug().to_string(), |name| name.to_string_lossy().into_owned()))
}
