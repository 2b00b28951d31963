//! The viewer: from the command to the last byte of its first page among 10,000 memories, a search, a session of 50 MB, and
//! the memory that the server takes.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use dormouse_testkit::TestHome;
use serde_json::json;

use crate::measure::Samples;
use crate::memory::{megabytes, peak};
use crate::recall_speed::{Language, fill};
use crate::report::{BenchFigure, BenchSection, FigureUnit};

const MEMORIES: u64 = 10_000;
const STARTS: usize = 15;
const SEARCHES: usize = 300;
const SESSION_BYTES: usize = 50_000_000;
const OPENINGS: usize = 20;
const HEAVY_OPENINGS: usize = 3;
/// Aims in milliseconds and megabytes.
const AIM_FIRST_PAGE: f64 = 100.0;
const AIM_SEARCH: f64 = 50.0;
const AIM_SESSION: f64 = 1_000.0;
const AIM_PEAK: f64 = 60.0;
const SESSION: &str = "0193b0a4-0000-7000-8000-000000000001";

/// Measures the viewer of a release binary.
pub(crate) fn run(binary: &Path) -> BenchSection {
    let home = TestHome::new();
    fill(&home.dormouse_home().join("memory"), MEMORIES);
    // A session makes the project's folder, and a question the index.
    let asked = home.command(binary).args(["recall", "anything"]).output();
    asked.expect("the binary runs");
    write_session(&home, binary);
    let mut section = BenchSection::new(
        "viewer",
        format!(
            "`dormouse ui` with {MEMORIES} memories whose index is on disk. First page: from spawning the command to the last \
             byte of the page, with the exchange of the code, {STARTS} runs. Search: `/memories/results` for questions of 8 \
             words, {SEARCHES} of them. Session: the newest part of a transcript of 50 MB, {OPENINGS} times, and the list of \
             sessions. Peak: `VmHWM` of the server after all of these. Pages that read much: {HEAVY_OPENINGS} times each, \
             in a server of their own."
        ),
    );
    let mut first = Samples::default();
    for _ in 0..STARTS {
        let start = Instant::now();
        let server = ViewerProcess::start(&home, binary);
        server.page("/");
        first.add(start.elapsed());
    }
    let server = ViewerProcess::start(&home, binary);
    let mut searches = Samples::default();
    let mut questions = Language::new(5);
    for _ in 0..SEARCHES {
        let question = questions.question().replace(' ', "+");
        searches.add(server.page(&format!("/memories/results?q={question}")));
    }
    let (mut opening, mut lists) = (Samples::default(), Samples::default());
    for _ in 0..OPENINGS {
        opening.add(server.page(&format!("/session/dormouse/{SESSION}/transcript")));
        lists.add(server.page("/sessions"));
    }
    let peak_of_all = server.peak();
    drop(server);
    section.add([
        BenchFigure::median("first page", &first).aim_below(AIM_FIRST_PAGE),
        BenchFigure::median("search, p50", &searches),
        BenchFigure::new("search, p99", searches.of_100_the_99th(), FigureUnit::Milliseconds)
            .aim_below(AIM_SEARCH),
        BenchFigure::median("opening a session of 50 MB", &opening).aim_below(AIM_SESSION),
        BenchFigure::median("list of sessions", &lists),
        BenchFigure::new("peak memory", peak_of_all, FigureUnit::Megabytes).aim_below(AIM_PEAK),
    ]);
    let requests = format!("/session/dormouse/{SESSION}/requests");
    section.add(heavy_page(&home, binary, &requests, "requests of a session of 50 MB"));
    // Nobody has seen the memories before: the first time, all of them are one change.
    section.add(heavy_page(&home, binary, "/changes", "changes, of which one has 10,000 files"));
    section.add(heavy_page(&home, binary, "/doctor", "doctor, with 10,000 problems"));
    section
}

