//! Where the server's cache was lost, and why.

use std::time::Duration;

use dormouse_conversation::Usage;
use serde::Serialize;

/// A loss counts above this share of what was cached, in percent...
const SHARE_PERCENT: u64 = 5;
/// ...and above these tokens.
const TOKENS: u64 = 2_000;

/// A request that did not read what the one before had left in the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ProfiledBreak {
    /// Why, as far as the transcript tells.
    pub reason: BreakReason,
    /// Tokens that were cached and were not read.
    pub lost_tokens: u64,
}

/// Why a prefix broke.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BreakReason {
    /// The conversation was compacted.
    Compacted,
    /// A layer changed what was sent before.
    Edited,
    /// Another model has another cache.
    ModelChanged,
    /// System prompt or tools were rebuilt.
    PrefixRebuilt,
    /// Thinking was taken out of earlier messages.
    ThinkingDropped,
    /// More time had passed than the cache lives.
    Expired,
    /// Nothing in the transcript says why.
    Unexplained,
}

impl BreakReason {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Compacted => "compacted",
            Self::Edited => "a layer changed what was sent",
            Self::ModelChanged => "another model",
            Self::PrefixRebuilt => "prompt or tools built anew",
            Self::ThinkingDropped => "thinking dropped",
            Self::Expired => "cache expired",
            Self::Unexplained => "unexplained",
        }
    }
}

/// What is known of the time between two requests.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Between {
    /// The strongest reason that was seen.
    pub(super) reason: Option<BreakReason>,
    /// From the beginning of one to the beginning of the other.
    pub(super) gap: Duration,
}

impl Between {
    pub(super) fn saw(&mut self, reason: BreakReason) {
        self.reason = Some(self.reason.map_or(reason, |known| known.min(reason)));
    }
}

/// Whether the cache was lost between two requests.
pub(super) fn find(
    before: &Usage,
    now: &Usage,
    between: Between,
    lives: Duration,
) -> Option<ProfiledBreak> {
    let cached = before.cache_read_input_tokens.saturating_add(before.cache_creation_input_tokens);
    let lost_tokens = cached.saturating_sub(now.cache_read_input_tokens);
    if lost_tokens <= TOKENS || lost_tokens.saturating_mul(100) <= cached * SHARE_PERCENT {
        return None;
    }
    let expired = (between.gap > lives).then_some(BreakReason::Expired);
    let reason = between.reason.or(expired).unwrap_or(BreakReason::Unexplained);
    Some(ProfiledBreak { reason, lost_tokens })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cached(read: u64, written: u64) -> Usage {
        Usage {
            cache_read_input_tokens: read,
            cache_creation_input_tokens: written,
            ..Usage::default()
        }
    }

    #[test]
    fn a_loss_is_explained_by_the_strongest_reason() {
        let five = Duration::from_mins(5);
        let before = cached(90_000, 10_000);
        let reason = |between: Between| {
            find(&before, &cached(0, 100_000), between, five).map(|found| found.reason)
        };
        assert_eq!(reason(Between::default()), Some(BreakReason::Unexplained));
        let mut late = Between { gap: Duration::from_mins(6), reason: None };
        assert_eq!(reason(late), Some(BreakReason::Expired));
        late.saw(BreakReason::PrefixRebuilt);
        late.saw(BreakReason::Compacted);
        late.saw(BreakReason::ThinkingDropped);
        assert_eq!(reason(late), Some(BreakReason::Compacted));
        let lost = find(&before, &cached(20_000, 0), Between::default(), five);
        assert_eq!(lost.map(|lost| lost.lost_tokens), Some(80_000));
    }

    #[test]
    fn small_losses_do_not_count() {
        let none = |before, now| find(&before, &now, Between::default(), Duration::ZERO).is_none();
        assert!(none(cached(100_000, 0), cached(95_000, 0)), "five percent");
        assert!(none(cached(10_000, 0), cached(8_000, 0)), "two thousand");
        assert!(!none(cached(100_000, 0), cached(94_999, 0)));
        assert!(none(cached(0, 0), cached(0, 0)), "nothing is cached");
    }
}
