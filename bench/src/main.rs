//! Benchmarks of the release binary and of the paths that every request takes.
//!
//! ```text
//! cargo run --release -p dormouse-bench -- ground --binary target/release/dormouse
//! ```
//!
//! Every figure stands beside its aim and beside something measured on the same machine in the same
//! minute. A figure that misses its aim is printed and written down like any other.

#![forbid(unsafe_code)]
#![expect(
    clippy::expect_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark: it measures with the real clock, starts real processes, and a broken set-up ends it"
)]

mod answers;
mod assemble;
mod echo;
mod fail;
mod fidelity;
mod generate;
mod layers;
mod lock;
mod long_haul;
mod machine;
mod mcp;
mod measure;
mod memory;
mod recall;
mod recall_busy;
mod recall_speed;
mod recall_start;
mod report;
mod results;
mod resume;
mod safety;
mod server;
mod start;
mod store;
mod team;
mod terminal;
mod tools;
mod viewer;
mod world;

use std::path::{Path, PathBuf};

use clap::{Parser, ValueEnum};

use crate::fail::fail;
use crate::report::BenchSection;

/// Measures the program and compares the figures with their aims.
#[derive(Debug, Parser)]
#[command(name = "dormouse-bench")]
#[expect(clippy::struct_excessive_bools, reason = "switches of the command line")]
struct Arguments {
    /// What to measure
    #[arg(value_enum)]
    suite: Suite,

    /// For `recall` and `answers`: collections of memories and questions, as `bench/FORMAT.md` describes them; for
    /// `fidelity`: transcripts, of this or another agent, plain or `.gz`
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Print the figures as JSON
    #[arg(long)]
    json: bool,

    /// `recall`: rank by the word vectors in this file as well (`word v1 v2 …` a line)
    #[arg(long, value_name = "FILE")]
    vectors: Option<PathBuf>,

    /// `recall`: rank by vectors of the server at this address (`/v1/embeddings`) as well
    #[arg(long, value_name = "URL", conflicts_with = "vectors")]
    embeddings: Option<String>,

    /// `recall`: learn how sure a match is, and print the constants; with `--json`, what is learned from
    #[arg(long)]
    learn: bool,

    /// `recall`: learn what the words of a message tell, from the files for practice, and print the list
    #[arg(long, conflicts_with = "learn")]
    learn_wording: bool,

    /// `recall`: count how rare words are, in files of collections and of texts, and print the list
    #[arg(long, conflicts_with_all = ["learn", "learn_wording"])]
    learn_rarity: bool,

    /// `recall`: the files are plain pairs of a prompt and a memory; measure which come
    #[arg(long, conflicts_with_all = ["learn", "learn_wording", "halves"])]
    plain: bool,

    /// `recall`: choose the ranking's numbers on one half of the collections and measure them on the other
    #[arg(long)]
    halves: bool,

    /// `answers`: the model server that answers (its address, with `/v1` if it has one)
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8080/v1")]
    server: String,

    /// `answers`: how many questions of each file
    #[arg(long, default_value_t = 60)]
    questions: usize,

    /// `answers`: what the answers to messages are checked for
    #[arg(long, value_name = "FILE")]
    checks: Option<PathBuf>,

    /// The release binary to measure
    #[arg(long, value_name = "FILE", default_value = "target/release/dormouse")]
    binary: PathBuf,

    /// `start`, `memory`: another build, to compare with in the same run
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,

    /// The file whose section is written anew; only whole runs of `ground`, `tools` or `store` are written down
    #[arg(long, value_name = "FILE")]
    results: Option<PathBuf>,

    /// A further transcript to load, of this or another agent; may be given more than once
    #[arg(long, value_name = "FILE", num_args = 1..)]
    transcript: Vec<PathBuf>,

    /// ripgrep, to compare with
    #[arg(long, value_name = "PROGRAM", default_value = "rg")]
    rg: String,

    /// fd, to compare with (Debian calls it `fdfind`)
    #[arg(long, value_name = "PROGRAM", default_value = "fd")]
    fd: String,

    /// The other memory server to compare `dormouse mcp` with: a program and its arguments
    #[arg(long, value_name = "PROGRAM", num_args = 1..)]
    other_server: Vec<String>,

