//! What markdown looks like in rows, and what holds for any text.

use proptest::prelude::*;

use super::*;

/// The pieces as rows of plain text.
fn rows_of(pieces: &[Piece]) -> Vec<String> {
    let mut rows = vec![String::new()];
    for piece in pieces {
        match piece {
            Piece::Text(text, _) => rows.last_mut().unwrap().push_str(text),
            Piece::Newline => rows.push(String::new()),
        }
    }
    if rows.last().is_some_and(String::is_empty) {
        rows.pop();
    }
    rows
}

fn render(columns: usize, text: &str) -> Vec<Piece> {
    let mut renderer = Renderer::new(columns);
    let mut pieces = renderer.push(text);
    pieces.extend(renderer.finish());
    pieces
}

fn rows(columns: usize, text: &str) -> Vec<String> {
    rows_of(&render(columns, text))
}

/// The text of the pieces that look like this.
fn styled(text: &str, style: Style) -> String {
    let pick = |piece: Piece| match piece {
        Piece::Text(text, like) if like == style => Some(text),
        _ => None,
    };
    render(80, text).into_iter().filter_map(pick).collect()
}

#[test]
fn blocks() {
    let text =
        "# Title\nSome text\nthat goes on.\n\n\n- one\n- two\n  1. deep\n\n> said\n\n---\nend";
    let expected = [
        "Title",
        "",
        "Some text",
        "that goes on.",
        "",
        "• one",
        "• two",
        "  1. deep",
        "",
        "│ said",
        "",
        "────────────────────",
        "end",
    ];
    assert_eq!(rows(40, text), expected);
}

#[test]
fn rows_of_an_item_hang() {
    assert_eq!(rows(12, "- one two three"), ["• one two", "  three"]);
    assert_eq!(rows(12, "10. one two three"), ["10. one two", "    three"]);
    assert_eq!(rows(12, "> one two three"), ["│ one two", "│ three"]);
}

#[test]
fn emphasis_and_code() {
    assert_eq!(
        rows(80, "a **b** _c_ `d*e` ~~f~~ snake_case_name 2 * 3 * 4"),
        ["a b c d*e f snake_case_name 2 * 3 * 4"]
    );
    assert_eq!(styled("a **b *c* d** e", Style::BOLD), "b  d");
    assert_eq!(styled("a **b *c* d** e", Style::BOLD.with(Attribute::Italic)), "c");
    assert_eq!(styled("***both*** one", Style::BOLD.with(Attribute::Italic)), "both");
    assert_eq!(styled("`` a ` b `` c", Style::PLAIN.color(Color::Cyan)), "a ` b");
    assert_eq!(rows(80, r"\*not\* **open"), ["*not* **open"]);
    assert_eq!(rows(80, "**a `**` b**"), ["a ** b"]);
}

#[test]
fn links_show_where_they_lead() {
    assert_eq!(
        rows(80, "see [the docs](https://example.invalid/a)"),
        ["see the docs (https://example.invalid/a)"]
    );
    assert_eq!(rows(80, "[x] a [1] ![pic](p.png)"), ["[x] a [1] pic (p.png)"]);
}

#[test]
fn code_keeps_its_blanks_and_marks() {
    let text = "```rust\nfn a() {\n\tb *c*;\n\n}\n```\nafter";
    assert_eq!(rows(40, text), ["  fn a() {", "      b *c*;", "  ", "  }", "after"]);
    assert_eq!(rows(12, "```\n0123456789abcdef\n```"), ["  0123456789", "  abcdef"]);
    let diff = "```diff\n-old\n+new\n```";
    assert_eq!(styled(diff, Style::PLAIN.color(Color::Green)), "+new");
    assert_eq!(rows(40, "~~~\n```\n~~~"), ["  ```"]);
    assert_eq!(rows(40, "> ```\n> a\n> ```\n> b"), ["│   a", "│ b"]);
}

