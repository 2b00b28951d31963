//! The loop of the interactive mode: prompt, then a slash command or a turn, until the user leaves.

use std::path::Path;
use std::time::Duration;

use dormouse_base::{names, nearest_name};
use dormouse_engine::TaskOccasion;
use dormouse_hooks::SessionEndReason;
use dormouse_tui::action::UserAction;
use dormouse_tui::style::{Color, Style};

use crate::message_catalog::msg;
use crate::wiring::catch_up::wait_idle;
use crate::wiring::engine_notice::notice_text;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::session_start::ActiveSession;

use super::background;
use super::first_session;
use super::line_editor::InputEvent;
use super::live_screen::LiveScreen;
use super::replay;
use super::session::{AfterInput, InteractiveSession, SessionEnd};
use super::signals::SignalAction;
use super::slash_commands::agents;
use super::slash_commands::command_list::{ParsedCommand, SlashCommand, parse};
use super::slash_commands::memory::UNDO;
use super::slash_commands::prompts;
use super::slash_commands::rows::mode_label;
use super::slash_commands::skills;
use super::status_line;
use super::view::SharedView;

/// How often notices of background tasks are checked for at the prompt, while one runs.
const TICK: Duration = Duration::from_secs(1);

/// After so long without input the user counts as away.
const IDLE: Duration = Duration::from_mins(2);

/// What came from the prompt.
enum PromptInput {
    Text(String),
    Leave(Exit),
}

