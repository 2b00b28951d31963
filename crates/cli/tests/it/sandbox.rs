//! The sandbox of commands, in the real program (L-36). What it withstands is attacked in `crates/sandbox/tests`.

use std::net::TcpListener;

use dormouse_model::script::ScriptedTurn;
use dormouse_sandbox::{SandboxSupport, support};
use dormouse_testkit::{ScriptedServer, TestHome, WireFormat};
use serde_json::{Value, json};

use crate::program::{ask, dormouse, server, transcript};
use crate::talk::{answer, leave, say, talk, wait_for_menu};

/// A home with a key, a repository, and these sandbox settings.
fn place(server: &ScriptedServer, settings: &Value) -> TestHome {
    let home = TestHome::new().with_server(server);
    home.git_init();
    home.write(home.user_home().join(".ssh/id_ed25519"), "PRIVATE KEY");
    let settings = json!({ "sandbox": settings });
    home.write(home.dormouse_home().join("settings.json"), settings.to_string());
    home
}

fn command(server: &ScriptedServer, line: &str) {
    server.push(ScriptedTurn::new().call("c", "Bash", json!({ "command": line }).to_string()));
    server.push(ScriptedTurn::new().text("done"));
}

/// Runs a command in a headless session where everything is permitted, and returns what the model saw.
fn result(settings: &Value, line: &str) -> (String, TestHome) {
    let server = server(WireFormat::Anthropic).start();
    let home = place(&server, settings);
    command(&server, line);
    home.run(&mut ask(&home, &["--permission-mode", "bypass", "go"])).success();
    let body: Value = serde_json::from_slice(&server.requests().last().unwrap().body).unwrap();
    let last = body["messages"].as_array().unwrap().last().unwrap().to_string();
    server.finish();
    (last, home)
}

/// Whether this kernel has Landlock: without it there is nothing to show.
fn is_supported() -> bool {
    support() != SandboxSupport::None
}

#[test]
fn credentials_are_unreadable_and_the_model_is_told_why() {
    if !is_supported() {
        return;
    }
    let (seen, _) = result(&json!({}), "cat ~/.ssh/id_ed25519");
    assert!(!seen.contains("PRIVATE KEY") && seen.contains("ran in a sandbox"), "{seen}");
    let (seen, _) = result(&json!({ "mode": "off" }), "cat ~/.ssh/id_ed25519");
    assert!(seen.contains("PRIVATE KEY") && !seen.contains("sandbox"), "{seen}");
    let (seen, _) = result(&json!({ "excluded": ["cat:*"] }), "cat ~/.ssh/id_ed25519");
    assert!(seen.contains("PRIVATE KEY"), "{seen}");
}

#[test]
fn what_git_and_this_program_run_later_stays_as_it_was() {
    if !is_supported() {
        return;
    }
    let attack = "echo x > .git/hooks/pre-commit; git config core.fsmonitor x; mkdir -p .dormouse; \
                  echo x > .dormouse/settings.json; echo {} > .mcp.json; echo fine > a.txt";
    let (seen, home) = result(&json!({}), attack);
    assert!(seen.contains("the sandbox put back"), "{seen}");
    assert!(!home.project().join(".git/hooks/pre-commit").exists());
    assert!(!home.project().join(".dormouse").exists());
    assert!(!home.project().join(".mcp.json").exists());
    assert!(!home.read(".git/config").contains("fsmonitor"));
    assert_eq!(home.read("a.txt"), "fine\n");
}

#[test]
fn the_network_can_be_taken_away() {
    if !is_supported() {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let line = format!("exec 3<>/dev/tcp/127.0.0.1/{port} && echo reached");
    let (seen, _) = result(&json!({}), &line);
    assert!(seen.contains("reached"), "{seen}");
    let (seen, _) = result(&json!({ "network": "none" }), &line);
    assert!(!seen.contains("reached") && seen.contains("no network"), "{seen}");
}

#[test]
fn the_user_can_run_it_again_outside() {
    if !is_supported() {
        return;
    }
    let server = server(WireFormat::Anthropic).start();
    let home = place(&server, &json!({}));
    let mut terminal = talk(&home, &["--permission-mode", "bypass"], (100, 40));
    let ask_for = |answer: &str| {
        let input = json!({ "command": "cat ~/.ssh/id_ed25519" }).to_string();
        server.push(ScriptedTurn::new().call("c", "Bash", input));
        server.push(ScriptedTurn::new().text(answer));
    };
    ask_for("first answer");
    terminal.enter("show it");
    wait_for_menu(&terminal, "it failed in the sandbox");
    answer(&mut terminal, "n", "first answer");
    assert!(!transcript(&home).contains("PRIVATE KEY"));
    ask_for("second answer");
    terminal.enter("show it again");
    wait_for_menu(&terminal, "show it again");
    answer(&mut terminal, "a", "second answer");
    assert!(transcript(&home).contains("PRIVATE KEY"));
    // From now on without a question.
    ask_for("third answer");
    say(&mut terminal, "and again", "third answer");
    assert_eq!(transcript(&home).matches("PRIVATE KEY").count(), 2);
    leave(terminal);
    server.finish();
}

#[test]
fn commands_in_the_sandbox_need_no_confirmation_if_the_user_wants_it() {
    if !is_supported() {
        return;
    }
    let server = server(WireFormat::Anthropic).start();
    let home = place(&server, &json!({ "autoAllow": true, "excluded": ["docker:*"] }));
    let check =
        |line: &str| home.run(&mut dormouse(&home, &["permissions", "check", "Bash", line])).stdout;
    assert_eq!(check("touch a"), "allow: it runs in the sandbox\n");
    for line in ["docker run x", "cat ~/.ssh/id_ed25519"] {
        let said = check(line);
        assert!(said.starts_with("ask: "), "{line}: {said}");
    }
    command(&server, "touch a");
    home.run(&mut ask(&home, &["go"])).success();
    assert!(home.project().join("a").exists());
    server.finish();
}
