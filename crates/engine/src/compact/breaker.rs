//! When compaction stops trying (C-20): a plain record of how the last ones went.

/// After so many failures in a row the model is not asked for a summary any more.
const MOST_FAILURES: u32 = 3;
/// A compaction that frees less than this share of what there was has hardly helped.
const LEAST_FREED: f64 = 0.1;
/// So many of those in a row, and it stops.
const MOST_VAIN: usize = 2;
/// So many within [`OF_LATE`] requests, and it stops.
const MOST_OF_LATE: usize = 3;
const OF_LATE: u64 = 10;

/// Why compacting by itself stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It hardly frees anything.
    Vain,
    /// The window is full again as soon as it was emptied.
    Often,
}

/// How the last compactions went.
#[derive(Debug, Default)]
pub(crate) struct CompactionBreaker {
    failures: u32,
    /// The requests at which it was compacted, the newest last.
    at: Vec<u64>,
    vain: usize,
    stopped: Option<Stop>,
}

impl CompactionBreaker {
    /// Whether the model may be asked for a summary.
    pub(super) fn asks_the_model(&self) -> bool {
        self.failures < MOST_FAILURES
    }

    /// The model gave no summary. Whether that was once too often.
    pub(super) fn failed(&mut self) -> bool {
        self.failures += 1;
        self.failures == MOST_FAILURES
    }

    /// The model gave one. Whether that closes the breaker.
    pub(super) fn succeeded(&mut self) -> bool {
        std::mem::take(&mut self.failures) >= MOST_FAILURES
    }

    /// A compaction is done, before this request. Why it is to be the last, if it is.
    pub(super) fn compacted(&mut self, request: u64, before: u64, after: u64) -> Option<Stop> {
        #[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^52")]
        let freed = before.saturating_sub(after) as f64 / before.max(1) as f64;
        self.vain = if freed < LEAST_FREED { self.vain + 1 } else { 0 };
        self.at.push(request);
        self.at.retain(|at| request.saturating_sub(*at) < OF_LATE);
        let vain = (self.vain >= MOST_VAIN).then_some(Stop::Vain);
        let often = (self.at.len() >= MOST_OF_LATE).then_some(Stop::Often);
        let stop = vain.or(often).filter(|_| self.stopped.is_none());
        self.stopped = self.stopped.or(stop);
        stop
    }

    /// Whether nothing is compacted by itself any more.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.is_some()
    }

    /// The person speaks. A window that fills up quickly is a loop only as long as the model works on by
    /// itself; what hardly frees anything will not do so now either.
    pub(crate) fn person_speaks(&mut self) {
        self.at.clear();
        self.stopped = self.stopped.filter(|stop| *stop == Stop::Vain);
    }

    /// The person has taken it in hand.
    pub(super) fn reset_loop(&mut self) {
        self.at.clear();
        self.vain = 0;
        self.stopped = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_failures_in_a_row_and_the_model_is_left_alone() {
        let mut breaker = CompactionBreaker::default();
        assert!(!breaker.failed() && !breaker.failed());
        assert!(!breaker.succeeded());
        assert!(!breaker.failed() && !breaker.failed() && breaker.asks_the_model());
        assert!(breaker.failed() && !breaker.asks_the_model());
        assert!(breaker.succeeded() && breaker.asks_the_model());
    }

    #[test]
    fn two_in_vain_stop_it() {
        let mut breaker = CompactionBreaker::default();
        assert_eq!(breaker.compacted(1, 1_000, 950), None);
        assert_eq!(breaker.compacted(100, 1_000, 900), None);
        assert_eq!(breaker.compacted(200, 1_000, 901), None);
        assert_eq!(breaker.compacted(300, 1_000, 1_100), Some(Stop::Vain));
        assert!(breaker.is_stopped());
        assert_eq!(breaker.compacted(400, 1_000, 1_100), None, "it is said once");
        breaker.reset_loop();
        assert!(!breaker.is_stopped());
    }

    #[test]
    fn three_of_late_stop_it() {
        let mut breaker = CompactionBreaker::default();
        assert_eq!(breaker.compacted(1, 1_000, 100), None);
        assert_eq!(breaker.compacted(9, 1_000, 100), None);
        // The first is too long ago.
        assert_eq!(breaker.compacted(11, 1_000, 100), None);
        assert_eq!(breaker.compacted(12, 1_000, 100), Some(Stop::Often));
        breaker.person_speaks();
        assert!(!breaker.is_stopped());
        assert_eq!(breaker.compacted(13, 1_000, 100), None);
    }

    #[test]
    fn what_is_vain_is_vain_whoever_speaks() {
        let mut breaker = CompactionBreaker::default();
        breaker.compacted(1, 1_000, 950);
        assert_eq!(breaker.compacted(2, 1_000, 950), Some(Stop::Vain));
        breaker.person_speaks();
        assert!(breaker.is_stopped());
    }
}
