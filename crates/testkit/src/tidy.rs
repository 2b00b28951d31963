//! Tidy checks of the source tree, for a test to call: each returns what is wrong, one line a problem.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::structure::{self, rust_files_below};

/// The longest file, in lines, that is not a test.
const MAX_LINES: usize = 500;
/// The package that every other may use in its tests.
const TESTKIT: &str = "dormouse-testkit";

/// Checks every Rust file below `crates/` and `bench/`.
pub fn source_problems(workspace_root: &Path) -> Vec<String> {
    let mut problems = Vec::new();
    for path in rust_files(workspace_root) {
        let name = path.strip_prefix(workspace_root).unwrap_or(&path).display().to_string();
        match fs::read_to_string(&path) {
            Ok(text) => problems.extend(file_problems(&name, &text)),
            Err(error) => problems.push(format!("{name}: {error}")),
        }
    }
    problems
}

/// Every Rust file below `crates/` and `bench/`, but for what was built.
pub fn rust_files(workspace_root: &Path) -> Vec<PathBuf> {
    let mut files = rust_files_below(&workspace_root.join("crates"));
    files.extend(rust_files_below(&workspace_root.join("bench")));
    files.sort();
    files
}

/// Checks one file; `name` is its path from the root of the workspace.
pub fn file_problems(name: &str, text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let head = text.lines().skip_while(|line| line.starts_with("#!") && !line.starts_with("#!["));
    if !head.take(3).any(|line| line.starts_with("//!")) {
        problems.push(format!("{name}: does not begin with `//!`"));
    }
    let lines = text.lines().count();
    if lines > MAX_LINES && !is_test(name) {
        problems.push(format!("{name}: {lines} lines; {MAX_LINES} are the most"));
    }
    for (index, line) in text.lines().enumerate() {
        let number = index + 1;
        problems.extend(line_problems(line).iter().map(|what| format!("{name}:{number}: {what}")));
    }
    problems
}

fn is_test(name: &str) -> bool {
    name.split('/').any(|part| part == "tests") || name.ends_with("tests.rs")
}

// The words are put together here, so that this file does not find itself.
fn line_problems(line: &str) -> Vec<&'static str> {
    let mut problems = Vec::new();
    // With `_` behind it, it is part of a name.
    let is_marker = |rest: &&str| !rest.starts_with('_');
    if line.split(concat!("TO", "DO")).skip(1).filter(is_marker).any(|rest| !has_issue(rest)) {
        problems.push(concat!("TO", "DO without an issue: `(#n)`"));
    }
    if line.contains(concat!("FIX", "ME")) {
        problems.push(concat!("FIX", "ME"));
    }
    let start = line.trim_start();
    if start.starts_with(concat!("#[", "ignore")) {
        problems.push("an ignored test");
    }
    if [concat!("#[", "allow("), concat!("#![", "allow(")].iter().any(|mark| line.contains(mark)) {
        problems.push("an `allow`; use `expect` with a reason");
    }
    if line.trim_end() != line {
        problems.push("white space at the end");
    }
    problems
}

/// Whether text begins with the number of an issue in brackets.
fn has_issue(text: &str) -> bool {
    let number = text.strip_prefix("(#").and_then(|rest| rest.split_once(')'));
    number.is_some_and(|(number, _)| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// One package with the packages of the workspace that it uses, without the prefix `dormouse-`.
pub type CrateEdges = (String, Vec<String>);

/// The edges that ARCHITECTURE.md draws: in the code block marked `edges`, a line `user → used, used` for each crate.
pub fn drawn_edges(architecture: &str) -> Vec<CrateEdges> {
    let block = architecture.split("```edges").nth(1).and_then(|rest| rest.split("```").next());
    block
        .unwrap_or_default()
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| {
            let (user, used) = line.split_once('→').unwrap_or((line, ""));
            let used = used.split(',').map(str::trim).filter(|name| !name.is_empty());
            (user.trim().to_owned(), used.map(str::to_owned).collect())
        })
        .collect()
}

/// Asks cargo which packages of the workspace depend on which, and compares that with the edges that are drawn, in both
/// directions.
pub fn crate_edges(workspace_root: &Path, drawn: &[CrateEdges]) -> Vec<String> {
    let cargo = option_env!("CARGO").unwrap_or("cargo");
    let output = Command::new(cargo)
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(workspace_root)
        .output();
    let output = match output {
        Ok(output) if output.status.success() => output,
        Ok(output) => {
            return vec![format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr))];
        }
        Err(error) => return vec![format!("cargo metadata: {error}")],
    };
    match serde_json::from_slice(&output.stdout) {
        Ok(metadata) => edge_problems(&metadata, drawn),
        Err(error) => vec![format!("cargo metadata: {error}")],
    }
}

