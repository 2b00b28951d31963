//! Every rule on its own examples, and what holds for any text.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

fn names(text: &str) -> Vec<&'static str> {
    scan(text).into_iter().map(|finding| finding.rule).collect()
}

#[test]
fn every_rule_finds_its_example_and_nothing_finds_its_near_miss() {
    let mut wrong = Vec::new();
    for rule in rules::all() {
        if names(rule.example) != [rule.name] {
            wrong.push(format!("{}: its example gives {:?}", rule.name, names(rule.example)));
        }
        if !names(rule.near_miss).is_empty() {
            wrong.push(format!("{}: its near miss gives {:?}", rule.name, names(rule.near_miss)));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

/// Invented keys, as used to try the program out.
#[test]
fn invented_keys_with_a_real_prefix_are_found() {
    for tail in [
        "abcdefghijklmnopqrstuvwxyz0123456789",
        "FAKE1234567890fakekey",
        "T3stK3yT3stK3yT3stK3y-AA",
    ] {
        for kind in ["api03", "oat01", "admin01"] {
            let text = format!("my key is sk-ant-{kind}-{tail}.");
            assert_eq!(names(&text), ["anthropic-key"], "{text}");
        }
    }
    for text in [
        "sk-ant-api03-your-key-goes-here",
        "sk-ant-api03-xxxxxxxxxxxxxxxxxxxxxxxx",
        "keys begin with sk-ant-api03-",
        "the alphabet: abcdefghijklmnopqrstuvwxyz0123456789",
    ] {
        assert_eq!(names(text), Vec::<&str>::new(), "{text}");
    }
}

#[test]
fn the_table_is_sound() {
    let names: BTreeSet<&str> = kinds().map(|(name, _)| name).collect();
    assert_eq!(names.len(), rules::all().count(), "two rules of one name");
    assert!(names.len() >= 45);
    assert!(SCANNER.keywords.is_some());
    for rule in rules::all() {
        assert!(Regex::new(rule.pattern).is_ok(), "{}: {:?}", rule.name, Regex::new(rule.pattern));
        let lower = |word: &&str| word.to_ascii_lowercase() == **word && word.len() >= 2;
        assert!(rule.keywords.iter().all(lower), "{}", rule.name);
        assert!(!rule.what.is_empty() && !rule.keywords.is_empty(), "{}", rule.name);
    }
}

/// Near a secret stands nothing of it: neither in what is printed nor in the redacted text.
#[test]
fn nothing_of_a_value_is_printed() {
    for rule in rules::all() {
        let (clean, findings) = redact(rule.example);
        for finding in &findings {
            let value = rule.example.get(finding.span.clone()).unwrap();
            let said = format!("{finding} {finding:?} {clean}");
            // The first half may be the prefix that names the rule.
            let pieces = value.as_bytes()[value.len() / 2..].windows(5);
            for piece in pieces.map(String::from_utf8_lossy) {
                assert!(!said.contains(&*piece), "{}: {said}", rule.name);
            }
        }
        assert_eq!(scan(&clean), [], "{}: {clean}", rule.name);
    }
}

#[test]
fn places_are_counted_in_lines_and_characters() {
    let key = concat!("gh", "p_0123abzdEFGH4567ijklMNOP89qrstUVWXyz");
    let text = format!("睡鼠\n键：{key}\nthen {key} 和 {key}");
    let places: Vec<(usize, usize)> =
        scan(&text).iter().map(|finding| (finding.line, finding.column)).collect();
    assert_eq!(places, [(2, 3), (3, 6), (3, 49)]);
    let (clean, _) = redact(&text);
    assert_eq!(
        clean,
        "睡鼠\n键：[secret: github-token]\nthen [secret: github-token] 和 [secret: github-token]"
    );
    assert_eq!(scan(&text)[0].to_string(), "line 2, column 3: a token of GitHub (github-token)");
}

#[test]
fn a_private_key_goes_whole() {
    let body = "MIIEowIBAAKCAQEAvZ1".repeat(80);
    let text =
        format!("before\n-----BEGIN {0}-----\n{body}\n-----END {0}-----\nafter", "PRIVATE KEY");
    assert_eq!(redact(&text).0, "before\n[secret: private-key]\nafter");
    let cut_off = format!("-----BEGIN OPENSSH {}-----\\n{body}", "PRIVATE KEY");
    assert_eq!(redact(&cut_off).0, "[secret: private-key]");
}

#[test]
fn passwords_in_many_spellings() {
    for text in [
        "password = \"hunter2!\"",
        "DB_PASSWORD=s3cr3tw0rd",
        "'password': 'hunter2!x'",
        "密码：abc12345",
        "The admin password is Tr0ub4dor&3.",
        "passwd: hunter22",
        "**Password:** `hunter2!`",
        "client_secret: \"aB3dE5fG7hJ9kL1mN3pQ\"",
        "mysql://root:hunter2@localhost/db",
        "redis://:hunter2hunter@cache:6379",
    ] {
        assert_eq!(scan(text).len(), 1, "{text}");
    }
    for text in [
        "password = os.environ[\"PASSWORD1\"]",
        "password: ${DB_PASSWORD_1}",
        "password is required",
        "api_key: <your key 1>",
        "token: da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "PWD=/home/me/work1",
        "secret_id: 0193b0a4-1234-7000-8000-1234567890ab",
        "password: changeme123",
        "api_key=sk-xxxxxxxxxxxxxxx1",
        "mysql://root:password@localhost/db",
        "http://localhost:8080/path@2",
        "const token = getToken2(user);",
        "The tokenizer is sentencepiece-based and reads utf8",
        "use `key = value1` pairs",
    ] {
        assert_eq!(scan(text), [], "{text}");
    }
}

#[test]
fn interrupted_keys_are_found_whole() {
    let key = concat!("gh", "p_0123abzdEFGH4567ijklMNOP89qrstUVWXyz");
    let (head, tail) = key.split_at(20);
    for text in [
        format!("a {head}\u{200b}{tail} b"),
        format!("a {} b", key.chars().flat_map(|c| [c, '\u{2060}']).collect::<String>()),
        format!("a {head}\n{tail} b"),
        format!("> a {head}\n>   {tail} b"),
        format!("a {head}\\\n    {tail} b"),
    ] {
        assert_eq!(names(&text), ["github-token"], "{text}");
        assert!(!redact(&text).0.contains(tail), "{text}");
    }
    // The next line is not part of a key that is whole, nor do words become one.
    assert_eq!(names(&format!("{key}\nand then more")), ["github-token"]);
    assert_eq!(names("the release of version-1.2\nbegins with a token"), Vec::<&str>::new());
}

#[test]
fn values_of_variables_for_keys_are_secrets_even_if_they_look_like_hashes() {
    for text in [
        "MY_TOKEN=da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "export X_API_KEY=\"7f3c91d2-58ab-4e06-9d41-c2a70e5b8f13\"",
        "Log in as admin with password Tr0ub4dor3 please",
        "the password for the staging box is Tr0ub4dor3",
    ] {
        assert_eq!(scan(text).len(), 1, "{text}");
    }
    for text in [
        "COMMIT=da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "token: da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "request_id: 0193b0a4-1234-7000-8000-1234567890ab",
        "sign in with password authentication disabled",
    ] {
        assert_eq!(scan(text), [], "{text}");
    }
}

/// Texts made to be slow: many keywords, no match; many matches on one line. They end in a test's time, or the table is quadratic.
#[test]
fn hostile_texts_end() {
    for piece in [
        "sk-",
        "password=",
        "-----BEGIN PRIVATE KEY-----",
        "://a:",
        "eyJ.eyJ.",
        "aws secret ",
        "\n\n:aa",
        "password=a1b2c3d4 ",
    ] {
        let text = piece.repeat(400_000 / piece.len());
        let (clean, findings) = redact(&text);
        assert!(clean.len() <= text.len() + findings.len() * 40);
    }
}

fn any_rule() -> impl Strategy<Value = &'static SecretRule> {
    prop::sample::select(rules::all().collect::<Vec<_>>())
}

impl std::fmt::Debug for SecretRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

proptest! {
    /// Any text, and any text with halves of secrets in it.
    #[test]
    fn spans_are_apart_and_on_characters(
        parts in prop::collection::vec((any_rule(), any::<prop::sample::Index>(), ".{0,12}"), 0..6)
    ) {
        let mut text = String::new();
        for (rule, cut, noise) in &parts {
            let cut = cut.index(rule.example.len() + 1);
            text.push_str(rule.example.get(cut..).unwrap_or_default());
            text.push_str(noise);
        }
        let findings = scan(&text);
        let mut end = 0;
        for finding in &findings {
            prop_assert!(finding.span.start >= end);
            prop_assert!(text.get(finding.span.clone()).is_some_and(|value| !value.is_empty()));
            end = finding.span.end;
        }
        prop_assert_eq!(redact(&text).1, findings);
    }

    /// A secret is found wherever it stands.
    #[test]
    fn a_planted_secret_is_found(rule in any_rule(), before in "[a-z \n]{0,60}", after in "[ \n][a-z \n]{0,60}") {
        let text = format!("{before} \n{}{after}", rule.example);
        prop_assert!(scan(&text).iter().any(|finding| finding.rule == rule.name), "{}", rule.name);
    }

    /// Plain words are left alone.
    #[test]
    fn words_are_left_alone(text in "([a-z]{1,9}[ ,.\n]){0,80}") {
        prop_assert_eq!(redact(&text), (text.clone(), Vec::new()));
    }
}
