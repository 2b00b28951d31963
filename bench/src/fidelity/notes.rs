//! Notes as a careless writer would keep them: every third sentence of what the model said, in the
//! template's sections by a simple rule, the newest first.

use std::sync::Arc;

use dormouse_context::compact::notes::TEMPLATE;
use dormouse_context::compact::{IdentifierKind, identifiers};
use dormouse_conversation::{Message, Role};

/// Of so many sentences one is kept.
const KEPT_OF: usize = 3;
/// The newest of them are the current state.
const CURRENT: usize = 10;

/// The notes.
pub(crate) fn scripted(messages: &[Arc<Message>]) -> String {
    let said: Vec<String> = messages
        .iter()
        .filter(|message| message.role == Role::Assistant)
        .map(|message| message.text())
        .collect();
    let sentences: Vec<&str> = said
        .iter()
        .flat_map(|text| text.split_inclusive(['.', '\n']))
        .map(str::trim)
        .filter(|sentence| sentence.len() > 3)
        .collect();
    let kept: Vec<&str> = sentences.into_iter().rev().step_by(KEPT_OF).collect();
    let mut notes = TEMPLATE.to_owned();
    for (place, sentence) in kept.into_iter().enumerate().rev() {
        notes = noted(&notes, section(place, sentence), sentence);
    }
    notes
}

fn section(place: usize, sentence: &str) -> &'static str {
    let names = identifiers(sentence);
    let has = |kind| names.iter().any(|name| name.kind == kind);
    match () {
        () if place < CURRENT => "# Current State\n",
        () if has(IdentifierKind::Error) => "# Errors & Corrections\n",
        () if has(IdentifierKind::Path) => "# Files and Functions\n",
        () if has(IdentifierKind::Identifier) => "# Codebase and System Documentation\n",
        () => "# Worklog\n",
    }
}

/// The notes with a line more at the top of a section, below its line in italics.
fn noted(notes: &str, section: &str, line: &str) -> String {
    let Some((before, after)) = notes.split_once(section) else { return notes.to_owned() };
    let (about, rest) = after.split_once('\n').unwrap_or((after, ""));
    format!("{before}{section}{about}\n- {line}\n{rest}")
}
