//! `!command`: runs a command of the user's and shows it like a call of the model's.

use std::sync::Arc;

use dormouse_conversation::known_tools::BASH;
use dormouse_conversation::{Block, ResultContent, ToolUseId};
use dormouse_engine::EngineEvent;
use dormouse_tools::CommandProgress;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio_util::sync::CancellationToken;

use crate::message_catalog::msg;
use crate::wiring::session_start::ActiveSession;

use super::session::{AfterInput, InteractiveSession};

/// Passes on the lines that a command prints.
struct PrintedLines(UnboundedSender<String>);

impl CommandProgress for PrintedLines {
    fn printed(&self, text: &str) {
        if let Some(line) = text.lines().rfind(|line| !line.trim().is_empty()) {
            // Nobody listens any more once the command has ended.
            let _gone = self.0.send(line.to_owned());
        }
    }
}

impl InteractiveSession<'_> {
    /// Runs a command; its output goes to the model with the next message.
    pub(super) async fn user_command(&mut self, command: &str) -> AfterInput {
        let command = command.trim();
        if command.is_empty() {
            self.view.say(&msg!("user-command-empty"));
            return AfterInput::Prompt;
        }
        self.view.borrow_mut().turn_started();
        let stop = CancellationToken::new();
        let (session, monitor) = self.turn_monitor();
        let ActiveSession { commands, project, environment, .. } = &*session;
        let view = monitor.view;
        let id = ToolUseId::new("user-command");
        let (sender, mut lines) = unbounded_channel();
        let run = async {
            let input = serde_json::json!({ "command": command }).to_string();
            let name = BASH.name.to_owned();
            let started = EngineEvent::ToolStarted { id: id.clone(), name, input };
            view.event(started);
            let place = (project.folder.as_path(), environment);
            let lines_out = Arc::new(PrintedLines(sender));
            let running = commands.run(command, place, lines_out, stop.clone());
            tokio::pin!(running);
            loop {
                tokio::select! {
                    biased;
                    result = &mut running => return result,
                    Some(line) = lines.recv() => {
                        let printed = EngineEvent::ToolPrinted { id: id.clone(), line };
                        view.event(printed);
                    }
                }
            }
        };
        let (result, next) = monitor.run(run, &stop).await;
        let block = Block::tool_result(&id, &result.content, result.is_error);
        let finished = EngineEvent::ToolFinished {
            id,
            name: BASH.name.to_owned(),
            is_error: result.is_error,
            result: block,
        };
        self.view.borrow_mut().event(finished);
        self.view.borrow_mut().turn_ended();
        self.queue_unsent();
        if let ResultContent::Text(output) = &result.content {
            let messages = self.session.engine.conversation().history().messages();
            let last = messages.last().map(|message| message.id);
            self.session.commands.keep(command, output, last);
        }
        next
    }
}
