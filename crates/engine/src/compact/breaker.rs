//! When compaction stops trying (C-20): a record of the last ones.

/// After so many failures in a row the model is not asked for summaries any more.
const MOST_FAILURES: u32 = 3;
/// A compaction that frees a smaller share than this is ineffective.
const LEAST_FREED: f64 = 0.1;
/// Ineffective compactions in a row before it stops.
const MOST_INEFFECTIVE: usize = 2;
/// Compactions within [`RECENT_REQUESTS`] requests before it stops.
const MOST_RECENT: usize = 3;
const RECENT_REQUESTS: u64 = 10;

/// Why compaction by itself stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BreakerStop {
    /// It hardly frees anything.
    Ineffective,
    /// The window is full again soon after each.
    TooFrequent,
}

/// The results of the last compactions.
#[derive(Debug, Default)]
pub(crate) struct CompactionBreaker {
    failures: u32,
    /// The numbers of the requests before which it was compacted, the newest last.
    at: Vec<u64>,
    ineffective: usize,
    stopped: Option<BreakerStop>,
}

impl CompactionBreaker {
    /// That of a session in which the model gave no summary so often in a row.
    pub(super) fn after_failures(failures: u32) -> Self {
        Self { failures, ..Self::default() }
    }

    /// How often in a row the model gave no summary.
    pub(super) fn failures(&self) -> u32 {
        self.failures
    }

    /// Whether the model may be asked for a summary.
    pub(super) fn may_ask_model(&self) -> bool {
        self.failures < MOST_FAILURES
    }

    /// The model gave no summary. Whether that opens the breaker.
    pub(super) fn failed(&mut self) -> bool {
        self.failures += 1;
        self.failures == MOST_FAILURES
    }

    /// The model gave a summary. Whether that closes the breaker.
    pub(super) fn succeeded(&mut self) -> bool {
        std::mem::take(&mut self.failures) >= MOST_FAILURES
    }

    /// A compaction was done before this request. Why it is the last one, if it is.
    pub(super) fn compacted(
        &mut self,
        request: u64,
        before: u64,
        after: u64,
    ) -> Option<BreakerStop> {
        #[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^52")]
        let freed = before.saturating_sub(after) as f64 / before.max(1) as f64;
        self.ineffective = if freed < LEAST_FREED { self.ineffective + 1 } else { 0 };
        self.at.push(request);
        self.at.retain(|at| request.saturating_sub(*at) < RECENT_REQUESTS);
        let ineffective =
            (self.ineffective >= MOST_INEFFECTIVE).then_some(BreakerStop::Ineffective);
        let often = (self.at.len() >= MOST_RECENT).then_some(BreakerStop::TooFrequent);
        let stop = ineffective.or(often).filter(|_| self.stopped.is_none());
        self.stopped = self.stopped.or(stop);
        stop
    }

    /// Whether the conversation is not compacted by itself any more.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.is_some()
    }

    /// A new prompt. A window that fills up quickly is a loop only while the model works by itself; an ineffective
    /// compaction stays ineffective.
    pub(crate) fn on_prompt(&mut self) {
        self.at.clear();
        self.stopped = self.stopped.filter(|stop| *stop == BreakerStop::Ineffective);
    }

    /// The user compacts, or the window has changed.
    pub(super) fn reset(&mut self) {
        self.at.clear();
        self.ineffective = 0;
        self.stopped = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_three_failures_in_a_row_the_model_is_not_asked() {
        let mut breaker = CompactionBreaker::default();
        assert!(!breaker.failed() && !breaker.failed());
        assert!(!breaker.succeeded());
        assert!(!breaker.failed() && !breaker.failed() && breaker.may_ask_model());
        assert!(breaker.failed() && !breaker.may_ask_model());
        assert!(breaker.succeeded() && breaker.may_ask_model());
    }

    #[test]
    fn two_ineffective_ones_stop_it() {
        let mut breaker = CompactionBreaker::default();
        assert_eq!(breaker.compacted(1, 1_000, 950), None);
        assert_eq!(breaker.compacted(100, 1_000, 900), None);
        assert_eq!(breaker.compacted(200, 1_000, 901), None);
        assert_eq!(breaker.compacted(300, 1_000, 1_100), Some(BreakerStop::Ineffective));
        assert!(breaker.is_stopped());
        assert_eq!(breaker.compacted(400, 1_000, 1_100), None, "reported once");
        breaker.reset();
        assert!(!breaker.is_stopped());
    }

    #[test]
    fn three_recent_ones_stop_it() {
        let mut breaker = CompactionBreaker::default();
        assert_eq!(breaker.compacted(1, 1_000, 100), None);
        assert_eq!(breaker.compacted(9, 1_000, 100), None);
        // The first is too long ago.
        assert_eq!(breaker.compacted(11, 1_000, 100), None);
        assert_eq!(breaker.compacted(12, 1_000, 100), Some(BreakerStop::TooFrequent));
        breaker.on_prompt();
        assert!(!breaker.is_stopped());
        assert_eq!(breaker.compacted(13, 1_000, 100), None);
    }

    #[test]
    fn a_prompt_does_not_restart_ineffective_compaction() {
        let mut breaker = CompactionBreaker::default();
        breaker.compacted(1, 1_000, 950);
        assert_eq!(breaker.compacted(2, 1_000, 950), Some(BreakerStop::Ineffective));
        breaker.on_prompt();
        assert!(breaker.is_stopped());
    }
}
