//! The reading of source trees: circles through re-exports, sizes of types, names, errors.

use std::path::Path;

use dormouse_testkit::structure::{
    circles, duplicate_type_names, oversized_types, read_workspace, string_errors,
};

/// A workspace of one crate `a` with these files.
fn workspace(files: &[(&str, &str)]) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = root.path().join("crates/a/src").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    root
}

fn circles_of(root: &Path) -> Vec<Vec<String>> {
    let sources = read_workspace(root);
    let found = sources.iter().flat_map(circles);
    found.map(|circle| circle.modules.into_iter().map(|(name, _)| name).collect()).collect()
}

#[test]
fn a_circle_through_reexports_is_found() {
    let root = workspace(&[
        ("lib.rs", "mod one;\nmod two;\npub use one::One;\npub use two::Two;\n"),
        ("one.rs", "use crate::Two;\npub struct One(Two);\n"),
        ("two.rs", "pub struct Two;\nfn f(_: &crate::One) {}\n"),
    ]);
    assert_eq!(circles_of(root.path()), [["one", "two"]]);
}

#[test]
fn a_facade_is_no_circle() {
    let root = workspace(&[
        ("lib.rs", "mod part;\npub use part::{Shared, work};\n"),
        ("part/mod.rs", "mod shared;\nmod work;\npub use shared::Shared;\npub use work::work;\n"),
        ("part/shared.rs", "pub struct Shared;\n"),
        ("part/work.rs", "use super::Shared;\npub fn work(_: &Shared) {}\n"),
    ]);
    assert_eq!(circles_of(root.path()), Vec::<Vec<String>>::new());
}

#[test]
fn tests_do_not_count() {
    let root = workspace(&[
        ("lib.rs", "mod one;\nmod two;\n"),
        ("one.rs", "pub struct One;\n#[cfg(test)]\nmod tests {\n    use crate::two::Two;\n}\n"),
        ("two.rs", "pub struct Two(crate::one::One);\n"),
    ]);
    assert_eq!(circles_of(root.path()), Vec::<Vec<String>>::new());
}

fn numbered(count: usize, item: impl Fn(usize) -> String) -> String {
    (0..count).map(item).collect::<Vec<_>>().join("\n")
}

#[test]
fn methods_are_counted_wherever_they_are() {
    let methods = numbered(30, |n| format!("fn m{n}(&self) {{}}"));
    let functions = numbered(11, |n| format!("fn f{n}(it: &mut Big) {{}}"));
    let root = workspace(&[
        ("lib.rs", "mod big;\nmod more;\n"),
        ("big.rs", &format!("pub struct Big;\nimpl Big {{ {methods} }}\n")),
        ("more.rs", &format!("use crate::big::Big;\n{functions}")),
    ]);
    let sources = read_workspace(root.path());
    assert_eq!(oversized_types(&sources[0]), ["a::Big: 0 fields, 41 methods in 2 files"]);
}

#[test]
fn structs_that_clap_or_serde_fill_may_have_many_fields() {
    let fields = numbered(16, |n| format!("f{n}: u8,"));
    let root = workspace(&[(
        "lib.rs",
        &format!(
            "struct Large {{ {fields} }}\n#[derive(serde::Deserialize)]\nstruct Read {{ {fields} }}\n"
        ),
    )]);
    let sources = read_workspace(root.path());
    assert_eq!(oversized_types(&sources[0]), ["a::Large: 16 fields, 0 methods in 0 files"]);
}

#[test]
fn names_and_string_errors_are_found() {
    let root = workspace(&[
        ("lib.rs", "mod one;\nmod two;\npub struct Words(String);\n"),
        (
            "one.rs",
            "pub(crate) struct Line;\nstruct Own;\npub fn f() -> Result<(), String> { Ok(()) }\n",
        ),
        (
            "two.rs",
            "pub enum Line {}\nstruct Own;\nfn private() -> Result<(), String> { Ok(()) }\n\
             pub trait T { fn g(&self) -> std::io::Result<Result<u8, crate::Words>>; }\n",
        ),
    ]);
    let sources = read_workspace(root.path());
    let names: Vec<String> = duplicate_type_names(&sources).into_keys().collect();
    assert_eq!(names, ["Line"]);
    assert_eq!(string_errors(&sources), ["crates/a/src/one.rs:3: f", "crates/a/src/two.rs:4: g"]);
}
