//! Drafts of a memory directory and their lock: what a dream may make of the memories, and what it may not.

use std::fs;
use std::time::{Duration, SystemTime};

use dormouse_memory::{
    AppliedUnits, ApplyMode, ChangeAuthor, ChangeError, ChangeOrigin, DraftChange, DraftRejection,
    DreamLockError, DreamState, Expected, MemoryDraft, MemoryEntry, MemoryFile, MemoryType,
    PolicyAction, Store, Trust, UnitOutcome,
};

use crate::world::{World, assert_sound, file, files_below, message, model, note, written};

/// Memories that the model saved, each from a message of its own.
fn with_memories(world: &World, names: &[&str]) -> Store {
    let store = world.store();
    for name in names {
        let mut source = message(Trust::Typed);
        source.message = format!("m-{name}");
        let by = ChangeOrigin::new(ChangeAuthor::Model, "worth keeping").from_message(source);
        written(store.change(&by, |plan| plan.save(&note(name, "Some fact.")).map(drop)).unwrap());
    }
    store
}

fn dream() -> ChangeOrigin {
    ChangeOrigin::new(ChangeAuthor::Dream, "a dream").part_of("d1")
}

fn applied(store: &Store, draft: &MemoryDraft) -> AppliedUnits {
    let drawn = draft.plan().unwrap().unwrap();
    let units: Vec<_> = drawn.units.into_iter().map(|(unit, _)| unit).collect();
    store.apply(&dream(), &units, ApplyMode::Apply).unwrap()
}

fn rejected(draft: &MemoryDraft) -> DraftRejection {
    draft.plan().unwrap().unwrap_err()
}

fn header(world: &World, path: &str) -> dormouse_memory::Header {
    MemoryEntry::from_text(&world.text(path)).header
}

#[test]
fn a_dream_is_one_change_that_keeps_sources_and_is_undone_as_one() {
    let world = World::new();
    let store = with_memories(&world, &["a", "b", "c", "d"]);
    world.days_later(1);
    let before = world.files();
    let draft = MemoryDraft::of(&store, "d1").unwrap();
    draft
        .save(&note("a", "A and b."), Some(&file("a.md")), &[file("b.md"), file("a.md")], &[])
        .unwrap();
    draft.save(&note("c", "Better."), Some(&file("c.md")), &[], &[]).unwrap();
    draft.delete(&file("d.md"), "disproved").unwrap();
    assert_eq!(world.files(), before, "nothing of a draft counts");

    let drawn = draft.plan().unwrap().unwrap();
    assert_eq!(drawn.kept, 0);
    let drafted: Vec<DraftChange> = drawn.units.iter().flat_map(|(_, what)| what.clone()).collect();
    let removed = DraftChange::Removed { file: file("d.md"), reason: "disproved".into() };
    let merged = DraftChange::Merged { into: file("a.md"), from: vec![file("b.md")] };
    assert_eq!(drafted, [merged, DraftChange::Corrected(file("c.md")), removed]);

    let units: Vec<_> = drawn.units.iter().map(|(unit, _)| unit.clone()).collect();
    let preview = store.apply(&dream(), &units, ApplyMode::Preview).unwrap();
    assert_eq!((preview.diffs.len(), preview.receipt), (4, None));
    assert_eq!(world.files(), before, "looking changes nothing");

    let done = store.apply(&dream(), &units, ApplyMode::Apply).unwrap();
    assert_eq!(done.fates, [UnitOutcome::Made, UnitOutcome::Made, UnitOutcome::Made]);
    assert_eq!(done.receipt.unwrap().files.len(), 4);
    assert_sound(&store);
    let head = header(&world, "a.md");
    assert_eq!(head.sources, ["s1/m-a", "s1/m-b"]);
    assert_eq!((head.supersedes, head.trust), (vec!["b.md".to_owned()], Some(Trust::Typed)));
    let log = store.history().log().unwrap();
    assert_eq!((log[0].part_of.as_deref(), log[0].files.len()), (Some("d1"), 4));
    store.history().undo(&ChangeOrigin::user("no"), None).unwrap();
    assert_eq!(world.files(), before, "every byte is back");
}

