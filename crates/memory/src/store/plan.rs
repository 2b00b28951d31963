//! What a change is to do, said under the lock: the files are read as they are, nothing is written yet.

use jiff::Timestamp;

use super::change_origin::ChangeOrigin;
use super::content::ContentHash;
use super::disk_file::DiskFile;
use super::error::ChangeError;
use super::locked::Locked;
use crate::entry::{Header, MemoryEntry, NewMemory};
use crate::kind::Trust;
use crate::names::MemoryFile;
use crate::names::{fold, unique_file};
use dormouse_frontmatter::{self as frontmatter, FrontmatterEditError};

/// What a file must be for a change to it to be right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expected {
    /// Whatever it is.
    Anything,
    /// Not there.
    Absent,
    /// There, whatever it says.
    Present,
    /// As it was when it was read.
    Content(ContentHash),
}

/// A change being put together.
pub struct ChangePlan<'a> {
    locked: &'a Locked<'a>,
    by: &'a ChangeOrigin,
    staged: Staged,
}

/// What was put together.
#[derive(Debug, Default)]
pub(super) struct Staged {
    pub(super) files: Vec<StagedFile>,
    /// The index's text, where the change says it itself.
    pub(super) index: Option<String>,
    /// Files that got another name: their index lines go with them.
    pub(super) renamed: Vec<(MemoryFile, MemoryFile)>,
}

#[derive(Debug)]
pub(super) struct StagedFile {
    pub(super) file: MemoryFile,
    pub(super) before: Option<DiskFile>,
    pub(super) after: Option<Vec<u8>>,
    pub(super) modified: Option<Timestamp>,
    /// It has the text of another file that it takes the place of.
    pub(super) moved: bool,
    /// The provenance it takes over from memories that were merged into it.
    pub(super) inherits: Option<Inherited>,
}

#[derive(Debug, Clone)]
pub(super) struct Inherited {
    pub(super) trust: Trust,
    pub(super) quarantined: bool,
    /// The messages that the words came from, as heads name them.
    pub(super) sources: Vec<String>,
}

impl Inherited {
    pub(super) fn of(header: &Header) -> Self {
        let (trust, quarantined) = (header.effective_trust(), header.quarantined);
        Self { trust, quarantined, sources: header.sources.clone() }
    }
}

impl<'a> ChangePlan<'a> {
    pub(super) fn new(locked: &'a Locked<'a>, by: &'a ChangeOrigin) -> Self {
        Self { locked, by, staged: Staged::default() }
    }

    pub(super) fn finish(self) -> Staged {
        self.staged
    }

    /// When the change is made.
    pub fn now(&self) -> Timestamp {
        self.locked.now
    }

    /// A memory as this change leaves it so far.
    pub fn read(&mut self, file: &MemoryFile) -> Result<Option<Vec<u8>>, ChangeError> {
        Ok(self.stage(file)?.after.clone())
    }

    /// Saves a new memory under a file name made from its name.
    pub fn save(&mut self, memory: &NewMemory) -> Result<MemoryFile, ChangeError> {
        let names = self.locked.files.names_in(None)?;
        let staged = &self.staged.files;
        let path = unique_file(self.file_name(&memory.name), |name| {
            names.iter().any(|known| fold(known) == name)
                || staged.iter().any(|staged| fold(staged.file.as_str()) == name)
        });
        let file = MemoryFile::new(&path)?;
        let text = memory
            .render(self.locked.now)
            .and_then(|text| self.locked.anchored(text))
            .map_err(|source| ChangeError::Frontmatter { file: file.clone(), source })?;
        self.write(&file, text.as_bytes(), &Expected::Absent)?;
        Ok(file)
    }

