//! One memory: its text and header, the state of the files it names, how it was used, its changes.

use std::sync::Arc;

use dormouse_memory::recall::QuarantineFilter;
use dormouse_memory::{
    Anchor, ChangeId, ContentHash, DiffFiles, FileDiff, FoundMemory, Freshness, MemoryEntry,
    MemoryFile, MemoryUsage, Store, StoreChange, StoreScope, Trashed, lint_text,
};

use crate::error::ViewerError;
use crate::model::memory_list::{AnchorStates, usage};
use crate::model::related::{RelatedMemory, related};
use crate::viewer::Viewer;

/// The most changes of a memory whose diffs a page shows.
const SHOWN_CHANGES: usize = 50;

/// A memory that a page names.
pub(crate) struct ViewedMemory<'a> {
    pub(crate) scope: StoreScope,
    pub(crate) position: usize,
    pub(crate) store: &'a Arc<Store>,
    pub(crate) file: MemoryFile,
}

impl<'a> ViewedMemory<'a> {
    /// The memory that an address names. It need not exist any more.
    pub(crate) fn of(viewer: &'a Viewer, scope: &str, file: &str) -> Result<Self, ViewerError> {
        let scope = StoreScope::from_word(scope).ok_or(ViewerError::NotFound)?;
        let (position, store) = viewer.store(scope)?;
        Ok(Self { scope, position, store, file: MemoryFile::existing(file)? })
    }

    /// What is known of it after its removal; none if it was never there, or too long ago.
    pub(crate) fn removed(&self) -> Result<Option<Trashed>, ViewerError> {
        let trash = self.store.history().trash()?;
        Ok(trash.into_iter().find(|trashed| trashed.file == self.file))
    }

    /// Its file as it is now.
    pub(crate) fn text(&self) -> Result<(String, ContentHash), ViewerError> {
        let (bytes, hash) = self.store.read(&self.file)?;
        Ok((String::from_utf8_lossy(&bytes).into_owned(), hash))
    }
}

/// What the page of a memory shows.
pub(crate) struct MemoryPage {
    pub(crate) scope: StoreScope,
    pub(crate) found: FoundMemory,
    pub(crate) entry: MemoryEntry,
    pub(crate) age_days: u64,
    pub(crate) changed: jiff::Timestamp,
    pub(crate) usage: MemoryUsage,
    pub(crate) anchors: Vec<(Anchor, Freshness)>,
    pub(crate) related: Vec<RelatedMemory>,
    /// What is wrong with its file.
    pub(crate) problems: Vec<String>,
}

impl MemoryPage {
    pub(crate) fn of(viewer: &Viewer, named: &ViewedMemory<'_>) -> Result<Self, ViewerError> {
        let all = viewer.memories().list(None, QuarantineFilter::Include)?;
        let found = all
            .into_iter()
            .find(|found| found.position == named.position && found.memory.file == named.file)
            .ok_or(ViewerError::NotFound)?;
        let (entry, _) = found.read()?;
        let related = related(viewer, &found, &entry)?;
        let (text, _) = named.text()?;
        let problems = lint_text(named.file.as_str(), text.as_bytes(), |_| Vec::new());
        Ok(Self {
            problems: problems.into_iter().map(|finding| finding.message).collect(),
            scope: named.scope,
            age_days: found.age(viewer.now()).days(),
            changed: found.changed_at(),
            usage: usage(&found),
            anchors: AnchorStates::new(viewer).of(&entry.header.anchors),
            related,
            entry,
            found,
        })
    }
}

/// A change with the files that it changed.
#[derive(Clone)]
pub(crate) struct ChangeView {
    pub(crate) scope: StoreScope,
    pub(crate) change: StoreChange,
    pub(crate) files: Vec<FileDiff>,
}

/// The changes of one memory, newest first, each with what it changed in that memory.
pub(crate) fn history(
    viewer: &Viewer,
    named: &ViewedMemory<'_>,
) -> Result<Vec<ChangeView>, ViewerError> {
    let touches = |change: &StoreChange| {
        change.position == named.position
            && change.entry.files.iter().any(|(file, _)| *file == named.file)
    };
    changes(viewer, SHOWN_CHANGES, DiffFiles::Only(&named.file), touches)
}

/// The newest changes that pass a filter, with the diffs of some files. Changes by other programs are recorded first, unless the
/// viewer only reads.
pub(crate) fn changes(
    viewer: &Viewer,
    most: usize,
    files: DiffFiles<'_>,
    filter: impl Fn(&StoreChange) -> bool,
) -> Result<Vec<ChangeView>, ViewerError> {
    viewer.record_external_changes()?;
    let all = viewer.memories().changes()?.into_iter().filter(filter).take(most);
    let changes: Vec<StoreChange> = all.collect();
    let mut views = Vec::new();
    // The history of each store is read once.
    for (position, store) in viewer.memories().stores().iter().enumerate() {
        let own = changes.iter().filter(|change| change.position == position);
        let own: Vec<&StoreChange> = own.collect();
        let ids: Vec<ChangeId> = own.iter().map(|change| change.entry.id).collect();
        if ids.is_empty() {
            continue;
        }
        let diffs = store.history().diffs(&ids, files)?;
        let scope = viewer.scope_at(position);
        views.extend(own.into_iter().zip(diffs).map(|(change, files)| ChangeView {
            scope,
            change: change.clone(),
            files,
        }));
    }
    views.sort_by_key(|view| std::cmp::Reverse((view.change.entry.time, view.change.entry.id)));
    Ok(views)
}
