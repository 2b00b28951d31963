//! What an agent may write into the index itself: the index is shown in every session, has no source messages of its
//! own, and cannot wait in the inbox.
//!
//! Invariants: nothing from outside and nothing about a quarantined memory gets in (M-17), and no existing memory loses
//! its line (M-5).

use super::change_origin::ChangeOrigin;
use super::disk_file::DiskFile;
use super::error::ChangeError;
use super::locked::Locked;
use super::options::IndexUpkeep;
use super::plan::Staged;
use super::policy::{PolicyAction, PolicyCase};
use super::refusal::ChangeRefusal;
use crate::entry::as_text;
use crate::entry::{LONGEST_MEMORY, MemoryEntry};
use crate::index::MemoryIndex;
use crate::kind::{MemoryType, Trust};
use crate::names::MemoryFile;

/// The index that an agent wants, corrected to what is allowed. Other authors may write anything.
pub(super) fn permitted(
    locked: &Locked<'_>,
    by: &ChangeOrigin,
    before: Option<&DiskFile>,
    staged: &Staged,
    wanted: String,
) -> Result<String, ChangeError> {
    if by.author.is_user() || by.author.is_sync() {
        return Ok(wanted);
    }
    check_text(&wanted)?;
    if by.trust() == Trust::Outside {
        return Err(ChangeRefusal::IndexFromOutside.into());
    }
    if staged.files.is_empty() {
        check_policy(locked, by)?;
    }
    let old = before.map(|current| as_text(&current.bytes)).unwrap_or_default();
    Ok(with_true_lines(locked, &MemoryIndex::parse(&old), MemoryIndex::parse(&wanted)))
}

fn check_text(wanted: &str) -> Result<(), ChangeRefusal> {
    if wanted.len() > LONGEST_MEMORY {
        return Err(ChangeRefusal::IndexTooLong);
    }
    let is_unprintable = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
    if wanted.contains(is_unprintable) {
        return Err(ChangeRefusal::IndexControlCharacters);
    }
    Ok(())
}

/// If a memory of any type would need confirmation, so does the index.
fn check_policy(locked: &Locked<'_>, by: &ChangeOrigin) -> Result<(), ChangeRefusal> {
    let policy = &locked.store.options.policy;
    let scope = locked.store.options.scope;
    let kinds = MemoryType::ALL.iter().copied().map(Some).chain([None]);
    let mut actions = kinds
        .map(|kind| policy.decide(&by.author, PolicyCase { kind, scope, over_user_memory: false }));
    if actions.any(|action| action > PolicyAction::Notify) {
        return Err(ChangeRefusal::IndexNeedsReview);
    }
    Ok(())
}

/// Removes new lines for quarantined memories and restores removed lines of existing ones.
fn with_true_lines(
    locked: &Locked<'_>,
    old: &MemoryIndex<'_>,
    mut wanted: MemoryIndex<'_>,
) -> String {
    let header = |file: &str| {
        let file = MemoryFile::existing(file).ok()?;
        let bytes = locked.files.read(file.path()).ok()??.bytes;
        Some(MemoryEntry::read(&bytes, bytes.len() as u64).header)
    };
    let added: Vec<String> = wanted
        .links()
        .map(|link| link.file)
        .filter(|file| old.find(file).is_none())
        .filter(|file| header(file).is_some_and(|header| header.quarantined))
        .collect();
    for file in added {
        wanted.remove(&file);
    }
    if locked.store.options.index == IndexUpkeep::Keep {
        let lost: Vec<_> = old
            .links()
            .filter(|link| wanted.find(&link.file).is_none())
            .filter(|link| header(&link.file).is_some_and(|header| !header.quarantined))
            .collect();
        for link in &lost {
            wanted.put(link);
        }
    }
    wanted.to_text()
}
