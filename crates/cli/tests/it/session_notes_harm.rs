//! Session notes and forks that mean harm, blunder or never end: the notes stay what they were, the turn is
//! never disturbed.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use dormouse_conversation::metrics::{BreakerState, JobOutcome, Metric};
use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{End, Gate, RecordedRequest, Reply, ScriptedServer, WireFormat};
use serde_json::json;

use crate::program::{ask, dormouse, server, wait_until};
use crate::session_notes::{
    EAGER, edit, figures, home_of, is_first, jobs, long_turn, look, notes_path, only_folder, read,
    run_until, with_more,
};

/// What a fork does in its first answer.
type Deed = Box<dyn Fn(&str) -> Reply + Send>;

/// Deeds, one a run; behind each an answer that ends the run.
#[derive(Clone, Default)]
struct Deeds(Arc<Mutex<VecDeque<Deed>>>);

impl Deeds {
    fn push(&self, deed: impl Fn(&str) -> Reply + Send + 'static) {
        self.0.lock().unwrap().push_back(Box::new(deed));
    }

    fn server(&self) -> ScriptedServer {
        let deeds = self.clone();
        let answer = move |request: &RecordedRequest| {
            if !is_first(request) {
                return ScriptedTurn::new().text("done").into();
            }
            let deed = deeds.0.lock().unwrap().pop_front().unwrap();
            deed(&notes_path(request))
        };
        server(WireFormat::Anthropic).fork_with(answer).start()
    }
}

const HEADING: &str = "# Current State\n";
const TITLE: &str = "_Five to ten words that tell this session from all others; no filler_\n";

fn write(path: &str, content: &str) -> Reply {
    let input = json!({"file_path": path, "content": content}).to_string();
    ScriptedTurn::new().call("w", "Write", input).into()
}

fn titled(path: &str) -> Reply {
    edit(path, TITLE, &format!("{TITLE}Nuts\n")).into()
}

/// More than any answer holds: a thousand letters, each of which becomes a thousand others.
fn a_megabyte(path: &str) -> Reply {
    let turn = edit(path, TITLE, &format!("{TITLE}{}\n", "Q".repeat(1_000)));
    let input = json!({
        "file_path": path, "old_string": "Q", "new_string": "x".repeat(1_000), "replace_all": true,
    });
    turn.call("n2", "Edit", input.to_string()).into()
}

