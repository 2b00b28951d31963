//! Snapshots of help texts, outputs and messages. `INSTA_UPDATE=always cargo test -p dormouse-cli --test it snapshots`
//! writes them anew; the difference is reviewed like code.

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{TestHome, WireFormat};
use serde_json::json;

use crate::program::{ask, dormouse, server};

const NOW: &str = "2026-11-02T09:00:00Z";

/// Compares a text with its snapshot. Paths, ids, versions and durations are replaced first.
fn assert_text(name: &str, home: &TestHome, text: &str) {
    let root = home.root().canonicalize().unwrap().display().to_string();
    let text = text.replace(env!("CARGO_BIN_EXE_dormouse"), "[PROGRAM]");
    let text = text.replace(&root, "[ROOT]").replace(&home.root().display().to_string(), "[ROOT]");
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    for (pattern, replacement) in [
        (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "[ID]"),
        (r"(?m)^[0-9a-f]{8}-[0-9a-f]{4} ", "[ID] "),
        (r"http://127\.0\.0\.1:\d+", "http://[SERVER]"),
        (r"\d+ ms\b", "[N] ms"),
        (r"\d+ MB free", "[N] MB free"),
        (r"git version [^\n]*", "git version [VERSION]"),
        (r"GNU bash, [^\n]*", "GNU bash, [VERSION]"),
        (r"projects/[^/\n]*/", "projects/[PROJECT]/"),
        // Not every kernel has one.
        (r"commands run (in|without) (the|a) sandbox: [^\n]*", "[SANDBOX]"),
    ] {
        settings.add_filter(pattern, replacement);
    }
    settings.bind(|| insta::assert_snapshot!(name, text));
}

/// A command with its exit code and output, as in a terminal.
fn run(home: &TestHome, arguments: &[&str]) -> String {
    let output = home.run(dormouse(home, arguments).env("COLUMNS", "100"));
    let code = match output.code {
        Some(0) => String::new(),
        code => {
            format!("[exit code {}]\n", code.map_or("none".to_owned(), |code| code.to_string()))
        }
    };
    format!("$ dormouse {}\n{}{}{code}\n", arguments.join(" "), output.stdout, output.stderr)
}

fn assert_runs(name: &str, home: &TestHome, commands: &[&[&str]]) {
    let text: String = commands.iter().map(|arguments| run(home, arguments)).collect();
    assert_text(name, home, &text);
}

