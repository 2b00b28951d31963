//! Checks of a catalog, for the tests of the crates that have one: no syntax errors, the same messages in each language,
//! and every use in the code with the arguments that the message has. Each returns problems, one a line.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use fluent_bundle::FluentResource;

use crate::catalog::MessageCatalog;
use crate::locale::Locale;

type ArgumentNames = BTreeSet<String>;

/// Syntax errors of the files, messages that the languages do not share, and a Chinese catalog that is not Chinese.
pub fn catalog_problems(catalog: &MessageCatalog) -> Vec<String> {
    let mut problems = Vec::new();
    for locale in [Locale::English, Locale::Chinese] {
        for source in catalog.sources(locale) {
            if let Err((_, errors)) = FluentResource::try_new((*source).to_owned()) {
                problems.push(format!("{locale:?}: {errors:?}"));
            }
        }
    }
    let english = catalog.sources(Locale::English).concat();
    let chinese = catalog.sources(Locale::Chinese).concat();
    let (en, zh) = (defined_messages(&english), defined_messages(&chinese));
    let ids: BTreeSet<&String> = en.keys().chain(zh.keys()).collect();
    for id in ids.into_iter().filter(|id| en.get(*id) != zh.get(*id)) {
        problems.push(format!("`{id}`: English {:?}, Chinese {:?}", en.get(id), zh.get(id)));
    }
    let differing = attributes(&english);
    for (message, name) in differing.symmetric_difference(&attributes(&chinese)) {
        problems.push(format!("`{message}.{name}` is in one language only"));
    }
    let is_chinese = |c: char| ('\u{4e00}'..='\u{9fff}').contains(&c);
    let lines = chinese.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let written = lines.clone().filter(|line| line.contains(is_chinese)).count();
    if written * 10 <= lines.count() * 8 {
        problems.push(format!("only {written} lines are Chinese"));
    }
    problems
}

/// Uses of `msg!` below a folder that the catalog does not have with these arguments, and messages that no code uses.
pub fn use_problems(catalog: &MessageCatalog, source_folder: &Path) -> Vec<String> {
    let defined = defined_messages(&catalog.sources(Locale::English).concat());
    let mut problems = Vec::new();
    let mut used = BTreeSet::new();
    for (file, source) in sources(source_folder) {
        for (id, arguments) in uses(&source) {
            if defined.get(&id) != Some(&arguments) {
                let expected = defined.get(&id);
                problems.push(format!("{file}: `{id}` has {arguments:?}, expected {expected:?}"));
            }
            used.insert(id);
        }
    }
    let unused = defined.keys().filter(|id| !used.contains(*id));
    problems.extend(unused.map(|id| format!("no code uses `{id}`")));
    problems
}

/// The attributes of a Fluent file, with the message that each belongs to.
fn attributes(source: &str) -> BTreeSet<(String, String)> {
    let mut message = String::new();
    let mut found = BTreeSet::new();
    for line in source.lines() {
        if line.starts_with(|c: char| c.is_ascii_alphabetic()) {
            line.split(" =").next().unwrap_or_default().clone_into(&mut message);
        } else if let Some(name) =
            line.strip_prefix("    .").and_then(|rest| rest.split(" =").next())
        {
            found.insert((message.clone(), name.to_owned()));
        }
    }
    found
}

/// The ids of a Fluent file, with the variables that each message refers to.
fn defined_messages(source: &str) -> BTreeMap<String, ArgumentNames> {
    let mut found: BTreeMap<String, ArgumentNames> = BTreeMap::new();
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

/// The Rust files below a folder, with their texts. A folder that cannot be read has none, so every message is unused.
fn sources(folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in folder.read_dir().into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs")
            && let Ok(text) = std::fs::read_to_string(&path)
        {
            found.push((path.display().to_string(), text));
        }
    }
    found
}

/// The uses of `msg!` in a source file: ids and argument names. Comments are skipped.
fn uses(source: &str) -> Vec<(String, ArgumentNames)> {
    let code: String = source
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .flat_map(|line| [line, "\n"])
        .collect();
    let calls = code.split("msg!(").skip(1).filter(|call| call.trim_start().starts_with('"'));
    calls.map(parse_call).collect()
}

/// Splits the text behind `msg!(` at the commas of the outermost level.
fn parse_call(call: &str) -> (String, ArgumentNames) {
    let mut parts = Vec::new();
    let mut part = String::new();
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
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(std::mem::take(&mut part));
                continue;
            }
            _ => {}
        }
        part.push(c);
    }
    parts.push(part);
    let mut parts = parts.iter().map(|part| part.trim());
    let id = parts.next().unwrap_or_default().trim_matches('"').to_owned();
    let names = parts.filter_map(|part| part.split_once(" =")).map(|(name, _)| name.to_owned());
    (id, names.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uses_are_found_with_their_arguments() {
        let source = r#"msg!("a-b", name = f(x, "y, z = 1"), count = 2) msg!(
        "c",
    )"#;
        let names =
            |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<ArgumentNames>();
        let expected =
            [("a-b".to_owned(), names(&["name", "count"])), ("c".to_owned(), names(&[]))];
        assert_eq!(uses(source), expected);
    }
}
