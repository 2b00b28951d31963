//! The most memory that the binary takes while it answers one question.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{Gate, Reply, ScriptedServer, TestHome};

use crate::report::{BenchFigure, BenchSection, FigureUnit};
use crate::world::{PROMPT, add_matching_memories, add_repository, spawn};

const RUNS: usize = 5;
/// In megabytes.
const AIM: f64 = 15.0;
/// How often a process is looked at until it ends.
const LOOK: Duration = Duration::from_millis(1);

/// Measures it against the tests' own scripted server, which holds back the end of its answer; and, where another build is
/// given, that one.
pub(crate) fn run(binary: &Path, against: Option<&Path>) -> BenchSection {
    let mut section = BenchSection::new(
        "memory",
        "The peak of resident memory (`VmHWM`) of `dormouse -p PROMPT`, one answer of text, read while \
         the server holds back the end of its answer and then until the process ends; in a repository of 1,000 files with 100 \
         memories that match, in a home that was used before. Its parts, as they are while the answer is held back: what is in no \
         file, and what is mapped from files, which other processes share.",
    );
    let ours = peaks(binary);
    let spread = format!("{:.2} to {:.2} of {RUNS}", ours.best, ours.worst);
    let megabytes = |name, value| BenchFigure::new(name, value, FigureUnit::Megabytes);
    section.add([
        megabytes("peak of one turn, the worst run", ours.worst).beside(spread).aim_below(AIM),
        megabytes("of it in no file", ours.anonymous),
        megabytes("of it from files", ours.from_files),
    ]);
    if let Some(against) = against {
        let ratio = ours.worst / peaks(against).worst;
        section.add([BenchFigure::new("peak, to the other build", ratio, FigureUnit::Times)]);
    }
    section
}

/// Peaks of some runs, in megabytes, with the parts of the last.
struct MemoryPeaks {
    best: f64,
    worst: f64,
    anonymous: f64,
    from_files: f64,
}

fn peaks(binary: &Path) -> MemoryPeaks {
    let mut home = TestHome::new();
    add_repository(&home);
    add_matching_memories(&home);
    // The first run of a home makes the index.
    let mut peaks = MemoryPeaks { best: f64::MAX, worst: 0.0, anonymous: 0.0, from_files: 0.0 };
    for round in 0..=RUNS {
        let (peak, parts) = one_run(binary, &mut home);
        if round > 0 {
            peaks.best = peaks.best.min(megabytes(peak));
            peaks.worst = peaks.worst.max(megabytes(peak));
            (peaks.anonymous, peaks.from_files) = (megabytes(parts.0), megabytes(parts.1));
        }
    }
    peaks
}

/// The peak of a run, and the parts of its memory while the answer is held back.
fn one_run(binary: &Path, home: &mut TestHome) -> (u64, (u64, u64)) {
    let gate = Gate::new();
    let turn = ScriptedTurn::new().text("The dormouse sleeps for half of the year. ".repeat(20));
    let server = ScriptedServer::builder().reply(Reply::from(turn).gate_after(40, &gate)).start();
    home.use_server(&server);
    let mut child = spawn(home.command(binary).args(["-p", PROMPT]).stderr(Stdio::null()));
    gate.wait_until_reached();
    let process = child.id();
    let parts = (own(process).unwrap_or(0), from_status(process, "RssFile:").unwrap_or(0));
    let before = peak(process);
    gate.open();
    let peak = peak_until_end(&mut child).max(before.unwrap_or(0));
    server.finish();
    (peak, parts)
}

/// Waits for the end of a process; the most memory it was seen to have taken, in bytes.
pub(crate) fn peak_until_end(child: &mut Child) -> u64 {
    let mut most = 0;
    loop {
        most = most.max(peak(child.id()).unwrap_or(0));
        match child.try_wait().expect("a child can be waited for") {
            None => std::thread::sleep(LOOK),
            Some(status) => {
                assert!(status.success(), "it ended with {status}");
                return most;
            }
        }
    }
}

/// The most memory a process has taken so far, in bytes; nothing if it has ended.
pub(crate) fn peak(process: u32) -> Option<u64> {
    from_status(process, "VmHWM:")
}

/// The memory of a process that is in no file, and so nobody else's as well, in bytes; nothing if it has ended.
pub(crate) fn own(process: u32) -> Option<u64> {
    from_status(process, "RssAnon:")
}

/// The memory that a process has right now, in bytes; nothing if it has ended.
pub(crate) fn resident(process: u32) -> Option<u64> {
    from_status(process, "VmRSS:")
}

/// The processor time that a process has taken so far, without that of what it started; nothing if it has ended.
pub(crate) fn processor_time(process: u32) -> Option<Duration> {
    /// Of the kernel's ticks, on every machine that Linux runs on today.
    const TICK: Duration = Duration::from_millis(10);
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name in brackets may hold anything; what follows are numbers.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<u32>().ok();
    Some(TICK * (ticks()? + ticks()?))
}

fn from_status(process: u32, field: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

/// In units of 1,000,000 bytes.
#[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^52 bytes")]
pub(crate) fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1_000_000.0
}