    /// `terminal`: another agent to measure beside ours, `claude` or `codex` by the name of its file; may be given more than once
    #[arg(long, value_name = "PROGRAM")]
    beside: Vec<PathBuf>,

    /// `long-haul`: how many turns
    #[arg(long, default_value_t = 3_000)]
    turns: usize,

    /// `long-haul`: how many turns in rows other than as shipped and all off; as many unless given
    #[arg(long)]
    other_turns: Option<usize>,

    /// `long-haul`: how many rows are run side by side
    #[arg(long, default_value_t = 1)]
    at_once: usize,

    /// `long-haul`: the window, in tokens
    #[arg(long, default_value_t = 200_000)]
    window: u32,

    /// `long-haul`: the model by whose list prices it is counted
    #[arg(long, value_name = "NAME", default_value = "claude-sonnet-4-5")]
    priced_as: String,

    /// `long-haul`: the server has no cache
    #[arg(long)]
    without_cache: bool,

    /// `long-haul`: a build with `--features movable-clock`, for the rows with pauses
    #[arg(long, value_name = "FILE")]
    clock_binary: Option<PathBuf>,

    /// `long-haul`: only rows whose names hold this; may be given more than once
    #[arg(long, value_name = "PART")]
    only: Vec<String>,

    /// `long-haul`: turns from one dream to the next
    #[arg(long, default_value_t = 500)]
    dream_every: usize,

    /// `long-haul`: the section of the results file that is written anew
    #[arg(long, value_name = "NAME", default_value = "long-haul")]
    section: String,

    /// The date of the run; today unless given
    #[arg(long, value_name = "YYYY-MM-DD")]
    date: Option<String>,
}

/// The benchmarks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Suite {
    /// All of them
    Ground,
    /// From spawning the binary to its first request
    Start,
    /// From a new message to the bytes of a request
    Assemble,
    /// The binary's peak memory
    Memory,
    /// Opening a session of 50 MB again
    Resume,
    /// The tools: searching beside `rg` and `fd`, commands, permissions; by itself, not in `ground`
    Tools,
    /// The memory store: scan, opening, saving, anchors; by itself, not in `ground`
    Store,
    /// How well memories are found, on collections given as files; by itself, not in `ground`
    Recall,
    /// What memories do to a model's answers, on collections given as files; by itself, not in `ground`
    Answers,
    /// How quickly memories are found among 10,000 and 100,000; by itself, not in `ground`
    RecallSpeed,
    /// Whether the first message has its memory on a busy machine; by itself, not in `ground`
    RecallBusy,
    /// The MCP server beside another; by itself, not in `ground`
    Mcp,
    /// The cheap layers before a request, and the profiler; by itself, not in `ground`
    Layers,
    /// What survives a compaction, on transcripts given as files, and planning one; by itself, not in `ground`
    Fidelity,
    /// Thousands of turns in one process, with each layer switched in turn; by itself, not in `ground`
    LongHaul,
    /// How well and how quickly it is seen that something is said already; by itself, not in `ground`
    Same,
    /// What checkpoints and the sandbox cost, and which commands work in it, listed in files; by itself, not in `ground`
    Safety,
    /// The terminal interface while a long answer streams; by itself, not in `ground`
    Terminal,
    /// The team server under load, beside its database alone; by itself, not in `ground`
    Team,
    /// The viewer: its first page, searches, a session of 50 MB; by itself, not in `ground`
    Viewer,
    /// What memory becomes in a hundred sessions with a careless model; takes a debug build of the binary; by
    /// itself, not in `ground`
    Echo,
}

impl Suite {
    /// The section of the results that a run writes anew; a part of `ground` is not written down.
    fn section(self) -> Option<&'static str> {
        match self {
            Self::Ground => Some("ground"),
            Self::Tools => Some("tools"),
            Self::Store => Some("store"),
            Self::Recall => Some("recall"),
            Self::Answers => Some("answers"),
            Self::RecallSpeed => Some("recall-speed"),
            Self::RecallBusy => Some("recall-busy"),
            Self::Mcp => Some("mcp"),
            Self::Layers => Some("layers"),
            Self::Fidelity => Some("fidelity"),
            Self::LongHaul => Some("long-haul"),
            Self::Same => Some("same"),
            Self::Echo => Some("echo"),
            Self::Safety => Some("safety"),
            Self::Terminal => Some("terminal"),
            Self::Team => Some("team"),
            Self::Viewer => Some("viewer"),
            Self::Start | Self::Assemble | Self::Memory | Self::Resume => None,
        }
    }
}

