//! `/memory`, `/recall` and `/guard`: the commands of the command line, without leaving; and what is said about memory at the start.

use crate::args::CliCommand;
use crate::commands::memory;
use crate::terminal::markdown::Style;
use crate::wiring::exit::Failure;
use crate::wiring::permissions;
use crate::wiring::session_start::Conversation;
use crate::wiring::settings;
use crate::wiring::trust::Untrusted;

use super::{Talk, counted};
use crate::terminal::tty::{self, Quiet};

/// The command that takes back what was just saved: the key for it types this.
pub(super) const UNDO: &str = "/memory undo";

impl Talk<'_> {
    /// Carries out `/memory …`; without anything behind it, lists the memories and says what waits.
    pub(super) async fn memory(&mut self, rest: &str) {
        let Some(words) = shlex::split(rest) else {
            self.say("A quotation mark in this command is not closed.");
            return;
        };
        let listed = words.is_empty();
        let words = if listed { vec!["list".to_owned()] } else { words };
        self.as_typed("memory", words).await;
        if listed {
            self.tell_what_waits();
        }
    }

    /// Carries out `/recall QUERY`: what a message like this would bring to mind, and why.
    pub(super) async fn recall(&mut self, query: &str) {
        let words = ["--explain", "--", query].map(str::to_owned).to_vec();
        self.as_typed("recall", words).await;
    }

    /// Carries out `/guard …`: shows a guard and asks. What its rules deny is denied here too, at once.
    pub(super) async fn guard(&mut self, rest: &str) {
        let Some(words) = shlex::split(rest) else {
            self.say("A quotation mark in this command is not closed.");
            return;
        };
        // A name of several words needs no quotation marks, where no option stands beside it.
        let is_name = !words.is_empty() && !words.iter().any(|word| word.starts_with('-'));
        let words = if is_name { vec![words.join(" ")] } else { words };
        let words = std::iter::once("guard".to_owned()).chain(words).collect();
        self.as_typed("memory", words).await;
        self.heed_settings();
    }

    /// Takes up what the settings forbid by now.
    fn heed_settings(&self) {
        let Conversation { project, gate, .. } = &self.conversation;
        let given = self.arguments.settings.as_deref();
        let loaded = settings::load(self.world, given, project, Untrusted::Pass);
        match loaded.and_then(|loaded| permissions::rules(&loaded.settings.permissions)) {
            Ok(rules) => gate.restrict(rules.deny, rules.ask),
            Err(failure) => self.complain(&failure),
        }
    }

    /// Runs a command of the command line, in the terminal as it was found.
    pub(super) async fn as_typed(&mut self, command: &str, words: Vec<String>) {
        let typed = ["dormouse".to_owned(), command.to_owned()].into_iter().chain(words);
        let command = match crate::args::parse_arguments(typed) {
            Ok(arguments) => arguments.command,
            Err(error) => return self.say(error.render().to_string().trim_end()),
        };
        let failed = match command {
            Some(CliCommand::Memory(command)) => {
                self.with_the_terminal(memory::run(&command, self.world)).await.err()
            }
            Some(CliCommand::Dream(arguments)) => self
                .with_the_terminal(crate::commands::dream::run(&arguments, self.world))
                .await
                .err(),
            Some(CliCommand::Recall(arguments)) => {
                self.with_the_terminal(memory::recall::run(&arguments, self.world)).await.err()
            }
            _ => None,
        };
        if let Some(failure) = failed {
            self.complain(&failure);
        }
    }

    /// How many changes wait for the person, if any do.
    pub(super) fn tell_what_waits(&self) {
        let waiting = match self.conversation.memory.as_ref().map(|memory| memory.waiting()) {
            Some(Ok(waiting)) => waiting,
            Some(Err(error)) => {
                self.complain(&Failure::from(error));
                return;
            }
            None => return,
        };
        if waiting > 0 {
            let waiting = counted(waiting, "change of memory waits", "changes of memory wait");
            let text = format!("{waiting} for you: /memory inbox shows what would change");
            self.view.borrow_mut().note(&text, Style::DIM);
        }
    }

    /// Lends the terminal, as it was found, to something that writes, asks or opens an editor.
    async fn with_the_terminal<T>(&self, work: impl Future<Output = T>) -> T {
        self.view.borrow_mut().before_prompt();
        if self.quiet.is_some() {
            tty::restore();
        }
        let done = work.await;
        if let Some(Err(error)) = self.quiet.as_ref().map(Quiet::again) {
            let text = format!("can not set up the terminal: {error}");
            self.view.borrow_mut().note(&text, Style::DIM);
        }
        self.view.borrow_mut().typed();
        done
    }
}
