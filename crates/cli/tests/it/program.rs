//! Running the program.

use std::process::Command;

pub(crate) use dormouse_testkit::wait_until;
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

/// The only transcript there is, as text.
pub(crate) fn transcript(home: &TestHome) -> String {
    let files = home.transcripts();
    assert_eq!(files.len(), 1, "{files:?}");
    std::fs::read_to_string(&files[0]).unwrap()
}
