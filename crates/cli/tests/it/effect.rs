//! Whether memories help: a scripted week with known counts, and the offer after the third correction (R-18, R-19).

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{Output, ScriptedServer, TestHome, WireFormat};
use serde_json::{Value, json};

use crate::memory::{list, memory};
use crate::program::{BOTH, ask, server};

/// A week with one server.
struct Week {
    home: TestHome,
    server: ScriptedServer,
    /// Tokens that were said to be spent, by file.
    spent: Vec<(String, u64)>,
}

impl Week {
    fn new(wire: WireFormat) -> Self {
        let server = server(wire).start();
        let home = TestHome::new().with_server(&server);
        Self { home, server, spent: Vec::new() }
    }

    fn day(&mut self, day: u32) {
        self.home.set_env("DORMOUSE_TEST_NOW", format!("2026-11-{day:02}T09:00:00Z"));
    }

    fn remember(&self, name: &str, kind: &str, description: &str, body: &str) {
        let more = ["--type", kind, "--scope", "user", "--body", body];
        let mut arguments = vec!["add", name, "--description", description];
        arguments.extend(more);
        memory(&self.home, &arguments).success();
    }

    /// A turn: what is said, what the model does, what it answers.
    fn turn(&mut self, said: &[&str], calls: Vec<ScriptedTurn>, answer: &str) -> Output {
        if !self.server.requests().is_empty() && !said.contains(&"--continue") {
            self.server.expect_break("another session");
        }
        for call in calls {
            self.server.push(call);
        }
        self.server.push(ScriptedTurn::new().text(answer));
        let output = self.home.run(&mut ask(&self.home, said));
        output.success();
        for line in output.stderr.lines().filter(|line| line.contains("recalled 1 memory (")) {
            let (_, rest) = line.split_once("recalled 1 memory (").unwrap();
            let (tokens, file) = rest.split_once(" tokens): ").unwrap();
            self.spent.push((file.trim().to_owned(), tokens.parse().unwrap()));
        }
        output
    }

    /// One of the turns in which the user has to say it again.
    fn correction(&mut self, day: u32) -> Output {
        self.day(day);
        let force = || bash("git push --force");
        self.turn(&["May I run git push --force now?"], vec![force()], "pushed");
        let content = format!(
            "Never run `git push --force`, use --force-with-lease. Said again on day {day}."
        );
        let save = json!({
            "name": "No force push", "description": "git push --force is forbidden", "type": "feedback",
            "content": content, "file": "no-force-push.md",
        });
        let save = ScriptedTurn::new().call("m", "MemorySave", save.to_string());
        self.turn(&["--continue", "No! Not like that, as I told you."], vec![save], "sorry")
    }

    fn tokens(&self, file: &str) -> u64 {
        self.spent.iter().filter(|(of, _)| of == file).map(|(_, tokens)| tokens).sum()
    }

    /// Recalled, cited, heeded, violated, and when last of help.
    fn counts(&self, file: &str) -> (u64, u64, u64, u64, Option<String>) {
        let rows = list(&self.home);
        let row = rows.iter().find(|row| row["file"] == file).unwrap();
        let count = |key: &str| row[key].as_u64().unwrap();
        assert_eq!(count("tokens"), self.tokens(file), "{file}");
        let helped = row["last_helped"].as_str().map(str::to_owned);
        (count("recalled"), count("cited"), count("heeded"), count("violated"), helped)
    }
}

fn bash(command: &str) -> ScriptedTurn {
    ScriptedTurn::new().call("b", "Bash", json!({ "command": command }).to_string())
}

fn on(day: u32) -> String {
    format!("2026-11-{day:02}T09:00:00Z")
}

const QUAY: &str = "At which quay of the harbour do the ships land?";
const LANTERNS: &str = "Which lanterns hang in the lighthouse tower?";

