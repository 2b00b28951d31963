//! What a request's counters would have been, and what counters cost.
//!
//! The rule, in words: tokens that a layer takes away were old, so they come off what was read from the
//! cache first, then off what was written, then off the rest. Where the layer changes what was sent before,
//! nothing behind the change can be read: it is written instead. Tokens that are put back are read if the
//! request read anything, and written otherwise. Invariant: the size of the request changes by exactly the
//! tokens taken or put back, and never below nothing.

use dormouse_conversation::Usage;
use serde::Serialize;

/// Dollars for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Rates {
    /// Input that has nothing to do with the cache.
    pub input: f64,
    /// Output.
    pub output: f64,
    /// Input read from the cache.
    pub cache_read: f64,
    /// Input written to it, for five minutes.
    pub cache_write: f64,
    /// Input written to it, for an hour.
    pub cache_write_hour: f64,
    /// Prompts with more tokens than this cost so many times as much.
    pub long_prompts: Option<(u64, f64)>,
}

impl Rates {
    /// What counters cost, in dollars.
    pub fn cost(&self, usage: &Usage, for_an_hour: bool) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^52")]
        let millions = |tokens: u64| tokens as f64 / 1_000_000.0;
        let write = if for_an_hour { self.cache_write_hour } else { self.cache_write };
        let is_long = |(above, _): &(u64, f64)| usage.input_total() > *above;
        let factor = self.long_prompts.filter(is_long).map_or(1.0, |(_, factor)| factor);
        factor
            * (millions(usage.input_tokens) * self.input
                + millions(usage.cache_read_input_tokens) * self.cache_read
                + millions(usage.cache_creation_input_tokens) * write
                + millions(usage.output_tokens) * self.output)
    }
}

/// The counters without `freed` tokens. `valid` is given where the layer changed what was sent before: how
/// much of the request is still as it was, from its beginning.
pub(super) fn without(usage: &Usage, freed: u64, valid: Option<u64>) -> Usage {
    let mut left = freed;
    let mut take = |tokens: u64| {
        let taken = left.min(tokens);
        left -= taken;
        tokens - taken
    };
    let mut read = take(usage.cache_read_input_tokens);
    let mut written = take(usage.cache_creation_input_tokens);
    let plain = take(usage.input_tokens);
    if let Some(valid) = valid {
        let lost = read.saturating_sub(valid);
        read -= lost;
        written += lost;
    }
    Usage {
        input_tokens: plain,
        cache_creation_input_tokens: written,
        cache_read_input_tokens: read,
        ..*usage
    }
}

/// The counters with `added` tokens more.
pub(super) fn with(usage: &Usage, added: u64) -> Usage {
    let read = usage.cache_read_input_tokens;
    let written = usage.cache_creation_input_tokens;
    if read > 0 {
        Usage { cache_read_input_tokens: read.saturating_add(added), ..*usage }
    } else if written > 0 {
        Usage { cache_creation_input_tokens: written.saturating_add(added), ..*usage }
    } else {
        Usage { input_tokens: usage.input_tokens.saturating_add(added), ..*usage }
    }
}

/// The counters of a request whose prefix would not have broken: `known` tokens of it had been sent before.
/// Where nothing is ever cached, nothing changes.
pub(super) fn unbroken(usage: &Usage, known: u64) -> Usage {
    let written = usage.cache_creation_input_tokens;
    let missing = known.saturating_sub(usage.cache_read_input_tokens).min(written);
    Usage {
        cache_creation_input_tokens: written - missing,
        cache_read_input_tokens: usage.cache_read_input_tokens + missing,
        ..*usage
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn usage(plain: u64, written: u64, read: u64) -> Usage {
        Usage {
            input_tokens: plain,
            cache_creation_input_tokens: written,
            cache_read_input_tokens: read,
            output_tokens: 7,
        }
    }

    #[test]
    fn what_goes_was_read_and_behind_a_change_all_is_written() {
        assert_eq!(without(&usage(1, 10, 100), 30, None), usage(1, 10, 70));
        assert_eq!(without(&usage(1, 10, 100), 30, Some(20)), usage(1, 60, 20));
        assert_eq!(
            without(&usage(1, 100, 5), 30, Some(90)),
            usage(1, 75, 0),
            "cold: nothing is lost"
        );
        assert_eq!(without(&usage(1, 1, 1), 30, None), usage(0, 0, 0));
        assert_eq!(with(&usage(1, 10, 100), 30), usage(1, 10, 130));
        assert_eq!(with(&usage(1, 10, 0), 30), usage(1, 40, 0));
        assert_eq!(with(&usage(1, 0, 0), 30), usage(31, 0, 0));
        assert_eq!(unbroken(&usage(1, 50, 5), 30), usage(1, 25, 30));
        assert_eq!(unbroken(&usage(9, 0, 0), 30), usage(9, 0, 0));
    }

    proptest! {
        #[test]
        fn sizes_add_up(
            plain in 0_u64..1_000, written in 0_u64..100_000, read in 0_u64..200_000,
            tokens in 0_u64..400_000, valid in prop::option::of(0_u64..200_000),
        ) {
            let usage = usage(plain, written, read);
            let less = without(&usage, tokens, valid);
            prop_assert_eq!(less.input_total(), usage.input_total().saturating_sub(tokens));
            prop_assert!(valid.is_none_or(|valid| less.cache_read_input_tokens <= valid));
            prop_assert_eq!(with(&usage, tokens).input_total(), usage.input_total() + tokens);
            prop_assert_eq!(unbroken(&usage, tokens).input_total(), usage.input_total());
        }
    }

    #[test]
    fn an_hour_costs_more_to_write() {
        let rates = Rates {
            input: 5.0,
            output: 25.0,
            cache_read: 0.5,
            cache_write: 6.25,
            cache_write_hour: 10.0,
            long_prompts: None,
        };
        let million = usage(1_000_000, 1_000_000, 1_000_000);
        let output = 7.0 * 25.0 / 1_000_000.0;
        assert!((rates.cost(&million, false) - (11.75 + output)).abs() < 1e-9);
        assert!((rates.cost(&million, true) - (15.5 + output)).abs() < 1e-9);
    }
}
