//! Figures over time, from the metrics log.

use std::collections::BTreeMap;

use dormouse_conversation::metrics::{
    MemoryTotals, MetricsFilter, MetricsSummary, summarize_metrics, summarize_metrics_by_day,
};
use dormouse_memory::MemoryUsage;
use dormouse_memory::recall::QuarantineFilter;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, ToSpan as _};
use serde::Deserialize;

use crate::error::ViewerError;
use crate::model::memory_list::usage;
use crate::viewer::Viewer;

/// Days that the page shows unless asked otherwise.
const DAYS: u16 = 30;
/// The most days.
const MAX_DAYS: u16 = 366;

/// What the form above the figures asks for.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct FiguresQuery {
    /// A number of days; anything else is the usual number.
    pub(crate) days: String,
    /// `all`: of all projects.
    pub(crate) projects: String,
}

impl FiguresQuery {
    pub(crate) fn days(&self) -> u16 {
        self.days
            .parse()
            .map_or(DAYS, |days: u64| u16::try_from(days).unwrap_or(MAX_DAYS).clamp(1, MAX_DAYS))
    }
}

/// With more days, the chart of recall has a point for each week.
const DAYS_AS_WEEKS: usize = 60;

/// What recall came to in a day or a week.
pub(crate) struct RecallPeriod {
    pub(crate) first: Date,
    pub(crate) last: Date,
    /// Memories that were put into conversations.
    pub(crate) put_in: u64,
    /// Memories that answers cited, turn by turn.
    pub(crate) cited: u64,
    /// Memories that were cited or followed, turn by turn.
    pub(crate) helpful: u64,
}

impl RecallPeriod {
    fn of(days: &[(Date, MetricsSummary)]) -> Option<Self> {
        let sum = |count: fn(&MemoryTotals) -> u64| {
            days.iter().map(|(_, summary)| count(&summary.memory)).sum()
        };
        Some(Self {
            first: days.first()?.0,
            last: days.last()?.0,
            put_in: sum(|memory| memory.recalled),
            cited: sum(|memory| memory.cited),
            helpful: sum(|memory| memory.helpful),
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.put_in + self.cited + self.helpful == 0
    }
}

/// The figures of a period.
pub(crate) struct Figures {
    pub(crate) total: MetricsSummary,
    /// Every day of the period, also those without figures.
    pub(crate) days: Vec<(Date, MetricsSummary)>,
    /// How memories were used, all together.
    pub(crate) usage: MemoryUsage,
}

impl Figures {
    /// Recall by day, or by week in a long period; the last week is whole.
    pub(crate) fn recall(&self) -> Vec<RecallPeriod> {
        let step = if self.days.len() > DAYS_AS_WEEKS { 7 } else { 1 };
        let mut periods: Vec<RecallPeriod> =
            self.days.rchunks(step).filter_map(RecallPeriod::of).collect();
        periods.reverse();
        periods
    }
}

pub(crate) fn figures(viewer: &Viewer, query: &FiguresQuery) -> Result<Figures, ViewerError> {
    let zone = TimeZone::system();
    let since = viewer.now() - SignedDuration::from_hours(24 * i64::from(query.days() - 1));
    let first = since.to_zoned(zone.clone()).date();
    let since = first.to_zoned(zone.clone()).map_or(since, |start| start.timestamp());
    let project = (query.projects != "all").then(|| viewer.sources.project_key.clone());
    let filter = MetricsFilter { since: Some(since), session: None, project };
    let folder = &viewer.sources.metrics;
    let mut by_day: BTreeMap<Date, MetricsSummary> =
        summarize_metrics_by_day(folder, &filter, &zone)?;
    let last = viewer.now().to_zoned(zone).date();
    let days = first.series(1.day()).take_while(|day| *day <= last);
    let days = days.map(|day| (day, by_day.remove(&day).unwrap_or_default())).collect();
    Ok(Figures { total: summarize_metrics(folder, &filter)?, days, usage: memory_usage(viewer)? })
}

fn memory_usage(viewer: &Viewer) -> Result<MemoryUsage, ViewerError> {
    let mut sum = MemoryUsage::default();
    for found in viewer.memories().list(None, QuarantineFilter::Include)? {
        let one = usage(&found);
        sum.recalled += one.recalled;
        sum.cited += one.cited;
        sum.heeded += one.heeded;
        sum.violated += one.violated;
        sum.tokens += one.tokens;
    }
    Ok(sum)
}
