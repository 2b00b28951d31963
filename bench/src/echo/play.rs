//! Replaying the sessions with the real program.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use dormouse_base::names;
use dormouse_model::script::ScriptedTurn as Answer;
use dormouse_testkit::{Gate, Reply, ScriptedServer, TestHome};

use super::extractor::Extractor;
use super::facts::{Fact, FactOrigin};
use super::plan::{EchoSession, EchoTurn, Shape};

/// The window of sessions that are compacted, in tokens.
const SMALL: u32 = 40_000;
/// Notes after every call.
const EAGER: &str = r#"{"sessionNotes":{"firstTokens":1,"everyTokens":500,"everyCalls":1}}"#;
/// How long notes are waited for.
const PATIENCE: Duration = Duration::from_secs(20);

/// Whether the program keeps out what memory itself said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EchoGuardSetting {
    On,
    Off,
}

/// A home in which sessions are replayed.
pub(super) struct EchoStage {
    pub(super) home: TestHome,
    binary: PathBuf,
    facts: Arc<Vec<Fact>>,
}

impl EchoStage {
    /// With the memories and the instruction file that are there from the start.
    pub(super) fn new(binary: &Path, facts: &Arc<Vec<Fact>>, guard: EchoGuardSetting) -> Self {
        let mut home = TestHome::new();
        home.set_env("DORMOUSE_EXTRACTION", "1");
        home.set_env("DORMOUSE_EXTRACTION_HEADLESS", "1");
        if guard == EchoGuardSetting::Off {
            home.set_env(names::TEST_ECHO_GUARD, "0");
        }
        let of = |origin: FactOrigin| facts.iter().filter(move |fact| fact.origin == origin);
        let lines: Vec<String> =
            of(FactOrigin::Instructions).map(|fact| format!("- {}\n", fact.wording(0))).collect();
        home.write("AGENTS.md", format!("# How we work\n\n{}", lines.concat()));
        home.git_init();
        let stage = Self { home, binary: binary.to_owned(), facts: Arc::clone(facts) };
        of(FactOrigin::Memory).for_each(|fact| stage.remember(fact));
        stage
    }

    fn remember(&self, fact: &Fact) {
        let words: Vec<&str> = fact.wording(0).split(' ').take(5).collect();
        let scope = if fact.kind == "user" { "user" } else { "project" };
        let name = words.join(" ");
        let arguments = ["memory", "add", &name, "--type", &fact.kind, "--scope", scope];
        let more = ["--description", fact.wording(0), "--body", fact.wording(0)];
        self.home.run(self.program().args(arguments).args(more)).success();
    }

    pub(super) fn program(&self) -> Command {
        self.home.command(&self.binary)
    }

    /// Replays a session.
    pub(super) fn play(&mut self, session: &EchoSession) {
        let turn = Arc::new(Mutex::new(EchoTurn::default()));
        let mut extractor =
            Extractor::new(Arc::clone(&self.facts), session.number, Arc::clone(&turn));
        let window = match session.shape {
            Shape::Compacted | Shape::Noted => SMALL,
            Shape::Plain | Shape::Reading => 200_000,
        };
        let server = ScriptedServer::builder()
            .window(window.into())
            .max_output(4_000)
            .allow_overflow()
            .fork_with(move |request| extractor.answer(request))
            .start();
        self.set_up(session, &server, window);
        for (number, spoken) in session.turns.iter().enumerate() {
            *turn.lock().unwrap_or_else(PoisonError::into_inner) = spoken.clone();
            self.turn(session, number, spoken, &server);
        }
    }

    fn set_up(&mut self, session: &EchoSession, server: &ScriptedServer, window: u32) {
        let (day, hour) = (2 + session.number / 24, session.number % 24);
        self.home.use_server(server);
        self.home.set_env(names::TEST_NOW, format!("2026-11-{day:02}T{hour:02}:00:00Z"));
        self.home.set_env("DORMOUSE_CONTEXT_WINDOW", window.to_string());
        let notes = session.shape == Shape::Noted;
        self.home.set_env("DORMOUSE_SESSION_NOTES", if notes { "1" } else { "0" });
        let settings = self.home.dormouse_home().join("settings.json");
        self.home.write(settings, if notes { EAGER } else { "{}" });
    }

    fn turn(
        &self,
        session: &EchoSession,
        number: usize,
        spoken: &EchoTurn,
        server: &ScriptedServer,
    ) {
        let is_long = matches!(session.shape, Shape::Compacted | Shape::Noted);
        let filler = if is_long { "lorem ipsum dolor ".repeat(1_500) } else { String::new() };
        let gate = Gate::new();
        let has_call = number == 0 && matches!(session.shape, Shape::Reading | Shape::Noted);
        if has_call {
            server.push(Answer::new().call("look", "Bash", r#"{"command":"cat AGENTS.md"}"#));
        }
        let answer = Reply::from(Answer::new().text(spoken.answer.clone()));
        let waits = has_call && session.shape == Shape::Noted;
        server.push(if waits { answer.gate_after(1, &gate) } else { answer });
        let mut command = self.program();
        command.args(["-p", "--wait"]).args((number > 0).then_some("-c"));
        let notes = self.noted();
        let mut running = self.home.spawn(&mut command);
        running.type_text(&format!("{}\n{filler}", spoken.prompt));
        running.close_stdin();
        if waits {
            let deadline = Instant::now() + PATIENCE;
            while self.noted() == notes && Instant::now() < deadline {
                std::thread::sleep(Duration::from_millis(10));
            }
            gate.open();
        }
        running.wait().success();
    }

    /// How many sessions have notes.
    pub(super) fn noted(&self) -> usize {
        let notes =
            |path: &PathBuf| path.with_extension("").join("session-memory/reach.json").exists();
        self.home.transcripts().iter().filter(|path| notes(path)).count()
    }

    /// How many sessions were compacted.
    pub(super) fn compacted(&self) -> usize {
        let is_compacted = |path: &PathBuf| {
            std::fs::read_to_string(path).is_ok_and(|text| text.contains("compact_boundary"))
        };
        self.home.transcripts().iter().filter(|path| is_compacted(path)).count()
    }
}