#[test]
fn tables_fit() {
    let table = "| Name | Count |\n|:-----|------:|\n| 睡鼠 | 1 |\n| **b** | 20 |\nafter";
    let expected = ["Name │ Count", "─────┼──────", "睡鼠 │     1", "b    │    20", "after"];
    assert_eq!(rows(40, table), expected);
    let wide = "| a | b |\n|---|---|\n| one two three four | five six |\n";
    let expected = [
        "a         │ b",
        "──────────┼─────────",
        "one two   │ five six",
        "three     │",
        "four      │",
    ];
    assert_eq!(rows(20, wide).iter().map(|row| row.trim_end()).collect::<Vec<_>>(), expected);
    let narrow = "| aaaaaaaa | bbbbbbbb |\n|---|---|\n| one | two |\n| 3 | 4 |";
    assert_eq!(
        rows(12, narrow),
        ["aaaaaaaa:", "  one", "bbbbbbbb:", "  two", "", "aaaaaaaa: 3", "bbbbbbbb: 4"]
    );
    assert_eq!(rows(40, "| no | table |\ntext"), ["| no | table |", "text"]);
}

#[test]
fn text_appears_word_by_word() {
    let mut renderer = Renderer::new(40);
    assert_eq!(rows_of(&renderer.push("one tw")), ["one"]);
    assert_eq!(rows_of(&renderer.push("o **th")), [" two"]);
    assert_eq!(rows_of(&renderer.push("ree** four")), [" three"]);
    assert_eq!(rows_of(&renderer.finish()), [" four"]);
}

#[test]
fn nothing_that_steers_a_terminal_gets_through() {
    let hostile = "a\x1b[2Jb\x07 \u{9b}31m ```\n\x1b]0;title\x07\n```\n| \x1b[1m |\n|---|\n";
    for piece in render(40, hostile) {
        let Piece::Text(text, _) = piece else { continue };
        assert!(!text.chars().any(char::is_control), "{text:?}");
    }
}

/// Text of the letters that mean something.
fn markdown() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-z ]{1,8}",
        1 => Just("\n".to_owned()),
        1 => Just("\n\n".to_owned()),
        3 => prop::sample::select(vec![
            "*", "**", "_", "`", "```", "```\n", "~~", "[", "](", ")", "| ", "|---|\n", "# ", "- ", "1. ", "> ",
            "\\", "\t", "睡", "，", "👨\u{200d}👩", "❤\u{fe0f}", "e\u{301}", "\x1b[", "\r", "---\n",
        ])
        .prop_map(str::to_owned),
        1 => any::<String>(),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// Text without the difference between one piece and two of the same look.
fn letters(pieces: &[Piece]) -> Vec<(String, Style)> {
    let mut all = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Text(text, style) => all.extend(text.chars().map(|c| (c.to_string(), *style))),
            Piece::Newline => all.push(("\n".to_owned(), Style::PLAIN)),
        }
    }
    all
}

proptest! {
    #[test]
    fn cutting_the_text_changes_nothing(text in markdown(), columns in 8..60usize, cuts in prop::collection::vec(0..400usize, 0..12)) {
        let whole = render(columns, &text);
        let mut renderer = Renderer::new(columns);
        let mut pieces = Vec::new();
        let letters_of_text: Vec<char> = text.chars().collect();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(letters_of_text.len())).collect();
        cuts.extend([0, letters_of_text.len()]);
        cuts.sort_unstable();
        for pair in cuts.windows(2) {
            let piece: String = letters_of_text[pair[0]..pair[1]].iter().collect();
            pieces.extend(renderer.push(&piece));
        }
        pieces.extend(renderer.finish());
        prop_assert_eq!(letters(&whole), letters(&pieces));
    }

    #[test]
    fn no_row_is_wider_than_the_terminal(text in markdown(), columns in 8..60usize) {
        for row in rows(columns, &text) {
            prop_assert!(width::of(&row) <= columns, "{:?} has {} columns", row, width::of(&row));
        }
    }
}

proptest! {
    // Each case looks at a long line a thousand times.
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn letter_by_letter_is_the_same_for_long_lines(mark in "[*_`\\[~!]{1,4}", count in 900..1100usize) {
        let text = format!("{mark}{}{mark} end", "x".repeat(count));
        let mut renderer = Renderer::new(40);
        let mut pieces: Vec<Piece> = text.chars().flat_map(|c| renderer.push(&c.to_string())).collect();
        pieces.extend(renderer.finish());
        prop_assert_eq!(letters(&render(40, &text)), letters(&pieces));
    }
}