/// Compares the dependencies in cargo's metadata with the edges that are drawn. The testkit may be used by every crate's
/// tests and is not drawn there.
pub fn edge_problems(metadata: &Value, drawn: &[CrateEdges]) -> Vec<String> {
    let used = used_edges(metadata);
    let mut problems = Vec::new();
    for (name, uses) in &used {
        let Some((_, drawn)) = drawn.iter().find(|(drawn, _)| drawn == name) else {
            problems.push(format!("{name}: not drawn in ARCHITECTURE.md"));
            continue;
        };
        let missing = uses.iter().filter(|other| !drawn.contains(other));
        problems.extend(missing.map(|other| format!("{name} → {other}: used but not drawn")));
        let unused = drawn.iter().filter(|other| !uses.contains(other));
        problems.extend(unused.map(|other| format!("{name} → {other}: drawn but not used")));
    }
    let gone = drawn.iter().filter(|(name, _)| !used.iter().any(|(known, _)| known == name));
    problems.extend(gone.map(|(name, _)| format!("{name}: drawn, but no such crate")));
    problems
}

/// The edges between crates. One for tests alone counts if nothing else leads there: it would be a new dependency.
fn used_edges(metadata: &Value) -> Vec<CrateEdges> {
    let shipped = edges_of_kind(metadata, |kind| kind != "dev");
    let mut used = shipped.clone();
    for (name, for_tests) in edges_of_kind(metadata, |kind| kind == "dev") {
        let Some((_, uses)) = used.iter_mut().find(|(known, _)| *known == name) else { continue };
        let reached = reachable(&shipped, &name);
        uses.extend(for_tests.into_iter().filter(|other| !reached.contains(other)));
        uses.sort();
        uses.dedup();
    }
    used
}

fn edges_of_kind(metadata: &Value, is_wanted: impl Fn(&Value) -> bool) -> Vec<CrateEdges> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let short = |value: &Value| {
        let name = value["name"].as_str().unwrap_or_default();
        name.strip_prefix("dormouse-").map(str::to_owned)
    };
    let mut edges = Vec::new();
    for package in list(&metadata["packages"]) {
        let Some(name) = short(&package) else { continue };
        let dependencies = list(&package["dependencies"]);
        let counted = dependencies.iter().filter(|dependency| {
            is_wanted(&dependency["kind"])
                && !(dependency["kind"] == "dev" && dependency["name"] == TESTKIT)
        });
        let mut uses: Vec<String> = counted.filter_map(short).collect();
        uses.sort();
        uses.dedup();
        edges.push((name, uses));
    }
    edges
}

/// The crates that a crate depends on, directly or through others.
fn reachable(edges: &[CrateEdges], from: &str) -> BTreeSet<String> {
    let (mut found, mut open) = (BTreeSet::new(), vec![from.to_owned()]);
    while let Some(name) = open.pop() {
        let Some((_, uses)) = edges.iter().find(|(known, _)| *known == name) else { continue };
        open.extend(uses.iter().filter(|other| found.insert((*other).clone())).cloned());
    }
    found
}

