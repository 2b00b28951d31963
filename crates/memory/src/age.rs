//! How old a memory is, in words that a model reasons about (M-9).
//!
//! The words are made once, when a memory is shown; whoever shows it keeps them.

use std::fmt;

use jiff::Timestamp;

/// Whole days since the content last changed, never negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Age {
    days: u64,
}

/// A memory is fresh up to this age, in days.
const FRESH: u64 = 1;
const SECONDS_A_DAY: i64 = 24 * 60 * 60;

impl Age {
    /// The age now of what changed then.
    pub fn between(changed: Timestamp, now: Timestamp) -> Self {
        let seconds = now.as_second() - changed.as_second();
        Self { days: u64::try_from(seconds / SECONDS_A_DAY).unwrap_or(0) }
    }

    /// In days.
    pub fn days(self) -> u64 {
        self.days
    }

    /// What to say before a memory that is no longer fresh.
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
