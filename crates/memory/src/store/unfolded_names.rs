//! Names at the top of a memory directory that are not written in the form in which names are compared, such as
//! `README.md`. Whether a new name looks like one that is taken can be told from these and from the disk, without listing
//! the directory: with many memories the listing takes longer than all else in a save.
//!
//! They are kept in the state folder together with the time at which the directory last changed, which is set with every
//! change of ours: to the nanosecond, so that a change by another program in the same moment gives another time. Then they
//! are listed again. Only what appears while one of our changes is being written is overlooked until then; a file of the
//! very same name never is, because it is opened.

use dormouse_base::{Dir, FileError};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::fixed_path::name;
use super::journal::RecordedChange;
use crate::names::fold;

const FILE: &str = "unfolded-names.json";

/// With more of them the file would be the slow part.
const MOST: usize = 1_000;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct UnfoldedNames {
    /// When the directory last changed.
    modified: Timestamp,
    names: Vec<String>,
}

impl UnfoldedNames {
    /// The names as they are now: as kept if the directory is unchanged, else listed.
    pub(super) fn read(dir: &Dir, state: &Dir) -> Result<Self, FileError> {
        let modified = last_change(dir)?;
        // An unreadable file counts as missing.
        let kept: Option<Self> =
            state.read(&name(FILE)).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        if let Some(kept) = kept.filter(|kept| kept.modified == modified) {
            return Ok(kept);
        }
        let names = dir.names()?.into_iter().filter(|name| is_unfolded(name)).collect();
        Ok(Self { modified, names })
    }

    /// The names that a folded one may be taken for.
    pub(super) fn like<'a>(&'a self, folded: &'a str) -> impl Iterator<Item = &'a String> {
        self.names.iter().filter(move |known| fold(known) == folded)
    }

    /// Keeps the names as they are after a change of ours.
    pub(super) fn keep_after(
        &self,
        change: &RecordedChange,
        dir: &Dir,
        state: &Dir,
    ) -> Result<(), FileError> {
        let mut names = self.names.clone();
        for file in change.files.iter().filter(|file| file.file.folder().is_none()) {
            let own = file.file.name();
            names.retain(|known| known != own);
            if file.after.is_some() && is_unfolded(own) {
                names.push(own.to_owned());
            }
        }
        if names.len() > MOST {
            return Ok(());
        }
        dir.set_modified(change.time.into())?;
        let kept = Self { modified: last_change(dir)?, names };
        // A time and texts always serialize.
        let bytes = serde_json::to_vec(&kept).unwrap_or_default();
        state.write_cache(&name(FILE), &bytes)
    }
}

fn is_unfolded(name: &str) -> bool {
    fold(name) != name
}

fn last_change(dir: &Dir) -> Result<Timestamp, FileError> {
    // A time that no calendar has is the same for every directory, and then never right.
    Ok(Timestamp::try_from(dir.modified()?).unwrap_or(Timestamp::MIN))
}
