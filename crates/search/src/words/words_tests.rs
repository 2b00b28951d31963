//! How text becomes terms.

use super::*;

fn terms(text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    Tokenizer::new().each_term(text, |term| terms.push(term.to_owned()));
    terms
}

#[test]
fn words_are_stemmed_and_stop_words_left_out() {
    assert_eq!(terms("The migrations were running"), ["migrat", "run"]);
    assert_eq!(terms("She bought the children's shoes, didn't she?"), ["buy", "child", "shoe"]);
}

#[test]
fn identifiers_are_whole_and_in_parts() {
    assert_eq!(terms("parseFoo"), ["parsefoo", "pars", "foo"]);
    assert_eq!(terms("snake_case_name"), ["snakecasenam", "snake", "case", "name"]);
    assert_eq!(terms("HTTPServer"), ["httpserver", "http", "server"]);
    assert_eq!(terms("src/rank/words.rs"), ["src", "rank", "word", "rs"]);
    assert_eq!(terms("k8s v2"), ["k8s", "v2"]);
}

#[test]
fn runs_are_pairs_and_a_last_character() {
    assert_eq!(terms("数据库很慢"), ["数据", "据库", "库很", "很慢", "慢"]);
    assert_eq!(terms("猫"), ["猫"]);
    assert_eq!(terms("用Rust写的"), ["用", "rust", "写的", "的"]);
}

#[test]
fn one_form_for_what_looks_the_same() {
    assert_eq!(terms("Café CAFÉ cafe\u{301} ｃａｆｅ"), ["cafe", "cafe", "cafe", "cafe"]);
    assert_eq!(terms("がく"), terms("か\u{3099}く"));
}

#[test]
fn names_are_seen_inside_sentences() {
    let mut names = Vec::new();
    split_text("When did Maria meet Jean? The API of FooBar. Yes", |piece| {
        if let TextPiece::Word { text, is_name: true } = piece {
            names.push(text.to_owned());
        }
    });
    assert_eq!(names, ["maria", "jean"]);
}

proptest::proptest! {
    #[test]
    fn any_text_has_terms_that_are_folded(text in proptest::prelude::any::<String>()) {
        for term in terms(&text) {
            proptest::prop_assert!(!term.is_empty() && !term.contains(char::is_whitespace), "{:?}", term);
        }
    }

    #[test]
    fn every_character_of_a_run_begins_a_term(run in "[一-龥]{1,12}") {
        let terms = terms(&run);
        for c in run.chars() {
            proptest::prop_assert!(terms.iter().any(|term| term.starts_with(c)));
        }
    }
}
