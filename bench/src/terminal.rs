//! The terminal interface while a long answer streams: bytes, processor time, memory, and how soon a key is seen.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};

use dormouse_base::names;
use dormouse_testkit::{Terminal, TestHome};
use serde_json::json;

use crate::measure::Samples;
use crate::report::{BenchFigure, BenchSection, FigureUnit};

const SIZE: (u16, u16) = (100, 30);
const LINES: usize = 400;
/// How often each mode is started.
const STARTS: usize = 11;
/// Between two pieces of the answer.
const PACE: Duration = Duration::from_millis(10);
/// Between two keys.
const TYPING: Duration = Duration::from_millis(150);
const IDLE: Duration = Duration::from_secs(5);
const LAST: &str = "the end of it";
/// The clock that the kernel counts processor time with.
const TICKS_A_SECOND: f64 = 100.0;

/// What one run showed.
struct StreamRun {
    bytes: u64,
    clears: u64,
    processor: Duration,
    memory: u64,
    echo: Samples,
    idle_wake_ups: u64,
}

/// Measures the live interface beside the mode of lines.
pub(crate) fn run(binary: &Path) -> BenchSection {
    let answer = answer();
    // Alternately, so that what else the machine does falls on both.
    let (mut live_starts, mut line_starts) = (Samples::default(), Samples::default());
    for _ in 0..STARTS {
        live_starts.add(start(binary, &[], &answer).1);
        line_starts.add(start(binary, &["--plain"], &answer).1);
    }
    let live = stream(binary, &[], &answer);
    let lines = stream(binary, &["--plain"], &answer);
    let mut section = BenchSection::new(
        "terminal",
        format!(
            "An answer of {LINES} lines of markdown with code ({} bytes) in pieces every {} ms, in a pseudo-terminal of {} by {}; a key every {} ms meanwhile. Beside it the same with `--plain`, which shows no keys.",
            answer.len(),
            PACE.as_millis(),
            SIZE.0,
            SIZE.1,
            TYPING.as_millis(),
        ),
    );
    let megabytes = |bytes: u64| number(bytes) / 1_000_000.0;
    let time = |time: Duration| time.as_secs_f64() * 1_000.0;
    let milliseconds = FigureUnit::Milliseconds;
    section.add([
        BenchFigure::median("from spawn to the composer", &live_starts).aim_below(30.0),
        BenchFigure::median("the same, lines", &line_starts),
        BenchFigure::new("written to the terminal", megabytes(live.bytes), FigureUnit::Megabytes)
            .aim_below(0.04),
        BenchFigure::new("the same, lines", megabytes(lines.bytes), FigureUnit::Megabytes),
        BenchFigure::new("full clears", number(live.clears), FigureUnit::Count).aim_below(1.0),
        BenchFigure::new("processor time", time(live.processor), milliseconds).aim_below(500.0),
        BenchFigure::new("the same, lines", time(lines.processor), milliseconds),
        BenchFigure::new("peak memory", megabytes(live.memory), FigureUnit::Megabytes)
            .aim_below(40.0),
        BenchFigure::new("the same, lines", megabytes(lines.memory), FigureUnit::Megabytes),
        BenchFigure::median("key to echo while it streams", &live.echo),
        BenchFigure::new("the same, of 100 the 99th", live.echo.of_100_the_99th(), milliseconds)
            .aim_below(8.0),
        BenchFigure::new(
            format!("wake-ups in {} idle seconds", IDLE.as_secs()),
            number(live.idle_wake_ups),
            FigureUnit::Count,
        )
        .aim_below(1.0),
    ]);
    section
}

