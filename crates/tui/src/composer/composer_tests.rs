//! The composer by its keys.

use proptest::prelude::*;

use super::*;

fn press(composer: &mut Composer, keys: &str) -> Vec<String> {
    let mut sent = Vec::new();
    for name in keys.split(' ') {
        let (modifiers, name) = match name.split_at_checked(2) {
            Some(("C-", name)) => (KeyModifiers::CONTROL, name),
            Some(("M-", name)) => (KeyModifiers::ALT, name),
            _ => (KeyModifiers::NONE, name),
        };
        let code = match name {
            "enter" => KeyCode::Enter,
            "left" => KeyCode::Left,
            "right" => KeyCode::Right,
            "up" => KeyCode::Up,
            "down" => KeyCode::Down,
            "back" => KeyCode::Backspace,
            "home" => KeyCode::Home,
            "space" => KeyCode::Char(' '),
            text => {
                let mut letters = text.chars();
                for letter in letters.by_ref() {
                    composer.key(KeyEvent::new(KeyCode::Char(letter), modifiers));
                }
                continue;
            }
        };
        if let ComposerResult::Submitted(text) = composer.key(KeyEvent::new(code, modifiers)) {
            sent.push(text);
        }
    }
    sent
}

#[test]
fn keys_that_people_know() {
    for (keys, expected) in [
        ("abc left X", "abXc"),
        ("one space two C-a X", "Xone two"),
        ("one space two C-w", "one "),
        ("one space two C-w C-y C-y", "one twotwo"),
        ("one space two M-b M-b X", "Xone two"),
        ("one space two C-u abc", "abc"),
        ("one C-a C-k", ""),
        ("睡鼠 back", "睡"),
        ("e\u{301}x left back", "x"),
        ("abc C-w C-_", "abc"),
        ("a M-enter b up X", "aX\nb"),
        ("abc\\ enter d", "abc\nd"),
        ("abc C-j d", "abc\nd"),
        ("abcd left left C-d", "abd"),
    ] {
        let mut composer = Composer::default();
        assert!(press(&mut composer, keys).is_empty());
        assert_eq!(composer.text(), expected, "{keys}");
    }
}

#[test]
fn nothing_typed_is_lost() {
    let mut composer = Composer::new(vec!["old".to_owned()]);
    assert_eq!(press(&mut composer, "first enter"), ["first"]);
    press(&mut composer, "draft up");
    assert_eq!(composer.text(), "first");
    press(&mut composer, "up");
    assert_eq!(composer.text(), "old");
    press(&mut composer, "up down down");
    assert_eq!(composer.text(), "draft");
    composer.clear();
    assert!(composer.is_empty());
    press(&mut composer, "up");
    assert_eq!(composer.text(), "draft");
}

#[test]
fn a_long_paste_is_folded_and_sent_whole() {
    let mut composer = Composer::default();
    let pasted = "line\r\n".repeat(212);
    press(&mut composer, "see");
    composer.paste(&pasted);
    composer.paste(&pasted);
    composer.paste("short");
    assert_eq!(composer.text(), "see[pasted 212 lines][pasted 212 lines #2]short");
    let sent = press(&mut composer, "enter").pop().unwrap();
    assert_eq!(sent, format!("see{}short", "line\n".repeat(424)));
    composer.paste(&pasted);
    press(&mut composer, "back");
    assert!(composer.is_empty());
}

#[test]
fn long_text_is_wrapped_and_the_cursor_stays_in_sight() {
    let mut composer = Composer::default();
    composer.set("睡鼠睡鼠 abc\ndef");
    let rows = composer.rows(7, 10);
    assert_eq!(rows.rows, ["睡鼠睡", "鼠 abc", "def"]);
    assert_eq!((rows.cursor_row, rows.cursor_column), (2, 3));
    let rows = composer.rows(7, 2);
    assert_eq!((rows.rows.len(), rows.hidden_above, rows.cursor_row), (2, 1, 1));
    press(&mut composer, "C-p C-p");
    composer.set("");
    assert_eq!(composer.rows(7, 2).rows, [""]);
}

proptest! {
    #[test]
    fn any_keys_keep_the_cursor_between_characters(
        keys in prop::collection::vec(prop::sample::select(vec![
            "a", "睡", "e\u{301}", "👨‍👩‍👧", "left", "right", "up", "down", "back", "home", "space", "C-w", "C-k", "C-u", "C-y", "C-_",
            "M-b", "M-f", "M-d", "M-enter", "C-d",
        ]), 0..60),
        columns in 2_usize..20,
    ) {
        let mut composer = Composer::default();
        press(&mut composer, &keys.join(" "));
        let text = composer.text().to_owned();
        prop_assert!(text.starts_with(composer.before_cursor()));
        let rows = composer.rows(columns, 5);
        prop_assert!(rows.rows.len() <= 5 && rows.cursor_row < rows.rows.len());
        prop_assert!(rows.cursor_column < columns);
    }
}
