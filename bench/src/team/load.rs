//! Clients that ask as fast as they are answered, for a while.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::bare::{BareDatabase, BareRequest};
use super::connection::HttpConnection;
use super::request::{ENTRY_TEXT, IN_PATH, Operation};

/// How long each load lasts.
const LASTS: Duration = Duration::from_secs(3);

/// How many requests a second, and how long they took.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LoadResult {
    pub(crate) per_second: f64,
    pub(crate) median: Duration,
    pub(crate) p99: Duration,
}

/// Where requests go.
#[derive(Debug, Clone)]
pub(crate) enum Target {
    /// Servers, in turn.
    Servers(Vec<SocketAddr>),
    /// The database itself.
    Database(String),
}

/// What clients show and name.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    pub(crate) token: String,
    pub(crate) hash: String,
}

/// Lets clients ask side by side.
pub(crate) fn load(
    target: &Target,
    operation: Operation,
    clients: usize,
    caller: &Caller,
) -> LoadResult {
    let run = jiff::Timestamp::now().as_nanosecond();
    let start = Arc::new(std::sync::Barrier::new(clients));
    let times: Vec<Duration> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..clients)
            .map(|number| {
                let start = Arc::clone(&start);
                scope.spawn(move || {
                    let mut client = LoadClient::new(target, caller, number, run);
                    start.wait();
                    let begin = Instant::now();
                    let mut times = Vec::new();
                    while begin.elapsed() < LASTS {
                        let since = Instant::now();
                        client.ask(operation);
                        times.push(since.elapsed());
                    }
                    times
                })
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("a client")).collect()
    });
    summary(times)
}

fn summary(mut times: Vec<Duration>) -> LoadResult {
    times.sort_unstable();
    let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or_default();
    #[expect(clippy::cast_precision_loss, reason = "a count of requests")]
    let count = times.len() as f64;
    LoadResult { per_second: count / LASTS.as_secs_f64(), median: at(50), p99: at(99) }
}

struct LoadClient {
    way: Way,
    hash: String,
    entry: String,
    etag: String,
    keys: String,
    number: u64,
}

enum Way {
    Http(HttpConnection),
    Bare(BareDatabase),
}

impl LoadClient {
    fn new(target: &Target, caller: &Caller, number: usize, run: i128) -> Self {
        let mut etag = String::new();
        let way = match target {
            Target::Servers(servers) => {
                let server = servers.get(number % servers.len()).expect("a server");
                let mut connection = HttpConnection::open(*server, &caller.token);
                let path = format!("GET {IN_PATH}/checksums");
                let answer = connection.ask(&path, "", "");
                assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
                answer.etag.clone_into(&mut etag);
                Way::Http(connection)
            }
            Target::Database(address) => Way::Bare(BareDatabase::open(address)),
        };
        let entry = format!("client-{number}.md");
        Self {
            way,
            hash: caller.hash.clone(),
            entry,
            etag,
            keys: format!("{run}-{number}"),
            number: 0,
        }
    }

    fn ask(&mut self, operation: Operation) {
        self.number += 1;
        let key = format!("{}-{}", self.keys, self.number);
        match &mut self.way {
            Way::Http(connection) => {
                let answer = match operation {
                    Operation::Unchanged => {
                        let known = format!("if-none-match: {}\r\n", self.etag);
                        connection.ask(&format!("GET {IN_PATH}"), &known, "")
                    }
                    Operation::Snapshot => connection.ask(&format!("GET {IN_PATH}"), "", ""),
                    Operation::Push => {
                        let headers =
                            format!("if-match: {}\r\nidempotency-key: {key}\r\n", self.etag);
                        let content = format!("{ENTRY_TEXT}{key}\n");
                        let body = serde_json::json!({
                            "entries": [{"name": self.entry, "content": content}],
                        });
                        connection.ask(&format!("POST {IN_PATH}"), &headers, &body.to_string())
                    }
                };
                let expected = if operation == Operation::Unchanged { 304 } else { 200 };
                let said = String::from_utf8_lossy(&answer.body);
                assert_eq!(answer.status, expected, "{operation:?}: {said}");
                self.etag = answer.etag;
            }
            Way::Bare(database) => {
                let request = BareRequest { hash: &self.hash, entry: &self.entry, key: &key };
                database.run(operation, &request);
            }
        }
    }
}
