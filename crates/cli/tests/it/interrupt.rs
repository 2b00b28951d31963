//! An interrupt at any point: the run ends at once, what was open is closed, and the next message works.

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{Reply, TestHome, WireFormat};

use crate::program::{BOTH, ask, server, transcript, wait_until};

#[test]
fn while_a_command_runs() {
    for wire in BOTH {
        let server = server(wire)
            .reply(ScriptedTurn::new().text("waiting").call(
                "w",
                "Bash",
                r#"{"command":"echo $$ > pid; sleep 300"}"#,
            ))
            .reply(ScriptedTurn::new().text("still usable"))
            .start();
        let home = TestHome::new().with_server(&server);
        let mut running = home.spawn(&mut ask(&home, &["--permission-mode", "bypass", "hi"]));
        running.close_stdin();
        wait_until("the command to start", || {
            std::fs::read_to_string(home.project().join("pid"))
                .is_ok_and(|text| text.ends_with('\n'))
        });
        running.interrupt();
        let output = running.wait();
        assert_eq!(output.code, Some(130), "{output:?}");
        let pid = home.read("pid");
        assert!(!std::path::Path::new("/proc").join(pid.trim()).exists(), "the command goes on");
        assert!(transcript(&home).contains("[interrupted: the call did not finish"));
        assert_eq!(home.run(&mut ask(&home, &["-c", "go on"])).success().stdout, "still usable\n");
        server.finish();
    }
}

#[test]
fn while_waiting_for_another_try() {
    let server = server(WireFormat::Anthropic)
        .reply(Reply::rate_limited(300))
        .reply(ScriptedTurn::new().text("still usable"))
        .start();
    let home = TestHome::new().with_server(&server);
    let mut running = home.spawn(&mut ask(&home, &["hi"]));
    running.close_stdin();
    running.wait_for_stderr(|text| text.contains("retrying in 300.0 s"));
    running.interrupt();
    let output = running.wait();
    assert_eq!(output.code, Some(130), "{output:?}");
    assert_eq!(home.run(&mut ask(&home, &["-c", "go on"])).success().stdout, "still usable\n");
    server.finish();
}

#[test]
fn while_the_server_is_silent() {
    let server = server(WireFormat::OpenAi)
        .reply(
            Reply::from(ScriptedTurn::new().text("x"))
                .stop_after(0)
                .then(dormouse_testkit::End::Hang),
        )
        .reply(ScriptedTurn::new().text("still usable"))
        .start();
    let home = TestHome::new().with_server(&server);
    let mut running = home.spawn(&mut ask(&home, &["hi"]));
    running.close_stdin();
    server.wait_for_requests(1);
    running.interrupt();
    let output = running.wait();
    assert_eq!(output.code, Some(130), "{output:?}");
    assert_eq!(home.run(&mut ask(&home, &["-c", "go on"])).success().stdout, "still usable\n");
    server.finish();
}
