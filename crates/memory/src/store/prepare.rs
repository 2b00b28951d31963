//! The checks between a plan and its writing: guard, secrets, provenance, policy, index.

use jiff::Timestamp;

use super::change_id::ChangeId;
use super::change_origin::{ChangeAuthor, ChangeOrigin, Consent};
use super::disk_file::DiskFile;
use super::error::ChangeError;
use super::guard;
use super::index_lines;
use super::index_rules;
use super::journal::{Nature, RecordedChange, RecordedFileChange, Version};
use super::last_known;
use super::locked::Locked;
use super::long_index;
use super::plan::{Inherited, Staged, StagedFile, edited};
use super::policy::{PolicyAction, PolicyCase};
use super::prepared_change::{IndexEdit, PreparedChange};
use super::refusal::ChangeRefusal;
use crate::entry::stamp;
use crate::scan::scanned_header;
use dormouse_frontmatter as frontmatter;

use crate::entry::{Header, MemoryEntry};
use crate::kind::Trust;

/// Checks a plan; returns the change and what the policy does with it.
pub(super) fn prepare(
    locked: &Locked<'_>,
    by: &ChangeOrigin,
    mut staged: Staged,
) -> Result<(PreparedChange, PolicyAction), ChangeError> {
    staged.files.retain(is_change);
    guard::check(locked, by, &staged)?;
    for file in staged.files.iter_mut().filter(|file| !file.moved) {
        mark_provenance(locked, by, file)?;
    }
    let rule = decide(locked, by, &staged);
    let index = index_edit(locked, by, &mut staged)?;
    Ok((assemble(locked, by, staged, index), rule))
}

fn index_edit(
    locked: &Locked<'_>,
    by: &ChangeOrigin,
    staged: &mut Staged,
) -> Result<IndexEdit, ChangeError> {
    let upkeep = locked.store.options.index;
    if let Some(link) = index_lines::new_line(upkeep, staged)
        && let Some(extended) =
            long_index::extended(&locked.store.memory, &locked.store.state, &link)?
    {
        return Ok(IndexEdit::Extended(extended));
    }
    let before = locked.files.read_index()?;
    if let Some(wanted) = staged.index.take() {
        let index = index_rules::permitted(locked, by, before.as_ref(), staged, wanted)?;
        staged.index = Some(index);
    }
    let after = index_lines::updated(upkeep, before.as_ref(), staged)?;
    Ok(IndexEdit::rewritten(before, after))
}

fn is_change(staged: &StagedFile) -> bool {
    staged.before.as_ref().map(|current| current.bytes.as_slice()) != staged.after.as_deref()
}

/// Adds source and trust to the frontmatter of texts by agents (M-17). Texts by the user and by team sync stay as they
/// are, byte for byte; only the anchors of a memory that the user has edited are made again.
fn mark_provenance(
    locked: &Locked<'_>,
    by: &ChangeOrigin,
    staged: &mut StagedFile,
) -> Result<(), ChangeError> {
    if by.author.is_user() {
        return renew_anchors(locked, staged);
    }
    if by.author.is_sync() {
        return Ok(());
    }
    let Some(after) = &staged.after else { return Ok(()) };
    let Ok(text) = std::str::from_utf8(after) else {
        return Err(ChangeRefusal::NotUtf8(staged.file.clone()).into());
    };
    let header = MemoryEntry::from_text(text).header;
    guard::check_labels(&staged.file, &header)?;
    if let Some(kind) = header.kind
        && staged.inherits.is_none()
        && !matches!(by.author, ChangeAuthor::Client(_))
        && !by.may_write(Some(kind))
        && !by.is_concluded()
    {
        return Err(ChangeError::NeedsUserMessage(kind));
    }
    let before = staged.before.as_ref();
    let known =
        before.map(|current| MemoryEntry::read(&current.bytes, current.bytes.len() as u64).header);
    let provenance = provenance(by, staged, known.as_ref())?;
    let marked = marked(text, by, known.as_ref(), &provenance, before.map(|_| locked.now))
        .and_then(|text| locked.anchored(text));
    let marked = edited(&staged.file, marked)?.into_bytes();
    // Searches and lists read only the first lines: the quarantine must be visible there.
    if provenance.quarantined && !scanned_header(&marked).quarantined {
        return Err(ChangeRefusal::Unmarkable(staged.file.clone()).into());
    }
    staged.after = Some(marked);
    Ok(())
}

/// Makes the anchors of a memory again if the user has changed its text.
fn renew_anchors(locked: &Locked<'_>, staged: &mut StagedFile) -> Result<(), ChangeError> {
    let (Some(before), Some(after)) = (&staged.before, &staged.after) else { return Ok(()) };
    let had = MemoryEntry::read(&before.bytes, before.bytes.len() as u64).header.anchors;
    let Ok(text) = std::str::from_utf8(after) else { return Ok(()) };
    if had.is_empty() || before.bytes == *after {
        return Ok(());
    }
    let renewed = edited(&staged.file, locked.anchored(text.to_owned()))?;
    staged.after = Some(renewed.into_bytes());
    Ok(())
}

