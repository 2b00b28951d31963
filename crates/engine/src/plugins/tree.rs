//! All that is in a plugin: files by path, read once. What is copied, shown and trusted is this.

use std::collections::BTreeMap;
use std::fs::Permissions;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use dormouse_base::{Dir, EntryKind, FileAction, FileError, RelPath};

use super::{PluginError, PluginProblem};

/// More is no plugin, but somebody's home folder.
const MOST_FILES: usize = 5_000;
const MOST_BYTES: usize = 32 * 1024 * 1024;
const DEEPEST: usize = 16;
/// The history of a repository is no part of a plugin.
const LEFT_OUT: &str = ".git";

/// The files of a plugin.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tree {
    files: BTreeMap<String, TreeFile>,
    bytes: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct TreeFile {
    bytes: Vec<u8>,
    is_program: bool,
}

impl Tree {
    /// Reads a folder. A link that leads out of it, a device, or too much of everything is refused.
    pub fn read(root: &Path) -> Result<Self, PluginError> {
        let real =
            root.canonicalize().map_err(|error| FileError::new(FileAction::Read, root, error))?;
        let mut reader = Reader { root: real.clone(), tree: Self::default() };
        reader.folder(&Dir::open(real)?, "", DEEPEST)?;
        Ok(reader.tree)
    }

    /// Tells it from any other: names, contents, and what may be run.
    pub fn digest(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for (path, file) in &self.files {
            let length =
                |bytes: &[u8]| u64::try_from(bytes.len()).unwrap_or(u64::MAX).to_le_bytes();
            hasher.update(&length(path.as_bytes())).update(path.as_bytes());
            hasher.update(&[u8::from(file.is_program)]);
            hasher.update(&length(&file.bytes)).update(&file.bytes);
        }
        hasher.finalize().to_hex().to_string()
    }

    /// Writes it into an empty folder.
    pub(super) fn write(&self, dir: &Dir) -> Result<(), FileError> {
        for (path, content) in &self.files {
            let fail = |error| FileError::new(FileAction::Write, dir.path().join(path), error);
            let path = RelPath::new(path).map_err(|error| fail(std::io::Error::other(error)))?;
            let mut file = dir.create_file(&path)?;
            file.write_all(&content.bytes).map_err(fail)?;
            if content.is_program {
                file.set_permissions(Permissions::from_mode(0o700)).map_err(fail)?;
            }
            file.sync_all().map_err(fail)?;
        }
        Ok(())
    }
}

struct Reader {
    root: PathBuf,
    tree: Tree,
}

impl Reader {
    fn folder(&mut self, dir: &Dir, below: &str, depth: usize) -> Result<(), PluginError> {
        if depth == 0 {
            return Err(no_plugin(dir.path(), "folders are nested too deep"));
        }
        let listing = dir.list()?;
        if let Some(odd) = listing.not_utf8.first() {
            return Err(no_plugin(&dir.path().join(odd), "its name is not UTF-8"));
        }
        for listed in listing.entries.into_iter().filter(|listed| listed.name != LEFT_OUT) {
            let path = dir.path().join(&listed.name);
            let name =
                RelPath::new(&listed.name).map_err(|error| no_plugin(&path, error.to_string()))?;
            let place =
                if below.is_empty() { listed.name } else { format!("{below}/{}", listed.name) };
            match dir.entry(&name)?.kind {
                EntryKind::Folder => self.folder(&dir.open_folder(&name)?, &place, depth - 1)?,
                EntryKind::File => self.file(dir.open_file(&name)?, &path, place)?,
                EntryKind::Other => self.link(&path, place)?,
            }
        }
        Ok(())
    }

    /// A link inside is what it leads to.
    fn link(&mut self, path: &Path, place: String) -> Result<(), PluginError> {
        let fail = |why: String| no_plugin(path, why);
        let is_link = path.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink());
        if !is_link {
            return Err(fail("it is neither a file nor a folder".to_owned()));
        }
        let real = path.canonicalize().map_err(|_| fail("the link leads nowhere".to_owned()))?;
        let Ok(inside) = real.strip_prefix(&self.root) else {
            return Err(fail(format!("the link leads out of the plugin, to {}", real.display())));
        };
        if !real.is_file() {
            return Err(fail(
                "a link to a folder is not taken over; put the files there".to_owned(),
            ));
        }
        let inside = RelPath::new(inside).map_err(|error| fail(error.to_string()))?;
        let file = Dir::open(&self.root)?.open_file(&inside)?;
        self.file(file, path, place)
    }

    fn file(&mut self, file: std::fs::File, path: &Path, place: String) -> Result<(), PluginError> {
        let fail = |error| FileError::new(FileAction::Read, path, error);
        let is_program = file.metadata().map_err(fail)?.permissions().mode() & 0o111 != 0;
        let room = MOST_BYTES - self.tree.bytes;
        let mut bytes = Vec::new();
        file.take(room as u64 + 1).read_to_end(&mut bytes).map_err(fail)?;
        if bytes.len() > room || self.tree.files.len() >= MOST_FILES {
            return Err(no_plugin(
                &self.root,
                format!("it has more than {MOST_FILES} files or {MOST_BYTES} bytes"),
            ));
        }
        self.tree.bytes += bytes.len();
        self.tree.files.insert(place, TreeFile { bytes, is_program });
        Ok(())
    }
}

fn no_plugin(path: &Path, why: impl Into<String>) -> PluginError {
    PluginError::NoPlugin(PluginProblem::new(path, None, why))
}
