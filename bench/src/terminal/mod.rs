//! The terminal interface while a long answer streams: bytes, processor time, memory, and how soon a key is seen. Other agents are
//! measured the same way, where their programs are given.

mod large_project;
mod process_tree;
mod program;
mod server;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::fail::fail;
use crate::measure::Samples;
use crate::report::{BenchFigure, BenchSection, FigureUnit};
use process_tree::{peak_memory, processor_time, wake_ups};
use program::{Program, SIZE, StartedProgram};
use server::{PACE, SHORT};

const LINES: usize = 400;
/// The turns of a long session.
const TURNS: usize = 3_000;
/// How often each program is started.
const STARTS: usize = 11;
/// Between two keys.
const TYPING: Duration = Duration::from_millis(150);
/// The composer is cleared before it needs a second row.
const LONGEST_TYPED: usize = 60;
const IDLE: Duration = Duration::from_secs(5);
const LAST: &str = "the end of it";

/// What one run showed.
struct StreamRun {
    bytes: u64,
    /// Characters that were written, without sequences.
    printed: u64,
    clears: u64,
    processor: Duration,
    memory: u64,
    echo: Samples,
    idle_wake_ups: u64,
}

/// Measures the live interface beside the mode of lines and beside other programs.
pub(crate) fn run(binary: &Path, others: &[PathBuf]) -> BenchSection {
    let answer = answer();
    let other = |path: &PathBuf| match Program::other(path) {
        Some(program) => program,
        None => fail(&format!("{}: not a program that is known here", path.display())),
    };
    let (live, lines) =
        (Program::Dormouse(binary.to_owned()), Program::DormousePlain(binary.to_owned()));
    let programs: Vec<Program> =
        [live, lines].into_iter().chain(others.iter().map(other)).collect();
    let mut starts: Vec<Samples> = programs.iter().map(|_| Samples::default()).collect();
    // In turn, so that what else the machine does falls on all.
    for _ in 0..STARTS {
        for (program, samples) in programs.iter().zip(&mut starts) {
            samples.add(program.start(&answer).1);
        }
    }
    let mut section = BenchSection::new(
        "terminal",
        format!(
            "An answer of {LINES} lines of markdown with code ({} bytes) in pieces every {} ms, in a pseudo-terminal of {} by {}; a key every {} ms meanwhile. The mode of lines (`--plain`) shows no keys. Processor time and memory are those of a program and the processes it started.",
            answer.len(),
            PACE.as_millis(),
            SIZE.0,
            SIZE.1,
            TYPING.as_millis(),
        ),
    );
    for (program, starts) in programs.iter().zip(&starts) {
        let run = stream(program.start(&answer).0, program.shows_keys());
        let is_ours = matches!(program, Program::Dormouse(_));
        section.add(figures(program.name(), starts, &run, answer.len(), is_ours));
    }
    section.add(after_many_turns(binary, &answer));
    section.add(large_project::figures(binary));
    section
}

/// The same answer at the end of a long session.
fn after_many_turns(binary: &Path, answer: &str) -> Vec<BenchFigure> {
    let program = Program::Dormouse(binary.to_owned());
    let (mut started, _) = program.start(answer);
    for turn in 0..TURNS {
        started.terminal.enter(&format!("{SHORT} {turn}"));
        let wanted = format!("done {turn}.");
        started.wait_for("the short answer", |screen| {
            let idle = screen.lines().any(|row| row == ">");
            idle && screen.contains(&wanted)
        });
    }
    let run = stream(started, program.shows_keys());
    let name = format!("after {TURNS} turns");
    // The start is that of a session without turns.
    figures(&name, &Samples::default(), &run, answer.len(), true).split_off(1)
}

