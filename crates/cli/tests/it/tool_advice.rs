//! What tools say to a model that has called them wrongly, and what they let it do: the advice must lead somewhere.

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{TestHome, WireFormat};
use serde_json::{Value, json};

use crate::program::{ask, dormouse, server};

/// The results of these calls, each in a turn of its own.
fn results(home: &TestHome, flags: &[&str], calls: &[(&str, Value)]) -> Vec<String> {
    let server = server(WireFormat::Anthropic).start();
    for (number, (tool, input)) in calls.iter().enumerate() {
        server.push(ScriptedTurn::new().call(format!("t{number}"), *tool, input.to_string()));
    }
    server.push(ScriptedTurn::new().text("done"));
    let mut command = ask(home, &["go"]);
    command.args(flags).env("ANTHROPIC_BASE_URL", server.url()).env("ANTHROPIC_API_KEY", "k");
    home.run(command.env("DORMOUSE_MODEL", server.model())).success();
    let requests = server.requests();
    server.finish();
    let result = |request: usize| {
        let message = requests[request].last_message();
        message["content"][0]["content"].as_str().unwrap().to_owned()
    };
    (1..=calls.len()).map(result).collect()
}

#[test]
fn a_memory_that_is_not_there_is_made_without_a_file() {
    let home = TestHome::new();
    let save = |file: Value| {
        let mut input = json!({"name": "Port", "description": "The port of the database",
            "type": "project", "content": "It is 5433."});
        if !file.is_null() {
            input["file"] = file;
        }
        ("MemorySave", input)
    };
    let results = results(&home, &[], &[save(json!("port.md")), save(Value::Null)]);
    assert!(results[0].contains("leave out `file` to make a new one"), "{}", results[0]);
    assert!(!results[1].contains("there is no memory"), "{}", results[1]);
}

#[test]
fn an_edit_without_old_text_does_not_lead_to_a_write() {
    let home = TestHome::new();
    home.write("a.txt", "one\n");
    home.write("empty.txt", "");
    let edit =
        |file: &str| ("Edit", json!({"file_path": file, "old_string": "", "new_string": "two\n"}));
    let results = results(&home, &[], &[edit("a.txt"), edit("empty.txt")]);
    assert!(results[0].contains("give the text to replace"), "{}", results[0]);
    assert!(!results[0].contains("Write"), "{}", results[0]);
    assert!(results[1].contains("exists and is empty"), "{}", results[1]);
    assert_eq!(home.read("a.txt"), "one\n");
}

/// What the schema does not require is not missed: the call fails for the name alone.
#[test]
fn a_message_needs_no_summary() {
    let send = |summary: Value| {
        ("SendMessage", json!({"to": "nobody", "message": "hi", "summary": summary}))
    };
    let results = results(&TestHome::new(), &[], &[send(Value::Null), send(json!("hi"))]);
    for result in results {
        assert!(result.contains("no agent or session named `nobody`"), "{result}");
    }
}

/// A model that leaves out what it does not change would lose it.
#[test]
fn a_write_that_loses_most_of_a_file_asks() {
    let long = "line\n".repeat(40);
    let home = TestHome::new();
    let read = ("Read", json!({"file_path": "a.txt"}));
    let write =
        |lines: usize| ("Write", json!({"file_path": "a.txt", "content": "kept\n".repeat(lines)}));
    let write_in = |mode: &str, lines: usize| {
        home.write("a.txt", &long);
        let flags = ["--permission-mode", mode];
        results(&home, &flags, &[read.clone(), write(lines)]).pop().unwrap()
    };
    for mode in ["default", "acceptEdits"] {
        let refused = write_in(mode, 19);
        let why = "has 40 lines and would have 19: most of it would be lost";
        assert!(refused.contains(why), "{mode}: {refused}");
        assert_eq!(home.read("a.txt"), long);
    }
    write_in("acceptEdits", 20);
    assert_eq!(home.read("a.txt"), "kept\n".repeat(20));
    write_in("bypass", 1);
    assert_eq!(home.read("a.txt"), "kept\n");
    home.write("a.txt", "line\n".repeat(19));
    results(&home, &["--permission-mode", "acceptEdits"], &[read.clone(), write(1)]);
    assert_eq!(home.read("a.txt"), "kept\n");
}

#[test]
fn a_limit_of_a_search_counts_matches() {
    let home = TestHome::new();
    home.write("a.txt", "1\nhit\n3\n4\n5\n6\nhit\n8\n9\n10\n11\nhit\n");
    let grep = (
        "Grep",
        json!({"pattern": "hit", "output_mode": "content", "context": 1,
        "head_limit": 2}),
    );
    let results = results(&home, &[], &[grep]);
    let expected = "a.txt-1-1\na.txt:2:hit\na.txt-3-3\n--\na.txt-6-6\na.txt:7:hit\na.txt-8-8\n\
                    [1 more matches are not shown, and 0 files with matches are missing altogether; \
                    make the search narrower to see them]";
    assert_eq!(results, [expected]);
}

#[test]
fn options_in_front_of_a_command_are_explained() {
    let home = TestHome::new();
    let output = home.run(&mut dormouse(&home, &["-v", "dream", "log"]));
    assert_eq!(output.code, Some(2), "{output:?}");
    let said = "error: `dream` is a command, and options stand behind it: run `dormouse dream log`, or \
                `dormouse -p dream log` to send it as a prompt\n";
    assert_eq!(output.stderr, said);
    home.run(&mut dormouse(&home, &["dream", "log"])).success();
}
