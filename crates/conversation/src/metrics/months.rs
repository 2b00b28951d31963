//! The log's files: one a month, named by it.

use dormouse_base::{Dir, EntryKind, FileError, RelPath};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};

/// Files of this many months are kept, the current one included.
const KEPT_MONTHS: i32 = 12;

/// A month of the UTC calendar, as `2026-11`: sorted by time.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Month(String);

impl Month {
    pub(super) fn of(moment: Timestamp) -> Self {
        Self(moment.strftime("%Y-%m").to_string())
    }

    /// The oldest month that is still kept at a moment.
    fn oldest_kept(now: Timestamp) -> Self {
        let first = now.to_zoned(TimeZone::UTC).date().first_of_month();
        let oldest = first.saturating_sub(Span::new().months(KEPT_MONTHS - 1));
        Self(oldest.strftime("%Y-%m").to_string())
    }

    fn of_file(name: &str) -> Option<Self> {
        let month = name.strip_suffix(".jsonl")?;
        let plain =
            |(place, c): (usize, char)| if place == 4 { c == '-' } else { c.is_ascii_digit() };
        (month.len() == 7 && month.chars().enumerate().all(plain)).then(|| Self(month.to_owned()))
    }

    /// Its file.
    #[expect(clippy::expect_used, reason = "digits and a fixed ending are a plain file name")]
    pub(super) fn file(&self) -> RelPath {
        RelPath::new(format!("{}.jsonl", self.0)).expect("a plain name")
    }
}

/// The months that there are files of, oldest first.
pub(super) fn months(dir: &Dir) -> Result<Vec<Month>, FileError> {
    let entries = dir.entries()?.into_iter().filter(|entry| entry.kind == EntryKind::File);
    let mut months: Vec<Month> = entries.filter_map(|entry| Month::of_file(&entry.name)).collect();
    months.sort();
    Ok(months)
}

/// Removes what is older than is kept.
pub(super) fn remove_old(dir: &Dir, now: Timestamp) -> Result<(), FileError> {
    let oldest = Month::oldest_kept(now);
    for month in months(dir)?.into_iter().filter(|month| *month < oldest) {
        // One that stays is tried again next month: no reason to lose the figure that waits.
        let _stays = dir.remove_file(&month.file());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_ages() {
        let now: Timestamp = "2026-01-31T23:59:59Z".parse().unwrap();
        assert_eq!(Month::of(now).file().to_string(), "2026-01.jsonl");
        assert_eq!(Month::oldest_kept(now), Month("2025-02".to_owned()));
        assert_eq!(Month::of_file("2026-01.jsonl"), Some(Month("2026-01".to_owned())));
        for other in ["2026-1.jsonl", "2026-01.json", "notes.jsonl", "2026-01.jsonl.jsonl"] {
            assert_eq!(Month::of_file(other), None, "{other}");
        }
    }
}
