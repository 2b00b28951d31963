//! Tidy checks of the source tree, for a test to call: each returns what is wrong, one line a problem.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

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

/// Every Rust file below a folder, in the order of their paths.
pub(crate) fn rust_files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder && entry.file_name() != "target" {
                folders.push(path);
            } else if !is_folder && path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
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
    if line.split(concat!("TO", "DO")).skip(1).any(|rest| !has_issue(rest)) {
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

/// Asks cargo which packages of the workspace depend on which, and compares that with `allowed`: for
/// each package, the packages of this workspace it may use.
pub fn crate_edges(workspace_root: &Path, allowed: &[(&str, &[&str])]) -> Vec<String> {
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
        Ok(metadata) => edge_problems(&metadata, allowed),
        Err(error) => vec![format!("cargo metadata: {error}")],
    }
}

/// The same for metadata at hand.
pub fn edge_problems(metadata: &Value, allowed: &[(&str, &[&str])]) -> Vec<String> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let name_of = |value: &Value| value["name"].as_str().unwrap_or_default().to_owned();
    let packages = list(&metadata["packages"]);
    let names: Vec<String> = packages.iter().map(name_of).collect();
    let mut problems = Vec::new();
    for (package, name) in packages.iter().zip(&names) {
        let Some((_, uses)) = allowed.iter().find(|(allowed, _)| allowed == name) else {
            problems.push(format!("{name}: not in the table of crate edges"));
            continue;
        };
        for dependency in list(&package["dependencies"]) {
            let other = name_of(&dependency);
            let is_dev = dependency["kind"] == "dev";
            let fine = uses.contains(&other.as_str()) || (is_dev && other == TESTKIT);
            if names.contains(&other) && !fine {
                let kind = if is_dev { "may not use in its tests" } else { "may not use" };
                problems.push(format!("{name} {kind} {other}"));
            }
        }
    }
    for (name, _) in allowed {
        if !names.iter().any(|known| known == name) {
            problems.push(format!("{name}: in the table of crate edges, but no package"));
        }
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
        assert_eq!(line(concat!("// FIX", "ME")), 1);
        assert_eq!(line(concat!("    #[", "ignore = \"slow\"]")), 1);
        assert_eq!(line(concat!("    #[", "allow(dead_code)]")), 1);
        assert_eq!(line(concat!("#![", "allow(dead_code)]")), 1);
        assert_eq!(line("x "), 1);
        assert_eq!(line("#[expect(dead_code)]"), 0);
    }

    #[test]
    fn edges_that_are_not_allowed_are_named() {
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
        ]});
        let allowed: &[(&str, &[&str])] =
            &[("dormouse-base", &[]), ("dormouse-model", &["dormouse-base"]), ("gone", &[])];
        assert_eq!(
            edge_problems(&metadata, allowed),
            [
                "dormouse-base may not use in its tests dormouse-model",
                "dormouse-model may not use dormouse-testkit",
                "dormouse-testkit: not in the table of crate edges",
                "gone: in the table of crate edges, but no package",
            ]
        );
    }

    #[test]
    fn cargo_is_asked_about_this_workspace() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
        let problems = crate_edges(root, &[("dormouse-base", &[])]);
        assert!(problems.iter().any(|problem| problem.starts_with(TESTKIT)), "{problems:?}");
        assert!(!problems.iter().any(|problem| problem.starts_with("dormouse-base ")));
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
