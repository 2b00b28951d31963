//! Locks: which sessions are open, and by whom. A lock file that nobody holds is no obstacle: the kernel
//! frees a lock when its holder ends.

use std::path::Path;

use dormouse_base::{Dir, EntryKind, FileError, LockHolder, LockState, ProcessState, RelPath};

use super::finding::Finding;

const AREA: &str = "locks";

pub(super) fn check(home: &Path) -> Vec<Finding> {
    let projects = match Dir::open(home.join("projects")) {
        Ok(projects) => projects,
        Err(error) if error.is_not_found() => {
            return vec![Finding::well(AREA, "no session yet")];
        }
        Err(error) => return vec![unreadable(&error)],
    };
    let (mut findings, mut free) = (Vec::new(), 0_u64);
    for (session, state) in locks(&projects) {
        match state {
            Ok(LockState::Free) => free += 1,
            Ok(LockState::Held(holder)) => findings.push(held(&session, holder.as_ref())),
            Err(error) if error.is_not_found() => {}
            Err(error) => findings.push(unreadable(&error)),
        }
    }
    findings
        .insert(0, Finding::well(AREA, format!("sessions that are free to go on with: {free}")));
    findings
}

/// The lock of every session of every project.
fn locks(projects: &Dir) -> Vec<(String, Result<LockState, FileError>)> {
    let mut found = Vec::new();
    for project in folders(projects) {
        for session in folders(&project) {
            let name = session.path().file_name().unwrap_or_default().to_string_lossy();
            if let Ok(lock) = RelPath::new("session.lock") {
                found.push((name.into_owned(), LockState::inspect(&session, &lock)));
            }
        }
    }
    found
}

/// The folders in a folder; one that can not be listed has none that could be locked.
fn folders(dir: &Dir) -> Vec<Dir> {
    let entries = dir.entries().unwrap_or_default().into_iter();
    let names = entries.filter(|entry| entry.kind == EntryKind::Folder).map(|entry| entry.name);
    names.filter_map(|name| dir.open_folder(&RelPath::new(name).ok()?).ok()).collect()
}

fn held(session: &str, holder: Option<&LockHolder>) -> Finding {
    let Some(holder) = holder else {
        return Finding::well(AREA, format!("session {session} is open in another process"));
    };
    let who = format!("process {} on {}", holder.pid, holder.host);
    match holder.process_state() {
        ProcessState::Running | ProcessState::OtherHost => {
            Finding::well(AREA, format!("session {session} is open in {who}"))
        }
        ProcessState::Ended => Finding::warning(
            AREA,
            format!("session {session} is held, but {who} has ended: a child of it may still run"),
            "find it with `fuser` on the session's session.lock, and end it",
        ),
    }
}

fn unreadable(error: &FileError) -> Finding {
    Finding::problem(AREA, error.to_string(), "check the owner and permissions of the folder")
}
