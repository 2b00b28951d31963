//! Hooks: what the person wants done at events (L-24 to L-27).
//!
//! Reading them: `origin` says whose they are, `config` reads a file of them, `handler` understands one, `spot` knows
//! its line, `matcher` what it is for; `list` shows them. Running them: `input` writes what they get, `run` carries one
//! out (a command; `http` posts, `judge` asks a model), `answer` reads what it says, `present` makes that fit to be
//! shown, `late` keeps what comes of those that nobody waits for, `choice` says which are due, and `runner` ties that
//! together. Reaching them:
//! `wiring` gives a conversation its own, `event` and `events` are what happens there, `observer` is how calls come to
//! them, `bell` how work beside it does, and `watch` looks at files. The contract (names, exit codes, JSON) is the one
//! that people's hooks have already.
//!
//! Invariant: a hook that fails, hangs or prints nonsense decides nothing and never ends a turn; what it
//! said is told to the person.

#[cfg(test)]
mod agent_tests;
mod answer;
mod bell;
mod choice;
mod config;
mod event;
mod events;
mod handler;
mod http;
mod input;
mod judge;
mod late;
mod list;
mod matcher;
mod observer;
mod origin;
mod present;
mod run;
mod runner;
mod spot;
mod watch;
mod wiring;

pub use bell::{Bell, DreamNews};
pub use config::{HookProblem, Hooks};
pub use event::HookEvent;
pub(crate) use events::Saved;
pub(crate) use input::BatchCall;
pub use input::{SavedMemory, SessionEndReason, SessionSource, SetupTrigger};
use judge::Judge;
pub use list::{HookView, Occasion};
pub(crate) use observer::HookObserver;
pub use origin::{HookLayer, HookOrigin, Idle, PluginHome};
use run::Place;
pub(crate) use runner::HookRunner;
use runner::{HookAgent, HookSession, RunnerParts};
pub(crate) use wiring::hook_runner;
