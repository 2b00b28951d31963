//! The log of figures: several writers, bad lines, months, and what it all comes to.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use dormouse_base::{ManualClock, SessionId};
use dormouse_conversation::Usage;
use dormouse_conversation::metrics::{
    BreakerMetric, BreakerState, BreakerTotals, CacheBreakMetric, ConversationKind, JobMetric,
    JobOutcome, KeptShares, LayerMetric, MemoryAction, MemoryEffectMetric, MemoryMetric, Metric,
    MetricEntry, MetricsFilter, MetricsLog, MetricsSummary, RequestMetric, RequestOutcome,
    ToolMetric, read_metrics, summarize_metrics,
};

const ONE: &str = "0193b0a4-0000-7000-8000-000000000001";
const TWO: &str = "0193b0a4-0000-7000-8000-000000000002";

struct World {
    home: tempfile::TempDir,
    clock: Arc<ManualClock>,
    log: MetricsLog,
}

impl World {
    fn new(now: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        let clock = Arc::new(ManualClock::new(now.parse().unwrap()));
        let log = MetricsLog::at(home.path(), clock.clone());
        Self { home, clock, log }
    }

    fn record(&self, session: &str, project: &str, figure: &Metric) {
        self.log.for_session(session.parse().unwrap(), project).record(figure);
    }

    fn folder(&self) -> std::path::PathBuf {
        MetricsLog::folder_in(self.home.path())
    }

