//! What some tests need beyond Rust and git: a script below `scripts/` gets it and prints where it is.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// What each script printed, line by line; none where the part cannot be had.
static FOUND: Mutex<BTreeMap<String, Option<Vec<String>>>> = Mutex::new(BTreeMap::new());

/// The lines that `scripts/NAME` prints; none where what it gets cannot be had, which the script has said. With `CI=true` that is
/// a failure. Each script runs once in a process.
pub fn test_part(name: &str) -> Option<Vec<String>> {
    let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    found.entry(name.to_owned()).or_insert_with(|| look(name)).clone()
}

fn look(name: &str) -> Option<Vec<String>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts").join(name);
    let output = Command::new(&script).output().expect("the script starts");
    let (said, problem) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    match output.status.code() {
        Some(0) => Some(said.lines().map(str::to_owned).collect()),
        Some(3) => {
            // Not by a macro: the output of a test that passes is not shown.
            let _unseen = std::io::stderr().write_all(problem.as_bytes());
            None
        }
        _ => panic!("{}: {problem}", script.display()),
    }
}

/// Ends the test where one of these parts cannot be had; see [`test_part`].
#[macro_export]
macro_rules! needs {
    ($($part:literal),+) => {
        if $($crate::test_part($part).is_none())||+ {
            return;
        }
    };
}
