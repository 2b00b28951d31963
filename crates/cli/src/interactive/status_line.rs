//! The status line: model, permission mode, context window, cost and branch, or the first line that the configured command
//! prints.

use std::path::{Path, PathBuf};
use std::time::Duration;

use dormouse_base::{git_folder, printable};
use dormouse_engine::{Engine, SessionAccount};
use dormouse_tools::{Reaper, output_with_input};
use dormouse_tui::live::StatusParts;
use dormouse_tui::style::{Color, Style};
use serde::Serialize;

use crate::message_catalog::msg;
use crate::wiring::session_start::ActiveSession;

use super::live_screen::LiveScreen;
use super::slash_commands::tasks::TaskList;
use super::view::{SharedView, TerminalView};

/// How long the prompt waits for the command.
const PATIENCE: Duration = Duration::from_secs(2);

/// The JSON input of the command. The names are those that scripts for other agents read.
#[derive(Serialize)]
struct StatusLineInput<'a> {
    session_id: String,
    transcript_path: String,
    cwd: String,
    model: ModelInput<'a>,
    workspace: Workspace,
    version: &'static str,
    cost: Cost,
    context: Context,
}

#[derive(Serialize)]
struct ModelInput<'a> {
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

/// Runs the status line command. An error is shown once per session.
#[derive(Debug, Default)]
pub(super) struct StatusLine {
    error_shown: bool,
}

impl StatusLine {
    /// Shows the line, where a command is configured.
    pub(super) async fn show(&mut self, session: &ActiveSession, view: &SharedView) {
        let settings = &session.settings.status_line;
        let Some(command) = &settings.command else { return };
        if let Some(kind) = settings.kind.as_deref().filter(|kind| *kind != "command") {
            let text = msg!("status-line-kind", kind = kind);
            return self.show_error_once(&text, view);
        }
        let environment = &session.environment;
        let folder = &session.project.folder;
        let reaper = Reaper::of_this_program();
        let input = (command_input(session), &reaper);
        let arguments = ["-c", command];
        let ran = output_with_input("sh", &arguments, folder, environment, PATIENCE, input).await;
        let problem = match ran {
            Ok(done) if done.code == Some(0) => {
                let line = done.stdout.lines().next().unwrap_or_default().trim_end();
                let line = without_sequences(line);
                view.borrow_mut().show_command_status(&printable(&line));
                return;
            }
            Ok(done) => match done.stderr.lines().next() {
                Some(line) => line.to_owned(),
                None => msg!("status-line-no-reason"),
            },
            Err(error) => error.to_string(),
        };
        self.show_error_once(&msg!("status-line-failed", problem = problem), view);
    }

    fn show_error_once(&mut self, text: &str, view: &SharedView) {
        if !std::mem::replace(&mut self.error_shown, true) {
            let mut view = view.borrow_mut();
            view.note(&printable(text), Style::DIM);
            view.before_prompt();
        }
    }
}

/// What the program's own line shows beside the account of the session.
pub(super) struct StatusSources {
    model: String,
    checkout: PathBuf,
    pub(super) tasks: TaskList,
    /// Whether the user's command makes another line.
    is_replaced: bool,
}

impl StatusSources {
    pub(super) fn of(session: &ActiveSession) -> Self {
        Self {
            model: model_label(&session.engine),
            checkout: session.project.checkout.clone(),
            tasks: TaskList::of(session),
            is_replaced: session.settings.status_line.command.is_some(),
        }
    }

    /// Shows what is known now; it is drawn with the next frame.
    pub(super) fn show(&self, view: &mut TerminalView) {
        let account = view.account.latest.as_deref().filter(|_| !self.is_replaced);
        if let Some(status) = account.map(|account| self.parts(account)) {
            view.set_status(status);
        }
    }

    fn parts(&self, account: &SessionAccount) -> StatusParts {
        let last = account.last_usage;
        let cost = account.known_cost().unwrap_or_else(|| msg!("status-cost-unknown"));
        let background = account.background;
        let background = (background.known > 0.0)
            .then(|| msg!("status-background", cost = background.to_string()));
        let cached =
            last.cache_read_input_tokens.saturating_mul(100).checked_div(last.input_total());
        let cached = cached.map(|cached| msg!("status-cache", percent = cached));
        let tasks = self.tasks.running().into_iter().map(|task| format!("⚙ {task}"));
        // What does not fit is left out from the end: what runs matters more than what it costs.
        let after =
            tasks.chain([cost]).chain(background).chain(cached).chain(branch(&self.checkout));
        let dim = |text: String| (text, Style::DIM);
        let parts = [dim(self.model.clone()), window(account)].into_iter();
        StatusParts { parts: parts.chain(after.map(dim)).collect(), mode_at: Some(1) }
    }
}

/// Shows the program's own line, unless a command makes another.
pub(super) fn refresh(session: &ActiveSession, view: &SharedView) {
    let mut view = view.borrow_mut();
    view.account.set(Box::new(session.engine.account()));
    StatusSources::of(session).show(&mut view);
    view.live().map(LiveScreen::draw);
}

