//! The program itself, which `scripts/test` runs the long haul with: with a test beside it, `cargo test` builds it too.

#![expect(clippy::disallowed_methods, reason = "tests")]

use std::process::Command;

#[test]
fn a_missing_binary_is_named() {
    let mut bench = Command::new(env!("CARGO_BIN_EXE_dormouse-bench"));
    let output = bench.args(["long-haul", "--binary", "nowhere/dormouse"]).output().unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("nowhere/dormouse") && said.contains("build it first"), "{said}");
}
