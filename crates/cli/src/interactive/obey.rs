//! Slash commands, carried out.

use std::path::PathBuf;

use dormouse_engine::ModelSetup;
use dormouse_engine::plugins::PluginStore;

use crate::commands::hooks;
use crate::commands::mcp_servers;
use crate::commands::plugin;
use crate::terminal::markdown::Style;
use crate::wiring::connect::{Wanted, connect};
use crate::wiring::exit::Failure;
use crate::wiring::session_notes;
use crate::wiring::session_start::Conversation;

use super::commands::Name;
use super::{CONNECTING, Talk, answers, unless_soon};

impl Talk<'_> {
    /// Carries out a command.
    pub(super) async fn command(&mut self, name: Name, rest: &str) {
        match name {
            Name::Help => self.help(),
            Name::Skills => self.skills(),
            Name::Plugins => self.plugins(),
            Name::Agents => self.agents(rest),
            Name::Hooks => self.hooks(),
            Name::Cost => self.list(&answers::cost(&self.conversation.engine)),
            Name::Stats => self.stats(),
            Name::Config => self.list(&answers::config(&self.conversation, self.world)),
            Name::Permissions if rest.is_empty() => {
                self.list(&answers::permissions(&self.conversation.gate));
            }
            Name::Permissions => self.set_mode(rest),
            Name::Model if rest.is_empty() => {
                self.say(&format!(
                    "{}; /model NAME goes on with another",
                    self.conversation.engine.model_name()
                ));
            }
            Name::Model => match self.switch_model(rest).await {
                Ok(()) => self
                    .say(&format!("{} answers from now on", self.conversation.engine.model_name())),
                Err(failure) => self.complain(&failure),
            },
            Name::Clear => match self.start_over().await {
                Ok(()) => {
                    self.say("a new session; the one before is kept: dormouse sessions lists it");
                }
                Err(failure) => self.complain(&failure),
            },
            Name::Context => self.context(),
            Name::Snip => self.snip(),
            Name::Expand => self.expand(),
            Name::Mcp => {
                let said = mcp_servers::in_talk(&self.conversation.servers, rest).await;
                self.say(&said);
            }
            Name::Memory => self.memory(rest).await,
            Name::Recall if rest.is_empty() => self.view.borrow_mut().explain_recall(),
            Name::Recall => self.recall(rest).await,
            Name::Dream => Box::pin(self.dream(rest)).await,
            Name::Guard => self.guard(rest).await,
            Name::Notes => self.say(&session_notes::shown(&self.conversation.engine)),
            // Those that may begin a turn or end the talk are done elsewhere.
            Name::Compact | Name::Plan | Name::Quit => {}
        }
    }

    fn plugins(&self) {
        let home = match self.world.home() {
            Ok(home) => home,
            Err(error) => return self.complain(&error.into()),
        };
        let rows = plugin::rows(&PluginStore::at(&home));
        if rows.is_empty() {
            self.say("no plugins yet: `dormouse plugin install` takes a folder or a git address");
        }
        self.list(&rows);
    }

    fn stats(&self) {
        let engine = &self.conversation.engine;
        self.list(&answers::window(engine));
        let columns = crate::terminal::tty::columns();
        let figures = |home: PathBuf| Ok(answers::figures(engine, &home, columns)?);
        match self.world.home().map_err(Failure::from).and_then(figures) {
            Ok(text) => self.say(&text),
            Err(failure) => self.complain(&failure),
        }
    }

    /// Carries out `/hooks`.
    fn hooks(&self) {
        let rows = hooks::rows(&self.conversation.engine.hooks());
        if rows.is_empty() {
            self.say("no hooks: they are set under `hooks` in the settings, see docs/hooks.md");
        } else {
            self.list(&rows);
        }
    }

    fn set_mode(&self, name: &str) {
        match answers::mode_named(name) {
            Ok(mode) => {
                self.conversation.gate.set_mode(mode);
                self.list(&answers::permissions(&self.conversation.gate));
            }
            Err(problem) => self.say(&problem),
        }
    }

    async fn start_over(&mut self) -> Result<(), Failure> {
        let surroundings = self.look().await;
        let Conversation { engine, folder, named, .. } = &mut self.conversation;
        let view = &self.view;
        let mut sink = |event| view.borrow_mut().event(event);
        engine.start_over(folder, &surroundings, &mut sink).await?;
        named.as_ref().map_or(Ok(()), |named| named.hold(engine.session()))
    }

    async fn switch_model(&mut self, name: &str) -> Result<(), Failure> {
        let Conversation { engine, settings, switches, project, .. } = &mut self.conversation;
        let server_clearing = switches.is_on("server_clearing");
        let wanted = Wanted { model: Some(name), origin: None, server_clearing };
        let other = connect(settings, &self.world.environment, wanted, &project.folder);
        let view = &self.view;
        let say = || view.borrow_mut().note(CONNECTING, Style::DIM);
        let other = unless_soon(other, say).await?;
        Ok(engine.switch_model(ModelSetup {
            model: other.model,
            model_name: other.model_name,
            origin: other.origin,
            dialect: other.dialect,
            budget: other.budget,
        })?)
    }
}
