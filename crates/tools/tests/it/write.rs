//! Write: what it demands, what it refuses, and what is left behind.

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use dormouse_permissions::Access;
use dormouse_tools::{
    Bash, Edit, FileGuard, FileRoute, Read, ReadExtent, TodoWrite, Tool, Write, output,
};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::Scene;

fn write(path: impl AsRef<Path>, content: &str) -> Value {
    json!({ "file_path": path.as_ref(), "content": content })
}

/// A file that was read.
pub(crate) async fn known(scene: &Scene, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let path = scene.write(name, content);
    scene.text("Read", &json!({ "file_path": path })).await;
    path
}

/// Bytes, time, mode and number: all that a failed call must leave alone.
pub(crate) fn state(path: &Path) -> (Vec<u8>, SystemTime, u32, u64) {
    let metadata = path.metadata().unwrap();
    (std::fs::read(path).unwrap(), metadata.modified().unwrap(), metadata.mode(), metadata.ino())
}

/// Names in the scene's folder: to see that nothing is left over.
pub(crate) fn names(scene: &Scene) -> Vec<String> {
    let entries = scene.folder.path().read_dir().unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[tokio::test]
async fn a_new_file_and_its_folders() {
    let scene = Scene::new();
    let text = scene.text("Write", &write("a/b/new.txt", "one\ntwo\n")).await;
    let path = scene.path("a/b/new.txt");
    let real = path.canonicalize().unwrap();
    assert_eq!(text, format!("created {}: 2 lines and 8 bytes", real.display()));
    assert_eq!(std::fs::read(&path).unwrap(), b"one\ntwo\n");
    assert_eq!(names(&scene), ["a"]);
    // What was written is known: it can be changed without a read.
    let seen = scene.context.read_cache.lock().unwrap().get(&real).cloned().unwrap();
    assert_eq!((seen.extent, seen.content.as_str()), (ReadExtent::Whole, "one\ntwo\n"));
    let text = scene.text("Write", &write(&path, "one\n2\n")).await;
    let expected = "@@ -1,2 +1,2 @@\n one\n-two\n+2";
    assert_eq!(text, format!("replaced {}: 2 lines and 6 bytes\n{expected}", real.display()));
    let text = scene.text("Write", &write(&path, "one\n2\n")).await;
    assert!(text.ends_with("has this content already; nothing was written"), "{text}");
}

#[tokio::test]
async fn what_exists_must_have_been_read() {
    let scene = Scene::new();
    let path = scene.write("a", "old");
    let before = state(&path);
    let text = scene.error("Write", &write(&path, "new")).await;
    assert!(text.contains("exists and has not been read in this conversation; read it"), "{text}");
    assert_eq!(state(&path), before);
    let notebook = known(&scene, "a.ipynb", json!({"cells": []}).to_string()).await;
    let text = scene.error("Write", &write(&notebook, "new")).await;
    assert!(text.contains("was shown in another form than its text"), "{text}");
}

#[tokio::test]
async fn what_changed_since_must_be_read_again() {
    let scene = Scene::new();
    let path = known(&scene, "a", "old").await;
    scene.write("a", "longer");
    let before = state(&path);
    for (tool, input) in [
        ("Write", write(&path, "new")),
        ("Edit", json!({"file_path": path, "old_string": "longer", "new_string": "x"})),
    ] {
        let text = scene.error(tool, &input).await;
        assert!(text.contains("a changed since it was read: then it had 3 bytes of "), "{text}");
        assert!(text.ends_with("; read it again"), "{text}");
    }
    assert_eq!(state(&path), before);
    // The same size, and a time of which nobody would say that it is another.
    scene.text("Read", &json!({"file_path": path})).await;
    let modified = path.metadata().unwrap().modified().unwrap();
    scene.write("a", "LONGER");
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_modified(modified).unwrap();
    let text = scene.error("Write", &write(&path, "new")).await;
    assert!(text.contains("changed since it was read"), "{text}");
    // Touched only: it may be another file with the same content, so it is read again too.
    scene.text("Read", &json!({"file_path": path})).await;
    file.set_modified(modified + Duration::from_secs(1)).unwrap();
    scene.error("Write", &write(&path, "new")).await;
    scene.text("Read", &json!({"file_path": path})).await;
    scene.text("Write", &write(&path, "new")).await;
    assert_eq!(std::fs::read(&path).unwrap(), b"new");
}

#[tokio::test]
async fn the_mode_stays() {
    let scene = Scene::new();
    let path = known(&scene, "run.sh", "old").await;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o750)).unwrap();
    scene.text("Write", &write(&path, "new")).await;
    assert_eq!(path.metadata().unwrap().mode() & 0o7777, 0o750);
    let fresh = scene.path("fresh");
    scene.text("Write", &write(&fresh, "new")).await;
    assert_eq!(fresh.metadata().unwrap().mode() & 0o7133, 0, "no rights that nobody asked for");
}

#[tokio::test]
async fn a_read_only_file_stays() {
    let scene = Scene::new();
    let path = known(&scene, "a", "old").await;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o444)).unwrap();
    let before = state(&path);
    let text = scene.error("Write", &write(&path, "new")).await;
    assert!(text.contains("is read-only (mode 444); if it is to be changed, make"), "{text}");
    assert_eq!(state(&path), before);
}

