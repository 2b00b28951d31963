//! The daily log (M-20): in this mode agents append lines to one file per day, and memories are made from them later.
//!
//! Invariant: the log only grows, and every line has a time and the trust of its sources. It needs no history: nothing
//! in it is ever changed.

use std::path::PathBuf;

use dormouse_base::{RelPath, SharedAppendFile};
use jiff::civil::DateTime;

use super::change_origin::{ChangeAuthor, ChangeOrigin};
use super::error::ChangeError;
use super::refusal::ChangeRefusal;
use super::store::Store;
use crate::directories::daily_log;

/// Maximum length of a note.
const LONGEST_NOTE: usize = 2_000;

impl Store {
    /// Appends a note to the log of a day; returns the file. `at` is the user's local time.
    pub fn note(
        &self,
        by: &ChangeOrigin,
        text: &str,
        at: DateTime,
    ) -> Result<PathBuf, ChangeError> {
        let words: Vec<&str> = text.split_whitespace().collect();
        if words.is_empty() {
            return Err(ChangeRefusal::EmptyNote.into());
        }
        let note = words.join(" ").replace("<!--", "<! --").replace("-->", "-- >");
        if note.chars().count() > LONGEST_NOTE {
            return Err(ChangeRefusal::LongNote(LONGEST_NOTE).into());
        }
        let secrets =
            if by.allows_secrets() { Vec::new() } else { (self.context.options.secrets)(&note) };
        if !secrets.is_empty() {
            let rules: Vec<&str> = secrets.into_iter().map(|found| found.rule).collect();
            return Err(ChangeRefusal::SecretInNote(rules.join(", ")).into());
        }
        let path = RelPath::new(daily_log(at.date())).map_err(ChangeRefusal::from)?;
        if let Some(folder) = path.parent() {
            self.context.memory.create_folder(&folder)?;
        }
        let mut file = SharedAppendFile::open(&self.context.memory, &path)?;
        let line = format!("- {} {note} <!-- {} -->", at.strftime("%H:%M"), origin(by));
        file.append(line.as_bytes())?;
        Ok(file.path().to_owned())
    }
}

/// The trust of a note, its source messages, and its author if that is not the model.
fn origin(by: &ChangeOrigin) -> String {
    let mut parts = vec![by.trust().as_str().to_owned()];
    if by.author != ChangeAuthor::Model {
        parts.push(by.author.to_string());
    }
    parts.extend(by.sources.iter().map(ToString::to_string));
    parts.join(", ").replace("--", "- -")
}
