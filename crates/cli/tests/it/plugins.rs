//! Plugins in the real program: from a folder and from git, before and after trust, off, changed, removed, broken (L-34).

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{Output, RecordedRequest, ScriptedServer, TestHome, WireFormat};
use serde_json::Value;

use crate::program::{ask, dormouse, server};
use crate::talk::{leave, say, talk, texts};

const MARK: &str = "#!/bin/sh\ntouch \"$CLAUDE_PLUGIN_DATA/ran\"\n";
const HOOKS: &str = r#"{"hooks":{"UserPromptSubmit":[{"hooks":[{"type":"command","command":"\"$CLAUDE_PLUGIN_ROOT\"/bin/mark.sh"}]}]}}"#;
const SERVERS: &str = r#"{"mcpServers":{"mem":{"command":"${CLAUDE_PLUGIN_ROOT}/bin/serve.sh"}}}"#;
const AGENT: &str = "---\nname: reviewer\ndescription: Looks at changes twice.\npermissionMode: bypassPermissions\nhooks:\n  Stop: []\n---\nLook twice.\n";
const SKILL: &str = "---\ndescription: Checks the spelling.\n---\nSpell it out.\n";

fn plugin(home: &TestHome, manifest: &str) -> PathBuf {
    let root = home.root().join("spell");
    let serve = format!("#!/bin/sh\nexec {} mcp\n", env!("CARGO_BIN_EXE_dormouse"));
    for (path, text) in [
        (".claude-plugin/plugin.json", manifest),
        ("skills/check/SKILL.md", SKILL),
        ("agents/reviewer.md", AGENT),
        ("hooks/hooks.json", HOOKS),
        (".mcp.json", SERVERS),
        ("bin/mark.sh", MARK),
        ("bin/serve.sh", &serve),
    ] {
        home.write(root.join(path), text);
    }
    for program in ["mark.sh", "serve.sh"] {
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(root.join("bin").join(program), mode).unwrap();
    }
    root
}

fn run(home: &TestHome, arguments: &[&str]) -> Output {
    let mut all = vec!["plugin"];
    all.extend(arguments);
    home.run(&mut dormouse(home, &all))
}

/// What a session may have of the plugin: its skill and agent, its server's tools, and that its hook ran.
const ALL: [&str; 4] = ["skill", "agent", "server", "hook"];
const NOTHING: [&str; 0] = [];

fn session(home: &TestHome, server: &ScriptedServer) -> (Vec<&'static str>, Output) {
    let mark = home.dormouse_home().join("plugin-data/spell/ran");
    let _gone = std::fs::remove_file(&mark);
    if !server.requests().is_empty() {
        server.expect_break("another session");
    }
    server.push(ScriptedTurn::new().text("done"));
    let prompt = format!("hello for the {}th time", server.requests().len());
    let output = home.run(&mut ask(home, &[&prompt]));
    output.success();
    let request: RecordedRequest = server.requests().pop().unwrap();
    let has = |part: &&str| match *part {
        "skill" => request.text().contains("spell:check"),
        "agent" => request.text().contains("spell:reviewer"),
        "server" => request.tool_names().iter().any(|name| name.starts_with("mcp__mem__")),
        _ => mark.exists(),
    };
    (ALL.into_iter().filter(has).collect(), output)
}

/// The whole life of a plugin, from where it is installed.
fn life(home: &TestHome, server: &ScriptedServer, source: &str, change: &dyn Fn()) {
    server.push(ScriptedTurn::new().text("done"));
    home.run(&mut ask(home, &["first"])).success();
    let installed = run(home, &["install", source]);
    assert!(
        installed.success().stdout.starts_with("Installed spell 1.0 from "),
        "{}",
        installed.stdout
    );
    for says in [
        "hooks: UserPromptSubmit runs \"$CLAUDE_PLUGIN_ROOT\"/bin/mark.sh",
        "mcpServers.mem: an MCP server that runs ${CLAUDE_PLUGIN_ROOT}/bin/serve.sh",
        "skills: spell:check (Checks the spelling.)",
        "agents.spell:reviewer: \"Looks at changes twice. (all tools)\"",
        "agents/reviewer.md:4: `permissionMode` has no effect in an agent of a plugin",
        "agents/reviewer.md:5: `hooks` has no effect in an agent of a plugin",
        "Not trusted, so nothing in it is used.",
    ] {
        assert!(installed.stderr.contains(says), "{says}\n{}", installed.stderr);
    }
    let (had, output) = session(home, server);
    assert_eq!(had, NOTHING, "before it is trusted");
    assert!(output.stderr.contains("the plugin spell is not trusted"), "{}", output.stderr);
    run(home, &["trust", "spell"]).expect_code(1);
    assert_eq!(session(home, server).0, NOTHING, "nobody was there to say yes");
    run(home, &["trust", "spell", "--yes"]).success();
    assert_eq!(session(home, server).0, ALL, "trusted");
    run(home, &["disable", "spell"]).success();
    let (had, output) = session(home, server);
    assert_eq!(had, NOTHING, "off");
    assert!(!output.stderr.contains("spell"), "{}", output.stderr);
    run(home, &["enable", "spell"]).success();
    assert_eq!(session(home, server).0, ALL, "on again");
    change();
    let again = run(home, &["install", source]);
    assert!(
        again.success().stderr.contains("It changed since you trusted it."),
        "{}",
        again.stderr
    );
    let (had, output) = session(home, server);
    assert_eq!(had, NOTHING, "changed");
    assert!(output.stderr.contains("spell has changed since it was trusted"), "{}", output.stderr);
    run(home, &["install", source, "--trust"]).success();
    assert_eq!(session(home, server).0, ALL, "trusted again");
    run(home, &["remove", "spell"]).success();
    assert_eq!(session(home, server).0, NOTHING, "removed");
    for left in ["plugins/spell", "plugins/spell.json", "plugin-data/spell"] {
        assert!(!home.dormouse_home().join(left).exists(), "{left}");
    }
}

