//! Slash commands. [`command_list`] lists and parses them; the commands that may start a turn or end the session (`/compact`,
//! `/plan`, `/quit`) are called by the input loop.

pub(super) mod agents;
mod argument_error;
pub(crate) mod command_list;
pub(crate) mod compact;
pub(crate) mod context;
mod dream;
pub(super) mod during_turn;
pub(super) mod memory;
mod plan;
pub(crate) mod prompts;
mod rewind;
pub(crate) mod rows;
pub(crate) mod skills;
pub(super) mod tasks;
mod transcript;

use dormouse_conversation::Effort;
use dormouse_conversation::transcript::check_not_open;
use dormouse_tui::style::Style;
use std::path::PathBuf;

use dormouse_engine::ModelSetup;
use dormouse_extensions::plugins::PluginStore;
use dormouse_permissions::PermissionGate;

use crate::args::DoctorArguments;
use crate::commands::{doctor, hooks, mcp_servers, plugin, team};
use crate::message_catalog::msg;
use crate::terminal::tty::columns;
use crate::wiring::connect::other_model;
use crate::wiring::exit::Failure;
use crate::wiring::session_lookup::find_session;
use crate::wiring::session_notes;
use crate::wiring::session_start::ActiveSession;
use crate::wiring::team::{JoinedTeam, sync_failure};
use crate::wiring::world::World;

use super::progress::notify_if_slow;
use super::session::{AfterInput, InteractiveSession, SessionEnd};
use super::view::SharedView;
use command_list::SlashCommand;
use tasks::TaskList;

impl InteractiveSession<'_> {
    pub(super) async fn slash_command(&mut self, command: SlashCommand, rest: &str) {
        let view = &self.view;
        match command {
            SlashCommand::Help => skills::help(&self.session, view),
            SlashCommand::Skills => skills::list(&self.session, view),
            SlashCommand::Plugins => list_plugins(view, self.world),
            SlashCommand::Agents => agents::run(&self.session.subagents, view, rest),
            SlashCommand::Tasks => {
                let tasks = TaskList::of(&self.session);
                tasks::run(view, &tasks, rest, self.world.clock.now());
            }
            SlashCommand::Hooks => list_hooks(view, &self.session),
            SlashCommand::Cost => view.list(&rows::cost(&self.session.engine.account())),
            SlashCommand::Stats => show_stats(view, &self.session, self.world),
            SlashCommand::Config => view.list(&rows::config(&self.session, self.world)),
            SlashCommand::Permissions => set_mode(view, &self.session.gate, rest),
            SlashCommand::Model if rest.is_empty() => {
                let model = self.session.engine.model().name.as_str();
                view.say(&msg!("model-current", model = model));
            }
            SlashCommand::Model => match self.switch_model(rest).await {
                Ok(()) => {
                    let model = self.session.engine.model().name.as_str();
                    self.view.say(&msg!("model-set", model = model));
                }
                Err(failure) => self.view.failure(&failure),
            },
            SlashCommand::Effort => self.effort(rest),
            SlashCommand::Clear => match self.start_new_session().await {
                Ok(()) => self.view.say(&msg!("session-new")),
                Err(failure) => self.view.failure(&failure),
            },
            SlashCommand::Context => show_context(view, &self.session, self.world),
            SlashCommand::Snip => compact::snip(&mut self.session.engine, view),
            SlashCommand::Expand => compact::expand(&mut self.session.engine, view, rest),
            SlashCommand::Rewind => self.rewind(rest),
            SlashCommand::Mcp => {
                let text = mcp_servers::in_talk(&self.session.servers, rest).await;
                self.view.say(&text);
            }
            SlashCommand::Memory => self.memory(rest).await,
            SlashCommand::Recall if rest.is_empty() => view.borrow_mut().explain_recall(),
            SlashCommand::Recall => self.recall(rest).await,
            SlashCommand::Dream => Box::pin(self.dream(rest)).await,
            SlashCommand::Guard => self.guard(rest).await,
            SlashCommand::Copy => transcript::copy(view, self.session.engine.conversation()),
            SlashCommand::Export => transcript::export(view, &self.session, rest),
            SlashCommand::Rename => {
                transcript::rename(view, self.session.engine.conversation(), rest);
            }
            SlashCommand::Team => Box::pin(sync_team(view, self.world)).await,
            SlashCommand::Doctor => show_doctor(view, self.world).await,
            SlashCommand::Notes => view.say(&session_notes::notes_text(&self.session.engine)),
            // Called by the input loop.
            SlashCommand::Compact
            | SlashCommand::Plan
            | SlashCommand::Init
            | SlashCommand::Review
            | SlashCommand::Quit
            | SlashCommand::Resume => {}
        }
    }

    /// Runs `/resume [ID]`: ends this session and opens another one.
    pub(super) async fn resume(&mut self, name: &str) -> AfterInput {
        let found = if name.is_empty() {
            self.pick_session().await
        } else {
            find_session(Some(&self.session.folder), name).map(Some)
        };
        // One that is open elsewhere must not cost the user this one.
        let found = found.and_then(|found| match found {
            Some(session) => {
                check_not_open(self.session.folder.dir(), session).map_err(Failure::failed)?;
                Ok(Some(session))
            }
            None => Ok(None),
        });
        match found {
            Ok(Some(session)) => AfterInput::End(SessionEnd::Resume(session)),
            Ok(None) => AfterInput::Prompt,
            Err(failure) => {
                self.view.failure(&failure);
                AfterInput::Prompt
            }
        }
    }

    async fn start_new_session(&mut self) -> Result<(), Failure> {
        let surroundings = self.surroundings().await;
        let ActiveSession { engine, folder, named, .. } = &mut self.session;
        let view = &self.view;
        let mut sink = |event| view.borrow_mut().event(event);
        engine.start_over(folder, &surroundings, &mut sink).await?;
        named.as_ref().map_or(Ok(()), |named| named.hold(engine.conversation().session()))
    }

    /// Runs `/effort [LEVEL]`.
    fn effort(&mut self, name: &str) {
        let engine = &mut self.session.engine;
        if name.is_empty() {
            let effort = engine.model().effort.map(|effort| effort.to_string());
            let effort = effort.unwrap_or_else(|| msg!("effort-default"));
            return self.view.say(&msg!("effort-current", effort = effort));
        }
        let changed = match name {
            "default" => Ok(None),
            name => name.parse::<Effort>().map(Some),
        };
        let Ok(effort) = changed else {
            return self.view.say(&msg!("effort-unknown", name = name));
        };
        // The messages so far are not in the server's cache with another effort.
        match engine.switch_model(ModelSetup { effort, ..engine.model().clone() }) {
            Ok(()) => self.view.say(&msg!("effort-set", effort = name)),
            Err(error) => self.view.failure(&Failure::failed(error)),
        }
    }

    async fn switch_model(&mut self, name: &str) -> Result<(), Failure> {
        let ActiveSession { engine, settings, switches, project, .. } = &mut self.session;
        let place = (&*settings, &*switches, &*project);
        let connecting = other_model(name, place, self.world, engine.model().effort);
        let view = &self.view;
        let notify = || view.borrow_mut().note(&msg!("connecting"), Style::DIM);
        let other = notify_if_slow(connecting, notify).await?;
        Ok(engine.switch_model(other)?)
    }
}

