//! The files of a project at one moment: what a command changed is the difference of two listings.
//!
//! Invariant: what is in a listing can be brought back, by a kept content or by git's own object, or is counted as left
//! out. Listed are files that git tracks or does not ignore; without git, all.

use std::collections::HashMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::content_store::ContentStore;
use crate::error::CheckpointError;
use crate::git_index::ObjectId;
use crate::git_objects;
use crate::state::{FileState, MAX_FILE};
use crate::walk::{KnownToGit, walk};

/// The most files that one listing copies, and their bytes together.
const MAX_COPIED: (usize, u64) = (2_000, 200 * 1024 * 1024);
/// A file that changed so shortly before it was listed may change again and keep its time.
const SAME_TICK: i128 = 20_000_000;

/// What the system says of a file without opening it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileMark {
    mode: u32,
    inode: u64,
    size: u64,
    modified: i128,
    changed: i128,
}

impl FileMark {
    fn of(metadata: &Metadata) -> Self {
        let nanoseconds =
            |seconds: i64, rest: i64| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
        Self {
            mode: metadata.mode(),
            inode: metadata.ino(),
            size: metadata.size(),
            modified: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
            changed: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    fn permissions(self) -> u32 {
        self.mode & 0o7777
    }

    fn is_folder(self) -> bool {
        self.mode & 0o170_000 == 0o040_000
    }
}

/// What a file was when it was listed.
#[derive(Debug, Clone)]
enum Listed {
    /// What it was is known.
    Known(FileState),
    /// Its content is this object of the repository with this number.
    InGit { repository: usize, object: ObjectId },
}

/// A file that git could not bring back as it is.
struct FileToCopy {
    is_untracked: bool,
    mark: FileMark,
    path: PathBuf,
}

impl FileToCopy {
    fn order(&self) -> (bool, u64, &Path) {
        (self.is_untracked, self.mark.size, &self.path)
    }
}

/// Files that a listing does not keep.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct UnkeptFiles {
    pub(crate) files: u64,
    pub(crate) bytes: u64,
    /// The folder or file that most of the bytes are in.
    pub(crate) largest: PathBuf,
}

/// What earlier listings found, so that nothing is read twice.
#[derive(Debug, Default)]
pub(crate) struct ListingCache {
    states: HashMap<PathBuf, (FileMark, FileState)>,
    blob_sizes: HashMap<ObjectId, u64>,
    /// Whether git converts line ends in a checkout, by its settings.
    converts: HashMap<PathBuf, bool>,
}

impl ListingCache {
    fn converts_line_ends(&mut self, checkout: &Path) -> bool {
        let look = || git_objects::converts_line_ends(checkout);
        *self.converts.entry(checkout.to_owned()).or_insert_with(look)
    }
}

/// The files of a project at one moment.
#[derive(Debug, Default)]
pub(crate) struct ProjectListing {
    files: HashMap<PathBuf, (FileMark, Listed)>,
    repositories: Vec<PathBuf>,
    /// When it was begun, in nanoseconds, by the clock that files have their times from.
    made: i128,
    pub(crate) left_out: UnkeptFiles,
}

/// A file that differs between two listings, and what it was in the first.
pub(crate) struct FoundChange {
    pub(crate) path: PathBuf,
    pub(crate) before: FileState,
}

impl ProjectListing {
    /// Lists the files below these folders and keeps what git could not bring back.
    pub(crate) fn make(
        roots: &[PathBuf],
        store: &ContentStore,
        cache: &mut ListingCache,
    ) -> Result<Self, CheckpointError> {
        let made = store.now()?;
        let (found, checkouts) = walk(roots);
        let mut listing = Self { made, ..Self::default() };
        let mut to_copy = Vec::new();
        for (path, metadata) in found {
            let mark = FileMark::of(&metadata);
            if !metadata.is_file() {
                let state = FileState::look(&path)?;
                listing.files.insert(path, (mark, Listed::Known(state)));
                continue;
            }
            match checkouts.know(&path, &metadata) {
                KnownToGit::Unchanged(repository, object) => {
                    let listed = Listed::InGit { repository, object };
                    listing.files.insert(path, (mark, listed));
                }
                KnownToGit::Changed => to_copy.push(FileToCopy { is_untracked: false, mark, path }),
                KnownToGit::No => to_copy.push(FileToCopy { is_untracked: true, mark, path }),
            }
        }
        listing.repositories = checkouts.into_folders();
        to_copy.extend(listing.take_converted(cache));
        // What git knows of first, then small files: they are what people write.
        to_copy.sort_by(|one, other| one.order().cmp(&other.order()));
        listing.copy(to_copy, store, cache)?;
        Ok(listing)
    }

    /// Takes out the files of which git has another content than the checkout: line ends, filters.
    fn take_converted(&mut self, cache: &mut ListingCache) -> Vec<FileToCopy> {
        let mut converted = Vec::new();
        for (number, checkout) in self.repositories.iter().enumerate() {
            let in_git = |listed: &Listed| match listed {
                Listed::InGit { repository, object } if *repository == number => Some(*object),
                Listed::InGit { .. } | Listed::Known(_) => None,
            };
            let attributes = self.files.keys().filter(|path| {
                path.file_name().is_some_and(|name| name == ".gitattributes")
                    && path.starts_with(checkout)
            });
            if !attributes.into_iter().any(|path| may_convert(path))
                && !cache.converts_line_ends(checkout)
            {
                continue;
            }
            let unknown: Vec<ObjectId> = self
                .files
                .values()
                .filter_map(|(_, listed)| in_git(listed))
                .filter(|object| !cache.blob_sizes.contains_key(object))
                .collect();
            cache.blob_sizes.extend(git_objects::sizes(checkout, &unknown));
            let differs = |(path, (mark, listed)): (&PathBuf, &(FileMark, Listed))| {
                let object = in_git(listed)?;
                (cache.blob_sizes.get(&object) != Some(&mark.size)).then(|| FileToCopy {
                    is_untracked: false,
                    mark: *mark,
                    path: path.clone(),
                })
            };
            converted.extend(self.files.iter().filter_map(differs));
        }
        for FileToCopy { path, .. } in &converted {
            self.files.remove(path);
        }
        converted
    }

