//! Drawing, on an emulated terminal.

use proptest::prelude::*;
use std::num::NonZeroU16;
use vt100::Parser;

use super::*;

fn number(number: u16) -> NonZeroU16 {
    NonZeroU16::new(number).unwrap()
}

/// A terminal of this size with what is written to it.
struct Tried {
    inline: InlineTerminal<Vec<u8>>,
    parser: Parser,
    written: usize,
}

impl Tried {
    fn new(columns: u16, rows: u16) -> Self {
        let inline = InlineTerminal::new(Vec::new(), (columns, rows), LiveStyles::All);
        Self { inline, parser: Parser::new(number(rows), number(columns), 1_000), written: 0 }
    }

    fn draw(&mut self, finished: &[&str], rows: &[&str], cursor: (u16, u16)) {
        self.draw_with(finished, rows, cursor, false);
    }

    fn draw_with(&mut self, finished: &[&str], rows: &[&str], cursor: (u16, u16), has_tail: bool) {
        let live = |rows: &[&str]| -> Vec<LiveRow> {
            rows.iter().map(|row| vec![((*row).to_owned(), Style::PLAIN)]).collect()
        };
        let cursor = CursorPlace { row: cursor.0, column: cursor.1 };
        let view = LiveView { rows: live(rows), has_tail, cursor };
        self.inline.draw(&live(finished), &view).unwrap();
        self.show();
    }

    fn show(&mut self) {
        self.written = self.inline.out.len();
        self.parser.process(&std::mem::take(&mut self.inline.out));
    }

    fn screen(&self) -> Vec<String> {
        let (_, columns) = self.parser.screen().size();
        self.parser.screen().rows(0, columns.get()).map(|row| row.trim_end().to_owned()).collect()
    }

    /// All rows, those that scrolled away first, without empty ones at the end.
    fn all(&mut self) -> Vec<String> {
        let mut rows = Vec::new();
        let screen = self.parser.screen_mut();
        for above in (1..=screen.scrollback_len()).rev() {
            screen.set_scrollback(above);
            let (_, columns) = screen.size();
            rows.extend(screen.rows(0, columns.get()).next().map(|row| row.trim_end().to_owned()));
        }
        screen.set_scrollback(0);
        rows.extend(self.screen());
        while rows.last().is_some_and(String::is_empty) {
            rows.pop();
        }
        rows
    }
}

#[test]
fn finished_rows_go_above_and_the_rest_is_not_written_again() {
    let mut tried = Tried::new(20, 6);
    tried.draw(&[], &["> ", "status"], (0, 2));
    assert_eq!(tried.screen(), [">", "status", "", "", "", ""]);
    tried.draw(&["one", "two"], &["> ", "status"], (0, 2));
    assert_eq!(tried.screen(), ["one", "two", ">", "status", "", ""]);
    tried.draw(&["three", "four", "five"], &["> x", "status"], (0, 3));
    assert_eq!(tried.screen(), ["two", "three", "four", "five", "> x", "status"]);
    assert_eq!(tried.all()[0], "one");
    assert_eq!(tried.parser.screen().cursor_position(), (4, 3));
    tried.draw(&[], &["> xy", "status"], (0, 4));
    assert_eq!(tried.written, 1, "a key costs a byte");
    tried.draw(&["six"], &["> xy", "status"], (0, 4));
    assert!(tried.written < 30, "{} bytes for a row", tried.written);
}

#[test]
fn the_live_part_grows_and_shrinks() {
    let mut tried = Tried::new(20, 5);
    tried.draw(&["a", "b", "c"], &["> "], (0, 2));
    tried.draw(&[], &["one", "two", "> "], (2, 2));
    assert_eq!(tried.screen(), ["b", "c", "one", "two", ">"]);
    tried.draw(&["d"], &["> "], (0, 2));
    assert_eq!(tried.screen(), ["b", "c", "d", ">", ""]);
    tried.inline.clear().unwrap();
    tried.show();
    assert_eq!(tried.screen(), ["b", "c", "d", "", ""]);
    assert_eq!(tried.parser.screen().cursor_position(), (3, 0));
}

#[test]
fn a_row_that_was_being_written_stays_where_it_is() {
    let mut tried = Tried::new(40, 6);
    tried.draw_with(&["before"], &["hello wor", "", "> ", "status"], (2, 2), true);
    tried.draw_with(&["hello world"], &["next", "", "> ", "status"], (2, 2), true);
    assert!(tried.written < 45, "{} bytes", tried.written);
    assert_eq!(tried.screen(), ["before", "hello world", "next", "", ">", "status"]);
    tried.draw_with(&["next!", "more"], &["> ", "status"], (0, 2), false);
    assert_eq!(tried.all(), ["before", "hello world", "next!", "more", ">", "status"]);
    assert_eq!(tried.parser.screen().cursor_position(), (4, 2));
}

