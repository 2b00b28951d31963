//! Agents with a memory of their own, in a real repository: where it is, what is told about it, who reaches it (A-6,
//! R-13, L-29).

use std::path::PathBuf;

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{RecordedRequest, Reply, ScriptedServer, TestHome, WireFormat};
use serde_json::json;

use crate::agents::start;
use crate::compacting::text_of;
use crate::program::{ask, dormouse, server};

const NOTE: &str = "---\nname: Parser tests\ndescription: The parser tests need a clean cache.\ntype: project\n---\nRun them with CACHE=0.\n";

fn agent_file(memory: &str) -> String {
    format!(
        "---\nname: keeper\ndescription: Keeps notes.\ntools: Glob\n{memory}\n---\nYou keep notes.\n"
    )
}

/// A repository with a commit.
fn repository(server: &ScriptedServer) -> TestHome {
    let home = TestHome::new().with_server(server);
    home.git_init();
    home.write("readme.txt", "a project\n");
    home.git(&["add", "readme.txt"]);
    home.git(&["commit", "-qm", "one"]);
    home
}

fn order() -> serde_json::Value {
    json!({"description": "keep a note", "prompt": "write down what you know", "subagent_type": "keeper"})
}

/// An agent that writes a memory, then tries to write elsewhere, in every way.
fn writes(directory: PathBuf) -> impl FnMut(&RecordedRequest) -> Reply + Send + 'static {
    move |request: &RecordedRequest| -> Reply {
        if request.messages().len() > 1 {
            return ScriptedTurn::new().text("Noted.").into();
        }
        let at = |file: &str| directory.join(file).display().to_string();
        let write = |path: String, content: &str| {
            json!({"file_path": path, "content": content}).to_string()
        };
        let key = format!(
            "---\nname: Key\ndescription: A key.\ntype: project\n---\n{}\n",
            ["AKIA", "IOSFODNN7EXAMPLQ"].concat()
        );
        ScriptedTurn::new()
            .call("1", "Write", write(at("parser-tests.md"), NOTE))
            .call(
                "2",
                "Write",
                write(at("MEMORY.md"), "- [Parser tests](parser-tests.md): need a clean cache\n"),
            )
            .call("3", "Write", write("elsewhere.md".into(), NOTE))
            .call("4", "Write", write(at("../../outside.md"), NOTE))
            .call("5", "Write", write(at("way-out/x.md"), NOTE))
            .call("6", "Write", write(at("key.md"), &key))
            .call("7", "Read", json!({"file_path": "readme.txt"}).to_string())
            .call("8", "Read", json!({"file_path": at("parser-tests.md")}).to_string())
            .into()
    }
}

#[test]
fn each_scope_has_its_place_and_its_words() {
    for (scope, line) in [
        ("user", "It goes with you into every project"),
        ("project", "is committed with it"),
        ("local", "is not committed"),
    ] {
        let placeholder = server(WireFormat::Anthropic).start();
        let mut home = repository(&placeholder);
        let root = home.project().canonicalize().unwrap();
        let directory = match scope {
            "user" => home
                .dormouse_home()
                .canonicalize()
                .unwrap_or(home.dormouse_home())
                .join("agent-memory/keeper"),
            "project" => root.join(".dormouse/agent-memory/keeper"),
            _ => root.join(".dormouse/agent-memory-local/keeper"),
        };
        let server = server(WireFormat::Anthropic)
            .agent_with(writes(directory.clone()))
            .reply(start("a", &order()))
            .reply(ScriptedTurn::new().text("done"))
            .start();
        home.use_server(&server);
        home.write(
            home.dormouse_home().join("agents/keeper.md"),
            agent_file(&format!("memory: {scope}")),
        );
        std::fs::create_dir_all(&directory).unwrap();
        std::os::unix::fs::symlink(home.root(), directory.join("way-out")).unwrap();
        home.run(&mut ask(&home, &["go"])).success();
        let agent = server.agent_requests();
        let told = agent[0].system_text();
        assert!(told.contains(&format!("the folder {}", directory.display())), "{scope}: {told}");
        assert!(told.contains(line), "{scope}: {told}");
        assert_eq!(agent[0].tool_names(), ["Edit", "Glob", "Read", "Write"], "{scope}");
        let written = std::fs::read_to_string(directory.join("parser-tests.md")).unwrap();
        assert!(written.contains("Run them with CACHE=0."), "{scope}: {written}");
        let results = text_of(&agent[1]);
        assert!(results.contains("Write is only for your memory"), "{scope}: {results}");
        assert!(results.contains("Read is only for your memory"), "{scope}: {results}");
        for harm in ["elsewhere.md", ".dormouse/outside.md", "../outside.md", "../x.md"] {
            assert!(!home.project().join(harm).exists(), "{scope}: {harm}");
        }
        assert!(!home.root().join("x.md").exists(), "{scope}: through a link");
        assert!(!directory.join("key.md").exists(), "{scope}: a secret");
        let status = home.git(&["status", "--porcelain", "--untracked-files=all"]);
        assert_eq!(
            status.contains("agent-memory/keeper/parser-tests.md"),
            scope == "project",
            "{status}"
        );
        assert!(!status.contains("agent-memory-local"), "{status}");
        // Its history can be seen, and a change taken back.
        let mut log = dormouse(&home, &["memory", "log"]);
        log.env("DORMOUSE_MEMORY_PATH_OVERRIDE", &directory);
        let log = home.run(&mut log);
        assert!(log.success().stdout.contains("parser-tests"), "{scope}: {}", log.stdout);
        // The next run of it is shown the index.
        let server = crate::program::server(WireFormat::Anthropic)
            .agent_with(|_: &RecordedRequest| -> Reply {
                ScriptedTurn::new().text("I know.").into()
            })
            .reply(start("a", &order()))
            .reply(ScriptedTurn::new().text("done"))
            .start();
        home.use_server(&server);
        home.run(&mut ask(&home, &["again"])).success();
        let first = server.agent_requests()[0].messages()[0].to_string();
        assert!(first.contains("[Parser tests](parser-tests.md)"), "{scope}: {first}");
        // The conversation itself knows nothing of it.
        assert!(!server.requests()[0].text().contains("Parser tests"));
    }
}