#[test]
fn what_became_of_a_memory_is_followed_through_all_steps() {
    let world = World::new();
    let store = with_memories(&world, &["a", "b", "c", "d", "e"]);
    let draft = MemoryDraft::of(&store, "d1").unwrap();
    draft.save(&note("ab", "A, b."), None, &[file("a.md"), file("b.md")], &[]).unwrap();
    draft.save(&note("abc", "A, b, c."), None, &[file("ab.md"), file("c.md")], &[]).unwrap();
    let drawn = draft.plan().unwrap().unwrap();
    let from = vec![file("a.md"), file("b.md"), file("c.md")];
    assert_eq!(drawn.units.len(), 1);
    assert_eq!(drawn.units[0].1, [DraftChange::Merged { into: file("abc.md"), from }]);
    assert_eq!(drawn.kept, 2);
    applied(&store, &draft);
    assert_eq!(header(&world, "abc.md").sources, ["s1/m-a", "s1/m-b", "s1/m-c"]);
    assert_sound(&store);
}

#[test]
fn others_win_and_only_what_they_touched_is_left() {
    let world = World::new();
    let store = with_memories(&world, &["a", "b", "c", "d"]);
    let draft = MemoryDraft::of(&store, "d1").unwrap();
    draft.save(&note("a", "Mine."), Some(&file("a.md")), &[file("b.md")], &[]).unwrap();
    draft.save(&note("c", "Mine."), Some(&file("c.md")), &[], &[]).unwrap();
    draft.save(&note("new", "Mine."), None, &[], &[]).unwrap();
    written(
        store
            .change(&model(), |plan| plan.write(&file("b.md"), b"Theirs.", &Expected::Present))
            .unwrap(),
    );
    written(store.change(&model(), |plan| plan.save(&note("new", "Theirs.")).map(drop)).unwrap());
    let done = applied(&store, &draft);
    let overtaken = |path: &str| UnitOutcome::Overtaken(file(path));
    assert_eq!(done.fates, [overtaken("b.md"), UnitOutcome::Made, overtaken("new.md")]);
    assert!(world.text("a.md").contains("Some fact."), "what belongs to b.md stays with it");
    assert!(world.text("b.md").contains("Theirs."));
    assert!(world.text("c.md").contains("Mine."));
    assert!(world.text("new.md").contains("Theirs."));
    assert_sound(&store);
}

#[test]
fn what_a_person_wrote_waits_in_the_inbox_and_is_proposed_once() {
    let world = World::new();
    let store = with_memories(&world, &["a", "b"]);
    store
        .change(&ChangeOrigin::user("mine"), |plan| plan.save(&note("p", "Mine.")).map(drop))
        .unwrap();
    for round in 0..2 {
        let draft = MemoryDraft::of(&store, "d1").unwrap();
        draft.save(&note("a", "A and p."), Some(&file("a.md")), &[file("p.md")], &[]).unwrap();
        let better = note("b", &format!("Better {round}."));
        draft.save(&better, Some(&file("b.md")), &[], &[]).unwrap();
        world.days_later(1);
        let done = applied(&store, &draft);
        assert!(
            matches!(done.fates[..], [UnitOutcome::Waits(Some(_)), UnitOutcome::Made]),
            "{:?}",
            done.fates
        );
    }
    let inbox = store.inbox().list().unwrap();
    assert_eq!(inbox.len(), 1, "not again every night");
    assert!(world.text("p.md").contains("Mine.") && world.text("a.md").contains("Some fact."));
    store.inbox().accept(inbox[0].0, None).unwrap();
    assert!(world.text("a.md").contains("A and p.") && !world.memory().join("p.md").exists());
    assert_sound(&store);
    // A rule of the user's own holds as well.
    let mut options = world.options();
    options.policy.default = PolicyAction::Inbox;
    let strict = world.store_with(options);
    let draft = MemoryDraft::of(&strict, "d1").unwrap();
    draft.save(&note("b", "Best."), Some(&file("b.md")), &[], &[]).unwrap();
    assert!(matches!(applied(&strict, &draft).fates[..], [UnitOutcome::Waits(Some(_))]));
}