#[test]
fn a_plugin_from_a_folder() {
    let server = server(WireFormat::Anthropic).start();
    let home = TestHome::new().with_server(&server);
    let root = plugin(&home, r#"{"name":"spell","version":"1.0"}"#);
    let change = || home.write(root.join("bin/mark.sh"), format!("{MARK}# more\n"));
    life(&home, &server, root.to_str().unwrap(), &change);
    server.finish();
}

fn commit(home: &TestHome, root: &Path) {
    for arguments in
        [&["init", "--quiet"][..], &["add", "--all"], &["commit", "--quiet", "-m", "x"]]
    {
        home.run(home.command("git").arg("-C").arg(root).args(arguments)).success();
    }
}

#[test]
fn a_plugin_from_a_repository() {
    let server = server(WireFormat::Anthropic).start();
    let home = TestHome::new().with_server(&server);
    let root = plugin(&home, r#"{"name":"spell","version":"1.0"}"#);
    commit(&home, &root);
    let change = || {
        home.write(root.join("skills/more/SKILL.md"), SKILL);
        commit(&home, &root);
    };
    life(&home, &server, &format!("file://{}", root.display()), &change);
    let none = run(&home, &["install", "file:///nowhere/at-all"]);
    assert!(
        none.expect_code(1).stderr.contains("cannot fetch file:///nowhere/at-all"),
        "{}",
        none.stderr
    );
    run(&home, &["install", "ext::sh -c true"]).expect_code(1);
    let scratch = home.dormouse_home().join("tmp");
    assert_eq!(scratch.read_dir().unwrap().count(), 0, "nothing is left of the fetching");
    server.finish();
}

/// What is changed in an installed copy by hand is not used either.
#[test]
fn a_copy_that_was_tampered_with_is_not_used() {
    let server = server(WireFormat::Anthropic).start();
    let home = TestHome::new().with_server(&server);
    let root = plugin(&home, r#"{"name":"spell"}"#);
    run(&home, &["install", root.to_str().unwrap(), "--trust"]).success();
    assert_eq!(session(&home, &server).0, ALL);
    let list: Value =
        serde_json::from_str(&run(&home, &["list", "--json"]).success().stdout).unwrap();
    let copy = PathBuf::from(list["plugins"][0]["root"].as_str().unwrap());
    home.write(copy.join("bin/mark.sh"), "#!/bin/sh\ntouch harm\n");
    let (had, output) = session(&home, &server);
    assert_eq!(had, NOTHING);
    assert!(output.stderr.contains("has changed since it was trusted"), "{}", output.stderr);
    let list = run(&home, &["list"]);
    assert!(list.stdout.contains("spell (changed since trusted)"), "{}", list.stdout);
    // And with --bare nothing of any plugin is there.
    run(&home, &["install", root.to_str().unwrap()]).success();
    assert_eq!(session(&home, &server).0, ALL, "the copy is as it was trusted again");
    server.expect_break("another session");
    server.push(ScriptedTurn::new().text("done"));
    home.run(&mut ask(&home, &["--bare", "hello"])).success();
    assert!(!server.requests().pop().unwrap().text().contains("spell:"));
    server.finish();
}

/// An end, or a disk that fails, at any step of an update: the old plugin or the new one is there, whole.
#[test]
fn an_update_counts_whole_or_not_at_all() {
    for action in ["abort", "enospc"] {
        let mut home = TestHome::new();
        let root = plugin(&home, r#"{"name":"spell","version":"0"}"#);
        let source = root.to_str().unwrap().to_owned();
        run(&home, &["install", &source, "--trust"]).success();
        let (mut version, mut failures) = ("0".to_owned(), 0);
        for step in 1..500 {
            let next = step.to_string();
            plugin(&home, &format!(r#"{{"name":"spell","version":"{next}"}}"#));
            home.set_env("DORMOUSE_FAULT", format!("{action}@*#{step}"));
            let output = run(&home, &["install", &source, "--trust"]);
            home.unset_env("DORMOUSE_FAULT");
            let list = run(&home, &["list", "--json"]);
            let list: Value = serde_json::from_str(&list.success().stdout).unwrap();
            assert_eq!(list["problems"], serde_json::json!([]), "step {step}");
            let found = &list["plugins"][0];
            let now = found["version"].as_str().unwrap().to_owned();
            assert!(now == version || now == next, "step {step}: {now}");
            // Trust never goes to what was not shown to be trusted.
            let trust = found["trust"].as_str().unwrap();
            assert!(
                trust == "given" || (trust == "changed" && now == next),
                "step {step}: {trust}"
            );
            let skill = Path::new(found["root"].as_str().unwrap()).join("skills/check/SKILL.md");
            assert_eq!(std::fs::read_to_string(skill).unwrap(), SKILL, "step {step}");
            if output.code == Some(0) && now == next && trust == "given" {
                assert!(failures > 20, "{action}: only {failures} steps failed");
                failures = usize::MAX;
                break;
            }
            failures += 1;
            version = if trust == "given" { now } else { next };
            run(&home, &["trust", "spell", "--yes"]).success();
        }
        assert_eq!(failures, usize::MAX, "{action}: it never came to an end");
    }
}

#[test]
fn a_skill_of_a_plugin_is_called_by_its_whole_name() {
    let server = server(WireFormat::Anthropic).start();
    let home = TestHome::new().with_server(&server);
    let root = plugin(&home, r#"{"name":"spell"}"#);
    run(&home, &["install", root.to_str().unwrap(), "--trust"]).success();
    server.push(ScriptedTurn::new().text("done"));
    home.run(&mut ask(&home, &["/spell:check", "this"])).success();
    assert!(server.requests()[0].text().contains("Spell it out."));
    server.finish();
}

/// One part that is broken is told with file and line; the others are there.
#[test]
fn a_broken_part_keeps_no_other_from_loading() {
    for (file, text, says, lost) in [
        ("hooks/hooks.json", "{\n\"hooks\": oops}", "hooks.json:2: expected value", "hook"),
        (
            ".mcp.json",
            "{\"mcpServers\":{\n\"mem\":{\"url\":\"http://127.0.0.1:1\"}}}",
            ".mcp.json, line 2: MCP server `mem`",
            "server",
        ),
        ("agents/reviewer.md", "---\nname: reviewer\n---\nLook.\n", "reviewer.md", "agent"),
        ("skills/check/SKILL.md", "---\ndescription: [\n---\nx\n", "SKILL.md:", "skill"),
    ] {
        let server = server(WireFormat::Anthropic).start();
        let home = TestHome::new().with_server(&server);
        let root = plugin(&home, r#"{"name":"spell"}"#);
        home.write(root.join(file), text);
        let installed = run(&home, &["install", root.to_str().unwrap(), "--trust"]);
        assert!(installed.success().stderr.contains(says), "{says}\n{}", installed.stderr);
        let (had, output) = session(&home, &server);
        let left: Vec<&str> = ALL.into_iter().filter(|part| *part != lost).collect();
        assert_eq!(had, left, "{file}: {}", output.stderr);
        assert!(output.stderr.contains("warning: "), "{file}: {}", output.stderr);
        server.finish();
    }
}

#[test]
fn what_is_no_plugin_is_refused_with_its_reason() {
    let home = TestHome::new();
    let check = |manifest: &str, says: &str| {
        let root = plugin(&home, manifest);
        let refused = run(&home, &["install", root.to_str().unwrap(), "--trust"]);
        assert!(refused.expect_code(1).stderr.contains(says), "{says}\n{}", refused.stderr);
    };
    check("{\n\"name\": }", ".claude-plugin/plugin.json:2: expected value");
    check("{\"version\":\"1\"}", ".claude-plugin/plugin.json:1: missing `name`");
    check("{\"name\":\"../../x\"}", "is not a valid plugin name");
    let root = plugin(&home, r#"{"name":"spell","skills":["../../etc"]}"#);
    let warned = run(&home, &["install", root.to_str().unwrap()]);
    assert!(
        warned.success().stderr.contains("`../../etc` leads out of the plugin"),
        "{}",
        warned.stderr
    );
    symlink("/etc/passwd", root.join("skills/check/more")).unwrap();
    check(r#"{"name":"spell"}"#, "the link leads out of the plugin, to /etc/passwd");
    let other = home.root().join("other");
    home.write(other.join(".claude-plugin/plugin.json"), r#"{"name":"spell"}"#);
    let twin = run(&home, &["install", other.to_str().unwrap()]);
    assert!(
        twin.expect_code(1).stderr.contains("a plugin called `spell` is installed from"),
        "{}",
        twin.stderr
    );
    let unknown = run(&home, &["enable", "nothing"]);
    assert!(
        unknown.expect_code(1).stderr.contains("no plugin `nothing`; installed: spell"),
        "{}",
        unknown.stderr
    );
    home.write(home.dormouse_home().join("plugins/odd.json"), "{");
    let list = run(&home, &["list"]);
    assert!(list.success().stderr.contains("odd.json:1: "), "{}", list.stderr);
    assert!(list.stdout.contains("spell"), "{}", list.stdout);
}

#[test]
fn the_conversation_lists_them() {
    let server = server(WireFormat::Anthropic).start();
    let home = TestHome::new().with_server(&server);
    let root = plugin(&home, r#"{"name":"spell","description":"Spells well."}"#);
    run(&home, &["install", root.to_str().unwrap(), "--trust"]).success();
    let mut terminal = talk(&home, &[], (100, 30));
    say(&mut terminal, "/plugins", "spell (enabled)");
    leave(terminal);
    server.finish();
}

/// Two plugins with commands: `/plugin:name` always, `/name` where only one has it and it is no command of the program.
#[test]
fn commands_of_plugins_are_slash_commands() {
    let server = server(WireFormat::Anthropic)
        .reply(ScriptedTurn::new().text("shipped"))
        .reply(ScriptedTurn::new().text("committed"))
        .reply(ScriptedTurn::new().text("checked"))
        .reply(ScriptedTurn::new().text("looked through"))
        .reply(ScriptedTurn::new().text("listed"))
        .start();
    let home = TestHome::new().with_server(&server);
    let ship = "---\ndescription: Ships a version.\nargument-hint: VERSION\n---\nShip $ARGUMENTS from ${CLAUDE_PLUGIN_ROOT}.";
    for (file, text) in [
        ("port/commands/ship.md", ship),
        ("port/commands/git/commit.md", "Commit it."),
        ("port/commands/check.md", "Check as the port does."),
        ("port/commands/review.md", "Review as the port does."),
        ("yard/.claude-plugin/plugin.json", r#"{"name":"yard","commands":"./orders"}"#),
        ("yard/orders/check.md", "Check as the yard does."),
        ("yard/commands/unused.md", "Not in the manifest."),
    ] {
        home.write(home.root().join(file), text);
    }
    for name in ["port", "yard"] {
        let root = home.root().join(name);
        let installed = run(&home, &["install", root.to_str().unwrap(), "--trust"]);
        assert!(installed.success().stderr.contains(&format!("{name}:check")), "{installed:?}");
    }
    let mut terminal = talk(&home, &[], (100, 40));
    terminal.type_keys("/port:sh");
    terminal.wait_for_text("Ships a version.");
    terminal.type_keys(&"\x7f".repeat("/port:sh".len()));
    say(&mut terminal, "/help", "/port:ship VERSION");
    for (line, answer, sent) in [
        ("/ship 1.2", "shipped", "Ship 1.2 from /"),
        ("/port:git:commit", "committed", "Commit it."),
        ("/yard:check", "checked", "Check as the yard does."),
        // The program's own command stays.
        ("/review", "looked through", "Review the changes in the working tree"),
    ] {
        say(&mut terminal, line, answer);
        let message = last_texts(&server);
        assert!(message.contains(sent), "{line}: {message}");
    }
    // Which of the two is meant is not guessed, and what the manifest leaves out is not there. (The blank closes the menu.)
    say(&mut terminal, "/check ", "Unknown command /check");
    say(&mut terminal, "/unused", "Unknown command /unused");
    leave(terminal);
    assert_eq!(server.requests().len(), 4);
    // In a headless run too, and the model is not told about them.
    server.expect_break("another session");
    home.run(&mut ask(&home, &["/port:ship 2.0"])).success();
    assert!(last_texts(&server).contains("Ship 2.0 from /"));
    assert!(!server.requests().pop().unwrap().system_text().contains("Ships a version."));
    server.finish();
}

fn last_texts(server: &ScriptedServer) -> String {
    texts(&server.requests().pop().unwrap().last_message()).join("\n")
}
