//! Files as the user's editor has them, with changes that are not saved yet.
//!
//! Invariant: pictures, notebooks, other binary files and very large ones are the disk's alone.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::Arc;

use thiserror::Error;
use tokio_util::sync::CancellationToken;

/// A larger file is read and written on disk: as JSON it might not fit into a message.
const MAX_BYTES: u64 = 8 * 1024 * 1024;

/// The files of an editor. Calls may block, and end when the token is cancelled.
pub trait EditorFiles: Send + Sync {
    /// The text of a file as the editor has it; none if the editor does not have it: then the disk counts.
    fn text(&self, path: &Path, cancel: &CancellationToken) -> Option<String>;

    /// Gives a file this text, in the editor and on disk.
    fn write(
        &self,
        path: &Path,
        text: &str,
        cancel: &CancellationToken,
    ) -> Result<EditorWrite, EditorWriteError>;
}

impl fmt::Debug for dyn EditorFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EditorFiles")
    }
}

/// What an editor did with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EditorWrite {
    /// It is written.
    Written,
    /// The editor does not write this file: it is to be written on disk.
    NotOffered,
}

/// Why an editor did not write a file. The text is for the model.
#[derive(Debug, Error)]
#[error("the editor did not write it: {0}")]
pub struct EditorWriteError(#[source] pub Box<dyn std::error::Error + Send + Sync>);

/// Tells texts apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextFingerprint(u64);

impl TextFingerprint {
    pub(crate) fn of(text: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        Self(hasher.finish())
    }
}

/// The editor, where it has such files.
pub(crate) fn editor_for<'a>(
    editor: Option<&'a Arc<dyn EditorFiles>>,
    path: &Path,
    size: u64,
) -> Option<&'a Arc<dyn EditorFiles>> {
    let is_notebook = path.extension().is_some_and(|extension| extension == "ipynb");
    editor.filter(|_| !is_notebook && size <= MAX_BYTES)
}

/// Whether a text of the editor is that of the file. Editors may hide line ends of Windows and byte-order marks.
pub(crate) fn is_saved(on_disk: &[u8], text: &str) -> bool {
    if on_disk == text.as_bytes() {
        return true;
    }
    let bare = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n");
        text.trim_start_matches('\u{feff}').to_owned()
    };
    bare(on_disk) == bare(text.as_bytes())
}
