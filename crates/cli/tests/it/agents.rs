//! Agents below a conversation, in the real program: forks and named ones, in front and behind, deep and stopped (A-1 to
//! A-5, A-10).

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{
    Gate, RecordedRequest, Reply, ScriptedServer, TestHome, WireFormat, strip_cache_markers,
};
use serde_json::{Value, json};

use crate::compacting::text_of;
use crate::program::{BOTH, ask, dormouse, server, transcript, wait_until};
use crate::reaper::{in_project, runs};
use crate::talk::{leave, say, talk, wait_for_menu, wait_for_prompt};

/// A call of the tool.
pub(crate) fn start(id: &str, input: &Value) -> ScriptedTurn {
    ScriptedTurn::new().call(id, "Agent", input.to_string())
}

fn named(agent: &str, prompt: &str) -> Value {
    json!({"description": "look around a little", "prompt": prompt, "subagent_type": agent})
}

/// The side chains of the only session.
pub(crate) fn side_chains(home: &TestHome) -> Vec<String> {
    let folder = home.transcripts()[0].with_extension("").join("subagents");
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let files = entries.flatten().map(|entry| entry.path());
    let files = files.filter(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
    files.map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

/// How many subagents of the only session have a record of their run: it is written before the first request.
fn prepared_runs(home: &TestHome) -> usize {
    let folder = home.transcripts()[0].with_extension("").join("subagents");
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    entries.flatten().filter(|entry| entry.path().join("run.json").exists()).count()
}

/// Five forks of one answer: one prefix for all, which is the parent's, and only the order differs. The first goes
/// ahead; the others follow when its stream has begun.
#[test]
fn five_forks_share_one_prefix() {
    for wire in BOTH {
        let gate = Gate::new();
        let ahead = gate.clone();
        let first = Arc::new(Mutex::new(true));
        let streams = Arc::new(AtomicBool::new(false));
        let may_follow = Arc::clone(&streams);
        let server = server(wire)
            .fork_with(move |request: &RecordedRequest| -> Reply {
                let last = request.last_message().to_string();
                let number = (1..=5).find(|n| last.contains(&format!("count heap {n}"))).unwrap();
                let reply: Reply =
                    ScriptedTurn::new().text(format!("heap {number} has {number}0")).into();
                let goes_ahead = std::mem::replace(&mut *first.lock().unwrap(), false);
                assert!(goes_ahead || may_follow.load(SeqCst), "the others wait for the first");
                if goes_ahead { reply.gate_after(0, &ahead) } else { reply }
            })
            .start();
        let mut turn = ScriptedTurn::new().text("I'll count.");
        for number in 1..=5 {
            let input =
                json!({"description": "count a heap", "prompt": format!("count heap {number}")});
            turn = turn.call(format!("a{number}"), "Agent", input.to_string());
        }
        server.push(turn);
        server.push(ScriptedTurn::new().text("All counted."));
        let home = TestHome::new().with_server(&server);
        let mut running = home.spawn(&mut ask(&home, &["count the heaps"]));
        running.close_stdin();
        gate.wait_until_reached();
        wait_until("all five to be prepared", || prepared_runs(&home) == 5);
        streams.store(true, SeqCst);
        gate.open();
        let output = running.wait();
        assert_eq!(output.success().stdout, "All counted.\n");
        let forks = server.fork_requests();
        assert_eq!(forks.len(), 5);
        let plain: Vec<Vec<u8>> =
            forks.iter().map(|fork| strip_cache_markers(&fork.body)).collect();
        let differs = plain[0].windows(6).rposition(|part| part == b"count ").unwrap();
        for other in &plain {
            assert_eq!(other[..differs], plain[0][..differs], "one prefix, byte for byte");
        }
        let parent = &server.requests()[1];
        let shared = strip_cache_markers(&server.requests()[0].body);
        let shared = &shared[..shared.len() - 3];
        let parts = plain[0].iter().zip(shared).position(|(one, other)| one != other);
        let there =
            parts.map(|at| String::from_utf8_lossy(&shared[at.saturating_sub(60)..]).into_owned());
        assert_eq!(there, None, "and it is the parent's");
        assert_eq!(forks[0].tool_names(), parent.tool_names());
        let opening = forks[0].text();
        assert_eq!(opening.matches("Started; its result").count(), 5, "{opening}");
        // What the first wrote is what the others read.
        if wire == WireFormat::Anthropic {
            let read = |fork: &RecordedRequest| fork.usage.cache_read_input_tokens;
            let (first, rest) = (&forks[0], &forks[1..]);
            assert_eq!(read(first), server.requests()[0].written, "what the parent wrote");
            assert!(first.written > read(first), "{} {}", first.written, read(first));
            assert!(rest.iter().all(|fork| read(fork) == first.written), "all but the order");
        }
        let results = text_of(parent);
        for number in 1..=5 {
            assert!(results.contains(&format!("heap {number} has {number}0")), "{results}");
        }
        assert_eq!(side_chains(&home).len(), 5);
        server.finish();
    }
}

/// A named agent begins with nothing but its prompt and the task; its calls and answers are a side chain.
#[test]
fn a_named_agent_has_a_context_of_its_own() {
    for wire in BOTH {
        let server = server(wire)
            .agent_with(|request: &RecordedRequest| -> Reply {
                if request.text().contains("52 nuts") {
                    return ScriptedTurn::new().text("plan.md asks for 52 nuts.").into();
                }
                ScriptedTurn::new().call("r", "Read", r#"{"file_path":"plan.md"}"#).into()
            })
            .reply(start("a", &named("explore", "how many nuts does plan.md ask for?")))
            .reply(ScriptedTurn::new().text("52."))
            .start();
        let home = TestHome::new().with_server(&server);
        home.write("plan.md", "52 nuts\n");
        let output = home.run(&mut ask(&home, &["a secret of the user: look it up"]));
        assert_eq!(output.success().stdout, "52.\n");
        let agent = server.agent_requests();
        assert_eq!(agent.len(), 2);
        assert!(agent[0].system_text().contains("You look around in a code base"));
        assert!(!agent[0].text().contains("a secret of the user"));
        assert!(!agent[0].text().contains("Plan mode"), "it only reads, but hands in no plan");
        let stats = home.run(&mut dormouse(&home, &["stats"])).success().stdout.clone();
        assert!(stats.contains("agent "), "{stats}");
        let tools = agent[0].tool_names();
        assert!(tools.contains(&"Read".into()) && !tools.contains(&"Write".into()), "{tools:?}");
        assert!(!tools.contains(&"Agent".into()) && !tools.contains(&"MemorySave".into()));
        let result = text_of(&server.requests()[1]);
        assert!(result.contains("plan.md asks for 52 nuts."), "{result}");
        assert!(result.contains("[agent explore (explore) · 2 requests · 1 call · "), "{result}");
        let side = side_chains(&home).remove(0);
        assert!(side.contains("how many nuts") && side.contains("52 nuts"), "{side}");
        assert!(side.lines().all(|line| line.contains(r#""isSidechain":true,"agentId":""#)));
        // The conversation's own transcript has the call and its result, and nothing in between.
        assert!(!transcript(&home).contains(r#""isSidechain":true"#));
        server.finish();
    }
}

/// A read-only agent can not write, whatever the mode of the conversation is.
#[test]
fn an_agent_that_only_reads() {
    let server = server(WireFormat::Anthropic)
        .agent_with(|request: &RecordedRequest| -> Reply {
            if request.messages().len() > 1 {
                return ScriptedTurn::new().text("I could not.").into();
            }
            ScriptedTurn::new()
                .call("w", "Write", r#"{"file_path":"harm","content":"x"}"#)
                .call("b", "Bash", r#"{"command":"touch harm"}"#)
                .into()
        })
        .reply(start("a", &named("explore", "make a file")))
        .reply(ScriptedTurn::new().text("done"))
        .start();
    let home = TestHome::new().with_server(&server);
    home.run(&mut ask(&home, &["--permission-mode", "bypass", "go"])).success();
    let told = text_of(&server.agent_requests()[1]);
    assert!(told.contains("there is no tool named `Write`"), "{told}");
    assert!(!home.project().join("harm").exists());
}

/// In a run that nobody attends, what is in the background is waited for, and its result comes as a message.
#[test]
fn a_result_from_the_background() {
    let mut order = named("general-purpose", "count the nuts");
    order["run_in_background"] = json!(true);
    order["name"] = json!("counter");
    let gate = Gate::new();
    let behind = gate.clone();
    let server = server(WireFormat::Anthropic)
        .agent_with(move |_: &RecordedRequest| -> Reply {
            let reply: Reply = ScriptedTurn::new().text("There are 52 nuts.").into();
            reply.gate_after(0, &behind)
        })
        .reply(start("a", &order))
        .reply(ScriptedTurn::new().text("It is being counted."))
        .reply(ScriptedTurn::new().text("52 nuts, says the counter."))
        .start();
    let home = TestHome::new().with_server(&server);
    let mut running = home.spawn(&mut ask(&home, &["count"]));
    running.close_stdin();
    // The conversation has said all it had to say: only the agent is waited for.
    server.wait_for_requests(2);
    wait_until("the end of its answer", || transcript(&home).contains("It is being counted."));
    gate.open();
    let output = running.wait();
    assert!(output.success().stdout.ends_with("52 nuts, says the counter.\n"), "{}", output.stdout);
    let requests = server.requests();
    assert!(text_of(&requests[1]).contains("Started in the background as `counter`"));
    let message = requests[2].last_message().to_string();
    assert!(
        message.contains("The agent `counter` that you started in the background"),
        "{message}"
    );
    assert!(message.contains("There are 52 nuts."), "{message}");
    let delivered = transcript(&home);
    let line = delivered.lines().find(|line| line.contains(r#""delivers":[""#)).unwrap();
    assert!(line.contains("There are 52 nuts."), "the result and its id are one line");
    server.finish();
}

/// It arrives while the user types: said above what is typed, which stays, and told with what is said next.
#[test]
fn a_result_that_arrives_while_the_person_types() {
    let mut order = named("general-purpose", "count the nuts");
    order["run_in_background"] = json!(true);
    let gate = Gate::new();
    let behind = gate.clone();
    let server = server(WireFormat::Anthropic)
        .agent_with(move |_: &RecordedRequest| -> Reply {
            let reply: Reply = ScriptedTurn::new().text("There are 52 nuts.").into();
            reply.gate_after(0, &behind)
        })
        .reply(start("a", &order))
        .reply(ScriptedTurn::new().text("It is being counted."))
        .start();
    let home = TestHome::new().with_server(&server);
    let mut terminal = talk(&home, &[], (100, 40));
    say(&mut terminal, "count", "It is being counted.");
    terminal.type_keys("and then wh");
    terminal.wait_for_text("and then wh");
    gate.open();
    terminal.wait_for_text("← agent general-purpose is done: look around a little");
    terminal.wait_for("what was typed", |screen| screen.lines().any(|row| row == "> and then wh"));
    server.push(ScriptedTurn::new().text("We bury them."));
    terminal.enter("at?");
    terminal.wait_for_text("We bury them.");
    wait_for_prompt(&terminal);
    leave(terminal);
    let requests = server.requests();
    let last = requests[2].last_message().to_string();
    assert!(last.contains("There are 52 nuts.") && last.contains("and then what?"), "{last}");
    server.finish();
}

/// The program dies with agents at work, in front and behind: nothing of theirs is left.
#[test]
fn nothing_outlives_a_killed_program() {
    let mut behind = named("general-purpose", "sleep for long, behind");
    behind["run_in_background"] = json!(true);
    let turn = start("a", &behind)
        .call("b", "Agent", named("general-purpose", "sleep for long, in front").to_string())
        .call("c", "Agent", json!({"description": "d", "prompt": "sleep as a fork"}).to_string());
    let sleeps = |request: &RecordedRequest| -> Reply {
        let order = request.last_message().to_string();
        let orders =
            [("behind", "long, behind"), ("front", "long, in front"), ("fork", "as a fork")];
        let (who, _) = orders.iter().find(|(_, said)| order.contains(said)).unwrap();
        let command = format!("echo $$ > {who}; sleep 311 & echo $! > {who}-child; wait");
        ScriptedTurn::new().call("s", "Bash", json!({"command": command}).to_string()).into()
    };
    let server =
        server(WireFormat::Anthropic).agent_with(sleeps).fork_with(sleeps).reply(turn).start();
    let home = TestHome::new().with_server(&server);
    let mut running = home.spawn(&mut ask(&home, &["--permission-mode", "bypass", "go"]));
    running.close_stdin();
    let files = ["behind", "behind-child", "front", "front-child", "fork", "fork-child"];
    wait_until("all of them to sleep", || {
        let written = |file: &&str| {
            std::fs::read_to_string(home.project().join(file))
                .is_ok_and(|text| text.ends_with('\n'))
        };
        files.iter().all(written)
    });
    assert!(files.iter().all(|file| runs(home.read(file).trim())));
    running.kill9();
    running.wait();
    wait_until("everything to end", || in_project(&home).is_empty());
    assert!(files.iter().all(|file| !runs(home.read(file).trim())));
}

/// A fork can not fork; agents go three deep; what there is not is said.
#[test]
fn how_deep_agents_go() {
    let server = server(WireFormat::Anthropic)
        .fork_with(|request: &RecordedRequest| -> Reply {
            if request.last_message().to_string().contains("a fork cannot fork") {
                return ScriptedTurn::new().text("Refused.").into();
            }
            start("f", &json!({"description": "d", "prompt": "again"})).into()
        })
        .agent_with(|request: &RecordedRequest| -> Reply {
            let asked = request.messages()[0].to_string();
            let depth = (1..9).find(|depth| asked.contains(&format!("dig to {depth}"))).unwrap();
            if request.messages().len() > 1 {
                let told = request.last_message().to_string();
                return ScriptedTurn::new().text(format!("back from {depth} with {told}")).into();
            }
            start("d", &named("general-purpose", &format!("dig to {}", depth + 1))).into()
        })
        .reply(
            start("1", &json!({"description": "d", "prompt": "fork"}))
                .call("2", "Agent", named("general-purpose", "dig to 1").to_string())
                .call("3", "Agent", named("explorer", "x").to_string())
                .call("4", "Agent", json!({"description": "d", "prompt": " "}).to_string()),
        )
        .reply(ScriptedTurn::new().text("done"))
        .start();
    let home = TestHome::new().with_server(&server);
    home.run(&mut ask(&home, &["go"])).success();
    let told = text_of(&server.requests()[1]);
    assert!(told.contains("Refused."), "{told}");
    assert!(told.contains("there is no agent `explorer`. Did you mean `explore`?"), "{told}");
    assert!(told.contains("`prompt` is empty"), "{told}");
    assert!(told.contains("back from 1 with ") && told.contains("back from 3 with "), "{told}");
    assert!(told.contains("there is no tool named `Agent`"), "{told}");
    let deepest = server.agent_requests();
    let asked = deepest.iter().filter(|request| request.messages().len() == 1);
    assert_eq!(asked.clone().count(), 3, "three deep, and no deeper");
    let without = asked.filter(|request| !request.tool_names().contains(&"Agent".into()));
    assert_eq!(without.count(), 1, "the deepest has no such tool");
    server.finish();
}

/// An agent in a worktree of its own: what it changes is there and not here; untouched, it goes away.
#[test]
fn a_worktree_of_its_own() {
    let order = |prompt: &str| {
        let mut order = named("general-purpose", prompt);
        order["isolation"] = json!("worktree");
        order
    };
    let server = server(WireFormat::Anthropic)
        .agent_with(|request: &RecordedRequest| -> Reply {
            if request.messages().len() > 1 || request.text().contains("touch nothing") {
                return ScriptedTurn::new().text("I am done.").into();
            }
            let command = "git rev-parse --show-toplevel; echo changed > plan.md";
            ScriptedTurn::new().call("b", "Bash", json!({"command": command}).to_string()).into()
        })
        .reply(start("1", &order("change plan.md")).call(
            "2",
            "Agent",
            order("touch nothing").to_string(),
        ))
        .reply(ScriptedTurn::new().text("done"))
        .start();
    let home = TestHome::new().with_server(&server);
    home.git_init();
    home.write("plan.md", "52 nuts\n");
    home.git(&["add", "."]);
    home.git(&["commit", "-qm", "one"]);
    home.run(&mut ask(&home, &["--permission-mode", "bypass", "go"])).success();
    assert_eq!(home.read("plan.md"), "52 nuts\n");
    let told = text_of(&server.requests()[1]);
    assert!(told.contains("nothing was changed in its worktree, which was removed"), "{told}");
    assert!(told.contains("its changes are in the worktree "), "{told}");
    let worktrees = home.git(&["worktree", "list"]);
    assert_eq!(worktrees.lines().count(), 2, "{worktrees}");
    let kept = worktrees.lines().nth(1).unwrap().split_whitespace().next().unwrap().to_owned();
    assert!(kept.contains(&home.dormouse_home().display().to_string()), "{kept}");
    assert_eq!(std::fs::read_to_string(format!("{kept}/plan.md")).unwrap(), "changed\n");
    assert_eq!(home.git(&["status", "--porcelain", "plan.md"]), "");
    server.finish();
}

/// The list of agents stands in a message. It changes in mid-session: the prefix stays, the change is told.
#[test]
fn a_list_that_changes() {
    let server = server(WireFormat::Anthropic).start();
    let home = TestHome::new().with_server(&server);
    server.push(ScriptedTurn::new().text("Hello."));
    server.push(ScriptedTurn::new().text("I see."));
    let mut terminal = talk(&home, &[], (100, 40));
    say(&mut terminal, "hi", "Hello.");
    let folder = home.dormouse_home().join("agents");
    home.write(
        folder.join("nutter.md"),
        "---\nname: nutter\ndescription: Counts nuts.\n---\nYou count.\n",
    );
    say(&mut terminal, "who is there?", "I see.");
    leave(terminal);
    let requests = server.requests();
    let first = requests[0].messages()[0].to_string();
    assert!(first.contains("# Agents") && first.contains("- explore: "), "{first}");
    let tool = requests[0].raw_field("tools").unwrap();
    assert!(!tool.contains("- explore: "), "the list is no part of the tool");
    let last = requests[1].last_message().to_string();
    assert!(last.contains("Agents, now:") && last.contains("- nutter: Counts nuts."), "{last}");
    server.finish();

    let off = crate::program::server(WireFormat::Anthropic)
        .reply(ScriptedTurn::new().text("Hello."))
        .start();
    let mut home = TestHome::new().with_server(&off);
    home.set_env("DORMOUSE_AGENT_LIST_MESSAGE", "0");
    home.run(&mut ask(&home, &["hi"])).success();
    let request = &off.requests()[0];
    assert!(request.raw_field("tools").unwrap().contains("- explore: "));
    assert!(!request.messages()[0].to_string().contains("# Agents"));
}

/// Own agents: their tools, prompt, turns and model, and which of two with one name counts.
#[test]
fn own_agents() {
    let home_of = |server: &ScriptedServer| {
        let home = TestHome::new().with_server(server);
        let agent = |name: &str, more: &str, prompt: &str| {
            format!("---\nname: {name}\ndescription: d\n{more}\n---\n{prompt}\n")
        };
        let user = home.dormouse_home().join("agents");
        home.write(
            user.join("one.md"),
            agent("one", "tools: Read, Glob\nmaxTurns: 2", "Of the user."),
        );
        home.write(user.join("two.md"), agent("two", "disallowedTools: Bash", "Of the user."));
        home.write(
            home.user_home().join(".claude/agents/claude.md"),
            agent("claude", "", "Of .claude."),
        );
        home.write(".claude/agents/deep/two.md", agent("two", "", "Of the project."));
        home
    };
    let server = server(WireFormat::Anthropic)
        .agent_with(|_: &RecordedRequest| -> Reply {
            ScriptedTurn::new().call("g", "Glob", r#"{"pattern":"*"}"#).into()
        })
        .reply(start("1", &named("one", "go")))
        .reply(ScriptedTurn::new().text("done"))
        .start();
    let home = home_of(&server);
    home.run(&mut ask(&home, &["go"])).success();
    let agent = server.agent_requests();
    assert_eq!(agent.len(), 2, "maxTurns");
    assert_eq!(agent[0].tool_names(), ["Glob", "Read"]);
    assert!(agent[0].system_text().starts_with("Of the user.\n\nYou are an agent"));
    let told = text_of(&server.requests()[1]);
    assert!(told.contains("used up its turns"), "{told}");

    let server = crate::program::server(WireFormat::Anthropic)
        .agent_with(|request: &RecordedRequest| -> Reply {
            ScriptedTurn::new()
                .text(request.system_text().lines().next().unwrap().to_owned())
                .into()
        })
        .reply(start("1", &named("two", "go")).call(
            "2",
            "Agent",
            named("claude", "go").to_string(),
        ))
        .reply(ScriptedTurn::new().text("done"))
        .start();
    let home = home_of(&server);
    home.run(&mut dormouse(&home, &["permissions", "trust", "--yes"])).success();
    home.run(&mut ask(&home, &["go"])).success();
    let told = text_of(&server.requests()[1]);
    assert!(told.contains("Of the project.") && told.contains("Of .claude."), "{told}");
    let given = json!({"agents": {"two": {"description": "d", "prompt": "Of the command line."}}});
    let server = crate::program::server(WireFormat::Anthropic)
        .agent_with(|request: &RecordedRequest| -> Reply {
            ScriptedTurn::new()
                .text(request.system_text().lines().next().unwrap().to_owned())
                .into()
        })
        .reply(start("1", &named("two", "go")))
        .reply(ScriptedTurn::new().text("done"))
        .start();
    let home = home_of(&server);
    home.run(&mut ask(&home, &["--settings", &given.to_string(), "go"])).success();
    assert!(text_of(&server.requests()[1]).contains("Of the command line."));
}

/// An agent begins with the text of its skills, whether or not it may call any; what it costs is in the run's cost; what
/// is wrong with its hooks and servers is told.
#[test]
fn skills_cost_and_mistakes_within() {
    let server = server(WireFormat::Anthropic)
        .agent_with(|_: &RecordedRequest| -> Reply { ScriptedTurn::new().text("Done.").into() })
        .reply(start("1", &named("skilled", "go")))
        .reply(ScriptedTurn::new().text("done"))
        .start();
    let home = TestHome::new().with_server(&server);
    let skill = "---\nname: style\ndescription: d\n---\nWrite short lines.\n";
    home.write(home.dormouse_home().join("skills/style/SKILL.md"), skill);
    let agent = concat!(
        "---\nname: skilled\ndescription: Use it when: it matters\ntools: Read\nskills: [style]\n",
        "hooks:\n  PreToolUs: []\nmcpServers:\n  bad:\n    url: http://x\n---\nBe skilled.\n"
    );
    home.write(home.dormouse_home().join("agents/skilled.md"), agent);
    let prices = r#"{"prices":{"scripted":{"input":1000,"output":1000}}}"#;
    let flags = ["--settings", prices, "--output-format", "json", "go"];
    let output = home.run(&mut ask(&home, &flags));
    let result: Value = serde_json::from_str(&output.success().stdout).unwrap();
    let counted = |field: &str| result["usage"][field].as_f64().unwrap_or(0.0) / 1000.0;
    let own = counted("input_tokens")
        + counted("output_tokens")
        + 1.25 * counted("cache_creation_input_tokens")
        + 0.1 * counted("cache_read_input_tokens");
    let agents = result["total_cost_usd"].as_f64().unwrap() - own;
    let tokens = server.agent_requests()[0].usage.input_total();
    let least = f64::from(u32::try_from(tokens).unwrap()) / 1000.0;
    assert!(agents >= least && agents < 3.0 * least, "{agents} of {result}; {least}");
    assert!(server.agent_requests()[0].system_text().contains("Write short lines."));
    for expected in ["PreToolUs", "did you mean `PreToolUse`", "skilled.md: agent skilled"] {
        assert!(output.stderr.contains(expected), "{expected}: {}", output.stderr);
    }
}

/// Invalid files are reported with line and reason, and the others load.
#[test]
fn bad_files_are_told_and_the_others_load() {
    let server = server(WireFormat::Anthropic).reply(ScriptedTurn::new().text("Hello.")).start();
    let home = TestHome::new().with_server(&server);
    let user = home.dormouse_home().join("agents");
    home.write(user.join("good.md"), "---\nname: good\ndescription: Is good.\n---\nYou are.\n");
    home.write(user.join("twin.md"), "---\nname: good\ndescription: Is another.\n---\nYou are.\n");
    home.write(user.join("yaml.md"), "---\nname: x\nbad: [a\n---\nb\n");
    home.write(user.join("name.md"), "---\nname: No Name\ndescription: d\n---\nb\n");
    home.write(user.join("binary.md"), b"---\nname: b\0\n---\n".as_slice());
    home.write(home.project().join(".dormouse/agents/none.md"), "nothing\n");
    std::os::unix::fs::symlink("/etc/passwd", home.project().join(".dormouse/agents/out.md"))
        .unwrap();
    let output = home.run(&mut ask(&home, &["hi"]));
    output.success();
    for expected in [
        "agents/yaml.md:3: the frontmatter cannot be read",
        "agents/name.md:2: `No Name` is not a valid agent name",
        "agents/binary.md: binary file",
        "agents/none.md:1: no frontmatter",
        "agents/out.md: it is outside the project",
        "agents/twin.md: the name `good` is already used by",
    ] {
        assert!(output.stderr.contains(expected), "{expected}: {}", output.stderr);
    }
    let first = server.requests()[0].messages()[0].to_string();
    assert!(first.contains("- good: Is good."), "{first}");
}

/// What an agent does is said in a small model's words; never two at a time, and nothing when nothing happened.
#[test]
fn progress_in_a_few_words() {
    let gate = Gate::new();
    let waiting = gate.clone();
    let server = server(WireFormat::Anthropic)
        .side_model("small-1")
        .agent_with(move |request: &RecordedRequest| -> Reply {
            if request.messages().len() == 1 {
                return ScriptedTurn::new().call("g", "Glob", r#"{"pattern":"*.md"}"#).into();
            }
            let reply: Reply = ScriptedTurn::new().text("done").into();
            reply.gate_after(0, &waiting)
        })
        .reply(start("1", &named("explore", "find all notes about nuts")))
        .reply(ScriptedTurn::new().text("done"))
        .start();
    server.push_side(ScriptedTurn::new().text("Looking for notes"));
    let mut home = TestHome::new().with_server(&server);
    home.set_deadlines(&[("subagent_progress", 30)]);
    home.set_env("DORMOUSE_RECALL", "0");
    let mut running =
        home.spawn(&mut ask(&home, &["-v", "--settings", r#"{"smallModel":"small-1"}"#, "go"]));
    running.close_stdin();
    wait_until("the question", || server.side_requests().len() == 1);
    // Several of its times pass in which nothing happens. On a slow machine fewer do: then the test sees less, and does not fail.
    std::thread::sleep(std::time::Duration::from_millis(200));
    gate.open();
    running.wait().success();
    let asked = server.side_requests();
    assert_eq!(asked.len(), 1, "nothing has happened since");
    let question = asked[0].text();
    assert!(
        question.contains("find all notes about nuts") && question.contains("Glob *.md"),
        "{question}"
    );
    assert!(asked[0].tool_names().is_empty());
    server.finish();
}

/// A server whose agent never comes to an end by itself.
fn with_endless_agent() -> ScriptedServer {
    server(WireFormat::Anthropic)
        .agent_with(|_: &RecordedRequest| -> Reply {
            ScriptedTurn::new().call("g", "Glob", r#"{"pattern":"*"}"#).into()
        })
        .reply(start("1", &named("explore", "look for ever")))
        .start()
}

/// What agents cost counts against what may be spent.
#[test]
fn agents_spend_from_the_same_purse() {
    let server = with_endless_agent();
    let home = TestHome::new().with_server(&server);
    let settings =
        r#"{"prices":{"scripted":{"input":1000,"output":1000}},"layers":{"repeated_calls":false}}"#;
    let output = home.run(&mut ask(&home, &["--settings", settings, "--max-cost", "20", "go"]));
    assert_eq!(output.code, Some(3), "{}", output.stderr);
    assert!(output.stderr.contains("(--max-cost) reached"), "{}", output.stderr);
    let spent = server.agent_requests();
    assert!(
        spent.len() < 60,
        "{} requests, the last {:?}",
        spent.len(),
        spent.last().unwrap().usage
    );
}

/// The limit on requests holds for each agent as well.
#[test]
fn agents_make_no_more_requests_than_the_run_may() {
    let server = with_endless_agent();
    let home = TestHome::new().with_server(&server);
    let output = home.run(&mut ask(&home, &["--max-turns", "1", "go"]));
    assert_eq!(output.code, Some(3), "{}", output.stderr);
    assert_eq!(server.agent_requests().len(), 1);
    server.finish();
}

/// `dormouse agents` lists them with where they come from.
#[test]
fn the_list_on_the_command_line() {
    let home = TestHome::new();
    let user = home.dormouse_home().join("agents");
    home.write(
        user.join("good.md"),
        "---\nname: good\ndescription: Is good.\nmemory: user\n---\nYou are.\n",
    );
    home.write(user.join("bad.md"), "nothing\n");
    let output = home.run(&mut dormouse(&home, &["agents"]));
    output.success();
    assert!(
        output.stdout.contains("good") && output.stdout.contains("explore"),
        "{}",
        output.stdout
    );
    assert!(output.stderr.contains("bad.md:1: no frontmatter"), "{}", output.stderr);
    let output = home.run(&mut dormouse(&home, &["agents", "--json"]));
    let list: Value = serde_json::from_str(&output.success().stdout).unwrap();
    let good =
        list["agents"].as_array().unwrap().iter().find(|agent| agent["name"] == "good").unwrap();
    assert_eq!((&good["origin"], &good["memory"]), (&json!("user"), &json!("user")));
    assert_eq!(list["problems"].as_array().unwrap().len(), 1);
}

/// Messages inside the process: to an agent by its name while it works, back to the conversation, and to nobody.
#[test]
fn messages_between_a_conversation_and_its_agents() {
    let mut order = named("general-purpose", "wait for a word");
    order["run_in_background"] = json!(true);
    order["name"] = json!("bob");
    let send = |to: &str, text: &str| {
        json!({"to": to, "message": text, "summary": "a few words about the nuts"}).to_string()
    };
    let gate = Gate::new();
    let waiting = gate.clone();
    let server = server(WireFormat::Anthropic)
        .agent_with(move |request: &RecordedRequest| -> Reply {
            let said = request.last_message().to_string();
            if said.contains("look under the oak") {
                let text = json!({"to": "main", "message": "They are under the oak.", "summary": "found the nuts under the oak"});
                return ScriptedTurn::new().call("m", "SendMessage", text.to_string()).into();
            }
            if request.messages().len() > 1 {
                return ScriptedTurn::new().text("I told them.").into();
            }
            let reply: Reply = ScriptedTurn::new().call("g", "Glob", r#"{"pattern":"*"}"#).into();
            reply.gate_after(0, &waiting)
        })
        .reply(start("a", &order))
        .reply(
            ScriptedTurn::new()
                .call("1", "SendMessage", send("bob", "look under the oak"))
                .call("2", "SendMessage", send("alice", "hello"))
                .call("3", "SendMessage", send("main", "hello")),
        )
        .start();
    for _ in 0..4 {
        server.push(ScriptedTurn::new().text("Noted."));
    }
    let home = TestHome::new().with_server(&server);
    let mut running = home.spawn(&mut ask(&home, &["go"]));
    running.close_stdin();
    server.wait_for_requests(3);
    gate.open();
    running.wait().success();
    let results = text_of(&server.requests()[2]);
    assert!(results.contains("sent to bob"), "{results}");
    assert!(results.contains("this project has no agent or session named `alice`"), "{results}");
    assert!(results.contains("`main` is your own name"), "{results}");
    let told = server.agent_requests()[1].last_message().to_string();
    assert!(told.contains("look under the oak"), "at its next tool round: {told}");
    let last = server.requests().last().unwrap().text();
    assert!(last.contains("They are under the oak.") && last.contains("I told them."), "{last}");
    let side = side_chains(&home).remove(0);
    assert!(
        side.lines()
            .any(|line| line.contains("look under the oak") && line.contains(r#""delivers":[""#))
    );
}

/// An agent that has agreed to end ends with its answer, whatever comes meanwhile.
#[test]
fn an_agent_that_agrees_to_end_reads_no_more() {
    let mut order = named("general-purpose", "wait for a word");
    order["run_in_background"] = json!(true);
    order["name"] = json!("bob");
    let gate = Gate::new();
    let waiting = gate.clone();
    let agrees = json!({"to": "main", "message":
        {"type": "shutdown_response", "request_id": "r1", "approve": true}});
    let more =
        json!({"to": "bob", "message": "one more thing", "summary": "one more thing to look at"});
    let (more_at, asked) =
        (Gate::new(), Reply::from(ScriptedTurn::new().call("1", "SendMessage", more.to_string())));
    let server = server(WireFormat::Anthropic)
        .agent_with(move |request: &RecordedRequest| -> Reply {
            let turn = ScriptedTurn::new();
            match request.messages().len() {
                1 => turn.call("m", "SendMessage", agrees.to_string()).into(),
                _ => Reply::from(turn.text("I leave.")).gate_after(0, &waiting),
            }
        })
        .reply(start("a", &order))
        .reply(asked.gate_after(0, &more_at))
        .start();
    for _ in 0..4 {
        server.push(ScriptedTurn::new().text("Noted."));
    }
    let home = TestHome::new().with_server(&server);
    let mut running = home.spawn(&mut ask(&home, &["go"]));
    running.close_stdin();
    server.wait_for_agent_requests(2);
    more_at.open();
    server.wait_for_requests(3);
    gate.open();
    running.wait().success();
    assert_eq!(server.agent_requests().len(), 2);
    assert!(server.requests().last().unwrap().text().contains("I leave."));
}

/// An agent that plans may write once the conversation that leads it has approved its plan, and not by an approval of
/// something that it never asked.
#[test]
fn an_approved_plan_ends_the_plan_mode_of_an_agent() {
    for (approved, is_written) in [("r1", true), ("r0", false)] {
        let mut order = named("planner", "write a file, with approval");
        order["run_in_background"] = json!(true);
        order["name"] = json!("bob");
        let (asked, answered) = (Gate::new(), Gate::new());
        let waiting = answered.clone();
        let answer = json!({"to": "bob", "message":
            {"type": "plan_approval_response", "request_id": approved, "approve": true}});
        let answering: Reply =
            ScriptedTurn::new().call("1", "SendMessage", answer.to_string()).into();
        let server = server(WireFormat::Anthropic)
            .agent_with(move |request: &RecordedRequest| -> Reply {
                let plan = json!({"to": "main", "message":
                    {"type": "plan_approval_request", "request_id": "r1", "plan": "1. write"}});
                let file = json!({"file_path": "planned.txt", "content": "by plan"});
                let turn = ScriptedTurn::new();
                match request.messages().len() {
                    1 => turn.call("m", "SendMessage", plan.to_string()).into(),
                    3 => {
                        let reply: Reply = turn.call("g", "Glob", r#"{"pattern":"*"}"#).into();
                        reply.gate_after(0, &waiting)
                    }
                    5 => turn.call("w", "Write", file.to_string()).into(),
                    _ => turn.text("That was it.").into(),
                }
            })
            .reply(start("a", &order))
            .reply(answering.gate_after(0, &asked))
            .start();
        for _ in 0..4 {
            server.push(ScriptedTurn::new().text("Noted."));
        }
        let home = TestHome::new().with_server(&server);
        home.write(
            home.dormouse_home().join("agents/planner.md"),
            "---\nname: planner\ndescription: d\npermissionMode: plan\n---\nPlan, then work.\n",
        );
        let mut running = home.spawn(&mut ask(&home, &["--permission-mode", "bypass", "go"]));
        running.close_stdin();
        server.wait_for_agent_requests(2);
        asked.open();
        server.wait_for_requests(3);
        answered.open();
        running.wait().success();
        let told = server.agent_requests()[2].last_message().to_string();
        assert_eq!(told.contains("which you did not make"), !is_written, "{told}");
        assert_eq!(home.project().join("planned.txt").exists(), is_written, "{approved}");
    }
}

/// A question of an agent's says whose it is; and Ctrl-C ends the agent, its command and the turn, not the session.
#[test]
fn asked_and_interrupted_in_a_conversation() {
    let server = server(WireFormat::Anthropic)
        .agent_with(|request: &RecordedRequest| -> Reply {
            let _first = request.messages().len();
            ScriptedTurn::new()
                .call("b", "Bash", r#"{"command":"echo $$ > shell; sleep 312"}"#)
                .into()
        })
        .reply(start("a", &named("general-purpose", "sleep for long")))
        .start();
    let home = TestHome::new().with_server(&server);
    let mut terminal = talk(&home, &[], (110, 40));
    terminal.enter("go");
    terminal.wait_for_text("the agent general-purpose asks");
    wait_for_menu(&terminal, "the agent general-purpose asks");
    terminal.type_keys("y");
    wait_until("the command", || {
        std::fs::read_to_string(home.project().join("shell")).is_ok_and(|text| text.ends_with('\n'))
    });
    assert!(runs(home.read("shell").trim()));
    terminal.type_keys("\x03");
    wait_for_prompt(&terminal);
    wait_until("the command's end", || !runs(home.read("shell").trim()));
    server.push(ScriptedTurn::new().text("Good."));
    say(&mut terminal, "never mind", "Good.");
    terminal.enter("/agents");
    terminal.wait_for_text("stopped");
    wait_for_prompt(&terminal);
    terminal.enter("/agents show general-purpose");
    terminal.wait_for_text("Full transcript:");
    let rows = terminal.all_rows().join("\n");
    assert!(rows.contains("task: sleep for long") && rows.contains("→ Bash"), "{rows}");
    wait_for_prompt(&terminal);
    leave(terminal);
}
