//! The index and the scan agree on which files are memories.

use std::fs;
use std::sync::Arc;

use dormouse_base::SystemClock;

use super::walk;
use crate::kind::Scope;
use crate::scan::ScanCache;
use crate::store::{Store, StoreOptions};

/// The walk and the scan agree on what a memory is, whatever lies around.
#[test]
#[expect(clippy::disallowed_methods, reason = "the test lays out a directory by hand")]
fn the_walk_finds_what_a_scan_finds() {
    let temporary = tempfile::tempdir().unwrap();
    let memory = temporary.path().join("memory");
    let deep = "a/b/c/d/e/f/g/h/i/j";
    for folder in ["logs", "team", "sub/team", ".hidden", "Logs2", deep] {
        fs::create_dir_all(memory.join(folder)).unwrap();
    }
    for file in [
        "one.md",
        "MEMORY.md",
        "memory.md",
        "two.MD",
        "three.txt",
        ".four.md",
        "logs/five.md",
        "team/six.md",
        "sub/team/seven.md",
        ".hidden/eight.md",
        "Logs2/nine.md",
        "数据.md",
        "a/ten.md",
        "a/b/c/d/e/f/g/eleven.md",
        "a/b/c/d/e/f/g/h/twelve.md",
        "con.md",
        "sp ace.md",
    ] {
        fs::write(memory.join(file), "text").unwrap();
    }
    std::os::unix::fs::symlink(memory.join("one.md"), memory.join("link.md")).unwrap();
    let options =
        StoreOptions::new(Scope::Project, |_| Vec::new(), Arc::new(SystemClock::default()));
    let store = Store::open(&memory, &temporary.path().join("state"), options).unwrap();
    let scan = store.scan(&mut ScanCache::default()).unwrap();
    let mut scanned: Vec<String> =
        scan.memories.iter().map(|memory| memory.file.to_string()).collect();
    scanned.sort();
    let walked: Vec<String> = walk::walk(&store).unwrap().into_keys().collect();
    assert_eq!(walked, scanned);
    assert!(walked.len() > 5, "{walked:?}");
}
