//! The log of figures, written by the real program: it adds up to what the server counted.

use std::time::Duration;

use dormouse_conversation::Usage;
use dormouse_conversation::metrics::{
    Metric, MetricsFilter, MetricsLog, MetricsSummary, RequestOutcome, read_metrics,
    summarize_metrics,
};
use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{Gate, Reply, ScriptedServer, TestHome, WireFormat};

use crate::program::{BOTH, ask, server};

fn folder(home: &TestHome) -> std::path::PathBuf {
    MetricsLog::folder_in(&home.dormouse_home())
}

fn summary(home: &TestHome) -> MetricsSummary {
    summarize_metrics(&folder(home), &MetricsFilter::default()).unwrap()
}

fn figures(home: &TestHome) -> Vec<Metric> {
    let mut found = Vec::new();
    read_metrics(&folder(home), &MetricsFilter::default(), &mut |entry| found.push(entry.metric))
        .unwrap();
    found
}

fn log(home: &TestHome) -> String {
    let files = folder(home).read_dir().unwrap();
    files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap()).collect()
}

fn counted(server: &ScriptedServer) -> Usage {
    server.requests().iter().fold(Usage::default(), |sum, request| sum.plus(request.usage))
}

#[test]
fn figures_add_up_to_what_the_server_counted() {
    for wire in BOTH {
        let server = server(wire)
            .reply(ScriptedTurn::new().call("t1", "Bash", r#"{"command":"cat big.txt"}"#))
            .reply(Reply::overloaded_529())
            .reply(ScriptedTurn::new().call("t2", "Bash", r#"{"command":"touch new"}"#))
            .reply(ScriptedTurn::new().call("t3", "Secret-Name", r#"{"a":"b"}"#))
            .reply(ScriptedTurn::new().text("done"))
            .reply(ScriptedTurn::new().text("again"))
            .start();
        let home = TestHome::new().with_server(&server);
        home.write("big.txt", "a line of the large file\n".repeat(9_000));
        home.run(&mut ask(&home, &["a question"])).success();
        home.run(&mut ask(&home, &["-c", "and again"])).success();
        let summary = summary(&home);
        assert_eq!(summary.total.requests, server.requests().len() as u64);
        assert_eq!(summary.total.usage, counted(&server));
        assert!(summary.total.usage.cache_read_input_tokens > 0);
        assert_eq!((summary.total.failed, summary.sessions), (1, 1));
        assert_eq!(summary.by_purpose.keys().collect::<Vec<_>>(), ["main"]);
        assert_eq!(summary.by_model.keys().collect::<Vec<_>>(), [server.model()]);
        let bash = summary.tools["Bash"];
        assert_eq!((bash.calls, bash.denied, bash.stored_bytes), (2, 1, 9_000 * 25 - 1));
        assert_eq!(summary.tools["(unknown)"].failed, 1);
        let stored = summary.layers["stored_results"];
        assert_eq!((stored.fired, stored.changed), (1, 1));
        assert!(stored.freed_tokens > 50_000, "{stored:?}");
        assert_eq!((summary.unreadable_lines, summary.cache_breaks.len()), (0, 0));
        // Nothing that was said, asked for or answered, and no key.
        for word in ["question", "again", "large file", "touch", "Secret-Name", home.key()] {
            assert!(!log(&home).contains(word), "{word}");
        }
        server.finish();
    }
}

#[test]
fn a_cache_break_is_in_the_figure_of_its_request() {
    let server = server(WireFormat::Anthropic)
        .reply(ScriptedTurn::new().text("word ".repeat(4_000)))
        .reply(ScriptedTurn::new().text("two"))
        .reply(ScriptedTurn::new().text("three"))
        .start();
    let home = TestHome::new().with_server(&server);
    home.run(&mut ask(&home, &[&"word ".repeat(4_000)])).success();
    home.run(&mut ask(&home, &["-c", "hi"])).success();
    server.advance(Duration::from_hours(2));
    home.run(&mut ask(&home, &["-c", "hi"])).success();
    let breaks: Vec<Option<String>> = figures(&home)
        .into_iter()
        .filter_map(|figure| match figure {
            Metric::Request(request) => Some(request.cache_break.map(|found| found.cause)),
            _ => None,
        })
        .collect();
    assert_eq!(breaks, [None, None, Some("unknown".to_owned())]);
    server.finish();
}

#[test]
fn an_interrupted_request_is_a_figure_too() {
    let gate = Gate::new();
    let server = server(WireFormat::Anthropic)
        .reply(Reply::from(ScriptedTurn::new().text("one two three four")).gate_after(3, &gate))
        .start();
    let home = TestHome::new().with_server(&server);
    let mut running = home.spawn(&mut ask(&home, &["hi"]));
    running.close_stdin();
    gate.wait_until_reached();
    running.interrupt();
    running.wait().expect_code(130);
    let outcomes: Vec<RequestOutcome> = figures(&home)
        .into_iter()
        .filter_map(|figure| match figure {
            Metric::Request(request) => Some(request.outcome),
            _ => None,
        })
        .collect();
    assert_eq!(outcomes, [RequestOutcome::Interrupted]);
    gate.open();
}

/// Principle: what only measures never disturbs. But it does not keep quiet about it either.
#[test]
fn figures_that_can_not_be_written_disturb_nothing_and_are_told_once() {
    let server = server(WireFormat::Anthropic)
        .reply(ScriptedTurn::new().call("t1", "Bash", r#"{"command":"true"}"#))
        .reply(ScriptedTurn::new().text("the answer"))
        .start();
    let mut home = TestHome::new().with_server(&server);
    home.set_env("DORMOUSE_FAULT", "enospc@base.append_shared");
    let output = home.run(&mut ask(&home, &["hi"]));
    assert_eq!(output.success().stdout, "the answer\n");
    assert_eq!(
        output.stderr.matches("metrics for `dormouse stats`").count(),
        1,
        "{}",
        output.stderr
    );
    assert_eq!(output.stderr.matches("/figures/").count(), 1, "{}", output.stderr);
    assert_eq!(output.stderr.lines().count(), 1, "{}", output.stderr);
    assert!(output.stderr.contains("No space left on device"), "{}", output.stderr);
    server.finish();
}

/// Several programs at once: no line is lost or mixed with another.
#[test]
fn programs_side_by_side_share_the_log() {
    let server =
        server(WireFormat::Anthropic).reply_with(|_| ScriptedTurn::new().text("ok").into()).start();
    server.expect_break("sessions side by side");
    let home = TestHome::new().with_server(&server);
    let running: Vec<_> = (0..6).map(|_| home.spawn(&mut ask(&home, &["hi"]))).collect();
    for mut program in running {
        program.close_stdin();
        program.wait().success();
    }
    let summary = summary(&home);
    assert_eq!((summary.total.requests, summary.sessions, summary.unreadable_lines), (6, 6, 0));
}
