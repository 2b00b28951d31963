//! One run: the program in a terminal, a person who types turn after turn, and what that came to.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, bail};
use dormouse_base::names;
use dormouse_testkit::{ScriptedServer, Terminal, TestHome};

use super::errand::{last_word, prompt};
use super::figures::HaulFigures;
use super::ledger::{Counts, Ledger, Reading};
use super::memories;
use super::project;
use super::rows::Pace;
use super::small_model::SMALL_MODEL;
use super::transcript::Lines;
use crate::lock::lock;
use crate::memory::{processor_time, resident};

/// The longest answer that the server names.
const MAX_OUTPUT: u32 = 32_000;
/// So much time passes from one prompt to the next, as the emulated cache sees it.
const BETWEEN: Duration = Duration::from_secs(45);
/// A pause, and how many turns there are between two.
const PAUSE: Duration = Duration::from_mins(75);
const PAUSE_EVERY: usize = 40;
/// After this the program counts its user as away.
const AWAY: Duration = Duration::from_secs(121);
/// The variable of a build with the feature `movable-clock`: a file with the seconds that its clock is ahead.
const BENCH_CLOCK: &str = "DORMOUSE_BENCH_CLOCK";
/// So long nothing happens when nothing is going to.
const QUIET: Duration = Duration::from_millis(250);
/// A dream that takes longer does not end.
const LONGEST_DREAM: Duration = Duration::from_mins(2);
/// What is longer is pasted: a person does not type it.
const LONGEST_TYPED: usize = 500;
/// The terminal.
const SIZE: (u16, u16) = (100, 30);

/// What is to be run.
#[derive(Debug, Clone)]
pub(super) struct Order<'a> {
    pub(super) binary: &'a Path,
    pub(super) turns: usize,
    /// A model that the table of prices knows.
    pub(super) model: String,
    /// What the server takes and the program is told.
    pub(super) window: u32,
    /// Switches, as variables.
    pub(super) variables: Vec<(String, &'static str)>,
    pub(super) pace: Pace,
    pub(super) reading: Reading,
    /// Turns from one dream to the next; none: there are no dreams.
    pub(super) dream_every: Option<usize>,
    /// Whether the server has a cache.
    pub(super) has_cache: bool,
}

/// What came of it.
#[derive(Debug, Clone)]
pub(super) struct HaulOutcome {
    pub(super) turns: usize,
    pub(super) counts: Counts,
    /// What the program itself counted.
    pub(super) figures: HaulFigures,
    /// How long each turn took, without what the server took.
    pub(super) times: Vec<Duration>,
    /// The processor time of the program in each turn: what the machine does besides does not count.
    pub(super) work: Vec<Duration>,
    /// Resident memory after each turn, in bytes.
    pub(super) memory: Vec<u64>,
    pub(super) wall: Duration,
}

/// Runs it to its end; or says what broke.
pub(super) fn run(order: &Order<'_>) -> Result<HaulOutcome> {
    let start = Instant::now();
    let mut home = TestHome::new();
    let ledger = Ledger::new(&home.dormouse_home(), order.window, MAX_OUTPUT, order.reading);
    let ledger = if order.has_cache { ledger } else { ledger.without_cache() };
    let ledger = Arc::new(Mutex::new(ledger));
    let server = serve(order, &ledger);
    home.use_server(&server);
    set_up(&mut home, order);
    let mut terminal = home.terminal(order.binary, &["--permission-mode", "bypass"], SIZE);
    wait_for_prompt(&terminal);
    let (mut times, mut work, mut memory) = (Vec::new(), Vec::new(), Vec::new());
    for turn in 0..order.turns {
        pause(&home, order.pace, turn, &ledger);
        let busy = lock(&ledger).counts.busy;
        let (begun, worked) = (Instant::now(), processor_time(terminal.id()).unwrap_or_default());
        say(&mut terminal, turn);
        let took = begun.elapsed();
        times.push(took.saturating_sub(lock(&ledger).counts.busy.saturating_sub(busy)));
        work.push(processor_time(terminal.id()).unwrap_or_default().saturating_sub(worked));
        memory.push(resident(terminal.id()).unwrap_or(0));
        no_problem(&ledger, &server)?;
        if order.dream_every.is_some_and(|every| (turn + 1).is_multiple_of(every)) {
            dream(&mut terminal, &home)?;
        }
    }
    terminal.type_keys("\x04");
    let code = terminal.wait();
    no_problem(&ledger, &server)?;
    if code != 0 {
        bail!("the program ended with {code}\n{}", terminal.screen());
    }
    if let Some(turn) = Lines::of(&home.dormouse_home()).first_lost(order.turns) {
        bail!("the prompt of turn {turn} is not in the transcript");
    }
    let counts = lock(&ledger).counts.clone();
    let figures = HaulFigures::of(&home);
    Ok(HaulOutcome {
        turns: order.turns,
        counts,
        figures,
        times,
        work,
        memory,
        wall: start.elapsed(),
    })
}