fn main() {
    // The commands that are measured have reapers, and this is their program.
    if dormouse_tools::serve_as_reaper(std::env::args_os()).is_some() {
        return;
    }
    let arguments = Arguments::parse();
    let load = machine::load_average();
    let date = arguments.date.clone().unwrap_or_else(|| jiff::Zoned::now().date().to_string());
    if arguments.suite == Suite::Recall {
        return recall(&arguments, &date, &load);
    }
    if arguments.suite == Suite::Answers {
        return answers(&arguments, &date, &load);
    }
    if arguments.suite == Suite::Fidelity {
        return fidelity(&arguments, &date, &load);
    }
    if arguments.suite == Suite::LongHaul {
        return long_haul(&arguments, &date, &load);
    }
    if arguments.suite == Suite::Team {
        return team(&arguments, &date, &load);
    }
    let sections = run(&arguments);
    if arguments.json {
        let sections: Vec<_> = sections.iter().map(BenchSection::json).collect();
        println!("{}", serde_json::Value::from(sections));
        return;
    }
    let section = arguments.suite.section();
    let name = section.unwrap_or("ground");
    let mut text = results::render(name, &date, &load, &sections);
    if arguments.suite == Suite::Safety {
        text.push_str(&safety::ordinary_commands(&arguments.files));
    }
    println!("{text}");
    let missed: usize = sections.iter().map(BenchSection::missed).sum();
    println!("{missed} of the aims above missed");
    match (&arguments.results, section) {
        (None, _) => {}
        (Some(path), Some(name)) => {
            results::write(path, name, &text);
            println!("written to {}", path.display());
        }
        (Some(_), None) => println!("not written down: that takes a whole `ground` run"),
    }
}

fn recall(arguments: &Arguments, date: &str, load: &str) {
    if arguments.plain {
        return recall_plain(arguments, date, load);
    }
    if arguments.learn_rarity {
        print!("{}", recall::learn_rarity(&arguments.files));
        return;
    }
    let of_words = arguments.vectors.as_deref().map(recall::VectorModel::of_words);
    let of_server = arguments.embeddings.as_deref().map(recall::VectorModel::of_server);
    let vectors = of_words.or(of_server);
    let bench = recall::RecallBench::read(&arguments.files, vectors.as_ref());
    if arguments.learn {
        println!("{}", if arguments.json { bench.samples() } else { bench.learn() });
        return;
    }
    if arguments.learn_wording {
        print!("{}", bench.learn_wording());
        return;
    }
    let report = bench.run();
    if arguments.json {
        println!("{}", report.json());
    }
    let mut text = results::render("recall", date, load, &[]) + &report.markdown();
    if arguments.halves {
        text.push_str(&bench.halves());
    }
    if !arguments.json {
        println!("{text}");
    }
    if let Some(path) = &arguments.results {
        results::write(path, "recall", &text);
    }
}

fn recall_plain(arguments: &Arguments, date: &str, load: &str) {
    let mut text = results::render("recall-plain", date, load, &[]);
    for file in &arguments.files {
        text.push_str(&recall::PlainPairs::read(file).measure());
    }
    println!("{text}");
    if let Some(path) = &arguments.results {
        results::write(path, "recall-plain", &text);
    }
}

fn answers(arguments: &Arguments, date: &str, load: &str) {
    let bench = answers::AnswersBench {
        files: arguments.files.clone(),
        checks: arguments.checks.clone(),
        server: arguments.server.clone(),
        questions: arguments.questions,
    };
    let tables = bench.run();
    let text = results::render("answers", date, load, &[]) + &tables;
    println!("{text}");
    if let Some(path) = &arguments.results {
        results::write(path, "answers", &text);
    }
}

