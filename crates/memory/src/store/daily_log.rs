//! The daily log (M-20): in that mode an agent adds lines to a file a day, and entries are made of them later.
//!
//! Invariant: the log only grows, and every line says when it was written and how far its sources can be
//! trusted. It is its own history: nothing in it is ever changed, so there is nothing to undo.

use std::path::PathBuf;

use dormouse_base::{RelPath, SharedAppendFile};
use jiff::civil::DateTime;

use super::change_origin::{ChangeAuthor, ChangeOrigin};
use super::error::ChangeError;
use super::store::Store;
use crate::directories::daily_log;

/// A note is a sentence or two.
const LONGEST_NOTE: usize = 2_000;

impl Store {
    /// Adds a note to the log of a day, and says in which file. `at` is the person's own time.
    pub fn note(
        &self,
        by: &ChangeOrigin,
        text: &str,
        at: DateTime,
    ) -> Result<PathBuf, ChangeError> {
        let refused = |why: String| Err(ChangeError::Refused(why));
        let words: Vec<&str> = text.split_whitespace().collect();
        if words.is_empty() {
            return refused("the note is empty".to_owned());
        }
        let note = words.join(" ").replace("<!--", "<! --").replace("-->", "-- >");
        if note.chars().count() > LONGEST_NOTE {
            return refused(format!(
                "the note is longer than {LONGEST_NOTE} characters; say it in a sentence or two, or in several notes"
            ));
        }
        let secrets =
            if by.allows_secrets() { Vec::new() } else { (self.context.options.secrets)(&note) };
        if !secrets.is_empty() {
            let rules: Vec<&str> = secrets.into_iter().map(|found| found.rule).collect();
            return refused(format!(
                "the note looks like a secret ({}) and was not written; leave the value out",
                rules.join(", ")
            ));
        }
        let path = RelPath::new(daily_log(at.date()))
            .map_err(|error| ChangeError::Refused(error.to_string()))?;
        if let Some(folder) = path.parent() {
            self.context.memory.create_folder(&folder)?;
        }
        let mut file = SharedAppendFile::open(&self.context.memory, &path)?;
        let line = format!("- {} {note} <!-- {} -->", at.strftime("%H:%M"), origin(by));
        file.append(line.as_bytes())?;
        Ok(file.path().to_owned())
    }
}

/// How far the note can be trusted, and from which messages it is; where it is not the model's, whose.
fn origin(by: &ChangeOrigin) -> String {
    let mut parts = vec![by.trust().as_str().to_owned()];
    if by.author != ChangeAuthor::Model {
        parts.push(by.author.to_string());
    }
    parts.extend(by.sources.iter().map(ToString::to_string));
    parts.join(", ").replace("--", "- -")
}
