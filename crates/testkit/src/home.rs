//! A hermetic world for running the binary: its own home and project folders, an environment with
//! nothing of the machine's in it, a fixed time, and secrets planted where they must not leak from.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use dormouse_base::{Environment, names};
use dormouse_model::WireFormat;
use tempfile::TempDir;

use crate::running::{Output, Running};
use crate::server::ScriptedServer;
use crate::terminal::Terminal;

/// The key that programs under test get.
const KEY: &str = "sk-canary-key-5f0c2d7e91";
/// What stands in the project's `.env`.
const ENV_FILE_SECRET: &str = "canary-env-file-8b1d44c6a3";
/// No deadline of a program under test passes unless the test says so: a hang is found sooner than this.
const HELD: &str = "held=300000";
/// The time that programs under test see.
const NOW: &str = "2026-11-02T09:00:00Z";

/// A world for one test. Its folders vanish with it.
#[derive(Debug)]
pub struct TestHome {
    folder: TempDir,
    environment: BTreeMap<OsString, OsString>,
}

impl Default for TestHome {
    fn default() -> Self {
        Self::new()
    }
}

impl TestHome {
    /// An empty home and a project with nothing but a `.env` in it.
    pub fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("dormouse-test-").tempdir();
        let folder = folder.expect("a temporary folder");
        let mut home = Self { folder, environment: BTreeMap::new() };
        for name in ["home", "project", "tmp"] {
            fs::create_dir(home.root().join(name)).expect("a folder");
        }
        home.set_default_environment();
        home.write(".env", format!("DATABASE_PASSWORD={ENV_FILE_SECRET}\n"));
        home
    }

    fn set_default_environment(&mut self) {
        let user_home = self.user_home();
        let temporary = self.root().join("tmp");
        let dormouse_home = self.dormouse_home();
        let path = Environment::of_process().path(names::PATH);
        self.set_env(names::USER_HOME, user_home);
        self.set_env("TMPDIR", temporary);
        self.set_env(names::HOME, dormouse_home);
        self.set_env(names::PATH, path.unwrap_or_else(|| "/usr/bin:/bin".into()));
        for (name, value) in [
            ("TZ", "UTC"),
            ("LANG", "C.UTF-8"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_AUTHOR_NAME", "Test Author"),
            ("GIT_AUTHOR_EMAIL", "author@example.invalid"),
            ("GIT_AUTHOR_DATE", NOW),
            ("GIT_COMMITTER_NAME", "Test Committer"),
            ("GIT_COMMITTER_EMAIL", "committer@example.invalid"),
            ("GIT_COMMITTER_DATE", NOW),
            (names::TEST_NOW, NOW),
            // A test is about what is found, however busy the machine is.
            (names::TEST_DEADLINES, HELD),
            (names::RETRY_BASE_MS, "10"),
            // Notes are taken beside a long conversation; a test that wants them takes this away.
            ("DORMOUSE_SESSION_NOTES", "0"),
            // So are memories of it.
            ("DORMOUSE_EXTRACTION", "0"),
        ] {
            self.set_env(name, value);
        }
    }

    /// Points programs at a server, with a key, and has the server watch that neither the key nor the
    /// secret in `.env` turns up in a request.
    #[must_use]
    pub fn with_server(mut self, server: &ScriptedServer) -> Self {
        self.use_server(server);
        self
    }

    /// The same, on a home that is in use already: the other wire's variables go.
    pub fn use_server(&mut self, server: &ScriptedServer) {
        let anthropic = (names::ANTHROPIC_BASE_URL, names::ANTHROPIC_API_KEY);
        let openai = (names::OPENAI_BASE_URL, names::OPENAI_API_KEY);
        let (mine, other) = match server.wire() {
            WireFormat::Anthropic => (anthropic, openai),
            WireFormat::OpenAi => (openai, anthropic),
        };
        self.set_env(mine.0, server.url());
        self.set_env(mine.1, KEY);
        self.set_env(names::MODEL, server.model());
        self.unset_env(other.0);
        self.unset_env(other.1);
        server.add_canary(KEY);
        server.add_canary(ENV_FILE_SECRET);
    }

    /// Sets the time that programs see, as RFC 3339.
    #[must_use]
    pub fn with_now(mut self, now: &str) -> Self {
        self.set_env(names::TEST_NOW, now);
        self
    }

    /// Sets deadlines of programs that are started from now on, in milliseconds, by their names in `base::Deadlines`; all
    /// others stay as long as no test waits.
    pub fn set_deadlines(&mut self, deadlines: &[(&str, u64)]) {
        let set = deadlines.iter().map(|(name, milliseconds)| format!(",{name}={milliseconds}"));
        self.set_env(names::TEST_DEADLINES, format!("{HELD}{}", set.collect::<String>()));
    }

    /// Sets a variable for programs started from now on.
    pub fn set_env(&mut self, name: impl Into<OsString>, value: impl Into<OsString>) {
        self.environment.insert(name.into(), value.into());
    }

    /// Takes a variable away.
    pub fn unset_env(&mut self, name: impl Into<OsString>) {
        self.environment.remove(&name.into());
    }

    /// The environment that programs get.
    pub fn environment(&self) -> Environment {
        Environment::from_pairs(self.environment.clone())
    }

    /// The folder that holds all others.
    pub fn root(&self) -> &Path {
        self.folder.path()
    }

    /// The user's home folder.
    pub fn user_home(&self) -> PathBuf {
        self.root().join("home")
    }

    /// The program's own folder. It does not exist until the program makes it.
    pub fn dormouse_home(&self) -> PathBuf {
        self.user_home().join(".dormouse")
    }

    /// The project's folder, in which programs start.
    pub fn project(&self) -> PathBuf {
        self.root().join("project")
    }

    /// The key that a program with a server sends.
    pub fn key(&self) -> &'static str {
        KEY
    }

    /// The secret in the project's `.env`.
    pub fn env_file_secret(&self) -> &'static str {
        ENV_FILE_SECRET
    }

    /// A command in this world, standing in the project's folder.
    pub fn command(&self, binary: impl AsRef<Path>) -> Command {
        let mut command = Command::new(binary.as_ref());
        command.env_clear().envs(&self.environment).current_dir(self.project());
        command
    }

    /// Runs a command to its end, with nothing on its standard input.
    #[track_caller]
    pub fn run(&self, command: &mut Command) -> Output {
        self.spawn(command).wait()
    }

    /// Runs a command to its end, with this text on its standard input.
    #[track_caller]
    pub fn run_with_input(&self, command: &mut Command, input: &str) -> Output {
        let mut running = self.spawn(command);
        running.type_text(input);
        running.wait()
    }

    /// Starts a command.
    #[track_caller]
    pub fn spawn(&self, command: &mut Command) -> Running {
        Running::start(command)
    }

    /// Starts a program in a terminal of this many columns and rows, standing in the project's folder.
    pub fn terminal(
        &self,
        binary: impl AsRef<Path>,
        arguments: &[&str],
        size: (u16, u16),
    ) -> Terminal {
        let mut environment = self.environment.clone();
        environment.entry("TERM".into()).or_insert_with(|| "xterm".into());
        Terminal::start(binary.as_ref(), arguments, &environment, &self.project(), size)
    }

    /// Makes the project a git repository with all its files in one commit.
    pub fn git_init(&self) {
        self.git(&["init", "--quiet", "--initial-branch=main"]);
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message=start"]);
    }

    /// Runs git in the project and returns what it prints.
    #[track_caller]
    pub fn git(&self, arguments: &[&str]) -> String {
        self.run(self.command("git").args(arguments)).success().stdout.clone()
    }

    /// Writes a file, with the folders above it. The path is relative to the project.
    pub fn write(&self, path: impl AsRef<Path>, text: impl AsRef<[u8]>) {
        let path = self.project().join(path);
        let folder = path.parent().expect("a file stands in a folder");
        fs::create_dir_all(folder).expect("a folder");
        fs::write(&path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }

    /// Reads a text file. The path is relative to the project.
    pub fn read(&self, path: impl AsRef<Path>) -> String {
        let path = self.project().join(path);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// All transcripts, in the order of their paths; side chains of agents are none.
    pub fn transcripts(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut folders = vec![self.dormouse_home().join("projects")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let kind = entry.file_type().expect("the kind of an entry");
                let path = entry.path();
                let apart =
                    ["subagents", "mailboxes"].map(|name| path.ends_with(name)).contains(&true);
                if kind.is_dir() && apart {
                } else if kind.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "jsonl") {
                    found.push(path);
                }
            }
        }
        found.sort();
        found
    }
}
