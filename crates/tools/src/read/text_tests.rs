//! Numbers, cuts and stops, without a disk.

use super::*;
use proptest::prelude::*;
use std::io::BufReader;

fn window(first: u64, lines: u64, tokens: u32) -> LineWindow {
    LineWindow { first, lines, tokens }
}

fn show_with(text: &[u8], window: LineWindow) -> Result<Shown, ToolError> {
    // A small buffer, so that lines and characters lie across its ends.
    let mut reader = BufReader::with_capacity(7, text);
    show(Path::new("/f"), &mut reader, window, &CancellationToken::new())
}

#[track_caller]
fn check_shown(text: &[u8], window: LineWindow, expected: &str) -> Shown {
    let shown = show_with(text, window).unwrap();
    assert_eq!(shown.report(window), expected);
    shown
}

#[test]
fn numbered_lines() {
    let all = window(1, 2_000, 1_000);
    let shown = check_shown(b"one\ntwo\n", all, "     1\tone\n     2\ttwo\n");
    assert_eq!((shown.extent, shown.content.as_str()), (ReadExtent::Whole, "one\ntwo\n"));
    check_shown(b"one\n\ntwo", all, "     1\tone\n     2\t\n     3\ttwo\n");
    let crlf = check_shown(b"one\r\ntwo\r\n", all, "     1\tone\n     2\ttwo\n");
    assert_eq!((crlf.extent, crlf.content.as_str()), (ReadExtent::Whole, "one\r\ntwo\r\n"));
    check_shown(b"", all, "[the file is empty]\n");
    check_shown("\u{feff}one".as_bytes(), all, "     1\tone\n");
}

#[test]
fn a_window_says_where_to_read_on() {
    let text = b"1\n2\n3\n4\n";
    let shown = check_shown(
        text,
        window(2, 2, 1_000),
        "     2\t2\n     3\t3\n[stopped after line 3; the file goes on: read on with offset 4]\n",
    );
    assert_eq!((shown.extent, shown.content.as_str()), (ReadExtent::Part, "2\n3\n"));
    check_shown(text, window(3, 2, 1_000), "     3\t3\n     4\t4\n");
    let error = show_with(text, window(9, 2, 1_000)).unwrap_err().to_string();
    assert_eq!(error, "/f ends with line 4, so there is nothing from line 9 on");
    let error = show_with(text, window(5, 2, 1_000)).unwrap_err().to_string();
    assert_eq!(error, "/f ends with line 4, so there is nothing from line 5 on");
    let error = show_with(b"", window(2, 2, 1_000)).unwrap_err().to_string();
    assert_eq!(error, "/f is empty, so there is nothing from line 2 on");
}

#[test]
fn long_lines_are_cut_and_say_so() {
    let exact = "睡".repeat(LINE_CHARS);
    check_shown(exact.as_bytes(), window(1, 9, 9_999), &format!("     1\t{exact}\n"));
    let long = format!("{exact}more\nnext\n");
    let shown = check_shown(
        long.as_bytes(),
        window(1, 9, 9_999),
        &format!("     1\t{exact} [line cut: 2000 of 2004 characters shown]\n     2\tnext\n"),
    );
    assert_eq!(shown.extent, ReadExtent::Part);
    let huge = "🐭".repeat(LINE_CHARS * 3);
    let shown = show_with(huge.as_bytes(), window(1, 9, 9_999)).unwrap();
    assert!(!shown.lossy && shown.report(window(1, 9, 9_999)).contains("2000 of 6000"));
}

#[test]
fn tokens_stop_it() {
    let text = "x".repeat(32) + "\n";
    let limits = window(1, 2_000, 100 + 25);
    let line = |number| format!("{number:>6}\t{text}");
    check_shown(
        text.repeat(9).as_bytes(),
        limits,
        &format!(
            "{}{}[stopped after line 2, because one read shows at most 125 tokens; the file goes \
             on: read on with offset 3]\n",
            line(1),
            line(2)
        ),
    );
    let shown = show_with("y".repeat(2_000).as_bytes(), limits).unwrap();
    let report = shown.report(limits);
    assert!(report.contains("[line cut: 31 of 2000 characters shown]"), "{report}");
    assert!(estimate_text(&report) <= limits.tokens);
}

#[test]
fn what_is_not_utf8_is_said() {
    let shown = check_shown(
        b"caf\xe9\n",
        window(1, 9, 999),
        "     1\tcaf\u{fffd}\n[not all of it is UTF-8: bytes that are not show as \u{fffd}]\n",
    );
    assert_eq!(shown.extent, ReadExtent::Part);
}

#[test]
fn cancellation_is_noticed() {
    let cancel = CancellationToken::new();
    cancel.cancel();
    let mut endless = BufReader::new(io::repeat(b'x'));
    let error = show(Path::new("/f"), &mut endless, window(2, 1, 1), &cancel).unwrap_err();
    assert!(matches!(error, ToolError::Interrupted { .. }));
}

proptest! {
    /// Reading on from where each page stopped shows every line once.
    #[test]
    fn pages_join_to_the_whole(
        lines in prop::collection::vec("[a-zé睡]{0,30}", 1..60), limit in 1_u64..20, tokens in 130_u32..300
    ) {
        let text = lines.join("\n") + "\n";
        let mut seen = String::new();
        let mut first = 1;
        loop {
            let shown = show_with(text.as_bytes(), window(first, limit, tokens)).unwrap();
            prop_assert!(estimate_text(&shown.report(window(first, limit, tokens))) <= tokens);
            prop_assert!(shown.last >= first);
            seen.push_str(&shown.content);
            if shown.stop == Stop::End {
                break;
            }
            first = shown.last + 1;
        }
        prop_assert_eq!(seen, text);
    }

    #[test]
    fn any_bytes_can_be_shown(bytes in prop::collection::vec(any::<u8>(), 1..300)) {
        let shown = show_with(&bytes, window(1, 2_000, 5_000)).unwrap();
        prop_assert_eq!(shown.lossy, std::str::from_utf8(&bytes).is_err());
        prop_assert_eq!(shown.stop, Stop::End);
    }
}
