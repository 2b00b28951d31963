//! The profiler beside the session's own log (C-26): sessions of the real program in which every layer acts, in both
//! formats, with a cache and without. What `dormouse context` reads from a transcript equals what the program wrote to
//! the log while it ran. The log is read here line by line, by nothing that the profiler uses.

use std::collections::BTreeMap;

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{End, RecordedRequest, Reply, ScriptedServer, TestHome, WireFormat};
use serde_json::{Value, json};

use crate::compacting::{SUMMARY, fill, home, long_prompt, say as prompt, small, summaries};
use crate::notes_compaction::compacted_from_notes;
use crate::program::{ask, dormouse, server};
use crate::talk::{leave, say, talk};

const MODEL: &str = "claude-sonnet-4-5";
const LATER: &str = "2026-11-02T12:00:00Z";
const ANTHROPIC: WireFormat = WireFormat::Anthropic;
const OPENAI: WireFormat = WireFormat::OpenAi;

/// Calls that each bring about a thousand tokens, and an end.
fn looks(server: &ScriptedServer, numbers: std::ops::Range<u32>) {
    for number in numbers {
        server.push(ScriptedTurn::new().call(
            format!("c{number}"),
            "Bash",
            r#"{"command":"cat nuts.txt"}"#,
        ));
    }
    server.push(ScriptedTurn::new().text("looked"));
}

fn larder(server: &ScriptedServer) -> TestHome {
    let mut home = TestHome::new().with_server(server);
    home.set_env("DORMOUSE_REPEATED_CALLS", "0");
    home.write("nuts.txt", "a nut in the larder\n".repeat(200));
    home
}

fn done(server: &ScriptedServer, home: &TestHome, words: &str) {
    server.push(ScriptedTurn::new().text("done"));
    home.run(&mut ask(home, &["-c", words])).success();
}

fn plain(wire: WireFormat, minimum_cacheable: u64) -> TestHome {
    let server = server(wire).model(MODEL).minimum_cacheable(minimum_cacheable).start();
    let home = larder(&server);
    looks(&server, 0..2);
    home.run(&mut ask(&home, &["count"])).success();
    done(&server, &home, "and again");
    server.finish();
    home
}

/// A pause after which old results are cleared, and another.
fn cleared(wire: WireFormat, model: &str) -> TestHome {
    let server = server(wire).model(model).start();
    let mut home = larder(&server);
    home.set_env("DORMOUSE_TIME_CLEARING", "1");
    looks(&server, 0..7);
    home.run(&mut ask(&home, &["count"])).success();
    for (moment, numbers) in [(LATER, 7..9), ("2026-11-02T18:00:00Z", 9..11)] {
        home = home.with_now(moment);
        server.allow_breaks("cleared after a pause", 1);
        looks(&server, numbers);
        home.run(&mut ask(&home, &["-c", "hours later"])).success();
    }
    server.finish();
    home
}

fn snipped(wire: WireFormat) -> TestHome {
    let server = small(wire).model(MODEL).start();
    let mut home = home(&server);
    home.write("nuts.txt", "a nut in the larder\n".repeat(200));
    home.set_env("DORMOUSE_SNIP", "1");
    home.set_env("DORMOUSE_AUTO_COMPACT", "0");
    looks(&server, 0..12);
    server.allow_breaks("snip", 4);
    home.run(&mut ask(&home, &["count"])).success();
    server.finish();
    home
}

fn snipped_by_hand() -> TestHome {
    let server = server(ANTHROPIC).model(MODEL).start();
    let home = larder(&server);
    looks(&server, 0..6);
    home.run(&mut ask(&home, &["count"])).success();
    let mut terminal = talk(&home, &["-c"], (100, 24));
    say(&mut terminal, "/snip", "left out");
    server.expect_break("snip");
    server.push(ScriptedTurn::new().text("I go on"));
    say(&mut terminal, "go on", "I go on");
    leave(terminal);
    server.finish();
    home
}

fn collapsed(expand: bool) -> TestHome {
    let server = server(ANTHROPIC)
        .model(MODEL)
        .window(24_000)
        .max_output(4_000)
        .fork_with(|_| ScriptedTurn::new().text("<summary>the larder was seen</summary>").into())
        .start();
    let mut home = larder(&server);
    home.set_env("DORMOUSE_CONTEXT_WINDOW", "24000");
    home.set_env("DORMOUSE_CONTEXT_COLLAPSE", "1");
    looks(&server, 0..20);
    server.allow_breaks("collapse", 10);
    home.run(&mut ask(&home, &["count"])).success();
    if expand {
        let mut terminal = talk(&home, &["-c"], (100, 24));
        say(&mut terminal, "/expand", "messages restored");
        server.push(ScriptedTurn::new().text("I see them"));
        say(&mut terminal, "go on", "I see them");
        leave(terminal);
    }
    server.finish();
    home
}

