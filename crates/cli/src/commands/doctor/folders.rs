//! The program's own folders: there or creatable, writable, private, with room.

use std::path::Path;

use dormouse_base::FolderState;

use super::finding::Finding;

const AREA: &str = "folders";
/// Less than this is soon used up by transcripts and stored results.
const LITTLE: u64 = 500_000_000;
/// Less than this may not hold the next one.
const TOO_LITTLE: u64 = 20_000_000;

pub(super) fn check(home: &Path) -> Vec<Finding> {
    let mut findings = vec![folder(home)];
    // Those below are made when they are needed; one that is there has to work as well.
    let below = ["projects", "figures", "logs"].map(|name| home.join(name));
    let there = below.iter().filter(|path| path.symlink_metadata().is_ok());
    findings.extend(there.map(|path| folder(path)).filter(Finding::is_problem));
    findings
}

fn folder(path: &Path) -> Finding {
    let shown = path.display();
    let state = match FolderState::inspect(path) {
        Ok(state) => state,
        Err(error) => {
            let mend =
                "check the owner and permissions, or set DORMOUSE_HOME to a folder of your own";
            return Finding::problem(AREA, format!("can not look at {shown}: {error}"), mend);
        }
    };
    judge(path, &state)
}

/// What the state of a folder means: a plain function.
fn judge(path: &Path, state: &FolderState) -> Finding {
    let (shown, found) = (path.display(), state.existing.display());
    let free = format!("{} MB free", state.free_bytes / 1_000_000);
    let is_there = state.existing == path;
    if !state.is_folder {
        let what = format!("{found} is no folder");
        return Finding::problem(AREA, what, "move it away, or set DORMOUSE_HOME to a folder");
    }
    if !state.is_writable {
        let what = if is_there {
            format!("{shown} can not be written")
        } else {
            format!("{shown} is not there and can not be made in {found}")
        };
        let mend = "check the owner and permissions, or set DORMOUSE_HOME to a folder of your own";
        return Finding::problem(AREA, what, mend);
    }
    let room = "free some space, or set DORMOUSE_HOME to a folder on another disk";
    if state.free_bytes < TOO_LITTLE {
        return Finding::problem(AREA, format!("the disk of {shown} is full: {free}"), room);
    }
    if is_there && !state.is_private {
        let what = format!(
            "others can look into {shown} (mode {:o}): conversations are in it",
            state.mode
        );
        return Finding::warning(AREA, what, format!("chmod 700 '{shown}'"));
    }
    if state.free_bytes < LITTLE {
        return Finding::warning(AREA, format!("little room for {shown}: {free}"), room);
    }
    let what = if is_there { "private" } else { "not there yet; it is made when it is needed" };
    Finding::well(AREA, format!("{shown}: {what}, {free}"))
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
    fn check(state: &FolderState, word: &str, said: &str) {
        let finding = judge(Path::new("/h/.dormouse"), state);
        assert_eq!(finding.health.word(), word, "{finding:?}");
        assert!(finding.what.contains(said), "{finding:?}");
    }

    #[test]
    fn what_a_state_means() {
        check(&state(), "ok", "private, 5000 MB free");
        check(
            &FolderState { existing: "/h".into(), mode: 0o755, is_private: false, ..state() },
            "ok",
            "not there yet",
        );
        check(&FolderState { is_private: false, mode: 0o755, ..state() }, "warning", "mode 755");
        check(&FolderState { free_bytes: 90_000_000, ..state() }, "warning", "90 MB");
        check(&FolderState { free_bytes: 9_000_000, ..state() }, "problem", "full");
        check(&FolderState { is_writable: false, ..state() }, "problem", "can not be written");
        let above = FolderState { existing: "/h".into(), is_writable: false, ..state() };
        check(&above, "problem", "can not be made in /h");
        check(&FolderState { is_folder: false, ..state() }, "problem", "no folder");
    }
}
