//! Rate limits: a bucket of requests for every token holder, and one of failed attempts for every address.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Buckets that are kept; full ones are dropped first, which changes nothing for their holders.
const MOST: usize = 10_000;

/// Buckets that fill up over time, one for each key.
#[derive(Debug)]
pub(super) struct RateLimiter {
    /// Requests a second; none for no limit.
    rate: Option<f64>,
    burst: f64,
    buckets: Mutex<HashMap<String, Bucket>>,
}

#[derive(Debug, Clone, Copy)]
struct Bucket {
    left: f64,
    at: Duration,
}

impl RateLimiter {
    pub(super) fn new(rate: Option<f64>, burst: f64) -> Self {
        Self { rate, burst, buckets: Mutex::default() }
    }

    /// Takes one out of a bucket; false if it is empty.
    pub(super) fn take(&self, key: &str, now: Duration) -> bool {
        self.with_bucket(key, now, |left| {
            let is_left = *left >= 1.0;
            if is_left {
                *left -= 1.0;
            }
            is_left
        })
    }

    /// Whether there is one left, without taking it.
    pub(super) fn is_left(&self, key: &str, now: Duration) -> bool {
        self.with_bucket(key, now, |left| *left >= 1.0)
    }

    fn with_bucket(&self, key: &str, now: Duration, decide: impl FnOnce(&mut f64) -> bool) -> bool {
        let Some(rate) = self.rate else { return true };
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let burst = self.burst;
        let filled = |bucket: &Bucket| {
            (bucket.left + now.saturating_sub(bucket.at).as_secs_f64() * rate).min(burst)
        };
        if buckets.len() >= MOST {
            buckets.retain(|_, bucket| filled(bucket) < burst);
        }
        let bucket = buckets.entry(key.to_owned()).or_insert(Bucket { left: burst, at: now });
        *bucket = Bucket { left: filled(bucket), at: now };
        decide(&mut bucket.left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_empties_and_fills_for_each_key() {
        let limiter = RateLimiter::new(Some(2.0), 3.0);
        let at = Duration::from_millis;
        for _ in 0..3 {
            assert!(limiter.take("a", at(0)));
        }
        assert!(!limiter.take("a", at(0)) && !limiter.is_left("a", at(400)));
        assert!(limiter.take("b", at(0)), "another holder's bucket");
        assert!(limiter.take("a", at(600)) && !limiter.take("a", at(600)));
        assert!(RateLimiter::new(None, 0.0).take("a", at(0)));
    }
}
