//! Every message used in the code is in the catalog with the same arguments, and the catalog has no others.

use std::path::Path;

use dormouse_messages::catalog_check::{catalog_problems, use_problems};

use super::*;

#[test]
fn the_languages_have_the_same_messages() {
    for catalog in [&MESSAGES, &HELP] {
        assert_eq!(catalog_problems(catalog), Vec::<String>::new());
    }
}

#[test]
fn every_use_matches_the_catalog() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    assert_eq!(use_problems(&MESSAGES, &folder), Vec::<String>::new());
}