/// What the limits on modules, types and functions refuse in the whole workspace, one line a problem. A line stays the same
/// while its problem does: it has no line numbers and no counts.
pub fn structure_problems(workspace_root: &Path) -> Vec<String> {
    let sources = structure::read_workspace(workspace_root);
    let subject = |line: &String| line.split(": ").next().unwrap_or_default().to_owned();
    let mut problems = Vec::new();
    for source in &sources {
        for circle in structure::circles(source) {
            let modules: Vec<&str> = circle.modules.iter().map(|(name, _)| name.as_str()).collect();
            problems.push(format!("circle in {}: {}", source.name, modules.join(", ")));
        }
        let large = structure::oversized_types(source);
        problems.extend(large.iter().map(|line| format!("type too large: {}", subject(line))));
        let long = structure::long_functions(source);
        problems.extend(long.iter().map(|line| format!("function too long: {line}")));
    }
    let twice = structure::duplicate_type_names(&sources);
    problems.extend(twice.keys().map(|name| format!("type name twice: {name}")));
    for error in structure::string_errors(&sources) {
        let (place, function) = error.split_once(": ").unwrap_or((&error, ""));
        let file = place.split(':').next().unwrap_or_default();
        problems.push(format!("string as an error: {file}: {function}"));
    }
    problems
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(name: &str, text: &str, expected: &[&str]) {
        assert_eq!(file_problems(name, text), expected);
    }

    #[test]
    fn files_begin_with_what_they_are() {
        check("a.rs", "//! A.\n", &[]);
        check("a.rs", "#!/usr/bin/env run\n\n\n//! A.\n", &[]);
        check("a.rs", "\n\n\n//! A.\n", &["a.rs: does not begin with `//!`"]);
        check("a.rs", "#![x]\n#![y]\n#![z]\n//! A.\n", &["a.rs: does not begin with `//!`"]);
    }

    #[test]
    fn files_are_short_but_for_tests() {
        let text = format!("//! A.\n{}", "x\n".repeat(500));
        check("a.rs", &text, &["a.rs: 501 lines; 500 are the most"]);
        check("crates/a/tests/it/main.rs", &text, &[]);
        check("a_tests.rs", &text, &[]);
    }

    #[test]
    fn lines_are_clean() {
        let line = |text: &str| line_problems(text).len();
        assert_eq!(line(concat!("// TO", "DO(#12) later")), 0);
        assert_eq!(line(concat!("// TO", "DO(#x) later")), 1);
        assert_eq!(line(concat!("// TO", "DO(#1), TO", "DO")), 1);
        assert_eq!(line(concat!("let list = TO", "DO_LIST;")), 0);
        assert_eq!(line(concat!("// FIX", "ME")), 1);
        assert_eq!(line(concat!("    #[", "ignore = \"slow\"]")), 1);
        assert_eq!(line(concat!("    #[", "allow(dead_code)]")), 1);
        assert_eq!(line(concat!("#![", "allow(dead_code)]")), 1);
        assert_eq!(line("x "), 1);
        assert_eq!(line("#[expect(dead_code)]"), 0);
    }

    #[test]
    fn edges_are_compared_in_both_directions() {
        let dependency = |name: &str, kind: Value| json!({"name": name, "kind": kind});
        let metadata = json!({"packages": [
            {"name": "dormouse-base", "dependencies": [
                dependency("serde", Value::Null),
                dependency(TESTKIT, json!("dev")),
                dependency("dormouse-model", json!("dev")),
            ]},
            {"name": "dormouse-model", "dependencies": [
                dependency("dormouse-base", Value::Null),
                dependency(TESTKIT, Value::Null),
            ]},
            {"name": TESTKIT, "dependencies": []},
            {"name": "dormouse-tools", "dependencies": [
                dependency("dormouse-model", Value::Null),
                dependency("dormouse-base", json!("dev")),
            ]},
        ]});
        let drawn = drawn_edges(
            "text\n```edges\nbase\nmodel → base, gone\ntools → model\nold → base\n```\nmore",
        );
        assert_eq!(
            edge_problems(&metadata, &drawn),
            [
                "base → model: used but not drawn",
                "model → testkit: used but not drawn",
                "model → gone: drawn but not used",
                "testkit: not drawn in ARCHITECTURE.md",
                "old: drawn, but no such crate",
            ]
        );
    }

    #[test]
    fn cargo_is_asked_about_this_workspace() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
        let problems = crate_edges(root, &drawn_edges("```edges\nbase\n```"));
        assert!(problems.iter().any(|problem| problem.starts_with("testkit:")), "{problems:?}");
        assert!(!problems.iter().any(|problem| problem.starts_with("base")), "{problems:?}");
    }

    #[test]
    fn this_crate_is_tidy() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
        let mine = |problem: &String| problem.starts_with("crates/testkit/");
        let problems: Vec<String> = source_problems(root).into_iter().filter(mine).collect();
        assert_eq!(problems, Vec::<String>::new());
        assert!(rust_files(root).len() > 10);
    }
}
