//! Anchors: found where they are true, fresh, touched, broken.

#![expect(clippy::disallowed_methods, reason = "the tests lay out a project by hand")]

use std::fs;
use std::time::Duration;

use dormouse_base::Dir;

use super::*;

fn project() -> (tempfile::TempDir, Dir) {
    let keep = tempfile::tempdir().unwrap();
    fs::create_dir(keep.path().join("src")).unwrap();
    fs::write(keep.path().join("src/lib.rs"), "fn parse_header() {}\nfn other() {}\n").unwrap();
    fs::write(keep.path().join("Makefile.am"), "run: --fast-mode\n").unwrap();
    let dir = Dir::open(keep.path()).unwrap();
    (keep, dir)
}

const TEXT: &str = "Use `Parser::parse_header()` in src/lib.rs:12 (not `old_header`), see `Makefile.am`, \
                    `--fast-mode`, https://a.b/src/lib.rs and ../src/lib.rs or /etc/passwd, src/none.rs.";

fn anchors(dir: &Dir) -> Vec<Anchor> {
    extract(TEXT, dir, Some("abc123"))
}

#[test]
fn only_what_is_there_becomes_an_anchor() {
    let (_keep, dir) = project();
    let found: Vec<(String, Option<String>)> =
        anchors(&dir).into_iter().map(|anchor| (anchor.path, anchor.symbol)).collect();
    let expected = |path: &str, symbol: &str| (path.to_owned(), Some(symbol.to_owned()));
    assert_eq!(
        found,
        [expected("src/lib.rs", "parse_header"), expected("Makefile.am", "--fast-mode")]
    );
    for anchor in anchors(&dir) {
        assert_eq!(Anchor::parse(&anchor.to_string()), Some(anchor));
    }
    for text in ["", "a b", "src/lib.rs", "../x 0123456789abcdef", "x 0123456789abcdeX"] {
        assert_eq!(Anchor::parse(text), None, "{text}");
    }
}

#[test]
fn fresh_touched_broken() {
    let (keep, dir) = project();
    let anchors = anchors(&dir);
    let mut cache = AnchorCache::default();
    let path = keep.path().join("src/lib.rs");
    let mut later = fs::metadata(&path).unwrap().modified().unwrap();
    let mut write = |text: &str| {
        fs::write(&path, text).unwrap();
        later += Duration::from_secs(1);
        fs::File::options().write(true).open(&path).unwrap().set_modified(later).unwrap();
    };
    assert_eq!(check(&dir, &anchors, &mut cache), [Freshness::Fresh, Freshness::Fresh]);
    assert_eq!(anchor_caveat(&anchors, &[Freshness::Fresh, Freshness::Fresh]), None);
    write("fn parse_header(more: u8) {}\n");
    assert_eq!(check(&dir, &anchors, &mut cache)[0], Freshness::Touched);
    write("fn parse_headers() {}\n");
    let states = check(&dir, &anchors, &mut cache);
    assert_eq!(states, [Freshness::SymbolGone, Freshness::Fresh]);
    let caveat = anchor_caveat(&anchors, &states).unwrap();
    assert!(caveat.contains("`parse_header` is no longer in src/lib.rs"), "{caveat}");
    fs::remove_file(keep.path().join("src/lib.rs")).unwrap();
    assert_eq!(check(&dir, &anchors, &mut cache)[0], Freshness::FileGone);
    assert!(Freshness::FileGone.is_broken() && !Freshness::Touched.is_broken());
}

#[test]
fn a_file_of_known_time_and_size_is_not_read_again() {
    let (keep, dir) = project();
    let anchors = anchors(&dir);
    let mut cache = AnchorCache::default();
    check(&dir, &anchors, &mut cache);
    let path = keep.path().join("Makefile.am");
    let time = fs::metadata(&path).unwrap().modified().unwrap();
    fs::write(&path, "run: --slow-mode\n").unwrap();
    fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    assert_eq!(check(&dir, &anchors, &mut cache)[1], Freshness::Fresh);
}

#[test]
fn paths_in_chinese_text_are_found() {
    let (keep, dir) = project();
    fs::create_dir(keep.path().join("文档")).unwrap();
    fs::write(keep.path().join("文档/说明.md"), "x").unwrap();
    for text in [
        "解析在src/lib.rs里，不要改。",
        "先看「src/lib.rs」、再看《Makefile.am》",
        "参见（src/lib.rs）：第三行",
        "文档/说明.md 里有",
    ] {
        assert!(!extract(text, &dir, None).is_empty(), "{text}");
    }
    let found = extract("在src/lib.rs的`parse_header`里", &dir, None);
    assert_eq!(found[0].symbol.as_deref(), Some("parse_header"));
}

#[test]
fn a_symbol_without_a_path_is_looked_up() {
    let (keep, dir) = project();
    fs::write(keep.path().join("src/use.rs"), "let x = parse_header();\n").unwrap();
    fs::write(keep.path().join("src/a.rs"), "shared_name\n").unwrap();
    fs::write(keep.path().join("src/b.rs"), "shared_name\n").unwrap();
    let found =
        extract("`parse_header` must not panic; `shared_name` and `nothing_like_it`", &dir, None);
    let found: Vec<_> =
        found.iter().map(|anchor| (anchor.path.as_str(), anchor.symbol.as_deref())).collect();
    // Where it is defined, not where it is used; a name of two files says nothing.
    assert_eq!(found, [("src/lib.rs", Some("parse_header"))]);
}