/// Worktrees of one repository share what is the project's and what is local.
#[test]
fn worktrees_share() {
    let placeholder = server(WireFormat::Anthropic).start();
    let mut home = repository(&placeholder);
    let root = home.project().canonicalize().unwrap();
    for (scope, folder) in [("project", "agent-memory"), ("local", "agent-memory-local")] {
        let directory = root.join(".dormouse").join(folder).join("keeper");
        let server = server(WireFormat::Anthropic)
            .agent_with(writes(directory.clone()))
            .reply(start("a", &order()))
            .reply(ScriptedTurn::new().text("done"))
            .start();
        home.use_server(&server);
        home.write(
            home.dormouse_home().join("agents/keeper.md"),
            agent_file(&format!("memory: {scope}")),
        );
        let worktree = home.root().join(format!("tree-{scope}"));
        home.git(&["worktree", "add", "-q", "--detach", &worktree.display().to_string()]);
        let mut command = ask(&home, &["go"]);
        command.current_dir(&worktree);
        home.run(&mut command).success();
        assert!(directory.join("parser-tests.md").exists(), "{scope}");
        assert!(!worktree.join(".dormouse").exists(), "{scope}");
    }
}

/// Nothing where memory is off, and elsewhere where the machine is nobody's.
#[test]
fn where_memory_is_off_or_elsewhere() {
    let run = |environment: &[(&str, &str)]| {
        let server = server(WireFormat::Anthropic)
            .agent_with(|_: &RecordedRequest| -> Reply {
                ScriptedTurn::new().text("I know.").into()
            })
            .reply(start("a", &order()))
            .reply(ScriptedTurn::new().text("done"))
            .start();
        let mut home = repository(&server);
        for (name, value) in environment {
            let value = value.replace("ROOT", &home.root().display().to_string());
            home.set_env(*name, value);
        }
        home.write(
            home.dormouse_home().join("agents/keeper.md"),
            agent_file("memory: {scope: local}"),
        );
        home.run(&mut ask(&home, &["go"])).success();
        (server.agent_requests()[0].system_text(), home)
    };
    let (told, home) = run(&[("DORMOUSE_DISABLE_AUTO_MEMORY", "1")]);
    assert!(!told.contains("# Your memory"), "{told}");
    assert!(!home.project().join(".dormouse").exists());
    let (told, home) =
        run(&[("DORMOUSE_REMOTE_MEMORY_DIR", "ROOT/far/away"), ("DORMOUSE_REMOTE", "1")]);
    let far = home.root().join("far/away");
    assert!(told.contains(&format!("{}/", far.display())), "{told}");
    assert!(told.contains("agent-memory-local/keeper"), "{told}");
    assert!(!home.project().join(".dormouse").exists());
}

