//! Reading and changing frontmatter: examples, hostile input, and properties.

use proptest::prelude::*;

use super::*;

const CLAUDE: &str = "---\nname: Test database\ndescription: \"where it runs: docker\"\nmetadata:\n  type: project\n  node_id: 7\nmodified: 2026-11-01T10:00:00Z\n# mine\ncustom: [a, b]\n---\n\nBody with [[links]].\n";

#[test]
fn what_another_agent_writes_is_read() {
    let parsed = parse(CLAUDE);
    assert_eq!(parsed.problem, None);
    assert_eq!(parsed.fields.text("name"), Some("Test database"));
    assert_eq!(parsed.fields.text("description"), Some("where it runs: docker"));
    assert_eq!(parsed.fields.nested_text("metadata", "type"), Some("project"));
    assert_eq!(parsed.fields.text("modified"), Some("2026-11-01T10:00:00Z"));
    assert_eq!(parsed.fields.get("custom").unwrap().texts(), ["a", "b"]);
    assert_eq!(parsed.body, "\nBody with [[links]].\n");
}

#[test]
fn changing_a_key_changes_its_line_only() {
    let changed = set(CLAUDE, "metadata.type", "feedback").unwrap();
    assert_eq!(changed, CLAUDE.replace("type: project", "type: feedback"));
    let changed = set(CLAUDE, "name", "New: name").unwrap();
    assert_eq!(changed, CLAUDE.replace("name: Test database", "name: \"New: name\""));
    let changed = set(CLAUDE, "trust", "typed").unwrap();
    assert_eq!(changed, CLAUDE.replace("custom: [a, b]\n", "custom: [a, b]\ntrust: typed\n"));
    let back = remove(&changed, "trust").unwrap();
    assert_eq!(back, CLAUDE);
    let crlf = CLAUDE.replace('\n', "\r\n");
    assert_eq!(set(&crlf, "name", "x").unwrap(), crlf.replace("name: Test database", "name: x"));
}

#[test]
fn lists_are_written_and_replaced_whole() {
    let one = set_list("text\n", "anchors", &["a.rs#f x1 y".into(), "b: c".into()]).unwrap();
    assert_eq!(one, "---\nanchors:\n  - a.rs#f x1 y\n  - \"b: c\"\n---\n\ntext\n");
    let two = set_list(&one, "anchors", &["z".into()]).unwrap();
    assert_eq!(two, "---\nanchors:\n  - z\n---\n\ntext\n");
    assert_eq!(parse(&two).fields.get("anchors").unwrap().texts(), ["z"]);
}

#[test]
fn values_that_lack_only_their_quotes_are_read_and_kept() {
    for value in [
        "Deploys: only on Mondays",
        "部署: 只在周一",
        "`cargo test` needs docker",
        "@marta reviews payments",
        "*Never* on Fridays: ask first",
        "[WIP] importer of \"old\" orders",
        "\"Deploy\" means: ship it",
        "what it is about:",
        "\"Deploy\" means: \"ship it\"",
        "> 5 items: slow",
        "C:\\temp: the \\n stays",
    ] {
        for end in ["\n", "\r\n"] {
            let text = ["---", "name: Deploys", &format!("description: {value}"), "metadata:"]
                .into_iter()
                .chain([&*format!("  note: {value}"), "type: project", "---", "body"])
                .collect::<Vec<_>>()
                .join(end);
            let parsed = parse(&text);
            assert_eq!(parsed.problem, None, "{text}");
            assert_eq!(parsed.fields.text("description"), Some(value));
            assert_eq!(parsed.fields.nested_text("metadata", "note"), Some(value));
            assert_eq!(parsed.fields.text("type"), Some("project"));
            assert_eq!(parsed.body, "body");
            let changed = set(&text, "type", "feedback").unwrap();
            assert_eq!(changed, text.replace("type: project", "type: feedback"));
        }
    }
    // What YAML understands keeps its meaning.
    let text = "---\nname: a: b\ntools: [Bash, Write] # only\nnote: |\n  c: d: e\nmore:\n  long: \"f\n    g: h: i\"\n\
                x: &t project\ntype: *t\n描述:\t部署: 周一\n---\n";
    let fields = parse(text).fields;
    assert_eq!((fields.text("name"), fields.text("note")), (Some("a: b"), Some("c: d: e\n")));
    assert_eq!(fields.get("tools").unwrap().texts(), ["Bash", "Write"]);
    assert_eq!(fields.nested_text("more", "long"), Some("f g: h: i"));
    assert_eq!((fields.text("type"), fields.text("描述")), (Some("project"), Some("部署: 周一")));
    let second = parse("---\nname: a: b\ntags: [c\n---\n").problem.unwrap();
    assert!(
        second.to_string().contains("line 3") && second.to_string().contains("quotes"),
        "{second}"
    );
    for broken in ["tags: [a\n", "name: \"a\n", "name: a\nname: b: c\n", "a: b: c\n  d\n"] {
        let text = format!("---\n{broken}---\n");
        assert!(matches!(parse(&text).problem, Some(FrontmatterProblem::Yaml { .. })), "{text}");
    }
}

