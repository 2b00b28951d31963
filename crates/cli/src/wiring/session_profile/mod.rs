//! Finds, reads and replays a session for its profile, which `dormouse context` and the viewer show.

mod layer_setup;
mod session_log;
mod subagent_profile;

use std::path::{Path, PathBuf};
use std::time::Duration;

use dormouse_base::{LayerSwitch, Settings, group_digits};
use dormouse_context::profile::{LayerCalls, Profile, ProfileRules, Rates, profile};
use dormouse_conversation::transcript::{Replay, ReplayEvent, replay_abridged, session_file};
use dormouse_conversation::{
    Budget, ContextWindow, DEFAULT_WINDOW, Usage, WindowSource, resolve_window,
};
use dormouse_engine::SessionFolder;
use dormouse_model::{CacheTtl, PRICES_DATED, Price, PriceTable, cost_usd, default_cache_ttl};
use dormouse_web::SessionProfile;

use layer_setup::availability;
use session_log::LogComparison;
pub(crate) use session_log::SessionLog;
pub(crate) use subagent_profile::SubagentProfile;
use subagent_profile::subagents;

use crate::args::{CacheTtlArgument, ContextArguments};
use crate::message_catalog::msg;
use crate::terminal::table::dollars;
use crate::wiring::connect::user_window;
use crate::wiring::exit::Failure;
use crate::wiring::session_lookup::find_session;
use crate::wiring::settings;
use crate::wiring::trust::Untrusted;
use crate::wiring::world::{World, current_project};

/// The context window of models with a large one.
const LARGE_WINDOW: u32 = 1_000_000;
/// Upper bound of a response; it only affects the reserve for a summary.
const MAX_RESPONSE: u32 = 64_000;
/// Maximum number of listed problems.
const LISTED_PROBLEMS: usize = 5;

/// What the user says about a session; what is left out is found in the transcript and the settings.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ProfileAssumptions {
    pub(crate) window: Option<u32>,
    pub(crate) cache_ttl: Option<CacheTtlArgument>,
}

/// A session and its profile.
pub(crate) struct ProfiledSession {
    pub(crate) path: PathBuf,
    pub(crate) replay: Replay,
    pub(crate) budget: Budget,
    pub(crate) ttl: CacheTtl,
    pub(crate) profile: Profile,
    pub(crate) subagents: Vec<SubagentProfile>,
    /// The session's own log; none for another agent's session, and where it was deleted.
    pub(crate) log: Option<SessionLog>,
}

impl ProfiledSession {
    /// The session that arguments name.
    pub(crate) fn read(arguments: &ContextArguments, world: &World) -> Result<Self, Failure> {
        let path = find(&arguments.transcript, world)?;
        let assumptions =
            ProfileAssumptions { window: arguments.window, cache_ttl: arguments.cache_ttl };
        Self::of_transcript(path, assumptions, world)
    }

    /// The session of a transcript.
    pub(crate) fn of_transcript(
        path: PathBuf,
        assumptions: ProfileAssumptions,
        world: &World,
    ) -> Result<Self, Failure> {
        let read = |path: &Path| replay_abridged(&mut std::fs::File::open(path)?);
        let replay = read(&path).map_err(|error| unreadable(&path, &error))?;
        let project = current_project()?;
        let in_force = settings::load(world, None, &project, Untrusted::Pass)?;
        let prices = PriceTable::of_settings(&in_force.settings.prices);
        let window = match assumptions.window {
            Some(window) => window,
            None => window_of(&replay, &in_force.settings, world)?,
        };
        let window = ContextWindow::new(window)
            .map_err(|error| Failure::usage(error).hint(msg!("profile-window-hint")))?;
        let budget = Budget::for_window(window, MAX_RESPONSE);
        let ttl = ttl(assumptions.cache_ttl, &replay, &in_force.settings);
        let log = SessionLog::of(&path, &world.home()?)?;
        let calls = |layer: LayerSwitch| {
            log.as_ref().map_or_else(LayerCalls::default, |log| log.calls(layer))
        };
        let mut rules = ProfileRules {
            budget,
            cache_lives: lifetime(ttl),
            rates: &|model| prices.price(model).map(rates),
            availability: &|layer| availability(layer, &replay, &in_force.switches),
            calls: &calls,
        };
        let profile = profile(&replay, &rules);
        if profile.requests.is_empty() {
            return Err(no_requests(&path, &replay));
        }
        // What the layers of a subagent asked a model for is not told apart in the log.
        rules.calls = &|_| LayerCalls::default();
        let subagents = subagents(&path, &rules)?;
        Ok(Self { path, replay, budget, ttl, profile, subagents, log })
    }

    /// Warnings about unusable lines and unknown prices.
    pub(crate) fn problems(&self) -> Vec<String> {
        let warnings = &self.replay.warnings;
        let mut lines: Vec<String> =
            warnings.iter().take(LISTED_PROBLEMS).map(|one| format!("warning: {one}")).collect();
        if warnings.len() > LISTED_PROBLEMS {
            lines.push(msg!("profile-more-skipped", count = warnings.len() - LISTED_PROBLEMS));
        }
        let unpriced = self.profile.total.unpriced;
        if unpriced > 0 {
            lines.push(msg!("profile-unpriced", count = unpriced));
        }
        lines.extend(self.log_problem());
        lines
    }

