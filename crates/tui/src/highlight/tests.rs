//! Tests of the colors of code.

use proptest::prelude::*;

use super::*;

/// The tokens that are not plain, as `kind:text`.
fn tokens(name: &str, lines: &[&str]) -> Vec<Vec<String>> {
    let mut highlighter = Highlighter::new(name).unwrap();
    let shown = |(text, token): (&str, CodeToken)| {
        (token != CodeToken::Plain)
            .then(|| format!("{}:{text}", format!("{token:?}").to_lowercase()))
    };
    lines
        .iter()
        .map(|line| highlighter.line(line).into_iter().filter_map(shown).collect())
        .collect()
}

#[test]
fn what_a_reader_looks_for() {
    for (language, line, expected) in [
        (
            "rust",
            "let a: &'a str = f('x', \"y\\\"\", 0x1f..2.5); // 睡鼠",
            "keyword:let name:f text:'x' text:\"y\\\"\" number:0x1f number:2.5 comment:// 睡鼠",
        ),
        ("rs", "Some(Self::Bar) => return b,", "type:Some keyword:Self type:Bar keyword:return"),
        (
            "python",
            "def f(x): return f'{x}' # 注释",
            "keyword:def name:f keyword:return text:'{x}' comment:# 注释",
        ),
        ("ts", "const a = `x ${1}`;", "keyword:const text:`x ${1}`"),
        ("bash", "echo a#b 'it''s' $X # end", "keyword:echo text:'it''s' comment:# end"),
        ("sql", "SELECT a FROM t -- all", "keyword:SELECT keyword:FROM comment:-- all"),
        ("yaml", "  a-b: true # x", "name:a-b keyword:true comment:# x"),
        ("toml", "a.b = \"x\" # y", "name:a.b text:\"x\" comment:# y"),
        ("json", "{\"a\": [1, null]}", "text:\"a\" number:1 keyword:null"),
    ] {
        assert_eq!(tokens(language, &[line]).concat().join(" "), expected, "{language}: {line}");
    }
    assert!(Highlighter::new("nonsense").is_none() && Highlighter::new("").is_none());
}

#[test]
fn what_spans_lines_goes_on() {
    let lines =
        ["a = \"\"\"one", "two # no comment", "three\"\"\" # but this", "b = 'open", "c = 1"];
    assert_eq!(
        tokens("py", &lines),
        [
            vec!["text:\"\"\"one"],
            vec!["text:two # no comment"],
            vec!["text:three\"\"\"", "comment:# but this"],
            vec!["text:'open"],
            vec!["number:1"],
        ]
    );
    assert_eq!(
        tokens("c", &["/* a", "b */ int"]),
        [vec!["comment:/* a"], vec!["comment:b */", "keyword:int"]]
    );
}

proptest! {
    /// Whatever the line, its tokens are the line.
    #[test]
    fn nothing_is_lost(line in "[ -~睡'\"`/*#\\\\]{0,80}", at in 0_usize..17) {
        let names = ["rs", "py", "ts", "go", "c", "java", "swift", "rb", "php", "sh", "sql", "lua", "css", "html", "json", "yaml", "toml"];
        let mut highlighter = Highlighter::new(names[at]).unwrap();
        for _ in 0..2 {
            let all: String = highlighter.line(&line).into_iter().map(|(text, _)| text).collect();
            prop_assert_eq!(&all, &line);
        }
    }
}
