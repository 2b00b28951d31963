//! Keeping the index in step with a change: lines for new memories, none for removed ones.

use super::disk_file::DiskFile;
use super::error::ChangeError;
use super::options::IndexUpkeep;
use super::plan::{Staged, StagedFile};
use crate::entry::MemoryEntry;
use crate::index::{IndexLink, MemoryIndex};
use crate::names::MemoryFile;

/// The index's text after a change; `None` if it is unchanged.
pub(super) fn updated(
    upkeep: IndexUpkeep,
    before: Option<&DiskFile>,
    staged: &Staged,
) -> Result<Option<String>, ChangeError> {
    let touches =
        staged.index.is_some() || (upkeep == IndexUpkeep::Keep && !staged.files.is_empty());
    if !touches {
        return Ok(None);
    }
    let old = match before {
        Some(current) => std::str::from_utf8(&current.bytes).map_err(|_| ChangeError::Index)?,
        None => "",
    };
    let mut index = MemoryIndex::parse(staged.index.as_deref().unwrap_or(old));
    if upkeep == IndexUpkeep::Keep {
        for (from, to) in &staged.renamed {
            index.relink(from.as_str(), to.as_str());
        }
        for file in &staged.files {
            keep(&mut index, file);
        }
    }
    let new = index.to_text();
    let said = staged.index.is_some() && before.is_none();
    Ok((new != old || said).then_some(new))
}

/// The line of the one new memory of a change: the most frequent change, which must not take longer in a long index. `None`
/// for any other change.
pub(super) fn new_line(upkeep: IndexUpkeep, staged: &Staged) -> Option<IndexLink> {
    let ([file], None, []) = (&staged.files[..], &staged.index, &staged.renamed[..]) else {
        return None;
    };
    let after = file.after.as_ref().filter(|_| file.before.is_none())?;
    let is_shown = !MemoryEntry::read(after, after.len() as u64).header.quarantined;
    (upkeep == IndexUpkeep::Keep && is_shown).then(|| link_to(&file.file, after))
}

/// A line changes only if the name or description did, so that a line edited by hand is kept.
fn keep(index: &mut MemoryIndex, staged: &StagedFile) {
    let file = staged.file.as_str();
    let Some(after) = &staged.after else {
        index.remove(file);
        return;
    };
    if MemoryEntry::read(after, after.len() as u64).header.quarantined {
        // A line would show text from outside in every session.
        index.remove(file);
        return;
    }
    let link = link_to(&staged.file, after);
    let same =
        staged.before.as_ref().is_some_and(|before| link_to(&staged.file, &before.bytes) == link);
    let has_line = index.find(file).is_some();
    let leave = has_line && (same || staged.before.is_none());
    if !leave {
        index.put(&link);
    }
}

/// The line for a memory, from its name and description.
pub(crate) fn link_to(file: &MemoryFile, bytes: &[u8]) -> IndexLink {
    let header = MemoryEntry::read(bytes, bytes.len() as u64).header;
    let name = header.name.as_deref().unwrap_or(file.stem());
    IndexLink::new(name, file.as_str(), header.description.as_deref().unwrap_or_default())
}

/// The index with lines for these files as they are; `None` if it is unchanged. For when the intended text is unknown.
pub(super) fn corrected<'a>(
    old: &str,
    files: impl Iterator<Item = (&'a MemoryFile, Option<Vec<u8>>)>,
) -> Option<String> {
    let mut index = MemoryIndex::parse(old);
    for (file, now) in files {
        match now {
            None => {
                index.remove(file.as_str());
            }
            Some(bytes)
                if index.find(file.as_str()).is_none()
                    && !MemoryEntry::read(&bytes, bytes.len() as u64).header.quarantined =>
            {
                index.put(&link_to(file, &bytes));
            }
            Some(_) => {}
        }
    }
    let new = index.to_text();
    (new != old).then_some(new)
}
