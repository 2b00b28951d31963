//! Notes about a session, kept beside it: when, from what, how far they go (B-13 to B-16).

use std::path::{Path, PathBuf};

use dormouse_conversation::metrics::{JobMetric, Metric, MetricsFilter, MetricsLog, read_metrics};
use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{
    Gate, RecordedRequest, Reply, ScriptedServer, TestHome, WireFormat, check_prefix,
};
use serde_json::{Value, json};

use crate::program::{BOTH, ask, dormouse, server, wait_until};
use crate::talk::{leave, say, talk, wait_for_prompt};

/// Notes after every call of a turn, which brings a thousand tokens, but not for the few words at its end.
pub(crate) const EAGER: &str =
    r#"{"sessionNotes":{"firstTokens":1,"everyTokens":500,"everyCalls":1}}"#;

/// Notes are off unless somebody wants them.
pub(crate) fn with_notes(settings: &str) -> String {
    if settings.contains("layers") {
        return settings.to_owned();
    }
    settings.replacen('{', r#"{"layers":{"session_notes":true},"#, 1)
}

/// The same with another key.
pub(crate) fn with_more(key: &str) -> String {
    EAGER.replacen('{', &format!("{{{key},"), 1)
}

const STATE: &str =
    "_What is being worked on right now, what is unfinished, and the very next step_\n";
const TITLE: &str = "_Five to ten words that tell this session from all others; no filler_\n";

pub(crate) fn home_of(server: &ScriptedServer, settings: &str) -> TestHome {
    let mut home = TestHome::new().with_server(server);
    home.unset_env("DORMOUSE_SESSION_NOTES");
    home.set_env("DORMOUSE_REPEATED_CALLS", "0");
    home.write(home.dormouse_home().join("settings.json"), with_notes(settings));
    home.write("nuts.txt", "a nut in the larder\n".repeat(200));
    home
}

/// A call that brings a thousand tokens.
pub(crate) fn look(call: impl Into<String>) -> ScriptedTurn {
    ScriptedTurn::new().call(call, "Bash", r#"{"command":"cat nuts.txt"}"#)
}

/// The file that a fork was told to keep.
pub(crate) fn notes_path(request: &RecordedRequest) -> String {
    const FILE: &str = "/session-memory/summary.md";
    let text = request.text();
    let (before, _) = text.split_once(FILE).unwrap();
    format!("{}{FILE}", before.rsplit([' ', '"']).next().unwrap())
}

/// A call that changes the notes.
pub(crate) fn edit(path: &str, old: &str, new: &str) -> ScriptedTurn {
    let input = json!({"file_path": path, "old_string": old, "new_string": new});
    ScriptedTurn::new().call("n1", "Edit", input.to_string())
}

/// A fork's first request of a run is the one with nothing of its own behind the message.
pub(crate) fn is_first(request: &RecordedRequest) -> bool {
    let messages = request.raw_messages();
    messages.last().unwrap().contains("<forked-conversation>")
}

/// Writes a line into Current State, and is done.
pub(crate) fn writes(line: &str) -> impl FnMut(&RecordedRequest) -> Reply + Send + 'static {
    let new = format!("{STATE}{line}\n");
    move |request| {
        if is_first(request) {
            edit(&notes_path(request), STATE, &new).into()
        } else {
            ScriptedTurn::new().text("done").into()
        }
    }
}

/// A call, and the end that waits until somebody opens the gate.
pub(crate) fn long_turn(server: &ScriptedServer, call: &str) -> Gate {
    let gate = Gate::new();
    server.push(look(call));
    server.push(Reply::from(ScriptedTurn::new().text("all done")).gate_after(1, &gate));
    gate
}

pub(crate) fn figures(home: &TestHome) -> Vec<Metric> {
    let (mut found, folder) = (Vec::new(), MetricsLog::folder_in(&home.dormouse_home()));
    read_metrics(&folder, &MetricsFilter::default(), &mut |entry| found.push(entry.metric))
        .unwrap();
    found
}

/// The runs that have ended.
pub(crate) fn jobs(home: &TestHome) -> Vec<JobMetric> {
    let job = |figure| match figure {
        Metric::Job(job) if job.name == "session_notes" => Some(job),
        _ => None,
    };
    figures(home).into_iter().filter_map(job).collect()
}

/// Runs the program through a long turn, until so many runs have ended since the home is there.
pub(crate) fn run_until(home: &TestHome, arguments: &[&str], gate: &Gate, ended: usize) {
    let mut running = home.spawn(&mut ask(home, arguments));
    running.close_stdin();
    wait_until("the notes", || jobs(home).len() >= ended);
    gate.open();
    assert_eq!(running.wait().success().stdout.trim(), "all done");
}

/// The folders with notes.
pub(crate) fn folders(home: &TestHome) -> Vec<PathBuf> {
    let own = |transcript: PathBuf| transcript.with_extension("").join("session-memory");
    home.transcripts().into_iter().map(own).filter(|folder| folder.exists()).collect()
}

pub(crate) fn only_folder(home: &TestHome) -> PathBuf {
    let mut folders = folders(home);
    assert_eq!(folders.len(), 1, "{folders:?}");
    folders.remove(0)
}

pub(crate) fn read(path: impl AsRef<Path>) -> String {
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn a_long_turn_has_notes_in_the_middle_from_what_the_server_has_in_its_cache() {
    for wire in BOTH {
        let server = server(wire).fork_with(writes("counting nuts")).start();
        let home = home_of(&server, EAGER);
        if wire == WireFormat::OpenAi {
            // Only its second response can show that this server has a cache.
            server.push(ScriptedTurn::new().text("hello"));
            home.run(&mut ask(&home, &["hello"])).success();
            server.push(ScriptedTurn::new().text("hello again"));
            home.run(&mut ask(&home, &["-c", "hello again"])).success();
        }
        let (sent, noted) = (server.requests().len(), jobs(&home).len());
        let gate = long_turn(&server, "t1");
        let arguments: &[&str] = if sent > 0 { &["-c"] } else { &[] };
        run_until(&home, &[arguments, &["look after the nuts"]].concat(), &gate, noted + 1);

        let (main, forks) = (server.requests(), server.fork_requests());
        let main = main.get(sent..).unwrap().to_vec();
        let forks = forks.get(forks.len() - 1..).unwrap().to_vec();
        assert_eq!((main.len(), forks.len()), (2, 1));
        // Byte for byte what the conversation sent, then what came since, then a message of its own.
        check_prefix(&main[0].body, &forks[0].body).unwrap();
        for field in ["tools", "system", "model", "max_tokens"] {
            assert_eq!(forks[0].raw_field(field), main[0].raw_field(field), "{field}");
        }
        let read = |request: &RecordedRequest| request.usage.cache_read_input_tokens;
        if wire == WireFormat::Anthropic {
            assert!(main[0].written > 1_000);
            // Whichever of the two requests behind the call came first wrote for the other.
            let written = [main[0].written, main[1].written];
            assert!(written.contains(&read(&forks[0])), "{} {written:?}", read(&forks[0]));
            assert!(read(&main[1]) >= main[0].written);
        } else {
            assert!(read(&forks[0]) > 0);
        }
        assert!(forks[0].text().contains("# Current State\\n_What is being worked on"));

        let folder = only_folder(&home);
        let notes = read_file(&folder, "summary.md");
        assert!(notes.contains(&format!("{STATE}counting nuts\n")), "{notes}");
        assert!(!folder.join("before.md").exists());
        // They reach to the result of the call, and the conversation knows nothing of them.
        let transcript = crate::program::transcript(&home);
        let result = line_of(&transcript, "tool_result");
        let reach: Value = serde_json::from_str(&read_file(&folder, "reach.json")).unwrap();
        assert!(result.contains(reach["message"].as_str().unwrap()), "{reach} {result}");
        assert!(!transcript.contains("forked-conversation") && !transcript.contains("n1"));

        let job = &jobs(&home)[0];
        assert_eq!((job.turns, job.changed, job.denied), (1, 1, 0));
        let stats = home.run(&mut dormouse(&home, &["stats"])).success().stdout.clone();
        assert!(stats.contains("session_notes"), "{stats}");
        server.finish();
    }
}

fn read_file(folder: &Path, name: &str) -> String {
    read(folder.join(name))
}

fn line_of<'t>(transcript: &'t str, what: &str) -> &'t str {
    transcript.lines().find(|line| line.contains(&format!("\"type\":\"{what}\""))).unwrap()
}

