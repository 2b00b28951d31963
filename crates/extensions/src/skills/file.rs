//! Reads `SKILL.md` files and agent definitions.
//!
//! A path is resolved first, with all links; the permission check is made on the resolved path, which is then opened
//! without following any link.

use std::fs::Metadata;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use dormouse_base::{Dir, FileError, RelPath};
use thiserror::Error;

/// The largest file, in bytes.
const MAX_BYTES: u64 = 256 * 1024;

/// Why a definition file cannot be used.
#[derive(Debug, Error)]
pub enum DefinitionError {
    /// A link in the path has no target.
    #[error("broken link")]
    BrokenLink,
    /// The path leads out of the folder it must stay in.
    #[error("it is outside the project: {}", .0.display())]
    Outside(PathBuf),
    /// A device, a folder or the like.
    #[error("not a regular file")]
    NotAFile,
    /// More than `MAX_BYTES`.
    #[error("too large ({0} bytes, at most {MAX_BYTES}); move details to separate files")]
    TooLarge(u64),
    /// The file is not UTF-8.
    #[error("not UTF-8")]
    NotUtf8,
    /// The file contains NUL bytes.
    #[error("binary file")]
    Binary,
    /// The path has a component that is not allowed.
    #[error(transparent)]
    Path(#[from] dormouse_base::RelPathError),
    /// The file system reported an error.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file system reported an error.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// The text of a file; `None` if it does not exist. The path must not lead out of `root`.
pub fn read_definition(
    path: &Path,
    root: Option<&Path>,
) -> Result<Option<String>, DefinitionError> {
    let real = match path.canonicalize() {
        Ok(real) => real,
        Err(_) if is_broken_link(path) => return Err(DefinitionError::BrokenLink),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    if let Some(root) = root
        && !root.canonicalize().is_ok_and(|root| real.starts_with(root))
    {
        return Err(DefinitionError::Outside(real));
    }
    // Checked before opening, because opening some devices has effects; the check after it counts.
    check_metadata(&real.symlink_metadata()?)?;
    let below_root = RelPath::new(real.strip_prefix("/").unwrap_or(&real))?;
    let file = Dir::open("/")?.open_file(&below_root)?;
    check_metadata(&file.metadata()?)?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > MAX_BYTES {
        return Err(DefinitionError::TooLarge(MAX_BYTES + 1));
    }
    let text = String::from_utf8(bytes).map_err(|_| DefinitionError::NotUtf8)?;
    if text.contains('\0') { Err(DefinitionError::Binary) } else { Ok(Some(text)) }
}

/// Whether the file or its folder is a link without a target, which is an error and not an absence.
fn is_broken_link(path: &Path) -> bool {
    let is_link = |path: &Path| path.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink());
    is_link(path) || path.parent().is_some_and(|folder| is_link(folder) && !folder.exists())
}

fn check_metadata(metadata: &Metadata) -> Result<(), DefinitionError> {
    if !metadata.is_file() {
        Err(DefinitionError::NotAFile)
    } else if metadata.len() > MAX_BYTES {
        Err(DefinitionError::TooLarge(metadata.len()))
    } else {
        Ok(())
    }
}

/// The digest that trust is given to.
pub(super) fn digest(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}
