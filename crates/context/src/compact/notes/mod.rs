//! Session notes as text (B-13 to B-16): the template, the prompt of the run that keeps them, and what is
//! checked, warned of and cut.
//!
//! A section is a line `# Heading` and under it a line in italics that says what belongs there; both stay
//! as they are for as long as the notes live.

mod sections;
mod skip_reason;
#[cfg(test)]
mod tests;

use thiserror::Error;

use self::sections::section_starts;
pub use self::sections::{NotesSection, length_warning, notes_title, sections, truncate_notes};
pub use self::skip_reason::NotesSkipReason;

/// The notes of a session that has said nothing yet.
pub const TEMPLATE: &str = include_str!("template.md");

/// What the notes run is asked; `{{notesPath}}` and `{{currentNotes}}` are filled in.
pub const PROMPT: &str = include_str!("prompt.md");

/// Fills `{{name}}` places, in one pass: what is filled in stays as it is, whatever stands in it, and so
/// does a place that has no value.
pub fn fill(template: &str, variables: &[(&str, &str)]) -> String {
    let mut filled = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, inside)) = rest.split_once("{{") {
        filled.push_str(before);
        let value = inside.split_once("}}").and_then(|(name, after)| {
            let (_, value) = variables.iter().find(|(known, _)| *known == name.trim())?;
            Some((*value, after))
        });
        match value {
            Some((value, after)) => {
                filled.push_str(value);
                rest = after;
            }
            None => {
                filled.push_str("{{");
                rest = inside;
            }
        }
    }
    filled.push_str(rest);
    filled
}

/// A template, ours or the user's: the lines that have to stay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    text: String,
    fixed: Vec<String>,
}

/// Notes that lost a line of their template.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Damage {
    /// A heading or a line in italics is gone.
    #[error("the line `{0}` is missing from the notes")]
    Missing(String),
    /// It is there more than once.
    #[error("the line `{0}` stands in the notes more than once")]
    Repeated(String),
    /// It is not where the template has it.
    #[error("the line `{0}` is not in its place in the notes")]
    Moved(String),
}

impl Template {
    /// Reads a template.
    pub fn parse(text: &str) -> Self {
        let fixed = section_starts(text)
            .into_iter()
            .flat_map(|start| [Some(start.heading), start.about])
            .flatten()
            .map(str::to_owned)
            .collect();
        Self { text: text.to_owned(), fixed }
    }

    /// Its text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether all headings and lines in italics are there, in their order, each once.
    pub fn check(&self, notes: &str) -> Result<(), Damage> {
        let found: Vec<&str> = notes
            .lines()
            .map(str::trim_end)
            .filter(|line| self.fixed.iter().any(|fixed| fixed == line))
            .collect();
        for line in &self.fixed {
            match found.iter().filter(|found| *found == line).count() {
                0 => return Err(Damage::Missing(line.clone())),
                1 => {}
                _ => return Err(Damage::Repeated(line.clone())),
            }
        }
        match self.fixed.iter().zip(&found).find(|(fixed, found)| fixed != *found) {
            Some((fixed, _)) => Err(Damage::Moved(fixed.clone())),
            None => Ok(()),
        }
    }

    /// Whether nothing was written yet: the template, whitespace aside.
    pub fn says_nothing(&self, notes: &str) -> bool {
        notes.split_whitespace().eq(self.text.split_whitespace())
    }
}
