//! The log added up: a plain struct that a table, a page or a program can show.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use dormouse_base::{FileError, SessionId};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::Serialize;

use super::{
    BreakerMetric, BreakerState, JobMetric, JobOutcome, KeptShares, LayerMetric, MemoryAction,
    MemoryEffectMetric, MemoryMetric, Metric, MetricEntry, MetricsFilter, RequestMetric,
    RequestOutcome, ToolMetric, read_metrics,
};
use crate::usage::Usage;

/// What the metrics of a period come to.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct MetricsSummary {
    /// From the first figure to the last; none where there is none.
    pub period: Option<MetricsPeriod>,
    /// How many sessions they are of.
    pub sessions: u64,
    /// All requests together.
    pub total: RequestTotals,
    /// Requests by what they were made for: a layer, a job, else `main`, `fork` or `side`.
    pub by_purpose: BTreeMap<String, RequestTotals>,
    /// Requests by model.
    pub by_model: BTreeMap<String, RequestTotals>,
    /// Cache breaks by cause.
    pub cache_breaks: BTreeMap<String, u64>,
    /// Layers by name.
    pub layers: BTreeMap<String, LayerTotals>,
    /// Tool calls by tool.
    pub tools: BTreeMap<String, ToolTotals>,
    /// Background jobs by name.
    pub jobs: BTreeMap<String, JobTotals>,
    /// Memories.
    pub memory: MemoryTotals,
    /// Circuit breakers by name.
    pub breakers: BTreeMap<String, BreakerTotals>,
    /// Figures of kinds that this version does not know.
    pub unknown_kinds: BTreeMap<String, u64>,
    /// Lines that could not be read.
    pub unreadable_lines: u64,
}

/// When the first and the last figure were written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct MetricsPeriod {
    /// The first.
    #[serde(serialize_with = "as_text")]
    pub first: Timestamp,
    /// The last.
    #[serde(serialize_with = "as_text")]
    pub last: Timestamp,
}

fn as_text<S: serde::Serializer>(moment: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(moment)
}

/// What requests took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct RequestTotals {
    /// How many went out.
    pub requests: u64,
    /// How many of them failed.
    pub failed: u64,
    /// How many of them were interrupted.
    pub interrupted: u64,
    /// Tokens.
    pub usage: Usage,
    /// Dollars, of those whose price is known.
    pub cost_usd: f64,
    /// Requests with tokens whose price is not known.
    pub unpriced: u64,
    /// From sending to the end of the answer, together.
    pub duration_ms: u64,
}

impl RequestTotals {
    fn add(&mut self, request: &RequestMetric) {
        self.requests += 1;
        match request.outcome {
            RequestOutcome::Answered => {}
            RequestOutcome::Interrupted => self.interrupted += 1,
            RequestOutcome::Failed(_) => self.failed += 1,
        }
        self.usage = self.usage.plus(request.usage);
        match request.cost_usd {
            Some(cost) => self.cost_usd += cost,
            None if request.usage.total() > 0 => self.unpriced += 1,
            None => {}
        }
        self.duration_ms = self.duration_ms.saturating_add(request.duration_ms);
    }

    /// The share of all input that was read from the cache; none where nothing was sent.
    pub fn cache_hit_rate(&self) -> Option<f64> {
        share(self.usage.cache_read_input_tokens, self.usage.input_total())
    }
}

/// What a layer did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct LayerTotals {
    /// How often.
    pub fired: u64,
    /// Tokens freed, as estimated.
    pub freed_tokens: u64,
    /// Results, rounds or messages changed.
    pub changed: u64,
    /// Summaries made.
    pub summaries: u64,
    /// How often the prefix changed by it.
    pub prefix_changes: u64,
    /// What its summaries kept of the messages they replaced.
    pub kept: KeptTotals,
}

/// What summaries kept of the messages they replaced. Serialized as its mean.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KeptTotals {
    measured: u64,
    names_percent: u64,
    user_messages_percent: u64,
}

impl KeptTotals {
    /// Adds what one summary kept.
    pub fn add(&mut self, kept: KeptShares) {
        self.measured += 1;
        self.names_percent += u64::from(kept.names_percent);
        self.user_messages_percent += u64::from(kept.user_messages_percent);
    }

    /// What they kept on average; none where it was never measured.
    pub fn mean(&self) -> Option<KeptShares> {
        let mean = |sum: u64| u8::try_from(sum.checked_div(self.measured)?).ok();
        Some(KeptShares {
            names_percent: mean(self.names_percent)?,
            user_messages_percent: mean(self.user_messages_percent)?,
        })
    }
}

