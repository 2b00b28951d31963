//! Going back to an earlier message: files, conversation or both, by `dormouse rewind` and by `/rewind` (L-35).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{Output, ScriptedServer, TestHome, WireFormat};
use serde_json::{Value, json};

use crate::program::{ask, dormouse, server, wait_until};
use crate::talk::{leave, say, talk, wait_for_prompt};

type Tree = BTreeMap<PathBuf, Vec<u8>>;

fn tree(folder: &Path) -> Tree {
    let mut tree = Tree::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.file_name().is_some_and(|name| name == ".git") {
                continue;
            }
            if path.is_dir() {
                folders.push(path.clone());
                tree.insert(path, Vec::new());
            } else {
                tree.insert(path.clone(), std::fs::read(&path).unwrap());
            }
        }
    }
    tree
}

fn write(file: &str, content: &str) -> (&'static str, String) {
    ("Write", json!({ "file_path": file, "content": content }).to_string())
}

fn bash(command: &str) -> (&'static str, String) {
    ("Bash", json!({ "command": command }).to_string())
}

/// One turn: these calls in one response each, then an answer.
fn turn(server: &ScriptedServer, calls: &[(&str, String)]) {
    for (number, (tool, input)) in calls.iter().enumerate() {
        server.push(ScriptedTurn::new().call(format!("c{number}"), *tool, input.as_str()));
    }
    server.push(ScriptedTurn::new().text("done"));
}

fn prompt(home: &TestHome, text: &str, first: bool) -> Output {
    let mut arguments = vec!["--permission-mode", "bypass", text];
    if !first {
        arguments.insert(0, "-c");
    }
    let output = home.run(&mut ask(home, &arguments));
    output.success();
    output
}

fn session(home: &TestHome) -> String {
    let files = home.transcripts();
    files[0].file_stem().unwrap().to_str().unwrap().to_owned()
}

fn rewind(home: &TestHome, arguments: &[&str]) -> Output {
    let session = session(home);
    let arguments: Vec<&str> =
        ["rewind", &session].into_iter().chain(arguments.iter().copied()).collect();
    home.run(&mut dormouse(home, &arguments))
}

/// A rewind that succeeds.
fn rewound(home: &TestHome, arguments: &[&str]) -> Output {
    let output = rewind(home, arguments);
    output.success();
    output
}

/// A session of four turns, and the tree before each.
fn four_turns(server: &ScriptedServer, home: &TestHome) -> Vec<Tree> {
    home.git_init();
    home.write("src/a.rs", "fn a() {}\n");
    home.write("src/b.rs", "fn b() {}\n");
    home.git(&["add", "-A"]);
    home.git(&["commit", "-qm", "one"]);
    home.write("notes.txt", "mine\n");
    let turns: [&[(&str, String)]; 4] = [
        &[write("src/new/c.rs", "fn c() {}\n"), bash("sed -i 's/fn/pub fn/' src/*.rs")],
        &[bash("ls")],
        &[bash("git mv src/b.rs src/d.rs && rm notes.txt && chmod +x src/a.rs")],
        &[write("src/e.rs", "fn e() {}\n"), bash("rm -r src/new; ln -s e.rs src/link")],
    ];
    let mut trees = Vec::new();
    for (number, calls) in turns.into_iter().enumerate() {
        trees.push(tree(&home.project()));
        turn(server, calls);
        prompt(home, &format!("message {}", number + 1), number == 0);
    }
    trees
}