/// The figures of a program; ours have aims.
fn figures(
    name: &str,
    starts: &Samples,
    run: &StreamRun,
    answer: usize,
    is_ours: bool,
) -> Vec<BenchFigure> {
    let aim = |figure: BenchFigure, below: f64| {
        if is_ours { figure.aim_below(below) } else { figure }
    };
    let megabytes = |bytes: u64| number(bytes) / 1_000_000.0;
    let figure =
        |what: &str, value: f64, unit| BenchFigure::new(format!("{name}: {what}"), value, unit);
    let milliseconds = FigureUnit::Milliseconds;
    let processor = run.processor.as_secs_f64() * 1_000.0;
    let repeated = number(run.printed) / number(counted(answer));
    let start = BenchFigure::median(format!("{name}: from spawn to the composer"), starts);
    let mut figures = vec![
        aim(start, 30.0),
        aim(figure("written to the terminal", megabytes(run.bytes), FigureUnit::Megabytes), 0.04),
        figure("characters written for one of the answer", repeated, FigureUnit::Times),
        aim(figure("full clears", number(run.clears), FigureUnit::Count), 1.0),
        aim(figure("processor time", processor, milliseconds), 500.0),
        aim(figure("peak memory", megabytes(run.memory), FigureUnit::Megabytes), 40.0),
    ];
    if !run.echo.is_empty() {
        let echo = BenchFigure::median(format!("{name}: key to echo while it streams"), &run.echo);
        let slow = figure("the same, of 100 the 99th", run.echo.of_100_the_99th(), milliseconds);
        figures.extend([echo, aim(slow, 8.0)]);
    }
    let idle = format!("wake-ups in {} idle seconds", IDLE.as_secs());
    figures.push(aim(figure(&idle, number(run.idle_wake_ups), FigureUnit::Count), 1.0));
    figures
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

fn stream(mut started: StartedProgram, shows_keys: bool) -> StreamRun {
    // Some load more once the composer is there.
    std::thread::sleep(Duration::from_secs(2));
    let process = started.terminal.id();
    let (used, written) = (processor_time(process), started.terminal.bytes().len());
    started.terminal.type_keys("go");
    // Enter soon after letters is a pasted line to some.
    std::thread::sleep(Duration::from_secs(1));
    started.terminal.type_keys("\r");
    started.wait_for("the answer", |screen| screen.contains("Line 2"));
    let echo = if shows_keys { type_until_the_end(&mut started) } else { Samples::default() };
    started.wait_for("the end", |screen| screen.contains(LAST));
    std::thread::sleep(Duration::from_secs(1));
    let processor = processor_time(process).saturating_sub(used);
    let bytes = started.terminal.bytes();
    let text = String::from_utf8_lossy(bytes.get(written..).unwrap_or_default()).into_owned();
    let before = wake_ups(process);
    std::thread::sleep(IDLE);
    StreamRun {
        bytes: counted(text.len()),
        printed: printed(&text),
        clears: counted(text.matches("\u{1b}[2J").count() + text.matches("\u{1b}[3J").count()),
        processor,
        memory: peak_memory(process),
        echo,
        idle_wake_ups: wake_ups(process).saturating_sub(before),
    }
}

/// The characters in what was written, without blanks and control sequences.
fn printed(text: &str) -> u64 {
    let (mut count, mut letters) = (0, text.chars());
    while let Some(letter) = letters.next() {
        match letter {
            '\u{1b}' => match letters.next() {
                Some('[') => drop(letters.find(|letter| ('@'..='~').contains(letter))),
                Some(']') => drop(letters.find(|letter| matches!(letter, '\u{7}' | '\\'))),
                _ => {}
            },
            letter if letter.is_control() || letter.is_whitespace() => {}
            _ => count += 1,
        }
    }
    count
}

/// Types letters while the answer streams, and measures how long each takes to be seen.
fn type_until_the_end(program: &mut StartedProgram) -> Samples {
    let mut echo = Samples::default();
    let mut typed = String::new();
    for letter in ('a'..='z').cycle() {
        if program.terminal.screen().contains(LAST) {
            break;
        }
        if typed.len() == LONGEST_TYPED {
            program.terminal.type_keys("\u{15}");
            typed.clear();
            std::thread::sleep(TYPING);
        }
        typed.push(letter);
        let start = Instant::now();
        program.terminal.type_keys(&letter.to_string());
        program.wait_for_typed(&typed);
        echo.add(start.elapsed());
        std::thread::sleep(TYPING);
    }
    echo
}