/// What was said counts, not the prompt in front of it.
#[test]
fn first_at_so_many_tokens_and_not_before() {
    let server = server(WireFormat::Anthropic).fork_with(writes("x")).start();
    let set =
        |tokens: u64| with_notes(&json!({"sessionNotes": {"firstTokens": tokens}}).to_string());
    let home = home_of(&server, &set(1_000_000));
    let talk_once = |expected: usize| {
        server.push(ScriptedTurn::new().text("learned"));
        let mut terminal = talk(&home, &[], (80, 24));
        say(&mut terminal, "hello", "learned");
        wait_until("the notes", || jobs(&home).len() >= expected);
        leave(terminal);
        assert_eq!(folders(&home).len(), expected);
        assert_eq!(server.fork_requests().len(), expected);
    };
    talk_once(0);
    let usage = server.requests()[0].usage;
    let tokens = usage.input_total() + usage.output_tokens;
    for (threshold, expected) in [(tokens / 2, 0), (1, 1)] {
        home.write(home.dormouse_home().join("settings.json"), set(threshold));
        talk_once(expected);
    }
    server.finish();
}

/// In the middle of a turn three calls have to come as well.
#[test]
fn then_after_three_calls() {
    let server = server(WireFormat::Anthropic).fork_with(writes("x")).start();
    let settings = r#"{"sessionNotes":{"firstTokens":1,"everyTokens":500}}"#;
    let home = home_of(&server, settings);
    let (first, second) = (Gate::new(), Gate::new());
    server.push(look("t1"));
    server.push(Reply::from(look("t2")).gate_after(1, &first));
    server.push(look("t3"));
    server.push(look("t4"));
    server.push(Reply::from(ScriptedTurn::new().text("all done")).gate_after(1, &second));
    let mut running = home.spawn(&mut ask(&home, &["go"]));
    running.close_stdin();
    wait_until("the first notes", || jobs(&home).len() == 1);
    first.open();
    wait_until("the second notes", || jobs(&home).len() == 2);
    second.open();
    running.wait().success();
    let forks = server.fork_requests();
    let begun: Vec<&RecordedRequest> = forks.iter().filter(|fork| is_first(fork)).collect();
    assert_eq!(begun.len(), 2);
    let knows = |fork: &RecordedRequest, id: &str| fork.text().contains(&format!("\"{id}\""));
    assert!(knows(begun[0], "t1") && !knows(begun[0], "t2"));
    assert!(knows(begun[1], "t4"), "after t2 and t3 it was too early");
    server.finish();
}

