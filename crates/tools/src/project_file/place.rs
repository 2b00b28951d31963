//! Where a path leads: through links, to a file that is there or to the place where it would be.
//!
//! Invariant: the place found is absolute and has no link and no `..` in it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dormouse_permissions::write_target;

use crate::{FileWriter, ToolError};

/// A file to be written.
pub(crate) struct WriteTarget {
    /// As the model named it, absolute.
    pub(crate) asked: PathBuf,
    /// Where that leads.
    pub(crate) real: PathBuf,
    /// What it is written through, if not plainly.
    pub(crate) door: Option<Arc<dyn FileWriter>>,
}

impl WriteTarget {
    /// Its name for the model: the real one, and how it came to that.
    pub(crate) fn named(&self) -> String {
        let real = self.real.display();
        if self.is_link() {
            format!("{real} (to which the link {} leads)", self.asked.display())
        } else {
            real.to_string()
        }
    }

    fn is_link(&self) -> bool {
        self.asked.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink())
    }
}

pub(crate) fn resolve(folder: &Path, file_path: &Path) -> Result<WriteTarget, ToolError> {
    let real = write_target(folder, file_path)?;
    Ok(WriteTarget { asked: folder.join(file_path), real, door: None })
}