fn fidelity(arguments: &Arguments, date: &str, load: &str) {
    // Memory is measured first, while this process is small.
    let sections = fidelity::sections();
    let table = fidelity::run(&arguments.files);
    let text = results::render("fidelity", date, load, &sections) + &table;
    println!("{text}");
    if let Some(path) = &arguments.results {
        results::write(path, "fidelity", &text);
    }
}

fn team(arguments: &Arguments, date: &str, load: &str) {
    // `scripts/with-postgres` starts one and says where it is.
    let postgres = std::env::var("DORMOUSE_TEST_POSTGRES").ok();
    let tables = team::run(&found(&arguments.binary), postgres.as_deref());
    let text = results::render("team", date, load, &[]) + &tables;
    println!("{text}");
    if let Some(path) = &arguments.results {
        results::write(path, "team", &text);
    }
}

fn long_haul(arguments: &Arguments, date: &str, load: &str) {
    let length = long_haul::Length {
        turns: arguments.turns,
        other_turns: arguments.other_turns.unwrap_or(arguments.turns),
        window: arguments.window,
        model: arguments.priced_as.clone(),
        clock_binary: arguments.clock_binary.as_deref().map(found),
        only: arguments.only.clone(),
        at_once: arguments.at_once,
        dream_every: arguments.dream_every,
        has_cache: !arguments.without_cache,
    };
    let report = long_haul::run(&found(&arguments.binary), &length);
    let section = arguments.section.as_str();
    let text = results::render(section, date, load, &[]) + &report.tables;
    println!("{text}");
    if !report.broken.is_empty() {
        fail(&format!("the long haul broke\n{}", report.broken.join("\n")));
    }
    if let Some(path) = &arguments.results {
        results::write(path, section, &text);
    }
}

/// Where a binary is.
fn found(path: &Path) -> PathBuf {
    path.canonicalize()
        .unwrap_or_else(|error| fail(&format!("{}: {error}; build it first", path.display())))
}

fn run(arguments: &Arguments) -> Vec<BenchSection> {
    match arguments.suite {
        Suite::Tools => return tools::run(&arguments.rg, &arguments.fd),
        Suite::Store => return store::run(),
        Suite::Same => return echo::same(),
        Suite::Safety => return safety::run(),
        Suite::Terminal => {
            let others: Vec<PathBuf> = arguments
                .beside
                .iter()
                // Links stay: a program is known by the name of its file.
                .map(|path| std::path::absolute(path).unwrap_or_else(|_| path.clone()))
                .collect();
            return vec![terminal::run(&found(&arguments.binary), &others)];
        }
        Suite::Viewer => return vec![viewer::run(&found(&arguments.binary))],
        Suite::RecallBusy => return vec![recall_busy::run(&found(&arguments.binary))],
        Suite::Ground
        | Suite::Start
        | Suite::Assemble
        | Suite::Memory
        | Suite::Resume
        | Suite::Recall
        | Suite::Answers
        | Suite::RecallSpeed
        | Suite::Mcp
        | Suite::Layers
        | Suite::Fidelity
        | Suite::LongHaul
        | Suite::Team
        | Suite::Echo => {}
    }
    let binary = || found(&arguments.binary);
    if arguments.suite == Suite::RecallSpeed {
        let mut sections = recall_speed::run(&binary());
        sections.push(recall_start::run(&binary()));
        return sections;
    }
    if arguments.suite == Suite::Mcp {
        return vec![mcp::run(&binary(), &arguments.other_server)];
    }
    if arguments.suite == Suite::Layers {
        return layers::run(&binary());
    }
    if arguments.suite == Suite::Echo {
        return echo::run(&binary());
    }
    let wanted = |suite| arguments.suite == Suite::Ground || arguments.suite == suite;
    let against = arguments.against.as_deref().map(found);
    // Processes are measured first, while this one is small.
    let mut sections = Vec::new();
    if wanted(Suite::Start) {
        sections.push(start::run(&binary(), against.as_deref()));
    }
    if wanted(Suite::Memory) {
        sections.push(memory::run(&binary(), against.as_deref()));
    }
    if wanted(Suite::Assemble) {
        sections.push(assemble::run());
    }
    if wanted(Suite::Resume) {
        sections.push(resume::run(&binary(), &arguments.transcript));
    }
    sections
}
