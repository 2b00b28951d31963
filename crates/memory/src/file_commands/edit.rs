//! The commands that change memories; each makes one change.

use super::command_writer::ChangeNotMade;
use super::directory::CommandDirectory;
use super::error::MemoryCommandError;
use super::path::{PathTarget, ToolPath};
use super::view::line;
use crate::names::MemoryFile;
use crate::store::{ChangeError, ContentHash, Expected};

/// Lines shown before and after a change.
const AROUND: usize = 2;

impl CommandDirectory<'_> {
    pub(super) fn create(&self, path: &ToolPath, text: &str) -> Result<String, MemoryCommandError> {
        if self.target(path).is_some() {
            return Err(MemoryCommandError::FileExists(path.written.clone()));
        }
        refuse_index(path)?;
        let file = path.file()?;
        let created = self
            .writer
            .change(text, "created", &|plan| plan.write(&file, text.as_bytes(), &Expected::Absent));
        created.map_err(|error| match error {
            ChangeNotMade::Refused(ChangeError::Exists { .. }) => {
                MemoryCommandError::FileExists(path.written.clone())
            }
            other => other.into(),
        })?;
        Ok(format!("File created successfully at: {}", path.written))
    }

    pub(super) fn replace(
        &self,
        path: &ToolPath,
        old: &str,
        new: &str,
    ) -> Result<String, MemoryCommandError> {
        let file = self.file(path, MemoryCommandError::NothingToReplaceIn)?;
        let (text, before) = self.text(&file)?;
        let number = |at: usize| text.split_at(at).0.matches('\n').count() + 1;
        let found: Vec<usize> = if old.is_empty() {
            Vec::new()
        } else {
            text.match_indices(old).map(|(at, _)| at).collect()
        };
        let at = match found.as_slice() {
            [at] => *at,
            [] => {
                let path = path.written.clone();
                return Err(MemoryCommandError::NoOccurrence { old: old.to_owned(), path });
            }
            several => {
                let lines: Vec<String> = several.iter().map(|at| number(*at).to_string()).collect();
                return Err(MemoryCommandError::SeveralOccurrences {
                    old: old.to_owned(),
                    lines: lines.join(", "),
                });
            }
        };
        let edited = text.replacen(old, new, 1);
        self.write(&file, before, &edited)?;
        let first = number(at).saturating_sub(AROUND + 1);
        let snippet: Vec<String> = edited
            .split('\n')
            .enumerate()
            .skip(first)
            .take(number(at) + AROUND - first)
            .map(|(at, text)| line(at + 1, text))
            .collect();
        Ok(format!(
            "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n{}",
            snippet.join("\n")
        ))
    }

    pub(super) fn insert(
        &self,
        path: &ToolPath,
        after: i64,
        text: &str,
    ) -> Result<String, MemoryCommandError> {
        let file = self.file(path, MemoryCommandError::Missing)?;
        let (old, before) = self.text(&file)?;
        let mut lines: Vec<&str> = old.split_inclusive('\n').collect();
        let at = usize::try_from(after)
            .ok()
            .filter(|at| *at <= lines.len())
            .ok_or(MemoryCommandError::InsertLine { line: after, last: lines.len() })?;
        let mut inserted = text.strip_suffix('\n').unwrap_or(text).to_owned() + "\n";
        // A last line without a newline gets one before the inserted text.
        if at == lines.len() && lines.last().is_some_and(|last| !last.ends_with('\n')) {
            inserted.insert(0, '\n');
        }
        lines.insert(at, &inserted);
        self.write(&file, before, &lines.concat())?;
        Ok(format!("The file {} has been edited.", path.written))
    }

    pub(super) fn delete(&self, path: &ToolPath) -> Result<String, MemoryCommandError> {
        if path.is_root() {
            return Err(MemoryCommandError::DeleteRoot);
        }
        refuse_index(path)?;
        let files = self.below(path)?;
        self.writer.change("", "removed", &|plan| {
            files.iter().try_for_each(|file| plan.delete(file, &Expected::Present))
        })?;
        Ok(format!("Successfully deleted {}", path.written))
    }

    pub(super) fn rename(
        &self,
        from: &ToolPath,
        to: &ToolPath,
    ) -> Result<String, MemoryCommandError> {
        if from.is_root() {
            return Err(MemoryCommandError::RenameRoot);
        }
        refuse_index(from)?;
        let files = self.below(from)?;
        let exists = || MemoryCommandError::DestinationExists(to.written.clone());
        if self.target(to).is_some() {
            return Err(exists());
        }
        refuse_index(to)?;
        let is_file = matches!(self.target(from), Some(PathTarget::File(_)));
        let mut moves = Vec::new();
        for file in files {
            let target = if is_file { to.file()? } else { from.moved(&file, to)? };
            moves.push((file, target));
        }
        let renamed = self.writer.change("", "renamed", &|plan| {
            moves.iter().try_for_each(|(from, to)| plan.rename(from, to, &Expected::Present))
        });
        renamed.map_err(|error| match error {
            ChangeNotMade::Refused(ChangeError::Exists { .. }) => exists(),
            other => other.into(),
        })?;
        Ok(format!("Successfully renamed {} to {}", from.written, to.written))
    }

    /// The memory at a path; `missing` is the error if there is none.
    fn file(
        &self,
        path: &ToolPath,
        missing: fn(String) -> MemoryCommandError,
    ) -> Result<MemoryFile, MemoryCommandError> {
        refuse_index(path)?;
        match self.target(path) {
            Some(PathTarget::File(file)) => Ok(file),
            Some(PathTarget::Root | PathTarget::Folder(_)) => {
                Err(MemoryCommandError::NotAFile(path.written.clone()))
            }
            Some(PathTarget::Index) | None => Err(missing(path.written.clone())),
        }
    }

    /// The memories at or below a path.
    fn below(&self, path: &ToolPath) -> Result<Vec<MemoryFile>, MemoryCommandError> {
        match self.target(path) {
            Some(PathTarget::File(file)) => Ok(vec![file]),
            Some(PathTarget::Folder(folder)) => {
                let prefix = format!("{folder}/");
                let files = self.scan.memories.iter().map(|memory| &memory.file);
                Ok(files.filter(|file| file.as_str().starts_with(&prefix)).cloned().collect())
            }
            Some(PathTarget::Root | PathTarget::Index) | None => {
                Err(MemoryCommandError::Missing(path.written.clone()))
            }
        }
    }

    /// Writes a file that was read before. The store adds the program's part of the frontmatter again.
    fn write(
        &self,
        file: &MemoryFile,
        before: ContentHash,
        text: &str,
    ) -> Result<(), MemoryCommandError> {
        let expected = Expected::Content(before);
        self.writer.change(text, "edited", &|plan| plan.write(file, text.as_bytes(), &expected))?;
        Ok(())
    }
}

/// Only the program changes the index.
fn refuse_index(path: &ToolPath) -> Result<(), MemoryCommandError> {
    if path.is_index() {
        return Err(MemoryCommandError::Index(path.written.clone()));
    }
    Ok(())
}
