//! A new user: nothing set up, help, the demo.

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{TestHome, WireFormat};

use crate::program::{ask, dormouse, server};

#[test]
fn without_a_key_it_says_what_to_set() {
    let home = TestHome::new();
    let output = home.run(&mut ask(&home, &["hi"]));
    assert_eq!(output.code, Some(2));
    for part in [
        "no model is set up",
        "ANTHROPIC_API_KEY",
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        "dormouse demo",
    ] {
        assert!(output.stderr.contains(part), "{part}: {}", output.stderr);
    }
    assert_eq!(output.stdout, "");
}

#[test]
fn the_demo_runs_and_leaves_nothing_behind() {
    let home = TestHome::new();
    let before: Vec<_> = files(home.root());
    let output = home.run(&mut dormouse(&home, &["demo"]));
    let text = output.success().stdout.clone();
    for part in [
        "with a scripted model",
        "[Read]",
        "40 hazelnuts",
        "[Bash]",
        "52 nuts",
        "3 requests",
        "<persisted-output>",
        "nut 19999: round",
        "bytes of output are in a file",
        "memory: saved nuts-in-dozens.md (user memory)",
        "| description: counts nuts in dozens, rounded up",
        "recalled 1 memory",
        "% sure)",
        "| - [Nuts in dozens](nuts-in-dozens.md) — counts nuts in dozens, rounded up",
        "compacted from the session notes, without a request",
        "compacted without a model",
        "| Count shelves 1 to 5 again, in dozens. Include the acorns in the tin box.",
        "memory: Saved 1 memory: acorns-in-the-tin-box.md",
        "memory: Saved 1 memory: tin-box-on-sundays.md",
        "| the-tin-box.md",
        "Improved 1 memor",
        "| acorns-in-the-tin-box.md\n  | tin-box-on-sundays.md",
        "every byte is as it was before the dream",
        "Ben's session: received ci-runner.md, by Ana",
        "This is a note by Ana, a member of the team",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(files(home.root()), before);
}

fn files(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir().unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path.clone());
            }
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn help_has_examples_and_exit_codes() {
    let home = TestHome::new();
    let help = home.run(&mut dormouse(&home, &["--help"])).success().stdout.clone();
    assert!(help.contains("Examples:") && help.contains("Exit codes:"), "{help}");
    let help = home.run(&mut dormouse(&home, &["sessions", "--help"])).success().stdout.clone();
    assert!(help.contains("Examples:"), "{help}");
}

#[test]
fn the_model_comes_from_the_command_line_the_environment_the_settings_or_the_server() {
    let model = |arguments: &[&str], environment: Option<&str>, settings: Option<&str>| {
        let server = server(WireFormat::OpenAi)
            .model("listed-first")
            .reply(ScriptedTurn::new().text("ok"))
            .start();
        let mut home = TestHome::new().with_server(&server);
        home.unset_env("DORMOUSE_MODEL");
        if let Some(name) = environment {
            home.set_env("DORMOUSE_MODEL", name);
        }
        if let Some(text) = settings {
            std::fs::create_dir_all(home.dormouse_home()).unwrap();
            std::fs::write(home.dormouse_home().join("settings.json"), text).unwrap();
        }
        home.run(ask(&home, &["hi"]).args(arguments)).success();
        let name = server.single_request().json()["model"].as_str().unwrap().to_owned();
        server.finish();
        name
    };
    let settings = Some(r#"{"model":"from-settings"}"#);
    assert_eq!(model(&["--model", "from-line"], Some("from-environment"), settings), "from-line");
    assert_eq!(model(&[], Some("from-environment"), settings), "from-environment");
    assert_eq!(model(&[], None, settings), "from-settings");
    assert_eq!(model(&[], None, None), "listed-first");
    assert_eq!(model(&["--model", "big[1m]"], None, None), "big");
}

#[test]
fn a_key_from_a_command_is_used_and_never_shown() {
    let server = server(WireFormat::Anthropic).reply(ScriptedTurn::new().text("ok")).start();
    let mut home = TestHome::new().with_server(&server);
    home.unset_env("ANTHROPIC_API_KEY");
    let settings = r#"{"provider":{"kind":"anthropic","keyCommand":"printf 'key-from-a-ring\n'"}}"#;
    let output = home.run(&mut ask(&home, &["--settings", settings, "--verbose", "hi"]));
    assert_eq!(output.success().stdout, "ok\n");
    assert_eq!(server.single_request().header("x-api-key"), Some("key-from-a-ring"));
    assert!(!output.stderr.contains("key-from-a-ring"));
    let settings = r#"{"provider":{"kind":"anthropic","keyCommand":"echo half-a-key; echo locked >&2; exit 1"}}"#;
    let output = home.run(&mut ask(&home, &["--settings", settings, "hi"]));
    assert_eq!(output.code, Some(2));
    assert!(
        output.stderr.contains("printed no key: locked") && !output.stderr.contains("half-a-key")
    );
    server.finish();
}

/// On a terminal the demo pauses after each scene, with the whole scene on the screen; `--fast` does not pause.
#[test]
fn the_demo_pauses_between_scenes() {
    let home = TestHome::new();
    let program = env!("CARGO_BIN_EXE_dormouse");
    let mut terminal = home.terminal(program, &["demo"], (80, 24));
    terminal.wait_for_text("Press Enter for the next scene.");
    for scene in 1..=8 {
        terminal.enter("");
        terminal.wait_for(&format!("scene {scene}"), |screen| {
            screen.contains(&format!("Scene {scene}:"))
                && screen.trim_end().ends_with("Press Enter for the next scene.")
        });
    }
    terminal.enter("");
    terminal.wait_for_text("End of the demo.");
    assert_eq!(terminal.wait(), 0);
    let mut terminal = home.terminal(program, &["demo", "--fast"], (80, 24));
    terminal.wait_for_text("End of the demo.");
    assert_eq!(terminal.wait(), 0);
    assert!(!terminal.all_rows().join("\n").contains("Press Enter"));
}