/// A project that nobody has trusted: its agents have their prompts, and nothing that could run or loosen anything.
#[test]
fn an_untrusted_project() {
    let agent = concat!(
        "---\nname: keeper\ndescription: Keeps notes.\nmemory: user\npermissionMode: bypassPermissions\n",
        "hooks:\n  PreToolUse:\n    - hooks:\n        - type: command\n          command: touch hooked\n",
        "mcpServers:\n  harm:\n    command: touch\n    args: [served]\n---\nYou keep notes.\n"
    );
    for trusted in [false, true] {
        let server = server(WireFormat::Anthropic)
            .agent_with(|request: &RecordedRequest| -> Reply {
                if request.messages().len() > 1 {
                    return ScriptedTurn::new().text("Done.").into();
                }
                ScriptedTurn::new().call("b", "Bash", r#"{"command":"touch harm"}"#).into()
            })
            .reply(start("a", &order()))
            .reply(ScriptedTurn::new().text("done"))
            .start();
        let home = repository(&server);
        home.write(".dormouse/agents/keeper.md", agent);
        if trusted {
            let output = home.run(&mut dormouse(&home, &["permissions", "trust", "--yes"]));
            assert!(output.success().stderr.contains("keeper"), "{}", output.stderr);
        }
        let output = home.run(&mut ask(&home, &["go"]));
        output.success();
        let told = server.agent_requests()[0].system_text();
        assert!(told.starts_with("You keep notes."));
        assert_eq!(told.contains("# Your memory"), trusted, "{told}");
        assert_eq!(home.dormouse_home().join("agent-memory").exists(), trusted);
        assert_eq!(home.project().join("harm").exists(), trusted, "{}", output.stderr);
        if !trusted {
            assert!(
                !home.project().join("hooked").exists() && !home.project().join("served").exists()
            );
            assert!(
                output.stderr.contains("is not trusted") && output.stderr.contains("agents"),
                "{}",
                output.stderr
            );
        }
    }
}

/// What concerns an agent is looked for in its memory, where the message mentions it.
#[test]
fn a_mention_searches_that_agents_memory() {
    let server = server(WireFormat::Anthropic)
        .reply(ScriptedTurn::new().text("One."))
        .reply(ScriptedTurn::new().text("Two."))
        .start();
    let home = TestHome::new().with_server(&server);
    home.write(home.dormouse_home().join("agents/keeper.md"), agent_file("memory: user"));
    home.write(home.dormouse_home().join("agent-memory/keeper/parser-tests.md"), NOTE);
    let plain = "how do the parser tests run with a clean cache?";
    home.run(&mut ask(&home, &[plain])).success();
    home.run(&mut ask(&home, &[&format!("@agent-keeper {plain}")])).success();
    let requests = server.requests();
    assert!(!requests[0].text().contains("CACHE=0"), "{}", requests[0].text());
    assert!(requests[1].last_message().to_string().contains("CACHE=0"), "{}", requests[1].text());
}

#[test]
fn every_memory_command_reaches_an_agents_memory_by_its_name() {
    let home = TestHome::new();
    home.write(home.dormouse_home().join("agents/keeper.md"), agent_file("memory: user"));
    let memory = |arguments: &[&str]| {
        let arguments: Vec<&str> = std::iter::once("memory")
            .chain(arguments.iter().copied())
            .chain(["--scope", "agent:keeper"])
            .collect();
        let output = home.run(&mut dormouse(&home, &arguments));
        output.success().stdout.clone()
    };
    let words = ["--type", "project", "--description", "cache of the parser", "--body", "CACHE=0"];
    memory(&[&["add", "Parser tests"][..], &words[..]].concat());
    let folder = home.dormouse_home().join("agent-memory/keeper");
    assert!(folder.join("parser-tests.md").exists());
    assert_eq!(memory(&["path"]).trim(), folder.to_str().unwrap());
    assert!(memory(&["list"]).contains("parser-tests.md"));
    assert!(memory(&["show", "Parser tests"]).contains("CACHE=0"));
    assert!(memory(&["search", "parser", "cache"]).contains("Parser tests"));
    assert!(memory(&["log"]).contains("added by hand"));
    assert!(memory(&["export"]).contains("CACHE=0"));
    memory(&["confirm", "Parser tests"]);
    memory(&["doctor"]);
    memory(&["rm", "Parser tests"]);
    assert!(!folder.join("parser-tests.md").exists());
    memory(&["undo"]);
    assert!(folder.join("parser-tests.md").exists());
    let own = home.run(&mut dormouse(&home, &["memory", "list"]));
    assert!(!own.success().stdout.contains("parser-tests.md"), "it is the agent's alone");
    let unknown = home.run(&mut dormouse(&home, &["memory", "list", "--scope", "agent:nobody"]));
    unknown.expect_code(2);
    assert!(unknown.stderr.contains("keeper"), "{}", unknown.stderr);
    let wrong = home.run(&mut dormouse(&home, &["memory", "list", "--scope", "mine"]));
    wrong.expect_code(2);
    assert!(wrong.stderr.contains("agent:NAME"), "{}", wrong.stderr);
}