/// Five memories, one of which the model saves itself: that is neither a recall nor a correction.
fn monday(week: &mut Week) {
    week.day(2);
    week.remember(
        "Harbour quay",
        "project",
        "where ships land",
        "All ships of the fleet land at the east quay of the harbour.",
    );
    week.remember(
        "Formatting",
        "feedback",
        "how go code is formatted",
        "Format go code with `gofmt -s`.",
    );
    week.remember(
        "Lighthouse",
        "project",
        "lanterns in the tower",
        "Seven lanterns hang in the lighthouse tower.",
    );
    week.remember("Larder", "project", "what is in store", "Nuts and acorns for the winter.");
    let save = json!({
        "name": "No force push", "description": "git push --force is forbidden", "type": "feedback",
        "content": "Never run `git push --force`.",
    });
    let save = ScriptedTurn::new().call("m", "MemorySave", save.to_string());
    week.turn(&["Never force a push here, please."], vec![save], "I will not.");
    week.turn(&[QUAY], vec![], "The ships of the fleet land at the east quay of the harbour.");
}

#[test]
fn a_week_with_five_memories_gives_exactly_its_counts() {
    for wire in BOTH {
        let mut week = Week::new(wire);
        monday(&mut week);
        let output = week.correction(3);
        assert!(!output.stderr.contains("times corrected"), "{}", output.stderr);
        week.correction(4);
        // Done right at last, and in the same session as before.
        let right = bash("git commit && git push --force-with-lease origin");
        week.turn(&["--continue", "Now please proceed."], vec![right], "done");
        let format = bash("gofmt -s -w parser.go");
        week.turn(
            &["Please see that the go code is formatted"],
            vec![format.clone(), format],
            "formatted",
        );
        week.day(5);
        week.turn(&[LANTERNS], vec![], "No idea.");
        let output = week.correction(5);
        let offer = "3 times corrected: No force push — `dormouse memory guard no-force-push.md` shows a guard";
        assert!(output.stderr.contains(offer), "{}", output.stderr);
        week.day(6);
        week.turn(&[LANTERNS], vec![], "Still none.");
        week.turn(&[QUAY], vec![], "At the east one.");
        week.turn(
            &["--continue", "Where is that written?"],
            vec![],
            "In harbour-quay.md, twice: harbour-quay.md.",
        );

        assert_eq!(week.counts("harbour-quay.md"), (2, 2, 0, 0, Some(on(6))));
        assert_eq!(week.counts("formatting.md"), (1, 0, 1, 0, Some(on(4))));
        assert_eq!(week.counts("lighthouse.md"), (2, 0, 0, 0, None));
        assert_eq!(week.counts("larder.md"), (0, 0, 0, 0, None));
        assert_eq!(week.counts("no-force-push.md"), (3, 0, 1, 3, Some(on(4))));
        let table = memory(&week.home, &["list"]).success().stdout.clone();
        let row = table.lines().find(|row| row.starts_with("no-force-push.md")).unwrap();
        assert_eq!(row.split('\t').nth(4), Some("3r 1h 3v"), "{table}");
        let shown = memory(&week.home, &["show", "harbour-quay.md"]);
        let line = format!(
            "recalled 2 times ({} tokens), cited 2, followed 0, violated 0; last helpful today",
            week.tokens("harbour-quay.md")
        );
        assert!(shown.stderr.contains(&line), "{}", shown.stderr);
        let offers: Value =
            serde_json::from_str(&memory(&week.home, &["guard", "--json"]).success().stdout)
                .unwrap();
        assert_eq!(offers["offers"][0]["file"], "no-force-push.md");
        assert_eq!(
            (
                offers["offers"].as_array().unwrap().len(),
                offers["guards"].as_array().unwrap().len()
            ),
            (1, 0)
        );
        // The memory directory has nothing of it.
        assert!(
            !week
                .home
                .read(week.home.dormouse_home().join("memory/no-force-push.md"))
                .contains("violated")
        );
        week.server.finish();
    }
}

