//! Sessions: the list, choosing one, two processes at one, another folder of the project.

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{Gate, Reply, TestHome, WireFormat};
use serde_json::Value;

use crate::program::{ask, dormouse, server};

#[test]
fn sessions_are_listed_searched_and_chosen() {
    let server = server(WireFormat::Anthropic)
        .replies(["one", "two", "three"].map(|text| ScriptedTurn::new().text(text)))
        .start();
    server.expect_break("another session");
    server.expect_break("back to the first");
    let home = TestHome::new().with_server(&server);
    home.run(&mut ask(&home, &["the first question\nwith a second line"])).success();
    home.run(&mut ask(&home, &["about 睡鼠 and migrations"])).success();
    let listed = home.run(&mut dormouse(&home, &["sessions", "--json"])).success().stdout.clone();
    let listed: Vec<Value> = serde_json::from_str(&listed).unwrap();
    let titles: Vec<&str> =
        listed.iter().map(|session| session["title"].as_str().unwrap()).collect();
    assert_eq!(titles, ["about 睡鼠 and migrations", "the first question"], "newest first");
    assert_eq!(listed[0]["messages"], 2);
    assert!(listed[0]["tokens"].as_u64().unwrap() > 100);

    let found = home
        .run(&mut dormouse(&home, &["sessions", "--search", "MIGRATIONS"]))
        .success()
        .stdout
        .clone();
    assert!(found.contains("睡鼠") && !found.contains("first question"), "{found}");

    // A session is named by its id or a beginning of it.
    let id = listed[1]["session_id"].as_str().unwrap();
    home.run(&mut ask(&home, &["--resume", id, "and again?"])).success();
    assert!(server.requests()[2].text().contains("the first question"));
    let listed = home.run(&mut dormouse(&home, &["--resume"])).success().stdout.clone();
    assert!(listed.lines().next().unwrap().contains("the first question"), "{listed}");
    let output = home.run(&mut ask(&home, &["--resume", "ffff", "hi"]));
    assert_eq!(output.code, Some(2));
    assert!(
        output.stderr.contains("no session of this project has an id that starts with `ffff`"),
        "{}",
        output.stderr
    );
    server.finish();
}

#[test]
fn looking_makes_no_folder() {
    let home = TestHome::new();
    let output = home.run(&mut dormouse(&home, &["sessions"]));
    assert_eq!((output.code, output.stdout.as_str()), (Some(0), ""));
    assert!(output.stderr.contains("No sessions in this project yet"));
    assert!(!home.dormouse_home().exists());
}

#[test]
fn there_is_nothing_to_continue_in_a_new_project() {
    let server = server(WireFormat::Anthropic).start();
    let home = TestHome::new().with_server(&server);
    let output = home.run(&mut ask(&home, &["--continue", "hi"]));
    assert_eq!(output.code, Some(2));
    assert!(output.stderr.contains("this project has no session to continue"), "{}", output.stderr);
    let output =
        home.run(&mut ask(&home, &["--resume", "0193b0a4-0000-7000-8000-000000000000", "hi"]));
    assert_eq!(output.code, Some(2));
    assert!(
        output.stderr.contains("no session 0193b0a4-0000-7000-8000-000000000000 in this project"),
        "{}",
        output.stderr
    );
}

#[test]
fn two_processes_never_write_one_session() {
    let gate = Gate::new();
    let server = server(WireFormat::Anthropic)
        .reply(ScriptedTurn::new().text("one"))
        .reply(Reply::from(ScriptedTurn::new().text("two, slowly")).gate_after(2, &gate))
        .start();
    let home = TestHome::new().with_server(&server);
    home.run(&mut ask(&home, &["hi"])).success();
    let mut running = home.spawn(&mut ask(&home, &["-c", "again"]));
    running.close_stdin();
    gate.wait_until_reached();
    let output = home.run(&mut ask(&home, &["-c", "me too"]));
    assert_eq!(output.code, Some(1));
    let holder = format!("process {}", running.id());
    assert!(
        output.stderr.contains("is open elsewhere") && output.stderr.contains(&holder),
        "{}",
        output.stderr
    );
    gate.open();
    running.wait().success();
    server.finish();
}

/// One project, wherever in it one stands; another worktree of it as well.
#[test]
fn a_session_belongs_to_the_repository() {
    let server = server(WireFormat::Anthropic)
        .replies(["one", "two", "three"].map(|text| ScriptedTurn::new().text(text)))
        .start();
    let home = TestHome::new().with_server(&server);
    home.write("src/deep/file.txt", "x");
    home.git_init();
    home.run(&mut ask(&home, &["hi"])).success();
    home.run(ask(&home, &["-c", "from below"]).current_dir(home.project().join("src/deep")))
        .success();
    let tree = home.root().join("tree");
    home.git(&["worktree", "add", "--quiet", tree.to_str().unwrap()]);
    home.run(ask(&home, &["-c", "from a worktree"]).current_dir(&tree)).success();
    let last = server.requests()[2].text();
    assert!(last.contains("from below") && last.contains("working directory is now:"), "{last}");
    server.finish();
}

/// What was said before is found by its words (R-7), but not what the program put in.
#[test]
fn past_sessions_are_searched_by_their_words() {
    let server = server(WireFormat::Anthropic)
        .reply(ScriptedTurn::new().call("r", "Read", r#"{"file_path":"quay.md"}"#))
        .reply(ScriptedTurn::new().text("The east quay has a Broken pipe."))
        .reply(ScriptedTurn::new().text("Nothing new about pipes."))
        .start();
    let home = TestHome::new().with_server(&server);
    home.write("quay.md", "error[E0042]: pipe_header not found\n");
    let search = |query: &str| -> Vec<serde_json::Value> {
        let found = home.run(&mut dormouse(&home, &["search", "--sessions", query, "--json"]));
        serde_json::from_str(&found.success().stdout).unwrap()
    };
    assert!(search("pipe").is_empty(), "there is no session yet");
    home.run(&mut ask(&home, &["what is wrong at the quay?"])).success();
    server.expect_break("another session");
    home.run(&mut ask(&home, &["and the pipe?"])).success();
    let found = search("broken pipe");
    assert_eq!(found[0]["by"], "model", "{found:?}");
    assert!(found[0]["text"].as_str().unwrap().contains("Broken pipe"), "{found:?}");
    assert!(found[0]["score"].as_f64() > found[1]["score"].as_f64(), "{found:?}");
    let found = search("pipe_header");
    assert_eq!((found.len(), &found[0]["by"]), (1, &"tool".into()), "{found:?}");
    assert!(search("system-reminder").is_empty());
    let id = found[0]["session_id"].as_str().unwrap();
    let plain = home.run(&mut dormouse(&home, &["search", "--sessions", "pipe_header"]));
    assert!(plain.success().stdout.starts_with(id), "{}", plain.stdout);
    home.run(&mut dormouse(&home, &["search", "--sessions", " "])).expect_code(2);
    home.run(&mut dormouse(&home, &["search", "quay"])).success();
    server.finish();
}
