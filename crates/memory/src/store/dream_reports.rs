//! Reports of dreams, kept in the state folder.

use dormouse_base::FileError;

use super::dream_records::DreamRecords;
use super::fixed_path::name;

const FOLDER: &str = "dreams";
/// Number of reports to keep.
const KEPT: usize = 48;

impl DreamRecords<'_> {
    /// Keeps the report of a dream and removes the oldest ones. Ids sort by time.
    pub fn save_report(&self, id: &str, report: &[u8]) -> Result<(), FileError> {
        self.store.state.replace(&name(&format!("{FOLDER}/{id}.json")), report)?;
        let mut names = self.dream_names()?;
        names.truncate(names.len().saturating_sub(KEPT));
        for old in names {
            self.store.state.remove_file(&name(&format!("{FOLDER}/{old}")))?;
        }
        Ok(())
    }

    /// The kept reports, newest first.
    pub fn reports(&self) -> Result<Vec<Vec<u8>>, FileError> {
        let names = self.dream_names()?.into_iter().rev();
        names.map(|file| self.store.state.read(&name(&format!("{FOLDER}/{file}")))).collect()
    }

    /// File names of the reports, oldest first.
    fn dream_names(&self) -> Result<Vec<String>, FileError> {
        let mut names = match self.store.state.open_folder(&name(FOLDER)) {
            Ok(folder) => folder.names()?,
            Err(error) if error.is_not_found() => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        names.retain(|name| name.strip_suffix(".json").is_some());
        names.sort();
        Ok(names)
    }
}