#[test]
fn a_correction_that_waits_in_the_inbox_counts_and_one_in_the_first_message_does_not() {
    let mut week = Week::new(WireFormat::Anthropic);
    week.day(2);
    week.remember(
        "No force push",
        "feedback",
        "git push --force is forbidden",
        "Never run `git push --force`.",
    );
    // It comes with the very words that correct: nothing was there before that could have been heeded.
    let save = |text: &str| {
        let save = json!({
            "name": "No force push", "description": "git push --force is forbidden", "type": "feedback",
            "content": text, "file": "no-force-push.md",
        });
        ScriptedTurn::new().call("m", "MemorySave", save.to_string())
    };
    let output =
        week.turn(&["Do not run git push --force, I said!"], vec![save("Really never.")], "sorry");
    assert!(output.stderr.contains("recalled 1 memory"), "{}", output.stderr);
    assert_eq!(week.counts("no-force-push.md"), (1, 0, 0, 0, None));
    // Now it is. The user wrote the file, so the change only waits, but they had to say it.
    week.turn(&["--continue", "Again!"], vec![save("Really never ever.")], "sorry");
    assert_eq!(week.counts("no-force-push.md"), (1, 0, 0, 1, None));
    // Reading the file and saving another says nothing about this one.
    let path = week.home.dormouse_home().join("memory/no-force-push.md");
    let read = ScriptedTurn::new().call("r", "Read", json!({ "file_path": path }).to_string());
    week.turn(&["--continue", "Read it."], vec![read], "read");
    assert_eq!(week.counts("no-force-push.md"), (1, 0, 0, 1, None));
    week.server.finish();
}

#[test]
fn a_state_folder_that_can_not_be_written_costs_the_counts_and_nothing_else() {
    use std::os::unix::fs::PermissionsExt;
    let mut week = Week::new(WireFormat::Anthropic);
    week.day(2);
    week.remember(
        "Harbour quay",
        "project",
        "where ships land",
        "All ships of the fleet land at the east quay of the harbour.",
    );
    let state = week.home.dormouse_home().join("state");
    let store = std::fs::read_dir(&state)
        .unwrap()
        .flatten()
        .find(|entry| entry.path().is_dir())
        .unwrap()
        .path();
    // A folder where the lock should be: nobody can take it, root neither.
    std::fs::create_dir(store.join("uses.lock")).unwrap();
    std::fs::set_permissions(&store, std::fs::Permissions::from_mode(0o755)).unwrap();
    let output =
        week.turn(&[QUAY], vec![], "The ships of the fleet land at the east quay of the harbour.");
    assert_eq!(
        output.stdout.trim(),
        "The ships of the fleet land at the east quay of the harbour."
    );
    assert_eq!(list(&week.home)[0]["recalled"], 0);
    week.server.finish();
}

#[test]
fn a_correction_that_the_extraction_writes_down_counts_for_the_turn_it_was_said_in() {
    let server = server(WireFormat::Anthropic).start();
    let home = crate::extraction::extracting(&server);
    let rule = ["--type", "feedback", "--scope", "user", "--body", "Never run `git push --force`."];
    crate::memory::add(&home, "No force push", &rule);
    let violated = || list(&home)[0]["violated"].as_u64().unwrap();
    let save = |content: &str, quote: &str| {
        let input = json!({
            "name": "No force push", "description": "about force", "type": "feedback", "content": content,
            "file": "no-force-push.md", "quotes": [quote],
        });
        server.push_fork(ScriptedTurn::new().call("m", "MemorySave", input.to_string()));
        server.push_fork(ScriptedTurn::new().text("saved"));
    };
    // It came with these words: nothing that was there was corrected.
    server.push(ScriptedTurn::new().text("pushed"));
    save("Never push by force.", "never run git push --force here");
    home.run(&mut ask(&home, &["--wait", "please never run git push --force here"])).success();
    assert_eq!(violated(), 0);
    server.push(ScriptedTurn::new().text("sorry"));
    save("Never ever push by force.", "as I told you, no push by force, ever");
    let said = ["--wait", "--continue", "as I told you, no push by force, ever"];
    home.run(&mut ask(&home, &said)).success();
    assert_eq!(violated(), 1);
    server.finish();
}
