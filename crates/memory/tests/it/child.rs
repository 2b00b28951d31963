//! This test binary, run again as another process that does one thing.

use std::path::Path;
use std::process::{Child, Command, Stdio};

const WHAT: &str = "DORMOUSE_MEMORY_TEST_CHILD";
const WHERE: &str = "DORMOUSE_MEMORY_TEST_ROOT";

/// Starts another process that does `what` in a folder.
pub(crate) fn start(what: &str, root: &Path, fault: Option<&str>) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "child::the_other_process", "--nocapture", "--test-threads=1"]);
    command.env(WHAT, what).env(WHERE, root).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    match fault {
        Some(fault) => command.env("DORMOUSE_FAULT", fault),
        None => command.env_remove("DORMOUSE_FAULT"),
    };
    command.spawn().unwrap()
}

#[test]
fn the_other_process() {
    // Run as an ordinary test, there is nothing to do.
    let Ok(what) = std::env::var(WHAT) else { return };
    let root = std::env::var(WHERE).unwrap();
    let root = Path::new(&root);
    match what.split_once(' ').unwrap_or((&what, "")) {
        ("crash", scenario) => crate::crash::change_things(root, scenario),
        ("write", writer) => crate::processes::write(root, writer.parse().unwrap()),
        ("swap", _) => crate::escapes::swap_for_ever(root),
        other => panic!("{other:?}"),
    }
}
