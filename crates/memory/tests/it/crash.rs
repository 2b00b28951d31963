//! A writer that is stopped at every step of the file system in turn: what is left is whole, and the next
//! who opens the directory finds all of the change or none.

use std::collections::BTreeMap;
use std::path::Path;

use dormouse_memory::{ChangeError, Expected, Store};

use crate::child;
use crate::world::{World, assert_sound, file, files_below, note, person};

/// What the child does: one change that adds, changes, renames and removes.
pub(crate) fn change_things(root: &Path) {
    let world = World::at(root);
    // Whether it was refused or made, the files say.
    drop(try_to_change(&world));
}

fn try_to_change(world: &World) -> Result<(), ChangeError> {
    let store = Store::open(&world.memory(), &world.root.join("state"), world.options())?;
    store.change(&person(), |plan| {
        plan.save(&note("Brand new", "fresh"))?;
        plan.write(&file("changed.md"), b"---\nname: Changed\n---\nafter\n", &Expected::Present)?;
        plan.delete(&file("removed.md"), &Expected::Present)?;
        plan.rename(&file("renamed.md"), &file("sub/other.md"), &Expected::Present)
    })?;
    Ok(())
}

fn laid_out() -> World {
    let world = World::new();
    let store = world.store();
    store
        .change(&person(), |plan| {
            for name in ["Changed", "Removed", "Renamed", "Stays"] {
                plan.save(&note(name, "before"))?;
            }
            Ok(())
        })
        .unwrap();
    // An outside edit that nobody has seen yet: it must not get lost either.
    world.write("stays.md", "---\nname: Stays\n---\nby hand\n");
    world.write("changed.md", "---\nname: Changed\n---\nby hand\n");
    world
}

type Files = BTreeMap<String, Vec<u8>>;

fn visible(world: &World) -> Files {
    world
        .files()
        .into_iter()
        .filter(|(name, _)| !name.starts_with('.') && !name.contains("/."))
        .collect()
}

/// Runs the child with a fault at each of some steps. Gives back the first at which it got through unhurt.
fn each_step(action: &str, steps: std::ops::Range<usize>) -> Option<usize> {
    let old = visible(&laid_out());
    let unhurt = laid_out();
    try_to_change(&unhurt).unwrap();
    let new = visible(&unhurt);
    for step in steps {
        let world = laid_out();
        let fault = format!("{action}@*#{step}");
        let child = child::start("crash", &world.root, Some(&fault)).wait_with_output().unwrap();
        assert_whole(&world, &old, &new, &fault);
        if action == "eintr" {
            // A signal is no reason to give up.
            assert!(visible(&world) == new, "{fault}: the change was not made");
        }
        all_or_nothing(&world, &old, &new);
        if action == "abort" && child.status.success() {
            return Some(step);
        }
    }
    None
}

/// Without the library: every file is the old one or the new one.
fn assert_whole(world: &World, old: &Files, new: &Files, fault: &str) {
    for (name, bytes) in visible(world) {
        let known = old.get(&name) == Some(&bytes) || new.get(&name) == Some(&bytes);
        assert!(known, "{fault}: {name} is neither old nor new");
    }
    for name in old.keys().filter(|name| new.contains_key(*name)) {
        assert!(world.memory().join(name).exists(), "{fault}: {name} is lost");
    }
}

fn all_or_nothing(world: &World, old: &Files, new: &Files) {
    let store = world.store();
    let now = visible(world);
    assert!(now == *old || now == *new, "between: {:?}", now.keys());
    store.history().record_external_changes().unwrap();
    assert_sound(&store);
    let ids: Vec<u64> = store.history().log().unwrap().iter().map(|entry| entry.id.0).collect();
    let expected: Vec<u64> = (1..=ids.len() as u64).rev().collect();
    // A change that was taken back leaves its number, but no hole in what happened.
    assert!(ids.len() as u64 + 1 >= ids[0], "{ids:?} {expected:?}");
    if now == *new {
        // What was there before the change, the edit by hand too, comes back.
        let log = store.history().log().unwrap();
        let ours = log
            .iter()
            .find(|entry| entry.files.iter().any(|(name, _)| *name == file("brand-new.md")));
        store.history().undo(&person(), Some(ours.unwrap().id)).unwrap();
        let back = visible(world);
        assert_eq!(back.keys().collect::<Vec<_>>(), old.keys().collect::<Vec<_>>());
        assert!(back == *old);
    }
    // And the directory is in use again.
    store.change(&person(), |plan| plan.save(&note("Afterwards", "x")).map(drop)).unwrap();
    assert_sound(&store);
    let litter = files_below(&world.root).into_keys().filter(|name| name.contains(".tmp")).count();
    assert_eq!(litter, 0);
}

#[test]
fn stopped_or_refused_at_every_step() {
    let steps = each_step("abort", 1..400).expect("it never gets through");
    assert!(steps > 40, "only {steps} steps");
    for action in ["enospc", "eacces", "eio", "eintr"] {
        each_step(action, 1..steps);
    }
}