fn counted(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

fn number(count: u64) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

fn answer() -> String {
    let line = |number: usize| match number % 10 {
        7 => "```rust\nfn main() { println!(\"nuts\"); }\n```".to_owned(),
        3 => format!("- **item {number}** with `code` and a few words more"),
        _ => format!("Line {number} of the answer, long enough."),
    };
    let lines: Vec<String> = (0..LINES).map(line).collect();
    format!("{}\n\n{LAST}", lines.join("\n"))
}

/// The program at its prompt, and how long that took.
fn start(binary: &Path, arguments: &[&str], answer: &str) -> (StartedProgram, Duration) {
    let mut home = TestHome::new();
    let url = serve(answer.to_owned());
    home.set_env(names::OPENAI_BASE_URL, format!("{url}/v1"));
    home.set_env(names::OPENAI_API_KEY, "key");
    home.set_env(names::CONTEXT_WINDOW, "200000");
    let start = Instant::now();
    let terminal = home.terminal(binary, arguments, SIZE);
    terminal.wait_for("the prompt", |screen| screen.lines().any(|row| row == ">"));
    let until_prompt = start.elapsed();
    (StartedProgram { terminal, _home: home }, until_prompt)
}

/// A program in a terminal, with the home that it needs as long as it runs.
struct StartedProgram {
    terminal: Terminal,
    _home: TestHome,
}

fn stream(binary: &Path, arguments: &[&str], answer: &str) -> StreamRun {
    let (mut program, _) = start(binary, arguments, answer);
    let terminal = &mut program.terminal;
    let (used, written) = (processor_time(terminal.id()), terminal.bytes().len());
    terminal.enter("go");
    terminal.wait_for_text("Line 0");
    let echo = if arguments.is_empty() { type_until_the_end(terminal) } else { Samples::default() };
    terminal.wait_for("the end", |screen| screen.contains(LAST));
    std::thread::sleep(Duration::from_secs(1));
    let bytes = terminal.bytes();
    let text = String::from_utf8_lossy(&bytes);
    let before = wake_ups(terminal.id());
    let processor = processor_time(terminal.id()).saturating_sub(used);
    std::thread::sleep(IDLE);
    StreamRun {
        bytes: counted(bytes.len() - written),
        clears: counted(text.matches("\u{1b}[2J").count() + text.matches("\u{1b}[3J").count()),
        processor,
        memory: status(terminal.id(), "VmHWM") * 1_024,
        echo,
        idle_wake_ups: wake_ups(terminal.id()) - before,
    }
}

/// Types letters while the answer streams, and measures how long each takes to be seen.
fn type_until_the_end(terminal: &mut Terminal) -> Samples {
    let mut echo = Samples::default();
    let mut typed = String::from("> ");
    for letter in ('a'..='z').cycle() {
        if terminal.screen().contains(LAST) {
            break;
        }
        typed.push(letter);
        let start = Instant::now();
        terminal.type_keys(&letter.to_string());
        terminal.wait_for("the key", |screen| screen.contains(&typed));
        echo.add(start.elapsed());
        std::thread::sleep(TYPING);
    }
    echo
}

fn processor_time(process: u32) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).expect("our own child");
    let fields: Vec<&str> =
        stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks =
        |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0);
    Duration::from_secs_f64((ticks(11) + ticks(12)) / TICKS_A_SECOND)
}

fn status(process: u32, field: &str) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{process}/status")).expect("our own child");
    let line = text.lines().find(|line| line.starts_with(field)).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).unwrap_or(0)
}

fn wake_ups(process: u32) -> u64 {
    status(process, "voluntary_ctxt_switches")
}

/// A model server that streams the answer at its pace.
fn serve(answer: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answer = answer.clone();
            // A client that hangs up ends its own connection only.
            std::thread::spawn(move || drop(reply(stream, &answer)));
        }
    });
    url
}

fn reply(stream: TcpStream, answer: &str) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let (mut is_post, mut length) = (false, 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        is_post |= line.starts_with("POST");
        if let Some(number) = line.to_lowercase().strip_prefix("content-length:") {
            length = number.trim().parse().unwrap_or(0);
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let mut stream = stream;
    if !is_post {
        let models = json!({ "data": [{ "id": "paced" }] }).to_string();
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close";
        return write!(stream, "{head}\r\ncontent-length: {}\r\n\r\n{models}", models.len());
    }
    write!(
        stream,
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
    )?;
    let letters: Vec<char> = answer.chars().collect();
    for piece in letters.chunks(12) {
        let text: String = piece.iter().collect();
        event(&mut stream, &json!({ "content": text }), None)?;
        std::thread::sleep(PACE);
    }
    event(&mut stream, &json!({}), Some("stop"))?;
    write!(stream, "data: [DONE]\n\n")
}

fn event(
    stream: &mut TcpStream,
    delta: &serde_json::Value,
    finish: Option<&str>,
) -> std::io::Result<()> {
    let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
    let chunk = json!({ "id": "p", "object": "chat.completion.chunk", "model": "paced", "choices": [choice] });
    write!(stream, "data: {chunk}\n\n")
}
