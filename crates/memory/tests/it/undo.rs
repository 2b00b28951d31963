//! Undo: after many changes by all kinds of authors, undoing them one by one gives back every byte.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs;

use dormouse_memory::{
    ChangeAuthor, ChangeError, ChangeKind, ChangeOrigin, Expected, MemoryFile, Store,
};

use crate::world::{World, file, model, note, person, written};

/// A small generator: the same numbers in every run of one seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }
}

fn memories(world: &World) -> Vec<MemoryFile> {
    world.files().into_keys().filter_map(|name| MemoryFile::new(&name).ok()).collect()
}

/// One random change; says whether anything changed.
fn change_something(world: &World, dice: &mut Dice, round: usize) {
    let store = world.store();
    let authors =
        [ChangeAuthor::User, ChangeAuthor::Model, ChangeAuthor::Dream, ChangeAuthor::Import];
    let by = ChangeOrigin::new(authors[dice.roll(4)].clone(), "round").with_consent();
    let all = memories(world);
    let any = all.get(dice.roll(all.len().max(1))).cloned();
    match (dice.roll(8), any) {
        (0, Some(file)) => {
            store.change(&by, |plan| plan.delete(&file, &Expected::Present)).unwrap();
        }
        (1, Some(from)) => {
            let to = file(&format!("moved/r{round}.md"));
            store.change(&by, |plan| plan.rename(&from, &to, &Expected::Present)).unwrap();
        }
        (2, Some(file)) => {
            let text = format!("---\nname: Round {round}\ntype: project\n---\nedited {round}\n");
            store
                .change(&by, |plan| plan.write(&file, text.as_bytes(), &Expected::Present))
                .unwrap();
        }
        (3, Some(file)) => {
            // Another program, which leaves odd bytes.
            fs::write(
                world.memory().join(file.as_str()),
                [&b"outside \xff"[..], round.to_string().as_bytes()].concat(),
            )
            .unwrap();
            store.history().record_external_changes().unwrap();
        }
        (4, Some(_)) => {
            let index = world.memory().join("MEMORY.md");
            let text = fs::read_to_string(&index).unwrap_or_default();
            fs::write(&index, format!("# By hand {round}\n\n{text}\ntail")).unwrap();
            store.history().record_external_changes().unwrap();
        }
        (5, Some(one)) => {
            store
                .change(&by, |plan| {
                    plan.delete(&one, &Expected::Present)?;
                    plan.save(&note(&format!("Several {round}"), "a"))?;
                    plan.save(&note(&format!("Several {round}"), "b")).map(drop)
                })
                .unwrap();
        }
        _ => {
            store
                .change(&by, |plan| plan.save(&note(&format!("New {round}"), "text")).map(drop))
                .unwrap();
        }
    }
}

#[test]
fn fifty_changes_undone_one_by_one_give_back_every_byte() {
    for seed in 1..=4 {
        let world = World::new();
        world.write("MEMORY.md", "# Mine\n* [Old](old.md) - a hook by hand\n");
        world.write("old.md", "no frontmatter\r\nmixed\n");
        world.store();
        let mut dice = Dice(seed);
        let mut before: Vec<BTreeMap<String, Vec<u8>>> = Vec::new();
        for round in 0..50 {
            before.push(world.files());
            change_something(&world, &mut dice, round);
            // Fewer than 30 days in all: what was removed longer ago is forgotten (M-22).
            world.days_later(u64::from(round % 2 == 0));
        }
        for (round, expected) in before.iter().enumerate().rev() {
            let now = world.files();
            if now == *expected {
                continue;
            }
            world.store().history().undo(&person(), None).unwrap();
            assert!(world.files() == *expected, "seed {seed}: undoing round {round}");
        }
        assert!(matches!(
            world.store().history().undo(&person(), None),
            Err(ChangeError::NothingToUndo)
        ));
    }
}