/// A moment that comes while a run is under way is passed over.
#[test]
fn one_run_at_a_time() {
    let (slow, end) = (Gate::new(), Gate::new());
    let (waits, mut write) = (slow.clone(), writes("x"));
    let answer = move |request: &RecordedRequest| match write(request) {
        Reply::Turn(turn) => Reply::from(turn).gate_after(1, &waits),
        other => other,
    };
    let server = server(WireFormat::Anthropic).fork_with(answer).start();
    let home = home_of(&server, EAGER);
    for id in ["t1", "t2", "t3"] {
        server.push(look(id));
    }
    server.push(Reply::from(ScriptedTurn::new().text("all done")).gate_after(1, &end));
    let mut running = home.spawn(&mut ask(&home, &["go"]));
    running.close_stdin();
    end.wait_until_reached();
    slow.wait_until_reached();
    assert_eq!(server.fork_requests().len(), 1);
    slow.open();
    wait_until("the notes", || jobs(&home).len() == 1);
    let reach: Value = serde_json::from_str(&read_file(&only_folder(&home), "reach.json")).unwrap();
    let transcript = crate::program::transcript(&home);
    let first = line_of(&transcript, "tool_result");
    assert!(first.contains(reach["message"].as_str().unwrap()), "they reach to where it began");
    end.open();
    running.wait().success();
    server.finish();
}

