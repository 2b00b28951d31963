//! The session that is profiled: found, read, replayed.

use std::path::{Path, PathBuf};
use std::time::Duration;

use dormouse_context::profile::{Profile, ProfileRules, Rates, profile};
use dormouse_conversation::transcript::{Replay, ReplayEvent, replay_transcript, session_file};
use dormouse_conversation::{Budget, ContextWindow, DEFAULT_WINDOW, Usage};
use dormouse_engine::SessionFolder;
use dormouse_model::{CacheTtl, Price, PriceTable, cost_usd, default_cache_ttl};

use crate::args::{CacheTtlArgument, ContextArguments};
use crate::wiring::exit::Failure;
use crate::wiring::session_lookup::find_session;
use crate::wiring::settings;
use crate::wiring::trust::Untrusted;
use crate::wiring::world::{World, current_project};

/// Windows that models have, beyond the default.
const LARGE_WINDOW: u32 = 1_000_000;
/// No answer is longer; only the reserve for a summary hangs on it.
const LONGEST_ANSWER: u32 = 64_000;
/// More problems are counted, not listed.
const MOST_PROBLEMS: usize = 5;

/// A session and its profile.
pub(super) struct Session {
    pub(super) path: PathBuf,
    pub(super) replay: Replay,
    pub(super) budget: Budget,
    pub(super) ttl: CacheTtl,
    pub(super) profile: Profile,
}

impl Session {
    pub(super) fn read(arguments: &ContextArguments, world: &World) -> Result<Self, Failure> {
        let path = find(&arguments.transcript, world)?;
        let bytes = std::fs::read(&path).map_err(|error| unreadable(&path, &error))?;
        let replay = replay_transcript(&bytes);
        drop(bytes);
        let project = current_project()?;
        let in_force = settings::load(world, None, &project, Untrusted::Pass)?;
        let prices = PriceTable::of_settings(&in_force.settings.prices);
        let window = arguments.window.unwrap_or_else(|| likely_window(&replay));
        let window = ContextWindow::new(window)
            .map_err(|error| Failure::usage(error).hint("give --window what the model can hold"))?;
        let budget = Budget::for_window(window, LONGEST_ANSWER);
        let ttl = ttl(arguments.cache_ttl, &replay);
        let rules = ProfileRules {
            budget,
            cache_lives: lives(ttl),
            rates: &|model| prices.price(model).map(rates),
        };
        let profile = profile(&replay, &rules);
        if profile.requests.is_empty() {
            return Err(nothing(&path, &replay));
        }
        Ok(Self { path, replay, budget, ttl, profile })
    }

    /// What could not be used, in lines.
    pub(super) fn problems(&self) -> Vec<String> {
        let warnings = &self.replay.warnings;
        let mut lines: Vec<String> =
            warnings.iter().take(MOST_PROBLEMS).map(|one| format!("warning: {one}")).collect();
        if warnings.len() > MOST_PROBLEMS {
            lines.push(format!(
                "warning: {} more lines were skipped",
                warnings.len() - MOST_PROBLEMS
            ));
        }
        let unpriced = self.profile.total.unpriced;
        if unpriced > 0 {
            lines.push(format!(
                "warning: {unpriced} requests went to a model of unknown price and count as free; the setting `prices` can say what it costs"
            ));
        }
        lines
    }

    /// How long the cache lives, where lines do not tell.
    pub(super) fn ttl_words(&self) -> &'static str {
        match self.ttl {
            CacheTtl::FiveMinutes => "5m",
            CacheTtl::OneHour => "1h",
        }
    }

    /// The name of the file.
    pub(super) fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

/// A file of that name, or a session of this project.
fn find(name: &str, world: &World) -> Result<PathBuf, Failure> {
    let path = Path::new(name);
    if path.is_file() {
        return Ok(path.to_owned());
    }
    if name.contains(['/', '.']) || path.exists() {
        return Err(Failure::usage(anyhow::anyhow!("`{name}` is no file that can be read")).hint(
            "give the path of a transcript, or the id of a session from `dormouse sessions`",
        ));
    }
    let folder = SessionFolder::existing(&world.home()?, &current_project()?)?;
    let session = find_session(folder.as_ref(), name)?;
    let file = session_file(session);
    let found = folder.map(|folder| folder.dir().path().join(file.as_path()));
    found.filter(|path| path.is_file()).ok_or_else(|| {
        Failure::usage(anyhow::anyhow!("this project has no session `{session}`"))
            .hint("`dormouse sessions` lists them; a session of elsewhere is named by its file")
    })
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::failed(anyhow::anyhow!("can not read {}: {error}", path.display()))
}

/// The smallest usual window that all requests fit.
fn likely_window(replay: &Replay) -> u32 {
    let sizes = replay.events.iter().filter_map(|event| match event {
        ReplayEvent::Message(said) => Some(said.message.response.as_ref()?.usage.input_total()),
        ReplayEvent::Compacted(_) | ReplayEvent::PrefixBuilt(_) | ReplayEvent::ThinkingDropped => {
            None
        }
    });
    let largest = u32::try_from(sizes.max().unwrap_or(0)).unwrap_or(u32::MAX);
    let usual = [DEFAULT_WINDOW, LARGE_WINDOW].into_iter().find(|window| largest <= *window);
    usual.unwrap_or(largest)
}

fn ttl(given: Option<CacheTtlArgument>, replay: &Replay) -> CacheTtl {
    match (given, &replay.origin) {
        (Some(CacheTtlArgument::FiveMinutes), _) | (None, None) => CacheTtl::FiveMinutes,
        (Some(CacheTtlArgument::Hour), _) => CacheTtl::OneHour,
        (None, Some(origin)) => default_cache_ttl(&origin.server),
    }
}

fn lives(ttl: CacheTtl) -> Duration {
    match ttl {
        CacheTtl::FiveMinutes => Duration::from_mins(5),
        CacheTtl::OneHour => Duration::from_hours(1),
    }
}

/// A price as rates: what a million of each counter costs.
fn rates(price: Price) -> Rates {
    let written = Usage { cache_creation_input_tokens: 1_000_000, ..Usage::default() };
    let read = Usage { cache_read_input_tokens: 1_000_000, ..Usage::default() };
    Rates {
        input: price.input,
        output: price.output,
        cache_read: cost_usd(&read, price, CacheTtl::FiveMinutes),
        cache_write: cost_usd(&written, price, CacheTtl::FiveMinutes),
        cache_write_hour: cost_usd(&written, price, CacheTtl::OneHour),
    }
}

/// There is nothing to profile.
fn nothing(path: &Path, replay: &Replay) -> Failure {
    let failure = Failure::usage(anyhow::anyhow!(
        "{} holds no answer of a model ({} lines, {} of them unreadable): there is nothing to profile",
        path.display(),
        replay.lines,
        replay.warnings.len()
    ));
    let failure =
        failure.hint("a transcript has one JSON object a line, as docs/transcript.md describes it");
    match replay.warnings.first() {
        Some(first) => failure.hint(first.to_string()),
        None => failure,
    }
}