    /// What a file is called after: the memory's name, unless that looks like a secret. A file name stands in
    /// errors, lists and logs, where the value must not.
    pub(crate) fn file_name<'n>(&self, name: &'n str) -> &'n str {
        if (self.locked.store.options.secrets)(name).is_empty() { name } else { "secret" }
    }

    /// Writes a memory's whole text.
    pub fn write(
        &mut self,
        file: &MemoryFile,
        text: &[u8],
        expected: &Expected,
    ) -> Result<(), ChangeError> {
        let staged = self.expect(file, expected)?;
        staged.after = Some(text.to_owned());
        Ok(())
    }

    /// The same for text that last changed at another time: it was imported or pulled (M-9).
    pub fn write_as_of(
        &mut self,
        file: &MemoryFile,
        text: &[u8],
        expected: &Expected,
        modified: Timestamp,
    ) -> Result<(), ChangeError> {
        self.write(file, text, expected)?;
        self.stage(file)?.modified = Some(modified);
        Ok(())
    }

    /// Removes a memory; it stays restorable (M-22).
    pub fn delete(&mut self, file: &MemoryFile, expected: &Expected) -> Result<(), ChangeError> {
        let staged = self.expect(file, expected)?;
        if staged.after.is_none() {
            return Err(ChangeError::Missing(file.clone()));
        }
        staged.after = None;
        Ok(())
    }

    /// Gives a memory another file name; its time stays, its index line goes along.
    pub fn rename(
        &mut self,
        from: &MemoryFile,
        to: &MemoryFile,
        expected: &Expected,
    ) -> Result<(), ChangeError> {
        let staged = self.expect(from, expected)?;
        let modified = staged.modified.or(staged.before.as_ref().map(|current| current.modified));
        let Some(text) = staged.after.take() else {
            return Err(ChangeError::Missing(from.clone()));
        };
        self.write(to, &text, &Expected::Absent)?;
        let staged = self.stage(to)?;
        staged.modified = modified;
        staged.moved = true;
        self.staged.renamed.push((from.clone(), to.clone()));
        Ok(())
    }

    /// Puts several memories into one: the others are removed, the lowest trust is inherited, and a merge
    /// across the line of quarantine is refused (M-17).
    pub fn merge(
        &mut self,
        into: &MemoryFile,
        from: &[MemoryFile],
        text: &str,
    ) -> Result<(), ChangeError> {
        let inherits = self.inherited(into, from)?;
        for file in from.iter().filter(|file| *file != into) {
            self.stage(file)?.after = None;
        }
        let staged = self.stage(into)?;
        staged.after = Some(text.as_bytes().to_owned());
        staged.inherits = inherits;
        Ok(())
    }

    /// What a memory inherits from itself and others that it is made of: the lowest trust, all messages.
    pub(super) fn inherited(
        &mut self,
        into: &MemoryFile,
        from: &[MemoryFile],
    ) -> Result<Option<Inherited>, ChangeError> {
        let mut inherits: Option<Inherited> = None;
        for file in [into].into_iter().chain(from.iter().filter(|file| *file != into)) {
            let Some(bytes) = self.stage(file)?.after.clone() else {
                if file == into {
                    continue;
                }
                return Err(ChangeError::Missing(file.clone()));
            };
            let one = Inherited::of(&MemoryEntry::read(&bytes, bytes.len() as u64).header);
            inherits = match inherits {
                Some(known) if known.quarantined != one.quarantined => {
                    return Err(ChangeError::Quarantine(file.clone()));
                }
                Some(mut known) => {
                    known.sources.extend(one.sources);
                    Some(Inherited { trust: known.trust.min(one.trust), ..known })
                }
                None => Some(one),
            };
        }
        Ok(inherits)
    }

    /// The person takes a memory out of quarantine.
    pub fn confirm(&mut self, file: &MemoryFile) -> Result<(), ChangeError> {
        if !self.by.author.is_user() {
            return Err(ChangeError::PersonOnly(file.clone()));
        }
        let staged = self.expect(file, &Expected::Present)?;
        let text =
            String::from_utf8_lossy(staged.after.as_deref().unwrap_or_default()).into_owned();
        let confirmed = frontmatter::remove(&text, "quarantined")
            .and_then(|text| frontmatter::set(&text, "trust", Trust::Typed.as_str()));
        staged.after = Some(edited(file, confirmed)?.into_bytes());
        Ok(())
    }

    /// Writes the index as somebody wants it; lines for the memories of this change are seen to after it.
    pub fn write_index(&mut self, text: &str, expected: &Expected) -> Result<(), ChangeError> {
        let current = self.locked.files.read_index()?;
        let fits = match expected {
            Expected::Anything => true,
            Expected::Absent => current.is_none(),
            Expected::Present => current.is_some(),
            Expected::Content(hash) => {
                current.as_ref().is_some_and(|current| current.hash == *hash)
            }
        };
        if !fits {
            return Err(ChangeError::Refused(
                "MEMORY.md has changed since it was read; read it again".to_owned(),
            ));
        }
        self.staged.index = Some(text.to_owned());
        Ok(())
    }

    pub(super) fn expect(
        &mut self,
        file: &MemoryFile,
        expected: &Expected,
    ) -> Result<&mut StagedFile, ChangeError> {
        let scan = self.locked.store.options.secrets;
        let staged = self.stage(file)?;
        let now = staged.after.as_deref().map(ContentHash::of);
        match (expected, &now) {
            (Expected::Anything, _) | (Expected::Absent, None) | (Expected::Present, Some(_)) => {
                Ok(staged)
            }
            (Expected::Content(expected), Some(hash)) if expected == hash => Ok(staged),
            (Expected::Absent, Some(_)) => {
                Err(ChangeError::Exists { file: file.clone(), other: file.to_string() })
            }
            (Expected::Present, None) => Err(ChangeError::Missing(file.clone())),
            (Expected::Content(_), None) => {
                Err(ChangeError::Stale { file: file.clone(), what: "it is gone".to_owned(), now })
            }
            (Expected::Content(_), Some(_)) => {
                let what = match beginning(staged.after.as_deref()) {
                    words if scan(&words).is_empty() => format!("it now begins: {words}"),
                    _ => "its text is another".to_owned(),
                };
                Err(ChangeError::Stale { file: file.clone(), what, now })
            }
        }
    }

    pub(super) fn stage(&mut self, file: &MemoryFile) -> Result<&mut StagedFile, ChangeError> {
        let at = match self.staged.files.iter().position(|staged| staged.file == *file) {
            Some(at) => at,
            None => {
                let before = self.locked.files.read(file.path())?;
                let after = before.as_ref().map(|current| current.bytes.clone());
                let file = file.clone();
                self.staged.files.push(StagedFile {
                    file,
                    before,
                    after,
                    modified: None,
                    moved: false,
                    inherits: None,
                });
                self.staged.files.len() - 1
            }
        };
        self.staged.files.get_mut(at).ok_or_else(|| ChangeError::Missing(file.clone()))
    }
}

/// A few words of a text, for saying what changed.
fn beginning(bytes: Option<&[u8]>) -> String {
    let text = String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned();
    let body = frontmatter::parse(&text).body.trim_start();
    let words: String = body.chars().take(60).collect();
    dormouse_base::printable(&words).replace('\n', " ")
}

pub(super) fn edited(
    file: &MemoryFile,
    result: Result<String, FrontmatterEditError>,
) -> Result<String, ChangeError> {
    result.map_err(|source| ChangeError::Frontmatter { file: file.clone(), source })
}