impl Serialize for KeptTotals {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.mean().serialize(serializer)
    }
}

/// What a tool's calls came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct ToolTotals {
    /// How many.
    pub calls: u64,
    /// How many the gate denied.
    pub denied: u64,
    /// How many others ended in an error.
    pub failed: u64,
    /// How long they took together.
    pub duration_ms: u64,
    /// Bytes of results that went to files.
    pub stored_bytes: u64,
}

/// What a background job came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct JobTotals {
    /// How often it ran, skips left out.
    pub runs: u64,
    /// How often there was nothing to do.
    pub skipped: u64,
    /// How often it failed.
    pub failed: u64,
    /// How often somebody ended it.
    pub killed: u64,
    /// Requests it made.
    pub turns: u64,
    /// Files it changed.
    pub changed: u64,
    /// Calls its gate denied.
    pub denied: u64,
    /// How long it took together.
    pub duration_ms: u64,
}

/// What happened to memories.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct MemoryTotals {
    /// Saved.
    pub written: u64,
    /// Put into a conversation.
    pub recalled: u64,
    /// Cited in an answer, turn by turn.
    pub cited: u64,
    /// Cited or followed, turn by turn.
    pub helpful: u64,
    /// Changed because the user had to repeat them.
    pub violated: u64,
    /// Corrected by the user.
    pub corrected: u64,
    /// Taken back by the user.
    pub undone: u64,
    /// Proposed and not saved.
    pub dropped: u64,
}

impl MemoryTotals {
    /// The share of memories that the user had to correct or take back; none where none was written.
    pub fn pollution_rate(&self) -> Option<f64> {
        share(self.corrected.saturating_add(self.undone), self.written)
    }
}

/// What a circuit breaker did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct BreakerTotals {
    /// How often it opened.
    pub opened: u64,
    /// In how many sessions it was last seen open.
    pub open: u64,
}

impl MetricsSummary {
    /// Summaries that took the place of messages.
    pub fn summaries(&self) -> u64 {
        self.layers.values().map(|layer| layer.summaries).sum()
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.period.is_none()
    }

    fn add(&mut self, entry: &MetricEntry) {
        let first = self.period.map_or(entry.at, |period| period.first.min(entry.at));
        let last = self.period.map_or(entry.at, |period| period.last.max(entry.at));
        self.period = Some(MetricsPeriod { first, last });
        match &entry.metric {
            Metric::Request(request) => self.add_request(request),
            Metric::Layer(layer) => self.layers.entry(layer.name.clone()).or_default().add(layer),
            Metric::Tool(tool) => self.tools.entry(tool.name.clone()).or_default().add(tool),
            Metric::Job(job) => self.jobs.entry(job.name.clone()).or_default().add(job),
            Metric::Memory(memory) => self.memory.add(memory),
            Metric::MemoryEffect(effect) => self.memory.add_effect(*effect),
            // Only the last state counts: see `Sessions`.
            Metric::Breaker(_) => {}
            Metric::Other(kind) => *self.unknown_kinds.entry(kind.clone()).or_default() += 1,
        }
    }

    fn add_request(&mut self, request: &RequestMetric) {
        self.total.add(request);
        let purpose = request.purpose.as_deref().unwrap_or(request.lane.as_str());
        self.by_purpose.entry(purpose.to_owned()).or_default().add(request);
        self.by_model.entry(request.model.clone()).or_default().add(request);
        if let Some(found) = &request.cache_break {
            *self.cache_breaks.entry(found.cause.clone()).or_default() += 1;
        }
    }
}

impl LayerTotals {
    fn add(&mut self, layer: &LayerMetric) {
        self.fired += 1;
        self.freed_tokens = self.freed_tokens.saturating_add(layer.freed_tokens);
        self.changed = self.changed.saturating_add(layer.changed);
        self.summaries = self.summaries.saturating_add(layer.summaries);
        self.prefix_changes += u64::from(layer.prefix_changed);
        if let Some(kept) = layer.kept {
            self.kept.add(kept);
        }
    }
}

impl ToolTotals {
    fn add(&mut self, tool: &ToolMetric) {
        self.calls += 1;
        let denied = tool.verdict.as_deref().is_some_and(|verdict| verdict != "allow");
        self.denied += u64::from(denied);
        self.failed += u64::from(tool.is_error && !denied);
        self.duration_ms = self.duration_ms.saturating_add(tool.duration_ms);
        self.stored_bytes = self.stored_bytes.saturating_add(tool.stored_bytes);
    }
}

