//! What counts as much said (B-28): what the user and the model wrote, and close to a compaction everything. And which memories a run
//! is told of (B-9).

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{ScriptedServer, Terminal, WireFormat};
use serde_json::json;

use crate::extraction::{extracting, prompt_of};
use crate::program::{ask, server};
use crate::talk::{leave, say, talk};

/// A turn in which the model reads a file.
fn reading(server: &ScriptedServer, terminal: &mut Terminal, number: usize, file: &str) {
    let input = json!({"file_path": file}).to_string();
    server.push(ScriptedTurn::new().call(format!("read{number}"), "Read", input));
    server.push(ScriptedTurn::new().text(format!("Read number {number}.")));
    say(terminal, "Read it", &format!("Read number {number}."));
}

#[test]
fn what_tools_bring_is_not_said_by_anybody() {
    let server = server(WireFormat::Anthropic).start();
    let home = extracting(&server);
    home.write("long.txt", "eight words that stand in a long file\n".repeat(1_200));
    let mut terminal = talk(&home, &[], (100, 24));
    reading(&server, &mut terminal, 1, "long.txt");
    let sent = server.requests().last().unwrap().body.len();
    assert!(sent > 45_000, "the result was sent: {sent}");
    assert_eq!(server.fork_requests().len(), 0);
    // The same amount, written by the model.
    server.push_fork(ScriptedTurn::new().text("nothing"));
    let words = "eight words that stand in a long answer\n".repeat(1_200);
    server.push(ScriptedTurn::new().text(format!("{words}\nThat is all.")));
    say(&mut terminal, "Write it", "That is all.");
    server.wait_for_fork_requests(1);
    leave(terminal);
    server.finish();
}

/// What a compaction is about to take away is looked at before.
#[test]
fn before_the_window_is_full_it_is_looked_at() {
    let server = server(WireFormat::Anthropic).start();
    let mut home = extracting(&server);
    home.set_env("DORMOUSE_CONTEXT_WINDOW", "40000");
    for number in 1..=60 {
        let text = "eight words that stand in a short file\n".repeat(60);
        home.write(format!("file{number}.txt"), text);
    }
    server.push_fork(ScriptedTurn::new().text("nothing"));
    let mut terminal = talk(&home, &[], (100, 24));
    let mut turns = 0;
    while server.fork_requests().is_empty() {
        turns += 1;
        assert!(turns <= 60, "the window is full, and nothing was looked at");
        reading(&server, &mut terminal, turns, &format!("file{turns}.txt"));
    }
    assert!(turns > 5, "not at once: {turns}");
    let told = String::from_utf8_lossy(&server.fork_requests()[0].body).into_owned();
    assert!(told.contains("You keep the long-term memory"), "a compaction came first");
    drop(terminal);
}

/// Of many memories those are listed that have to do with what was said, however old they are.
#[test]
fn of_many_memories_those_are_listed_that_matter() {
    let server = server(WireFormat::Anthropic).start();
    let home = extracting(&server);
    let folder = home.dormouse_home().join("memory");
    let plant = |name: &str, text: &str| {
        let head = format!("---\nname: {name}\ndescription: {text}\ntype: project\n---\n\n");
        home.write(folder.join(format!("{name}.md")), format!("{head}{text}.\n"));
    };
    plant("walnut-port", "the walnut service listens on port 5433");
    let old = std::fs::File::options().write(true).open(folder.join("walnut-port.md")).unwrap();
    old.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    for number in 0..80 {
        plant(
            &format!("fact-{number}"),
            &format!("backups of store {number} are kept for {number} days"),
        );
    }
    server.push(ScriptedTurn::new().text("Understood."));
    server.push_fork(ScriptedTurn::new().text("nothing"));
    let words = "From now on the walnut service listens on another port, 5434";
    home.run(&mut ask(&home, &["--wait", words])).success();
    let told = prompt_of(&server.fork_requests()[0]);
    assert!(told.contains("walnut-port.md"), "{told}");
    assert!(told.contains("(21 more, which have less to do with what was said"), "{told}");
    server.finish();
}
