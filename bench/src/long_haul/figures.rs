//! What the program itself has counted in a run: its log of figures.

use std::collections::BTreeMap;

use dormouse_conversation::metrics::{
    JobOutcome, KeptShares, MemoryAction, MemoryMetric, Metric, MetricsFilter, MetricsLog,
    read_metrics,
};
use dormouse_testkit::TestHome;

/// What the program has counted.
#[derive(Debug, Clone, Default)]
pub(super) struct HaulFigures {
    /// How often each layer did something, by its name.
    pub(super) layers: BTreeMap<String, u64>,
    /// What each compaction kept, in their order.
    pub(super) kept: Vec<KeptShares>,
    /// Memories that were put into the conversation, and the tokens they took.
    pub(super) recalled: (u64, u64),
    /// Memories that background tasks saved.
    pub(super) saved: u64,
    /// Dreams that came to their end.
    pub(super) dreams: u64,
    /// Files that they changed.
    pub(super) dreamt: u64,
}

impl HaulFigures {
    /// Of the program with this home.
    pub(super) fn of(home: &TestHome) -> Self {
        let mut figures = Self::default();
        let folder = MetricsLog::folder_in(&home.dormouse_home());
        let read = read_metrics(&folder, &MetricsFilter::default(), &mut |entry| {
            figures.add(entry.metric);
        });
        read.expect("the log of figures");
        figures
    }

    fn add(&mut self, metric: Metric) {
        match metric {
            Metric::Layer(layer) => {
                self.kept.extend(layer.kept);
                *self.layers.entry(layer.name).or_default() += 1;
            }
            Metric::Memory(memory) => self.add_memory(&memory),
            Metric::Job(job) if job.name == "dream" && job.outcome == JobOutcome::Completed => {
                self.dreams += 1;
                self.dreamt += job.changed;
            }
            Metric::Request(_)
            | Metric::Tool(_)
            | Metric::Job(_)
            | Metric::MemoryEffect(_)
            | Metric::Breaker(_)
            | Metric::Other(_) => {}
        }
    }

    fn add_memory(&mut self, memory: &MemoryMetric) {
        match memory.action {
            MemoryAction::Recalled => {
                self.recalled.0 += memory.count;
                self.recalled.1 += memory.tokens;
            }
            MemoryAction::Written => self.saved += memory.count,
            MemoryAction::Corrected | MemoryAction::Undone | MemoryAction::Dropped => {}
        }
    }
}
