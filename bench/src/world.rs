//! The hermetic world in which the binary is measured, and one run of it.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use dormouse_base::names;
use dormouse_testkit::TestHome;

use crate::server::{MODEL, RequestArrival, TimingServer};

/// A question about which there are memories.
pub(crate) const PROMPT: &str = "where do the boats of the harbor land at low tide?";
const FILES: usize = 1_000;
const MATCHING: usize = 100;

/// A repository of files in which one has changed.
pub(crate) fn add_repository(home: &TestHome) {
    for number in 0..FILES {
        let text = format!("pub fn number() -> u32 {{\n    {number}\n}}\n");
        home.write(format!("src/part_{}/module_{number}.rs", number / 50), text);
    }
    home.git_init();
    home.write("src/part_0/module_7.rs", "// changed since\n");
}

/// Memories that match [`PROMPT`], each a little differently.
pub(crate) fn add_matching_memories(home: &TestHome) {
    let memory = home.dormouse_home().join("memory");
    std::fs::create_dir_all(&memory).expect("a memory directory");
    for number in 0..MATCHING {
        let text = format!(
            "---\nname: Boats of harbor {number}\ndescription: where they land at low tide\ntype: project\n---\n\n\
             The boats of harbor {number} land at quay {}.\n",
            number * 7
        );
        std::fs::write(memory.join(format!("boats-{number}.md")), text).expect("a memory");
    }
}

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

    /// What is measured as an ordinary start: a repository, and memories that match [`PROMPT`].
    pub(crate) fn ordinary(binary: &Path) -> Self {
        let world = Self::new(binary);
        add_repository(&world.home);
        world.add_matching_memories();
        world
    }

    /// The same, at a server with TLS whose certificate is among the system's.
    pub(crate) fn with_tls(binary: &Path) -> Self {
        let (server, certificates) = TimingServer::start_with_tls();
        let mut world = Self::ordinary(binary).with_server(server);
        let file = world.home.root().join("certificates.pem");
        std::fs::write(&file, certificates).expect("the certificates");
        world.home.set_env("SSL_CERT_FILE", file);
        world
    }

    fn with_server(mut self, server: TimingServer) -> Self {
        self.home.set_env(names::ANTHROPIC_BASE_URL, server.url());
        Self { server, ..self }
    }

    pub(crate) fn add_matching_memories(&self) {
        add_matching_memories(&self.home);
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
        // It says which memories it recalled, every time.
        let mut child = spawn(command.args(arguments).stderr(Stdio::null()));
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
