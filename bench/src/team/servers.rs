//! Servers that are measured: processes of the release binary.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use dormouse_testkit::TestHome;

/// Running servers on one database; they end with this value.
pub(crate) struct TeamServers {
    home: TestHome,
    program: std::path::PathBuf,
    database: String,
    running: Vec<(Child, SocketAddr)>,
}

impl TeamServers {
    pub(crate) fn start(binary: &Path, database: &str, count: usize) -> Self {
        let home = TestHome::new();
        let (program, database) = (binary.to_owned(), database.to_owned());
        let mut servers = Self { home, program, database, running: Vec::new() };
        for _ in 0..count {
            let server = servers.one(count == 1);
            servers.running.push(server);
        }
        servers
    }

    /// Starts a server; a single one on one core, so that its figure is that of a core.
    fn one(&self, is_alone: bool) -> (Child, SocketAddr) {
        let mut command = if is_alone {
            let mut command = self.home.command("taskset");
            command.args(["-c", "0"]).arg(&self.program);
            command
        } else {
            self.home.command(&self.program)
        };
        command.args(["team", "serve", "--listen", "127.0.0.1:0", "--log", "none", "--rate", "0"]);
        command.args(["--max-entries", "20000", "--database", &self.database]);
        let mut child = command
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let mut lines = BufReader::new(child.stderr.take().expect("it is piped")).lines();
        let address = lines.by_ref().map_while(Result::ok).find_map(|line| {
            let (_, address) = line.split_once("http://")?;
            address.trim().parse().ok()
        });
        // What else it says is read, so that it never waits.
        std::thread::spawn(move || lines.for_each(drop));
        (child, address.expect("it says where it listens"))
    }

    pub(crate) fn addresses(&self) -> Vec<SocketAddr> {
        self.running.iter().map(|(_, address)| *address).collect()
    }

    pub(crate) fn process(&self) -> u32 {
        self.running.first().map_or(0, |(child, _)| child.id())
    }

    pub(crate) fn token(&self) -> String {
        let mut command: Command = self.home.command(&self.program);
        command.args(["team", "token", "create", "bench", "--role", "admin"]);
        let output = command.args(["--database", &self.database]).output().expect("a token");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }
}

impl Drop for TeamServers {
    fn drop(&mut self) {
        for (child, _) in &mut self.running {
            // It may have ended by itself.
            let _ended = child.kill();
            let _reaped = child.wait();
        }
    }
}
