//! The team server under load (T-19), beside its database alone doing the same reads and writes in the same run.

mod bare;
mod connection;
mod guesses;
mod load;
mod request;
mod servers;

use std::path::Path;
use std::time::Instant;

use dormouse_team::TeamToken;

use self::connection::HttpConnection;
use self::load::{Caller, LoadResult, Target, load};
use self::request::{ENTRY_TEXT, IN_PATH, Operation};
use self::servers::TeamServers;
use crate::memory::{megabytes, resident};

const CLIENTS: [usize; 3] = [1, 10, 50];
/// Entries of the repository that snapshots are taken of.
const ENTRIES: usize = 100;
/// Streams of news that nothing comes through.
const STREAMS: usize = 1_000;
/// Sizes that a repository grows to.
const SIZES: [usize; 3] = [100, 1_000, 10_000];
const PULLS: usize = 50;

/// Measures with SQLite and, where an address is given, PostgreSQL.
pub(crate) fn run(binary: &Path, postgres: Option<&str>) -> String {
    let mut text = String::from(
        "\nEach row: clients that ask as fast as they are answered, for 3 seconds, then the same number of connections to the \
         bare database, with the statements of the same request. Servers are processes of the release binary on this machine, and \
         share its cores with the clients; a single server runs on one core (`taskset`).\n\n\
         | Database | Servers | Clients | Request | a second | median | p99 | bare database, a second | p99 | bare to server |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("team.db").display().to_string();
    let mut cases = vec![("SQLite", file.clone(), 1)];
    if let Some(postgres) = postgres {
        cases.push(("PostgreSQL", postgres.to_owned(), 1));
        cases.push(("PostgreSQL", postgres.to_owned(), 3));
    }
    for (name, address, count) in &cases {
        let servers = TeamServers::start(binary, address, *count);
        let caller = caller(&servers.token());
        fill(&servers, &caller, ENTRIES);
        for operation in Operation::ALL {
            for clients in CLIENTS {
                let ours = load(&Target::Servers(servers.addresses()), operation, clients, &caller);
                let bare = load(&Target::Database(address.clone()), operation, clients, &caller);
                let row = row((name, *count, clients), operation, ours, bare);
                // The table as it grows: a run takes minutes.
                print!("{row}");
                text.push_str(&row);
            }
        }
    }
    text.push_str(&streams(binary, &folder.path().join("streams.db").display().to_string()));
    text.push_str(&guesses::guesses(
        binary,
        &folder.path().join("guesses.db").display().to_string(),
    ));
    text.push_str(&growth(binary, &folder.path().join("growth.db").display().to_string()));
    text
}

fn row(
    (database, servers, clients): (&str, usize, usize),
    operation: Operation,
    ours: LoadResult,
    bare: LoadResult,
) -> String {
    let ms = |time: std::time::Duration| format!("{:.2} ms", time.as_secs_f64() * 1_000.0);
    format!(
        "| {database} | {servers} | {clients} | {} | {:.0} | {} | {} | {:.0} | {} | {:.1} |\n",
        operation.name(),
        ours.per_second,
        ms(ours.median),
        ms(ours.p99),
        bare.per_second,
        ms(bare.p99),
        bare.per_second / ours.per_second,
    )
}

fn caller(token: &str) -> Caller {
    let hash = TeamToken::parse(token).expect("a token").hash().as_str().to_owned();
    Caller { token: token.to_owned(), hash }
}

/// Brings the repository to a number of entries.
fn fill(servers: &TeamServers, caller: &Caller, count: usize) {
    let server = servers.addresses().first().copied().expect("a server");
    let mut connection = HttpConnection::open(server, &caller.token);
    let entries: Vec<usize> = (0..count).collect();
    for part in entries.chunks(200) {
        let etag = connection.ask(&format!("GET {IN_PATH}/checksums"), "", "").etag;
        let key = format!("fill-{}-{:?}", count, part.first());
        let headers = format!("if-match: {etag}\r\nidempotency-key: {key}\r\n");
        let entry = |number: &usize| {
            let content = format!("{ENTRY_TEXT}{number}\n");
            serde_json::json!({"name": format!("entry-{number}.md"), "content": content})
        };
        let body = serde_json::json!({"entries": part.iter().map(entry).collect::<Vec<_>>()});
        let answer = connection.ask(&format!("POST {IN_PATH}"), &headers, &body.to_string());
        assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
    }
}

/// The memory of a server whose clients only listen.
fn streams(binary: &Path, database: &str) -> String {
    let servers = TeamServers::start(binary, database, 1);
    let caller = caller(&servers.token());
    fill(&servers, &caller, ENTRIES);
    let before = resident(servers.process()).unwrap_or_default();
    let server = servers.addresses().first().copied().expect("a server");
    let path = IN_PATH.replace("/memory", "/events");
    let open: Vec<HttpConnection> = (0..STREAMS)
        .map(|_| {
            let mut connection = HttpConnection::open(server, &caller.token);
            connection.send(&format!("GET {path}"), "", "");
            connection
        })
        .collect();
    // The last stream is served when all before it were accepted.
    let mut last = HttpConnection::open(server, &caller.token);
    last.ask("GET /health", "", "");
    std::thread::sleep(std::time::Duration::from_secs(2));
    let after = resident(servers.process()).unwrap_or_default();
    drop(open);
    format!(
        "\n{STREAMS} idle streams of news: {:.1} MB of memory, {:.1} MB before them.\n",
        megabytes(after),
        megabytes(before)
    )
}

/// What a pull costs as the repository grows.
fn growth(binary: &Path, database: &str) -> String {
    let servers = TeamServers::start(binary, database, 1);
    let caller = caller(&servers.token());
    let server = servers.addresses().first().copied().expect("a server");
    let mut text = String::from(
        "\n| Entries | nothing changed | one entry changed | everything |\n| --- | --- | --- | --- |\n",
    );
    for size in SIZES {
        fill(&servers, &caller, size);
        let mut connection = HttpConnection::open(server, &caller.token);
        let known = connection.ask(&format!("GET {IN_PATH}/checksums"), "", "").etag;
        let headers = format!("if-match: {known}\r\nidempotency-key: growth-{size}\r\n");
        let content = format!("{ENTRY_TEXT}changed at {size}\n");
        let body = serde_json::json!({"entries": [{"name": "entry-0.md", "content": content}]});
        let now = connection.ask(&format!("POST {IN_PATH}"), &headers, &body.to_string()).etag;
        let since = known.replace('"', "%22");
        let mut time = |line: &str, headers: &str| {
            let mut times: Vec<_> = (0..PULLS)
                .map(|_| {
                    let since = Instant::now();
                    connection.ask(line, headers, "");
                    since.elapsed()
                })
                .collect();
            times.sort_unstable();
            times.get(PULLS / 2).copied().unwrap_or_default().as_secs_f64() * 1_000.0
        };
        let unchanged = time(&format!("GET {IN_PATH}"), &format!("if-none-match: {now}\r\n"));
        let changed = time(&format!("GET {IN_PATH}?since={since}"), "");
        let whole = time(&format!("GET {IN_PATH}"), "");
        text.push_str(&format!(
            "| {size} | {unchanged:.2} ms | {changed:.2} ms | {whole:.2} ms |\n"
        ));
    }
    text
}
