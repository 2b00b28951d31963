//! The kinds of lines that are written: `docs/transcript.md` describes each.

/// The `type` of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RecordKind {
    User,
    Assistant,
    /// A compaction, or messages that were dropped; `subtype` says which.
    System,
    Prefix,
    Facts,
    /// The blocks that are sent for stored results.
    StoredResult,
    /// Messages whose thinking is no longer sent.
    ThinkingDropped,
    /// What the server cleared by itself before it answered.
    ServerClearing,
    /// Withdraws the lines of a message.
    Withdrawn,
    /// What compaction remembers.
    CompactionRecord,
    Skill,
    Rewind,
    TornLine,
}

impl RecordKind {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::System => "system",
            Self::Prefix => "prefix",
            Self::Facts => "facts",
            Self::StoredResult => "stored-result",
            Self::ThinkingDropped => "thinking-dropped",
            Self::ServerClearing => "server-clearing",
            Self::Withdrawn => "withdrawn",
            Self::CompactionRecord => "compaction-record",
            Self::Skill => "skill",
            Self::Rewind => "rewind",
            Self::TornLine => "torn-line",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RecordKind::*;
    use super::*;
    use std::collections::BTreeSet;

    const ALL: [RecordKind; 13] = [
        User,
        Assistant,
        System,
        Prefix,
        Facts,
        StoredResult,
        ThinkingDropped,
        ServerClearing,
        Withdrawn,
        CompactionRecord,
        Skill,
        Rewind,
        TornLine,
    ];

    #[test]
    fn the_documentation_describes_each_kind_and_no_other() {
        assert_eq!(ALL.len(), TornLine as usize + 1, "a kind is missing from the list");
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/transcript.md");
        let page = std::fs::read_to_string(page).unwrap();
        let (_, own) = page.split_once("Lines of our own:").unwrap();
        let rows = own.lines().skip_while(|line| !line.starts_with("| ---")).skip(1);
        let described: BTreeSet<&str> = rows
            .take_while(|line| line.starts_with('|'))
            .filter_map(|line| line.split('`').nth(1))
            .collect();
        let written = ALL.into_iter().filter(|kind| !matches!(kind, User | Assistant));
        assert_eq!(described, written.map(RecordKind::name).collect());
        assert!(page.contains("| `type` | `user`, `assistant`, or one of our own below |"));
    }
}