#[test]
fn an_undo_is_a_change_and_can_be_undone() {
    let world = World::new();
    let store = world.store();
    let saved =
        written(store.change(&person(), |plan| plan.save(&note("A", "x")).map(drop)).unwrap());
    let with = world.files();
    let error = store.history().undo(&model(), Some(saved.id)).unwrap_err();
    assert!(error.to_string().contains("only the user"), "{error}");
    let undone = store.history().undo(&person(), Some(saved.id)).unwrap();
    assert!(world.files().is_empty());
    assert!(matches!(
        store.history().undo(&person(), Some(saved.id)),
        Err(ChangeError::UndoneAlready(_))
    ));
    store.history().undo(&person(), Some(undone.id)).unwrap();
    assert!(world.files() == with);
    let log = store.history().log().unwrap();
    assert_eq!(log[1].undoes, Some(saved.id));
    assert_eq!(log[2].undone_by, None, "the undo was undone");
}

#[test]
fn what_a_later_change_touches_is_not_undone_over_it() {
    let world = World::new();
    let store = world.store();
    let saved =
        written(store.change(&person(), |plan| plan.save(&note("A", "x")).map(drop)).unwrap());
    world.write("a.md", "by hand");
    let error = store.history().undo(&person(), Some(saved.id)).unwrap_err();
    assert!(error.to_string().contains("undo the later changes first"), "{error}");
    assert_eq!(world.text("a.md"), "by hand");
    let log = store.history().log().unwrap();
    assert_eq!(
        (log[0].author.clone(), log[0].files[0].1),
        (ChangeAuthor::Outside, ChangeKind::Changed)
    );
}

#[test]
fn a_removed_memory_is_restorable_for_thirty_days_and_leaves_a_line() {
    removed_and_forgotten(&World::new());
    // No old copy of a large index may quote the memory.
    let world = World::new();
    world.write("MEMORY.md", &"- some line by hand\n".repeat(5_000));
    let store = world.store();
    while store.history().log().unwrap()[0].id.0 < 63 {
        let text = format!("change {}", store.history().log().unwrap().len());
        let other = file("other.md");
        store
            .change(&person(), |plan| plan.write(&other, text.as_bytes(), &Expected::Anything))
            .unwrap();
    }
    removed_and_forgotten(&world);
}

#[test]
fn a_purge_before_anything_is_due_only_looks_at_the_clock() {
    let world = World::new();
    let store = world.store();
    store.change(&person(), |plan| plan.save(&note("A", "x")).map(drop)).unwrap();
    store.change(&person(), |plan| plan.delete(&file("a.md"), &Expected::Present)).unwrap();
    assert_eq!(store.history().purge().unwrap(), 0);
    // Whoever wanted the history now would find a folder in its place.
    let state = fs::read_dir(world.root.join("state")).unwrap().next().unwrap().unwrap().path();
    fs::rename(state.join("history.jsonl"), state.join("aside")).unwrap();
    fs::create_dir(state.join("history.jsonl")).unwrap();
    world.days_later(29);
    assert_eq!(store.history().purge().unwrap(), 0);
    world.days_later(2);
    assert!(store.history().purge().is_err());
    fs::remove_dir(state.join("history.jsonl")).unwrap();
    fs::rename(state.join("aside"), state.join("history.jsonl")).unwrap();
    assert_eq!((store.history().purge().unwrap(), store.history().purge().unwrap()), (1, 0));
}

