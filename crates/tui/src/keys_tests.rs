//! What terminals send.

use proptest::prelude::*;

use super::*;

fn events(pieces: &[&[u8]]) -> Vec<TerminalEvent> {
    let mut parser = KeyParser::default();
    for piece in pieces {
        parser.feed(piece);
    }
    parser.pause();
    std::iter::from_fn(|| parser.next_event()).collect()
}

fn pressed(code: KeyCode, modifiers: KeyModifiers) -> TerminalEvent {
    TerminalEvent::Key(KeyEvent::new(code, modifiers))
}

#[test]
fn keys() {
    const NONE: KeyModifiers = KeyModifiers::NONE;
    const CONTROL: KeyModifiers = KeyModifiers::CONTROL;
    const ALT: KeyModifiers = KeyModifiers::ALT;
    for (bytes, code, modifiers) in [
        ("a", KeyCode::Char('a'), NONE),
        ("睡", KeyCode::Char('睡'), NONE),
        ("\r", KeyCode::Enter, NONE),
        ("\n", KeyCode::Char('j'), CONTROL),
        ("\x03", KeyCode::Char('c'), CONTROL),
        ("\x1f", KeyCode::Char('_'), CONTROL),
        ("\x7f", KeyCode::Backspace, NONE),
        ("\x1b", KeyCode::Esc, NONE),
        ("\x1bu", KeyCode::Char('u'), ALT),
        ("\x1b\r", KeyCode::Enter, ALT),
        ("\x1b睡", KeyCode::Char('睡'), ALT),
        ("\x1b\x7f", KeyCode::Backspace, ALT),
        ("\x1b[A", KeyCode::Up, NONE),
        ("\x1bOA", KeyCode::Up, NONE),
        ("\x1b[1;5C", KeyCode::Right, CONTROL),
        ("\x1b[3~", KeyCode::Delete, NONE),
        ("\x1b[Z", KeyCode::BackTab, NONE),
        ("\x1b[13;2u", KeyCode::Enter, KeyModifiers::SHIFT),
        ("\x1b[27;2;13~", KeyCode::Enter, KeyModifiers::SHIFT),
        ("\x1b[97;5u", KeyCode::Char('a'), CONTROL),
    ] {
        assert_eq!(events(&[bytes.as_bytes()]), [pressed(code, modifiers)], "{bytes:?}");
        // Byte by byte is the same.
        let pieces: Vec<&[u8]> = bytes.as_bytes().chunks(1).collect();
        assert_eq!(events(&pieces), [pressed(code, modifiers)], "{bytes:?} byte by byte");
    }
    let twice = [pressed(KeyCode::Esc, NONE), pressed(KeyCode::Esc, NONE)];
    assert_eq!(events(&[b"\x1b\x1b"]), twice);
}

#[test]
fn an_answer_that_nobody_asked_for_is_skipped() {
    let letter = [pressed(KeyCode::Char('x'), KeyModifiers::NONE)];
    for answer in ["\x1b[?2026;2$y", "\x1b[24;80R", "\x1b[?62;22c", "\x1b[[A", "\x1bOP", "\x1b[15~"]
    {
        assert_eq!(events(&[answer.as_bytes(), b"x"]), letter, "{answer:?}");
    }
}

#[test]
fn pastes_of_any_size_in_any_pieces() {
    let text = "fn main() {\r\n\x1b[A睡鼠\x03}\r".repeat(2_000);
    let bytes = format!("a\x1b[200~{text}\x1b[201~b");
    for size in [1, 7, 4_096, bytes.len()] {
        let pieces: Vec<&[u8]> = bytes.as_bytes().chunks(size).collect();
        let expected = [
            pressed(KeyCode::Char('a'), KeyModifiers::NONE),
            TerminalEvent::Paste(text.clone()),
            pressed(KeyCode::Char('b'), KeyModifiers::NONE),
        ];
        assert_eq!(events(&pieces), expected, "in pieces of {size}");
    }
}

proptest! {
    #[test]
    fn any_bytes_are_taken(bytes in prop::collection::vec(any::<u8>(), 0..200), size in 1_usize..20) {
        let pieces: Vec<&[u8]> = bytes.chunks(size).collect();
        let mut parser = KeyParser::default();
        for piece in pieces {
            parser.feed(piece);
        }
        parser.pause();
        prop_assert!(!parser.is_undecided());
        while parser.next_event().is_some() {}
        parser.feed(b"\x1b[201~q");
        parser.pause();
        let last = std::iter::from_fn(|| parser.next_event()).last();
        prop_assert_eq!(last, Some(pressed(KeyCode::Char('q'), KeyModifiers::NONE)));
    }
}
