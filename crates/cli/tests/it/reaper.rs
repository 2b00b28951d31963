//! What commands start ends with the program, even when the program is killed (A-10).

use std::collections::BTreeMap;
use std::path::Path;

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{Running, ScriptedServer, TestHome, WireFormat};

use crate::program::{ask, server, wait_until};

/// Whether a process is there and not merely unburied.
pub(crate) fn runs(pid: &str) -> bool {
    let Ok(stat) = std::fs::read_to_string(Path::new("/proc").join(pid).join("stat")) else {
        return false;
    };
    !stat.rsplit(')').next().unwrap().trim_start().starts_with('Z')
}

/// The processes whose working directory is the project's: all that a command starts, wherever it is in
/// the tree, and the program itself.
pub(crate) fn in_project(home: &TestHome) -> BTreeMap<String, String> {
    let project = home.project().canonicalize().unwrap();
    std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter(|entry| {
            std::fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd == project)
        })
        .map(|entry| {
            let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let name = entry.file_name().into_string().unwrap();
            (name, String::from_utf8_lossy(&line).replace('\0', " "))
        })
        .filter(|(pid, _)| runs(pid))
        .collect()
}

fn call(command: &str) -> ScriptedTurn {
    ScriptedTurn::new().call("c", "Bash", serde_json::json!({ "command": command }).to_string())
}

/// The program, with a command that has come as far as writing these files.
fn running(command: &str, files: &[&str]) -> (ScriptedServer, TestHome, Running) {
    let server = server(WireFormat::Anthropic).reply(call(command)).start();
    let home = TestHome::new().with_server(&server);
    let mut running = home.spawn(&mut ask(&home, &["--permission-mode", "bypass", "hi"]));
    running.close_stdin();
    wait_until("the command to start", || {
        let written = |file: &&str| {
            std::fs::read_to_string(home.project().join(file))
                .is_ok_and(|text| text.ends_with('\n'))
        };
        files.iter().all(written)
    });
    (server, home, running)
}

fn killed_leaves_nothing(command: &str, files: &[&str]) {
    let (_server, home, running) = running(command, files);
    for file in files {
        assert!(runs(home.read(file).trim()), "{file} does not run yet");
    }
    running.kill9();
    running.wait();
    wait_until("everything to end", || in_project(&home).is_empty());
    for file in files {
        assert!(!runs(home.read(file).trim()), "{file} outlives the program");
    }
}

#[test]
fn children_of_a_killed_program() {
    killed_leaves_nothing(
        "sleep 301 & echo $! > one; (sleep 302; true) & echo $! > two; echo $$ > shell; wait",
        &["one", "two", "shell"],
    );
}

/// One has left its session and its parent, so that neither group nor tree leads to it.
#[test]
fn a_daemon_of_a_killed_program() {
    killed_leaves_nothing(
        "(setsid sh -c 'echo $$ > daemon; exec sleep 303' &) ; echo $$ > shell; sleep 304",
        &["daemon", "shell"],
    );
}

#[test]
fn a_stubborn_command_of_a_killed_program() {
    killed_leaves_nothing(
        "trap '' TERM HUP INT; (trap '' TERM; echo $BASHPID > child; while :; do sleep 1; done) & \
         echo $$ > shell; while :; do sleep 1; done",
        &["child", "shell"],
    );
}

/// A command may leave a server behind for the next one; not for the time after the program.
#[test]
fn what_a_finished_command_left_running() {
    for signal in ["none", "KILL"] {
        let server = server(WireFormat::Anthropic)
            .reply(call("setsid sleep 305 >/dev/null 2>&1 & echo $! > left"))
            .reply(call("kill -0 $(cat left) && echo still > there; [ -e wait ] && sleep 306"))
            .reply(ScriptedTurn::new().text("done"))
            .start();
        let home = TestHome::new().with_server(&server);
        if signal == "KILL" {
            home.write("wait", "");
        }
        let mut running = home.spawn(&mut ask(&home, &["--permission-mode", "bypass", "hi"]));
        running.close_stdin();
        wait_until("the second command", || home.project().join("there").exists());
        if signal == "KILL" {
            running.kill9();
            running.wait();
        } else {
            running.wait().success();
            server.finish();
        }
        wait_until("everything to end", || in_project(&home).is_empty());
    }
}

/// There is no terminal to ask at, and nothing to read.
#[test]
fn a_command_that_asks_gets_no_answer_and_does_not_wait() {
    let server = server(WireFormat::Anthropic)
        .reply(call(
            "read -r line || echo nothing; (read -r line </dev/tty) 2>/dev/null || echo none",
        ))
        .reply(ScriptedTurn::new().text("done"))
        .start();
    let home = TestHome::new().with_server(&server);
    home.run(&mut ask(&home, &["--permission-mode", "bypass", "hi"])).success();
    assert!(
        server.requests()[1].text().contains("nothing\\nnone"),
        "{}",
        server.requests()[1].text()
    );
    server.finish();
}

/// The reaper itself is killed: the call fails, and its group does not go on.
#[test]
fn a_killed_reaper() {
    let server = server(WireFormat::Anthropic)
        .reply(call("echo $PPID > reaper; echo $$ > shell; sleep 307"))
        .reply(ScriptedTurn::new().text("done"))
        .start();
    let home = TestHome::new().with_server(&server);
    let mut running = home.spawn(&mut ask(&home, &["--permission-mode", "bypass", "hi"]));
    running.close_stdin();
    wait_until("the command to start", || {
        std::fs::read_to_string(home.project().join("shell")).is_ok_and(|text| text.ends_with('\n'))
    });
    let reaper = home.read("reaper");
    assert!(in_project(&home)[reaper.trim()].starts_with("reaper "), "{:?}", in_project(&home));
    home.run(home.command("kill").args(["-9", reaper.trim()])).success();
    running.wait().success();
    wait_until("everything to end", || in_project(&home).is_empty());
    assert!(server.requests()[1].text().contains("watches over it was ended"));
    server.finish();
}

/// A command in the background ends with the program too.
#[test]
fn a_background_shell() {
    for end in ["exit", "kill"] {
        let input = r#"{"command":"echo $$ > shell; sleep 308","run_in_background":true}"#;
        let server = server(WireFormat::Anthropic)
            .reply(ScriptedTurn::new().call("b", "Bash", input))
            .reply(ScriptedTurn::new().call("o", "BashOutput", r#"{"shell_id":"shell_1"}"#))
            .reply(call(if end == "kill" { "echo > there; sleep 309" } else { "echo > there" }))
            .reply(ScriptedTurn::new().text("done"))
            .start();
        let home = TestHome::new().with_server(&server);
        let mut running = home.spawn(&mut ask(&home, &["--permission-mode", "bypass", "hi"]));
        running.close_stdin();
        wait_until("the last command", || home.project().join("there").exists());
        assert!(server.requests()[2].text().contains("[shell_1 runs: echo $$ > shell; sleep 308]"));
        if end == "kill" {
            running.kill9();
            running.wait();
        } else {
            running.wait().success();
            server.finish();
        }
        wait_until("everything to end", || in_project(&home).is_empty());
    }
}