fn removed_and_forgotten(world: &World) {
    let store = world.store();
    let earlier = store.history().log().unwrap().len();
    store.change(&person(), |plan| plan.save(&note("A", "x")).map(drop)).unwrap();
    let files = world.files();
    let time = fs::metadata(world.memory().join("a.md")).unwrap().modified().unwrap();
    world.days_later(3);
    store.change(&person(), |plan| plan.delete(&file("a.md"), &Expected::Present)).unwrap();
    assert_eq!(store.history().trash().unwrap()[0].file, file("a.md"));
    store.history().restore(&person(), &file("a.md"), None).unwrap();
    assert!(world.files() == files);
    assert_eq!(fs::metadata(world.memory().join("a.md")).unwrap().modified().unwrap(), time);
    store.change(&person(), |plan| plan.delete(&file("a.md"), &Expected::Present)).unwrap();
    world.days_later(29);
    assert_eq!(store.history().purge().unwrap(), 0);
    world.days_later(2);
    assert!(store.history().trash().unwrap().is_empty());
    assert_eq!(store.history().purge().unwrap(), 1);
    assert!(matches!(
        store.history().restore(&person(), &file("a.md"), None),
        Err(ChangeError::Purged(_))
    ));
    assert_eq!(store.history().log().unwrap().len() - earlier, 4);
    let state = crate::world::files_below(&world.root.join("state"));
    assert!(state.values().all(|bytes| !String::from_utf8_lossy(bytes).contains("about A")));
}

/// What a large index was before an edit by hand comes from its copy and the history.
#[test]
fn an_edit_of_a_large_index_is_undone_to_the_byte() {
    let world = World::new();
    let line = |n| format!("- some line by hand, number {n}\n");
    let lines = (0..2_500).map(line).collect::<Vec<_>>().concat();
    world.write("MEMORY.md", &lines);
    assert!(lines.len() > 64 * 1024, "{}", lines.len());
    let store = world.store();
    for number in 0..3 {
        store
            .change(&person(), |plan| plan.save(&note(&format!("N{number}"), "x")).map(drop))
            .unwrap();
    }
    let before = world.text("MEMORY.md");
    world.write("MEMORY.md", &before.replace("number 1000\n", "number one thousand\n"));
    let found = store.history().record_external_changes().unwrap();
    store.history().undo(&person(), Some(found)).unwrap();
    assert!(world.text("MEMORY.md") == before);
    store.history().undo(&person(), None).unwrap();
    assert!(!world.text("MEMORY.md").contains("N2"));
}

fn store_with_long_index(world: &World) -> Store {
    let lines = (0..2_500).map(|n| format!("- [By hand {n}](hand-{n}.md) — 手写\n"));
    world.write("MEMORY.md", &lines.collect::<Vec<_>>().concat());
    world.store()
}

/// A save does not read a large index: what others did to it is seen all the same, and its second name stays true.
#[test]
fn a_line_by_hand_between_two_saves_in_a_large_index_is_a_change_of_its_own() {
    let world = World::new();
    let store = store_with_long_index(&world);
    let save = |name: &str| {
        store.change(&person(), |plan| plan.save(&note(name, "x")).map(drop)).unwrap();
    };
    save("First");
    let by_hand = world.text("MEMORY.md") + "- [Between](between.md) — 之间\n";
    world.write("MEMORY.md", &by_hand);
    let changes = store.history().log().unwrap().len();
    save("Second");
    assert_eq!(store.history().log().unwrap().len(), changes + 2);
    let after = world.text("MEMORY.md");
    assert!(after.starts_with(&by_hand) && after.contains("- [Second](second.md)"));
    store.history().undo(&person(), None).unwrap();
    assert!(world.text("MEMORY.md") == by_hand);
    let other = world.root.join("other-name.md");
    fs::hard_link(world.memory().join("MEMORY.md"), &other).unwrap();
    save("Third");
    assert!(world.text("MEMORY.md").contains("- [Third](third.md)"));
    assert_eq!(fs::read_to_string(&other).unwrap(), by_hand);
}