/// Deletions in the server's cache; then what takes them out again.
fn cache_edits(after: &str) -> TestHome {
    let server = server(ANTHROPIC).model(MODEL).knows_cache_edits().start();
    let mut home = larder(&server);
    home.set_env("DORMOUSE_CACHE_EDITS", "1");
    let settings = json!({"cacheEdits": {"above": 6, "keep": 2}});
    home.write(home.dormouse_home().join("settings.json"), settings.to_string());
    looks(&server, 0..13);
    home.run(&mut ask(&home, &["count"])).success();
    match after {
        "off" => home.set_env("DORMOUSE_CACHE_EDITS", "0"),
        "pause" => home = home.with_now(LATER),
        _ => {}
    }
    server.allow_breaks("deletions taken out", 1);
    done(&server, &home, "and on");
    server.finish();
    home
}

fn server_clearing() -> TestHome {
    let server = server(ANTHROPIC).model(MODEL).window(100_000).max_output(4_000).start();
    let mut home = TestHome::new().with_server(&server);
    home.set_env("DORMOUSE_REPEATED_CALLS", "0");
    home.set_env("DORMOUSE_SERVER_CLEARING", "1");
    home.set_env("DORMOUSE_CONTEXT_WINDOW", "100000");
    home.set_env("DORMOUSE_AUTO_COMPACT", "0");
    home.write("nuts.txt", "a nut in the larder\n".repeat(1_400));
    looks(&server, 0..14);
    home.run(&mut ask(&home, &["count"])).success();
    server.finish();
    home
}

