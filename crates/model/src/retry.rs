//! When to try a request again: a plain function of the error, the number of tries, and chance.

use std::time::Duration;

use crate::error::{ModelError, Retryable};

/// How often and how fast a request is tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// The most tries after the first.
    pub retries: u32,
    /// The first delay; it doubles with each try.
    pub base: Duration,
    /// The longest delay of our own choosing.
    pub longest: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { retries: 10, base: Duration::from_millis(500), longest: Duration::from_secs(32) }
    }
}

/// A server that asks for more patience than this is not waited for.
const LONGEST_RETRY_AFTER: Duration = Duration::from_mins(10);

impl RetryPolicy {
    /// A host nobody knows and a format nobody can read seldom mend themselves.
    fn most(&self, error: &ModelError) -> u32 {
        match error {
            ModelError::UnknownHost { .. } | ModelError::Malformed(_) => self.retries.min(3),
            _ => self.retries,
        }
    }

    /// How long to wait before the next try; none if there is to be none. `retries_so_far` counts from
    /// 0, `chance` is a number from 0 to 1 that spreads many clients over time.
    pub fn delay(&self, error: &ModelError, retries_so_far: u32, chance: f64) -> Option<Duration> {
        let Retryable::After(asked) = error.retryable() else { return None };
        if retries_so_far >= self.most(error) {
            return None;
        }
        let doubled =
            self.base.saturating_mul(2_u32.saturating_pow(retries_so_far)).min(self.longest);
        let own = doubled.mul_f64(1.0 - 0.25 * chance.clamp(0.0, 1.0));
        match asked {
            Some(asked) if asked > LONGEST_RETRY_AFTER => None,
            Some(asked) => Some(asked),
            None => Some(own),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overloaded(retry_after: Option<Duration>) -> ModelError {
        ModelError::Overloaded { retry_after, message: String::new() }
    }

    #[test]
    fn delays_double_up_to_the_longest_and_end() {
        let policy = RetryPolicy::default();
        let delays: Vec<u128> =
            (0..10).map(|n| policy.delay(&overloaded(None), n, 0.0).unwrap().as_millis()).collect();
        assert_eq!(
            delays,
            [500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 32_000, 32_000, 32_000]
        );
        assert_eq!(policy.delay(&overloaded(None), 10, 0.0), None);
        assert_eq!(policy.delay(&overloaded(None), 0, 1.0), Some(Duration::from_millis(375)));
    }

    #[test]
    fn the_server_is_heeded() {
        let policy = RetryPolicy::default();
        let after = |seconds| Some(Duration::from_secs(seconds));
        assert_eq!(policy.delay(&overloaded(after(7)), 0, 0.5), after(7));
        assert_eq!(policy.delay(&overloaded(after(7)), 10, 0.5), None);
        assert_eq!(policy.delay(&overloaded(after(86_400)), 0, 0.5), None);
        assert_eq!(policy.delay(&ModelError::Billing(String::new()), 0, 0.5), None);
    }
}