#[test]
fn a_session_goes_back_to_each_of_its_messages() {
    let server = server(WireFormat::Anthropic).start();
    let home = TestHome::new().with_server(&server);
    let trees = four_turns(&server, &home);
    server.allow_breaks("a rewind", 20);
    let listed = rewound(&home, &[]).stdout;
    let expected = "   1  message 1\n      src/a.rs, src/b.rs, src/new/c.rs (new)\n   \
                    2  message 2\n      no files changed\n   \
                    3  message 3\n      notes.txt (deleted), src/a.rs, src/b.rs (deleted), src/d.rs (new)\n   \
                    4  message 4\n      src/e.rs (new), src/link (new), src/new/c.rs (deleted)\n";
    assert_eq!(listed, expected);
    let sent = server.requests();
    let first_request_of = |text: &str| {
        sent.iter()
            .map(|request| String::from_utf8(request.body.clone()).unwrap())
            .find(|body| body.contains(text))
            .unwrap()
    };
    for (index, before) in trees.iter().enumerate().rev() {
        let number = (index + 1).to_string();
        let shown = rewound(&home, &[&number, "--dry-run"]);
        assert!(shown.stderr.contains("nothing was changed"), "{shown:?}");
        rewound(&home, &[&number]);
        assert_eq!(&tree(&home.project()), before, "before message {number}");
        // The conversation goes on from there, with the same bytes in front.
        server.push(ScriptedTurn::new().text("again"));
        home.run(&mut ask(&home, &["-c", "message X"])).success();
        let original = first_request_of(&format!("message {number}"));
        let now = server.requests().last().unwrap().body.clone();
        let now = String::from_utf8(now).unwrap();
        let common =
            original.bytes().zip(now.bytes()).take_while(|(one, other)| one == other).count();
        let last = original.rfind(r#"{"role":"user""#).unwrap();
        assert!(common > last, "{number}: {common} of {last}");
        // Taken back, so that the next one is as far as before.
        let points = points(&home);
        rewound(&home, &[&points.len().to_string()]);
    }
    let transcript = std::fs::read_to_string(&home.transcripts()[0]).unwrap();
    assert!(transcript.contains("message 4"), "the abandoned branch stays in the file");
    server.finish();
}

fn points(home: &TestHome) -> Vec<Value> {
    serde_json::from_str(&rewound(home, &["--json"]).stdout).unwrap()
}

#[test]
fn a_file_that_cannot_be_read_does_not_cost_the_others() {
    let server = server(WireFormat::Anthropic).start();
    let mut home = TestHome::new().with_server(&server);
    home.write("a.txt", "a\n");
    home.write("b.txt", "b\n");
    turn(&server, &[bash("echo x >> a.txt; echo x >> b.txt")]);
    home.set_env("DORMOUSE_FAULT", "eintr@checkpoint.read#1");
    prompt(&home, "append", true);
    home.unset_env("DORMOUSE_FAULT");
    server.finish();
    let output = rewound(&home, &["1"]);
    assert!(output.stdout.contains("not kept         a.txt\n"), "{output:?}");
    let read = |name: &str| std::fs::read_to_string(home.project().join(name)).unwrap();
    assert_eq!((read("a.txt").as_str(), read("b.txt").as_str()), ("a\nx\n", "b\n"));
}

#[test]
fn killed_at_any_step_it_is_the_old_state_or_the_new() {
    let server = server(WireFormat::Anthropic).start();
    let mut home = TestHome::new().with_server(&server);
    let trees = four_turns(&server, &home);
    server.finish();
    let old = tree(&home.project());
    let copy = tempfile::tempdir().unwrap();
    let everything = [home.project(), home.dormouse_home()];
    for (number, folder) in everything.iter().enumerate() {
        copy_folder(folder, &copy.path().join(number.to_string()));
    }
    let (mut steps, mut finished) = (0, 0);
    for step in 1.. {
        for (number, folder) in everything.iter().enumerate() {
            std::fs::remove_dir_all(folder).unwrap();
            copy_folder(&copy.path().join(number.to_string()), folder);
        }
        home.set_env("DORMOUSE_FAULT", format!("abort@*#{step}"));
        let killed = rewind(&home, &["1"]);
        home.unset_env("DORMOUSE_FAULT");
        let listed = rewound(&home, &["--json"]);
        finished +=
            usize::from(listed.stderr.contains("A rewind that was cut off has been finished"));
        let messages: Vec<Value> =
            points(&home).into_iter().filter(|point| !point["text"].is_null()).collect();
        let now = tree(&home.project());
        let is_old = now == old && messages.len() == 4;
        let is_new = now == trees[0] && messages.is_empty();
        let paths = |tree: &Tree| tree.keys().cloned().collect::<Vec<_>>();
        assert!(is_old || is_new, "step {step}: {messages:?} {killed:?} {:?}", paths(&now));
        if killed.code == Some(0) {
            assert!(is_new);
            break;
        }
        steps = step;
    }
    assert!(steps > 20, "only {steps} steps");
    assert!(finished > 10 && finished < steps, "{finished} of {steps} were finished later");
}

fn copy_folder(from: &Path, to: &Path) {
    let status = std::process::Command::new("cp").arg("-a").args([from, to]).status().unwrap();
    assert!(status.success());
}

#[test]
fn what_the_user_changed_since_is_shown_and_left() {
    let server = server(WireFormat::OpenAi).start();
    let home = TestHome::new().with_server(&server);
    home.write("a.txt", "one\n");
    home.write("b.txt", "one\n");
    turn(&server, &[bash("echo two > a.txt; echo two > b.txt")]);
    prompt(&home, "go", true);
    home.write("a.txt", "mine\n");
    home.write("c.txt", "mine too\n");
    let done = rewound(&home, &["1"]);
    assert!(done.stdout.contains("changed since    a.txt\nrestore          b.txt\n"), "{done:?}");
    assert!(done.stdout.contains("-mine\n+one\n"), "{done:?}");
    assert_eq!(
        [home.read("a.txt"), home.read("b.txt"), home.read("c.txt")],
        ["mine\n", "one\n", "mine too\n"]
    );
    let points = points(&home);
    assert_eq!(points.len(), 1, "only the rewind is left: {points:?}");
    rewound(&home, &["1"]);
    rewound(&home, &["1", "--overwrite"]);
    assert_eq!(
        [home.read("a.txt"), home.read("b.txt"), home.read("c.txt")],
        ["one\n", "one\n", "mine too\n"]
    );
    server.finish();
}

#[test]
fn files_alone_and_the_conversation_alone() {
    let server = server(WireFormat::Anthropic).start();
    let home = TestHome::new().with_server(&server);
    home.write("a.txt", "one\n");
    turn(&server, &[bash("echo two > a.txt")]);
    prompt(&home, "go", true);
    rewound(&home, &["1", "--code"]);
    assert_eq!(home.read("a.txt"), "one\n");
    assert_eq!(points(&home)[0]["text"], "go");
    rewound(&home, &["2", "--code"]);
    assert_eq!(home.read("a.txt"), "two\n", "the rewind is taken back");
    rewound(&home, &["1", "--conversation"]);
    assert_eq!(home.read("a.txt"), "two\n");
    assert!(points(&home).iter().all(|point| point["text"].is_null()));
    let unknown = rewind(&home, &["9"]);
    assert_eq!(unknown.code, Some(2), "{unknown:?}");
    assert!(unknown.stderr.contains("there is no message 9"), "{unknown:?}");
    server.finish();
}

#[test]
fn a_session_that_is_open_elsewhere_is_left_alone() {
    let server = server(WireFormat::Anthropic).start();
    let home = TestHome::new().with_server(&server);
    home.write("a.txt", "one\n");
    turn(&server, &[bash("echo two > a.txt")]);
    prompt(&home, "go", true);
    server.push(ScriptedTurn::new().call("w", "Bash", r#"{"command":"touch started; sleep 300"}"#));
    let mut running = home.spawn(&mut ask(&home, &["-c", "--permission-mode", "bypass", "wait"]));
    running.close_stdin();
    wait_until("the command to start", || home.project().join("started").exists());
    let refused = rewind(&home, &["1"]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("is open elsewhere"), "{refused:?}");
    assert_eq!(home.read("a.txt"), "two\n");
    running.interrupt();
    running.wait();
    // What the interrupted command made is known too.
    rewound(&home, &["1"]);
    assert_eq!(home.read("a.txt"), "one\n");
    assert!(!home.project().join("started").exists());
    server.finish();
}

#[test]
fn in_a_terminal_the_message_comes_back_to_be_changed() {
    let server = server(WireFormat::Anthropic).start();
    let home = TestHome::new().with_server(&server);
    home.write("a.txt", "one\n");
    turn(&server, &[bash("echo two > a.txt"), write("b.txt", "new\n")]);
    let mut terminal = talk(&home, &["--permission-mode", "bypass"], (100, 40));
    say(&mut terminal, "make it two", "done");
    say(&mut terminal, "/rewind", "/rewind N undoes");
    let screen = terminal.screen();
    assert!(screen.contains("make it two") && screen.contains("b.txt (new)"), "{screen}");
    terminal.enter("/rewind 1");
    terminal.wait_for_text("Removed message 1 and everything after it from the conversation.");
    terminal.wait_for_text("> make it two");
    assert_eq!(home.read("a.txt"), "one\n");
    assert!(!home.project().join("b.txt").exists());
    server.expect_break("a rewind");
    server.push(ScriptedTurn::new().text("as three"));
    terminal.enter(" and three");
    terminal.wait_for_text("as three");
    let requests = server.requests();
    let body: Value = serde_json::from_slice(&requests.last().unwrap().body).unwrap();
    let text = body["messages"].to_string();
    assert!(text.contains("make it two and three"), "{text}");
    assert_eq!(body["messages"].as_array().unwrap().len(), 1, "{text}");
    wait_for_prompt(&terminal);
    leave(terminal);
    server.finish();
}

#[test]
fn not_while_a_command_runs_in_the_background() {
    let server = server(WireFormat::Anthropic).start();
    let home = TestHome::new().with_server(&server);
    home.write("a.txt", "one\n");
    let input = json!({ "command": "echo two > a.txt; sleep 300", "run_in_background": true });
    let waits = bash("until grep -q two a.txt; do sleep 0.01; done");
    turn(&server, &[("Bash", input.to_string()), waits]);
    let mut terminal = talk(&home, &["--permission-mode", "bypass"], (100, 40));
    say(&mut terminal, "start it", "done");
    say(&mut terminal, "/rewind 1", "a command in the background still runs");
    assert_eq!(home.read("a.txt"), "two\n");
    turn(&server, &[("KillShell", json!({ "shell_id": "shell_1" }).to_string())]);
    say(&mut terminal, "end it", "done");
    say(&mut terminal, "/rewind 1 code", "Restored one file.");
    assert_eq!(home.read("a.txt"), "one\n");
    // The model is told with the next prompt.
    server.push(ScriptedTurn::new().text("I know"));
    say(&mut terminal, "look", "I know");
    let body = server.requests().last().unwrap().body.clone();
    let body = String::from_utf8(body).unwrap();
    assert!(body.contains("The user changed these files back to an earlier state"), "{body}");
    leave(terminal);
    server.finish();
}

#[test]
fn what_subagents_change_belongs_to_the_turn() {
    let server = server(WireFormat::Anthropic).start();
    let home = TestHome::new().with_server(&server);
    home.write("a.txt", "one\n");
    let agent =
        json!({ "description": "d", "prompt": "change it", "subagent_type": "general-purpose" });
    server.allow_breaks("the subagent has a conversation of its own", 2);
    server.push(ScriptedTurn::new().call("a", "Agent", agent.to_string()));
    turn(&server, &[bash("echo two > a.txt"), write("sub/new.txt", "new\n")]);
    server.push(ScriptedTurn::new().text("all done"));
    prompt(&home, "go", true);
    assert_eq!(home.read("a.txt"), "two\n");
    rewound(&home, &["1"]);
    assert_eq!(home.read("a.txt"), "one\n");
    assert!(!home.project().join("sub").exists());
    server.finish();
}

#[test]
fn what_is_too_large_is_said_before_it_matters() {
    let server = server(WireFormat::Anthropic).start();
    let home = TestHome::new().with_server(&server);
    home.write("a.txt", "one\n");
    home.write("big.bin", vec![7; 11 * 1024 * 1024]);
    turn(&server, &[bash("echo two > a.txt; rm big.bin")]);
    let output = prompt(&home, "go", true);
    assert!(output.stderr.contains("checkpoints leave out 1 file (11.5 MB"), "{output:?}");
    let done = rewound(&home, &["1"]);
    assert!(done.stdout.contains("not kept         big.bin"), "{done:?}");
    assert_eq!(home.read("a.txt"), "one\n");
    server.finish();
}

#[test]
fn switched_off_it_keeps_nothing() {
    let server = server(WireFormat::Anthropic).start();
    let home = TestHome::new().with_server(&server);
    home.write(home.dormouse_home().join("settings.json"), r#"{"layers":{"checkpoints":false}}"#);
    turn(&server, &[bash("echo two > a.txt")]);
    prompt(&home, "go", true);
    let folder = home.transcripts()[0].with_extension("");
    assert!(!folder.join("checkpoints").exists());
    server.finish();
}