#[test]
fn unusual_frontmatter_is_refused_rather_than_damaged() {
    let flow = "---\n{name: a,\nother: b}\n---\n";
    assert_eq!(parse(flow).fields.text("other"), Some("b"));
    assert!(matches!(set(flow, "other", "c"), Err(FrontmatterEditError::Unusual(_))));
    let broken = "---\nname: [a\n---\n";
    assert!(matches!(set(broken, "name", "c"), Err(FrontmatterEditError::Unreadable(_))));
}

#[test]
fn hostile_frontmatter_is_a_problem_and_quick() {
    let many = format!("---\n{}---\nbody", "key: value\n".repeat(10_000));
    assert_eq!(parse(&many).problem, Some(FrontmatterProblem::Unclosed));
    let mut bomb = String::from("---\na0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for level in 1..30 {
        let below = vec![format!("*a{}", level - 1); 9].join(", ");
        bomb.push_str(&format!("a{level}: &a{level} [{below}]\n"));
    }
    bomb.push_str("---\nbody");
    assert!(matches!(parse(&bomb).problem, Some(FrontmatterProblem::Yaml { .. })));
    let deep = format!("---\na: {}{}\n---\n", "[".repeat(5_000), "]".repeat(5_000));
    assert!(matches!(parse(&deep).problem, Some(FrontmatterProblem::Yaml { .. })));
    assert_eq!(parse("---\n- a\n- b\n---\n").problem, Some(FrontmatterProblem::NoMapping));
    assert_eq!(parse("---\nnever closed").problem, Some(FrontmatterProblem::Unclosed));
    assert_eq!(parse("\u{feff}---\nname: a\n---\nb").fields.text("name"), Some("a"));
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ -~]{0,30}",
        "\\PC{0,20}",
        any::<String>(),
        Just("no".to_owned()),
        Just("1.10".to_owned()),
        Just("~".to_owned())
    ]
}

proptest! {
    #[test]
    fn any_text_is_taken_apart(text in any::<String>(), inner in "[ -~\n]{0,200}") {
        parse(&text);
        let whole = format!("---\n{inner}\n---\nbody");
        if let Ok(changed) = set(&whole, "name", "x") {
            let parsed = parse(&changed);
            prop_assert_eq!(parsed.fields.text("name"), Some("x"));
            prop_assert_eq!(parsed.body, parse(&whole).body);
        }
    }

    #[test]
    fn what_is_set_is_read(value in text(), other in text()) {
        let one = set("body", "name", &value).unwrap();
        let both = set(&one, "other", &other).unwrap();
        let parsed = parse(&both);
        prop_assert_eq!(parsed.fields.get("name"), Some(&Value::Text(value)));
        prop_assert_eq!(parsed.fields.get("other"), Some(&Value::Text(other)));
        prop_assert_eq!(parsed.body, "\nbody");
        prop_assert_eq!(remove(&both, "other").unwrap(), one);
    }

    /// A value without its quotes is what stands there, and the lines beside it keep their meaning.
    #[test]
    fn a_value_without_its_quotes_is_what_stands_there(
        value in "[a-zA-Z`@%]([ -~]|\\PC){0,30}: [ -~]{0,20}",
        beside in prop::sample::select(vec![
            "tools: [a, b] # c", "tools:\n  - a\n  - b", "tools: &x [a, b]", "tools: ['a', \"b\"]",
        ])
    ) {
        let value = value.trim();
        let plain = format!("---\n{beside}\ntype: b\n---\n");
        let text = plain.replace("type", &format!("description: {value}\ntype"));
        let (parsed, plain) = (parse(&text), parse(&plain));
        prop_assert_eq!(parsed.problem, None);
        prop_assert_eq!(parsed.fields.get("tools"), plain.fields.get("tools"));
        prop_assert_eq!(parsed.fields.text("description"), Some(value));
    }

    /// Where the quick reading says something, the parser says the same.
    #[test]
    fn the_quick_reading_agrees_with_the_parser(
        inner in prop::collection::vec("(  )?([a-c]{1,2}:|-)( [ ab1:#'\"\\[{&*!|>%@`,.~?-]{0,8})?", 0..5)
    ) {
        let inner = inner.join("\n");
        if let Some(quick) = plain::fields(&inner) {
            let slow = yaml::fields(&inner);
            prop_assert_eq!(Ok(quick), slow, "{:?}", inner);
        }
    }
}
