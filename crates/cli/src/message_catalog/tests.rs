//! Every message used in the code is in the catalog with the same arguments, and the catalog has no others.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::*;

type Arguments = BTreeSet<String>;

const LOCALES: [Locale; 2] = [Locale::English, Locale::Chinese];

#[test]
fn the_catalog_has_no_syntax_errors() {
    for locale in LOCALES {
        for part in [CatalogPart::Messages, CatalogPart::Help] {
            for source in locale.sources(part) {
                let parsed = FluentResource::try_new((*source).to_owned());
                let errors = parsed.err().map(|(_, errors)| errors);
                assert!(errors.is_none(), "{locale:?} {part:?}: {errors:?}");
            }
        }
    }
}

/// Both languages have the same messages, with the same arguments and attributes, and Chinese ones are Chinese.
#[test]
fn the_languages_have_the_same_messages() {
    for part in [CatalogPart::Messages, CatalogPart::Help] {
        let english = Locale::English.sources(part).concat();
        let chinese = Locale::Chinese.sources(part).concat();
        let (en, zh) = (defined_messages(&english), defined_messages(&chinese));
        let differing: Vec<_> = en
            .keys()
            .chain(zh.keys())
            .filter(|id| en.get(*id) != zh.get(*id))
            .map(|id| (id, en.get(id), zh.get(id)))
            .collect();
        assert!(differing.is_empty(), "{part:?}: {differing:#?}");
        assert_eq!(attributes(&english), attributes(&chinese), "{part:?}");
        let is_chinese = |c: char| ('\u{4e00}'..='\u{9fff}').contains(&c);
        let lines = chinese.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
        let written = lines.clone().filter(|line| line.contains(is_chinese)).count();
        assert!(written * 10 > lines.count() * 8, "{part:?}: {written} lines are Chinese");
    }
}

/// The attributes of a Fluent file, with the message that each belongs to.
fn attributes(source: &str) -> BTreeSet<(String, String)> {
    let mut message = String::new();
    let mut found = BTreeSet::new();
    for line in source.lines() {
        if line.starts_with(|c: char| c.is_ascii_alphabetic()) {
            message = line.split(" =").next().unwrap_or_default().to_owned();
        } else if let Some(name) =
            line.strip_prefix("    .").and_then(|rest| rest.split(" =").next())
        {
            found.insert((message.clone(), name.to_owned()));
        }
    }
    found
}

#[test]
fn the_language_of_an_environment() {
    let locale =
        |pairs: &[(&str, &str)]| Locale::of_environment(&Environment::default().with(pairs));
    assert_eq!(locale(&[]), Locale::English);
    assert_eq!(locale(&[("LANG", "zh_CN.UTF-8")]), Locale::Chinese);
    assert_eq!(locale(&[("LANG", "zh_CN.UTF-8"), ("LC_ALL", "C.UTF-8")]), Locale::English);
    assert_eq!(locale(&[("LC_ALL", ""), ("LC_MESSAGES", "zh_TW")]), Locale::Chinese);
    assert_eq!(locale(&[("LANG", "de_DE.UTF-8")]), Locale::English);
}

#[test]
fn every_use_matches_the_catalog() {
    let defined = defined_messages(&Locale::English.sources(CatalogPart::Messages).concat());
    let mut used = BTreeSet::new();
    for (file, source) in sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src")) {
        for (id, arguments) in uses(&source) {
            let expected = defined.get(&id);
            assert_eq!(Some(&arguments), expected, "{file}: arguments of `{id}`");
            used.insert(id);
        }
    }
    let unused: Vec<_> = defined.keys().filter(|id| !used.contains(*id)).collect();
    assert!(unused.is_empty(), "messages that no code uses: {unused:?}");
}

#[test]
fn uses_are_found_with_their_arguments() {
    let source = r#"msg!("a-b", name = f(x, "y, z = 1"), count = 2) msg!(
        "c",
    )"#;
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Arguments>();
    let expected = [("a-b".to_owned(), names(&["name", "count"])), ("c".to_owned(), names(&[]))];
    assert_eq!(uses(source), expected);
}

/// The ids of a Fluent file, with the variables that each message refers to.
fn defined_messages(source: &str) -> BTreeMap<String, Arguments> {
    let mut found: BTreeMap<String, Arguments> = BTreeMap::new();
    let mut current = None;
    for line in source.lines().filter(|line| !line.starts_with('#')) {
        if line.starts_with(|c: char| c.is_ascii_alphabetic()) {
            let id = line.split_once(" =").map(|(id, _)| id.to_owned());
            found.entry(id.clone().unwrap_or_default()).or_default();
            current = id;
        }
        let variables = line.split('$').skip(1).map(|rest| {
            rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>()
        });
        if let Some(arguments) = current.as_ref().and_then(|id| found.get_mut(id)) {
            arguments.extend(variables);
        }
    }
    found
}

/// The Rust files below a folder, without this one.
fn sources(folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs")
            && !path.ends_with("message_catalog/tests.rs")
        {
            found.push((path.display().to_string(), std::fs::read_to_string(&path).unwrap()));
        }
    }
    found
}

/// The uses of `msg!` in a source file: ids and argument names. Doc comments are skipped.
fn uses(source: &str) -> Vec<(String, Arguments)> {
    let code: String = source
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .flat_map(|line| [line, "\n"])
        .collect();
    let calls = code.split("msg!(").skip(1).filter(|call| call.trim_start().starts_with('"'));
    calls.map(parse_call).collect()
}

/// Splits the text behind `msg!(` at the commas of the outermost level.
fn parse_call(call: &str) -> (String, Arguments) {
    let mut parts = vec![String::new()];
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut escaped = false;
    for c in call.chars() {
        match c {
            _ if in_string => {
                in_string = escaped || c != '"';
                escaped = !escaped && c == '\\';
            }
            '"' => in_string = true,
            '(' | '[' | '{' => depth += 1,
            ')' if depth == 0 => break,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => parts.push(String::new()),
            _ => {}
        }
        if c != ',' || depth > 0 || in_string {
            parts.last_mut().unwrap().push(c);
        }
    }
    let mut parts = parts.iter().map(|part| part.trim());
    let id = parts.next().unwrap().trim_matches('"').to_owned();
    let names = parts.filter_map(|part| part.split_once(" =")).map(|(name, _)| name.to_owned());
    (id, names.collect())
}
