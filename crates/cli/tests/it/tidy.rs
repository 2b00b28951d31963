//! The shape of the workspace itself: who may use whom, files that say what they are for, documented
//! variables.

use std::path::Path;

use dormouse_base::VARIABLES;
use dormouse_testkit::tidy;

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The edges of ARCHITECTURE.md; there are no others.
const EDGES: &[(&str, &[&str])] = &[
    ("dormouse-base", &[]),
    ("dormouse-conversation", &["dormouse-base"]),
    ("dormouse-context", &["dormouse-conversation", "dormouse-base"]),
    ("dormouse-frontmatter", &[]),
    ("dormouse-search", &["dormouse-base"]),
    ("dormouse-secrets", &[]),
    ("dormouse-instructions", &["dormouse-base"]),
    (
        "dormouse-memory",
        &[
            "dormouse-frontmatter",
            "dormouse-search",
            "dormouse-secrets",
            "dormouse-conversation",
            "dormouse-base",
        ],
    ),
    ("dormouse-model", &["dormouse-conversation", "dormouse-base"]),
    ("dormouse-permissions", &[]),
    ("dormouse-tools", &["dormouse-permissions", "dormouse-conversation", "dormouse-base"]),
    (
        "dormouse-hooks",
        &[
            "dormouse-frontmatter",
            "dormouse-instructions",
            "dormouse-permissions",
            "dormouse-tools",
            "dormouse-conversation",
            "dormouse-base",
        ],
    ),
    (
        "dormouse-extensions",
        &[
            "dormouse-hooks",
            "dormouse-context",
            "dormouse-frontmatter",
            "dormouse-permissions",
            "dormouse-tools",
            "dormouse-conversation",
            "dormouse-base",
        ],
    ),
    (
        "dormouse-engine",
        &[
            "dormouse-extensions",
            "dormouse-hooks",
            "dormouse-context",
            "dormouse-memory",
            "dormouse-search",
            "dormouse-provenance",
            "dormouse-frontmatter",
            "dormouse-instructions",
            "dormouse-model",
            "dormouse-mcp-client",
            "dormouse-tools",
            "dormouse-permissions",
            "dormouse-conversation",
            "dormouse-base",
        ],
    ),
    (
        "dormouse-mcp-client",
        &["dormouse-tools", "dormouse-permissions", "dormouse-conversation", "dormouse-base"],
    ),
    (
        "dormouse-background",
        &[
            "dormouse-engine",
            "dormouse-hooks",
            "dormouse-context",
            "dormouse-memory",
            "dormouse-provenance",
            "dormouse-secrets",
            "dormouse-conversation",
            "dormouse-base",
        ],
    ),
    (
        "dormouse-agents",
        &[
            "dormouse-background",
            "dormouse-engine",
            "dormouse-extensions",
            "dormouse-hooks",
            "dormouse-context",
            "dormouse-memory",
            "dormouse-frontmatter",
            "dormouse-model",
            "dormouse-mcp-client",
            "dormouse-tools",
            "dormouse-permissions",
            "dormouse-conversation",
            "dormouse-base",
        ],
    ),
    ("dormouse-provenance", &["dormouse-memory", "dormouse-conversation", "dormouse-base"]),
    (
        "dormouse-serve",
        &["dormouse-memory", "dormouse-search", "dormouse-conversation", "dormouse-base"],
    ),
    (
        "dormouse-cli",
        &[
            "dormouse-agents",
            "dormouse-background",
            "dormouse-engine",
            "dormouse-extensions",
            "dormouse-hooks",
            "dormouse-serve",
            "dormouse-context",
            "dormouse-memory",
            "dormouse-search",
            "dormouse-frontmatter",
            "dormouse-instructions",
            "dormouse-secrets",
            "dormouse-model",
            "dormouse-mcp-client",
            "dormouse-tools",
            "dormouse-permissions",
            "dormouse-conversation",
            "dormouse-base",
        ],
    ),
    ("dormouse-testkit", &["dormouse-model", "dormouse-conversation", "dormouse-base"]),
    (
        "dormouse-bench",
        &[
            "dormouse-testkit",
            "dormouse-engine",
            "dormouse-context",
            "dormouse-memory",
            "dormouse-search",
            "dormouse-secrets",
            "dormouse-model",
            "dormouse-tools",
            "dormouse-permissions",
            "dormouse-conversation",
            "dormouse-base",
        ],
    ),
];

#[test]
fn crates_use_only_what_they_may() {
    let short = |name: &str| name.trim_start_matches("dormouse-").to_owned();
    let edges: Vec<tidy::CrateEdges> = EDGES
        .iter()
        .map(|(user, used)| (short(user), used.iter().map(|name| short(name)).collect()))
        .collect();
    let mut problems = tidy::crate_edges(root(), &edges);
    problems.retain(|problem| !problem.ends_with("drawn but not used"));
    assert_eq!(problems, Vec::<String>::new());
}

#[test]
fn sources_are_tidy() {
    assert_eq!(tidy::source_problems(root()), Vec::<String>::new());
}

#[test]
fn every_environment_variable_is_documented() {
    let manual = std::fs::read_to_string(root().join("docs/configuration.md")).unwrap();
    for variable in VARIABLES {
        assert!(
            manual.contains(&format!("`{}`", variable.name)),
            "{} is not in docs/configuration.md",
            variable.name
        );
    }
}

/// A line for every dependency, with its reason.
#[test]
fn every_dependency_has_its_reason() {
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let reasons = std::fs::read_to_string(root().join("DEPENDENCIES.md")).unwrap();
    let section =
        manifest.split("[workspace.dependencies]").nth(1).unwrap().split("\n[").next().unwrap();
    let names =
        section.lines().filter_map(|line| line.split_once(" = ")).map(|(name, _)| name.trim());
    for name in names.filter(|name| !name.starts_with('#') && !name.starts_with("dormouse-")) {
        assert!(reasons.contains(&format!("`{name}`")), "{name} is not in DEPENDENCIES.md");
    }
}

#[test]
fn the_map_names_every_crate() {
    let map = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    for entry in root().join("crates").read_dir().unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(map.contains(&format!("`{name}`")), "{name} is not in ARCHITECTURE.md");
    }
}