/// A page that reads much, in a server that has shown nothing else: the time, and the memory that it takes.
fn heavy_page(home: &TestHome, binary: &Path, path: &str, what: &str) -> [BenchFigure; 2] {
    let server = ViewerProcess::start(home, binary);
    let mut times = Samples::default();
    for _ in 0..HEAVY_OPENINGS {
        times.add(server.page(path));
    }
    [
        BenchFigure::median(what, &times),
        BenchFigure::new(format!("{what}: peak memory"), server.peak(), FigureUnit::Megabytes)
            .aim_below(AIM_PEAK),
    ]
}

/// A transcript of prompts, calls and results of up to 30 kB.
fn write_session(home: &TestHome, binary: &Path) {
    let listed =
        home.command(binary).args(["memory", "add", "one note", "--scope", "project"]).output();
    listed.expect("the binary runs");
    let projects = home.dormouse_home().join("projects");
    let mut folders = std::fs::read_dir(projects).expect("a project");
    let folder = folders.next().expect("a project").expect("a folder").path();
    let mut text = String::with_capacity(SESSION_BYTES);
    let mut language = Language::new(3);
    for number in 0_u64.. {
        if text.len() >= SESSION_BYTES {
            break;
        }
        let message = match number % 4 {
            0 => json!({"role": "user", "content": language.question()}),
            1 => {
                json!({"role": "assistant", "id": format!("m{number}"), "model": "claude-sonnet-4-5", "content": [{"type": "tool_use", "id": format!("t{number}"), "name": "Bash", "input": {"command": "cat notes"}}], "usage": {"input_tokens": 9, "cache_read_input_tokens": 50_000, "output_tokens": 80}})
            }
            2 => {
                json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": format!("t{}", number - 1), "content": (0..=number % 50).map(|_| language.memory()).collect::<String>()}]})
            }
            _ => {
                json!({"role": "assistant", "id": format!("m{number}"), "model": "claude-sonnet-4-5", "content": [{"type": "text", "text": language.question()}], "usage": {"input_tokens": 9, "cache_read_input_tokens": 52_000, "output_tokens": 80}})
            }
        };
        let line = json!({
            "type": if number % 2 == 0 { "user" } else { "assistant" }, "uuid": format!("0193b0a4-0000-7000-9000-{number:012}"), "sessionId": SESSION,
            "timestamp": "2026-11-02T08:00:00.000Z", "message": message,
        });
        text.push_str(&format!("{line}\n"));
    }
    std::fs::write(folder.join(format!("{SESSION}.jsonl")), text).expect("a transcript");
}

/// A server, and the cookie of its code. It ends with this value.
struct ViewerProcess {
    child: Child,
    address: String,
    cookie: String,
}

impl ViewerProcess {
    fn start(home: &TestHome, binary: &Path) -> Self {
        let mut command: Command = home.command(binary);
        let mut child = command
            .args(["ui", "--no-open"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the viewer starts");
        let mut url = String::new();
        let output = child.stdout.take().expect("a pipe from it");
        BufReader::new(output).read_line(&mut url).expect("its address");
        let url = url.trim().trim_start_matches("http://").to_owned();
        let (address, entry) = url.split_once('/').expect("an address");
        let mut server = Self { child, address: address.to_owned(), cookie: String::new() };
        let welcome = server.send(&format!("/{entry}"));
        let cookie = welcome.split("set-cookie: ").nth(1).and_then(|rest| rest.split(';').next());
        cookie.expect("a cookie").clone_into(&mut server.cookie);
        server
    }

    /// The most memory that it has had, in megabytes.
    fn peak(&self) -> f64 {
        megabytes(peak(self.child.id()).unwrap_or(0))
    }

    /// The time to the last byte of a page.
    fn page(&self, path: &str) -> Duration {
        let start = Instant::now();
        let reply = self.send(path);
        let time = start.elapsed();
        assert!(reply.starts_with("HTTP/1.1 200"), "{path}: {reply}");
        time
    }

    fn send(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {}\r\nCookie: {}\r\nConnection: close\r\n\r\n",
            self.address, self.cookie
        );
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut reply = Vec::new();
        stream.read_to_end(&mut reply).expect("it answers");
        String::from_utf8_lossy(&reply).into_owned()
    }
}

impl Drop for ViewerProcess {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ended = self.child.kill();
        let _waited = self.child.wait();
    }
}
