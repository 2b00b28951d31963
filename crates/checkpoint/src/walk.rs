//! Everything below the folders of a project that git tracks or does not ignore, and what git knows of each file.

use std::collections::HashSet;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use ignore::{WalkBuilder, WalkState};

use crate::git_index::{GitIndex, ObjectId};

/// More entries than this are not listed.
const MAX_ENTRIES: usize = 400_000;

/// The checkouts below the folders of a project: the project itself, submodules, other repositories.
pub(crate) struct Checkouts {
    folders: Vec<PathBuf>,
    indexes: Vec<GitIndex>,
}

/// What git knows of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum KnownToGit {
    /// Its content is this object of the checkout with this number.
    Unchanged(usize, ObjectId),
    /// It has changed since git looked at it.
    Changed,
    /// Nothing.
    No,
}

impl Checkouts {
    pub(crate) fn into_folders(self) -> Vec<PathBuf> {
        self.folders
    }

    /// What git knows of this file.
    pub(crate) fn know(&self, path: &Path, metadata: &Metadata) -> KnownToGit {
        let inside = self.folders.iter().enumerate().filter(|(_, folder)| path.starts_with(folder));
        let innermost = inside.max_by_key(|(_, folder)| folder.as_os_str().len());
        let known = innermost.and_then(|(number, folder)| {
            let (index, below) = (self.indexes.get(number)?, path.strip_prefix(folder).ok()?);
            Some(match index.unchanged(below, metadata) {
                Some(object) => KnownToGit::Unchanged(number, object),
                None if index.has(below) => KnownToGit::Changed,
                None => KnownToGit::No,
            })
        });
        known.unwrap_or(KnownToGit::No)
    }

    /// Files that git tracks although it is told to ignore them.
    fn tracked_and_ignored(&self, found: &[(PathBuf, Metadata)]) -> Vec<(PathBuf, Metadata)> {
        let seen: HashSet<&Path> = found.iter().map(|(path, _)| path.as_path()).collect();
        let tracked = self.folders.iter().zip(&self.indexes);
        tracked
            .flat_map(|(folder, index)| index.paths().map(|path| folder.join(path)))
            .filter(|path| !seen.contains(path.as_path()))
            .filter_map(|path| path.symlink_metadata().ok().map(|metadata| (path, metadata)))
            .filter(|(_, metadata)| !metadata.is_dir())
            .collect()
    }
}

/// Lists what is below these folders.
pub(crate) fn walk(roots: &[PathBuf]) -> (Vec<(PathBuf, Metadata)>, Checkouts) {
    let (mut found, mut folders) = walk_unignored(roots);
    folders.sort();
    let indexes = folders.iter().map(|folder| GitIndex::read(folder)).collect();
    let checkouts = Checkouts { folders, indexes };
    found.extend(checkouts.tracked_and_ignored(&found));
    (found, checkouts)
}

fn walk_unignored(roots: &[PathBuf]) -> (Vec<(PathBuf, Metadata)>, Vec<PathBuf>) {
    let Some((first, others)) = roots.split_first() else { return Default::default() };
    let mut builder = WalkBuilder::new(first);
    for root in others {
        builder.add(root);
    }
    let checkouts = Arc::new(Mutex::new(Vec::new()));
    let seen_checkouts = Arc::clone(&checkouts);
    // Memories have a history of their own.
    let own: HashSet<PathBuf> = roots.iter().map(|root| root.join(".dormouse")).collect();
    builder.hidden(false).ignore(false).follow_links(false).threads(2).filter_entry(move |entry| {
        if entry.file_name() == ".git" {
            if let (Some(parent), Ok(mut seen)) = (entry.path().parent(), seen_checkouts.lock()) {
                seen.push(parent.to_owned());
            }
            return false;
        }
        !own.contains(entry.path())
    });
    let found = Mutex::new(Vec::new());
    builder.build_parallel().run(|| {
        Box::new(|entry| {
            // What cannot be listed cannot be changed either, or is gone.
            let Ok(entry) = entry else { return WalkState::Continue };
            let (Ok(metadata), Ok(mut found)) = (entry.metadata(), found.lock()) else {
                return WalkState::Continue;
            };
            if found.len() >= MAX_ENTRIES {
                return WalkState::Quit;
            }
            found.push((entry.into_path(), metadata));
            WalkState::Continue
        })
    });
    let checkouts = checkouts.lock().map(|list| list.clone()).unwrap_or_default();
    (found.into_inner().unwrap_or_default(), checkouts)
}
