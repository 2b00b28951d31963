//! T-11: processes that change the same and different entries, while servers are killed and connections are cut. Every accepted
//! change is in the history, every client ends with the same bytes, nobody's unpushed change is lost.
//!
//! `scripts/team-faults SECONDS` runs the same for longer.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use dormouse_testkit::{Running, TestHome};
use serde_json::Value;

use crate::program::{dormouse, wait_until};

const CLIENTS: usize = 50;
/// Changes of each client, unless `DORMOUSE_TEAM_FAULTS` says for how many seconds.
const ROUNDS: usize = 4;
/// How many changes are accepted between two kills of a server.
const ACCEPTED_BY_A_SERVER: usize = 5;
/// The client whose disk fills up now and then, in the middle of a sync.
const WITH_FULL_DISK: usize = 3;
const SHARED: [&str; 2] = ["shared-0.md", "shared-1.md"];

/// Numbers that are the same in every run.
struct Numbers(AtomicU64);

impl Numbers {
    fn index(&self, length: usize) -> usize {
        usize::try_from(self.below(length.max(1) as u64)).unwrap()
    }

    fn below(&self, limit: u64) -> u64 {
        let step = |state: u64| {
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407)
        };
        let before = self
            .0
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |state| Some(step(state)))
            .unwrap();
        (step(before) >> 33) % limit
    }
}

/// Passes connections on to the servers, and cuts some of them after some bytes.
struct CuttingProxy {
    address: SocketAddr,
    servers: Arc<Mutex<Vec<SocketAddr>>>,
    cuts: Arc<AtomicBool>,
}

impl CuttingProxy {
    fn start(numbers: Arc<Numbers>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let servers = Arc::new(Mutex::new(Vec::new()));
        let cuts = Arc::new(AtomicBool::new(true));
        let (known, cutting) = (Arc::clone(&servers), Arc::clone(&cuts));
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let servers: Vec<SocketAddr> = known.lock().unwrap().clone();
                let chosen = numbers.index(servers.len());
                let Some(server) = servers.get(chosen) else { continue };
                let Ok(server) = TcpStream::connect(server) else { continue };
                let is_cut = cutting.load(Ordering::SeqCst) && numbers.below(4) == 0;
                let left = if is_cut { numbers.below(2_500) } else { u64::MAX };
                let left = Arc::new(AtomicU64::new(left));
                pass_on(&client, &server, &left);
                pass_on(&server, &client, &left);
            }
        });
        Self { address, servers, cuts }
    }
}

/// Copies until one side closes or the bytes of both directions are used up; then both sides are closed.
fn pass_on(from: &TcpStream, to: &TcpStream, left: &Arc<AtomicU64>) {
    let (mut from, mut to, left) =
        (from.try_clone().unwrap(), to.try_clone().unwrap(), Arc::clone(left));
    std::thread::spawn(move || {
        let mut bytes = [0; 512];
        while let Ok(count @ 1..) = from.read(&mut bytes) {
            let before = left
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| {
                    Some(left.saturating_sub(count as u64))
                })
                .unwrap();
            let passed = usize::try_from(before).unwrap_or(usize::MAX).min(count);
            if to.write_all(&bytes[..passed]).is_err() || passed < count {
                break;
            }
        }
        for stream in [&from, &to] {
            let _closed = stream.shutdown(Shutdown::Both);
        }
    });
}

/// Servers on one database, each of which can be killed and started again.
struct Servers {
    home: TestHome,
    running: Vec<(Running, SocketAddr)>,
}

impl Servers {
    fn start(mut home: TestHome, database: &str, count: usize) -> Self {
        home.set_env("DORMOUSE_TEAM_DATABASE", database);
        let mut servers = Self { home, running: Vec::new() };
        for _ in 0..count {
            let server = servers.one();
            servers.running.push(server);
        }
        servers
    }

    fn one(&self) -> (Running, SocketAddr) {
        let arguments =
            ["team", "serve", "--listen", "127.0.0.1:0", "--log", "none", "--rate", "0"];
        let running = self.home.spawn(&mut dormouse(&self.home, &arguments));
        running.wait_for_stderr(|text| text.contains("http://") && text.ends_with('\n'));
        let said = running.stderr();
        let (_, address) = said.rsplit_once("http://").unwrap();
        let address = address.trim().parse().unwrap();
        (running, address)
    }

    fn addresses(&self) -> Vec<SocketAddr> {
        self.running.iter().map(|(_, address)| *address).collect()
    }

