//! The metrics log (L-31): one line for every request, tool call, layer and background job, kept on
//! this machine and sent nowhere.
//!
//! Invariants: a metric holds numbers, ids and the names of tools, layers, jobs and models, never a
//! word of a conversation or a file. Writing one can fail; it never disturbs what it is about. Reading
//! never fails over a line: what cannot be read is counted.

mod log;
mod metric;
mod months;
mod read;
mod summary;

pub use log::{MetricsLog, SessionMetrics};
pub use metric::{
    BreakerMetric, BreakerState, CacheBreakMetric, ConversationKind, JobMetric, JobOutcome,
    KeptShares, LayerMetric, MemoryAction, MemoryEffectMetric, MemoryMetric, Metric, RequestMetric,
    RequestOutcome, ToolMetric,
};
pub use read::{MetricEntry, MetricsFilter, UnreadableLines, read_metrics};
pub use summary::{
    BreakerTotals, JobTotals, KeptTotals, LayerTotals, MemoryTotals, MetricsPeriod, MetricsSummary,
    RequestTotals, ToolTotals, summarize_metrics, summarize_metrics_by_day,
    summarize_metrics_by_session,
};