    /// Where the session's own log says something else than its transcript.
    fn log_problem(&self) -> Option<String> {
        match self.log.as_ref()?.compare(&self.profile.total) {
            LogComparison::Same => None,
            LogComparison::LogHasMore { requests, tokens, cost_usd } => Some(msg!(
                "profile-log-has-more",
                requests = requests,
                tokens = group_digits(tokens),
                cost = dollars(cost_usd)
            )),
            LogComparison::LogHasLess => Some(msg!("profile-log-has-less")),
        }
    }

    /// The assumed lifetime of the prompt cache.
    pub(crate) fn ttl_words(&self) -> &'static str {
        match self.ttl {
            CacheTtl::FiveMinutes => "5m",
            CacheTtl::OneHour => "1h",
        }
    }

    /// The session as a page shows it.
    pub(crate) fn into_page(self) -> SessionProfile {
        let by_purpose = self.log.as_ref().map(|log| log.0.by_purpose.clone()).unwrap_or_default();
        SessionProfile {
            problems: self.problems(),
            path: self.path,
            profile: self.profile,
            window: self.budget.window,
            auto_compact: self.budget.auto_compact,
            prices_dated: PRICES_DATED,
            by_purpose: by_purpose.into_iter().collect(),
        }
    }

    pub(crate) fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

/// The transcript file: a path, or a session of this project.
fn find(name: &str, world: &World) -> Result<PathBuf, Failure> {
    let path = Path::new(name);
    if path.is_file() {
        return Ok(path.to_owned());
    }
    if name.contains(['/', '.']) || path.exists() {
        return Err(Failure::usage(anyhow::anyhow!(msg!("profile-no-file", name = name)))
            .hint(msg!("profile-no-file-hint")));
    }
    let folder = SessionFolder::existing(&world.home()?, &current_project()?)?;
    let session = find_session(folder.as_ref(), name)?;
    let file = session_file(session);
    let found = folder.map(|folder| folder.dir().path().join(file.as_path()));
    found.filter(|path| path.is_file()).ok_or_else(|| {
        let text = msg!("profile-unknown-session", session = session.to_string());
        Failure::usage(anyhow::anyhow!(text)).hint(msg!("profile-unknown-session-hint"))
    })
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    let path = path.display().to_string();
    Failure::failed(anyhow::anyhow!(msg!(
        "file-unreadable",
        path = path,
        error = error.to_string()
    )))
}

/// The window as the settings and the session's model have it, or the smallest common one that all requests fit into.
fn window_of(replay: &Replay, settings: &Settings, world: &World) -> Result<u32, Failure> {
    let likely = likely_window(replay);
    let Some(origin) = &replay.origin else { return Ok(likely) };
    let set = user_window(settings, &world.environment, &origin.model)?;
    let (window, source) = resolve_window(&origin.model, set, None).map_err(Failure::usage)?;
    Ok(if source == WindowSource::Default { likely } else { window.tokens() })
}

fn likely_window(replay: &Replay) -> u32 {
    let sizes = replay.events.iter().filter_map(|event| match event {
        ReplayEvent::Message(said) => Some(said.message.response.as_ref()?.usage.input_total()),
        _ => None,
    });
    let largest = u32::try_from(sizes.max().unwrap_or(0)).unwrap_or(u32::MAX);
    let usual = [DEFAULT_WINDOW, LARGE_WINDOW].into_iter().find(|window| largest <= *window);
    usual.unwrap_or(largest)
}

/// The lifetime of cached prompts: as given, as set for a session of ours, or as its server has it by default.
fn ttl(given: Option<CacheTtlArgument>, replay: &Replay, settings: &Settings) -> CacheTtl {
    match given {
        Some(CacheTtlArgument::FiveMinutes) => return CacheTtl::FiveMinutes,
        Some(CacheTtlArgument::Hour) => return CacheTtl::OneHour,
        None => {}
    }
    let Some(origin) = &replay.origin else { return CacheTtl::FiveMinutes };
    match settings.provider.cache_ttl.as_deref() {
        Some("1h") => CacheTtl::OneHour,
        Some("5m") => CacheTtl::FiveMinutes,
        _ => default_cache_ttl(&origin.server),
    }
}

fn lifetime(ttl: CacheTtl) -> Duration {
    match ttl {
        CacheTtl::FiveMinutes => Duration::from_mins(5),
        CacheTtl::OneHour => Duration::from_hours(1),
    }
}

/// A price as rates per million tokens.
fn rates(price: Price) -> Rates {
    let long_prompts = price.long_prompts.map(|long| (long.above, long.factor));
    let price = Price { long_prompts: None, ..price };
    let written = Usage { cache_creation_input_tokens: 1_000_000, ..Usage::default() };
    let read = Usage { cache_read_input_tokens: 1_000_000, ..Usage::default() };
    Rates {
        input: price.input,
        output: price.output,
        cache_read: cost_usd(&read, price, CacheTtl::FiveMinutes),
        cache_write: cost_usd(&written, price, CacheTtl::FiveMinutes),
        cache_write_hour: cost_usd(&written, price, CacheTtl::OneHour),
        long_prompts,
    }
}

fn no_requests(path: &Path, replay: &Replay) -> Failure {
    if replay.warnings.is_empty() && replay.lines > 0 {
        let text = msg!("profile-no-answer", path = path.display().to_string());
        return Failure::usage(anyhow::anyhow!(text)).hint(msg!("session-list-hint"));
    }
    let text = msg!(
        "profile-no-requests",
        path = path.display().to_string(),
        lines = replay.lines,
        damaged = replay.warnings.len()
    );
    let failure = Failure::usage(anyhow::anyhow!(text)).hint(msg!("profile-no-requests-hint"));
    match replay.warnings.first() {
        Some(first) => failure.hint(first.to_string()),
        None => failure,
    }
}
