//! Glob: what it lists, in which order, and what it leaves out.

use std::time::{Duration, SystemTime};

use serde_json::json;

use crate::Scene;

fn write_at(scene: &Scene, name: &str, seconds: u64) {
    let path = scene.write(name, "");
    let file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
}

#[tokio::test]
async fn newest_first_without_what_git_ignores() {
    let scene = Scene::new();
    write_at(&scene, "old.rs", 100);
    write_at(&scene, "src/new.rs", 300);
    write_at(&scene, "src/deep/middle.rs", 200);
    write_at(&scene, "target/built.rs", 400);
    write_at(&scene, ".hidden/secret.rs", 500);
    write_at(&scene, "notes.md", 600);
    scene.write(".gitignore", "target/\n");
    let found = scene.text("Glob", &json!({"pattern": "**/*.rs"})).await;
    assert_eq!(found, "src/new.rs\nsrc/deep/middle.rs\nold.rs");
    assert_eq!(scene.text("Glob", &json!({"pattern": "*.rs"})).await, found);
    assert_eq!(scene.text("Glob", &json!({"pattern": "./*.rs"})).await, "old.rs");
    let below = scene.text("Glob", &json!({"pattern": "*.rs", "path": "src/deep"})).await;
    assert_eq!(below, "src/deep/middle.rs");
    let hidden = scene.text("Glob", &json!({"pattern": ".hidden/*"})).await;
    assert_eq!(hidden, ".hidden/secret.rs");
    assert_eq!(scene.text("Glob", &json!({"pattern": "*.py"})).await, "[no file matches]");
}

#[tokio::test]
async fn outside_the_working_directory_paths_are_absolute() {
    let (scene, other) = (Scene::new(), Scene::new());
    let path = other.write("a.txt", "");
    let found = scene.text("Glob", &json!({"pattern": "*", "path": other.folder.path()})).await;
    assert_eq!(found, path.display().to_string());
}

#[tokio::test]
async fn at_most_a_hundred_and_the_rest_is_counted() {
    let scene = Scene::new();
    for number in 0..130 {
        write_at(&scene, &format!("f{number:03}.txt"), 1_000 + number);
    }
    let found = scene.text("Glob", &json!({"pattern": "*.txt"})).await;
    let lines: Vec<&str> = found.lines().collect();
    assert_eq!(
        (lines.len(), lines.first(), lines.get(99)),
        (101, Some(&"f129.txt"), Some(&"f030.txt"))
    );
    assert!(
        found.ends_with("[30 more files match, all older; make the pattern narrower to see them]")
    );
}

#[tokio::test]
async fn links_are_listed_but_not_followed() {
    let (scene, other) = (Scene::new(), Scene::new());
    other.write("inside.txt", "");
    std::os::unix::fs::symlink(other.folder.path(), scene.path("away.txt")).unwrap();
    std::os::unix::fs::symlink(scene.folder.path(), scene.path("loop")).unwrap();
    assert_eq!(scene.text("Glob", &json!({"pattern": "**/*.txt"})).await, "away.txt");
}

#[tokio::test]
async fn mistakes_are_explained() {
    let scene = Scene::new();
    scene.write("file", "");
    let text = scene.error("Glob", &json!({"pattern": "a{b"})).await;
    assert!(text.contains("`pattern`: unclosed alternate group"), "{text}");
    let text = scene.error("Glob", &json!({"pattern": "*", "path": "nowhere"})).await;
    assert!(text.contains("nowhere does not exist; leave `path` out"), "{text}");
    let text = scene.error("Glob", &json!({"pattern": "*", "path": "file"})).await;
    assert!(text.contains("is not a folder; use Read"), "{text}");
    scene.context.cancel.cancel();
    let text = scene.error("Glob", &json!({"pattern": "*"})).await;
    assert!(text.starts_with("interrupted"), "{text}");
}
