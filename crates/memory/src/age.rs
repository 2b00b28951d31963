//! The age of a memory, in words for the model (M-9).
//!
//! The words are computed once, when a memory is shown, and stay with it: they must not change in the conversation.

use std::fmt;

use jiff::Timestamp;

/// Whole days since the content last changed, never negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Age {
    days: u64,
}

/// Maximum age in days of a fresh memory.
const FRESH: u64 = 1;
const SECONDS_A_DAY: i64 = 24 * 60 * 60;

impl Age {
    /// The age at `now` of a content that last changed at `changed`.
    pub fn between(changed: Timestamp, now: Timestamp) -> Self {
        let seconds = now.as_second() - changed.as_second();
        Self { days: u64::try_from(seconds / SECONDS_A_DAY).unwrap_or(0) }
    }

    /// Age in days.
    pub fn days(self) -> u64 {
        self.days
    }

    /// The warning before a memory that is no longer fresh.
    pub fn caveat(self) -> Option<String> {
        (self.days > FRESH).then(|| {
            format!(
                "This memory was last changed {self}. It is a snapshot of that moment: what it says about \
                 files, functions, settings or the state of the project may be outdated by now. Check it \
                 against the code before you state it as fact or act on it."
            )
        })
    }
}

impl fmt::Display for Age {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.days {
            0 => f.write_str("today"),
            1 => f.write_str("yesterday"),
            days => write!(f, "{days} days ago"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_in_words() {
        let now: Timestamp = "2026-11-15T08:00:00Z".parse().unwrap();
        let check = |then: &str, words: &str, caveat: bool| {
            let age = Age::between(then.parse().unwrap(), now);
            assert_eq!(
                (age.to_string().as_str(), age.caveat().is_some()),
                (words, caveat),
                "{then}"
            );
        };
        check("2026-11-15T07:59:00Z", "today", false);
        check("2026-11-14T08:00:01Z", "today", false);
        check("2026-11-14T08:00:00Z", "yesterday", false);
        check("2026-11-13T08:00:01Z", "yesterday", false);
        check("2026-11-13T08:00:00Z", "2 days ago", true);
        check("2026-09-29T08:00:00Z", "47 days ago", true);
        check("2031-01-01T00:00:00Z", "today", false);
    }
}
