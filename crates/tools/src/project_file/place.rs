//! Where a path leads: through links, to a file that is there or to the place where it would be.
//!
//! Invariant: the place found is absolute and has no link and no `..` in it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{refused, unwritable};
use crate::{FileDoor, ToolError};

/// The most links followed, as the kernel counts.
const MAX_LINKS: usize = 40;

/// A file to be written.
pub(crate) struct Target {
    /// As the model named it, absolute.
    pub(crate) asked: PathBuf,
    /// Where that leads.
    pub(crate) real: PathBuf,
    /// What it is written through, if not plainly.
    pub(crate) door: Option<Arc<dyn FileDoor>>,
}

impl Target {
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

/// Where a write of `file_path` in `folder` would really go, links followed. Nothing is changed.
pub fn write_target(folder: &Path, file_path: &Path) -> Result<PathBuf, ToolError> {
    resolve(folder, file_path).map(|target| target.real)
}

pub(crate) fn resolve(folder: &Path, file_path: &Path) -> Result<Target, ToolError> {
    let text = file_path.as_os_str().as_encoded_bytes();
    if text.is_empty() {
        return Err(ToolError::invalid("`file_path`: is empty"));
    }
    if text.contains(&0) {
        return Err(ToolError::invalid("`file_path`: contains a NUL character"));
    }
    if text.ends_with(b"/") {
        return Err(ToolError::invalid("`file_path`: ends with a slash, so it names a folder"));
    }
    let asked = folder.join(file_path);
    let real = real_path(&asked)?;
    Ok(Target { asked, real, door: None })
}

fn real_path(path: &Path) -> Result<PathBuf, ToolError> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        match path.canonicalize() {
            Ok(real) => return Ok(real),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(source) => return Err(unwritable(&path, source)),
        }
        // Nothing is there, or a link to where nothing is.
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(refused(&path, "does not name a file"));
        };
        match path.read_link() {
            Ok(target) => path = parent.join(target),
            Err(_) => return Ok(real_folder(parent)?.join(name)),
        }
    }
    Err(refused(&path, "leads through too many links"))
}

/// The same for a folder, which may be missing together with some above it.
fn real_folder(path: &Path) -> Result<PathBuf, ToolError> {
    match path.canonicalize() {
        Ok(real) => return Ok(real),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(source) => return Err(unwritable(path, source)),
    }
    if path.symlink_metadata().is_ok() {
        return Err(refused(path, "is a link to a folder that does not exist"));
    }
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => Ok(real_folder(parent)?.join(name)),
        _ => Err(refused(path, "contains `..` behind a folder that does not exist")),
    }
}
