//! Subagents that a killed program has left in the middle of their work: listed, and gone on with.

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{End, RecordedRequest, Reply, ScriptedServer, TestHome, WireFormat};
use serde_json::{Value, json};

use crate::agents::start;
use crate::program::{BOTH, ask, dormouse, server};
use crate::talk::{leave, say, talk};

const TASK: &str = "write both halves";

fn order(more: &Value) -> Value {
    let mut order = json!({"description": "write two halves", "prompt": TASK});
    order.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    order
}

fn hanging() -> Reply {
    Reply::from(ScriptedTurn::new().text("a long answer")).stop_after(2).then(End::Hang)
}

/// An agent that writes one half, hangs, and ends when it is asked again.
fn writer() -> impl FnMut(&RecordedRequest) -> Reply + Send + 'static {
    let mut requests = 0;
    move |_| {
        requests += 1;
        let half = r#"{"file_path":"half.txt","content":"one\n"}"#;
        match requests {
            1 => ScriptedTurn::new().call("w", "Write", half).into(),
            2 => hanging(),
            _ => ScriptedTurn::new().text("Both halves are written.").into(),
        }
    }
}

fn place(model: &ScriptedServer) -> TestHome {
    let home = TestHome::new().with_server(model);
    home.git_init();
    home.write("readme", "text\n");
    home.git(&["add", "-A"]);
    home.git(&["commit", "-qm", "first"]);
    home
}

/// Starts the agent, and kills the program in the middle of the agent's second response.
fn killed(model: &ScriptedServer, home: &TestHome, input: &Value) {
    model.push(start("a", input));
    let arguments = ["--permission-mode", "bypass", "have it written"];
    let mut running = home.spawn(&mut ask(home, &arguments));
    running.close_stdin();
    model.wait_for_agent_requests(2);
    running.kill9();
    assert_eq!(running.wait().signal, Some(9));
}

#[test]
fn a_killed_agent_is_listed_and_goes_on_where_it_was() {
    for wire in BOTH {
        let model = server(wire).agent_with(writer()).start();
        let home = place(&model);
        let input = order(&json!({"subagent_type": "general-purpose", "isolation": "worktree"}));
        killed(&model, &home, &input);
        let resumed = json!({"description": "go on", "prompt": "the other half", "resume": "general-purpose"});
        model.push(start("r", &resumed));
        model.push(ScriptedTurn::new().text("All is written."));
        let go_on = ["--permission-mode", "bypass", "-c", "go on"];
        let output = home.run(&mut ask(&home, &go_on));
        assert_eq!(output.success().stdout, "All is written.\n");
        assert!(
            output
                .stderr
                .contains("a subagent was interrupted: general-purpose (write two halves)"),
            "{}",
            output.stderr
        );
        let told = model.requests()[1].text();
        assert!(told.contains("Interrupted agents") && told.contains("write two halves"), "{told}");
        let agent = model.agent_requests().pop().unwrap().text();
        for part in [TASK, "half.txt", "The program ended while you were at work", "the other half"]
        {
            assert!(agent.contains(part), "{part} is missing: {agent}");
        }
        let result = model.requests().pop().unwrap().text();
        assert!(result.contains("Both halves are written."), "{result}");
        assert!(result.contains("its changes are in the worktree"), "{result}");
        model.push(ScriptedTurn::new().text("Nothing is left."));
        let output = home.run(&mut ask(&home, &["-c", "and now?"]));
        assert!(!output.success().stderr.contains("interrupted"), "{}", output.stderr);
        model.finish();
    }
}

#[test]
fn the_user_goes_on_with_a_killed_agent() {
    let model = server(WireFormat::Anthropic).agent_with(writer()).start();
    let home = place(&model);
    killed(&model, &home, &order(&json!({"subagent_type": "general-purpose", "name": "scribe"})));
    let mut terminal = talk(&home, &["-c", "--permission-mode", "bypass"], (150, 40));
    say(&mut terminal, "/agents", "write two halves · interrupted");
    say(&mut terminal, "/agents resume nobody", "No subagent `nobody` was interrupted");
    model.push(start("r", &json!({"description": "go on", "prompt": "go on", "resume": "scribe"})));
    model.push(ScriptedTurn::new().text("The scribe is done."));
    say(&mut terminal, "/agents resume scribe", "The scribe is done.");
    leave(terminal);
    let asked = model.requests().pop().unwrap().text();
    assert!(asked.contains("Go on with the interrupted agent `scribe`"), "{asked}");
    model.finish();
}

