//! Memory while talking: what is said about a change, the key that takes it back, `/memory`.

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{TestHome, WireFormat};
use serde_json::json;

use crate::memory::{add, list, memory};
use crate::program::{server, wait_until};
use crate::talk::{answer, leave, say, talk, wait_for_menu, wait_for_prompt};

fn save(name: &str, file: Option<&str>) -> ScriptedTurn {
    let mut input = json!({
        "name": name, "description": "what it is about", "type": "project", "content": "By the model.",
    });
    if let Some(file) = file {
        input["file"] = json!(file);
    }
    ScriptedTurn::new().call("m", "MemorySave", input.to_string())
}

#[test]
fn one_key_takes_back_what_was_saved() {
    let server = server(WireFormat::Anthropic)
        .reply(save("Shelves", None))
        .reply(ScriptedTurn::new().text("It is saved."))
        .start();
    let home = TestHome::new().with_server(&server);
    let mut terminal = talk(&home, &[], (80, 30));
    say(&mut terminal, "remember the shelves", "It is saved.");
    let shown = terminal.all_rows().join("\n");
    assert!(shown.contains("memory: saved shelves.md (project memory) · Alt-U to undo"), "{shown}");
    assert_eq!(list(&home).len(), 1);
    terminal.type_keys("\x1bu");
    terminal.wait_for_text("undid change");
    wait_for_prompt(&terminal);
    assert_eq!(list(&home).len(), 0);
    // With something typed the key undoes nothing.
    terminal.type_keys("shelves\x1bu");
    terminal.type_keys("!");
    terminal.wait_for_text("> shelves!");
    assert_eq!(terminal.all_rows().join("\n").matches("/memory undo").count(), 1);
    terminal.type_keys("\x03");
    wait_for_prompt(&terminal);
    leave(terminal);
    server.finish();
}

#[test]
fn memories_are_looked_at_without_leaving() {
    let server = server(WireFormat::Anthropic)
        .reply(save("Two words", Some("two-words.md")))
        .reply(ScriptedTurn::new().text("It waits."))
        .start();
    let mut home = TestHome::new().with_server(&server);
    add(&home, "Two words", &["--type", "project", "--body", "By the user."]);
    // It reads a line, as a terminal that was found cooked gives it.
    home.write("editor.sh", "echo here is the editor; read line; echo \"said: $line\" >> \"$1\"\n");
    home.set_env("EDITOR", "sh editor.sh");
    let mut terminal = talk(&home, &[], (80, 40));
    say(&mut terminal, "/memory", "what it is about");
    say(&mut terminal, "/memory show \"two words\"", "By the user.");
    say(&mut terminal, "/memory show 'two", "Unclosed quotation mark");
    say(&mut terminal, "/memory shwo x", "no command `shwo`. Did you mean `show`?");
    say(&mut terminal, "/memory show nothing", "no memory is called `nothing`");
    say(&mut terminal, "change it", "It waits.");
    say(&mut terminal, "/memory", "1 memory change waits for your review");
    say(&mut terminal, "/memory inbox", "+By the model.");
    say(&mut terminal, "/memory inbox accept 1", "accepted proposal 1");
    assert!(memory(&home, &["show", "two-words.md"]).success().stdout.contains("By the model."));
    // An editor gets the terminal, and gives it back.
    terminal.enter("/memory edit two-words.md");
    terminal.wait_for_text("here is the editor");
    terminal.enter("by hand");
    let by_hand =
        || memory(&home, &["show", "two-words.md"]).success().stdout.contains("said: by hand");
    wait_until("the edit", by_hand);
    wait_for_prompt(&terminal);
    leave(terminal);
    server.finish();
}

#[test]
fn what_waits_is_said_at_the_start() {
    let server = server(WireFormat::Anthropic)
        .reply(save("Two words", Some("two-words.md")))
        .reply(ScriptedTurn::new().text("It waits."))
        .start();
    let home = TestHome::new().with_server(&server);
    add(&home, "Two words", &["--type", "project", "--body", "By the user."]);
    home.run(&mut crate::program::ask(&home, &["change it"])).success();
    let terminal = talk(&home, &[], (80, 30));
    terminal.wait_for_text("1 memory change waits for your review: /memory inbox");
    leave(terminal);
    server.finish();
}

#[test]
fn the_person_is_asked_where_the_policy_says_so() {
    let server = server(WireFormat::Anthropic)
        .reply(save("Shelves", None))
        .reply(ScriptedTurn::new().text("Then not."))
        .reply(save("Shelves", None))
        .reply(ScriptedTurn::new().text("It is saved."))
        .reply(save("Larder", None))
        .reply(ScriptedTurn::new().text("So is this."))
        .start();
    let home = TestHome::new().with_server(&server);
    let settings = home.dormouse_home().join("settings.json");
    home.write(settings, r#"{"memory":{"policy":[{"rule":"ask"}]}}"#);
    let mut terminal = talk(&home, &[], (80, 40));
    terminal.enter("remember the shelves");
    terminal.wait_for_text("By the model.");
    wait_for_menu(&terminal, "By the model.");
    answer(&mut terminal, "tthey are the landlord's\r", "Then not.");
    let result = server.requests()[1].last_message().to_string();
    assert!(
        result.contains("does not want this change of memory: they are the landlord's"),
        "{result}"
    );
    assert!(list(&home).is_empty());
    terminal.enter("remember them all the same");
    wait_for_menu(&terminal, "all the same");
    answer(&mut terminal, "a", "It is saved.");
    say(&mut terminal, "and the larder", "So is this.");
    assert_eq!(list(&home).len(), 2);
    leave(terminal);
    server.finish();
}

/// `/memory off`: nothing is recalled or saved, until `/memory on`.
#[test]
fn memory_is_turned_off_for_the_session() {
    let server = server(WireFormat::Anthropic)
        .reply(save("Shelves", None))
        .reply(ScriptedTurn::new().text("Not saved."))
        .reply(ScriptedTurn::new().text("Port 5433."))
        .start();
    let home = TestHome::new().with_server(&server);
    home.write("AGENTS.md", "Count the nuts.\n");
    add(
        &home,
        "Port of the test database",
        &["--type", "project", "--body", "It listens on 5433."],
    );
    let question = "On which port does the test database listen?";
    let mut terminal = talk(&home, &[], (100, 40));
    say(&mut terminal, "/memory", "AGENTS.md");
    say(&mut terminal, "/memory off", "Memory is off for this session");
    say(&mut terminal, question, "Not saved.");
    let requests = server.requests();
    assert!(!requests[0].last_message().to_string().contains("It listens on 5433"), "recalled");
    assert!(
        requests[1].text().contains("the user has turned memory off"),
        "{}",
        requests[1].text()
    );
    assert_eq!(list(&home).len(), 1);
    say(&mut terminal, "/memory on", "Memory is on again.");
    say(&mut terminal, question, "Port 5433.");
    let last = server.requests()[2].last_message().to_string();
    assert!(last.contains("It listens on 5433"), "{last}");
    leave(terminal);
    server.finish();
}