#[test]
fn wide_characters_and_sequences_in_text() {
    let mut tried = Tried::new(10, 3);
    tried.draw(&[], &["睡鼠睡鼠睡鼠"], (0, 4));
    assert_eq!(tried.screen()[0], "睡鼠睡鼠");
    tried.draw(&[], &["x鼠睡鼠"], (0, 1));
    assert_eq!(tried.screen()[0], "x鼠睡鼠");
    tried.draw(&[], &["\x1b[2Ja\tb"], (0, 1));
    assert!(!tried.screen()[0].contains('\x1b'));
}

#[test]
fn a_narrower_window_wraps_the_rows_and_they_are_erased() {
    let mut tried = Tried::new(20, 6);
    tried.draw(&["done"], &["0123456789", "> abc", "status"], (1, 5));
    // A terminal that wraps has moved the live part down by a row.
    tried.parser = Parser::new(number(6), number(8), 1_000);
    tried.parser.process(b"done\r\n0123456789\r\n> abc\r\nstatus\x1b[A\r\x1b[5C");
    tried.inline.resize((8, 6)).unwrap();
    tried.show();
    assert_eq!(tried.all(), ["done"]);
    tried.draw(&[], &["> abc", "status"], (0, 5));
    assert_eq!(tried.all(), ["done", "> abc", "status"]);
}

/// A terminal that scrolls for each row it wraps: the live part stays where it was, and the next finished rows fill the gap.
#[test]
fn a_terminal_that_scrolls_for_wrapped_rows() {
    let mut tried = Tried::new(20, 8);
    tried.inline = InlineTerminal::new(Vec::new(), (20, 8), LiveStyles::All)
        .with_wrap_scroll(WrapScroll::Always);
    tried.draw(&["one", "two"], &["> ", "a long status line"], (0, 2));
    // `one` has scrolled away for the second half of the status line.
    tried.parser = Parser::new(number(8), number(10), 1_000);
    tried.parser.process(b"two\r\n> \r\na long status line\x1b[2;3H");
    tried.inline.resize((10, 8)).unwrap();
    let written = String::from_utf8_lossy(&tried.inline.out);
    assert!(!written.contains("\r\x1b[J"), "tmux would keep it: {written:?}");
    tried.show();
    tried.draw(&[], &["> ", "a status"], (0, 2));
    assert_eq!(tried.all(), ["two", "", ">", "a status"]);
    assert_eq!(tried.parser.screen().cursor_position(), (2, 2));
    tried.draw_with(&[], &["thr", "> ", "a status"], (1, 2), true);
    assert_eq!(tried.all(), ["two", "thr", ">", "a status"]);
    tried.draw_with(&["three", "four"], &["fi", "> ", "a status"], (1, 2), true);
    assert_eq!(tried.all(), ["two", "three", "four", "fi", ">", "a status"]);
}

proptest! {
    /// Whatever is drawn in whatever order: all finished rows are there once, in order, and the live part is below them.
    #[test]
    fn nothing_is_lost_or_doubled(
        frames in prop::collection::vec((0_usize..14, 1_usize..5, "[a-z睡鼠 ]{0,11}", any::<bool>()), 1..20),
        rows in 6_u16..12,
    ) {
        let mut tried = Tried::new(30, rows);
        let mut expected: Vec<String> = Vec::new();
        let mut live = Vec::new();
        for (at, (finished, height, text, has_tail)) in frames.iter().enumerate() {
            let new: Vec<String> = (0..*finished).map(|row| format!("row {at}.{row}")).collect();
            live = (0..*height).map(|row| format!("live {row} {text}")).collect();
            let new_rows: Vec<&str> = new.iter().map(String::as_str).collect();
            let live_rows: Vec<&str> = live.iter().map(String::as_str).collect();
            tried.draw_with(&new_rows, &live_rows, (0, 3), *has_tail);
            expected.extend(new);
        }
        expected.extend(live.iter().map(|row| row.trim_end().to_owned()));
        prop_assert_eq!(tried.all(), expected);
    }
}

#[test]
fn suggestions_go_when_a_command_is_sent() {
    let mut tried = Tried::new(60, 20);
    tried.draw(&["header", ""], &["> ", "status"], (0, 2));
    let long = "  /rewind  go back to before your message, files and more";
    tried.draw(&[], &["> /rewind", long, "status"], (0, 9));
    let finished = ["> /rewind", "", "1  make it two", "   a.txt", "", "how to", "more", ""];
    tried.draw(&finished, &["> ", "a long status line of the program · window 3 %"], (0, 2));
    let mut expected = vec!["header", ""];
    expected.extend(finished);
    expected.extend([">", "a long status line of the program · window 3 %"]);
    assert_eq!(tried.all(), expected);
}