    /// Kills a server with -9, and starts another.
    fn kill_one(&mut self, which: usize) {
        drop(self.running.remove(which));
        let server = self.one();
        self.running.push(server);
    }

    fn token(&self, person: &str) -> String {
        let output = self.home.run(&mut dormouse(&self.home, &["team", "token", "create", person]));
        output.success().stdout.trim().to_owned()
    }
}

/// A client's disk.
#[derive(Clone, Copy)]
enum Disk {
    Fine,
    /// The write with this number, and all after it, find no space left.
    FullAfter(u64),
}

/// How long clients change entries.
#[derive(Clone, Copy)]
enum Length {
    Rounds(usize),
    Time(Duration),
}

impl Length {
    fn from_environment() -> Self {
        let seconds = std::env::var("DORMOUSE_TEAM_FAULTS").ok();
        let seconds = seconds.map(|seconds| Duration::from_secs(seconds.parse().unwrap()));
        seconds.map_or(Self::Rounds(ROUNDS), Self::Time)
    }

    fn has(self, round: usize, since: Instant) -> bool {
        match self {
            Self::Rounds(rounds) => round < rounds,
            Self::Time(time) => since.elapsed() < time,
        }
    }
}

/// A person's computer.
struct TeamClient {
    home: TestHome,
    folder: PathBuf,
    /// The texts that must be in the history, by entry.
    accepted: Vec<(String, String)>,
    rounds: usize,
}

impl TeamClient {
    fn join(servers: &Servers, proxy: &CuttingProxy, number: usize, repository: &str) -> Self {
        // Clocks that are hours and days apart.
        let (day, hour) = (number % 28 + 1, number % 24);
        let home = TestHome::new().with_now(&format!("2026-11-{day:02}T{hour:02}:00:00Z"));
        let url = format!("http://{}", proxy.address);
        let token = servers.token(&format!("person {number}"));
        let mut join = dormouse(&home, &["team", "join", &url, "--repository", repository]);
        home.run_with_input(&mut join, &token).success();
        let path = home.run(&mut dormouse(&home, &["memory", "path", "--scope", "team"]));
        let folder = PathBuf::from(path.success().stdout.trim());
        Self { home, folder, accepted: Vec::new(), rounds: 0 }
    }

    fn sync(&self, disk: Disk) -> Option<Value> {
        let mut command = dormouse(&self.home, &["team", "sync", "--json"]);
        if let Disk::FullAfter(writes) = disk {
            command.env("DORMOUSE_FAULT", format!("enospc@base.write_temporary#{writes}"));
        }
        let output = self.home.run(&mut command);
        serde_json::from_str(&output.stdout)
            .ok()
            .filter(|report: &Value| report["pushed"].is_array())
    }

    /// Changes an entry as an editor would, and syncs. A change that is no longer there must have been accepted.
    fn change(&mut self, entry: &str, text: &str, disk: Disk) {
        let file = self.folder.join(entry);
        std::fs::write(&file, text).unwrap();
        let report = self.sync(disk);
        let is_pushed = report.is_some_and(|report| {
            report["pushed"].as_array().unwrap().iter().any(|name| name == entry)
        });
        if is_pushed || std::fs::read_to_string(&file).unwrap() != text {
            self.accepted.push((entry.to_owned(), text.to_owned()));
        }
    }

    fn files(&self) -> BTreeMap<String, String> {
        let entries = std::fs::read_dir(&self.folder).unwrap().map(|entry| entry.unwrap());
        let text = |entry: std::fs::DirEntry| {
            let name = entry.file_name().into_string().unwrap();
            (name != "MEMORY.md").then(|| (name, std::fs::read_to_string(entry.path()).unwrap()))
        };
        entries.filter_map(text).collect()
    }
}

/// Looks up every accepted change of these entries in their history; how many there were.
fn found_in_the_history<'a>(
    clients: &[TeamClient],
    entries: impl Iterator<Item = &'a String>,
) -> usize {
    let mut checked = 0;
    for entry in entries {
        let log =
            clients[0].home.run(&mut dormouse(&clients[0].home, &["team", "log", entry, "--json"]));
        let log: Value = serde_json::from_str(&log.success().stdout).unwrap();
        let texts: Vec<&str> = log
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|version| version["content"].as_str())
            .collect();
        for (_, text) in
            clients.iter().flat_map(|client| &client.accepted).filter(|(name, _)| name == entry)
        {
            assert!(
                texts.contains(&text.as_str()),
                "{entry}: {text} was accepted and is not in the history"
            );
            checked += 1;
        }
    }
    checked
}

