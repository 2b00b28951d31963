//! The programs that are measured: how each is started against our server, and how its composer looks.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use dormouse_base::names;
use dormouse_testkit::{Terminal, TestHome};
use serde_json::json;

use super::server::serve;

pub(super) const SIZE: (u16, u16) = (100, 30);
/// Nothing takes longer.
const PATIENCE: Duration = Duration::from_mins(2);
/// How often the screen is looked at.
const LOOK: Duration = Duration::from_micros(500);
const KEY: &str = "sk-ant-api03-0123456789012345678901234567890123456789";

/// A program that talks to a model in a terminal.
#[derive(Debug, Clone)]
pub(super) enum Program {
    Dormouse(PathBuf),
    /// Without a composer: keys are not shown while it streams.
    DormousePlain(PathBuf),
    ClaudeCode(PathBuf),
    Codex(PathBuf),
}

impl Program {
    /// By what its file is called.
    pub(super) fn other(binary: &Path) -> Option<Self> {
        let name = binary.file_name()?.to_str()?;
        match name {
            "claude" => Some(Self::ClaudeCode(binary.to_owned())),
            "codex" => Some(Self::Codex(binary.to_owned())),
            _ => None,
        }
    }

    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Dormouse(_) => "Dormouse",
            Self::DormousePlain(_) => "Dormouse, lines",
            Self::ClaudeCode(_) => "Claude Code",
            Self::Codex(_) => "Codex",
        }
    }

    /// Whether keys are seen while an answer streams.
    pub(super) fn shows_keys(&self) -> bool {
        !matches!(self, Self::DormousePlain(_))
    }

    fn mark(&self) -> &'static str {
        match self {
            Self::Dormouse(_) | Self::DormousePlain(_) => ">",
            Self::ClaudeCode(_) => "❯",
            Self::Codex(_) => "›",
        }
    }

    fn binary(&self) -> &Path {
        match self {
            Self::Dormouse(binary)
            | Self::DormousePlain(binary)
            | Self::ClaudeCode(binary)
            | Self::Codex(binary) => binary,
        }
    }

    fn arguments(&self) -> &'static [&'static str] {
        match self {
            Self::Dormouse(_) => &[],
            Self::DormousePlain(_) => &["--plain"],
            Self::ClaudeCode(_) => &["--model", "claude-sonnet-4-5"],
            Self::Codex(_) => &["--no-alt-screen"],
        }
    }

    /// A home in which it asks nothing at its first start.
    fn prepare(&self, home: &mut TestHome, url: &str) {
        let project = home.project().canonicalize().expect("a folder").display().to_string();
        home.set_env("TERM", "xterm-256color");
        match self {
            Self::Dormouse(_) | Self::DormousePlain(_) => {
                home.set_env(names::OPENAI_BASE_URL, format!("{url}/v1"));
                home.set_env(names::OPENAI_API_KEY, "key");
                home.set_env(names::CONTEXT_WINDOW, "1000000");
                // Requests of their own would fall into what is measured.
                for switch in ["EXTRACTION", "SESSION_NOTES", "DREAM"] {
                    home.set_env(format!("DORMOUSE_{switch}"), "0");
                }
            }
            Self::ClaudeCode(_) => {
                let approved = KEY.get(KEY.len() - 20..).unwrap_or_default();
                let settings = json!({
                    "hasCompletedOnboarding": true,
                    "theme": "dark",
                    "customApiKeyResponses": { "approved": [approved], "rejected": [] },
                    "projects": { project: {
                        "hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true,
                    } },
                });
                home.write(home.user_home().join(".claude.json"), settings.to_string());
                home.set_env("ANTHROPIC_BASE_URL", url);
                home.set_env("ANTHROPIC_API_KEY", KEY);
                home.set_env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
            }
            Self::Codex(_) => {
                home.git_init();
                let settings = format!(
                    "model = \"gpt-5\"\nmodel_provider = \"paced\"\n[model_providers.paced]\nname = \"paced\"\n\
                     base_url = \"{url}/v1\"\nwire_api = \"responses\"\nenv_key = \"PACED_KEY\"\n\
                     [projects.\"{project}\"]\ntrust_level = \"trusted\"\n"
                );
                home.write(home.user_home().join(".codex/config.toml"), settings);
                home.set_env("PACED_KEY", "key");
            }
        }
    }

    /// The program at its composer, and how long that took.
    pub(super) fn start(&self, answer: &str) -> (StartedProgram, Duration) {
        self.start_in(TestHome::new(), answer)
    }

    /// The same, in a home that is there already.
    pub(super) fn start_in(&self, mut home: TestHome, answer: &str) -> (StartedProgram, Duration) {
        self.prepare(&mut home, &serve(answer.to_owned()));
        let start = Instant::now();
        let terminal = home.terminal(self.binary(), self.arguments(), SIZE);
        let mut program = StartedProgram { terminal, mark: self.mark(), answered: 0, _home: home };
        let mark = program.mark;
        let is_there = |screen: &str| screen.lines().any(|row| row.trim_start().starts_with(mark));
        program.wait_for("the composer", is_there);
        (program, start.elapsed())
    }
}

/// A program in a terminal, with the home that it needs as long as it runs.
pub(super) struct StartedProgram {
    pub(super) terminal: Terminal,
    mark: &'static str,
    /// How many bytes were looked through for questions to the terminal.
    answered: usize,
    _home: TestHome,
}

impl StartedProgram {
    /// Waits until the screen is as wanted, and answers what the program asks the terminal meanwhile.
    pub(super) fn wait_for(&mut self, what: &str, wanted: impl Fn(&str) -> bool) {
        let start = Instant::now();
        loop {
            self.answer_questions();
            let screen = self.terminal.screen();
            if wanted(&screen) {
                return;
            }
            assert!(start.elapsed() < PATIENCE, "waited in vain for {what}:\n{screen}");
            std::thread::sleep(LOOK);
        }
    }

    /// Waits until the composer shows what was typed.
    pub(super) fn wait_for_typed(&mut self, typed: &str) {
        let wanted = format!("{} {typed}", self.mark);
        // Some draw a blank that does not break.
        self.wait_for("the key", |screen| screen.replace('\u{a0}', " ").contains(&wanted));
    }

    /// Where the cursor is, what the terminal is, and its background.
    fn answer_questions(&mut self) {
        let bytes = self.terminal.bytes();
        let new =
            String::from_utf8_lossy(bytes.get(self.answered..).unwrap_or_default()).into_owned();
        self.answered = bytes.len();
        let (row, column) = self.terminal.look(dormouse_testkit::Screen::cursor_position);
        for (question, answer) in [
            ("\x1b[6n", format!("\x1b[{};{}R", row + 1, column + 1)),
            ("\x1b[c", "\x1b[?62;22c".to_owned()),
            ("\x1b[>0q", "\x1bP>|harness\x1b\\".to_owned()),
            ("\x1b]11;?", "\x1b]11;rgb:0000/0000/0000\x1b\\".to_owned()),
            ("\x1b]10;?", "\x1b]10;rgb:ffff/ffff/ffff\x1b\\".to_owned()),
        ] {
            for _ in 0..new.matches(question).count() {
                self.terminal.type_keys(&answer);
            }
        }
    }
}
