//! A summary with all sections.

use dormouse_conversation::Usage;
use dormouse_conversation::metrics::{
    BreakerTotals, JobTotals, KeptShares, KeptTotals, LayerTotals, MemoryTotals, MetricsPeriod,
    MetricsSummary, RequestTotals, ToolTotals,
};

use super::*;

fn some(requests: u64, cost_usd: f64, unpriced: u64) -> RequestTotals {
    RequestTotals {
        requests,
        failed: 1,
        interrupted: 1,
        usage: Usage {
            input_tokens: 1_000,
            cache_creation_input_tokens: 9_000,
            cache_read_input_tokens: 1_234_567,
            output_tokens: 4_321,
        },
        cost_usd,
        unpriced,
        duration_ms: 65_000,
    }
}

fn full() -> MetricsSummary {
    let moment = |text: &str| text.parse::<Timestamp>().unwrap();
    let named = |name: &str| name.to_owned();
    let mut kept = KeptTotals::default();
    kept.add(KeptShares { names_percent: 90, user_messages_percent: 100 });
    kept.add(KeptShares { names_percent: 92, user_messages_percent: 100 });
    MetricsSummary {
        period: Some(MetricsPeriod {
            first: moment("2026-10-31T12:00:00Z"),
            last: moment("2026-11-02T12:00:00Z"),
        }),
        sessions: 4,
        total: some(12, 0.5, 2),
        by_purpose: [(named("main"), some(10, 0.5, 0)), (named("extraction"), some(2, 0.0, 2))]
            .into(),
        by_model: [(named("m"), some(10, 0.5, 0)), (named("n"), some(2, 0.0, 2))].into(),
        cache_breaks: [(named("time_to_live"), 2), (named("sunspots"), 1)].into(),
        layers: [(
            named("auto_compact"),
            LayerTotals {
                fired: 3,
                freed_tokens: 99_000,
                changed: 7,
                summaries: 6,
                prefix_changes: 3,
                kept,
            },
        )]
        .into(),
        tools: [(
            named("Bash"),
            ToolTotals { calls: 30, denied: 2, failed: 3, duration_ms: 900, stored_bytes: 123_456 },
        )]
        .into(),
        jobs: [(
            named("dream"),
            JobTotals { runs: 2, failed: 1, turns: 9, ..JobTotals::default() },
        )]
        .into(),
        memory: MemoryTotals {
            written: 8,
            recalled: 20,
            cited: 5,
            helpful: 7,
            violated: 1,
            corrected: 1,
            undone: 1,
            dropped: 3,
        },
        breakers: [(named("auto_compact"), BreakerTotals { opened: 2, open: 1 })].into(),
        unknown_kinds: [(named("weather"), 3)].into(),
        unreadable_lines: 1,
    }
}

#[test]
fn everything_at_80_columns() {
    let text = text(&full());
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let expected = "\
2026-10-31 to 2026-11-02, 4 sessions
12 requests, 1,244,567 tokens in (99.2 % from the cache), 4,321 out
cost $0.5000, and 2 requests without a known price

requests for  sent  failed  tokens in  cached    out     cost  time
extraction       2       2  1,244,567  99.2 %  4,321        ?  65 s
main            10       2  1,244,567  99.2 %  4,321  $0.5000  65 s

model  sent  failed  tokens in  cached    out     cost  time
m        10       2  1,244,567  99.2 %  4,321  $0.5000  65 s
n         2       2  1,244,567  99.2 %  4,321        ?  65 s

unannounced cache breaks
  1 × sunspots
  2 × the cache had expired

layer         fired  tokens freed  changed  summaries  prefix changed
auto_compact      3        99,000        7          6               3
summaries per session: 1.5
kept by the summaries of auto_compact: 91 % of names, 100 % of your messages

tool  calls  denied  failed  stored   time
Bash     30       2       3  123 kB  0.9 s

background task  runs  skipped  failed  killed  requests  changed  denied
dream               2        0       1       0         9        0       0

memories: 8 written, 1 corrected, 1 undone, 3 proposed and dropped
corrected or undone of those written: 25.0 %
memories: 20 recalled, 5 cited, 7 helpful

circuit breaker auto_compact: opened 2 times; still open in 1 session

3 metrics of unknown kind weather
1 line of the log unreadable
";
    assert_eq!(text, expected);
}

#[test]
fn what_there_is_none_of_is_left_out() {
    let summary =
        MetricsSummary { period: full().period, sessions: 1, ..MetricsSummary::default() };
    assert_eq!(
        text(&summary),
        "2026-10-31 to 2026-11-02, 1 session\n0 requests, 0 tokens in, 0 out\ncost $0.0000\n"
    );
}
