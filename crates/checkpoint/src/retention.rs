//! Checkpoints are kept as long as removed memories: 30 days after their session last changed a file.

use std::time::{Duration, SystemTime};

use dormouse_base::{Dir, RelPath};

use crate::error::CheckpointError;
use crate::folder::checkpoint_folder;

const KEPT: Duration = Duration::from_hours(30 * 24);

/// Removes the checkpoints of a project's sessions that nobody has added to for 30 days. Returns how many sessions had some.
pub fn remove_old_checkpoints(project: &Dir, now: SystemTime) -> Result<usize, CheckpointError> {
    let mut removed = 0;
    for name in project.names()? {
        let Ok(session) = RelPath::new(&name) else { continue };
        let Ok(folder) = project.open_folder(&session) else { continue };
        let Ok(log) = RelPath::new("checkpoints/log.ndjson") else { continue };
        let Ok(entry) = folder.entry(&log) else { continue };
        let age = now.duration_since(entry.modified).unwrap_or_default();
        if age > KEPT {
            folder.remove_folder(&checkpoint_folder())?;
            removed += 1;
        }
    }
    Ok(removed)
}
