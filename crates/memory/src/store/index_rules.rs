//! What an agent may write into the index itself: the index is shown in every session, has no source messages of its
//! own, and cannot wait in the inbox.
//!
//! Invariants: nothing from outside and nothing about a quarantined memory gets in (M-17), and no existing memory loses
//! its line (M-5).

use super::change_origin::{ChangeAuthor, ChangeOrigin};
use super::disk_file::DiskFile;
use super::error::ChangeError;
use super::locked::Locked;
use super::options::IndexUpkeep;
use super::plan::Staged;
use super::policy::{PolicyAction, PolicyCase};
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
    if by.author.is_user() || by.author == ChangeAuthor::Sync {
        return Ok(wanted);
    }
    check_text(&wanted)?;
    check_source(by)?;
    if staged.files.is_empty() {
        check_policy(locked, by)?;
    }
    let old = before.map(|current| as_text(&current.bytes)).unwrap_or_default();
    Ok(with_true_lines(locked, &MemoryIndex::parse(&old), MemoryIndex::parse(&wanted)))
}

fn check_text(wanted: &str) -> Result<(), ChangeError> {
    if wanted.len() > LONGEST_MEMORY {
        return refuse("it is too long; what belongs into a memory goes there");
    }
    let odd = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
    if wanted.contains(odd) {
        return refuse("it contains control characters; leave them out");
    }
    Ok(())
}

fn check_source(by: &ChangeOrigin) -> Result<(), ChangeError> {
    if by.trust() == Trust::Outside {
        return refuse(
            "it would show text from outside (the web, another server) to every session; save that as a memory, \
             which the person can look at first",
        );
    }
    Ok(())
}

/// If a memory of any type would need confirmation, so does the index.
fn check_policy(locked: &Locked<'_>, by: &ChangeOrigin) -> Result<(), ChangeError> {
    let (policy, scope) = (&locked.store.options.policy, locked.store.options.scope);
    let kinds = MemoryType::ALL.iter().copied().map(Some).chain([None]);
    let mut rules = kinds
        .map(|kind| policy.decide(&by.author, PolicyCase { kind, scope, over_a_person: false }));
    if rules.any(|rule| rule > PolicyAction::Notify) {
        return refuse(
            "the person wants to see changes of memory first; its lines are kept by the program: change a memory's \
             description instead",
        );
    }
    Ok(())
}

fn refuse(why: &str) -> Result<(), ChangeError> {
    Err(ChangeError::Refused(format!("MEMORY.md was not changed: {why}")))
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