fn serve(order: &Order<'_>, ledger: &Arc<Mutex<Ledger>>) -> ScriptedServer {
    let attending = Arc::clone(ledger);
    ScriptedServer::builder()
        .window(u64::from(order.window))
        .max_output(u64::from(MAX_OUTPUT))
        .model(&order.model)
        .set_asker(move |request| lock(&attending).attend(request))
        .start()
}

fn set_up(home: &mut TestHome, order: &Order<'_>) {
    home.unset_env("DORMOUSE_SESSION_NOTES");
    home.unset_env("DORMOUSE_EXTRACTION");
    // Subagents and plans are part of the work, also in a small window.
    let settings = format!(
        r#"{{"smallModel": "{SMALL_MODEL}", "tools": {{"smallWindow": ["Agent", "TodoWrite"]}}}}"#
    );
    home.write(home.dormouse_home().join("settings.json"), settings);
    // Time goes on.
    home.unset_env(names::TEST_NOW);
    home.set_env(BENCH_CLOCK, ahead(home));
    home.set_env(names::CONTEXT_WINDOW, order.window.to_string());
    for (name, value) in &order.variables {
        home.set_env(name, value);
    }
    project::make(home);
    memories::plant(home);
}

/// The file that says how far the program's clock is ahead.
fn ahead(home: &TestHome) -> PathBuf {
    home.root().join("ahead")
}

/// Time passes before a turn: for the server's cache, and in a pause for the program too.
fn pause(home: &TestHome, pace: Pace, turn: usize, ledger: &Mutex<Ledger>) {
    if pace == Pace::Steady || turn == 0 || !turn.is_multiple_of(PAUSE_EVERY) {
        return lock(ledger).begin_turn(turn, BETWEEN);
    }
    let before = PAUSE * u32::try_from(turn / PAUSE_EVERY - 1).unwrap_or(0);
    lock(ledger).pass(AWAY);
    move_clock(home, before + AWAY);
    wait_until_quiet(ledger);
    move_clock(home, before + PAUSE);
    lock(ledger).begin_turn(turn, PAUSE.saturating_sub(AWAY));
}

fn move_clock(home: &TestHome, by: Duration) {
    home.write(ahead(home), by.as_secs().to_string());
}

/// Background tasks may begin as soon as nobody is there; they are done when no request comes any more.
fn wait_until_quiet(ledger: &Mutex<Ledger>) {
    let mut before = lock(ledger).counts.seen;
    loop {
        std::thread::sleep(QUIET);
        let now = lock(ledger).counts.seen;
        if now == before {
            return;
        }
        before = now;
    }
}

/// Has the program dream, and waits until it has.
fn dream(terminal: &mut Terminal, home: &TestHome) -> Result<()> {
    let before = HaulFigures::of(home).dreams;
    terminal.enter("/dream");
    let since = Instant::now();
    while HaulFigures::of(home).dreams == before {
        if since.elapsed() > LONGEST_DREAM {
            bail!("a dream does not end\n{}", terminal.screen());
        }
        std::thread::sleep(QUIET);
    }
    wait_for_prompt(terminal);
    Ok(())
}

/// Says what is said on a turn, and waits until it is the user's turn again.
fn say(terminal: &mut Terminal, turn: usize) {
    let words = prompt(turn);
    if words.len() > LONGEST_TYPED {
        terminal.paste(&words);
        terminal.type_keys("\r");
    } else {
        terminal.enter(&words);
    }
    terminal.wait_for_text(&last_word(turn));
    wait_for_prompt(terminal);
}

fn wait_for_prompt(terminal: &Terminal) {
    terminal.wait_for_prompt(&["bypass "]);
}

fn no_problem(ledger: &Mutex<Ledger>, server: &ScriptedServer) -> Result<()> {
    let problems = [lock(ledger).problems.clone(), server.problems()].concat();
    if problems.is_empty() { Ok(()) } else { Err(anyhow!(problems.join("\n"))) }
}
