//! The program's own folders: existing or creatable, writable, private, with enough disk space.

use std::path::Path;

use dormouse_base::{FolderState, damaged_project_files};

use super::finding::DoctorFinding;
use crate::message_catalog::msg;

const AREA: &str = "folders";
/// Below this, transcripts and stored results soon fill the disk.
const LOW_SPACE: u64 = 500_000_000;
/// Below this, the next transcript may not fit.
const NO_SPACE: u64 = 20_000_000;

pub(super) fn check(home: &Path) -> Vec<DoctorFinding> {
    let mut findings = vec![folder(home)];
    // Subfolders are created on first use; an existing one must be usable.
    let below = ["projects", "figures", "logs"].map(|name| home.join(name));
    let existing = below.iter().filter(|path| path.symlink_metadata().is_ok());
    findings.extend(existing.map(|path| folder(path)).filter(DoctorFinding::is_problem));
    let damaged = damaged_project_files(&home.join("projects"));
    findings.extend(damaged.iter().map(|file| {
        let text = msg!("doctor-project-file-damaged", path = file.display().to_string());
        DoctorFinding::warning(AREA, text, msg!("doctor-project-file-fix"))
    }));
    findings
}

fn folder(path: &Path) -> DoctorFinding {
    let shown = path.display();
    let state = match FolderState::inspect(path) {
        Ok(state) => state,
        Err(error) => {
            let text = msg!(
                "doctor-folder-unreadable",
                path = shown.to_string(),
                error = error.to_string()
            );
            return DoctorFinding::problem(AREA, text, msg!("doctor-folder-fix-permissions"));
        }
    };
    judge(path, &state)
}

fn judge(path: &Path, state: &FolderState) -> DoctorFinding {
    let shown = path.display().to_string();
    let parent = state.existing.display().to_string();
    let megabytes = (state.free_bytes / 1_000_000).to_string();
    let exists = state.existing == path;
    if !state.is_folder {
        let text = msg!("doctor-folder-not-a-folder", path = parent);
        return DoctorFinding::problem(AREA, text, msg!("doctor-folder-fix-not-a-folder"));
    }
    if !state.is_writable {
        let text = if exists {
            msg!("doctor-folder-read-only", path = shown)
        } else {
            msg!("doctor-folder-cannot-create", path = shown, parent = parent)
        };
        return DoctorFinding::problem(AREA, text, msg!("doctor-folder-fix-permissions"));
    }
    let fix_space = msg!("doctor-folder-fix-space");
    if state.free_bytes < NO_SPACE {
        return DoctorFinding::problem(
            AREA,
            msg!("doctor-folder-disk-full", path = shown, megabytes = megabytes),
            fix_space,
        );
    }
    if exists && !state.is_private {
        let fix = format!("chmod 700 '{shown}'");
        let mode = format!("{:o}", state.mode);
        let text = msg!("doctor-folder-not-private", path = shown, mode = mode);
        return DoctorFinding::warning(AREA, text, fix);
    }
    if state.free_bytes < LOW_SPACE {
        return DoctorFinding::warning(
            AREA,
            msg!("doctor-folder-low-space", path = shown, megabytes = megabytes),
            fix_space,
        );
    }
    let text = if exists {
        msg!("doctor-folder-ok", path = shown, megabytes = megabytes)
    } else {
        msg!("doctor-folder-missing", path = shown, megabytes = megabytes)
    };
    DoctorFinding::ok(AREA, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> FolderState {
        FolderState {
            existing: "/h/.dormouse".into(),
            is_folder: true,
            is_writable: true,
            is_private: true,
            mode: 0o700,
            free_bytes: 5_000_000_000,
        }
    }

    #[track_caller]
    fn check(state: &FolderState, status: &str, part: &str) {
        let finding = judge(Path::new("/h/.dormouse"), state);
        assert_eq!(finding.status.as_str(), status, "{finding:?}");
        assert!(finding.text.contains(part), "{finding:?}");
    }

    #[test]
    fn folder_states() {
        check(&state(), "ok", "private, 5000 MB free");
        check(
            &FolderState { existing: "/h".into(), mode: 0o755, is_private: false, ..state() },
            "ok",
            "not created yet",
        );
        check(&FolderState { is_private: false, mode: 0o755, ..state() }, "warning", "mode 755");
        check(&FolderState { free_bytes: 90_000_000, ..state() }, "warning", "90 MB");
        check(&FolderState { free_bytes: 9_000_000, ..state() }, "problem", "full");
        check(&FolderState { is_writable: false, ..state() }, "problem", "cannot be written");
        let above = FolderState { existing: "/h".into(), is_writable: false, ..state() };
        check(&above, "problem", "cannot be created in /h");
        check(&FolderState { is_folder: false, ..state() }, "problem", "not a folder");
    }
}
