//! The line above the prompt, where the person has set one up: the first line that a command of theirs prints.

use std::time::Duration;

use dormouse_base::printable;
use dormouse_tools::{Reaper, output_with_input};
use serde::Serialize;

use super::Talk;
use crate::markdown::Style;

/// The prompt is not held up for longer.
const PATIENCE: Duration = Duration::from_secs(2);

/// What the command is told. The names are those that scripts for other agents read.
#[derive(Serialize)]
struct Told<'a> {
    session_id: String,
    transcript_path: String,
    cwd: String,
    model: ModelTold<'a>,
    workspace: Workspace,
    version: &'static str,
    cost: Cost,
    context: Context,
}

#[derive(Serialize)]
struct ModelTold<'a> {
    id: &'a str,
    display_name: &'a str,
}

#[derive(Serialize)]
struct Workspace {
    current_dir: String,
    project_dir: String,
}

#[derive(Serialize)]
struct Cost {
    total_cost_usd: f64,
}

#[derive(Serialize)]
struct Context {
    used_tokens: u64,
    window_tokens: u32,
}

impl Talk<'_> {
    /// Shows the line; nothing where none is set up. A command that fails is told once.
    pub(super) async fn status_line(&mut self) {
        let conversation = &self.conversation;
        let Some(command) = &conversation.settings.status_line.command else { return };
        let environment = &conversation.environment;
        let folder = &conversation.project.folder;
        let (input, reaper) = (self.told(), Reaper::of_this_program());
        let (arguments, input) = (["-c", command], (input, &reaper));
        let ran = output_with_input("sh", &arguments, folder, environment, PATIENCE, input).await;
        let problem = match ran {
            Ok(done) if done.code == Some(0) => {
                let line = done.stdout.lines().next().unwrap_or_default().trim_end();
                if !line.is_empty() {
                    self.view.borrow_mut().note(&printable(line), Style::DIM);
                }
                return;
            }
            Ok(done) => done.stderr.lines().next().unwrap_or("it failed").to_owned(),
            Err(error) => error.to_string(),
        };
        if !std::mem::replace(&mut self.status_line_failed, true) {
            let text = format!("the command of `statusLine` printed no line: {problem}");
            self.view.borrow_mut().note(&printable(&text), Style::DIM);
        }
    }

    fn told(&self) -> Vec<u8> {
        let (engine, project) = (&self.conversation.engine, &self.conversation.project);
        let told = Told {
            session_id: engine.session().to_string(),
            transcript_path: engine.transcript_path().display().to_string(),
            cwd: project.folder.display().to_string(),
            model: ModelTold { id: engine.model_name(), display_name: engine.model_name() },
            workspace: Workspace {
                current_dir: project.folder.display().to_string(),
                project_dir: project.checkout.display().to_string(),
            },
            version: env!("CARGO_PKG_VERSION"),
            cost: Cost { total_cost_usd: engine.spent_usd() },
            context: Context {
                used_tokens: engine.tokens_used(),
                window_tokens: engine.budget().window,
            },
        };
        // A struct of texts and numbers has no way to fail to serialise.
        serde_json::to_vec(&told).unwrap_or_default()
    }
}
