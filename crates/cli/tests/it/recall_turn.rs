//! Memories that come to a message by themselves: the local step, the selector, and what keeps both in bounds.

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{
    End, Gate, RecordedRequest, Reply, ScriptedServer, ServerBuilder, TestHome, WireFormat,
};
use serde_json::json;

use crate::program::{BOTH, ask, server};
use crate::talk::{leave, say, talk, wait_for_prompt};

/// Longer than any test waits.
const HELD_MS: u64 = 300_000;
const SHOWN: &str = "Saved memories that may be relevant here.";

fn with_selector(wire: WireFormat) -> ServerBuilder {
    server(wire).side_model("small")
}

fn home_of(server: &ScriptedServer) -> TestHome {
    let mut home = TestHome::new().with_server(server);
    let settings = home.dormouse_home().join("settings.json");
    home.write(settings, r#"{"smallModel":"small"}"#);
    // What runs beside a request is waited for before the next.
    home.set_deadlines(&[("recall_beside", HELD_MS)]);
    home
}

pub(crate) fn remember(home: &TestHome, name: &str, description: &str, body: &str) -> String {
    let more = ["--type", "project", "--scope", "user", "--body", body];
    let mut arguments = vec!["add", name, "--description", description];
    arguments.extend(more);
    crate::memory::memory(home, &arguments).success().stdout.trim().to_owned()
}

/// The selector's answer.
fn files(names: &[&str]) -> ScriptedTurn {
    ScriptedTurn::new().text(json!({ "files": names }).to_string())
}

/// A turn of two requests: what comes beside the first goes with the second.
pub(crate) fn two_requests(server: &ScriptedServer) {
    server.push(ScriptedTurn::new().call("call", "Glob", r#"{"pattern":"*.md"}"#));
    server.push(ScriptedTurn::new().text("done"));
}

/// The texts of recalled memories in a request, with the number of the message they are in.
pub(crate) fn recalled(request: &RecordedRequest) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (at, message) in request.messages().iter().enumerate() {
        if message["role"] != "user" {
            continue;
        }
        let texts = crate::talk::texts(message);
        found.extend(texts.into_iter().filter(|text| text.contains(SHOWN)).map(|text| (at, text)));
    }
    found
}

#[test]
fn what_the_selector_chooses_comes_behind_the_results() {
    for wire in BOTH {
        let server = with_selector(wire)
            .side_reply(files(&["harbour.md", "../../etc/passwd", "nothing.md", "harbour.md"]))
            .start();
        let home = home_of(&server);
        remember(&home, "Harbour", "where ships land", "Ships land at the east quay.");
        remember(&home, "Larder", "what is in store", "Nuts.");
        two_requests(&server);
        let output = home.run(&mut ask(&home, &["tell me about vessels"]));
        assert!(output.success().stderr.contains("recalled 1 memory"), "{}", output.stderr);
        let question = server.side_requests()[0].text();
        assert!(question.contains("tell me about vessels"), "{question}");
        assert!(
            question.contains("- harbour.md: where ships land")
                && question.contains(r#""enum": ["harbour.md", "larder.md"]"#)
                || question.contains(r#""enum":["harbour.md","larder.md"]"#),
            "{question}"
        );
        assert!(question.contains("json_schema") && question.contains("256"), "{question}");
        let requests = server.requests();
        assert!(recalled(&requests[0]).is_empty());
        let last = recalled(requests.last().unwrap());
        assert_eq!(last.len(), 1, "{last:?}");
        assert!(last[0].1.contains("Ships land at the east quay.") && !last[0].1.contains("Nuts"));
        assert!(last[0].1.contains("Memory (saved today): "), "{last:?}");
        server.finish();
    }
}

#[test]
fn a_selector_in_trouble_changes_nothing() {
    let troubles: Vec<(&str, Reply)> = vec![
        ("not the JSON", ScriptedTurn::new().text(r#"{"files":["harbour.md""#).into()),
        ("not the JSON", ScriptedTurn::new().text("harbour.md").into()),
        ("failed", Reply::server_error_500()),
        ("failed", Reply::from(files(&["harbour.md"])).stop_after(2).then(End::Reset)),
    ];
    for (_, trouble) in troubles {
        let server = with_selector(WireFormat::Anthropic).side_reply(trouble).start();
        let home = home_of(&server);
        remember(&home, "Harbour", "where ships land", "Ships land at the east quay.");
        two_requests(&server);
        let output = home.run(&mut ask(&home, &["tell me about vessels"]));
        assert!(!output.success().stderr.contains("recalled"), "{}", output.stderr);
        assert!(server.requests().iter().all(|request| recalled(request).is_empty()));
        server.finish();
    }
}

#[test]
fn a_selector_that_hangs_holds_up_nothing() {
    let hangs = Reply::from(files(&["harbour.md"])).stop_after(1).then(End::Hang);
    let answering = Gate::new();
    let answer = Reply::from(ScriptedTurn::new().text("vessels float")).gate_after(1, &answering);
    let server = with_selector(WireFormat::Anthropic).side_reply(hangs).reply(answer).start();
    let home = home_of(&server);
    remember(&home, "Harbour", "where ships land", "Ships land at the east quay.");
    let mut running = home.spawn(&mut ask(&home, &["tell me about vessels"]));
    running.close_stdin();
    server.wait_for_side_requests(1);
    answering.open();
    // The answer comes while the other one still hangs, and the program ends without it.
    assert_eq!(running.wait().success().stdout.trim(), "vessels float");
    assert!(recalled(&server.single_request()).is_empty());
    server.finish();
}

#[test]
fn five_at_most_and_none_twice() {
    let names: Vec<String> = (1..=7).map(|at| format!("harbour-{at}.md")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let server = with_selector(WireFormat::Anthropic).side_reply(files(&names)).start();
    let home = home_of(&server);
    for at in 1..=7 {
        remember(&home, &format!("Harbour {at}"), "where ships land", &format!("Quay {at}."));
    }
    // One is read by the model itself, before the second message.
    let path = home.dormouse_home().join("memory/harbour-7.md");
    server.push(ScriptedTurn::new().call("r", "Read", json!({ "file_path": path }).to_string()));
    two_requests(&server);
    home.run(&mut ask(&home, &["tell me about vessels"])).success();
    let shown = recalled(server.requests().last().unwrap());
    let text: String = shown.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(text.matches("Memory (saved").count(), 5, "{text}");

    server.push_side(files(&["harbour-1.md", "harbour-6.md"]));
    two_requests(&server);
    home.run(&mut ask(&home, &["--continue", "tell me more about vessels"])).success();
    let offered = server.side_requests()[1].text();
    for (name, there) in [("harbour-1.md", false), ("harbour-6.md", true), ("harbour-7.md", false)]
    {
        assert_eq!(offered.contains(name), there, "{name}: {offered}");
    }
    let shown = recalled(server.requests().last().unwrap());
    let text: String = shown.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(text.matches("Memory (saved").count(), 6, "{text}");
    server.finish();
}

#[test]
fn a_choice_that_comes_late_goes_with_the_next_message() {
    let gate = Gate::new();
    let server = with_selector(WireFormat::Anthropic)
        .side_reply(Reply::from(files(&["harbour.md"])).gate_after(1, &gate))
        .reply(ScriptedTurn::new().text("vessels float"))
        .reply(ScriptedTurn::new().text("they land there"))
        .start();
    let home = home_of(&server);
    remember(&home, "Harbour", "where ships land", "Ships land at the east quay.");
    let mut terminal = talk(&home, &[], (80, 30));
    say(&mut terminal, "tell me about vessels", "vessels float");
    gate.wait_until_reached();
    gate.open();
    say(&mut terminal, "and where to?", "they land there");
    let requests = server.requests();
    assert!(recalled(&requests[0]).is_empty());
    let shown = recalled(&requests[1]);
    assert_eq!(shown.len(), 1, "{shown:?}");
    assert!(shown[0].1.contains("east quay"), "{shown:?}");
    let rows = terminal.all_rows().join("\n");
    assert!(
        rows.contains("recalled 1 memory") && rows.contains("harbour.md · Alt-R explains"),
        "{rows}"
    );
    terminal.type_keys("\x1br");
    terminal.wait_for_text("1 memory considered by the small model");
    wait_for_prompt(&terminal);
    say(&mut terminal, "/recall where do ships land", "quay");
    leave(terminal);
    server.finish();
}

#[test]
fn a_turn_that_is_stopped_stops_the_selector_too() {
    let (gate, main) = (Gate::new(), Gate::new());
    let server = with_selector(WireFormat::Anthropic)
        .side_reply(Reply::from(files(&["harbour.md"])).gate_after(1, &gate))
        .side_reply(files(&[]))
        .reply(Reply::from(ScriptedTurn::new().text("vessels float")).gate_after(2, &main))
        .reply(ScriptedTurn::new().text("they land there"))
        .start();
    let home = home_of(&server);
    remember(&home, "Harbour", "where ships land", "Ships land at the east quay.");
    let mut terminal = talk(&home, &[], (80, 30));
    terminal.enter("tell me about vessels");
    gate.wait_until_reached();
    main.wait_until_reached();
    terminal.type_keys("\x03");
    terminal.wait_for_text("Interrupted.");
    wait_for_prompt(&terminal);
    gate.open();
    main.open();
    say(&mut terminal, "and what about dredging?", "they land there");
    server.wait_for_side_requests(2);
    assert!(server.requests().iter().all(|request| recalled(request).is_empty()));
    leave(terminal);
    server.finish();
}

#[test]
fn switched_off_or_one_word_long_nothing_is_looked_for() {
    for (variable, prompt) in [
        (Some(("DORMOUSE_RECALL", "0")), "where do ships land at the quay"),
        (Some(("DORMOUSE_SIMPLE", "1")), "where do ships land at the quay"),
        (Some(("DORMOUSE_MEMORY", "0")), "where do ships land at the quay"),
        (None, "ships?"),
    ] {
        let server = with_selector(WireFormat::Anthropic).start();
        let mut home = home_of(&server);
        remember(&home, "Harbour", "where ships land", "Ships land at the east quay.");
        if let Some((name, value)) = variable {
            home.set_env(name, value);
        }
        two_requests(&server);
        home.run(&mut ask(&home, &[prompt])).success();
        assert!(server.requests().iter().all(|request| recalled(request).is_empty()));
        assert!(server.side_requests().is_empty());
        server.finish();
    }
}

/// The last message of a request, with the texts of its blocks.
fn last_texts(request: &RecordedRequest) -> Vec<String> {
    crate::talk::texts(&request.last_message())
}

#[test]
fn what_the_ranking_is_sure_of_goes_with_the_message() {
    for wire in BOTH {
        let server = server(wire).reply(ScriptedTurn::new().text("at the east quay")).start();
        let home = TestHome::new().with_server(&server).with_now("2026-11-15T08:00:00Z");
        let path = remember(&home, "Harbour", "where ships land", "Ships land at the east quay.");
        remember(&home, "Larder", "what is in store", "Nuts and acorns, for the winter.");
        let output = home.run(&mut ask(&home, &["At which quay do the ships land?"]));
        assert!(output.success().stderr.contains("recalled 1 memory"), "{}", output.stderr);
        let request = server.single_request();
        let texts = last_texts(&request);
        // The user's words come first and are theirs alone.
        let typed =
            texts.iter().position(|text| text == "At which quay do the ships land?").unwrap();
        assert_eq!(typed + 2, texts.len(), "{texts:?}");
        let shown = &texts[typed + 1];
        assert!(
            shown.contains(&format!("Memory (saved today): {path}:\nHarbour: where ships land\n")),
            "{shown}"
        );
        assert!(!shown.contains("Nuts"), "{shown}");

        // Not a second time, also when the session goes on in another process; and not for another question.
        server.push(ScriptedTurn::new().text("yes"));
        server.push(ScriptedTurn::new().text("fine"));
        home.run(&mut ask(&home, &["--continue", "Do ships always land at that quay?"])).success();
        home.run(&mut ask(&home, &["--continue", "Please rename the variable in main.rs"]))
            .success();
        let requests = server.requests();
        assert_eq!(recalled(&requests[2]).len(), 1);
        let transcript = crate::program::transcript(&home);
        assert!(transcript.contains(SHOWN));
        server.finish();
    }
}

#[test]
fn old_memories_say_so_and_so_do_those_whose_code_has_changed() {
    let server = server(WireFormat::Anthropic).reply(ScriptedTurn::new().text("fine")).start();
    let home = TestHome::new().with_server(&server).with_now("2026-11-15T08:00:00Z");
    home.git_init();
    home.write("src/quay.rs", "pub fn land_ships() {}\n");
    let body = "Ships land in src/quay.rs, function `land_ships`.";
    let more = [
        "add",
        "Harbour",
        "--description",
        "where ships land",
        "--type",
        "project",
        "--body",
        body,
    ];
    crate::memory::memory(&home, &more).success();
    home.write("src/quay.rs", "pub fn other() {}\n");
    let home = home.with_now("2027-01-01T08:00:00Z");
    home.run(&mut ask(&home, &["where do the ships land?"])).success();
    let shown = recalled(&server.single_request());
    assert_eq!(shown.len(), 1, "{shown:?}");
    let text = &shown[0].1;
    assert!(text.contains("47 days ago") && text.contains("Check it against the code"), "{text}");
    assert!(text.contains("`land_ships` is no longer in src/quay.rs"), "{text}");
    server.finish();
}

#[test]
fn a_session_has_only_so_much_room_for_memories() {
    let server = server(WireFormat::Anthropic).start();
    let home = TestHome::new().with_server(&server);
    for at in 0..40 {
        let body = format!("Ships of berth{at} land at the quay.\n{}", "All of it. ".repeat(600));
        remember(
            &home,
            &format!("Harbour berth{at}"),
            &format!("where ships of berth{at} land"),
            &body,
        );
    }
    for at in 0..20 {
        server.push(ScriptedTurn::new().text("fine"));
        let prompt = format!("where do ships of berth{at} land?");
        let mut arguments = vec![prompt.as_str()];
        if at > 0 {
            arguments.insert(0, "--continue");
        }
        home.run(&mut ask(&home, &arguments)).success();
    }
    let shown: usize =
        recalled(server.requests().last().unwrap()).iter().map(|(_, text)| text.len()).sum();
    assert!((50_000..=60_000).contains(&shown), "{shown}");
    server.finish();
}

#[test]
fn what_only_strangers_said_is_not_recalled() {
    let server = server(WireFormat::Anthropic).reply(ScriptedTurn::new().text("fine")).start();
    let home = TestHome::new().with_server(&server);
    let path = remember(&home, "Harbour", "where ships land", "Ships land at the east quay.");
    let text = home.read(&path).replace("type: project\n", "type: project\nquarantined: true\n");
    std::fs::write(&path, text).unwrap();
    home.run(&mut ask(&home, &["At which quay do the ships land?"])).success();
    assert!(recalled(&server.single_request()).is_empty());
    server.finish();
}

/// A home with one memory about a harbor among so many files that they are not read for the first time before a request goes
/// that waits for nothing.
fn home_with_slow_index(server: &ScriptedServer) -> TestHome {
    let mut home = TestHome::new().with_server(server);
    let no_time = ["first_recall", "only_recall", "recall"].map(|name| (name, 0));
    home.set_deadlines(&[&no_time[..], &[("recall_beside", HELD_MS)]].concat());
    for at in 0..500 {
        let text =
            format!("---\nname: Larder {at}\ndescription: nuts in store {at}\n---\nAcorns.\n");
        home.write(home.dormouse_home().join(format!("memory/larder-{at}.md")), text);
    }
    let text = "---\nname: Harbour\ndescription: where ships land\n---\nAt the east quay.\n";
    home.write(home.dormouse_home().join("memory/harbour.md"), text);
    home
}

const NOT_READY: &str = "memory not ready in time; what it finds goes with the next request";

#[test]
fn a_search_that_is_late_is_said_and_goes_with_the_next_request() {
    let server = server(WireFormat::Anthropic).start();
    let home = home_with_slow_index(&server);
    two_requests(&server);
    let output = home.run(&mut ask(&home, &["At which quay do the ships land?"]));
    let stderr = &output.success().stderr;
    assert!(stderr.contains(NOT_READY) && stderr.contains("recalled 1 memory"), "{stderr}");
    let requests = server.requests();
    assert!(recalled(&requests[0]).is_empty());
    let shown = recalled(&requests[1]);
    assert!(shown.len() == 1 && shown[0].1.contains("east quay"), "{shown:?}");
    server.finish();
}

#[test]
fn a_search_that_is_late_goes_with_the_next_message_of_a_session() {
    let server = server(WireFormat::Anthropic)
        .reply(ScriptedTurn::new().text("vessels float"))
        .reply(ScriptedTurn::new().text("they land there"))
        .start();
    let home = home_with_slow_index(&server);
    let mut terminal = talk(&home, &[], (120, 30));
    say(&mut terminal, "At which quay do the ships land?", "vessels float");
    say(&mut terminal, "go on", "they land there");
    let rows = terminal.all_rows().join("\n");
    assert!(rows.contains(NOT_READY) && rows.contains("recalled 1 memory"), "{rows}");
    let requests = server.requests();
    assert!(recalled(&requests[0]).is_empty());
    let shown = recalled(&requests[1]);
    assert!(shown.len() == 1 && shown[0].1.contains("east quay"), "{shown:?}");
    leave(terminal);
    server.finish();
}

/// A user sees that something is remembered, also where no memory matches the message.
#[test]
fn the_first_message_says_what_the_index_lists() {
    let server = server(WireFormat::Anthropic)
        .reply(ScriptedTurn::new().text("hello"))
        .reply(ScriptedTurn::new().text("fine"))
        .start();
    let home = TestHome::new().with_server(&server);
    remember(&home, "Harbour", "where ships land", "Ships land at the east quay.");
    remember(&home, "Larder", "what is in store", "Nuts and acorns, for the winter.");
    let mut terminal = talk(&home, &[], (120, 30));
    say(&mut terminal, "please rename the variable", "hello");
    terminal.wait_for_text("2 memories listed; none recalled");
    say(&mut terminal, "and the other variable", "fine");
    let rows = terminal.all_rows().join("\n");
    assert_eq!(rows.matches("memories listed").count(), 1, "{rows}");
    leave(terminal);
    server.finish();
}