/// How full the window is: a bar and a percentage, in the color of its state.
fn window(account: &SessionAccount) -> (String, Style) {
    let window = u64::from(account.window).max(1);
    let used = account.window_used.saturating_mul(100) / window;
    let full = usize::try_from(used.saturating_mul(CELLS).div_ceil(100).min(CELLS)).unwrap_or(0);
    let empty = usize::try_from(CELLS).unwrap_or(0) - full;
    let bar = "█".repeat(full) + &"░".repeat(empty);
    let state = &account.status.state;
    let style = match (state.error || state.blocking, state.warning) {
        (true, _) => Style::PLAIN.color(Color::Red),
        (false, true) => Style::PLAIN.color(Color::Yellow),
        (false, false) => Style::DIM,
    };
    (msg!("status-window", bar = bar, percent = used), style)
}

/// The model, with the effort that was chosen for it.
fn model_label(engine: &Engine) -> String {
    let model = engine.model();
    let name = short_model_name(&model.name);
    model.effort.map_or_else(|| name.to_owned(), |effort| format!("{name} ({effort})"))
}

/// Local servers name a model by the path of its file: its last part says enough.
pub(super) fn short_model_name(name: &str) -> &str {
    let file = name.rsplit('/').next().filter(|_| name.starts_with('/')).unwrap_or(name);
    file.strip_suffix(".gguf").unwrap_or(file)
}

/// The branch that is checked out, if there is one.
fn branch(checkout: &Path) -> Option<String> {
    let head = std::fs::read_to_string(git_folder(checkout)?.join("HEAD")).ok()?;
    Some(head.trim().strip_prefix("ref: refs/heads/")?.to_owned())
}

fn command_input(session: &ActiveSession) -> Vec<u8> {
    let ActiveSession { engine, project, .. } = session;
    let input = StatusLineInput {
        session_id: engine.conversation().session().to_string(),
        transcript_path: engine.conversation().transcript_path().display().to_string(),
        cwd: project.folder.display().to_string(),
        model: ModelInput {
            id: engine.model().name.as_str(),
            display_name: engine.model().name.as_str(),
        },
        workspace: Workspace {
            current_dir: project.folder.display().to_string(),
            project_dir: project.checkout.display().to_string(),
        },
        version: env!("CARGO_PKG_VERSION"),
        cost: Cost { total_cost_usd: engine.spending().spent().known },
        context: Context {
            used_tokens: engine.conversation().tokens_used(),
            window_tokens: engine.model().budget.window,
        },
    };
    // A struct of texts and numbers always serializes.
    serde_json::to_vec(&input).unwrap_or_default()
}

/// The cells of the bar.
const CELLS: u64 = 6;

const ESCAPE: char = '\u{1b}';
const BELL: char = '\u{7}';

/// The text without escape sequences: scripts for other agents color their line; here the row has its own style.
fn without_sequences(text: &str) -> String {
    let mut kept = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            ESCAPE => match letters.next() {
                Some('[') => skip_control(&mut letters),
                Some(']' | 'P' | 'X' | '^' | '_') => skip_text(&mut letters),
                // One character, or intermediate characters before the last one, as in a character set selection.
                Some(' '..='/') => {
                    letters.by_ref().find(|letter| !matches!(letter, ' '..='/'));
                }
                Some(_) | None => {}
            },
            '\u{9b}' => skip_control(&mut letters),
            '\u{9d}' | '\u{90}' => skip_text(&mut letters),
            letter => kept.push(letter),
        }
    }
    kept
}

/// Skips a control sequence up to its final character.
fn skip_control(letters: &mut impl Iterator<Item = char>) {
    letters.find(|letter| matches!(letter, '@'..='~'));
}

/// Skips a string for the terminal, such as a title or a link, up to its terminator.
fn skip_text(letters: &mut impl Iterator<Item = char>) {
    let mut before = ' ';
    for letter in letters {
        if letter == BELL || letter == '\u{9c}' || (before == ESCAPE && letter == '\\') {
            return;
        }
        before = letter;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_are_taken_out_whole() {
        let cases = [
            ("plain, 睡鼠", "plain, 睡鼠"),
            ("\u{1b}[1;32mgreen\u{1b}[0m!", "green!"),
            ("\u{1b}[38;2;1;2;3mx\u{1b}[K", "x"),
            ("\u{9b}31mred", "red"),
            ("\u{1b}]0;title\u{7}a", "a"),
            ("\u{1b}]8;;http://h\u{1b}\\link\u{1b}]8;;\u{1b}\\ b", "link b"),
            ("\u{1b}(Bx\u{1b}7y", "xy"),
            ("cut \u{1b}[3", "cut "),
            ("cut \u{1b}", "cut "),
        ];
        for (text, expected) in cases {
            assert_eq!(without_sequences(text), expected, "{text:?}");
        }
    }
}