#[test]
fn a_fork_that_damages_the_notes_has_changed_nothing() {
    let deeds = Deeds::default();
    let server = deeds.server();
    let home = home_of(&server, EAGER);
    deeds.push(titled);
    run_until(&home, &["begin"], &long_turn(&server, "t0"), 1);
    let folder = only_folder(&home);
    let good = (read(folder.join("summary.md")), read(folder.join("reach.json")));
    let template = read(folder.join("template.md"));
    assert!(good.0.contains("Nuts"));

    let mut harm: Vec<Deed> = vec![
        Box::new(|path| edit(path, HEADING, "# Current state\n").into()),
        Box::new(|path| edit(path, HEADING, "").into()),
        Box::new(|path| edit(path, TITLE, "Title:\n").into()),
        Box::new(|path| edit(path, "# Worklog\n", "# Worklog\n\n# Worklog\n").into()),
        Box::new(|path| write(path, "")),
        Box::new(a_megabyte),
        Box::new(|path| {
            let half = format!(r#"{{"file_path":"{path}","old_string":"Nu"#);
            ScriptedTurn::new().call("h", "Edit", half).into()
        }),
        Box::new(|_| ScriptedTurn::new().text("I would rather not.").into()),
        // It does one edit, and its answer is cut off: nobody knows what else it meant to do.
        Box::new(|path| {
            Reply::from(edit(path, "Nuts\n", "Nuts!\n")).stop_after(3).then(End::Reset)
        }),
    ];
    harm.push(Box::new(move |path| write(path, &template)));
    let half_a_section = "# Learnings\n_What worked well, what did not, what to avoid; nothing that stands in another section_\n";
    harm.push(Box::new(move |path| edit(path, half_a_section, "").into()));
    for (at, deed) in harm.into_iter().enumerate() {
        // A request that breaks off is tried twice more.
        let deed = Arc::new(Mutex::new(deed));
        for _ in 0..3 {
            let deed = Arc::clone(&deed);
            deeds.push(move |path| deed.lock().unwrap()(path));
        }
        run_until(&home, &["-c", "go on"], &long_turn(&server, &format!("t{}", at + 1)), at + 2);
        deeds.0.lock().unwrap().clear();
        let now = (read(folder.join("summary.md")), read(folder.join("reach.json")));
        assert_eq!(now, good, "after deed {at}");
        assert_eq!(jobs(&home).last().unwrap().outcome, JobOutcome::Failed, "deed {at}");
        assert!(!folder.join("before.md").exists());
    }
    server.finish();
}

/// Whatever else it tries to call is denied, with a reason, and what it then does right counts.
#[test]
fn a_fork_can_do_nothing_else() {
    let outside = tempfile::tempdir().unwrap();
    let outside = outside.path().to_owned();
    let elsewhere = outside.clone();
    let answer = move |request: &RecordedRequest| {
        let path = notes_path(request);
        let folder = path.strip_suffix("/summary.md").unwrap();
        match answers_so_far(request) {
            0 => {}
            1 => return titled(&path),
            _ => return ScriptedTurn::new().text("done").into(),
        }
        std::fs::write(elsewhere.join("target.md"), "untouched").unwrap();
        let link = format!("{folder}/link.md");
        std::os::unix::fs::symlink(elsewhere.join("target.md"), &link).unwrap();
        let same = format!("{folder}/same.md");
        std::os::unix::fs::symlink(&path, &same).unwrap();
        let other = "0193b0a4-0000-7000-8000-000000000000/session-memory/summary.md";
        let neighbour = format!("{}/{other}", folder.rsplitn(3, '/').nth(2).unwrap());
        let up = format!("{folder}/../session-memory/summary.md");
        let planted = elsewhere.join("planted.md").display().to_string();
        let mut turn = ScriptedTurn::new();
        for (at, file) in [&planted, &up, &link, &same, &neighbour].into_iter().enumerate() {
            let input = json!({"file_path": file, "content": "x"}).to_string();
            turn = turn.call(format!("w{at}"), "Write", input);
            let input = json!({"file_path": file, "old_string": "", "new_string": "x"});
            turn = turn.call(format!("e{at}"), "Edit", input.to_string());
        }
        let touch = json!({"command": format!("touch {planted}")}).to_string();
        let memory = json!({"name": "a", "description": "b", "type": "project", "body": "c"});
        let fetch = json!({"url": "http://127.0.0.1:9/", "prompt": "x"}).to_string();
        turn.call("b1", "Bash", touch)
            .call("b2", "Bash", r#"{"command":"ls"}"#)
            .call("m1", "MemorySave", memory.to_string())
            .call("m2", "MemoryDelete", r#"{"name":"a","reason":"b"}"#)
            .call("f1", "WebFetch", fetch)
            .call("o1", "TodoWrite", r#"{"todos":[]}"#)
            .call("r1", "Read", json!({ "file_path": path }).to_string())
            .into()
    };
    let server = server(WireFormat::Anthropic).fork_with(answer).start();
    // What is allowed to the conversation is not allowed to the fork.
    let home = home_of(&server, &with_more(r#""permissions":{"defaultMode":"bypassPermissions"}"#));
    run_until(&home, &["go"], &long_turn(&server, "t1"), 1);

    let results = server.fork_requests()[1].last_message();
    let results = results["content"].as_array().unwrap();
    assert_eq!(results.len(), 17);
    for result in results {
        let text = result["content"].to_string();
        assert_eq!(result["is_error"], true, "{result}");
        assert!(text.contains("may not be"), "{text}");
        assert!(text.contains("You can change the file "), "it is told what it may do: {text}");
    }
    let job = &jobs(&home)[0];
    assert_eq!((job.denied, job.outcome), (17, JobOutcome::Completed));
    assert!(read(only_folder(&home).join("summary.md")).contains("\nNuts\n"));
    assert_eq!(read(outside.join("target.md")), "untouched");
    assert!(!outside.join("planted.md").exists());
    server.finish();
}

/// How many answers of its own a fork has in its request.
fn answers_so_far(request: &RecordedRequest) -> usize {
    let messages = request.raw_messages();
    messages.iter().rev().take_while(|message| !message.contains("<forked-conversation>")).count()
        / 2
}

/// After three in a row it rests, and says so in the figures.
#[test]
fn three_failures_are_enough() {
    let refuse = |_: &RecordedRequest| Reply::from(ScriptedTurn::new().text("no"));
    let server = server(WireFormat::Anthropic).fork_with(refuse).start();
    let home = home_of(&server, EAGER);
    let gates: Vec<Gate> = (0..5).map(|_| Gate::new()).collect();
    let call = |at: usize| look(format!("t{at}"));
    server.push(call(0));
    for (at, gate) in gates.iter().enumerate() {
        let turn = if at == 4 { ScriptedTurn::new().text("all done") } else { call(at + 1) };
        server.push(Reply::from(turn).gate_after(1, gate));
    }
    let mut running = home.spawn(&mut ask(&home, &["go"]));
    running.close_stdin();
    for (at, gate) in gates.iter().enumerate() {
        wait_until("the notes", || jobs(&home).len() == (at + 1).min(3));
        gate.wait_until_reached();
        gate.open();
    }
    assert_eq!(running.wait().success().stdout.trim(), "all done");
    assert_eq!((server.fork_requests().len(), jobs(&home).len()), (3, 3));
    let breakers: Vec<_> = figures(&home)
        .into_iter()
        .filter_map(|figure| match figure {
            Metric::Breaker(breaker) => Some((breaker.name, breaker.state)),
            _ => None,
        })
        .collect();
    assert_eq!(breakers, [("session_notes".to_owned(), BreakerState::Open)]);
    server.finish();
}

/// Half its edits made, and then no end: at the program's end the notes are what they were.
#[test]
fn a_fork_that_never_ends_is_dropped_with_the_program() {
    for killed in [false, true] {
        let runs = Arc::new(Mutex::new(0));
        let counted = Arc::clone(&runs);
        let answer = move |request: &RecordedRequest| -> Reply {
            let path = notes_path(request);
            let mut runs = counted.lock().unwrap();
            *runs += usize::from(is_first(request));
            match (*runs, is_first(request)) {
                (1 | 3, true) => titled(&path),
                // A call that is denied: it goes on.
                (2, true) => edit(&path, "Nuts\n", "Half of\n")
                    .call("n2", "Bash", r#"{"command":"true"}"#)
                    .into(),
                (2, false) => {
                    Reply::from(ScriptedTurn::new().text("…")).stop_after(1).then(End::Hang)
                }
                _ => ScriptedTurn::new().text("done").into(),
            }
        };
        let server = server(WireFormat::Anthropic).fork_with(answer).start();
        let home = home_of(&server, EAGER);
        run_until(&home, &["begin"], &long_turn(&server, "t0"), 1);
        let folder = only_folder(&home);
        let file = |name: &str| read(folder.join(name));
        let good = (file("summary.md"), file("reach.json"));

        let gate = long_turn(&server, "t1");
        let mut running = home.spawn(&mut ask(&home, &["-c", "go on"]));
        running.close_stdin();
        server.wait_for_fork_requests(3);
        assert!(file("summary.md").contains("Half of"));
        if killed {
            gate.wait_until_reached();
            running.kill9();
            drop(running.wait());
            gate.open();
            assert_eq!(file("before.md"), good.0, "left for whoever comes next");
        } else {
            gate.open();
            assert_eq!(running.wait().success().stdout.trim(), "all done");
            assert_eq!((file("summary.md"), file("reach.json")), good);
            assert!(!folder.join("before.md").exists());
        }
        let listed = home.run(&mut dormouse(&home, &["sessions"])).success().stdout.clone();
        assert!(listed.contains("Nuts") && !listed.contains("Half"), "{listed}");

        // The next run is shown what counts, and goes on from there.
        let ended = jobs(&home).len();
        run_until(&home, &["-c", "again"], &long_turn(&server, "t2"), ended + 1);
        let forks = server.fork_requests();
        let third = forks.iter().filter(|fork| is_first(fork)).nth(2).unwrap();
        assert!(third.text().contains("no filler_\\nNuts\\n"), "{}", third.text());
        assert!(file("summary.md").contains("Nuts\nNuts\n"));
        server.finish();
    }
}
