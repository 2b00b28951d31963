//! Running the program.

use std::process::Command;
use std::time::{Duration, Instant};

use dormouse_testkit::{ScriptedServer, ServerBuilder, TestHome, WireFormat};

pub(crate) const BOTH: [WireFormat; 2] = [WireFormat::Anthropic, WireFormat::OpenAi];

/// The program with `-p` and these arguments.
pub(crate) fn ask(home: &TestHome, arguments: &[&str]) -> Command {
    let mut command = home.command(env!("CARGO_BIN_EXE_dormouse"));
    command.arg("-p").args(arguments);
    command
}

/// The program with just these arguments.
pub(crate) fn dormouse(home: &TestHome, arguments: &[&str]) -> Command {
    let mut command = home.command(env!("CARGO_BIN_EXE_dormouse"));
    command.args(arguments);
    command
}

pub(crate) fn server(wire: WireFormat) -> ServerBuilder {
    ScriptedServer::builder().wire(wire)
}

/// Waits until something is so; the deadline is only for a program that hangs.
pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !is_so() {
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The only transcript there is, as text.
pub(crate) fn transcript(home: &TestHome) -> String {
    let files = home.transcripts();
    assert_eq!(files.len(), 1, "{files:?}");
    std::fs::read_to_string(&files[0]).unwrap()
}
