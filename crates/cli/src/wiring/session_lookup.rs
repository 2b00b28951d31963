//! Which session `--continue` and `--resume` mean.

use dormouse_base::SessionId;
use dormouse_conversation::transcript::{list_sessions, newest_session};
use dormouse_engine::SessionFolder;

use crate::wiring::exit::Failure;

/// Which session to go on with.
pub(crate) fn most_recent_session(folder: Option<&SessionFolder>) -> Result<SessionId, Failure> {
    let newest = folder.map(|folder| newest_session(folder.dir())).transpose()?.flatten();
    newest.ok_or_else(|| {
        Failure::usage(anyhow::anyhow!("there is no session in this project to continue"))
            .hint("leave --continue out to begin one")
    })
}

/// A session by its id, or by a beginning that only one has.
pub(crate) fn find_session(
    folder: Option<&SessionFolder>,
    name: &str,
) -> Result<SessionId, Failure> {
    let name = name.to_lowercase();
    if let Ok(session) = name.parse() {
        return Ok(session);
    }
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_hexdigit() || c == '-') {
        return Err(Failure::usage(anyhow::anyhow!(
            "`{name}` is not the id of a session, nor the beginning of one"
        ))
        .hint("`dormouse sessions` lists them"));
    }
    let sessions =
        folder.map(|folder| list_sessions(folder.dir(), None)).transpose()?.unwrap_or_default();
    let mut matching =
        sessions.iter().filter(|session| session.session.to_string().starts_with(&name));
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
