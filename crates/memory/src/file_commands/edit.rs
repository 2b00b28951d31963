//! The commands that change something: each one change through the store's door.

use super::view::line;
use super::{CommandPath, Directory, NotMade, ToolPath};
use crate::names::MemoryFile;
use crate::store::{ChangeError, ContentHash, Expected};

/// Lines before and behind a change that are shown with it.
const AROUND: usize = 2;

impl Directory<'_> {
    pub(super) fn create(&self, path: &ToolPath, text: &str) -> Result<String, String> {
        if self.spot(path).is_some() {
            return Err(format!("Error: File {} already exists", path.written));
        }
        refuse_index(path)?;
        let file = path.file()?;
        let created = self
            .hand
            .change(text, "created", &|plan| plan.write(&file, text.as_bytes(), &Expected::Absent));
        created.map_err(|error| match error {
            NotMade::Refused(ChangeError::Exists { .. }) => {
                format!("Error: File {} already exists", path.written)
            }
            other => format!("Error: {other}"),
        })?;
        Ok(format!("File created successfully at: {}", path.written))
    }

    pub(super) fn replace(&self, path: &ToolPath, old: &str, new: &str) -> Result<String, String> {
        let missing = || {
            format!("Error: The path {} does not exist. Please provide a valid path.", path.written)
        };
        let file = self.file(path, missing)?;
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
                return Err(format!(
                    "No replacement was performed, old_str `{old}` did not appear verbatim in {}.",
                    path.written
                ));
            }
            several => {
                let lines: Vec<String> = several.iter().map(|at| number(*at).to_string()).collect();
                return Err(format!(
                    "No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {}. Please ensure it is unique",
                    lines.join(", ")
                ));
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

    pub(super) fn insert(&self, path: &ToolPath, after: i64, text: &str) -> Result<String, String> {
        let missing = || format!("Error: The path {} does not exist", path.written);
        let file = self.file(path, missing)?;
        let (old, before) = self.text(&file)?;
        let mut lines: Vec<&str> = old.split_inclusive('\n').collect();
        let at = usize::try_from(after).ok().filter(|at| *at <= lines.len()).ok_or_else(|| {
            format!(
                "Error: Invalid `insert_line` parameter: {after}. It should be within the range of lines of the file: [0, {}]",
                lines.len()
            )
        })?;
        let mut inserted = text.strip_suffix('\n').unwrap_or(text).to_owned() + "\n";
        // A last line without its end gets one before something follows it.
        if at == lines.len() && lines.last().is_some_and(|last| !last.ends_with('\n')) {
            inserted.insert(0, '\n');
        }
        lines.insert(at, &inserted);
        self.write(&file, before, &lines.concat())?;
        Ok(format!("The file {} has been edited.", path.written))
    }

    pub(super) fn delete(&self, path: &ToolPath) -> Result<String, String> {
        if path.is_root() {
            return Err("Cannot delete the /memories directory itself".to_owned());
        }
        refuse_index(path)?;
        let files = self.below(path)?;
        let removed = self.hand.change("", "removed", &|plan| {
            files.iter().try_for_each(|file| plan.delete(file, &Expected::Present))
        });
        removed.map_err(|error| format!("Error: {error}"))?;
        Ok(format!("Successfully deleted {}", path.written))
    }

    pub(super) fn rename(&self, from: &ToolPath, to: &ToolPath) -> Result<String, String> {
        if from.is_root() {
            return Err("Cannot rename the /memories directory itself".to_owned());
        }
        refuse_index(from)?;
        let files = self.below(from)?;
        let taken = || format!("Error: The destination {} already exists", to.written);
        if self.spot(to).is_some() {
            return Err(taken());
        }
        refuse_index(to)?;
        let is_file = matches!(self.spot(from), Some(CommandPath::File(_)));
        let mut moves = Vec::new();
        for file in files {
            let target = if is_file { to.file()? } else { from.moved(&file, to)? };
            moves.push((file, target));
        }
        let renamed = self.hand.change("", "renamed", &|plan| {
            moves.iter().try_for_each(|(from, to)| plan.rename(from, to, &Expected::Present))
        });
        renamed.map_err(|error| match error {
            NotMade::Refused(ChangeError::Exists { .. }) => taken(),
            other => format!("Error: {other}"),
        })?;
        Ok(format!("Successfully renamed {} to {}", from.written, to.written))
    }

    /// The memory at a path.
    fn file(&self, path: &ToolPath, missing: impl Fn() -> String) -> Result<MemoryFile, String> {
        refuse_index(path)?;
        match self.spot(path) {
            Some(CommandPath::File(file)) => Ok(file),
            Some(CommandPath::Root | CommandPath::Folder(_)) => {
                Err(format!("Error: The path {} is not a file.", path.written))
            }
            Some(CommandPath::Index) | None => Err(missing()),
        }
    }

    /// The memories at or below a path.
    fn below(&self, path: &ToolPath) -> Result<Vec<MemoryFile>, String> {
        match self.spot(path) {
            Some(CommandPath::File(file)) => Ok(vec![file]),
            Some(CommandPath::Folder(folder)) => {
                let prefix = format!("{folder}/");
                let files = self.scan.memories.iter().map(|memory| &memory.file);
                Ok(files.filter(|file| file.as_str().starts_with(&prefix)).cloned().collect())
            }
            Some(CommandPath::Root | CommandPath::Index) | None => {
                Err(format!("Error: The path {} does not exist", path.written))
            }
        }
    }

    /// Writes a file that was read before; what the program keeps in its head comes back by itself.
    fn write(&self, file: &MemoryFile, before: ContentHash, text: &str) -> Result<(), String> {
        let expected = Expected::Content(before);
        let edited =
            self.hand.change(text, "edited", &|plan| plan.write(file, text.as_bytes(), &expected));
        edited.map_err(|error| format!("Error: {error}"))
    }
}

/// The index has a line for each memory, and the program keeps it.
fn refuse_index(path: &ToolPath) -> Result<(), String> {
    if path.is_index() {
        return Err(format!(
            "Error: {} is the index, which is kept for you; change the memories themselves",
            path.written
        ));
    }
    Ok(())
}