    fn files(&self) -> Vec<String> {
        let entries = self.folder().read_dir().unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn session(id: &str) -> SessionId {
    id.parse().unwrap()
}

fn request(read: u64) -> RequestMetric {
    RequestMetric {
        model: "m".to_owned(),
        usage: Usage { input_tokens: 100, cache_read_input_tokens: read, ..Usage::default() },
        duration_ms: 40,
        messages: 3,
        cost_usd: Some(0.25),
        ..RequestMetric::default()
    }
}

/// One of each kind, with nothing left at its default that could be lost on the way.
fn one_of_each() -> Vec<Metric> {
    let usage = Usage {
        input_tokens: 1,
        cache_creation_input_tokens: 2,
        cache_read_input_tokens: 3,
        output_tokens: 4,
    };
    vec![
        Metric::Request(RequestMetric {
            model: "m".to_owned(),
            lane: ConversationKind::Fork,
            purpose: Some("extraction".to_owned()),
            outcome: RequestOutcome::Failed("overloaded".to_owned()),
            usage,
            duration_ms: 5,
            messages: 6,
            cost_usd: None,
            cache_break: Some(CacheBreakMetric { cause: "head".to_owned(), expected: 9, read: 1 }),
        }),
        Metric::Layer(LayerMetric {
            name: "snip".to_owned(),
            freed_tokens: 7,
            messages: 8,
            changed: 9,
            summaries: 1,
            prefix_changed: true,
            kept: Some(KeptShares { names_percent: 90, user_messages_percent: 100 }),
        }),
        Metric::Tool(ToolMetric {
            name: "Bash".to_owned(),
            verdict: Some("deny".to_owned()),
            is_error: true,
            duration_ms: 10,
            stored_bytes: 11,
        }),
        Metric::Job(JobMetric {
            name: "dream".to_owned(),
            outcome: JobOutcome::Killed,
            duration_ms: 12,
            turns: 13,
            messages: 14,
            changed: 15,
            denied: 16,
        }),
        Metric::Memory(MemoryMetric {
            action: MemoryAction::Written,
            count: 4,
            by: Some("extraction".to_owned()),
            tokens: 17,
        }),
        Metric::MemoryEffect(MemoryEffectMetric { cited: 2, helpful: 3, violated: 1 }),
        Metric::Breaker(BreakerMetric {
            name: "auto_compact".to_owned(),
            state: BreakerState::Open,
        }),
    ]
}

fn read(folder: &Path, filter: &MetricsFilter) -> Vec<MetricEntry> {
    let mut entries = Vec::new();
    read_metrics(folder, filter, &mut |entry| entries.push(entry)).unwrap();
    entries
}

#[test]
fn what_is_written_is_read_again() {
    let world = World::new("2026-11-02T09:00:00Z");
    for figure in one_of_each() {
        world.record(ONE, "-a", &figure);
    }
    let entries = read(&world.folder(), &MetricsFilter::default());
    let figures: Vec<Metric> = entries.iter().map(|entry| entry.metric.clone()).collect();
    assert_eq!(figures, one_of_each());
    assert!(entries.iter().all(|entry| entry.session == session(ONE) && entry.project == "-a"));
    assert_eq!(entries[0].at.to_string(), "2026-11-02T09:00:00Z");
}

#[test]
fn bad_lines_are_counted_and_unknown_kinds_kept_apart() {
    let world = World::new("2026-11-02T09:00:00Z");
    world.record(ONE, "-a", &Metric::Request(request(0)));
    let head = format!(r#"{{"at":"2026-11-02T09:00:00Z","session":"{ONE}","project":"-a""#);
    let file = world.folder().join("2026-11.jsonl");
    let mut text = std::fs::read_to_string(&file).unwrap();
    text.push_str("not json\n\n\u{0}\n");
    text.push_str(&format!("{head},\"kind\":\"weather\",\"rain\":true}}\n"));
    text.push_str(&format!("{head},\"kind\":\"tool\",\"name\":\"Read\",\"colour\":\"red\"}}\n"));
    text.push_str(&head);
    std::fs::write(&file, text).unwrap();
    // Another process goes on behind the torn line.
    let other = MetricsLog::at(world.home.path(), world.clock.clone());
    other.for_session(session(TWO), "-a").record(&Metric::Request(request(0)));
    let summary = summarize_metrics(&world.folder(), &MetricsFilter::default()).unwrap();
    assert_eq!(summary.unreadable_lines, 3);
    assert_eq!(summary.unknown_kinds.get("weather"), Some(&1));
    assert_eq!(summary.tools.get("Read").unwrap().calls, 1);
    assert_eq!((summary.total.requests, summary.sessions), (2, 2));
}

#[test]
fn a_filter_by_time_session_and_project() {
    let world = World::new("2026-10-31T23:00:00Z");
    world.record(ONE, "-a", &Metric::Request(request(1)));
    world.clock.advance(Duration::from_hours(2));
    world.record(ONE, "-a", &Metric::Request(request(2)));
    world.record(TWO, "-b", &Metric::Request(request(4)));
    assert_eq!(world.files(), ["2026-10.jsonl", "2026-11.jsonl"]);
    let found = |filter: MetricsFilter| -> u64 {
        summarize_metrics(&world.folder(), &filter).unwrap().total.usage.cache_read_input_tokens
    };
    assert_eq!(found(MetricsFilter::default()), 7);
    let since = Some("2026-10-31T23:30:00Z".parse().unwrap());
    assert_eq!(found(MetricsFilter { since, ..MetricsFilter::default() }), 6);
    let since = Some("2026-11-01T00:00:00Z".parse().unwrap());
    assert_eq!(found(MetricsFilter { since, ..MetricsFilter::default() }), 6);
    assert_eq!(found(MetricsFilter { session: Some(session(ONE)), ..MetricsFilter::default() }), 3);
    assert_eq!(
        found(MetricsFilter { project: Some("-b".to_owned()), ..MetricsFilter::default() }),
        4
    );
}

#[test]
fn a_year_is_kept_and_other_files_left_alone() {
    let world = World::new("2026-11-02T09:00:00Z");
    std::fs::create_dir_all(world.folder()).unwrap();
    for name in ["2025-11.jsonl", "2025-12.jsonl", "1999-01.txt", "notes.jsonl"] {
        std::fs::write(world.folder().join(name), "").unwrap();
    }
    world.record(ONE, "-a", &Metric::Request(request(0)));
    assert_eq!(world.files(), ["1999-01.txt", "2025-12.jsonl", "2026-11.jsonl", "notes.jsonl"]);
}

#[test]
fn what_can_not_be_written_is_counted_and_told_once() {
    let world = World::new("2026-11-02T09:00:00Z");
    std::fs::write(world.folder(), "a file where the folder should be").unwrap();
    for _ in 0..3 {
        world.record(ONE, "-a", &Metric::Request(request(0)));
    }
    assert_eq!(world.log.lost(), 3);
    let problem = world.log.take_problem().unwrap();
    assert!(problem.contains("figures"), "{problem}");
    assert_eq!(world.log.take_problem(), None);
    let nowhere = MetricsLog::disabled();
    nowhere.for_session(session(ONE), "-a").record(&Metric::Request(request(0)));
    assert_eq!((nowhere.lost(), nowhere.take_problem()), (0, None));
}

#[test]
fn a_log_that_is_not_there_is_empty() {
    let home = tempfile::tempdir().unwrap();
    let summary =
        summarize_metrics(&MetricsLog::folder_in(home.path()), &MetricsFilter::default()).unwrap();
    assert_eq!(summary, MetricsSummary::default());
    assert!(summary.is_empty());
    assert_eq!(home.path().read_dir().unwrap().count(), 0);
}

#[test]
fn sums() {
    let world = World::new("2026-11-02T09:00:00Z");
    for figure in one_of_each() {
        world.record(ONE, "-a", &figure);
    }
    world.clock.advance(Duration::from_mins(1));
    world.record(TWO, "-a", &Metric::Request(request(300)));
    let memory =
        |action, count| Metric::Memory(MemoryMetric { action, count, by: None, tokens: 0 });
    world.record(TWO, "-a", &memory(MemoryAction::Corrected, 1));
    let breaker = |state| Metric::Breaker(BreakerMetric { name: "auto_compact".to_owned(), state });
    world.record(TWO, "-a", &breaker(BreakerState::Open));
    world.record(TWO, "-a", &breaker(BreakerState::Closed));
    let summary = summarize_metrics(&world.folder(), &MetricsFilter::default()).unwrap();
    assert_eq!(summary.sessions, 2);
    let period = summary.period.unwrap();
    assert_eq!(period.last.as_second() - period.first.as_second(), 60);
    let total = summary.total;
    assert_eq!((total.requests, total.failed, total.unpriced), (2, 1, 1));
    assert!((total.cost_usd - 0.25).abs() < 1e-9);
    // 303 of 406.
    assert!((total.cache_hit_rate().unwrap() - 303.0 / 406.0).abs() < 1e-9);
    assert_eq!(summary.by_purpose.keys().collect::<Vec<_>>(), ["extraction", "main"]);
    assert_eq!(summary.cache_breaks.get("head"), Some(&1));
    assert_eq!(summary.summaries(), 1);
    let bash = summary.tools.get("Bash").unwrap();
    assert_eq!((bash.calls, bash.denied, bash.failed), (1, 1, 0), "a denial is no failure");
    let dream = summary.jobs.get("dream").unwrap();
    assert_eq!((dream.runs, dream.killed, dream.denied), (1, 1, 16));
    let memory = summary.memory;
    assert_eq!((memory.cited, memory.helpful, memory.violated), (2, 3, 1));
    assert!((summary.memory.pollution_rate().unwrap() - 0.25).abs() < 1e-9);
    assert_eq!(summary.breakers.get("auto_compact"), Some(&BreakerTotals { opened: 2, open: 1 }));
}
