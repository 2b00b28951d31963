//! Real crashes: a child process edits and writes and is ended, or refused, at every fault point in
//! turn; afterwards each file is old or new, never half.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::Scene;

/// Set for the child: where to write.
const PLACE: &str = "FILES_TEST_FOLDER";
const OLD: &str = "old content\n";
const NEW: &str = "new content, which is longer\n";

/// What the child does. Run as a test of its own, it does nothing.
#[tokio::test]
async fn child() {
    let Some(place) = std::env::var_os(PLACE).map(PathBuf::from) else { return };
    let scene = Scene::new();
    let path = place.join("file");
    scene.text("Read", &json!({"file_path": path})).await;
    let edit =
        json!({"file_path": path, "old_string": "old content", "new_string": NEW.trim_end()});
    scene.text("Edit", &edit).await;
    let write = json!({"file_path": place.join("deep/er/made"), "content": NEW});
    scene.text("Write", &write).await;
}

/// Whether the child got through, and what it said.
fn run_child(place: &Path, fault: &str) -> (bool, String) {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crash::child", "--nocapture"])
        .env(PLACE, place)
        .env("DORMOUSE_FAULT", fault)
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&text).into_owned())
}

fn litter(folder: &Path) -> usize {
    let Ok(entries) = folder.read_dir() else { return 0 };
    let names = entries.map(|entry| entry.unwrap().file_name());
    names.filter(|name| name.to_str().unwrap().starts_with(".dormouse-")).count()
}

/// How many points were passed.
fn walk_through(action: &str) -> usize {
    for passing in 1.. {
        let folder = tempfile::tempdir().unwrap();
        let (file, made) = (folder.path().join("file"), folder.path().join("deep/er/made"));
        std::fs::write(&file, OLD).unwrap();
        let (finished, text) = run_child(folder.path(), &format!("{action}@*#{passing}"));
        let content = std::fs::read_to_string(&file).unwrap();
        assert!(content == OLD || content == NEW, "{action} at {passing}: half of the edit");
        if let Ok(content) = std::fs::read_to_string(&made) {
            assert_eq!(content, NEW, "{action} at {passing}: half of the file");
        }
        if action != "abort" {
            let left = litter(folder.path()) + litter(made.parent().unwrap());
            assert_eq!(left, 0, "{action} at {passing}");
            assert!(finished || text.contains("cannot write"), "{text}");
        }
        if finished {
            assert_eq!(
                (content.as_str(), std::fs::read_to_string(&made).unwrap().as_str()),
                (NEW, NEW)
            );
            return passing;
        }
    }
    0
}

#[test]
fn killed_at_every_point() {
    // Five points for the file that was there, and two more for the folders of the other.
    assert!(walk_through("abort") > 12);
}

#[test]
fn refused_at_every_point() {
    for action in ["enospc", "eacces"] {
        // Flushing the folder comes after the change, and is the only thing that may fail.
        assert!(walk_through(action) > 10);
    }
}

/// By then the change is made: to call it a failure would be untrue.
#[test]
fn a_folder_that_can_not_be_flushed_is_no_failure() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), OLD).unwrap();
    let (finished, text) = run_child(folder.path(), "eio@tools.sync_dir");
    assert!(finished, "{text}");
    assert_eq!(std::fs::read_to_string(folder.path().join("file")).unwrap(), NEW);
}

#[test]
fn a_read_only_file_system_is_named() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), OLD).unwrap();
    let (finished, text) = run_child(folder.path(), "erofs@tools.create_temporary");
    assert!(!finished && text.contains("Read-only file system"), "{text}");
    assert_eq!(std::fs::read_to_string(folder.path().join("file")).unwrap(), OLD);
}