#[test]
fn a_draft_that_went_wrong_is_rejected_as_a_whole() {
    let world = World::new();
    let store = with_memories(&world, &["a", "b", "c"]);
    let before = world.files();
    let draft = MemoryDraft::of(&store, "d1").unwrap();
    draft.delete(&file("a.md"), "old").unwrap();
    draft.plan().unwrap().unwrap();
    draft.save(&note("b2", "B."), None, &[file("b.md")], &[]).unwrap();
    draft.plan().unwrap().unwrap();
    draft.delete(&file("b2.md"), "old").unwrap();
    assert_eq!(rejected(&draft), DraftRejection::TooManyRemoved { removed: 2, all: 3 });

    // Past the tools: a file, an index, a secret.
    let past = |path: &str, text: Option<&str>| {
        let draft = MemoryDraft::of(&store, "d1").unwrap();
        let path = draft.store().dir().path().join(path);
        match text {
            Some(text) => fs::write(path, text).unwrap(),
            None => fs::remove_file(path).unwrap(),
        }
        rejected(&draft)
    };
    assert_eq!(past("a.md", Some("x")), DraftRejection::NoTrace(file("a.md")));
    for (path, text) in [
        ("a.md", None),
        ("MEMORY.md", Some("- [A](a.md)\n- [A](a.md)\n")),
        ("a.md", Some("the password is hunter2")),
        ("c.md", Some("\0")),
    ] {
        assert!(matches!(past(path, text), DraftRejection::Unsound(_)), "{path} {text:?}");
    }
    let index = store.index_text().unwrap() + &"another line\n".repeat(300);
    assert!(matches!(past("MEMORY.md", Some(&index)), DraftRejection::IndexTooLong { .. }));
    assert_eq!(world.files(), before);
}

#[test]
fn the_tools_refuse_at_once_what_would_be_refused_later() {
    let world = World::new();
    let store = with_memories(&world, &["a"]);
    let outside = ChangeOrigin::new(ChangeAuthor::Model, "x").from_message(message(Trust::Outside));
    store.change(&outside, |plan| plan.save(&note("page", "From a page.")).map(drop)).unwrap();
    let draft = MemoryDraft::of(&store, "d1").unwrap();
    assert_eq!(draft.memories(), 1, "what waits for the user's word is not shown");
    let secret = draft.save(&note("s", "hunter2"), None, &[], &[]).unwrap_err();
    assert!(matches!(secret, ChangeError::Secrets(_)));
    let about = note("u", "Likes tea.").with_kind(MemoryType::User);
    assert!(matches!(draft.save(&about, None, &[], &[]), Err(ChangeError::NeedsUserMessage(_))));
    let concluded = [message(Trust::Concluded)];
    assert!(matches!(
        draft.save(&about, None, &[], &concluded),
        Err(ChangeError::NeedsUserMessage(_))
    ));
    draft.save(&about, None, &[], &[message(Trust::Typed)]).unwrap();
    let none = MemoryFile::new("none.md").unwrap();
    assert!(matches!(
        draft.save(&note("n", "x"), None, std::slice::from_ref(&none), &[]),
        Err(ChangeError::Missing(_))
    ));
    assert!(matches!(draft.delete(&none, "x"), Err(ChangeError::Missing(_))));
    let done = applied(&store, &draft);
    assert_eq!(done.fates, [UnitOutcome::Made]);
    assert_eq!(header(&world, "u.md").sources, ["s1/m1"]);
    // Another type does not make it the user's word.
    let draft = MemoryDraft::of(&store, "d1").unwrap();
    let about = note("a", "Some fact.").with_kind(MemoryType::Feedback);
    draft.save(&about, Some(&file("a.md")), &[], &[]).unwrap();
    let done = applied(&store, &draft);
    assert!(
        matches!(&done.fates[..], [UnitOutcome::Refused(why)] if why.contains("typed")),
        "{done:?}"
    );
}

