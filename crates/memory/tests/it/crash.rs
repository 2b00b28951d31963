//! A writer that is stopped at every step of the file system in turn: what is left is whole, and the next
//! who opens the directory finds all of the change or none.

use std::collections::BTreeMap;
use std::path::Path;

use dormouse_memory::{ChangeError, Expected, Store};

use crate::child;
use crate::world::{World, assert_sound, file, files_below, note, person};

/// A directory and a change in it.
struct Scenario {
    /// What the child is told to do.
    name: &'static str,
    lay_out: fn() -> World,
    change: fn(&World) -> Result<(), ChangeError>,
}

/// Adds, changes, renames and removes.
const ALL_KINDS: Scenario =
    Scenario { name: "crash all-kinds", lay_out: laid_out, change: change_all_kinds };
/// Adds a memory whose line is written behind the end of a long index.
const LONG_INDEX: Scenario =
    Scenario { name: "crash long-index", lay_out: with_long_index, change: save_one };

/// What the child does.
pub(crate) fn change_things(root: &Path, scenario: &str) {
    let scenarios = [ALL_KINDS, LONG_INDEX];
    let scenario = scenarios.iter().find(|known| known.name.ends_with(scenario)).unwrap();
    // Whether it was refused or made, the files say.
    drop((scenario.change)(&World::at(root)));
}

fn opened(world: &World) -> Result<Store, ChangeError> {
    Store::open(&world.memory(), &world.root.join("state"), world.options())
}

fn save_one(world: &World) -> Result<(), ChangeError> {
    let new = note("Brand new", "fresh 新的");
    opened(world)?.change(&person(), |plan| plan.save(&new).map(drop))?;
    Ok(())
}

fn with_long_index() -> World {
    let world = World::new();
    let prose = "A line that somebody wrote by hand.\n".repeat(2_000);
    world.write("MEMORY.md", &format!("{prose}- [Stays](stays.md) — before\n"));
    world.write("stays.md", "---\nname: Stays\n---\nbefore\n");
    save_earlier(&world);
    world
}

fn save_earlier(world: &World) {
    let earlier = note("Earlier", "before");
    world.store().change(&person(), |plan| plan.save(&earlier).map(drop)).unwrap();
}

fn change_all_kinds(world: &World) -> Result<(), ChangeError> {
    opened(world)?.change(&person(), |plan| {
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
fn each_step(scenario: &Scenario, action: &str, steps: std::ops::Range<usize>) -> Option<usize> {
    let old = visible(&(scenario.lay_out)());
    let unhurt = (scenario.lay_out)();
    (scenario.change)(&unhurt).unwrap();
    let new = visible(&unhurt);
    for step in steps {
        let world = (scenario.lay_out)();
        let fault = format!("{action}@*#{step}");
        let child =
            child::start(scenario.name, &world.root, Some(&fault)).wait_with_output().unwrap();
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
    let litter = files_below(&world.root).into_keys().filter(|name| name.contains(".tmp"));
    assert_eq!(litter.collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn stopped_or_refused_at_every_step() {
    let steps = each_step(&ALL_KINDS, "abort", 1..400).expect("it never gets through");
    assert!(steps > 40, "only {steps} steps");
    for action in ["enospc", "eacces", "eio", "eintr"] {
        each_step(&ALL_KINDS, action, 1..steps);
    }
}

#[test]
fn stopped_or_refused_while_a_line_is_added_to_a_long_index() {
    let steps = each_step(&LONG_INDEX, "abort", 1..400).expect("it never gets through");
    assert!(steps > 15, "only {steps} steps");
    for action in ["enospc", "eio", "eintr"] {
        each_step(&LONG_INDEX, action, 1..steps);
    }
}

#[test]
fn a_part_of_a_line_that_a_loss_of_power_left_is_completed() {
    let unhurt = with_long_index();
    let old = unhurt.text("MEMORY.md");
    save_one(&unhurt).unwrap();
    let new = unhurt.text("MEMORY.md");
    let line = new.strip_prefix(&old).unwrap();
    let is_cut = |kept: &usize| !line.is_char_boundary(*kept);
    assert!((0..=line.len()).step_by(5).any(|kept| is_cut(&kept)), "no character is cut: {line}");
    for kept in (0..=line.len()).step_by(5) {
        let world = with_long_index();
        let fault = Some("abort@base.sync_append#2");
        child::start(LONG_INDEX.name, &world.root, fault).wait_with_output().unwrap();
        let bytes = [old.as_bytes(), &line.as_bytes()[..kept]].concat();
        std::fs::write(world.memory().join("MEMORY.md"), bytes).unwrap();
        world.store().change(&person(), |plan| plan.save(&note("Next", "x")).map(drop)).unwrap();
        assert!(world.text("MEMORY.md").starts_with(&new), "{kept} bytes were kept");
        assert_sound(&world.store());
    }
}