fn provenance(
    by: &ChangeOrigin,
    staged: &StagedFile,
    known: Option<&Header>,
) -> Result<Inherited, ChangeError> {
    let own =
        Inherited { trust: by.trust(), quarantined: by.is_only_outside(), sources: Vec::new() };
    let inherited = staged.inherits.clone().or_else(|| known.map(Inherited::of));
    let Some(inherited) = inherited else { return Ok(own) };
    // A merge without own messages keeps the inherited provenance.
    let merge_alone = staged.inherits.is_some() && by.sources.is_empty();
    if !merge_alone && inherited.quarantined != own.quarantined {
        return Err(ChangeError::Quarantine(staged.file.clone()));
    }
    let trust = if merge_alone { inherited.trust } else { inherited.trust.min(own.trust) };
    Ok(Inherited { trust, ..inherited })
}

fn marked(
    text: &str,
    by: &ChangeOrigin,
    known: Option<&Header>,
    provenance: &Inherited,
    modified: Option<Timestamp>,
) -> Result<String, frontmatter::FrontmatterEditError> {
    let mut sources = known.map(|header| header.sources.clone()).unwrap_or_default();
    let mut add = |source: String| {
        if !sources.contains(&source) {
            sources.push(source);
        }
    };
    provenance.sources.iter().cloned().for_each(&mut add);
    by.sources.iter().map(ToString::to_string).for_each(&mut add);
    if let ChangeAuthor::Client(_) = by.author {
        add(by.author.to_string());
    }
    let mut text = frontmatter::set(text, "trust", provenance.trust.as_str())?;
    if !sources.is_empty() {
        text = frontmatter::set_list(&text, "source", &sources)?;
    }
    if provenance.quarantined {
        text = frontmatter::set_first(&text, "quarantined", "true")?;
    } else {
        text = frontmatter::remove(&text, "quarantined")?;
    }
    // A pinned memory is shown in every session: only the user may pin one.
    if provenance.trust != Trust::Typed && !known.is_some_and(|header| header.pinned) {
        text = frontmatter::remove(&text, "pinned")?;
    }
    match modified {
        Some(modified) => frontmatter::set(&text, "modified", &stamp(modified)),
        None => Ok(text),
    }
}

/// The strictest action of all files.
fn decide(locked: &Locked<'_>, by: &ChangeOrigin, staged: &Staged) -> PolicyAction {
    if by.consent == Consent::Given {
        return PolicyAction::Auto;
    }
    let policy = &locked.store.options.policy;
    let mut strictest = PolicyAction::Auto;
    for file in &staged.files {
        let over_user_memory =
            file.before.as_ref().is_some_and(|before| is_users(locked, file, before));
        // The previous type counts too: a changed type must not bypass a rule.
        let before = file.before.as_ref().map(|current| current.bytes.as_slice());
        for bytes in before.into_iter().chain(file.after.as_deref()) {
            let kind = MemoryEntry::read(bytes, bytes.len() as u64).header.kind;
            let case = PolicyCase { kind, scope: locked.store.options.scope, over_user_memory };
            strictest = strictest.max(policy.decide(&by.author, case));
            if !by.may_write(kind) && by.is_concluded() {
                strictest = strictest.max(PolicyAction::Ask);
            }
        }
    }
    if staged.files.is_empty() && !by.author.is_user() {
        // The index alone cannot be proposed, and can always be rebuilt.
        strictest = policy.default.min(PolicyAction::Notify);
    }
    strictest
}

/// Whether the user wrote the current content of a memory.
fn is_users(locked: &Locked<'_>, staged: &StagedFile, before: &DiskFile) -> bool {
    match last_known::read(&locked.store.state, staged.file.as_str()) {
        Some(head) if head.hash.as_ref() == Some(&before.hash) => head.by_user,
        Some(_) | None => true,
    }
}

fn assemble(
    locked: &Locked<'_>,
    by: &ChangeOrigin,
    staged: Staged,
    index: IndexEdit,
) -> PreparedChange {
    let mut files = Vec::new();
    let mut before = Vec::new();
    for file in staged.files {
        let modified = file.modified.unwrap_or(locked.now);
        files.push(RecordedFileChange {
            file: file.file,
            before: file.before.as_ref().map(|current| current.hash.clone()),
            after: file.after.map(|bytes| Version::of(&bytes, modified)),
        });
        before.push(file.before);
    }
    let change = RecordedChange {
        id: ChangeId::default(),
        time: locked.now,
        nature: Nature::Made,
        author: by.author.clone(),
        reason: by.reason.clone(),
        sources: by.sources.clone(),
        undoes: None,
        part_of: by.part_of.clone(),
        files,
        index: index.change(),
    };
    PreparedChange { change, before, index }
}