#[test]
fn a_session_that_goes_on_has_its_notes_and_their_reach() {
    let server = server(WireFormat::Anthropic).fork_with(writes("first")).start();
    let home = home_of(&server, EAGER);
    run_until(&home, &["look"], &long_turn(&server, "t1"), 1);
    let folder = only_folder(&home);
    let (notes, reach) = (read_file(&folder, "summary.md"), read_file(&folder, "reach.json"));
    // No tokens have come that would make them due.
    let patient = r#"{"sessionNotes":{"firstTokens":1,"everyTokens":50000}}"#;
    home.write(home.dormouse_home().join("settings.json"), with_notes(patient));
    server.push(look("t2"));
    server.push(ScriptedTurn::new().text("nothing new"));
    home.run(&mut ask(&home, &["-c", "and?"])).success();
    assert_eq!(server.fork_requests().len(), 1);
    assert_eq!(
        (read_file(&folder, "summary.md"), read_file(&folder, "reach.json")),
        (notes, reach)
    );
    // With the next that are due the fork is shown what stands there.
    home.write(home.dormouse_home().join("settings.json"), with_notes(EAGER));
    run_until(&home, &["-c", "again"], &long_turn(&server, "t3"), 2);
    assert!(server.fork_requests()[1].text().contains("next step_\\nfirst\\n"));
    let reach: Value = serde_json::from_str(&read_file(&folder, "reach.json")).unwrap();
    let transcript = crate::program::transcript(&home);
    let t3 = transcript.lines().rfind(|line| line.contains("\"tool_result\"")).unwrap();
    assert!(t3.contains(reach["message"].as_str().unwrap()));
    server.finish();
}

