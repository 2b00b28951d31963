//! Nothing outside the folder is touched, and nothing is half written.

use super::*;
use crate::platform::walk_beneath;

fn rel(path: &str) -> RelPath {
    RelPath::new(path).unwrap()
}

fn folder() -> (tempfile::TempDir, Dir) {
    let temporary = tempfile::tempdir().unwrap();
    let dir = Dir::open(temporary.path()).unwrap();
    (temporary, dir)
}

#[test]
fn replace_makes_folders_and_leaves_no_litter() {
    let (_keep, dir) = folder();
    dir.replace(&rel("a/b/c.txt"), b"one").unwrap();
    dir.replace(&rel("a/b/c.txt"), b"two").unwrap();
    assert_eq!(dir.read(&rel("a/b/c.txt")).unwrap(), b"two");
    let names: Vec<String> = dir
        .open_folder(&rel("a/b"))
        .unwrap()
        .entries()
        .unwrap()
        .into_iter()
        .map(|entry| entry.name)
        .collect();
    assert_eq!(names, ["c.txt"]);
}

#[test]
fn a_rewritten_file_keeps_its_mode_and_a_new_one_is_private() {
    use std::os::unix::fs::PermissionsExt;
    let (keep, dir) = folder();
    let file = keep.path().join("shared.json");
    let mode = || std::fs::metadata(&file).unwrap().permissions().mode() & 0o7777;
    dir.rewrite(&rel("shared.json"), b"one").unwrap();
    assert_eq!(mode(), 0o600);
    for shared in [0o644, 0o664, 0o640] {
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(shared)).unwrap();
        dir.rewrite(&rel("shared.json"), b"two").unwrap();
        assert_eq!(mode(), shared);
    }
    dir.replace(&rel("shared.json"), b"three").unwrap();
    assert_eq!(mode(), 0o600);
}

#[test]
fn links_are_not_followed() {
    let (keep, dir) = folder();
    let outside = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(outside.path(), keep.path().join("link")).unwrap();
    std::os::unix::fs::symlink("/etc/hostname", keep.path().join("file")).unwrap();
    assert!(dir.read(&rel("link/x")).is_err());
    assert!(dir.read(&rel("file")).is_err());
    assert!(dir.replace(&rel("link/x"), b"no").is_err());
    assert!(outside.path().read_dir().unwrap().next().is_none());
    // Replacing the link itself puts a file in its place and leaves the target alone.
    dir.replace(&rel("file"), b"mine").unwrap();
    assert_eq!(dir.read(&rel("file")).unwrap(), b"mine");
}

#[test]
fn the_walk_by_hand_is_as_strict() {
    let (keep, dir) = folder();
    dir.replace(&rel("a/b.txt"), b"in").unwrap();
    std::os::unix::fs::symlink("a", keep.path().join("link")).unwrap();
    let read = |path: &str| {
        walk_beneath(dir.handle.as_fd(), Path::new(path), OFlags::RDONLY, Mode::empty())
    };
    assert!(read("a/b.txt").is_ok());
    assert!(read("link/b.txt").is_err());
}

#[test]
fn a_replaced_file_has_the_time_it_was_given() {
    let (_keep, dir) = folder();
    let then = SystemTime::UNIX_EPOCH + Duration::new(1_700_000_000, 5_000_000);
    let replacement =
        Replacement { modified: Some(then), ..Replacement::new(b"old content, new name") };
    dir.replace_with(&rel("a/b.md"), &replacement).unwrap();
    let entry = dir.entry(&rel("a/b.md")).unwrap();
    assert_eq!((entry.modified, entry.size, entry.kind), (then, 21, EntryKind::File));
    let hasty = Replacement { durability: Durability::Unsynced, ..Replacement::new(b"x") };
    dir.replace_with(&rel("a/c.md"), &hasty).unwrap();
    let mut names = dir.open_folder(&rel("a")).unwrap().names().unwrap();
    names.sort();
    assert_eq!(names, ["b.md", "c.md"]);
    dir.rename(&rel("a"), &rel("moved")).unwrap();
    assert!(dir.read(&rel("moved/b.md")).is_ok() && dir.read(&rel("a/b.md")).is_err());
    assert!(Dir::is_temporary(".0123456789abcdef0123456789abcdef.tmp"));
    assert!(!Dir::is_temporary(".mine.tmp") && !Dir::is_temporary("b.md"));
    assert!(dir.entry(&rel("a/none.md")).unwrap_err().is_not_found());
}

#[test]
fn errors_name_the_file() {
    let (keep, dir) = folder();
    let error = dir.read(&rel("missing.md")).unwrap_err();
    assert!(error.is_not_found());
    assert!(error.to_string().contains(&keep.path().join("missing.md").display().to_string()));
}
