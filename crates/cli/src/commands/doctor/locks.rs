//! Session locks: which sessions are open, and in which process. The kernel releases a lock when its holder
//! ends, so a leftover lock file is harmless.

use std::path::Path;

use dormouse_base::{Dir, EntryKind, FileError, LockHolder, LockState, ProcessState, RelPath};

use super::finding::DoctorFinding;
use crate::message_catalog::msg;

const AREA: &str = "locks";

pub(super) fn check(home: &Path) -> Vec<DoctorFinding> {
    let projects = match Dir::open(home.join("projects")) {
        Ok(projects) => projects,
        Err(error) if error.is_not_found() => {
            return vec![DoctorFinding::ok(AREA, msg!("doctor-locks-no-sessions"))];
        }
        Err(error) => return vec![unreadable(&error)],
    };
    let mut findings = Vec::new();
    let mut free = 0_u64;
    for (session, state) in locks(&projects) {
        match state {
            Ok(LockState::Free) => free += 1,
            Ok(LockState::Held(holder)) => findings.push(held_finding(&session, holder.as_ref())),
            Err(error) if error.is_not_found() => {}
            Err(error) => findings.push(unreadable(&error)),
        }
    }
    if free > 0 {
        findings.insert(0, DoctorFinding::ok(AREA, msg!("doctor-locks-free", count = free)));
    } else if findings.is_empty() {
        findings.push(DoctorFinding::ok(AREA, msg!("doctor-locks-no-sessions")));
    }
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

/// The subfolders of a folder; none if it cannot be listed.
fn folders(dir: &Dir) -> Vec<Dir> {
    let entries = dir.entries().unwrap_or_default().into_iter();
    let names = entries.filter(|entry| entry.kind == EntryKind::Folder).map(|entry| entry.name);
    names.filter_map(|name| dir.open_folder(&RelPath::new(name).ok()?).ok()).collect()
}

fn held_finding(session: &str, holder: Option<&LockHolder>) -> DoctorFinding {
    let Some(holder) = holder else {
        return DoctorFinding::ok(AREA, msg!("doctor-locks-open-unknown", session = session));
    };
    let pid = holder.pid.to_string();
    let host = holder.host.as_str();
    match holder.process_state() {
        ProcessState::Running | ProcessState::OtherHost => DoctorFinding::ok(
            AREA,
            msg!("doctor-locks-open", session = session, pid = pid, host = host),
        ),
        ProcessState::Ended => DoctorFinding::warning(
            AREA,
            msg!("doctor-locks-orphaned", session = session, pid = pid, host = host),
            msg!("doctor-locks-fix-orphaned"),
        ),
    }
}

fn unreadable(error: &FileError) -> DoctorFinding {
    DoctorFinding::problem(AREA, error.to_string(), msg!("doctor-locks-fix-unreadable"))
}