impl InteractiveSession<'_> {
    /// Runs until the user leaves. `first` is the prompt from the command line; it may be empty.
    pub(super) async fn run(mut self, first: String) -> Result<SessionEnd, Failure> {
        // Drawn at once, when it is known whether the composer waits or a turn runs.
        self.view.live(LiveScreen::hold);
        self.show_header();
        let arguments = self.arguments;
        let view = &self.view;
        let mut sink = |event| view.borrow_mut().event(event);
        self.session.set_up(arguments, &mut sink).await;
        self.session.engine.notify_tasks(TaskOccasion::Opened);
        let mut first = Some(first).filter(|first| !first.trim().is_empty());
        loop {
            let queued = first.take().or_else(|| self.view.live(LiveScreen::next_queued).flatten());
            let input = match queued {
                Some(prompt) => {
                    self.view.borrow_mut().echo(&prompt);
                    PromptInput::Text(prompt)
                }
                None if self.view.live(LiveScreen::leaves) == Some(true) => {
                    PromptInput::Leave(Exit::Done)
                }
                None => self.read_prompt().await,
            };
            let next = match input {
                PromptInput::Leave(exit) => AfterInput::leave(exit),
                PromptInput::Text(text) if text.trim().is_empty() => AfterInput::Prompt,
                PromptInput::Text(text) => self.dispatch(&text).await,
            };
            if let AfterInput::End(end) = next {
                self.leave(end).await;
                return Ok(end);
            }
        }
    }

    fn show_header(&self) {
        let ActiveSession { engine, project, .. } = &self.session;
        let mut view = self.view.borrow_mut();
        let user_home = self.world.environment.get(names::USER_HOME).map(Path::new);
        let folder = match user_home.and_then(|home| project.folder.strip_prefix(home).ok()) {
            Some(inside) => Path::new("~").join(inside).display().to_string(),
            None => project.folder.display().to_string(),
        };
        view.note(
            &format!(
                "dormouse · {} · {folder}",
                status_line::short_model_name(&engine.model().name)
            ),
            Style::BOLD,
        );
        let is_resumed = !engine.conversation().history().messages().is_empty();
        let resumed = is_resumed.then(|| format!("{} · ", msg!("session-resumed-header")));
        let hint = format!("{}{}", resumed.unwrap_or_default(), msg!("session-header-hint"));
        view.note(&hint, Style::DIM);
        if let Ok(home) = self.world.home()
            && !is_resumed
        {
            let session = engine.conversation().session();
            for offer in first_session::offers(project, session, &home, &self.world.environment) {
                view.note(&offer, Style::DIM);
            }
        }
        replay::show_last_turns(&mut view, engine.conversation());
        drop(view);
        self.show_pending_proposals();
    }

    /// Runs the hooks at the session's end, waits for background tasks, and closes MCP servers.
    async fn leave(&mut self, end: SessionEnd) {
        let reason = match end {
            SessionEnd::Leave(Exit::Done) => SessionEndReason::PromptInputExit,
            SessionEnd::Leave(_) | SessionEnd::Resume(_) => SessionEndReason::Other,
        };
        background::show_unfinished_agents(&self.session.subagents, &self.view);
        background::show_ended_commands(&self.session.commands.shells, &self.view);
        self.wait_for_background_tasks().await;
        let view = &self.view;
        let mut sink = |event| view.borrow_mut().event(event);
        self.session.engine.end(reason, &mut sink).await;
        self.session.servers.close().await;
        let has_messages = !self.session.engine.conversation().history().messages().is_empty();
        if has_messages && matches!(end, SessionEnd::Leave(_)) {
            self.view.borrow_mut().note(&msg!("session-saved"), Style::DIM);
        }
    }

    async fn read_prompt(&mut self) -> PromptInput {
        let mut interrupts = 0;
        loop {
            self.view.borrow_mut().before_prompt();
            status_line::refresh(&self.session, &self.view);
            self.view.live(LiveScreen::release);
            self.status_line.show(&self.session, &self.view).await;
            let event = self.next_event(&mut interrupts).await;
            self.view.borrow_mut().row_ended();
            match event {
                InputEvent::Action(action) => {
                    if let Some(input) = self.act(action).await {
                        return input;
                    }
                }
                InputEvent::Resumed => self.input.take_back(&self.view),
                InputEvent::Terminated => return PromptInput::Leave(Exit::Interrupted),
                InputEvent::Interrupted if interrupts > 0 => return PromptInput::Leave(Exit::Done),
                InputEvent::Interrupted => {
                    interrupts += 1;
                    self.view.borrow_mut().note(&msg!("hint-leave"), Style::DIM);
                }
                InputEvent::Discarded => interrupts = 0,
                InputEvent::Failed(reason) => {
                    let text = msg!("terminal-unreadable", reason = reason);
                    self.view.borrow_mut().note(&text, Style::PLAIN.color(Color::Red));
                    return PromptInput::Leave(Exit::Failed);
                }
            }
        }
    }

    /// Waits for input, and shows meanwhile what background tasks and other sessions have to say.
    async fn next_event(&mut self, interrupts: &mut usize) -> InputEvent {
        let mode = mode_label(self.session.gate.mode());
        self.view.borrow_mut().change(|interface| {
            interface.set_mode(mode);
        });
        let mut changes = self.session.servers.changes();
        refresh_commands(&self.session, &self.view);
        let mut ticks = tokio::time::interval(TICK);
        let mut was_busy = true;
        let idle = self.world.deadlines.away_after(IDLE);
        let away = wait_idle(self.world.clock.as_ref(), idle);
        tokio::pin!(away);
        let mut is_away = false;
        let (printer, reads_control_c) = (self.input.printer(), self.input.reads_control_c());
        let reading = self.input.read(&self.view, mode);
        tokio::pin!(reading);
        loop {
            // Nothing is looked for where nothing can come: an idle program does not wake up.
            let is_busy = background::is_busy(&self.session);
            // What ended last may have left something to say.
            let expects_news = is_busy || std::mem::replace(&mut was_busy, is_busy);
            tokio::select! {
                event = &mut reading => return event,
                Ok(()) = changes.changed() => {
                    refresh_commands(&self.session, &self.view);
                    self.view.live(LiveScreen::draw);
                }
                () = &mut away, if !is_away => {
                    is_away = true;
                    self.session.engine.notify_tasks(TaskOccasion::Paused);
                    was_busy = true;
                }
                _ = ticks.tick(), if expects_news => {
                    let mut lines = background::memory_notices(&self.session);
                    lines.extend(background::failure_notices(&self.session));
                    // The model gets these with the next prompt.
                    let messages = self.session.engine.receive();
                    lines.extend(messages.iter().map(|notice| background::incoming_line(&notice_text(notice))));
                    for line in lines {
                        printer.print(&self.view, line);
                    }
                    status_line::refresh(&self.session, &self.view);
                }
                action = self.signals.next() => match action {
                    SignalAction::Terminate => return InputEvent::Terminated,
                    // The key itself is read, except on a terminal that can only print.
                    SignalAction::Interrupt if reads_control_c => {}
                    SignalAction::Interrupt if *interrupts > 0 => {
                        return InputEvent::Action(UserAction::Leave);
                    }
                    SignalAction::Interrupt => {
                        *interrupts += 1;
                        self.view.borrow_mut().note(&msg!("hint-leave"), Style::DIM);
                    }
                    SignalAction::Resumed if printer.is_live() => return InputEvent::Resumed,
                    SignalAction::Resumed => {}
                }
            }
        }
    }

    /// Does at the prompt what the user wants; the input, if that is one.
    async fn act(&mut self, action: UserAction) -> Option<PromptInput> {
        let command = match action {
            UserAction::Submit(text) => {
                self.view.borrow_mut().echo_sent(&text);
                return Some(PromptInput::Text(text));
            }
            UserAction::Leave => return Some(PromptInput::Leave(Exit::Done)),
            UserAction::UndoMemory => UNDO,
            UserAction::Rewind => {
                self.pick_rewind().await;
                return None;
            }
            UserAction::ExplainRecall => {
                self.view.borrow_mut().explain_recall();
                return None;
            }
            UserAction::ShowThinking => {
                self.view.borrow_mut().show_thinking();
                return None;
            }
            UserAction::NextMode => {
                self.next_mode();
                return None;
            }
            UserAction::Suspend => {
                self.input.suspend(&self.view).await;
                self.signals.skip_resumed().await;
                return None;
            }
            UserAction::ShowOutput => {
                self.show_output().await;
                return None;
            }
            UserAction::PasteImage => {
                self.paste_image().await;
                return None;
            }
            UserAction::OpenEditor(text) => {
                self.edit_message(&text).await;
                return None;
            }
            // Only a turn has these.
            UserAction::Interrupt
            | UserAction::Steer(_)
            | UserAction::Unsteer
            | UserAction::Answer(_) => return None,
        };
        self.view.borrow_mut().echo(command);
        Some(PromptInput::Text(command.to_owned()))
    }

    /// Runs a slash command or a turn.
    async fn dispatch(&mut self, text: &str) -> AfterInput {
        if let Err(error) = self.history.add(text) {
            let text = msg!("history-not-saved", error = error.to_string());
            self.view.borrow_mut().note(&text, Style::DIM);
        }
        if let Some(command) = text.strip_prefix('!') {
            return self.user_command(command).await;
        }
        match parse(text) {
            None => return self.turn(text).await,
            Some(ParsedCommand::Unknown { .. }) if skills::is_called_by(text, &self.session) => {
                return self.turn(text).await;
            }
            // The user's own command of that name is used instead of ours.
            Some(ParsedCommand::Known(
                command @ (SlashCommand::Init | SlashCommand::Review),
                _,
            )) if skills::has_own(command, &self.session) => {
                return self.turn(text).await;
            }
            Some(ParsedCommand::Known(SlashCommand::Quit, _)) => {
                return AfterInput::leave(Exit::Done);
            }
            Some(ParsedCommand::Known(SlashCommand::Compact, rest)) => {
                return self.compact(&rest).await;
            }
            Some(ParsedCommand::Known(SlashCommand::Plan, rest)) => return self.plan(&rest).await,
            Some(ParsedCommand::Known(SlashCommand::Init, _)) => {
                return self.turn(prompts::INIT).await;
            }
            Some(ParsedCommand::Known(SlashCommand::Review, rest)) => {
                return self.turn(&prompts::review(&rest)).await;
            }
            Some(ParsedCommand::Known(SlashCommand::Agents, rest))
                if rest.starts_with("resume ") =>
            {
                let name = rest.trim_start_matches("resume ").trim();
                match agents::resume_prompt(&self.session.subagents, name) {
                    Some(prompt) => return self.turn(&prompt).await,
                    None => self.view.say(&msg!("agents-not-interrupted", name = name)),
                }
            }
            Some(ParsedCommand::Known(SlashCommand::Resume, rest)) => {
                return self.resume(&rest).await;
            }
            Some(ParsedCommand::Known(command, rest)) => self.slash_command(command, &rest).await,
            Some(ParsedCommand::Unknown { name, similar }) => {
                let similar = similar.or_else(|| nearest_name(&name, skills::names(&self.session)));
                let hint = similar.map(|name| msg!("command-suggestion", name = name));
                let hint = hint.unwrap_or_default();
                self.view.say(&msg!("command-unknown-here", name = name, hint = hint));
            }
        }
        AfterInput::Prompt
    }
}

/// Suggests what can be called now: MCP servers come and change.
fn refresh_commands(session: &ActiveSession, view: &SharedView) {
    view.borrow_mut().change(|interface| interface.set_commands(skills::suggestions(session)));
}
