//! What no change may do, whatever the policy: unsafe or foreign names, binary content, secrets.

use super::change_origin::{ChangeAuthor, ChangeOrigin};
use super::error::ChangeError;
use super::locked::Locked;
use super::plan::{Staged, StagedFile};
use super::refusal::ChangeRefusal;
use crate::entry::{Header, LONGEST_MEMORY};
use crate::entry::{one_line, plain_line};
use crate::names::MemoryFile;
use crate::names::fold;

/// Checks every file of a change.
pub(super) fn check(
    locked: &Locked<'_>,
    by: &ChangeOrigin,
    staged: &Staged,
) -> Result<(), ChangeError> {
    for file in &staged.files {
        check_guard(locked, file, &staged.files)?;
        check_text(by, file)?;
    }
    check_secrets(locked, by, staged)
}

/// A new memory needs a name that is safe everywhere and not taken; none may be too long (M-13).
fn check_guard(
    locked: &Locked<'_>,
    staged: &StagedFile,
    all: &[StagedFile],
) -> Result<(), ChangeError> {
    let Some(after) = &staged.after else { return Ok(()) };
    if after.len() > LONGEST_MEMORY {
        return Err(ChangeError::TooLong(staged.file.clone()));
    }
    if staged.before.is_some() {
        return Ok(());
    }
    let file = MemoryFile::new(staged.file.as_str())?;
    if is_excluded(&file, &locked.store.options.excluded_folders) {
        return Err(ChangeRefusal::OtherScope(file).into());
    }
    let leaves = |name: &str| {
        all.iter().any(|other| {
            other.after.is_none()
                && other.file.name() == name
                && other.file.folder() == file.folder()
        })
    };
    let names = locked.files.names_like(file.path().parent().as_ref(), file.name())?;
    let is_taken = |other: &String| other != file.name() && !leaves(other);
    match names.into_iter().find(is_taken) {
        Some(other) => Err(ChangeError::Exists { other, file }),
        None => Ok(()),
    }
}

/// A memory with a NUL byte is binary for every reader: it would be missing in lists, and its frontmatter ignored.
/// Files that were binary before are accepted and reported by `doctor`.
fn check_text(by: &ChangeOrigin, staged: &StagedFile) -> Result<(), ChangeError> {
    let binary = |bytes: &[u8]| bytes.contains(&0);
    if by.author == ChangeAuthor::Import
        || by.author.is_sync()
        || !staged.after.as_deref().is_some_and(binary)
        || staged.before.as_ref().is_some_and(|before| binary(&before.bytes))
    {
        return Ok(());
    }
    Err(ChangeRefusal::Binary(staged.file.clone()).into())
}

/// Whether a file is in a folder of another store, where it would not be found as one of ours.
pub(crate) fn is_excluded(file: &MemoryFile, excluded: &[String]) -> bool {
    let first = file.as_str().split_once('/').map(|(first, _)| fold(first));
    first.is_some_and(|first| excluded.iter().any(|folder| fold(folder) == first))
}

/// Refuses text that looks like a secret: always for agents, and for the user unless confirmed (M-16). Lines that were
/// there before are not the author's.
fn check_secrets(
    locked: &Locked<'_>,
    by: &ChangeOrigin,
    staged: &Staged,
) -> Result<(), ChangeError> {
    if by.allows_secrets() {
        return Ok(());
    }
    let scan = locked.store.options.secrets;
    let mut found = Vec::new();
    for file in &staged.files {
        let name_found = scan(file.file.as_str());
        if let (None, Some(finding)) = (&file.before, name_found.first()) {
            return Err(ChangeRefusal::SecretFileName(finding.rule).into());
        }
        let text = String::from_utf8_lossy(file.after.as_deref().unwrap_or_default());
        let before =
            file.before.as_ref().map(|current| current.bytes.as_slice()).unwrap_or_default();
        let before = String::from_utf8_lossy(before);
        let is_new = |line: usize| {
            let line = text.lines().nth(line.saturating_sub(1)).unwrap_or_default();
            line.is_empty() || !before.lines().any(|known| known == line)
        };
        let findings = scan(&text).into_iter().filter(|finding| is_new(finding.line));
        found.extend(findings.map(|finding| (file.file.clone(), finding)));
    }
    if !found.is_empty() {
        return Err(ChangeError::Secrets(found));
    }
    let elsewhere = [staged.index.as_deref().unwrap_or_default(), by.reason.as_str()];
    if by.author.is_user() || elsewhere.iter().all(|text| scan(text).is_empty()) {
        return Ok(());
    }
    let rules: Vec<&str> =
        elsewhere.iter().flat_map(|text| scan(text)).map(|finding| finding.rule).collect();
    Err(ChangeRefusal::SecretInIndexOrReason(rules.join(", ")).into())
}

/// Names and descriptions are shown in every list: those by agents must be short and printable.
pub(super) fn check_labels(file: &MemoryFile, header: &Header) -> Result<(), ChangeError> {
    let labels = [("name", &header.name, 200), ("description", &header.description, 1_000)];
    for (label, text, limit) in labels {
        let text = text.as_deref().unwrap_or_default();
        let file = || file.clone();
        if text.chars().count() > limit {
            return Err(ChangeRefusal::LongLabel { label, file: file(), limit }.into());
        }
        if plain_line(text) != one_line(text) {
            return Err(ChangeRefusal::UnprintableLabel { label, file: file() }.into());
        }
    }
    Ok(())
}