impl JobTotals {
    fn add(&mut self, job: &JobMetric) {
        match job.outcome {
            JobOutcome::Completed => self.runs += 1,
            JobOutcome::Skipped => self.skipped += 1,
            JobOutcome::Failed => (self.runs, self.failed) = (self.runs + 1, self.failed + 1),
            JobOutcome::Killed => (self.runs, self.killed) = (self.runs + 1, self.killed + 1),
        }
        self.turns = self.turns.saturating_add(job.turns);
        self.changed = self.changed.saturating_add(job.changed);
        self.denied = self.denied.saturating_add(job.denied);
        self.duration_ms = self.duration_ms.saturating_add(job.duration_ms);
    }
}

impl MemoryTotals {
    fn add(&mut self, memory: &MemoryMetric) {
        let count = match memory.action {
            MemoryAction::Written => &mut self.written,
            MemoryAction::Recalled => &mut self.recalled,
            MemoryAction::Corrected => &mut self.corrected,
            MemoryAction::Undone => &mut self.undone,
            MemoryAction::Dropped => &mut self.dropped,
        };
        *count = count.saturating_add(memory.count);
    }

    fn add_effect(&mut self, effect: MemoryEffectMetric) {
        self.cited = self.cited.saturating_add(effect.cited);
        self.helpful = self.helpful.saturating_add(effect.helpful);
        self.violated = self.violated.saturating_add(effect.violated);
    }
}

/// What has to be remembered of each session until the end.
#[derive(Default)]
struct Sessions {
    seen: BTreeSet<SessionId>,
    breakers: BTreeMap<(String, SessionId), BreakerState>,
    opened: BTreeMap<String, u64>,
}

impl Sessions {
    fn add(&mut self, entry: &MetricEntry) {
        self.seen.insert(entry.session);
        if let Metric::Breaker(BreakerMetric { name, state }) = &entry.metric {
            *self.opened.entry(name.clone()).or_default() +=
                u64::from(*state == BreakerState::Open);
            self.breakers.insert((name.clone(), entry.session), *state);
        }
    }

    fn finish(self, summary: &mut MetricsSummary) {
        summary.sessions = u64::try_from(self.seen.len()).unwrap_or(u64::MAX);
        for (name, opened) in self.opened {
            summary.breakers.insert(name, BreakerTotals { opened, open: 0 });
        }
        let open = self.breakers.into_iter().filter(|(_, state)| *state == BreakerState::Open);
        for ((name, _), _) in open {
            summary.breakers.entry(name).or_default().open += 1;
        }
    }
}

/// Adds up the metrics that pass a filter.
pub fn summarize_metrics(
    folder: &Path,
    filter: &MetricsFilter,
) -> Result<MetricsSummary, FileError> {
    let (mut summary, mut sessions) = (MetricsSummary::default(), Sessions::default());
    let unreadable = read_metrics(folder, filter, &mut |entry| {
        sessions.add(&entry);
        summary.add(&entry);
    })?;
    sessions.finish(&mut summary);
    summary.unreadable_lines = unreadable.0;
    Ok(summary)
}

/// Adds up the metrics that pass a filter, for each day of a time zone on which there are any.
pub fn summarize_metrics_by_day(
    folder: &Path,
    filter: &MetricsFilter,
    zone: &TimeZone,
) -> Result<BTreeMap<Date, MetricsSummary>, FileError> {
    summarize_by(folder, filter, |entry| entry.at.to_zoned(zone.clone()).date())
}

/// Adds up the metrics that pass a filter, for each session.
pub fn summarize_metrics_by_session(
    folder: &Path,
    filter: &MetricsFilter,
) -> Result<BTreeMap<SessionId, MetricsSummary>, FileError> {
    summarize_by(folder, filter, |entry| entry.session)
}

fn summarize_by<K: Ord>(
    folder: &Path,
    filter: &MetricsFilter,
    key: impl Fn(&MetricEntry) -> K,
) -> Result<BTreeMap<K, MetricsSummary>, FileError> {
    let mut groups: BTreeMap<K, (MetricsSummary, Sessions)> = BTreeMap::new();
    let _unreadable = read_metrics(folder, filter, &mut |entry| {
        let (summary, sessions) = groups.entry(key(&entry)).or_default();
        sessions.add(&entry);
        summary.add(&entry);
    })?;
    let finished = groups.into_iter().map(|(key, (mut summary, sessions))| {
        sessions.finish(&mut summary);
        (key, summary)
    });
    Ok(finished.collect())
}

fn share(part: u64, whole: u64) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
    let share = part as f64 / whole as f64;
    (whole > 0).then_some(share)
}
