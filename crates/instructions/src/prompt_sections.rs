//! Instruction files as sections of the prompt, within a number of characters.

use crate::instruction_file::{InstructionFile, InstructionKind, LoadReason};

/// Heading and text of each file, in order, with at most `most_characters` of text in total. When space is short,
/// managed files are kept first, then later files before earlier ones because they take precedence; a truncated text
/// ends with a note.
pub fn prompt_sections(
    loaded: &[InstructionFile],
    most_characters: usize,
) -> Vec<(String, String)> {
    let mut order: Vec<(usize, &InstructionFile)> = loaded.iter().enumerate().collect();
    order.sort_by_key(|(position, file)| {
        (file.kind != InstructionKind::Managed, std::cmp::Reverse(*position))
    });
    let mut room = most_characters;
    let mut sections: Vec<(usize, (String, String))> = Vec::with_capacity(loaded.len());
    for (position, file) in order {
        let text = truncate(file, &mut room);
        sections.push((position, (heading(file), text)));
    }
    sections.sort_by_key(|(position, _)| *position);
    sections.into_iter().map(|(_, section)| section).collect()
}

fn heading(file: &InstructionFile) -> String {
    let whose = match file.kind {
        InstructionKind::Managed => "Instructions for everybody on this machine",
        InstructionKind::User => "The user's own instructions, for every project",
        InstructionKind::Project => "Instructions of the project, kept with its code",
        InstructionKind::Local => "The user's own instructions for this project",
    };
    let path = one_line(&file.path);
    match (&file.parent, file.reason) {
        (Some(parent), _) => format!("{whose}: {path} (included by {})", one_line(parent)),
        (None, LoadReason::PathGlobMatch) => {
            let globs = file.globs.join(", ").replace(['\n', '\r'], " ");
            format!("{whose}: {path} (for files that match {globs})")
        }
        (None, _) => format!("{whose}: {path}"),
    }
}

/// A file name must not be able to imitate a heading.
fn one_line(path: &std::path::Path) -> String {
    dormouse_base::printable(&path.display().to_string()).replace('\n', "\u{fffd}")
}

/// Truncates the text to the remaining space, at a line break if possible.
fn truncate(file: &InstructionFile, room: &mut usize) -> String {
    let text = file.text.trim();
    let Some((end, _)) = text.char_indices().nth(*room) else {
        *room = room.saturating_sub(text.chars().count());
        return text.to_owned();
    };
    *room = 0;
    let kept = text.get(..end).unwrap_or_default();
    let kept = kept.rfind('\n').and_then(|newline| kept.get(..newline)).unwrap_or(kept);
    let left_out = text.chars().count() - kept.chars().count();
    let note = format!(
        "[{left_out} more characters were left out here for want of room; read {} for them]",
        one_line(&file.path)
    );
    if kept.is_empty() { note } else { format!("{kept}\n{note}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, kind: InstructionKind, text: &str) -> InstructionFile {
        InstructionFile {
            path: name.into(),
            kind,
            reason: LoadReason::SessionStart,
            parent: None,
            trigger: None,
            globs: Vec::new(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn all_files_in_order_while_they_fit() {
        let files = [
            file("/m", InstructionKind::Managed, "one\n"),
            file("/u", InstructionKind::User, "two"),
        ];
        let expected = [
            ("Instructions for everybody on this machine: /m".to_owned(), "one".to_owned()),
            ("The user's own instructions, for every project: /u".to_owned(), "two".to_owned()),
        ];
        assert_eq!(prompt_sections(&files, 6), expected);
    }

    #[test]
    fn files_with_precedence_keep_their_text() {
        let files = [
            file("/m", InstructionKind::Managed, "managed"),
            file("/u", InstructionKind::User, "first line\nsecond line"),
            file("/p", InstructionKind::Project, "project"),
        ];
        let texts: Vec<String> =
            prompt_sections(&files, 7 + 7 + 15).into_iter().map(|(_, text)| text).collect();
        assert_eq!(texts[0], "managed");
        assert_eq!(
            texts[1],
            "first line\n[12 more characters were left out here for want of room; read /u for them]"
        );
        assert_eq!(texts[2], "project");
        assert!(prompt_sections(&files, 0)[2].1.starts_with("[7 more characters"));
    }

    #[test]
    fn a_name_is_one_line() {
        let files = [file("/a\n# Heading", InstructionKind::Project, "x")];
        assert!(!prompt_sections(&files, 10)[0].0.contains('\n'));
    }
}
