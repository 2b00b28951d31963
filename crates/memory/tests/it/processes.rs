//! Many processes at once, some of them killed: nothing lost, nothing torn, the index equal to the files.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};

use dormouse_memory::{Expected, MemoryEntry};

use crate::child;
use crate::world::{World, assert_sound, file, note, person};

const WRITERS: usize = 8;
const CHANGES: usize = 200;
const END: &str = "the end";

fn name_of(writer: usize, number: usize) -> String {
    format!("w{writer}-m{number}.md")
}

/// A writer: of four changes, two save, one edits the first of them, one removes the second.
pub(crate) fn write(root: &Path, writer: usize) {
    let world = World::at(root);
    let store = world.store();
    let mut done = fs::File::options()
        .append(true)
        .create(true)
        .open(root.join(format!("done-{writer}")))
        .unwrap();
    let start = fs::read_to_string(root.join(format!("done-{writer}"))).unwrap().lines().count();
    for number in start..CHANGES {
        store
            .change(&person(), |plan| match number % 4 {
                2 => {
                    let edited =
                        format!("---\nname: w{writer} m{}\n---\nedited\n{END}\n", number - 2);
                    let file = file(&name_of(writer, number - 2));
                    plan.write(&file, edited.as_bytes(), &Expected::Present)
                }
                3 => plan.delete(&file(&name_of(writer, number - 2)), &Expected::Present),
                _ => plan
                    .save(&note(&format!("w{writer} m{number}"), &format!("saved\n{END}")))
                    .map(drop),
            })
            .unwrap();
        writeln!(done, "{number}").unwrap();
    }
}

/// What a writer leaves after so many changes: its files, and whether they were edited.
fn expected(writer: usize, changes: usize) -> BTreeMap<String, bool> {
    let mut files = BTreeMap::new();
    for number in 0..changes {
        match number % 4 {
            2 => files.insert(name_of(writer, number - 2), true),
            3 => files.remove(&name_of(writer, number - 2)),
            _ => files.insert(name_of(writer, number), false),
        };
    }
    files
}

fn found(world: &World, writer: usize) -> BTreeMap<String, bool> {
    let mine = |name: &String| name.starts_with(&format!("w{writer}-"));
    let files = world.files().into_iter().filter(|(name, _)| mine(name));
    files
        .map(|(name, bytes)| (name, String::from_utf8(bytes).unwrap().contains("edited")))
        .collect()
}

/// Reads everything again and again, without the library's lock, until told to stop.
fn read_all(world: &World, stop: &AtomicBool) -> usize {
    let mut rounds = 0;
    while !stop.load(Ordering::Relaxed) {
        for (name, bytes) in world.files() {
            if name == "MEMORY.md" {
                let text = String::from_utf8(bytes).unwrap();
                assert!(text.is_empty() || text.ends_with('\n'), "a torn index");
            } else if !name.starts_with('.') && !bytes.is_empty() {
                let entry = MemoryEntry::read(&bytes, bytes.len() as u64);
                assert!(entry.body.trim_end().ends_with(END), "{name} is torn");
                assert!(entry.header.name.is_some());
            }
        }
        rounds += 1;
    }
    rounds
}

fn with_reader(world: &World, run: impl FnOnce()) {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| read_all(world, &stop));
        // A failure must not leave the reader running for ever.
        let ran = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
        stop.store(true, Ordering::Relaxed);
        assert!(reader.join().unwrap() > 0);
        if let Err(failure) = ran {
            std::panic::resume_unwind(failure);
        }
    });
}

fn start(world: &World, writer: usize) -> Child {
    child::start(&format!("write {writer}"), &world.root, None)
}

#[test]
fn eight_writers_lose_nothing() {
    let world = World::new();
    with_reader(&world, || {
        let writers: Vec<Child> = (0..WRITERS).map(|writer| start(&world, writer)).collect();
        for writer in writers {
            let output = writer.wait_with_output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
    });
    for writer in 0..WRITERS {
        assert_eq!(found(&world, writer), expected(writer, CHANGES));
    }
    let store = world.store();
    assert_sound(&store);
    assert_eq!(store.history().log().unwrap().len(), WRITERS * CHANGES);
}

#[test]
fn killed_writers_leave_everything_whole() {
    let world = World::new();
    let acknowledged = |writer: usize| {
        let done =
            fs::read_to_string(world.root.join(format!("done-{writer}"))).unwrap_or_default();
        done.lines().count()
    };
    with_reader(&world, || {
        for round in 1..=6 {
            let mut writers: Vec<Child> =
                (0..WRITERS).map(|writer| start(&world, writer)).collect();
            // Each is killed somewhere behind its next few changes.
            for (number, writer) in writers.iter_mut().enumerate() {
                while acknowledged(number) < round * 4 + number % 3
                    && writer.try_wait().unwrap().is_none()
                {
                    std::thread::yield_now();
                }
                writer.kill().unwrap();
                writer.wait().unwrap();
            }
            drop(world.store());
            for writer in 0..WRITERS {
                let done = acknowledged(writer);
                let now = found(&world, writer);
                // The change that it was killed in is there or not.
                let both = [expected(writer, done), expected(writer, done + 1)];
                assert!(both.contains(&now), "writer {writer} after {done}: {now:?}");
                if now != both[0] {
                    let path = world.root.join(format!("done-{writer}"));
                    let mut file = fs::File::options().append(true).open(path).unwrap();
                    writeln!(file, "{done}").unwrap();
                }
            }
        }
    });
    assert_sound(&world.store());
}