/// One result that is too long, and ten that are so together.
fn stored(wire: WireFormat) -> TestHome {
    let mut ten = ScriptedTurn::new();
    for n in 0..10 {
        ten = ten.call(format!("c{n}"), "Bash", format!(r#"{{"command":"cat f{n}.txt"}}"#));
    }
    let server = server(wire)
        .model(MODEL)
        .window(1_000_000)
        .reply(ScriptedTurn::new().call("big", "Bash", r#"{"command":"cat big.txt"}"#))
        .reply(ten)
        .reply(ScriptedTurn::new().text("ok"))
        .start();
    let mut home = TestHome::new().with_server(&server);
    home.set_env("DORMOUSE_CONTEXT_WINDOW", "1000000");
    home.write("big.txt", "a line of the large file 睡鼠\n".repeat(9_000));
    for n in 0..10 {
        home.write(format!("f{n}.txt"), "0123456789".repeat(2_900 + n));
    }
    home.run(&mut ask(&home, &["hi"])).success();
    done(&server, &home, "and on");
    server.finish();
    home
}

/// By a summary of the model, or by the fold where it gives none.
fn compacted(wire: WireFormat, summary: &'static str) -> TestHome {
    let server = small(wire)
        .model(MODEL)
        .fork_with(move |_| ScriptedTurn::new().text(summary).into())
        .start();
    let home = home(&server);
    fill(&home, &server, 3);
    server.push(ScriptedTurn::new().text("after it"));
    server.expect_break("compaction");
    prompt(&home, &long_prompt(4), true);
    server.finish();
    home
}

/// By hand, and nothing after it.
fn compacted_by_hand() -> TestHome {
    let server = small(ANTHROPIC).fork_with(summaries()).start();
    let home = home(&server);
    fill(&home, &server, 2);
    let mut terminal = talk(&home, &["-c"], (100, 24));
    say(&mut terminal, "/compact", "compacted");
    leave(terminal);
    home
}

/// A subagent whose result is too long for its conversation.
fn with_subagent() -> TestHome {
    let server = server(ANTHROPIC)
        .model(MODEL)
        .agent_with(|request: &RecordedRequest| -> Reply {
            if request.text().contains("persisted-output") {
                return ScriptedTurn::new().text("it is large").into();
            }
            ScriptedTurn::new().call("s1", "Bash", r#"{"command":"cat big.txt"}"#).into()
        })
        .start();
    let mut home = TestHome::new().with_server(&server);
    home.set_env("DORMOUSE_REPEATED_CALLS", "0");
    home.write("big.txt", "a line of the large file\n".repeat(9_000));
    let input =
        json!({"description": "look", "prompt": "look at it", "subagent_type": "general-purpose"});
    server.push(ScriptedTurn::new().call("a1", "Agent", input.to_string()));
    server.push(ScriptedTurn::new().text("seen"));
    home.run(&mut ask(&home, &["send somebody"])).success();
    server.finish();
    home
}

/// Responses that break off: after a whole block, and before there is one.
fn broken_off(wire: WireFormat) -> TestHome {
    let server = server(wire).model(MODEL).start();
    let home = larder(&server);
    let turn = || ScriptedTurn::new().text("the answer").text("in two parts");
    server.push(Reply::from(turn()).stop_after(5).then(End::Fin));
    server.push(turn());
    home.run(&mut ask(&home, &["hi"])).success();
    done(&server, &home, "and on");
    server.finish();
    home
}

fn recalled() -> TestHome {
    let server = server(ANTHROPIC).model(MODEL).start();
    let home = larder(&server);
    let body = "The larder is counted with the counter of acorns.";
    crate::recall_turn::remember(
        &home,
        "acorn counter",
        "How acorns in the larder are counted",
        body,
    );
    looks(&server, 0..2);
    home.run(&mut ask(&home, &["how are acorns in the larder counted?"])).success();
    server.finish();
    home
}

type Recorded = (&'static str, fn() -> TestHome);

const SESSIONS: [Recorded; 24] = [
    ("plain", || plain(ANTHROPIC, 1)),
    ("plain, other format", || plain(OPENAI, 1)),
    ("without a cache", || plain(ANTHROPIC, 1_000_000)),
    ("without a cache, other format", || plain(OPENAI, 1_000_000)),
    ("cleared", || cleared(ANTHROPIC, MODEL)),
    ("cleared, other format", || cleared(OPENAI, "gpt-5")),
    ("cleared, bound thinking", || cleared(ANTHROPIC, "claude-opus-5-5")),
    ("snipped", || snipped(ANTHROPIC)),
    ("snipped, other format", || snipped(OPENAI)),
    ("snipped by hand", snipped_by_hand),
    ("collapsed", || collapsed(false)),
    ("collapsed and expanded", || collapsed(true)),
    ("cache edits", || cache_edits("nothing")),
    ("cache edits, then off", || cache_edits("off")),
    ("cache edits, then a pause", || cache_edits("pause")),
    ("server clearing", server_clearing),
    ("stored", || stored(ANTHROPIC)),
    ("stored, other format", || stored(OPENAI)),
    ("compacted", || compacted(ANTHROPIC, SUMMARY)),
    ("folded, other format", || compacted(OPENAI, " ")),
    ("compacted by hand", compacted_by_hand),
    ("compacted from notes", compacted_from_notes),
    ("with a subagent", with_subagent),
    ("broken off", || broken_off(ANTHROPIC)),
];

/// Counters in the order of the log's fields, and dollars.
#[derive(Debug, Default, PartialEq)]
struct Sum {
    counters: [u64; 4],
    cost_usd: f64,
}

impl Sum {
    fn add(&mut self, usage: &Value, cost: &Value) {
        let names = [
            "input_tokens",
            "cache_creation_input_tokens",
            "cache_read_input_tokens",
            "output_tokens",
        ];
        for (sum, name) in self.counters.iter_mut().zip(names) {
            *sum += usage[name].as_u64().unwrap();
        }
        self.cost_usd += cost.as_f64().unwrap_or(0.0);
    }

    fn of<'a>(totals: impl IntoIterator<Item = &'a Value>) -> Self {
        let mut sum = Self::default();
        totals.into_iter().for_each(|total| sum.add(&total["usage"], &total["cost_usd"]));
        sum
    }

    #[track_caller]
    fn same(&self, other: &Self, what: &str) {
        assert_eq!(self.counters, other.counters, "{what}");
        assert!((self.cost_usd - other.cost_usd).abs() < 1e-9, "{what}: {self:?} {other:?}");
    }
}

/// How often each layer acted, and what it freed.
type Layers = BTreeMap<String, (u64, u64)>;

fn log_of(home: &TestHome) -> Vec<Value> {
    let folder = home.dormouse_home().join("figures").read_dir().unwrap();
    let files = folder.map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap());
    files
        .flat_map(|text| {
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<_>>()
        })
        .collect()
}

fn logged_layers(log: &[Value]) -> Layers {
    let mut layers = Layers::new();
    for line in log.iter().filter(|line| line["kind"] == "layer") {
        let sum = layers.entry(line["name"].as_str().unwrap().to_owned()).or_default();
        *sum = (sum.0 + 1, sum.1 + line["freed_tokens"].as_u64().unwrap());
    }
    layers
}

fn profiled_layers(profile: &Value) -> Layers {
    let mut layers = Layers::new();
    let subagents = profile["subagents"].as_array().unwrap().iter();
    for of in std::iter::once(profile).chain(subagents) {
        let fired = of["layers"].as_array().unwrap().iter();
        for layer in fired.filter(|layer| layer["status"] == "fired") {
            let sum = layers.entry(layer["layer"].as_str().unwrap().to_owned()).or_default();
            *sum = (
                sum.0 + layer["runs"].as_u64().unwrap(),
                sum.1 + layer["freed_tokens"].as_u64().unwrap(),
            );
        }
    }
    layers
}

/// Compares the profile of the only session with its log; gives the layers that acted.
#[track_caller]
fn check(name: &str, home: &TestHome) -> Layers {
    let files = home.transcripts();
    assert_eq!(files.len(), 1, "{name}");
    let id = files[0].file_stem().unwrap().to_str().unwrap();
    let output = home.run(&mut dormouse(home, &["context", id, "--json"]));
    let profile: Value = serde_json::from_str(&output.success().stdout).unwrap();
    assert!(!output.stderr.contains("the session's log"), "{name}: {}", output.stderr);
    let log = log_of(home);
    let requests: Vec<&Value> = log.iter().filter(|line| line["kind"] == "request").collect();
    let main = requests.iter().filter(|line| line["lane"] == "main").copied();
    Sum::of(main).same(&Sum::of([&profile["total"]]), name);
    let agents = requests.iter().filter(|line| line["purpose"] == "agent").copied();
    let subagents = profile["subagents"].as_array().unwrap();
    Sum::of(agents).same(&Sum::of(subagents.iter().map(|agent| &agent["total"])), name);
    Sum::of(requests).same(&Sum::of([&profile["log"]["total"]]), name);
    let layers = logged_layers(&log);
    assert_eq!(profiled_layers(&profile), layers, "{name}");
    for layer in profile["layers"].as_array().unwrap() {
        // What is on as shipped was on, unless this session was run without it.
        let variable = format!("DORMOUSE_{}", layer["layer"].as_str().unwrap().to_uppercase());
        let is_off = home.environment().get(&variable) == Some("0");
        let is_on = layer["default_on"] == true && !is_off;
        assert!(!is_on || layer["status"] != "simulated", "{name}: {layer}");
    }
    let cached: u64 = Sum::of([&profile["total"]]).counters[1..3].iter().sum();
    let word = if cached > 0 { "used" } else { "none" };
    assert_eq!(profile["total"]["cache"], word, "{name}");
    let text = home.run(&mut dormouse(home, &["context", id])).success().stdout.clone();
    assert_eq!(text.contains("cache   none"), cached == 0, "{name}: {text}");
    layers
}

#[test]
fn the_profile_of_a_session_is_its_own_log() {
    let mut acted = Layers::new();
    std::thread::scope(|scope| {
        let part = |sessions: &'static [Recorded]| {
            let run = |(name, record): &Recorded| check(name, &record());
            scope.spawn(move || sessions.iter().map(run).collect::<Vec<Layers>>())
        };
        let parts: Vec<_> = SESSIONS.chunks(6).map(part).collect();
        for layers in parts.into_iter().flat_map(|part| part.join().unwrap()) {
            acted.extend(layers);
        }
    });
    let names: Vec<&str> = acted.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "auto_compact",
            "cache_edits",
            "collapse",
            "notes_compaction",
            "server_clearing",
            "snip",
            "stored_results",
            "time_clearing"
        ]
    );
}

#[test]
fn recalled_memories_and_a_response_that_left_nothing() {
    check("recalled", &recalled());
    // Its input was paid for, and no line of the transcript can say so.
    let server = server(ANTHROPIC).model(MODEL).start();
    let home = larder(&server);
    server.push(Reply::from(ScriptedTurn::new().text("lost")).stop_after(2).then(End::Fin));
    server.push(ScriptedTurn::new().text("the answer"));
    home.run(&mut ask(&home, &["hi"])).success();
    let id = home.transcripts()[0].file_stem().unwrap().to_str().unwrap().to_owned();
    let output = home.run(&mut dormouse(&home, &["context", &id, "--json"]));
    assert!(output.success().stderr.contains("1 more requests"), "{}", output.stderr);
    // Without its log, what the transcript has is told all the same.
    std::fs::remove_dir_all(home.dormouse_home().join("figures")).unwrap();
    let output = home.run(&mut dormouse(&home, &["context", &id, "--json"]));
    assert_eq!(
        serde_json::from_str::<Value>(&output.success().stdout).unwrap()["log"],
        Value::Null
    );
    server.finish();
}
