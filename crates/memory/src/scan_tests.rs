//! The scan: what is in it, what is not, and what is not read twice.

#![expect(clippy::disallowed_methods, reason = "the tests lay out files by hand")]

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

use super::*;

fn folder(files: &[(&str, &str)]) -> (tempfile::TempDir, Dir) {
    let temporary = tempfile::tempdir().unwrap();
    for (at, (path, text)) in files.iter().enumerate() {
        let path = temporary.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 + at as u64);
        fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    }
    let dir = Dir::open(temporary.path()).unwrap();
    (temporary, dir)
}

fn files(scan: &Scan) -> Vec<&str> {
    scan.memories.iter().map(|memory| memory.file.as_str()).collect()
}

#[test]
fn memories_are_found_newest_first_and_nothing_else() {
    let (keep, dir) = folder(&[
        ("MEMORY.md", "- [A](a.md)\n"),
        ("a.md", "---\nname: A\n---\n"),
        ("sub/b.md", "no frontmatter"),
        (".git/c.md", "hidden"),
        ("logs/2026/11/2026-11-15.md", "log"),
        ("team/d.md", "team's"),
        ("notes.txt", "no memory"),
        ("binary.md", "a\0b"),
        ("中文.md", "---\ndescription: 中\n---\n"),
    ]);
    std::os::unix::fs::symlink("/etc/hostname", keep.path().join("link.md")).unwrap();
    let odd = |name: &[u8]| keep.path().join(std::ffi::OsStr::from_bytes(name));
    fs::write(odd(b"sub/caf\xe9.md"), "x").unwrap();
    fs::write(odd(b"caf\xe9.txt"), "x").unwrap();
    let scan = scan(&dir, &["team"], &mut ScanCache::default()).unwrap();
    assert_eq!(files(&scan), ["中文.md", "sub/b.md", "a.md"]);
    let mut skipped: Vec<&str> = scan.skipped.iter().map(|file| file.path.as_str()).collect();
    skipped.sort_unstable();
    assert_eq!(skipped, ["binary.md", "link.md", "sub/caf\u{fffd}.md"]);
    assert_eq!(scan.find("A").unwrap().file.as_str(), "a.md");
    assert_eq!(scan.find("b").unwrap().file.as_str(), "sub/b.md");
    assert!(scan.find("c").is_none());
}

#[test]
fn an_unchanged_file_is_not_read_again() {
    let (keep, dir) = folder(&[("a.md", "---\nname: one\n---\n")]);
    let mut cache = ScanCache::default();
    scan(&dir, &[], &mut cache).unwrap();
    let path = keep.path().join("a.md");
    let time = fs::metadata(&path).unwrap().modified().unwrap();
    fs::write(&path, "---\nname: two\n---\n").unwrap();
    let set_time = |time| {
        fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    };
    // The same time and size: only a second reading could tell.
    set_time(time);
    assert_eq!(scan(&dir, &[], &mut cache).unwrap().memories[0].name(), "one");
    set_time(time + Duration::from_secs(1));
    assert_eq!(scan(&dir, &[], &mut cache).unwrap().memories[0].name(), "two");
    fs::remove_file(&path).unwrap();
    assert!(scan(&dir, &[], &mut cache).unwrap().memories.is_empty());
    assert!(cache.known.is_empty());
}

#[test]
fn only_the_first_lines_are_read() {
    let many = (0..100).fold(String::new(), |text, n| text + &format!("key{n}: {n}\n"));
    let text = format!("---\nname: long\n{many}description: too far\n---\n");
    let (_keep, dir) = folder(&[("a.md", &text), ("b.md", &"x".repeat(200_000))]);
    let scan = scan(&dir, &[], &mut ScanCache::default()).unwrap();
    assert_eq!(scan.memories.len(), 2);
    let long = scan.find("a").unwrap();
    assert_eq!((long.name(), long.header.description.as_deref()), ("long", None));
    let mut head = vec![0; 16];
    assert_eq!(first_lines("a\n".repeat(40).as_bytes(), 80, &mut head).unwrap().len(), 60);
}

#[test]
fn only_the_newest_are_opened() {
    let (keep, dir) = folder(&[
        ("MEMORY.md", "- [A](a.md)\n"),
        ("a.md", "---\nname: A\n---\n"),
        ("sub/b.md", "no frontmatter"),
        ("team/d.md", "team's"),
        ("c.md", "---\nname: C\n---\n"),
        ("binary.md", "a\0b"),
    ]);
    let found = newest(&dir, &["team"], 2).unwrap();
    let names: Vec<&str> = found.memories.iter().map(|memory| memory.file.as_str()).collect();
    assert_eq!((names, found.files), (vec!["c.md", "sub/b.md"], 4));
    let all = scan(&dir, &["team"], &mut ScanCache::default()).unwrap();
    assert_eq!(newest(&dir, &["team"], 9).unwrap().memories, all.memories);
    drop(keep);
}