fn list_plugins(view: &SharedView, world: &World) {
    let home = match world.home() {
        Ok(home) => home,
        Err(error) => return view.failure(&error.into()),
    };
    let rows = plugin::rows(&PluginStore::at(&home));
    if rows.is_empty() {
        view.say(&msg!("plugins-none-here"));
    }
    view.list(&rows);
}

/// Runs `/team`: syncs now, and shows what was sent and received.
async fn sync_team(view: &SharedView, world: &World) {
    let report = match JoinedTeam::required(world).await {
        Ok(joined) => joined.sync().await.map_err(sync_failure),
        Err(failure) => Err(failure),
    };
    match report {
        Ok(report) => team::report::lines(&report).iter().for_each(|line| view.say(line)),
        Err(failure) => view.failure(&failure),
    }
}

/// Runs `/doctor`.
async fn show_doctor(view: &SharedView, world: &World) {
    match doctor::rows(&DoctorArguments { json: false, offline: false }, world).await {
        Ok(rows) => view.list(&rows),
        Err(failure) => view.failure(&failure),
    }
}

/// Runs `/context`.
fn show_context(view: &SharedView, session: &ActiveSession, world: &World) {
    let engine = &session.engine;
    view.list(&context::window(engine));
    let layers = |home: PathBuf| Ok(context::layers(engine, &home)?);
    match world.home().map_err(Failure::from).and_then(layers) {
        Ok(rows) => view.list(&rows),
        Err(failure) => view.failure(&failure),
    }
}

fn show_stats(view: &SharedView, session: &ActiveSession, world: &World) {
    let engine = &session.engine;
    view.list(&rows::window(engine));
    let stats = |home: PathBuf| Ok(rows::session_stats(engine, &home, columns())?);
    match world.home().map_err(Failure::from).and_then(stats) {
        Ok(text) => view.say(&text),
        Err(failure) => view.failure(&failure),
    }
}

fn list_hooks(view: &SharedView, session: &ActiveSession) {
    let rows = hooks::rows(&session.engine.hooks());
    if rows.is_empty() {
        view.say(&msg!("hooks-none-here"));
    } else {
        view.list(&rows);
    }
}

/// Runs `/permissions [MODE]`.
fn set_mode(view: &SharedView, gate: &PermissionGate, name: &str) {
    if !name.is_empty() {
        match rows::parse_mode(name) {
            Ok(mode) => gate.set_mode(mode),
            Err(error) => return view.say(&error.to_string()),
        }
    }
    view.list(&rows::permissions(gate));
}