#[test]
fn a_killed_fork_is_listed_but_cannot_go_on() {
    let model = server(WireFormat::Anthropic).fork_with(|_| hanging()).start();
    let home = place(&model);
    model.push(start("a", &order(&json!({}))));
    let mut running = home.spawn(&mut ask(&home, &["have it written"]));
    running.close_stdin();
    model.wait_for_fork_requests(1);
    running.kill9();
    assert_eq!(running.wait().signal, Some(9));
    model.push(start("r", &json!({"description": "go on", "prompt": "go on", "resume": "fork"})));
    model.push(ScriptedTurn::new().text("Then I do it myself."));
    let output = home.run(&mut ask(&home, &["-c", "go on"]));
    assert!(output.success().stderr.contains("fork (write two halves)"), "{}", output.stderr);
    let told = model.requests().pop().unwrap().text();
    assert!(told.contains("`fork` was a fork") && told.contains("its transcript is"), "{told}");
    model.finish();
}

fn worktrees(home: &TestHome, arguments: &[&str]) -> dormouse_testkit::Output {
    let arguments: Vec<&str> =
        ["agents", "--worktrees"].into_iter().chain(arguments.iter().copied()).collect();
    home.run(&mut dormouse(home, &arguments))
}

#[test]
fn worktrees_of_killed_agents_are_listed_and_removed_on_request() {
    let in_worktree = order(&json!({"subagent_type": "general-purpose", "isolation": "worktree"}));
    let model = server(WireFormat::Anthropic).agent_with(writer()).start();
    let home = place(&model);
    killed(&model, &home, &in_worktree);
    let listed = worktrees(&home, &[]);
    assert!(listed.success().stdout.contains("?? half.txt"), "{}", listed.stdout);
    let kept = worktrees(&home, &["--remove"]);
    kept.expect_code(1);
    assert!(kept.stdout.contains("uncommitted files: 1; commits only here: 0"), "{}", kept.stdout);
    assert_eq!(home.git(&["worktree", "list"]).lines().count(), 2, "nobody was asked");
    let listed = worktrees(&home, &["--json"]);
    let listed: Value = serde_json::from_str(&listed.success().stdout).unwrap();
    let (folder, branch) =
        (listed[0]["path"].as_str().unwrap(), listed[0]["branch"].as_str().unwrap());
    // What is committed there and nowhere else would be lost as well.
    home.git(&["-C", folder, "add", "-A"]);
    home.git(&["-C", folder, "commit", "-qm", "one half"]);
    let kept = worktrees(&home, &["--remove"]);
    assert!(kept.expect_code(1).stdout.contains("one half"), "{}", kept.stdout);
    home.git(&["merge", "-q", branch]);
    worktrees(&home, &["--remove"]).success();
    assert_eq!(home.git(&["worktree", "list"]).lines().count(), 1);
    assert_eq!(home.git(&["branch", "--list", "dormouse/*"]), "");
    assert_eq!(home.read("half.txt"), "one\n");
    model.finish();
}

#[test]
fn a_worktree_that_an_agent_works_in_is_not_removed() {
    let in_worktree = order(&json!({"subagent_type": "general-purpose", "isolation": "worktree"}));
    let model = server(WireFormat::Anthropic).agent_with(|_| hanging()).start();
    let home = place(&model);
    model.push(start("a", &in_worktree));
    let mut running = home.spawn(&mut ask(&home, &["have it written"]));
    running.close_stdin();
    model.wait_for_agent_requests(1);
    worktrees(&home, &["--remove", "--yes"]).success();
    assert_eq!(home.git(&["worktree", "list"]).lines().count(), 2, "it is in use");
    running.kill9();
    running.wait();
    worktrees(&home, &["--remove"]).success();
    assert_eq!(home.git(&["worktree", "list"]).lines().count(), 1, "nothing was done in it");
    model.finish();
}
