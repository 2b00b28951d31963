//! Which project a memory belongs to (M-4): told by the repository, not by the path of the day.

use std::fs;
use std::path::{Path, PathBuf};

use dormouse_testkit::{Output, TestHome};
use serde_json::Value;

use crate::memory_cli::files_below;
use crate::program::dormouse;

/// A folder below the home's root; made if needed.
fn folder(home: &TestHome, path: &str) -> PathBuf {
    let folder = home.root().join(path);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn git(home: &TestHome, folder: &Path, arguments: &[&str]) {
    home.run(home.command("git").args(arguments).current_dir(folder)).success();
}

/// A repository with one commit that no other has.
fn repository(home: &TestHome, path: &str) -> PathBuf {
    let folder = folder(home, path);
    git(home, &folder, &["init", "--quiet", "--initial-branch=main"]);
    let message = format!("--message=start of {path}");
    git(home, &folder, &["commit", "--quiet", "--allow-empty", &message]);
    folder
}

fn memory_in(home: &TestHome, folder: &Path, arguments: &[&str]) -> Output {
    home.run(dormouse(home, &["memory"]).args(arguments).current_dir(folder))
}

#[track_caller]
fn save_in(home: &TestHome, folder: &Path, name: &str) -> PathBuf {
    let arguments = ["add", name, "--type", "project", "--description", "d", "--body", name];
    PathBuf::from(memory_in(home, folder, &arguments).success().stdout.trim_end())
}

/// The names of the project's memories, as this folder sees them.
#[track_caller]
fn known_in(home: &TestHome, folder: &Path) -> Vec<String> {
    let output = memory_in(home, folder, &["list", "--scope", "project", "--json"]);
    let list: Vec<Value> = serde_json::from_str(&output.success().stdout).unwrap();
    let mut names: Vec<String> =
        list.iter().map(|entry| entry["name"].as_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

#[test]
fn two_projects_of_one_slug_are_two() {
    let home = TestHome::new();
    let (one, other) = (folder(&home, "a-b"), folder(&home, "a.b"));
    let first = save_in(&home, &one, "One");
    assert!(known_in(&home, &other).is_empty(), "before anything is made for it");
    let second = save_in(&home, &other, "Other");
    assert_ne!(first.parent(), second.parent());
    assert_eq!(known_in(&home, &one), ["One"]);
    assert_eq!(known_in(&home, &other), ["Other"]);
    let name = |path: &Path| path.ancestors().nth(2).unwrap().file_name().unwrap().to_owned();
    let (first, second) = (name(&first), name(&second));
    let (first, second) = (first.to_str().unwrap(), second.to_str().unwrap());
    assert!(second.starts_with(&format!("{first}-")), "{first} {second}");
}

#[test]
fn a_moved_repository_takes_its_memory_along_and_says_so() {
    let home = TestHome::new();
    let old = repository(&home, "old/app");
    git(&home, &old, &["remote", "add", "origin", "https://me:secret@host.example/app.git"]);
    save_in(&home, &old, "Kept");
    let new = folder(&home, "new").join("app");
    fs::rename(&old, &new).unwrap();
    // A look is enough to find it; it is said once.
    let first = memory_in(&home, &new, &["list"]);
    assert!(first.success().stdout.contains("kept.md"), "{}", first.stdout);
    let said = format!("this repository was at {}", old.display());
    assert!(first.stderr.contains(&said), "{}", first.stderr);
    let second = memory_in(&home, &new, &["log", "--json"]);
    assert!(!second.success().stderr.contains("was at"), "{}", second.stderr);
    // Its history came along.
    assert!(second.stdout.contains("added by hand"), "{}", second.stdout);
    memory_in(&home, &new, &["rm", "Kept"]).success();
    memory_in(&home, &new, &["undo"]).success();
    assert_eq!(known_in(&home, &new), ["Kept"]);
    // The address of the remote was kept without what may be a password.
    for (path, bytes) in files_below(&home.dormouse_home()) {
        assert!(!String::from_utf8_lossy(&bytes).contains("me:secret"), "{path:?}");
    }
    // What is there now in the old place is another project.
    let again = repository(&home, "old/app");
    assert!(known_in(&home, &again).is_empty());
}

#[test]
fn a_repository_that_is_not_the_moved_one_inherits_nothing() {
    let home = TestHome::new();
    let old = repository(&home, "one");
    save_in(&home, &old, "Mine");
    fs::rename(&old, folder(&home, "away").join("one")).unwrap();
    let stranger = repository(&home, "two");
    assert!(known_in(&home, &stranger).is_empty());
    save_in(&home, &stranger, "Theirs");
    assert_eq!(known_in(&home, &home.root().join("away/one")), ["Mine"]);
}

#[test]
fn two_clones_are_two_projects_as_long_as_both_are_there() {
    let home = TestHome::new();
    let origin = repository(&home, "origin");
    let clone = |name: &str| {
        let path = home.root().join(name);
        git(&home, home.root(), &["clone", "--quiet", origin.to_str().unwrap(), name]);
        path
    };
    let (one, two) = (clone("one"), clone("two"));
    save_in(&home, &one, "In one");
    assert!(known_in(&home, &two).is_empty());
    save_in(&home, &two, "In two");
    assert_eq!(known_in(&home, &one), ["In one"]);
    assert_eq!(known_in(&home, &two), ["In two"]);
    // One goes; the other has a memory of its own and keeps to it.
    fs::remove_dir_all(&one).unwrap();
    assert_eq!(known_in(&home, &two), ["In two"]);
}

#[test]
fn worktrees_and_folders_below_share() {
    let home = TestHome::new();
    let main = repository(&home, "main");
    let below = folder(&home, "main/src/deep");
    let tree = home.root().join("tree");
    git(&home, &main, &["worktree", "add", "--quiet", "-b", "side", tree.to_str().unwrap()]);
    let place = |folder: &Path| memory_in(&home, folder, &["path", "--scope", "project"]).stdout;
    // The same, whoever is first.
    let first = save_in(&home, &tree, "From the tree");
    save_in(&home, &main, "From the root");
    save_in(&home, &below, "From below");
    for folder in [&main, &tree, &below] {
        assert_eq!(known_in(&home, folder), ["From below", "From the root", "From the tree"]);
        assert_eq!(Path::new(place(folder).trim()), first.parent().unwrap());
    }
    // What is kept in the repository itself belongs to the checkout.
    let arguments = ["add", "Here", "--type", "project", "--description", "d", "--body", "x"];
    memory_in(&home, &tree, &[&arguments[..], &["--scope", "repo"]].concat()).success();
    assert!(tree.join(".dormouse/memory/here.md").exists());
    assert!(!main.join(".dormouse").exists());
}

#[test]
fn a_submodule_is_a_project_of_its_own() {
    let home = TestHome::new();
    let (main, library) = (repository(&home, "main"), repository(&home, "library"));
    let allow = ["-c", "protocol.file.allow=always"];
    let add = ["submodule", "--quiet", "add", library.to_str().unwrap(), "lib"];
    git(&home, &main, &[&allow[..], &add].concat());
    let inside = main.join("lib");
    save_in(&home, &main, "Of main");
    assert!(known_in(&home, &inside).is_empty());
    save_in(&home, &inside, "Of the library");
    assert_eq!(known_in(&home, &main), ["Of main"]);
    assert_eq!(known_in(&home, &inside), ["Of the library"]);
    assert!(known_in(&home, &library).is_empty());
}

#[test]
fn without_git_the_folder_is_the_project() {
    let mut home = TestHome::new();
    let (plain, below) = (folder(&home, "plain"), folder(&home, "plain/below"));
    save_in(&home, &plain, "Plain");
    assert_eq!(known_in(&home, &plain), ["Plain"]);
    assert!(known_in(&home, &below).is_empty());
    // Moved, it can not be told from another folder: nothing is taken over.
    let moved = home.root().join("moved");
    fs::rename(&plain, &moved).unwrap();
    assert!(known_in(&home, &moved).is_empty());
    // A repository on a machine that has no git program.
    let repository = repository(&home, "repository");
    home.set_env("PATH", "/nowhere");
    save_in(&home, &repository, "Told by its root");
    assert_eq!(known_in(&home, &folder(&home, "repository/src")), ["Told by its root"]);
}

#[test]
fn a_repository_in_the_home_folder_itself() {
    let home = TestHome::new();
    git(&home, &home.user_home(), &["init", "--quiet"]);
    let output = memory_in(&home, &home.user_home(), &["path", "--json"]);
    let places: Vec<Value> = serde_json::from_str(&output.success().stdout).unwrap();
    let scopes: Vec<&str> = places.iter().map(|place| place["scope"].as_str().unwrap()).collect();
    assert_eq!(scopes, ["user", "project", "team"]);
    for command in
        [&["path"][..], &["add", "x", "--type", "user", "--description", "d", "--body", "x"]]
    {
        let output = memory_in(&home, &home.user_home(), &[command, &["--scope", "repo"]].concat());
        assert!(
            output.expect_code(2).stderr.contains("is not available in your home directory"),
            "{}",
            output.stderr
        );
    }
}

#[test]
fn a_repositorys_folder_is_not_reached_through_a_link() {
    let home = TestHome::new();
    let (repository, elsewhere) = (repository(&home, "repository"), folder(&home, "elsewhere"));
    fs::create_dir(repository.join(".dormouse")).unwrap();
    std::os::unix::fs::symlink(&elsewhere, repository.join(".dormouse/memory")).unwrap();
    fs::write(elsewhere.join("theirs.md"), "text").unwrap();
    let list = memory_in(&home, &repository, &["list", "--scope", "repo", "--json"]);
    assert_eq!(list.success().stdout, "[]\n");
    let arguments = ["add", "x", "--type", "user", "--description", "d", "--body", "x"];
    let output = memory_in(&home, &repository, &[&arguments[..], &["--scope", "repo"]].concat());
    output.expect_code(1);
    assert_eq!(files_below(&elsewhere).len(), 1);
}
