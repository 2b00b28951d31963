//! The MCP server: from its start to its first answer, and the memory it takes, beside another memory server.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use dormouse_testkit::TestHome;

use crate::measure::Samples;
use crate::memory::{megabytes, own, peak};
use crate::report::{BenchFigure, BenchSection, FigureUnit};

const WARM_UPS: usize = 3;
const RUNS: usize = 20;
/// In milliseconds.
const AIM_START: f64 = 50.0;
/// Of what the other one takes.
const AIM_SHARE: f64 = 0.1;

/// What a client says first.
const HELLO: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","#,
    r#""capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#,
    "\n",
);

/// Measures `dormouse mcp`, and the other server where one is given, by turns.
pub(crate) fn run(binary: &Path, other: &[String]) -> BenchSection {
    let home = TestHome::new();
    let (mut ours, mut theirs) = (Taken::default(), Taken::default());
    for round in 0..WARM_UPS + RUNS {
        let counts = round >= WARM_UPS;
        ours.add(measured(home.command(binary).arg("mcp")), counts);
        if let Some((program, arguments)) = other.split_first() {
            theirs.add(measured(home.command(program).args(arguments)), counts);
        }
    }
    let mut section = BenchSection::new(
        "mcp",
        format!(
            "From spawning the server to its answer to `tools/list`, the peak of its resident memory (`VmHWM`) then, \
             and of that what is not of the program's file and libraries, which all its processes share (`RssAnon`); \
             by turns with the other server, {RUNS} runs each after {WARM_UPS} warm-ups, medians."
        ),
    );
    section.add([
        BenchFigure::median("dormouse, first answer", &ours.times).aim_below(AIM_START),
        BenchFigure::new("dormouse, peak", ours.peak(), FigureUnit::Megabytes),
        BenchFigure::new("dormouse, its own", ours.own(), FigureUnit::Megabytes),
    ]);
    if !other.is_empty() {
        section.add([
            BenchFigure::median("the other, first answer", &theirs.times),
            BenchFigure::ratio("first answer, to the other's", &ours.times, &theirs.times)
                .aim_below(AIM_SHARE),
            BenchFigure::new("the other, peak", theirs.peak(), FigureUnit::Megabytes),
            BenchFigure::new("the other, its own", theirs.own(), FigureUnit::Megabytes),
            BenchFigure::new(
                "peak, to the other's",
                ours.peak() / theirs.peak(),
                FigureUnit::Times,
            )
            .aim_below(AIM_SHARE),
        ]);
    }
    section
}

#[derive(Default)]
struct Taken {
    times: Samples,
    peaks: Vec<u64>,
    owns: Vec<u64>,
}

/// What one run took.
#[derive(Clone, Copy)]
struct Run {
    time: Duration,
    peak: u64,
    own: u64,
}

impl Taken {
    fn add(&mut self, run: Run, counts: bool) {
        if counts {
            self.times.add(run.time);
            self.peaks.push(run.peak);
            self.owns.push(run.own);
        }
    }

    fn peak(&self) -> f64 {
        median(&self.peaks)
    }

    fn own(&self) -> f64 {
        median(&self.owns)
    }
}

/// In megabytes.
fn median(bytes: &[u64]) -> f64 {
    let mut bytes = bytes.to_vec();
    bytes.sort_unstable();
    bytes.get(bytes.len() / 2).map_or(f64::NAN, |bytes| megabytes(*bytes))
}

fn measured(command: &mut Command) -> Run {
    let start = Instant::now();
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap_or_else(|error| {
            crate::fail::fail(&format!("{}: {error}", command.get_program().display()))
        });
    let mut input = child.stdin.take().expect("a pipe to it");
    let output = BufReader::new(child.stdout.take().expect("a pipe from it"));
    input.write_all(HELLO.as_bytes()).expect("it reads");
    let mut lines = output.lines();
    let answered = lines
        .any(|line| line.is_ok_and(|line| line.contains("\"id\":2") && line.contains("\"tools\"")));
    let time = start.elapsed();
    assert!(answered, "{command:?} ended without an answer");
    let (peak, own) = (peak(child.id()).unwrap_or(0), own(child.id()).unwrap_or(0));
    drop(input);
    child.wait().expect("a child can be waited for");
    Run { time, peak, own }
}