#[test]
fn an_index_that_is_not_true_is_mended_with_the_rest() {
    let world = World::new();
    let store = with_memories(&world, &["a", "b"]);
    world.write("MEMORY.md", "# Mine\n\n- [Gone](gone.md) — x\n- [A](a.md) — a\n");
    let draft = MemoryDraft::of(&store, "d1").unwrap();
    let done = applied(&store, &draft);
    assert!(done.receipt.is_some());
    assert_sound(&store);
    assert!(world.text("MEMORY.md").starts_with("# Mine\n"));
    let done = applied(&store, &MemoryDraft::of(&store, "d1").unwrap());
    assert!(done.receipt.is_none(), "nothing is left to do");
}

#[test]
fn the_time_of_the_lock_is_that_of_the_last_dream_that_succeeded() {
    let world = World::new();
    let store = world.store();
    assert_eq!(
        (
            store.dream_records().last_success().unwrap(),
            store.dream_records().lock_state().unwrap()
        ),
        (None, DreamState::Awake)
    );
    let lock = store.dream_records().acquire_lock().unwrap();
    assert_eq!(store.dream_records().last_success().unwrap(), None, "beginning is no dream");
    let dreaming = store.dream_records().lock_state().unwrap();
    assert!(
        matches!(&dreaming, DreamState::Dreaming(Some(by)) if by.pid == std::process::id()),
        "{dreaming:?}"
    );
    let held = world.store().dream_records().acquire_lock().unwrap_err();
    assert!(matches!(&held, DreamLockError::Held(Some(_))), "{held}");
    assert!(held.to_string().contains(&format!("process {}", std::process::id())), "{held}");
    drop(lock);
    assert_eq!(
        (
            store.dream_records().last_success().unwrap(),
            store.dream_records().lock_state().unwrap()
        ),
        (None, DreamState::Awake)
    );
    let lock = store.dream_records().acquire_lock().unwrap();
    let now = "2026-11-15T08:00:00Z".parse().unwrap();
    lock.succeeded(now).unwrap();
    drop(lock);
    assert_eq!(store.dream_records().last_success().unwrap(), Some(now));
    let failed = store.dream_records().acquire_lock().unwrap();
    drop(failed);
    assert_eq!(store.dream_records().last_success().unwrap(), Some(now));
    // A lock file that somebody else made counts by its time.
    let mut path = files_below(&world.root.join("state")).into_keys();
    let path = path.find(|name| name.ends_with("consolidate.lock")).unwrap();
    let file = fs::File::options().write(true).open(world.root.join("state").join(path)).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_mins(1)).unwrap();
    assert_eq!(store.dream_records().last_success().unwrap().unwrap().as_second(), 60);
}

#[test]
fn many_begin_at_once_and_one_dreams() {
    let world = World::new();
    let store = world.store();
    let barrier = std::sync::Barrier::new(20);
    let begun: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..20)
            .map(|_| {
                scope.spawn(|| {
                    barrier.wait();
                    let lock = store.dream_records().acquire_lock();
                    barrier.wait();
                    usize::from(lock.is_ok())
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(begun, 1);
}

#[test]
fn a_draft_leaves_nothing_behind_and_takes_away_what_others_left() {
    let world = World::new();
    let store = with_memories(&world, &["a"]);
    let left = |world: &World| {
        let files = files_below(&world.root.join("state"));
        files.into_keys().filter(|name| name.contains("/dreaming/")).count()
    };
    let draft = MemoryDraft::of(&store, "d1").unwrap();
    assert!(left(&world) > 0);
    std::mem::forget(draft);
    let draft = MemoryDraft::of(&store, "d1").unwrap();
    assert!(draft.plan().unwrap().unwrap().units.is_empty());
    drop(draft);
    assert_eq!(left(&world), 0);
}
