//! `/memory`, `/recall` and `/guard`: commands of the command line, run inside the session.

use dormouse_engine::SessionMemory;
use dormouse_instructions::InstructionFile;
use dormouse_tui::style::Style;

use crate::args::{CliCommand, parse_arguments};
use crate::commands::{dream, memory};
use crate::interactive::session::InteractiveSession;
use crate::interactive::view::SharedView;
use crate::message_catalog::msg;
use crate::wiring::exit::Failure;
use crate::wiring::permissions;
use crate::wiring::session_start::ActiveSession;
use crate::wiring::settings;
use crate::wiring::trust::Untrusted;

use super::argument_error::argument_error;

/// The command behind the key that undoes the last change of memory.
pub(in crate::interactive) const UNDO: &str = "/memory undo";

impl InteractiveSession<'_> {
    /// Runs `/memory …`; without arguments, lists the memories and counts pending proposals.
    pub(super) async fn memory(&mut self, rest: &str) {
        let Some(words) = shlex::split(rest) else {
            self.view.say(&msg!("unclosed-quote"));
            return;
        };
        if let [word @ ("on" | "off")] = words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            return switch_memory(&self.view, self.session.memory.as_deref(), word == "on");
        }
        if !words.is_empty() {
            return self.run_command("memory", "memory", words).await;
        }
        self.run_command("memory", "memory", vec!["list".to_owned()]).await;
        if self.session.memory.as_ref().is_some_and(|memory| !memory.switch.is_on()) {
            self.view.say(&msg!("memory-turned-off"));
        }
        show_instruction_files(&self.view, self.session.engine.instruction_files());
        self.show_pending_proposals();
    }

    /// Runs `/recall QUERY`: what would be recalled for this text, and why.
    pub(super) async fn recall(&mut self, query: &str) {
        let words = ["--explain", "--", query].map(str::to_owned).to_vec();
        self.run_command("recall", "recall", words).await;
    }

    /// Runs `/guard …`. The rules of an installed guard apply to this session at once.
    pub(super) async fn guard(&mut self, rest: &str) {
        let Some(words) = shlex::split(rest) else {
            self.view.say(&msg!("unclosed-quote"));
            return;
        };
        // A name of several words needs no quotation marks where there are no options.
        let is_name = !words.is_empty() && !words.iter().any(|word| word.starts_with('-'));
        let words = if is_name { vec![words.join(" ")] } else { words };
        let words = std::iter::once("guard".to_owned()).chain(words).collect();
        self.run_command("guard", "memory", words).await;
        self.apply_new_restrictions();
    }

    /// Applies deny and ask rules that were added to the settings since the session began.
    fn apply_new_restrictions(&self) {
        let ActiveSession { project, gate, .. } = &self.session;
        let given = self.arguments.settings.as_deref();
        let loaded = settings::load(self.world, given, project, Untrusted::Pass);
        match loaded.and_then(|loaded| permissions::rules(&loaded.settings.permissions)) {
            Ok(rules) => gate.restrict(rules.deny, rules.ask),
            Err(failure) => self.view.failure(&failure),
        }
    }

    /// Runs a command of the command line, with the terminal in its normal mode. The user has called it by `name`.
    pub(super) async fn run_command(&mut self, name: &str, command: &str, words: Vec<String>) {
        let line = ["dormouse".to_owned(), command.to_owned()].into_iter().chain(words);
        let command = match parse_arguments(line) {
            Ok(arguments) => arguments.command,
            Err(error) => {
                let problem = argument_error(name, &error);
                let text = problem.unwrap_or_else(|| error.render().to_string());
                return self.view.say(text.trim_end());
            }
        };
        self.view.borrow_mut().before_prompt();
        let result = match command {
            Some(CliCommand::Memory(command)) => {
                self.input.lend(&self.view, Box::pin(memory::run(&command, self.world))).await
            }
            Some(CliCommand::Dream(arguments)) => {
                self.input.lend(&self.view, Box::pin(dream::run(&arguments, self.world))).await
            }
            Some(CliCommand::Recall(arguments)) => {
                self.input.lend(&self.view, memory::recall::run(&arguments, self.world)).await
            }
            _ => return,
        };
        if let Err(failure) = result {
            self.view.failure(&failure);
        }
    }

    /// Counts the memory changes that wait for the user's decision.
    pub(in crate::interactive) fn show_pending_proposals(&self) {
        let pending = match self.session.memory.as_ref().map(|memory| memory.memories().waiting()) {
            Some(Ok(pending)) => pending,
            Some(Err(error)) => return self.view.failure(&Failure::from(error)),
            None => return,
        };
        if pending > 0 {
            self.view.borrow_mut().note(&msg!("memory-waits", count = pending), Style::DIM);
        }
    }
}

/// Lists the instruction files in force.
fn show_instruction_files(view: &SharedView, files: &[InstructionFile]) {
    let paths: Vec<String> = files.iter().map(|file| file.path.display().to_string()).collect();
    if !paths.is_empty() {
        view.list(&vec![(msg!("memory-instruction-files"), paths.join("\n"))]);
    }
}

/// Runs `/memory on` and `/memory off`.
fn switch_memory(view: &SharedView, memory: Option<&SessionMemory>, is_on: bool) {
    let Some(memory) = memory else { return view.say(&msg!("memory-not-in-session")) };
    memory.switch.set(is_on);
    view.say(&if is_on { msg!("memory-turned-on") } else { msg!("memory-turned-off") });
}