    /// Copies files within the limits; the others are left out.
    fn copy(
        &mut self,
        files: Vec<FileToCopy>,
        store: &ContentStore,
        cache: &mut ListingCache,
    ) -> Result<(), CheckpointError> {
        let (mut copied, mut bytes) = (0, 0);
        let mut left_out: Vec<(PathBuf, u64)> = Vec::new();
        let mut states = HashMap::new();
        for FileToCopy { mark, path, .. } in files {
            let fits =
                mark.size <= MAX_FILE && copied < MAX_COPIED.0 && bytes + mark.size <= MAX_COPIED.1;
            let state = if fits {
                copied += 1;
                bytes += mark.size;
                match cache.states.get(&path) {
                    Some((known, state)) if *known == mark && !self.is_recent(mark) => {
                        state.clone()
                    }
                    _ => FileState::keep(&path, store)?,
                }
            } else {
                left_out.push((path.clone(), mark.size));
                FileState::File { content: None, size: mark.size, mode: mark.permissions() }
            };
            states.insert(path.clone(), (mark, state.clone()));
            self.files.insert(path, (mark, Listed::Known(state)));
        }
        self.left_out = summary(&left_out);
        cache.states = states;
        Ok(())
    }

    /// The number of files.
    pub(crate) fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether the file may change within the tick of the clock that it has.
    fn is_recent(&self, mark: FileMark) -> bool {
        mark.changed.max(mark.modified) + SAME_TICK >= self.made
    }

    /// The files that differ in a later listing, and what they were. Contents that only git has are kept now: git may
    /// drop them one day.
    pub(crate) fn changed_in(
        &self,
        later: &Self,
        store: &ContentStore,
    ) -> Result<Vec<FoundChange>, CheckpointError> {
        let differs = |path: &PathBuf, mark: FileMark| match later.files.get(path) {
            Some((now, _)) if mark.is_folder() && now.is_folder() => now.mode != mark.mode,
            Some((now, _)) => *now != mark || self.is_recent(mark),
            None => true,
        };
        let mut changes = Vec::new();
        let mut from_git: Vec<Vec<FileInGit<'_>>> = Vec::new();
        from_git.resize_with(self.repositories.len(), Vec::new);
        for (path, (mark, listed)) in &self.files {
            if !differs(path, *mark) {
                continue;
            }
            match listed {
                Listed::Known(state) => {
                    changes.push(FoundChange { path: path.clone(), before: state.clone() });
                }
                Listed::InGit { repository, object } => {
                    if let Some(files) = from_git.get_mut(*repository) {
                        files.push(FileInGit { path, object: *object, mark: *mark });
                    }
                }
            }
        }
        for (checkout, files) in self.repositories.iter().zip(from_git) {
            let objects: Vec<ObjectId> = files.iter().map(|file| file.object).collect();
            let contents = git_objects::contents(checkout, &objects);
            for file in files {
                let before = file.state(contents.get(&file.object), store)?;
                changes.push(FoundChange { path: file.path.clone(), before });
            }
        }
        let new = later.files.keys().filter(|path| !self.files.contains_key(*path));
        changes
            .extend(new.map(|path| FoundChange { path: path.clone(), before: FileState::Absent }));
        changes.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(changes)
    }
}

/// A file that a command changed, whose content git has.
struct FileInGit<'l> {
    path: &'l PathBuf,
    object: ObjectId,
    mark: FileMark,
}

impl FileInGit<'_> {
    /// What it was; without its content if that is not what git has.
    fn state(
        &self,
        content: Option<&Vec<u8>>,
        store: &ContentStore,
    ) -> Result<FileState, CheckpointError> {
        let size = self.mark.size;
        let content = content.filter(|content| content.len() as u64 == size);
        let content = content.map(|content| store.put(content)).transpose()?;
        Ok(FileState::File { content, size, mode: self.mark.permissions() })
    }
}

/// Whether attributes may make git change contents on their way to the checkout.
fn may_convert(attributes: &Path) -> bool {
    let text = std::fs::read_to_string(attributes).unwrap_or_default();
    ["eol", "filter", "ident", "encoding", "text", "crlf"].iter().any(|word| text.contains(word))
}

/// How much was left out, and where most of it is.
fn summary(left_out: &[(PathBuf, u64)]) -> UnkeptFiles {
    let mut folders: HashMap<&Path, u64> = HashMap::new();
    for (path, size) in left_out {
        *folders.entry(path.parent().unwrap_or(path)).or_default() += size;
    }
    let largest = folders.into_iter().max_by_key(|(folder, bytes)| (*bytes, *folder));
    UnkeptFiles {
        files: left_out.len() as u64,
        bytes: left_out.iter().map(|(_, size)| size).sum(),
        largest: largest.map(|(folder, _)| folder.to_owned()).unwrap_or_default(),
    }
}
