//! Counters for Prometheus. They contain no names of people, repositories or entries.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Upper bounds of the buckets of request times, in seconds.
const BUCKETS: [f64; 8] = [0.001, 0.005, 0.02, 0.05, 0.1, 0.5, 2.0, 10.0];

/// The counters of a server since its start.
#[derive(Debug, Default)]
pub(super) struct ServerMetrics {
    requests: Mutex<BTreeMap<(String, u16), u64>>,
    times: [AtomicU64; BUCKETS.len()],
    count: AtomicU64,
    total_us: AtomicU64,
    streams: AtomicI64,
}

impl ServerMetrics {
    pub(super) fn count(&self, route: &str, status: u16, took: Duration) {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        *requests.entry((route.to_owned(), status)).or_default() += 1;
        drop(requests);
        for (bucket, bound) in self.times.iter().zip(BUCKETS) {
            if took.as_secs_f64() <= bound {
                bucket.fetch_add(1, Ordering::Relaxed);
            }
        }
        self.count.fetch_add(1, Ordering::Relaxed);
        let us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.total_us.fetch_add(us, Ordering::Relaxed);
    }

    pub(super) fn stream_opened(&self) {
        self.streams.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn stream_closed(&self) {
        self.streams.fetch_sub(1, Ordering::Relaxed);
    }

    /// The text format of Prometheus.
    pub(super) fn render(&self) -> String {
        let mut text = String::from("# TYPE dormouse_team_requests_total counter\n");
        for ((route, status), count) in
            self.requests.lock().unwrap_or_else(PoisonError::into_inner).iter()
        {
            text.push_str(&format!(
                "dormouse_team_requests_total{{route=\"{route}\",status=\"{status}\"}} {count}\n"
            ));
        }
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let name = "dormouse_team_request_seconds";
        text.push_str(&format!("# TYPE {name} histogram\n"));
        for (bucket, bound) in self.times.iter().zip(BUCKETS) {
            text.push_str(&format!("{name}_bucket{{le=\"{bound}\"}} {}\n", read(bucket)));
        }
        let count = read(&self.count);
        let total = Duration::from_micros(read(&self.total_us)).as_secs_f64();
        text.push_str(&format!("{name}_bucket{{le=\"+Inf\"}} {count}\n"));
        text.push_str(&format!("{name}_sum {total}\n{name}_count {count}\n"));
        let streams = self.streams.load(Ordering::Relaxed);
        text.push_str("# TYPE dormouse_team_event_streams gauge\n");
        text.push_str(&format!("dormouse_team_event_streams {streams}\n"));
        text
    }
}
