//! The MCP server: from its start to its first answer, and the memory it takes, beside another memory server.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use dormouse_testkit::TestHome;

use crate::measure::Samples;
use crate::memory::{megabytes, peak};
use crate::report::{Figure, Section, Unit};

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
pub(crate) fn run(binary: &Path, other: &[String]) -> Section {
    let home = TestHome::new();
    let (mut ours, mut theirs) = (Taken::default(), Taken::default());
    for round in 0..WARM_UPS + RUNS {
        let counts = round >= WARM_UPS;
        ours.add(measured(home.command(binary).arg("mcp")), counts);
        if let Some((program, arguments)) = other.split_first() {
            theirs.add(measured(home.command(program).args(arguments)), counts);
        }
    }
    let mut section = Section::new(
        "mcp",
        format!(
            "From spawning the server to its answer to `tools/list`, and the peak of its resident memory (`VmHWM`) \
             then; by turns with the other server, {RUNS} runs each after {WARM_UPS} warm-ups, medians."
        ),
    );
    section.add([
        Figure::median("dormouse, first answer", &ours.times).aim_below(AIM_START),
        Figure::new("dormouse, peak", ours.peak(), Unit::Megabytes),
    ]);
    if !other.is_empty() {
        section.add([
            Figure::median("the other, first answer", &theirs.times),
            Figure::ratio("first answer, to the other's", &ours.times, &theirs.times)
                .aim_below(AIM_SHARE),
            Figure::new("the other, peak", theirs.peak(), Unit::Megabytes),
            Figure::new("peak, to the other's", ours.peak() / theirs.peak(), Unit::Times)
                .aim_below(AIM_SHARE),
        ]);
    }
    section
}

#[derive(Default)]
struct Taken {
    times: Samples,
    peaks: Vec<u64>,
}

impl Taken {
    fn add(&mut self, (time, peak): (Duration, u64), counts: bool) {
        if counts {
            self.times.add(time);
            self.peaks.push(peak);
        }
    }

    /// The median, in megabytes.
    fn peak(&self) -> f64 {
        let mut peaks = self.peaks.clone();
        peaks.sort_unstable();
        peaks.get(peaks.len() / 2).map_or(f64::NAN, |peak| megabytes(*peak))
    }
}

fn measured(command: &mut Command) -> (Duration, u64) {
    let start = Instant::now();
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap_or_else(|error| {
            crate::fail(&format!("{}: {error}", command.get_program().display()))
        });
    let mut input = child.stdin.take().expect("a pipe to it");
    let output = BufReader::new(child.stdout.take().expect("a pipe from it"));
    input.write_all(HELLO.as_bytes()).expect("it reads");
    let mut lines = output.lines();
    let answered = lines
        .any(|line| line.is_ok_and(|line| line.contains("\"id\":2") && line.contains("\"tools\"")));
    let time = start.elapsed();
    assert!(answered, "{command:?} ended without an answer");
    let peak = peak(child.id()).unwrap_or(0);
    drop(input);
    child.wait().expect("a child can be waited for");
    (time, peak)
}
