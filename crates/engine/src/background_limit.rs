//! How much of a session background tasks may take (B-29): a share of its cost, or of the tokens that its server evaluates where
//! prices are unknown.

use dormouse_conversation::Usage;

/// A session may always spend so much on background tasks: a short one learns as well.
const FREE_USD: f64 = 0.02;
const FREE_TOKENS: f64 = 20_000.0;
/// Requests of one run of a background task, as a rule.
const REQUESTS_OF_RUN: u64 = 2;

/// What background tasks have taken.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TaskSums {
    /// Dollars, as far as prices are known.
    pub(crate) usd: f64,
    pub(crate) usage: Usage,
    pub(crate) requests: u64,
}

/// The largest share of a session that background tasks may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BackgroundLimit {
    share: f64,
}

impl BackgroundLimit {
    pub(crate) fn new(share: f64) -> Self {
        Self { share: share.clamp(0.0, 1.0) }
    }

    /// Whether one more run stays within the limit, if it takes as much as those before. `whole` is the session with its
    /// background tasks, in dollars; `own` the tokens without them.
    pub(crate) fn has_room(self, tasks: &TaskSums, whole: f64, own: &Usage) -> bool {
        if self.share == 0.0 {
            return false;
        }
        let (taken, whole, free) = if whole > 0.0 {
            (tasks.usd, whole, FREE_USD)
        } else {
            let taken = evaluated(&tasks.usage);
            (taken, taken + evaluated(own), FREE_TOKENS)
        };
        let runs = (tasks.requests / REQUESTS_OF_RUN).max(1);
        #[expect(clippy::cast_precision_loss, reason = "a session has few runs")]
        let next = taken / runs as f64;
        taken + next <= (self.share * (whole + next)).max(free)
    }
}

/// The tokens that a server had to work on.
fn evaluated(usage: &Usage) -> f64 {
    let tokens = usage.input_tokens + usage.cache_creation_input_tokens + usage.output_tokens;
    #[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^52")]
    let tokens = tokens as f64;
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;
    fn tasks(usd: f64, tokens: u64, requests: u64) -> TaskSums {
        TaskSums { usd, usage: Usage { input_tokens: tokens, ..Usage::default() }, requests }
    }

    #[test]
    fn a_share_of_the_dollars_where_they_are_known() {
        let limit = BackgroundLimit::new(0.1);
        let own = Usage::default();
        // A short session may always learn.
        assert!(limit.has_room(&tasks(0.0, 0, 0), 0.01, &own));
        assert!(limit.has_room(&tasks(0.009, 0, 2), 0.02, &own));
        // Later it is the share that counts, with the run that would begin.
        assert!(limit.has_room(&tasks(0.09, 0, 20), 1.0, &own));
        assert!(!limit.has_room(&tasks(0.1, 0, 20), 1.0, &own));
        assert!(!BackgroundLimit::new(0.0).has_room(&tasks(0.0, 0, 0), 1.0, &own));
    }

    #[test]
    fn a_share_of_the_work_where_no_price_is_known() {
        let limit = BackgroundLimit::new(0.1);
        let own = Usage { input_tokens: 300_000, ..Usage::default() };
        assert!(limit.has_room(&tasks(0.0, 15_000, 6), 0.0, &own));
        assert!(!limit.has_room(&tasks(0.0, 40_000, 6), 0.0, &own));
        // Reading a cache is no work.
        let cached = Usage { cache_read_input_tokens: 900_000, ..own };
        assert!(!limit.has_room(&tasks(0.0, 40_000, 6), 0.0, &cached));
    }
}
