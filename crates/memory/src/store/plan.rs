//! The plan of a change, built under the lock: files are read, nothing is written.

use jiff::Timestamp;

use super::change_origin::ChangeOrigin;
use super::content::ContentHash;
use super::disk_file::DiskFile;
use super::error::ChangeError;
use super::locked::Locked;
use super::refusal::ChangeRefusal;
use crate::entry::{Header, MemoryEntry, NewMemory};
use crate::kind::Trust;
use crate::names::MemoryFile;
use crate::names::{fold, possible_files};
use dormouse_frontmatter::{self as frontmatter, FrontmatterEditError};

/// The state a file must have for a change to apply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expected {
    /// Any state.
    Anything,
    /// The file does not exist.
    Absent,
    /// The file exists, with any content.
    Present,
    /// The file has this content.
    Content(ContentHash),
}

/// A change being planned.
pub struct ChangePlan<'a> {
    locked: &'a Locked<'a>,
    by: &'a ChangeOrigin,
    staged: Staged,
}

/// The planned content of files and index.
#[derive(Debug, Default)]
pub(super) struct Staged {
    pub(super) files: Vec<StagedFile>,
    /// The text of the index, if the change writes it.
    pub(super) index: Option<String>,
    /// Renamed files: their index lines are kept.
    pub(super) renamed: Vec<(MemoryFile, MemoryFile)>,
}

#[derive(Debug)]
pub(super) struct StagedFile {
    pub(super) file: MemoryFile,
    pub(super) before: Option<DiskFile>,
    pub(super) after: Option<Vec<u8>>,
    pub(super) modified: Option<Timestamp>,
    /// The text was moved from another file.
    pub(super) moved: bool,
    /// The provenance of merged memories.
    pub(super) inherits: Option<Inherited>,
}

#[derive(Debug, Clone)]
pub(super) struct Inherited {
    pub(super) trust: Trust,
    pub(super) quarantined: bool,
    /// The source messages, as in the frontmatter.
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

    /// Time of the change.
    pub fn now(&self) -> Timestamp {
        self.locked.now
    }

    /// A memory as planned so far.
    pub fn read(&mut self, file: &MemoryFile) -> Result<Option<Vec<u8>>, ChangeError> {
        Ok(self.stage(file)?.after.clone())
    }

    /// Saves a new memory under a file name made from its name.
    pub fn save(&mut self, memory: &NewMemory) -> Result<MemoryFile, ChangeError> {
        let file = self.free_file(&memory.name)?;
        let text = memory
            .render(self.locked.now)
            .and_then(|text| self.locked.anchored(text))
            .map_err(|source| ChangeError::Frontmatter { file: file.clone(), source })?;
        self.write(&file, text.as_bytes(), &Expected::Absent)?;
        Ok(file)
    }

    /// The first possible file for a name that is neither taken nor planned.
    fn free_file(&self, name: &str) -> Result<MemoryFile, ChangeError> {
        let is_planned =
            |path: &str| self.staged.files.iter().any(|staged| fold(staged.file.as_str()) == path);
        let mut paths = possible_files(self.file_name(name));
        loop {
            let path = paths.next().unwrap_or_default();
            if !is_planned(&fold(&path)) && self.locked.files.names_like(None, &path)?.is_empty() {
                return Ok(MemoryFile::new(&path)?);
            }
        }
    }

    /// The text that a file name is made from: the memory's name, unless that looks like a secret. File names appear in
    /// errors, lists and logs.
    pub(crate) fn file_name<'n>(&self, name: &'n str) -> &'n str {
        if (self.locked.store.options.secrets)(name).is_empty() { name } else { "secret" }
    }

    /// Writes the whole text of a memory.
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

    /// Writes a text with an earlier modification time: it was imported or synced (M-9).
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

    /// Removes a memory; it can be restored (M-22).
    pub fn delete(&mut self, file: &MemoryFile, expected: &Expected) -> Result<(), ChangeError> {
        let staged = self.expect(file, expected)?;
        if staged.after.is_none() {
            return Err(ChangeError::Missing(file.clone()));
        }
        staged.after = None;
        Ok(())
    }

    /// Renames the file of a memory; its time and index line are kept.
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

    /// Merges several memories into one: the others are removed, the lowest trust is inherited, and merging quarantined
    /// memories with others is refused (M-17).
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

    /// The provenance that a memory inherits from itself and the memories it is made of: the lowest trust, all
    /// messages.
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

    /// Takes a memory out of quarantine; for the user only.
    pub fn confirm(&mut self, file: &MemoryFile) -> Result<(), ChangeError> {
        if !self.by.author.is_user() {
            return Err(ChangeError::UserOnly(file.clone()));
        }
        let staged = self.expect(file, &Expected::Present)?;
        let text =
            String::from_utf8_lossy(staged.after.as_deref().unwrap_or_default()).into_owned();
        let confirmed = frontmatter::remove(&text, "quarantined")
            .and_then(|text| frontmatter::set(&text, "trust", Trust::Typed.as_str()));
        staged.after = Some(edited(file, confirmed)?.into_bytes());
        Ok(())
    }

    /// Writes the index. Lines for the memories of this change are corrected afterwards.
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
            return Err(ChangeRefusal::IndexChanged.into());
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

/// The first words of a text, to describe a difference.
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
