//! Commands that the user runs themselves (`!command`): what they print goes to the model with the next message.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use dormouse_base::{Environment, IdSource, Redactor};
use dormouse_context::{Fragment, UserCommandOutput};
use dormouse_conversation::ResultContent;
use dormouse_engine::{IncomingMessage, IncomingMessageSource};
use dormouse_tools::{Bash, CallContext, CallResult, CommandProgress, Reaper, Tool};
use serde_json::value::to_raw_value;
use tokio_util::sync::CancellationToken;

/// The longest that a command may run, in milliseconds.
const LONGEST: u64 = 600_000;

/// Runs the user's commands and keeps what they printed until the model reads it. Secrets are taken out before that.
#[derive(Debug, Default)]
pub(crate) struct UserCommands {
    redactor: Redactor,
    waiting: Mutex<Vec<IncomingMessage>>,
}

impl IncomingMessageSource for UserCommands {
    fn take(&self) -> Vec<IncomingMessage> {
        std::mem::take(&mut self.waiting.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl UserCommands {
    pub(crate) fn new(redactor: Redactor) -> Self {
        Self { redactor, waiting: Mutex::default() }
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

    /// Keeps what a command printed for the model's next request.
    pub(crate) fn keep(&self, command: &str, output: &str, ids: &dyn IdSource) {
        let command = self.redactor.redact(command);
        let block = UserCommandOutput { command, output: output.to_owned() }.to_block();
        let message = IncomingMessage { id: ids.next().to_string(), block, shown: None };
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).push(message);
    }
}
