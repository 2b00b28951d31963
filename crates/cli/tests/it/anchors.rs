//! What a memory says about the project's files is checked wherever it is shown, and made again when it is edited (M-11).

use dormouse_testkit::TestHome;

use crate::program::dormouse;

const BODY: &str = "连接池在src/pool.rs里，见`open_pool`。";

fn place() -> TestHome {
    let home = TestHome::new();
    home.git_init();
    home.write("src/pool.rs", "fn open_pool() {}\n");
    home.write("src/other.rs", "fn other() {}\n");
    let add =
        ["memory", "add", "Pool", "--type", "project", "--description", "the connection pool"];
    let arguments: Vec<&str> = add.into_iter().chain(["--body", BODY]).collect();
    home.run(&mut dormouse(&home, &arguments)).success();
    home
}

fn memory(home: &TestHome) -> String {
    let shown = home.run(&mut dormouse(home, &["memory", "show", "pool"]));
    shown.success().stdout.clone()
}

#[test]
fn other_agents_are_told_what_is_gone() {
    let home = place();
    assert!(memory(&home).contains("src/pool.rs#open_pool"), "{}", memory(&home));
    std::fs::remove_file(home.project().join("src/pool.rs")).unwrap();
    let prompt = r#"{"prompt":"where is the connection pool?","cwd":"."}"#;
    let hook = home.run_with_input(&mut dormouse(&home, &["hook", "prompt"]), prompt);
    assert!(hook.success().stdout.contains("src/pool.rs is gone"), "{hook:?}");
    let mut server = home.spawn(&mut dormouse(&home, &["mcp"]));
    let lines = [
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"memory_search","arguments":{"query":"connection pool"}}}"#,
        r#"{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"memory_recall","arguments":{"query":"connection pool"}}}"#,
    ];
    server.type_text(&(lines.join("\n") + "\n"));
    server.wait_for_stdout(|text| text.contains(r#""id":7"#) && text.contains(r#""id":8"#));
    server.close_stdin();
    let said = server.wait().stdout;
    for line in said.lines().filter(|line| !line.contains(r#""id":0"#)) {
        assert!(line.contains("src/pool.rs is gone"), "{line}");
    }
}

#[test]
fn an_edit_by_the_user_makes_them_again() {
    let mut home = place();
    home.write(
        "editor.sh",
        "#!/bin/sh\nsed -i 's#src/pool.rs#src/other.rs#; s#open_pool#other#' \"$1\"\n",
    );
    home.set_env("EDITOR", format!("sh {}", home.project().join("editor.sh").display()));
    home.unset_env("VISUAL");
    home.run(&mut dormouse(&home, &["memory", "edit", "pool"])).success();
    let text = memory(&home);
    assert!(text.contains("src/other.rs#other") && !text.contains("src/pool.rs"), "{text}");
}