/// The subcommands that a help text lists.
fn subcommands(help: &str) -> Vec<String> {
    let list = help.split_once("\nCommands:\n").map_or("", |(_, rest)| rest);
    let lines = list.lines().take_while(|line| !line.is_empty());
    let entries = lines.filter_map(|line| line.strip_prefix("  "));
    // Other lines continue a long text.
    let entries = entries.filter(|entry| entry.starts_with(|c: char| c.is_ascii_lowercase()));
    let names = entries.filter_map(|entry| entry.split_whitespace().next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

/// The help texts of a command and of all its subcommands.
fn help_of(home: &TestHome, path: &[&str]) -> String {
    let arguments: Vec<&str> = path.iter().copied().chain(["--help"]).collect();
    let own = run(home, &arguments);
    let below = subcommands(&own);
    let texts = below.iter().map(|name| {
        let path: Vec<&str> = path.iter().copied().chain([name.as_str()]).collect();
        help_of(home, &path)
    });
    own.clone() + &texts.collect::<String>()
}

#[test]
fn help_of_every_command() {
    let home = TestHome::new();
    let program = run(&home, &["--help"]);
    assert_text("help", &home, &program);
    let commands = subcommands(&program);
    assert!(commands.len() > 15, "{commands:?}");
    for command in commands {
        assert_text(&format!("help_{command}"), &home, &help_of(&home, &[&command]));
    }
}

#[test]
fn first_run_and_usage_errors() {
    let home = TestHome::new();
    assert_runs(
        "errors",
        &home,
        &[
            &["-p", "hello"],
            &["-p", "--max-cost", "much", "hello"],
            &["-p", "--continue", "hello"],
            &["-p", "--resume", "ffff", "hello"],
            &["memroy", "--json"],
            &["sessions"],
            &["sessions", "--search", "nuts"],
            &["search", "--sessions", ""],
            &["search", "--sessions", "nuts"],
            &["stats"],
            &["stats", "--since", "soon"],
            &["context", "nowhere.jsonl"],
            &["config", "get", "modle"],
            &["config", "set", "modle", "x"],
            &["config", "set", "layers.dreams", "false"],
            &["hooks"],
            &["hooks", "NoSuchEvent"],
            &["permissions", "check", "Basch", "ls"],
            &["plugin", "list"],
            &["plugin", "remove", "nothing"],
            &["mcp", "list"],
            &["mcp", "remove", "nothing"],
            &["mcp", "add", "files", "npx"],
            &["dream", "log"],
            &["dream"],
            &["send", "reviewer", ""],
            &["setup", "cursor"],
            &["setup", "cursor", "--undo"],
        ],
    );
}

#[test]
fn memory_commands() {
    let home = TestHome::new().with_now(NOW);
    let add: &[&str] = &["memory", "add", "Test database", "--type", "project"];
    let add = [add, &["--description", "where it runs", "--body", "Port 5433"]].concat();
    assert_runs(
        "memory",
        &home,
        &[
            &["memory", "list"],
            &add,
            &["memory", "list"],
            &["memory", "show", "test-database.md"],
            &["memory", "show", "test-databsae"],
            &["memory", "edit", "test-database.md", "--body", "Port 5434"],
            &["memory", "log"],
            &["memory", "diff"],
            &["memory", "undo"],
            &["memory", "undo", "99"],
            &["memory", "search", "database"],
            &["memory", "search", "weather"],
            &["recall", "database port", "--explain"],
            &["memory", "rm", "Test database"],
            &["memory", "restore"],
            &["memory", "restore", "test-database.md"],
            &["memory", "confirm", "test-database.md"],
            &["memory", "inbox"],
            &["memory", "inbox", "accept", "7"],
            &["memory", "guard"],
            &["memory", "guard", "test-database.md"],
            &["memory", "doctor"],
            &["memory", "embed"],
            &["memory", "list", "--type", "user"],
            &["memory", "export", "backup"],
            &["memory", "import", "backup/project"],
        ],
    );
}

#[test]
fn reports_after_a_session() {
    let server = server(WireFormat::Anthropic).reply(ScriptedTurn::new().text("hello")).start();
    let mut home = TestHome::new().with_server(&server);
    home.set_env("TZ", "UTC");
    home.git_init();
    home.run(&mut ask(&home, &["how are the nuts?"])).success();
    assert_runs("doctor", &home, &[&["doctor"]]);
    assert_runs(
        "sessions",
        &home,
        &[&["sessions"], &["sessions", "--search", "nuts"], &["sessions", "--search", "rain"]],
    );
    server.finish();
}

#[test]
fn doctor_with_problems() {
    let mut home = TestHome::new();
    home.set_env("PATH", "/nowhere");
    home.write(".dormouse/settings.json", r#"{"env":{"A":"b"},"autoMemoryDirectory":"/x"}"#);
    assert_runs("doctor_problems", &home, &[&["doctor"]]);
}

#[test]
fn permissions_and_settings() {
    let home = TestHome::new();
    let settings = json!({"permissions": {"deny": ["Read(.env)"]}, "hooks": {"Stop": [{"hooks":
        [{"type": "command", "command": "true"}]}]}});
    home.write(".dormouse/settings.json", settings.to_string());
    assert_runs(
        "permissions",
        &home,
        &[
            &["permissions", "check", "Bash", "git diff"],
            &["permissions", "check", "Bash", "touch x"],
            &["permissions", "check", "Read", ".env"],
            &["permissions", "check", "Edit", "a.rs", "--permission-mode", "accept-edits"],
            &["permissions", "trust"],
            &["permissions", "trust", "--yes"],
            &["permissions", "trust"],
            &["permissions", "trust", "--revoke"],
            &["config", "set", "model", "claude-opus-5-5"],
            &["config", "get", "model"],
            &["config", "unset", "model"],
            &["config", "unset", "model"],
        ],
    );
}
