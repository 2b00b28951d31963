//! The shape of the workspace itself: who may use whom, files that say what they are for, documented
//! variables.

use std::path::Path;

use dormouse_base::VARIABLES;
use dormouse_testkit::{structure, tidy};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// ARCHITECTURE.md draws every edge between crates, and no other.
#[test]
fn the_map_draws_the_crate_edges() {
    let map = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    assert_eq!(tidy::crate_edges(root(), &tidy::drawn_edges(&map)), Vec::<String>::new());
}

/// No circles between modules, no type or function over its limits, no type name twice, no string as an error.
#[test]
fn the_structure_holds() {
    assert_eq!(tidy::structure_problems(root()), Vec::<String>::new());
}

/// The libraries for other programs (U-14) change what their users meet only on purpose: a difference here is a change of version.
#[test]
fn the_libraries_offer_what_they_offered() {
    for name in ["memory", "context", "search", "conversation"] {
        let source = structure::read_crate(root(), &root().join("crates").join(name));
        let api = structure::public_api(root(), &source);
        let mut settings = insta::Settings::clone_current();
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.bind(|| insta::assert_snapshot!(format!("api_{name}"), api));
    }
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

/// What is released has a dated section in the changelog, below the one for what follows.
#[test]
fn the_changelog_knows_this_version() {
    let changelog = std::fs::read_to_string(root().join("CHANGELOG.md")).unwrap();
    let mut sections = changelog.lines().filter_map(|line| line.strip_prefix("## "));
    assert_eq!(sections.next(), Some("Unreleased"));
    let newest = sections.next().unwrap();
    let date = newest.strip_prefix(concat!(env!("CARGO_PKG_VERSION"), " (")).unwrap();
    assert!(date.strip_suffix(')').unwrap().parse::<jiff::civil::Date>().is_ok(), "{newest}");
}

#[test]
fn the_map_names_every_crate() {
    let map = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    for entry in root().join("crates").read_dir().unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(map.contains(&format!("`{name}`")), "{name} is not in ARCHITECTURE.md");
    }
}

/// The clock that a file moves is for benchmarks: a program as it is built by default has no way to it.
#[test]
#[cfg(not(feature = "movable-clock"))]
fn the_clock_of_a_default_build_cannot_be_moved() {
    let program = std::fs::read(env!("CARGO_BIN_EXE_dormouse")).unwrap();
    let contains = |name: &str| program.windows(name.len()).any(|part| part == name.as_bytes());
    // So that the search is known to find what is there.
    assert!(contains("DORMOUSE_CONTEXT_WINDOW"));
    assert!(!contains("DORMOUSE_BENCH_CLOCK"));
}

/// No manifest turns it on: a build of the workspace would turn it on for all of it.
#[test]
fn no_manifest_turns_the_movable_clock_on() {
    let crates = root().join("crates").read_dir().unwrap().map(|entry| entry.unwrap().path());
    let folders = crates.chain([root().to_owned(), root().join("bench"), root().join("fuzz")]);
    for folder in folders {
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        for line in manifest.lines().filter(|line| line.contains("movable-clock")) {
            let declared = line.starts_with("movable-clock = ");
            let in_base_or_cli = folder.ends_with("base") || folder.ends_with("cli");
            assert!(declared && in_base_or_cli, "{}: {line}", folder.display());
        }
    }
}
