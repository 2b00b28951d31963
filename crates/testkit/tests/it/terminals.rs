//! The terminal that tests run programs in.

use dormouse_testkit::{TestHome, wait_until};

#[test]
fn what_is_typed_and_shown() {
    let home = TestHome::new();
    let mut terminal = home.terminal(
        "/bin/sh",
        &["-c", "read x; printf \"\\033[1m$x\\033[0m-\\n\"; stty size; seq 30; stty -echo; read y"],
        (40, 10),
    );
    terminal.enter("nuts");
    terminal.wait_for_text("30");
    let rows = terminal.all_rows();
    assert_eq!(&rows[..3], ["nuts", "nuts-", "10 40"]);
    assert!(!terminal.screen().contains("nuts"));
    let bytes = String::from_utf8(terminal.bytes()).unwrap();
    assert!(bytes.contains("\x1b[1mnuts"), "{bytes:?}");
    wait_until("its echo to be off", || !terminal.is_sane());
    terminal.enter("");
    assert_eq!(terminal.wait(), 0);
    assert!(!terminal.is_sane(), "it has left the echo off");
}