#[test]
fn switched_off_there_is_no_request_and_no_file() {
    let off = |layer: &str| {
        let on = if layer == "session_notes" { "" } else { r#","session_notes":true"# };
        with_more(&format!(r#""layers":{{"{layer}":false{on}}}"#))
    };
    let cases = [
        (off("session_notes"), vec!["go"]),
        (off("auto_compact"), vec!["go"]),
        (EAGER.to_owned(), vec!["--bare", "go"]),
        // As shipped.
        (with_more(r#""layers":{}"#), vec!["go"]),
    ];
    for (settings, arguments) in cases {
        let server = server(WireFormat::Anthropic).start();
        let home = home_of(&server, &settings);
        server.push(look("t1"));
        server.push(ScriptedTurn::new().text("done"));
        home.run(&mut ask(&home, &arguments)).success();
        assert!(server.fork_requests().is_empty() && folders(&home).is_empty());
        server.finish();
    }
}

#[test]
fn ones_own_template_and_prompt_stay_to_the_byte() {
    let template = "# Plan {{x}}\n_what {{currentNotes}} and $1 mean_\n\n# Current State\n_now_\n";
    let prompt = "Keep {{notesPath}} {{unknown}} $& as it is:\n[{{currentNotes}}] $1";
    let filled = "_now_\nprice: $1, {{notesPath}}, {{currentNotes}}\n";
    let server = server(WireFormat::Anthropic)
        .fork_with(move |request| {
            if is_first(request) {
                edit(&notes_path(request), "_now_\n", filled).into()
            } else {
                ScriptedTurn::new().text("done").into()
            }
        })
        .start();
    let home = home_of(&server, EAGER);
    let config = home.dormouse_home().join("session-memory/config");
    home.write(config.join("template.md"), template);
    home.write(config.join("prompt.md"), prompt);
    run_until(&home, &["go"], &long_turn(&server, "t1"), 1);
    let folder = only_folder(&home);
    let path = folder.join("summary.md");
    let path = path.canonicalize().unwrap();
    let asked = |fork: &RecordedRequest| {
        let texts = crate::talk::texts(&fork.last_message());
        texts.into_iter().find(|text| text.starts_with("<forked-conversation>")).unwrap()
    };
    let expected = |notes: &str| {
        let path = path.display();
        format!("<forked-conversation>\nKeep {path} {{{{unknown}}}} $& as it is:\n[{notes}] $1")
    };
    assert_eq!(asked(&server.fork_requests()[0]), expected(template));
    let notes = template.replace("_now_\n", filled);
    assert_eq!(read(&path), notes);

    // What stands in the notes is not filled in the next time either.
    run_until(&home, &["-c", "more"], &long_turn(&server, "t2"), 2);
    assert_eq!(asked(&server.fork_requests()[1]), expected(&notes));

    home.write(config.join("template.md"), "no heading at all\n");
    server.push(ScriptedTurn::new().text("ok"));
    server.expect_break("another session");
    let output = home.run(&mut ask(&home, &["new"]));
    assert!(output.success().stderr.contains("template.md is not used"), "{}", output.stderr);
    server.finish();
}

#[test]
fn the_notes_are_shown_and_name_the_session() {
    let server = server(WireFormat::Anthropic)
        .fork_with(|request| {
            if is_first(request) {
                edit(&notes_path(request), TITLE, &format!("{TITLE}Nuts before winter\n")).into()
            } else {
                ScriptedTurn::new().text("done").into()
            }
        })
        .start();
    let home = home_of(&server, EAGER);
    let mut terminal = talk(&home, &[], (100, 60));
    terminal.enter("/notes");
    terminal.wait_for_text("No session notes");
    wait_for_prompt(&terminal);
    server.push(ScriptedTurn::new().text("I see."));
    say(&mut terminal, "look after them", "I see.");
    wait_until("the notes", || jobs(&home).len() == 1);
    // Nothing else was sent meanwhile: it reads exactly what the conversation's last request wrote.
    let (main, fork) = (server.requests().remove(0), server.fork_requests().remove(0));
    assert_eq!(fork.usage.cache_read_input_tokens, main.written);
    terminal.enter("/notes");
    terminal.wait_for_text("# Worklog");
    let shown = terminal.all_rows().join("\n");
    assert!(shown.contains("summary.md") && shown.contains("Nuts before winter"), "{shown}");
    wait_for_prompt(&terminal);
    leave(terminal);
    let listed = home.run(&mut dormouse(&home, &["sessions"])).success().stdout.clone();
    assert!(listed.contains("Nuts before winter") && !listed.contains("look after"), "{listed}");
    let listed = home.run(&mut dormouse(&home, &["sessions", "--json"])).success().stdout.clone();
    assert!(listed.contains(r#""title": "Nuts before winter""#), "{listed}");
    server.finish();
}

/// Two at once in one project: each keeps its own.
#[test]
fn two_processes_keep_two_notes() {
    let servers =
        ["one", "two"].map(|line| server(WireFormat::Anthropic).fork_with(writes(line)).start());
    let mut home = home_of(&servers[0], EAGER);
    let gates = [0, 1].map(|at| long_turn(&servers[at], "t1"));
    let mut programs = Vec::new();
    for server in &servers {
        home.use_server(server);
        let mut running = home.spawn(&mut ask(&home, &["go"]));
        running.close_stdin();
        programs.push(running);
    }
    wait_until("both notes", || jobs(&home).len() == 2);
    gates.iter().for_each(Gate::open);
    for program in programs {
        program.wait().success();
    }
    let folders = folders(&home);
    let mut notes: Vec<String> = folders.iter().map(|own| read_file(own, "summary.md")).collect();
    notes.sort_by_key(|notes| notes.contains("\ntwo\n"));
    assert!(notes.len() == 2 && notes[0].contains("\none\n") && notes[1].contains("\ntwo\n"));
    servers.into_iter().for_each(ScriptedServer::finish);
}

/// A home behind a link: the gate knows the file by where it really is.
#[test]
fn a_home_behind_a_link() {
    let server = server(WireFormat::Anthropic).fork_with(writes("counting")).start();
    let mut home = home_of(&server, EAGER);
    let link = home.root().join("link");
    std::os::unix::fs::symlink(home.dormouse_home(), &link).unwrap();
    home.set_env("DORMOUSE_HOME", &link);
    run_until(&home, &["go"], &long_turn(&server, "t1"), 1);
    assert!(read_file(&only_folder(&home), "summary.md").contains("\ncounting\n"));
    server.finish();
}
