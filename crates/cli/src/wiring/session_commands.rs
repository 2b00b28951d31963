//! The commands of a session that the user sees: those that they run themselves (`!command`), whose output goes to the model with
//! the next message, and those that the model runs in the background, whose end user and model are told.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use dormouse_base::{Environment, IdSource, MessageId, Redactor};
use dormouse_context::{EndedCommand, Fragment, UserCommandOutput};
use dormouse_conversation::{Block, ResultContent};
use dormouse_engine::{IncomingMessage, IncomingMessageSource};
use dormouse_tools::{
    Bash, CallContext, CallResult, CommandProgress, Reaper, ShellSummary, Shells, Tool,
};
use serde_json::value::to_raw_value;
use tokio_util::sync::CancellationToken;

use crate::message_catalog::msg;

use super::command_text::{duration_text, shell_end_text};

/// The longest that a command may run, in milliseconds.
const LONGEST: u64 = 600_000;

/// Runs the user's commands and keeps what they printed until the model reads it. Secrets are taken out before that.
pub(crate) struct SessionCommands {
    redactor: Redactor,
    ids: Arc<dyn IdSource>,
    waiting: Mutex<Vec<IncomingMessage>>,
    /// What was kept, with the message after which that was.
    kept: Mutex<Vec<(Option<MessageId>, Block)>>,
    /// The commands in the background.
    pub(crate) shells: Arc<Shells>,
}

impl IncomingMessageSource for SessionCommands {
    fn take(&self) -> Vec<IncomingMessage> {
        let mut messages =
            std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner));
        messages.extend(self.shells.take_ended().into_iter().map(|shell| self.ended(shell)));
        messages
    }
}

impl SessionCommands {
    pub(crate) fn new(redactor: Redactor, ids: Arc<dyn IdSource>) -> Self {
        Self {
            redactor,
            ids,
            waiting: Mutex::default(),
            kept: Mutex::default(),
            shells: Arc::default(),
        }
    }

    /// The message about a command in the background that has ended.
    fn ended(&self, shell: ShellSummary) -> IncomingMessage {
        let ShellSummary { id, command, ended, elapsed } = shell;
        let command = self.redactor.redact(&command);
        let shown = msg!(
            "shell-ended",
            id = id.as_str(),
            how = ended.as_ref().map(shell_end_text).unwrap_or_default(),
            time = duration_text(elapsed),
            command = command.as_str()
        );
        let how = ended.map(|end| end.to_string()).unwrap_or_default();
        let how = how.trim_matches(['[', ']']).to_owned();
        let block = EndedCommand { id, command, how }.to_block();
        IncomingMessage { id: self.ids.next().to_string(), block, shown: Some(shown.into()) }
    }

    /// Runs a command as the model's would run, but neither restricted nor confirmed: the user has typed it.
    pub(crate) async fn run(
        &self,
        command: &str,
        place: (&Path, &Environment),
        progress: Arc<dyn CommandProgress>,
        stop: CancellationToken,
    ) -> CallResult {
        let input = serde_json::json!({ "command": command, "timeout": LONGEST });
        let (folder, environment) = place;
        let mut context = CallContext::new(folder, environment.clone(), 0);
        context.cancel = stop;
        context.progress = Some(progress);
        context.redactor = self.redactor.clone();
        context.commands.reaper = Reaper::of_this_program();
        // A map of a text and a number always serializes.
        let result = match to_raw_value(&input) {
            Ok(input) => CallResult::from(Bash.call(&input, &context).await),
            Err(_) => return CallResult::from(Err(dormouse_tools::ToolError::interrupted())),
        };
        self.without_secrets(result)
    }

    fn without_secrets(&self, mut result: CallResult) -> CallResult {
        if let ResultContent::Text(text) = &mut result.content {
            *text = self.redactor.redact(text);
        }
        result
    }

    /// What commands printed after this message of the conversation.
    pub(crate) fn kept_after(&self, message: Option<MessageId>) -> Vec<Block> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let after = kept.iter().filter(|(last, _)| *last == message);
        after.map(|(_, block)| block.clone()).collect()
    }

    /// Keeps what a command printed for the model's next request. `last` is the last message of the conversation.
    pub(crate) fn keep(&self, command: &str, output: &str, last: Option<MessageId>) {
        let command = self.redactor.redact(command);
        let block = UserCommandOutput { command, output: output.to_owned() }.to_block();
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).push((last, block.clone()));
        let message = IncomingMessage { id: self.ids.next().to_string(), block, shown: None };
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).push(message);
    }
}
