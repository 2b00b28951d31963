//! Whether the memory that a session's first message needs is in its first request on a busy machine: sessions with `-p` and
//! in a terminal, among 10,000 memories, while other programs keep every core busy.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use dormouse_model::WireFormat;
use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{ScriptedServer, TestHome};

use crate::recall_speed::fill;
use crate::report::{BenchFigure, BenchSection, FigureUnit};

const MEMORIES: u64 = 10_000;
const MESSAGES: usize = 200;
const LOOPS: usize = 4;
const PROMPT: &str = "which oil do the lighthouse lamps of Vardo burn?";
const ANSWER: &str = "whale oil";
/// Of so few first requests it may be missing.
const AIM: f64 = 5.5;
/// How a request shows a memory.
const IN_REQUEST: &str = "Lighthouse lamps of Vardo burn rapeseed oil";
/// How the program says that it is late.
const LATE: &str = "memory not ready in time";

/// Programs that keep the machine busy until this is dropped.
struct BusyLoops(Vec<Child>);

impl BusyLoops {
    fn start() -> Self {
        let start = |_| {
            let mut command = Command::new("sh");
            command.args(["-c", "while :; do :; done"]).stdin(Stdio::null());
            command.spawn().expect("a shell")
        };
        Self((0..LOOPS).map(start).collect())
    }
}

impl Drop for BusyLoops {
    fn drop(&mut self) {
        for child in &mut self.0 {
            child.kill().expect("a loop can be ended");
            child.wait().expect("a loop has ended");
        }
    }
}

/// What became of the memories of first messages.
#[derive(Default)]
struct FirstMessages {
    sent: usize,
    late: usize,
    silent: usize,
}

impl FirstMessages {
    fn count(&mut self, request: &str, said: &str) {
        if request.contains(IN_REQUEST) {
            self.sent += 1;
        } else if said.contains(LATE) {
            self.late += 1;
        } else {
            self.silent += 1;
        }
    }
}

/// Measures it with the index on disk.
pub(crate) fn run(binary: &Path) -> BenchSection {
    let server = ScriptedServer::builder().wire(WireFormat::Anthropic).start();
    let home = TestHome::new().with_server(&server);
    fill(&home.dormouse_home().join("memory"), MEMORIES);
    let text = format!(
        "---\nname: Lighthouse lamps of Vardo\ndescription: which oil the lighthouse lamps of Vardo burn\ntype: project\n---\n{IN_REQUEST}.\n"
    );
    home.write(home.dormouse_home().join("memory/lighthouse.md"), text);
    let mut recall = home.command(binary);
    // Makes the index.
    home.run(recall.args(["recall", PROMPT, "--json"])).success();
    let loops = BusyLoops::start();
    let (mut headless, mut interactive) = (FirstMessages::default(), FirstMessages::default());
    for message in 0..MESSAGES {
        server.expect_break("another session");
        server.push(ScriptedTurn::new().text(ANSWER));
        let (counts, said) = if message % 2 == 0 {
            let mut command = home.command(binary);
            (&mut headless, home.run(command.args(["-p", PROMPT])).success().stderr.clone())
        } else {
            (&mut interactive, in_terminal(&home, binary))
        };
        let requests = server.requests();
        counts.count(&requests.last().expect("a request").text(), &said);
    }
    drop(loops);
    let mut section = BenchSection::new(
        "first messages on a busy machine",
        format!(
            "{MESSAGES} sessions, half with `-p` and half in a terminal, with {MEMORIES} memories, their index on disk, and \
             {LOOPS} busy loops beside them: how often the one memory that matches the first message is in the first request."
        ),
    );
    let both = headless.sent + interactive.sent;
    let figure =
        |name: &str, count: usize| BenchFigure::new(name, to_f64(count), FigureUnit::Count);
    section.add([
        figure("not in the first request", MESSAGES - both).aim_below(AIM),
        figure("… of those with `-p`", headless.sent),
        figure("… of those in a terminal", interactive.sent),
        figure("late, and said", headless.late + interactive.late),
        figure("silent", headless.silent + interactive.silent).aim_below(0.5),
    ]);
    section
}

fn to_f64(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

/// A session in a terminal with this one message: the rows at its end.
fn in_terminal(home: &TestHome, binary: &Path) -> String {
    let mut terminal = home.terminal(binary, &[], (120, 30));
    terminal.wait_for_prompt(&[""]);
    terminal.enter(PROMPT);
    terminal.wait_for_text(ANSWER);
    let rows = terminal.all_rows().join("\n");
    terminal.type_keys("\x04");
    terminal.wait();
    rows
}