#[expect(clippy::print_stdout, reason = "`scripts/team-faults` shows what was done")]
fn nothing_is_lost(home: TestHome, database: &str, count: usize, repository: &str) {
    let numbers = Arc::new(Numbers(AtomicU64::new(7)));
    let proxy = CuttingProxy::start(Arc::clone(&numbers));
    proxy.cuts.store(false, Ordering::SeqCst);
    let mut servers = Servers::start(home, database, count);
    *proxy.servers.lock().unwrap() = servers.addresses();
    let mut clients: Vec<TeamClient> =
        (0..CLIENTS).map(|number| TeamClient::join(&servers, &proxy, number, repository)).collect();
    proxy.cuts.store(true, Ordering::SeqCst);
    let working = Arc::new(AtomicU64::new(CLIENTS as u64));
    let (accepted, mut kills) = (&AtomicUsize::new(0), 0);
    let (length, since) = (Length::from_environment(), Instant::now());
    std::thread::scope(|scope| {
        for (number, client) in clients.iter_mut().enumerate() {
            let (working, numbers) = (Arc::clone(&working), Arc::clone(&numbers));
            scope.spawn(move || {
                let own = format!("own-{number}.md");
                let mut round = 0;
                // The last change of everybody is one of their own.
                while length.has(round, since) || round % 2 == 1 {
                    let entry =
                        if round % 2 == 0 { SHARED[(number + round / 2) % 2] } else { &own };
                    let text = format!("person {number}, round {round}\n{}", "text ".repeat(40));
                    let is_full = number == WITH_FULL_DISK && round % 3 > 0;
                    let disk =
                        if is_full { Disk::FullAfter(numbers.below(6) + 1) } else { Disk::Fine };
                    let before = client.accepted.len();
                    client.change(entry, &text, disk);
                    accepted.fetch_add(client.accepted.len() - before, Ordering::SeqCst);
                    round += 1;
                }
                client.rounds = round;
                working.fetch_sub(1, Ordering::SeqCst);
            });
        }
        let is_work_left = || working.load(Ordering::SeqCst) > 0;
        while is_work_left() {
            // By what was accepted, not by time: on a slow machine a server gets through as much before its end.
            let due = (kills + 1) * ACCEPTED_BY_A_SERVER;
            let is_due = || accepted.load(Ordering::SeqCst) >= due;
            wait_until("changes to be accepted", || is_due() || !is_work_left());
            servers.kill_one(numbers.index(count));
            *proxy.servers.lock().unwrap() = servers.addresses();
            kills += 1;
        }
    });
    assert!(kills > 3, "only {kills} servers were killed");
    proxy.cuts.store(false, Ordering::SeqCst);
    // Everybody sends what is left, then fetches what the others sent.
    for client in clients.iter().chain(&clients) {
        let report = client.sync(Disk::Fine).unwrap();
        assert_eq!(report["postponed"], Value::from(Vec::<Value>::new()));
    }
    let first = clients[0].files();
    assert_eq!(first.len(), CLIENTS + SHARED.len());
    for (number, client) in clients.iter().enumerate() {
        assert_eq!(client.files(), first, "client {number}");
        let own = format!("person {number}, round {}\n", client.rounds - 1);
        let kept = &first[&format!("own-{number}.md")];
        assert!(kept.starts_with(&own), "{own}, but the entry is {kept}; {:?}", client.accepted);
    }
    let checked = found_in_the_history(&clients, first.keys());
    // On a busy machine many syncs meet a dead server; that some get through is enough to check them.
    assert!(checked > 10, "only {checked} changes were accepted");
    let rounds: usize = clients.iter().map(|client| client.rounds).sum();
    println!(
        "{CLIENTS} clients made {rounds} changes, {checked} of them seen accepted; {kills} servers were killed"
    );
}

#[test]
fn nothing_is_lost_with_sqlite_and_one_server() {
    let home = TestHome::new();
    let database = home.root().join("team.db").display().to_string();
    nothing_is_lost(home, &database, 1, "host.example/owner/faults");
}

#[test]
fn nothing_is_lost_with_postgres_and_three_servers() {
    let Ok(database) = std::env::var("DORMOUSE_TEST_POSTGRES") else {
        assert!(std::env::var("CI").as_deref() != Ok("true"), "scripts/test starts PostgreSQL");
        return;
    };
    // A repository of its own: other runs may have used the database.
    let repository = format!("host.example/owner/faults-{}", std::process::id());
    nothing_is_lost(TestHome::new(), &database, 3, &repository);
}
