//! Instruction files as the model reads them: a heading and a text each, within a number of characters.

use super::{Kind, Loaded, Reason};

/// Headings and texts, in the order of the files, in at most so many characters of text. When there is too little
/// room, managed files come first and then the later before the earlier, because those weigh more; what is cut
/// says so.
pub fn parts(loaded: &[Loaded], most_characters: usize) -> Vec<(String, String)> {
    let mut order: Vec<(usize, &Loaded)> = loaded.iter().enumerate().collect();
    order.sort_by_key(|(place, file)| (file.kind != Kind::Managed, std::cmp::Reverse(*place)));
    let mut room = most_characters;
    let mut parts: Vec<(usize, (String, String))> = Vec::with_capacity(loaded.len());
    for (place, file) in order {
        let text = cut(file, &mut room);
        parts.push((place, (heading(file), text)));
    }
    parts.sort_by_key(|(place, _)| *place);
    parts.into_iter().map(|(_, part)| part).collect()
}

fn heading(file: &Loaded) -> String {
    let whose = match file.kind {
        Kind::Managed => "Instructions for everybody on this machine",
        Kind::User => "The person's own instructions, for every project",
        Kind::Project => "Instructions of the project, kept with its code",
        Kind::Local => "The person's own instructions for this project",
    };
    let path = one_line(&file.path);
    match (&file.parent, file.reason) {
        (Some(parent), _) => format!("{whose}: {path} (included by {})", one_line(parent)),
        (None, Reason::PathGlobMatch) => {
            let globs = file.globs.join(", ").replace(['\n', '\r'], " ");
            format!("{whose}: {path} (for files that match {globs})")
        }
        (None, _) => format!("{whose}: {path}"),
    }
}

/// A file's name must not look like a part of its own.
fn one_line(path: &std::path::Path) -> String {
    dormouse_base::printable(&path.display().to_string()).replace('\n', "\u{fffd}")
}

/// The text as far as there is room, cut at a line where there is one.
fn cut(file: &Loaded, room: &mut usize) -> String {
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

    fn file(name: &str, kind: Kind, text: &str) -> Loaded {
        Loaded {
            path: name.into(),
            kind,
            reason: Reason::SessionStart,
            parent: None,
            trigger: None,
            globs: Vec::new(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn all_in_their_order_while_there_is_room() {
        let files = [file("/m", Kind::Managed, "one\n"), file("/u", Kind::User, "two")];
        let expected = [
            ("Instructions for everybody on this machine: /m".to_owned(), "one".to_owned()),
            ("The person's own instructions, for every project: /u".to_owned(), "two".to_owned()),
        ];
        assert_eq!(parts(&files, 6), expected);
    }

    #[test]
    fn what_weighs_more_keeps_its_text() {
        let files = [
            file("/m", Kind::Managed, "managed"),
            file("/u", Kind::User, "first line\nsecond line"),
            file("/p", Kind::Project, "project"),
        ];
        let texts: Vec<String> =
            parts(&files, 7 + 7 + 15).into_iter().map(|(_, text)| text).collect();
        assert_eq!(texts[0], "managed");
        assert_eq!(
            texts[1],
            "first line\n[12 more characters were left out here for want of room; read /u for them]"
        );
        assert_eq!(texts[2], "project");
        assert!(parts(&files, 0)[2].1.starts_with("[7 more characters"));
    }

    #[test]
    fn a_name_is_one_line() {
        let files = [file("/a\n# Heading", Kind::Project, "x")];
        assert!(!parts(&files, 10)[0].0.contains('\n'));
    }
}
