//! What the handlers share. A server keeps no state about repositories that could be wrong: any number can run on one
//! database (T-19).

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use dormouse_base::Clock;
use tokio_util::sync::CancellationToken;

use super::limiter::RateLimiter;
use super::metrics::ServerMetrics;
use super::snapshot_cache::SnapshotCache;
use crate::limits::MOST_ENTRIES;
use crate::storage::TeamStore;

/// A finished request, for the log: without tokens, entry names and contents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestLog {
    /// The request's id, which the client has as well.
    pub request_id: String,
    /// `GET`, `POST` and so on.
    pub method: String,
    /// The path, with `{repo}` and `{name}` in place of values.
    pub route: String,
    /// The status.
    pub status: u16,
    /// The word for a refusal.
    pub code: Option<&'static str>,
    /// Why the database failed.
    pub detail: Option<String>,
    /// The time it took.
    pub took: Duration,
}

/// Where finished requests are logged.
pub type LogSink = Arc<dyn Fn(&RequestLog) + Send + Sync>;

/// Settings of a server.
#[derive(Clone)]
pub struct ServerOptions {
    /// The most entries of a repository.
    pub most_entries: usize,
    /// Requests a second for one token; none for no limit.
    pub rate: Option<u32>,
    /// Connections at once; more wait.
    pub connections: usize,
    /// The time for a request: its head, its body and its answer.
    pub timeout: Duration,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// The log.
    pub log: LogSink,
}

impl ServerOptions {
    /// The usual settings.
    pub fn new(clock: Arc<dyn Clock>, log: LogSink) -> Self {
        Self {
            most_entries: MOST_ENTRIES,
            rate: Some(100),
            connections: 20_000,
            timeout: crate::limits::REQUEST_TIMEOUT,
            clock,
            log,
        }
    }
}

impl fmt::Debug for ServerOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerOptions")
            .field("most_entries", &self.most_entries)
            .field("rate", &self.rate)
            .finish_non_exhaustive()
    }
}

/// Failed attempts to show a token, for each address: 20 at once, then one every 5 seconds.
const FAILURES: f64 = 20.0;
const FAILURES_A_SECOND: f64 = 0.2;

/// What the handlers share.
pub(super) struct ServerState {
    pub(super) store: TeamStore,
    pub(super) options: ServerOptions,
    pub(super) metrics: ServerMetrics,
    pub(super) requests: RateLimiter,
    pub(super) failures: RateLimiter,
    pub(super) snapshots: SnapshotCache,
    pub(super) stop: CancellationToken,
}

impl ServerState {
    pub(super) fn new(store: TeamStore, options: ServerOptions, stop: CancellationToken) -> Self {
        let rate = options.rate.map(f64::from);
        Self {
            store,
            requests: RateLimiter::new(rate, rate.unwrap_or_default() * 2.0),
            failures: RateLimiter::new(Some(FAILURES_A_SECOND), FAILURES),
            snapshots: SnapshotCache::default(),
            metrics: ServerMetrics::default(),
            options,
            stop,
        }
    }
}
