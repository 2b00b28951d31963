//! All files of a plugin, read once: the copy, the trust prompt and the digest use the same bytes.

use std::collections::BTreeMap;
use std::fs::Permissions;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use dormouse_base::{Dir, EntryKind, FileAction, FileError, RelPath};

use super::plugin::{PluginError, PluginProblem};

/// Limits against a large folder given by mistake.
const MAX_FILES: usize = 5_000;
const MAX_BYTES: usize = 32 * 1024 * 1024;
const MAX_DEPTH: usize = 16;
/// The repository's history is not part of a plugin.
const GIT_FOLDER: &str = ".git";

/// The files of a plugin.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PluginTree {
    files: BTreeMap<String, TreeFile>,
    bytes: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct TreeFile {
    bytes: Vec<u8>,
    is_executable: bool,
}

impl PluginTree {
    /// Reads a folder. Links that lead out of it, devices and folders over the limits are errors.
    pub fn read(root: &Path) -> Result<Self, PluginError> {
        let real =
            root.canonicalize().map_err(|error| FileError::new(FileAction::Read, root, error))?;
        let mut reader = Reader { root: real.clone(), tree: Self::default() };
        reader.folder(&Dir::open(real)?, "", MAX_DEPTH)?;
        Ok(reader.tree)
    }

    /// A digest of names, contents and executable bits.
    pub fn digest(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for (path, file) in &self.files {
            let length =
                |bytes: &[u8]| u64::try_from(bytes.len()).unwrap_or(u64::MAX).to_le_bytes();
            hasher.update(&length(path.as_bytes())).update(path.as_bytes());
            hasher.update(&[u8::from(file.is_executable)]);
            hasher.update(&length(&file.bytes)).update(&file.bytes);
        }
        hasher.finalize().to_hex().to_string()
    }

    /// Writes the files into an empty folder.
    pub(super) fn write(&self, dir: &Dir) -> Result<(), FileError> {
        for (path, content) in &self.files {
            let fail = |error| FileError::new(FileAction::Write, dir.path().join(path), error);
            let path = RelPath::new(path).map_err(|error| fail(std::io::Error::other(error)))?;
            let mut file = dir.create_file(&path)?;
            file.write_all(&content.bytes).map_err(fail)?;
            if content.is_executable {
                file.set_permissions(Permissions::from_mode(0o700)).map_err(fail)?;
            }
            file.sync_all().map_err(fail)?;
        }
        Ok(())
    }
}

struct Reader {
    root: PathBuf,
    tree: PluginTree,
}

impl Reader {
    fn folder(&mut self, dir: &Dir, below: &str, depth: usize) -> Result<(), PluginError> {
        if depth == 0 {
            return Err(invalid(dir.path(), "folders are nested too deep"));
        }
        let listing = dir.list()?;
        if let Some(odd) = listing.not_utf8.first() {
            return Err(invalid(&dir.path().join(odd), "the name is not UTF-8"));
        }
        for listed in listing.entries.into_iter().filter(|listed| listed.name != GIT_FOLDER) {
            let path = dir.path().join(&listed.name);
            let name =
                RelPath::new(&listed.name).map_err(|error| invalid(&path, error.to_string()))?;
            let key =
                if below.is_empty() { listed.name } else { format!("{below}/{}", listed.name) };
            match dir.entry(&name)?.kind {
                EntryKind::Folder => self.folder(&dir.open_folder(&name)?, &key, depth - 1)?,
                EntryKind::File => self.file(dir.open_file(&name)?, &path, key)?,
                EntryKind::Other => self.link(&path, key)?,
            }
        }
        Ok(())
    }

    /// A link is replaced by the file it leads to, which must be inside the plugin.
    fn link(&mut self, path: &Path, key: String) -> Result<(), PluginError> {
        let fail = |reason: String| invalid(path, reason);
        let is_link = path.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink());
        if !is_link {
            return Err(fail("neither a file nor a folder".to_owned()));
        }
        let real = path.canonicalize().map_err(|_| fail("broken link".to_owned()))?;
        let Ok(inside) = real.strip_prefix(&self.root) else {
            return Err(fail(format!("the link leads out of the plugin, to {}", real.display())));
        };
        if !real.is_file() {
            return Err(fail("links to folders are not supported; copy the files".to_owned()));
        }
        let inside = RelPath::new(inside).map_err(|error| fail(error.to_string()))?;
        let file = Dir::open(&self.root)?.open_file(&inside)?;
        self.file(file, path, key)
    }

    fn file(&mut self, file: std::fs::File, path: &Path, key: String) -> Result<(), PluginError> {
        let fail = |error| FileError::new(FileAction::Read, path, error);
        let is_executable = file.metadata().map_err(fail)?.permissions().mode() & 0o111 != 0;
        let remaining = MAX_BYTES - self.tree.bytes;
        let mut bytes = Vec::new();
        file.take(remaining as u64 + 1).read_to_end(&mut bytes).map_err(fail)?;
        if bytes.len() > remaining || self.tree.files.len() >= MAX_FILES {
            return Err(invalid(
                &self.root,
                format!("more than {MAX_FILES} files or {MAX_BYTES} bytes"),
            ));
        }
        self.tree.bytes += bytes.len();
        self.tree.files.insert(key, TreeFile { bytes, is_executable });
        Ok(())
    }
}

fn invalid(path: &Path, reason: impl Into<String>) -> PluginError {
    PluginError::Invalid(PluginProblem::new(path, None, reason))
}
