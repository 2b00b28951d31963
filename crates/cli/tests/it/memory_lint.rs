//! `dormouse memory lint` for pull requests: repetitions, contradictions, and the formats of code hosts (T-14).

use dormouse_testkit::TestHome;
use serde_json::{Value, json};

use crate::memory_cli::{json as memory_json, memory};

const FOLDER: &str = ".dormouse/memory";

fn note(home: &TestHome, name: &str, body: &str) {
    let text = format!(
        "---\nname: {name}\ndescription: about {name}\nmetadata:\n  type: project\n---\n{body}\n"
    );
    home.write(home.project().join(FOLDER).join(format!("{name}.md")), text);
}

/// A repository whose memories repeat and contradict one another and the instructions, in both languages.
fn repository() -> TestHome {
    let home = TestHome::new();
    home.git_init();
    home.write(home.project().join("AGENTS.md"), "# Rules\n\nNever use tabs for indentation.\n");
    let two = "Deployments to staging run on Fridays. The release branch is cut on Mondays.";
    note(&home, "a-deploy", two);
    note(&home, "b-deploy", "The release branch is cut on Mondays.");
    note(&home, "c-deploy", "Deployments to staging do not run on Fridays.");
    note(&home, "d-tabs", "Use tabs for indentation.");
    note(&home, "e-format", "提交前要运行格式化脚本。");
    note(&home, "f-format", "提交前不要运行格式化脚本。");
    note(&home, "g-other", "The CI runner needs Docker 24.");
    home
}

#[test]
fn repetitions_and_contradictions_are_found() {
    let home = repository();
    let report = memory_json(&home, &["lint", FOLDER], 1);
    let findings = report["findings"].as_array().unwrap().iter();
    let found: Vec<(String, &str)> = findings
        .map(|finding| {
            let file = finding["file"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
            (file, finding["kind"].as_str().unwrap())
        })
        .filter(|(_, kind)| matches!(*kind, "repetition" | "contradiction"))
        .collect();
    let expected = [
        ("b-deploy.md", "repetition"),
        ("c-deploy.md", "contradiction"),
        ("d-tabs.md", "contradiction"),
        ("f-format.md", "contradiction"),
    ];
    let expected: Vec<(String, &str)> =
        expected.into_iter().map(|(file, kind)| (file.to_owned(), kind)).collect();
    assert_eq!(found, expected, "{report}");
}

#[test]
fn findings_are_annotations_of_a_code_host() {
    let home = TestHome::new();
    home.git_init();
    // Built here, so that no scanner takes this file for a leak.
    let key = format!("ghp_{}", "aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0cD2eF5");
    note(&home, "50%, key", &format!("First line.\nThe key is {key}."));
    let output = memory(&home, &["lint", FOLDER, "--annotations", "github"]);
    output.expect_code(1);
    let line = output.stdout.lines().find(|line| line.contains("title=secret")).unwrap();
    let place = "::error file=.dormouse/memory/50%25%2C key.md,line=8,title=secret::";
    assert!(line.starts_with(place), "{line}");
    assert!(!output.stdout.contains(&key));

    let output = memory(&home, &["lint", FOLDER, "--annotations", "gitlab"]);
    output.expect_code(1);
    let issues: Value = serde_json::from_str(&output.stdout).unwrap();
    let issue =
        issues.as_array().unwrap().iter().find(|one| one["check_name"] == "secret").unwrap();
    assert_eq!(
        (&issue["location"], &issue["severity"]),
        (
            &json!({"path": ".dormouse/memory/50%, key.md", "lines": {"begin": 8}}),
            &json!("blocker")
        )
    );
    assert!(issue["fingerprint"].as_str().unwrap().len() >= 16 && !output.stdout.contains(&key));
    let again = memory(&home, &["lint", FOLDER, "--annotations", "gitlab"]);
    assert_eq!(again.stdout, output.stdout, "the same finding has the same fingerprint");
    memory(&home, &["lint", FOLDER, "--annotations", "gitlab", "--json"]).expect_code(2);
}
