//! The hermetic home, tried with the shell and with git.

use std::panic::{AssertUnwindSafe, catch_unwind};

use dormouse_testkit::{ScriptedServer, TestHome, WireFormat};

use crate::client::{Client, body, user};

#[test]
fn programs_see_this_world_and_nothing_else() {
    let home = TestHome::new().with_now("2027-01-02T03:04:05Z");
    let output = home.run(&mut home.command("env"));
    output.success();
    let mut names: Vec<&str> =
        output.stdout.lines().filter_map(|line| line.split('=').next()).collect();
    names.retain(|name| !name.starts_with("GIT_"));
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "DORMOUSE_EXTRACTION",
            "DORMOUSE_HOME",
            "DORMOUSE_RETRY_BASE_MS",
            "DORMOUSE_SESSION_NOTES",
            "DORMOUSE_TEST_DEADLINES",
            "DORMOUSE_TEST_NOW",
            "HOME",
            "LANG",
            "PATH",
            "TMPDIR",
            "TZ"
        ]
    );
    assert!(output.stdout.contains("DORMOUSE_TEST_NOW=2027-01-02T03:04:05Z\n"));
    let folder = home.run(&mut home.command("pwd")).success().stdout.clone();
    assert_eq!(folder.trim_end(), home.project().canonicalize().unwrap().to_str().unwrap());
    assert!(!home.dormouse_home().exists());
}

#[test]
fn a_server_brings_its_variables_and_its_canaries() {
    for (wire, url, key) in [
        (WireFormat::Anthropic, "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"),
        (WireFormat::OpenAi, "OPENAI_BASE_URL", "OPENAI_API_KEY"),
    ] {
        let server = ScriptedServer::builder()
            .wire(wire)
            .model("m-7")
            .reply_with(|_| dormouse_model::script::ScriptedTurn::new().text("x").into())
            .start();
        let home = TestHome::new().with_server(&server);
        let environment = home.environment();
        assert_eq!(environment.get(url), Some(server.url().as_str()));
        assert_eq!(environment.get(key), Some(home.key()));
        assert_eq!(environment.get("DORMOUSE_MODEL"), Some("m-7"));
        assert!(home.read(".env").contains(home.env_file_secret()));
        Client::new(&server).post(&body(&[&user(home.key())]));
        server.expect_break("another conversation");
        Client::new(&server).post(&body(&[&user(home.env_file_secret())]));
        assert_eq!(server.failures().len(), 2, "{:?}", server.failures());
    }
}

#[test]
fn git_repositories_are_always_the_same() {
    let commit = || {
        let home = TestHome::new();
        home.write("src/a.txt", "a\n");
        home.git_init();
        assert_eq!(home.git(&["status", "--porcelain"]), "");
        home.git(&["rev-parse", "HEAD"])
    };
    assert_eq!(commit(), commit());
}

#[test]
fn files_and_transcripts() {
    let home = TestHome::new();
    home.write("deep/er/file.txt", "text");
    assert_eq!(home.read("deep/er/file.txt"), "text");
    assert!(home.transcripts().is_empty());
    let folder = home.dormouse_home().join("projects/p/sessions");
    for name in ["b.jsonl", "a.jsonl", "c.txt"] {
        home.write(folder.join(name), "{}");
    }
    assert_eq!(home.transcripts(), [folder.join("a.jsonl"), folder.join("b.jsonl")]);
}

#[test]
fn programs_are_talked_to_and_stopped() {
    let home = TestHome::new();
    let script = "trap 'echo caught; exit 7' INT; echo ready; while :; do sleep 0.05; done";
    let shell = |script: &str| {
        // A shell cannot trap what is ignored where it starts, as in a job in the background.
        let mut command = home.command("env");
        command.args(["--default-signal=INT", "sh", "-c", script]);
        command
    };
    let running = home.spawn(&mut shell(script));
    running.wait_for_stdout(|text| text.contains("ready"));
    running.interrupt();
    let output = running.wait();
    output.expect_code(7);
    assert_eq!(output.stdout, "ready\ncaught\n");
    let running = home.spawn(&mut shell(script));
    running.wait_for_stdout(|text| text.contains("ready"));
    running.kill9();
    let output = running.wait();
    assert_eq!((output.code, output.signal), (None, Some(9)));
    let output = home.run_with_input(&mut shell("cat; echo no >&2; exit 3"), "typed");
    assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("typed", "no\n"));
    assert_eq!(output.code, Some(3));
    // A child that keeps the pipes open is not waited for, and all that was printed is there.
    let left = home.run(&mut shell("sleep 600 & seq 20000; echo $!; exit 4"));
    let (child, numbers) = (left.stdout.lines().last().unwrap(), left.stdout.lines().count());
    assert_eq!((left.code, numbers), (Some(4), 20_001));
    home.run(home.command("kill").arg(child)).success();
    let failed = catch_unwind(AssertUnwindSafe(|| output.success()));
    assert!(failed.unwrap_err().downcast_ref::<String>().unwrap().contains("typed"));
}