/// What a store keeps of a large index is a cache: it does not hide a change by another program that leaves the length as it
/// is, and a part of it may be missing or stale.
#[test]
fn what_is_kept_of_a_large_index_is_never_believed_against_the_index() {
    let world = World::new();
    let store = store_with_long_index(&world);
    let number = Cell::new(0);
    let save = |name: &str| {
        number.set(number.get() + 1);
        let note = note(&format!("{name} {}", number.get()), "x");
        store.change(&person(), |plan| plan.save(&note).map(drop)).unwrap();
    };
    // So many changes does a save record, by whomever they were: with a new line, and with a line that is there and stays
    // as it is.
    let recorded = |change: &dyn Fn()| {
        ["New", "Hand"].map(|name| {
            save("Before");
            save("Before");
            change();
            let by_hand = world.text("MEMORY.md");
            let changes = store.history().log().unwrap().len();
            save(name);
            let file = format!("({}-{}.md)", name.to_lowercase(), number.get());
            assert_eq!(world.text("MEMORY.md").matches(&file).count(), 1, "{file}");
            let recorded = store.history().log().unwrap().len() - changes;
            store.history().undo(&person(), None).unwrap();
            // The undo of a memory takes its line, by whomever it was written.
            assert!(name == "Hand" || world.text("MEMORY.md") == by_hand);
            recorded
        })
    };
    assert_eq!(recorded(&|| {}), [1, 1]);
    let replace = |from: &str, to: &str| {
        world.write("MEMORY.md", &world.text("MEMORY.md").replacen(from, to, 1));
    };
    assert_eq!(recorded(&|| replace("手写", "用手")), [2, 1]);
    assert_eq!(recorded(&|| replace("(hand-", "(band-")), [2, 1]);
    let folder = fs::read_dir(world.root.join("state")).unwrap().next().unwrap().unwrap().path();
    let [links, known] = ["index.links", "index.known.json"].map(|file| folder.join(file));
    assert_eq!(recorded(&|| fs::remove_file(&links).unwrap()), [1, 1]);
    assert_eq!(recorded(&|| fs::remove_file(&known).unwrap()), [1, 1]);
    assert_eq!(recorded(&|| fs::write(&links, [0; 400]).unwrap()), [1, 1]);
    assert_eq!(recorded(&|| fs::write(&known, "{}").unwrap()), [1, 1]);
    let old = fs::read(&known).unwrap();
    assert_eq!(recorded(&|| fs::write(&known, &old).unwrap()), [1, 1]);
}

/// Caches of the state folder that cannot be written to, such as those of another user, are no reason to fail.
#[test]
fn a_cache_that_cannot_be_written_to_keeps_nobody_from_saving() {
    let world = World::new();
    let store = store_with_long_index(&world);
    let save = |name: &str| {
        store.change(&person(), |plan| plan.save(&note(name, "x")).map(drop)).unwrap();
    };
    save("First");
    save("Second");
    let folder = fs::read_dir(world.root.join("state")).unwrap().next().unwrap().unwrap().path();
    for file in ["index.links", "index.known.json", "index.last", "heads"] {
        let path = folder.join(file);
        let files = match fs::read_dir(&path) {
            Ok(files) => files.map(|file| file.unwrap().path()).collect(),
            Err(_) => vec![path],
        };
        for file in files {
            // Root may write to everything, but nobody through a link.
            let elsewhere = world.root.join("elsewhere");
            fs::rename(&file, &elsewhere).unwrap();
            std::os::unix::fs::symlink(&elsewhere, &file).unwrap();
        }
        save(&format!("With {file}"));
        save(&format!("After {file}"));
    }
    store.history().undo(&person(), None).unwrap();
    assert!(!world.text("MEMORY.md").contains("After heads"));
    assert!(world.text("MEMORY.md").contains("With heads"));
}

/// What lies about in the directory, however odd, does not keep a person from taking back a change (M-18).
#[test]
fn odd_files_do_not_keep_anything_from_being_undone() {
    let world = World::new();
    let store = world.store();
    for name in ["Link", "Folder", "Good"] {
        store.change(&model(), |plan| plan.save(&note(name, "x")).map(drop)).unwrap();
    }
    fs::remove_file(world.memory().join("link.md")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", world.memory().join("link.md")).unwrap();
    fs::remove_file(world.memory().join("folder.md")).unwrap();
    fs::create_dir(world.memory().join("folder.md")).unwrap();
    world.write("huge.md", &"x".repeat(17 * 1024 * 1024));
    store.history().record_external_changes().unwrap();
    store.history().undo(&person(), None).unwrap();
    assert!(!world.memory().join("good.md").exists());
}