#[tokio::test]
async fn links_are_resolved_and_named() {
    let (scene, other) = (Scene::new(), Scene::new());
    let target = known(&other, "target", "old").await;
    let link = scene.path("link");
    symlink(&target, &link).unwrap();
    scene.text("Read", &json!({"file_path": link})).await;
    let text = scene.text("Write", &write(&link, "new")).await;
    let real = target.canonicalize().unwrap();
    let expected =
        format!("replaced {} (to which the link {} leads)", real.display(), link.display());
    assert!(text.starts_with(&expected), "{text}");
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert_eq!(std::fs::read(&target).unwrap(), b"new");
    // A link to where nothing is yet.
    let dangling = scene.path("dangling");
    symlink("below/made", &dangling).unwrap();
    scene.text("Write", &write(&dangling, "made")).await;
    assert!(dangling.symlink_metadata().unwrap().is_symlink());
    assert_eq!(std::fs::read(scene.path("below/made")).unwrap(), b"made");
    symlink("loop", scene.path("loop")).unwrap();
    scene.error("Write", &write("loop", "x")).await;
}

#[tokio::test]
async fn other_names_keep_the_old_content_and_it_is_said() {
    let scene = Scene::new();
    let path = known(&scene, "a", "old").await;
    std::fs::hard_link(&path, scene.path("b")).unwrap();
    let text = scene.text("Write", &write(&path, "new")).await;
    assert!(text.contains("[the file had one more name (a hard link), which keeps the"), "{text}");
    assert_eq!(std::fs::read(scene.path("b")).unwrap(), b"old");
    assert_eq!(std::fs::read(&path).unwrap(), b"new");
}

#[tokio::test]
async fn what_is_no_file() {
    let scene = Scene::new();
    scene.write("file", "x");
    let text = scene.error("Write", &write(scene.folder.path(), "x")).await;
    assert!(text.contains("is a folder"), "{text}");
    scene.error("Write", &write("file/below", "x")).await;
    let text = scene.error("Write", &write("new/", "x")).await;
    assert!(text.contains("`file_path`: ends with a slash, so it names a folder"), "{text}");
    for (path, reason) in [("", "is empty"), ("a\0b", "contains a NUL character")] {
        let text = scene.error("Write", &write(path, "x")).await;
        assert_eq!(text, format!("invalid arguments: `file_path`: {reason}"));
    }
    let text = scene.error("Write", &write("missing/../a", "x")).await;
    assert!(text.contains("contains `..` after a folder that does not exist"), "{text}");
    let (folder, environment) = (scene.folder.path(), &scene.context.environment);
    output("mkfifo", &["pipe"], folder, environment, crate::HANGS).await.unwrap();
    let text = scene.error("Write", &write("pipe", "x")).await;
    assert!(text.contains("is a named pipe, not a file"), "{text}");
    assert_eq!(names(&scene), ["file", "pipe"]);
}

#[tokio::test]
async fn odd_names() {
    let scene = Scene::new();
    let longest = "n".repeat(255);
    for name in ["two\nlines", " ", "日本", "-rf", longest.as_str()] {
        scene.text("Write", &write(name, "one")).await;
        scene.text("Write", &write(name, "two")).await;
        assert_eq!(std::fs::read(scene.path(name)).unwrap(), b"two", "{name:?}");
    }
    assert_eq!(names(&scene).len(), 5);
}

#[derive(Debug)]
struct NotBelow(PathBuf);

impl FileGuard for NotBelow {
    fn route(&self, path: &Path) -> FileRoute {
        if path.starts_with(&self.0) {
            FileRoute::Refused(format!("{} is guarded", path.display()))
        } else {
            FileRoute::Plain
        }
    }
}

#[tokio::test]
async fn the_guard_is_asked_where_the_path_leads() {
    let (mut scene, other) = (Scene::new(), Scene::new());
    let guarded = other.folder.path().canonicalize().unwrap();
    scene.context.file_guard = Some(Arc::new(NotBelow(guarded.clone())));
    symlink(&guarded, scene.path("way")).unwrap();
    let around = format!("../{}/b", guarded.file_name().unwrap().to_str().unwrap());
    for path in ["way/a", around.as_str()] {
        let text = scene.error("Write", &write(path, "x")).await;
        assert!(text.ends_with("is guarded"), "{text}");
        let edit = json!({"file_path": path, "old_string": "", "new_string": "x"});
        assert!(scene.error("Edit", &edit).await.ends_with("is guarded"));
    }
    assert_eq!(names(&other), [] as [&str; 0]);
    scene.text("Write", &write("mine", "x")).await;
}

#[test]
fn what_a_call_would_touch() {
    let raw = |text: &str| RawValue::from_string(text.to_owned()).unwrap();
    let folder = Path::new("/work");
    let input = raw(r#"{"file_path":"src/a.rs","content":""}"#);
    let writes = Access::Writes(PathBuf::from("/work/src/a.rs"));
    assert_eq!(Write.access(&input, folder), writes);
    assert_eq!(Edit.access(&input, folder), writes);
    assert_eq!(Read.access(&input, folder), Access::Reads);
    assert_eq!(Bash.access(&raw(r#"{"command":"ls"}"#), folder), Access::Runs("ls".to_owned()));
    let Access::Internal(todo) = TodoWrite.access(&raw("{}"), folder) else {
        panic!("not internal")
    };
    assert_eq!(todo.denied_in_plan_mode, None);
    assert_eq!(Write.access(&raw("{}"), folder), Access::Other);
}

#[tokio::test]
async fn a_call_that_was_stopped_changes_nothing() {
    let scene = Scene::new();
    let path = known(&scene, "a", "old").await;
    let before = state(&path);
    scene.context.cancel.cancel();
    let raw = RawValue::from_string(write(&path, "new").to_string()).unwrap();
    // Past the check that every call passes first.
    let stopped = Write.call(&raw, &scene.context).await;
    assert!(stopped.unwrap_err().to_string().starts_with("interrupted"));
    assert_eq!((state(&path), names(&scene)), (before, vec!["a".to_owned()]));
}
