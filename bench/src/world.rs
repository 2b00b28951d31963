//! The hermetic world in which the binary is measured, and one run of it.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use dormouse_base::names;
use dormouse_testkit::TestHome;

use crate::server::{MODEL, RequestArrival, TimingServer};

/// A home, a project, a binary, and a server that tells the time.
pub(crate) struct BenchWorld {
    pub(crate) home: TestHome,
    server: TimingServer,
    binary: PathBuf,
}

impl BenchWorld {
    /// An empty world. Of this machine only the path to programs is in it.
    pub(crate) fn new(binary: &Path) -> Self {
        let server = TimingServer::start();
        let mut home = TestHome::new();
        home.set_env(names::ANTHROPIC_BASE_URL, server.url());
        home.set_env(names::ANTHROPIC_API_KEY, home.key());
        home.set_env(names::MODEL, MODEL);
        Self { home, server, binary: binary.to_owned() }
    }

    /// The same with a small repository as its project.
    pub(crate) fn with_repository(binary: &Path) -> Self {
        let world = Self::new(binary);
        for number in 0..20 {
            let text = format!("pub fn number() -> u32 {{\n    {number}\n}}\n");
            world.home.write(format!("src/module_{number}.rs"), text);
        }
        world.home.git_init();
        world.home.write("src/module_7.rs", "// changed since\n");
        world
    }

    /// Where its server is.
    pub(crate) fn server_url(&self) -> String {
        self.server.url()
    }

    /// The binary, to be given arguments.
    pub(crate) fn binary(&self) -> Command {
        self.home.command(&self.binary)
    }

    /// Runs the binary to its end: from its start to the arrival of its request, and that arrival.
    pub(crate) fn ask(&self, arguments: &[&str]) -> (Duration, RequestArrival) {
        let mut command = self.binary();
        let start = Instant::now();
        let mut child = spawn(command.args(arguments));
        let arrival = loop {
            if let Some(arrival) = self.server.arrival() {
                break arrival;
            }
            if let Some(status) = child.try_wait().expect("a child can be waited for") {
                crate::fail::fail(&format!("{arguments:?} ended with {status} and asked nothing"));
            }
        };
        let status = child.wait().expect("a child can be waited for");
        assert!(status.success(), "{arguments:?} ended with {status}");
        (arrival.headers.saturating_duration_since(start), arrival)
    }

    /// Runs a command to its end: how long that takes.
    pub(crate) fn run(mut command: Command) -> Duration {
        let start = Instant::now();
        let status = spawn(&mut command).wait().expect("a child can be waited for");
        let time = start.elapsed();
        assert!(status.success(), "{command:?} ended with {status}");
        time
    }
}

/// Starts a command whose output is let go. What it complains about is shown.
pub(crate) fn spawn(command: &mut Command) -> Child {
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command.spawn().unwrap_or_else(|error| {
        crate::fail::fail(&format!("{}: {error}", command.get_program().display()))
    })
}
