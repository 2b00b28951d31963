//! A change to memory as the result of a tool call reports it. The text is written for the model; it is parsed to find
//! out which memories a conversation has seen, because after a resume the result is all there is.

use std::fmt;

use dormouse_memory::{ChangeKind, INDEX, MemoryFile, Scope};

/// The files that a change has affected.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ChangeText {
    pub(crate) scope: Scope,
    /// Empty if only the index changed.
    pub(crate) files: Vec<(MemoryFile, ChangeKind)>,
}

impl ChangeText {
    /// Parses the text of a change; none for any other text.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (files, scope) = text.strip_suffix(" memory)")?.rsplit_once(" (")?;
        let scope = Scope::from_word(scope)?;
        if files == index_changed() {
            return Some(Self { scope, files: Vec::new() });
        }
        let files = files.split(", ").map(parse_file).collect::<Option<_>>()?;
        Some(Self { scope, files })
    }
}

impl fmt::Display for ChangeText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files: Vec<String> =
            self.files.iter().map(|(file, kind)| format!("{} {file}", verb(*kind))).collect();
        let files = if files.is_empty() { index_changed() } else { files.join(", ") };
        write!(f, "{files} ({} memory)", self.scope)
    }
}

fn index_changed() -> String {
    format!("{} {INDEX}", verb(ChangeKind::Changed))
}

fn verb(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Added => "saved",
        ChangeKind::Changed => "changed",
        ChangeKind::Removed => "removed",
    }
}

fn parse_file(text: &str) -> Option<(MemoryFile, ChangeKind)> {
    let (word, file) = text.split_once(' ')?;
    let kinds = [ChangeKind::Added, ChangeKind::Changed, ChangeKind::Removed];
    let kind = kinds.into_iter().find(|kind| verb(*kind) == word)?;
    Some((MemoryFile::existing(file).ok()?, kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_parsed_as_it_was_written() {
        let file = |name: &str| MemoryFile::existing(name).unwrap();
        let changes = [
            vec![(file("deploy.md"), ChangeKind::Added)],
            vec![(file("new.md"), ChangeKind::Added), (file("old.md"), ChangeKind::Removed)],
            Vec::new(),
        ];
        for files in changes {
            let change = ChangeText { scope: Scope::Team, files };
            assert_eq!(ChangeText::parse(&change.to_string()), Some(change));
        }
        assert_eq!(ChangeText::parse("not written yet: it is proposal 3"), None);
    }
}
