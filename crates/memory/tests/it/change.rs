//! `Store::change`: what each step does, and which changes it refuses.

use dormouse_memory::index::IndexLimits;
use dormouse_memory::recall::{MemoryQuery, MemorySearch};
use std::fs;
use std::path::Path;
use std::sync::Arc;

use dormouse_memory::{
    AnchoredProject, ChangeAuthor, ChangeError, ChangeKind, ChangeOrigin, ChangeOutcome, Expected,
    MemoryEntry, MemoryType, NewMemory, Policy, PolicyAction, PolicyRule, RecalledFor, ScanCache,
    Trust, UsageUpdate,
};

use crate::world::{World, assert_sound, file, files_below, message, model, note, person, written};

#[test]
fn a_save_makes_a_file_and_a_line_and_nothing_else() {
    let world = World::new();
    let store = world.store();
    let receipt = written(
        store
            .change(&person(), |plan| plan.save(&note("Test db", "Port 5433.")).map(drop))
            .unwrap(),
    );
    assert_eq!(receipt.files, [(file("test-db.md"), ChangeKind::Added)]);
    assert_eq!(world.text("MEMORY.md"), "- [Test db](test-db.md) — about Test db\n");
    assert_eq!(world.files().len(), 2);
    let text = world.text("test-db.md");
    assert!(!text.contains("trust"), "a person's text stays as it is");
    let names: Vec<String> = (0..3)
        .map(|_| {
            let mut saved = String::new();
            store
                .change(&person(), |plan| {
                    saved = plan.save(&NewMemory::new("🐭", "", "x"))?.to_string();
                    Ok(())
                })
                .unwrap();
            saved
        })
        .collect();
    assert!(names[1].ends_with("-2.md") && names[2].ends_with("-3.md"), "{names:?}");
    assert_sound(&store);
}

#[test]
fn a_change_without_change_writes_nothing_and_keeps_the_time() {
    let world = World::new();
    let store = world.store();
    store.change(&person(), |plan| plan.save(&note("A", "x")).map(drop)).unwrap();
    let text = world.text("a.md");
    let time = || fs::metadata(world.memory().join("a.md")).unwrap().modified().unwrap();
    let before = time();
    world.days_later(5);
    let outcome = store
        .change(&person(), |plan| plan.write(&file("a.md"), text.as_bytes(), &Expected::Anything))
        .unwrap();
    assert_eq!((outcome, time()), (ChangeOutcome::Unchanged, before));
    store
        .change(&person(), |plan| plan.rename(&file("a.md"), &file("b.md"), &Expected::Present))
        .unwrap();
    assert_eq!(fs::metadata(world.memory().join("b.md")).unwrap().modified().unwrap(), before);
    assert_eq!(world.text("MEMORY.md"), "- [A](b.md) — about A\n");
    // A touch does not make a memory younger: the history knows its content.
    let later = before + std::time::Duration::from_hours(72);
    fs::File::options()
        .write(true)
        .open(world.memory().join("b.md"))
        .unwrap()
        .set_modified(later)
        .unwrap();
    let scan = store.scan(&mut ScanCache::default()).unwrap();
    assert_eq!(store.changed_at(&scan.memories[0]), before.try_into().unwrap());
    assert_eq!(scan.memories[0].modified, later.try_into().unwrap());
}

#[test]
fn a_file_from_elsewhere_is_as_old_as_it_says_until_it_is_changed() {
    let world = World::new();
    let text = "---\nname: Port\nmodified: 2026-03-02T09:00:00Z\n---\n5433\n";
    world.write("there.md", text);
    world.write("undated.md", "5433\n");
    let store = world.store();
    store.change(&person(), |plan| plan.save(&note("A", "x")).map(drop)).unwrap();
    world.write("copied.md", text);
    store.change(&person(), |plan| plan.save(&note("B", "x")).map(drop)).unwrap();
    let changed = |name: &str| {
        let scan = store.scan(&mut ScanCache::default()).unwrap();
        let memory = scan.memories.iter().find(|memory| memory.file == file(name)).unwrap();
        (store.changed_at(memory), memory.modified)
    };
    for name in ["there.md", "copied.md"] {
        assert_eq!(changed(name).0.to_string(), "2026-03-02T09:00:00Z", "{name}");
    }
    let before = changed("undated.md").0;
    fs::File::options()
        .write(true)
        .open(world.memory().join("undated.md"))
        .unwrap()
        .set_modified(std::time::SystemTime::from(before) + std::time::Duration::from_hours(72))
        .unwrap();
    assert_eq!(changed("undated.md").0, before, "a touch does not make it younger");
    world.write("there.md", &text.replace("5433", "6432"));
    store.change(&person(), |plan| plan.save(&note("C", "x")).map(drop)).unwrap();
    let (changed, modified) = changed("there.md");
    assert_eq!(changed, modified, "an edit by hand leaves the frontmatter as it was");
}

#[test]
fn a_stale_write_is_refused_with_what_changed() {
    let world = World::new();
    let store = world.store();
    store.change(&person(), |plan| plan.save(&note("A", "x")).map(drop)).unwrap();
    let (_, hash) = store.read(&file("a.md")).unwrap();
    world.write("a.md", "somebody else's words");
    let error = store
        .change(&model(), |plan| plan.write(&file("a.md"), b"mine", &Expected::Content(hash)))
        .unwrap_err();
    assert!(error.to_string().contains("somebody else's words"), "{error}");
    assert_eq!(world.text("a.md"), "somebody else's words");
}

#[test]
fn secrets_are_refused_and_never_quoted() {
    let world = World::new();
    let store = world.store();
    let secret = note("Login", "one\npassword: hunter2");
    for by in [
        model(),
        person(),
        ChangeOrigin::new(ChangeAuthor::Model, "r").with_consent().allowing_secrets(),
    ] {
        let error = store.change(&by, |plan| plan.save(&secret).map(drop)).unwrap_err();
        let said = error.to_string();
        assert!(said.contains("test-password") && said.contains("line 9"), "{said}");
        assert!(!said.contains("hunter2"));
    }
    let error = store
        .change(&ChangeOrigin::new(ChangeAuthor::Model, "it is hunter2"), |plan| {
            plan.save(&note("A", "x")).map(drop)
        })
        .unwrap_err();
    assert!(!error.to_string().contains("hunter2"));
    assert!(
        files_below(&world.root)
            .values()
            .all(|bytes| !String::from_utf8_lossy(bytes).contains("hunter2"))
    );
    store.change(&person().allowing_secrets(), |plan| plan.save(&secret).map(drop)).unwrap();
    // What a person wanted there does not stop an agent from changing another line.
    let text = world.text("login.md").replace("one", "two");
    let by = model().with_consent();
    written(
        store
            .change(&by, |plan| plan.write(&file("login.md"), text.as_bytes(), &Expected::Present))
            .unwrap(),
    );
}

#[test]
fn no_secret_by_way_of_a_file_name_or_of_what_changed() {
    let world = World::new();
    let store = world.store();
    let write = |path: &str, text: &str, expected: &Expected| {
        store.change(&model(), |plan| plan.write(&file(path), text.as_bytes(), expected))
    };
    let named = write("it-is-hunter2.md", "x", &Expected::Absent).unwrap_err().to_string();
    assert!(named.contains("test-password") && !named.contains("hunter2"), "{named}");
    world.write("a.md", "old");
    let (_, hash) = store.read(&file("a.md")).unwrap();
    world.write("a.md", "hunter2");
    let stale = write("a.md", "new", &Expected::Content(hash)).unwrap_err().to_string();
    assert!(stale.contains("its text is another") && !stale.contains("hunter2"), "{stale}");
    let secret = note("it is hunter2", "x");
    store.change(&person().allowing_secrets(), |plan| plan.save(&secret).map(drop)).unwrap();
    assert!(world.text("secret.md").contains("hunter2"));
}

#[test]
fn provenance_is_written_down_and_the_lowest_counts() {
    let world = World::new();
    let store = world.store();
    let save = |by: &ChangeOrigin, kind: MemoryType, name: &str| {
        store
            .change(by, |plan| plan.save(&NewMemory::new(name, "d", "b").with_kind(kind)).map(drop))
    };
    let tool = ChangeOrigin::new(ChangeAuthor::Model, "r").from_message(message(Trust::Tool));
    let mixed = model().from_message(message(Trust::Outside));
    let outside = ChangeOrigin::new(ChangeAuthor::Model, "r").from_message(message(Trust::Outside));
    assert!(matches!(
        save(&tool, MemoryType::Feedback, "F"),
        Err(ChangeError::NeedsUserMessage(_))
    ));
    assert!(matches!(
        save(&ChangeOrigin::new(ChangeAuthor::Model, "r"), MemoryType::User, "U"),
        Err(ChangeError::NeedsUserMessage(_))
    ));
    written(save(&model(), MemoryType::Feedback, "F").unwrap());
    written(save(&mixed, MemoryType::Project, "Mixed").unwrap());
    written(save(&outside, MemoryType::Project, "Web").unwrap());
    written(save(&outside, MemoryType::Project, "Web too").unwrap());
    let header = |path: &str| MemoryEntry::from_text(&world.text(path)).header;
    assert_eq!(
        (header("f.md").trust, header("f.md").sources),
        (Some(Trust::Typed), vec!["s1/m1".to_owned()])
    );
    assert_eq!(
        (header("mixed.md").trust, header("mixed.md").quarantined),
        (Some(Trust::Outside), false)
    );
    assert_eq!(
        (header("web.md").trust, header("web.md").quarantined),
        (Some(Trust::Outside), true)
    );
    assert!(!world.text("MEMORY.md").contains("web"), "text from outside is not in the index");
    let across = store.change(&model(), |plan| plan.merge(&file("f.md"), &[file("web.md")], "all"));
    assert!(matches!(across, Err(ChangeError::Quarantine(_))), "{across:?}");
    let dream = ChangeOrigin::new(ChangeAuthor::Dream, "tidy");
    written(
        store
            .change(&dream, |plan| {
                plan.merge(&file("web.md"), &[file("web-too.md")], "---\nname: W\n---\nboth")
            })
            .unwrap(),
    );
    assert!(header("web.md").quarantined && !world.memory().join("web-too.md").exists());
    // An agent can not write its way out of quarantine.
    let free = store.change(&model(), |plan| {
        plan.write(&file("web.md"), b"---\ntrust: typed\n---\n", &Expected::Present)
    });
    assert!(matches!(free, Err(ChangeError::Quarantine(_))));
    assert!(matches!(
        store.change(&model(), |plan| plan.confirm(&file("web.md"))),
        Err(ChangeError::UserOnly(_))
    ));
    store.change(&person(), |plan| plan.confirm(&file("web.md"))).unwrap();
    assert_eq!((header("web.md").trust, header("web.md").quarantined), (Some(Trust::Typed), false));
    assert_sound(&store);
}

#[test]
fn the_policy_decides_what_is_written_now() {
    let world = World::new();
    let ask = PolicyRule {
        kind: Some(MemoryType::Reference),
        scope: None,
        writer: None,
        rule: PolicyAction::Ask,
    };
    let mut options = world.options();
    options.policy = Policy { rules: vec![ask], ..Policy::default() };
    let store = world.store_with(options);
    store.change(&person(), |plan| plan.save(&note("Mine", "x")).map(drop)).unwrap();
    let receipt =
        written(store.change(&model(), |plan| plan.save(&note("Its", "x")).map(drop)).unwrap());
    assert_eq!(receipt.rule, PolicyAction::Notify);
    written(
        store.change(&model(), |plan| plan.delete(&file("its.md"), &Expected::Present)).unwrap(),
    );
    // Over a person's memory: the inbox.
    let ChangeOutcome::InInbox(id) =
        store.change(&model(), |plan| plan.delete(&file("mine.md"), &Expected::Present)).unwrap()
    else {
        panic!("not in the inbox")
    };
    let ChangeOutcome::InInbox(second) = store
        .change(&model(), |plan| {
            plan.write(&file("mine.md"), b"---\nname: Mine\n---\nnew\n", &Expected::Present)
        })
        .unwrap()
    else {
        panic!("not in the inbox")
    };
    assert!(world.text("mine.md").contains('x'));
    let inbox = store.inbox().list().unwrap();
    assert_eq!(inbox.len(), 2);
    assert!(inbox[1].2.files[0].before.as_ref().unwrap().contains('x'));
    store.inbox().refuse(id).unwrap();
    let mut edited = inbox[1].2.clone();
    edited.files[0].after = Some("---\nname: Mine\n---\nedited\n".into());
    written(store.inbox().accept(second, Some(&edited)).unwrap());
    assert!(world.text("mine.md").contains("edited"));
    assert!(store.inbox().list().unwrap().is_empty());
    assert!(matches!(store.inbox().accept(second, None), Err(ChangeError::NoProposal(_))));
    // A rule that asks: the caller asks, or leaves it in the inbox.
    let reference = NewMemory::new("Wiki", "d", "b").with_kind(MemoryType::Reference);
    let ChangeOutcome::Ask(proposal) =
        store.change(&model(), |plan| plan.save(&reference).map(drop)).unwrap()
    else {
        panic!("not asked")
    };
    let id = store.inbox().propose(proposal.clone()).unwrap();
    written(store.inbox().accept_now(&proposal).unwrap());
    assert!(matches!(store.inbox().accept(id, None), Err(ChangeError::Exists { .. })));
    // What another agent says about the user waits.
    let client = ChangeOrigin::new(ChangeAuthor::Client("other".into()), "r");
    let about = NewMemory::new("Likes tea", "d", "b").with_kind(MemoryType::User);
    assert!(matches!(
        store.change(&client, |plan| plan.save(&about).map(drop)).unwrap(),
        ChangeOutcome::InInbox(_)
    ));
    let fact =
        written(store.change(&client, |plan| plan.save(&note("Fact", "x")).map(drop)).unwrap());
    assert!(world.text(fact.files[0].0.as_str()).contains("client:other"));
    // Another type is no way round that.
    let feedback = NewMemory::new("Tabs", "d", "b").with_kind(MemoryType::Feedback);
    let said = model().from_message(message(Trust::Typed));
    let saved = store.change(&said, |plan| plan.save(&feedback).map(drop));
    let tabs = written(saved.unwrap()).files[0].0.clone();
    let other = b"---\nname: Tabs\ntype: project\n---\nSpaces.\n";
    assert!(matches!(
        store.change(&client, |plan| plan.write(&tabs, other, &Expected::Present)).unwrap(),
        ChangeOutcome::InInbox(_)
    ));
    assert_sound(&store);
}

#[test]
fn two_names_that_some_system_takes_for_one_are_one() {
    let world = World::new();
    let store = world.store();
    let write = |path: &str| {
        store.change(&person(), |plan| plan.write(&file(path), b"x", &Expected::Absent))
    };
    write("straße/Note.md").unwrap();
    assert!(matches!(write("straße/note.md"), Err(ChangeError::Exists { .. })));
    written(
        store
            .change(&person(), |plan| {
                plan.rename(&file("straße/Note.md"), &file("straße/note.md"), &Expected::Present)
            })
            .unwrap(),
    );
    assert_sound(&store);
}

#[test]
fn a_name_that_looks_taken_is_not_given_twice_whoever_took_it() {
    let world = World::new();
    let store = world.store();
    let save = |name: &str| {
        let receipt = store.change(&person(), |plan| plan.save(&note(name, "x")).map(drop));
        written(receipt.unwrap()).files[0].0.to_string()
    };
    assert_eq!(save("Plan"), "plan.md");
    assert_eq!(save("plan"), "plan-2.md");
    // By another program, with a spelling that we would not choose.
    world.write("READ-me.md", "x");
    assert_eq!(save("Read me"), "read-me-2.md");
    // From what is kept about the names, and by another process.
    let again = note("READ me", "x");
    world.store().change(&person(), |plan| plan.save(&again).map(drop)).unwrap();
    assert!(world.memory().join("read-me-3.md").exists());
    std::fs::remove_file(world.memory().join("READ-me.md")).unwrap();
    assert_eq!(save("Read me"), "read-me.md");
    // The same when the name is ours.
    let own = |path: &str| {
        store.change(&person(), |plan| plan.write(&file(path), b"x", &Expected::Absent))
    };
    own("Notes.md").unwrap();
    assert!(matches!(own("notes.md"), Err(ChangeError::Exists { .. })));
    assert_eq!(save("notes"), "notes-2.md");
    assert_sound(&store);
}

#[test]
fn the_index_may_be_written_along_and_is_not_doubled() {
    let world = World::new();
    let store = world.store();
    store
        .change(&model(), |plan| {
            plan.write_index("# Topics\n- [A by hand](a.md) — my hook\n", &Expected::Anything)?;
            plan.write(&file("a.md"), b"---\nname: A\ndescription: d\n---\nx\n", &Expected::Absent)
        })
        .unwrap();
    assert_eq!(world.text("MEMORY.md"), "# Topics\n- [A by hand](a.md) — my hook\n");
    // The body changes: the hook by hand stays. The description changes: the line follows.
    let text = world.text("a.md");
    let change = |text: String| {
        store
            .change(&person(), |plan| {
                plan.write(&file("a.md"), text.as_bytes(), &Expected::Present)
            })
            .unwrap();
    };
    change(text.replace("\nx\n", "\ny\n"));
    assert!(world.text("MEMORY.md").contains("my hook"));
    change(text.replace("description: d", "description: e"));
    assert_eq!(world.text("MEMORY.md"), "# Topics\n- [A](a.md) — e\n");
}

#[test]
fn looking_makes_nothing() {
    let world = World::new();
    let none = dormouse_memory::Store::existing(
        &world.memory(),
        &world.root.join("state"),
        world.options(),
    );
    assert!(none.unwrap().is_none());
    assert!(!Path::new(&world.root.join("state")).exists());
}

#[test]
fn a_memory_that_names_files_gets_anchors() {
    let world = World::new();
    let root = world.root.join("project");
    fs::create_dir(&root).unwrap();
    fs::write(root.join("a.rs"), "fn parse() {}").unwrap();
    let mut options = world.options();
    let root = dormouse_base::Dir::open(root).unwrap();
    options.project = Some(AnchoredProject { root, commit: Some("c0ffee".into()) });
    let store = world.store_with(options);
    store
        .change(&model(), |plan| plan.save(&note("Parser", "`parse` is in a.rs")).map(drop))
        .unwrap();
    let anchors = MemoryEntry::from_text(&world.text("parser.md")).header.anchors;
    assert_eq!(anchors.len(), 1);
    assert!(
        anchors[0].starts_with("a.rs#parse ") && anchors[0].ends_with(" @c0ffee"),
        "{anchors:?}"
    );
}

#[test]
fn words_are_found_in_any_case_and_script() {
    let world = World::new();
    let store = world.store();
    store
        .change(&person(), |plan| {
            plan.save(&NewMemory::new("Test database", "where it runs", "Port 5433."))?;
            plan.save(&NewMemory::new("数据库迁移", "很慢", "Alembic"))?;
            plan.save(&NewMemory::new("Other", "x", "the DATABASE of others")).map(drop)
        })
        .unwrap();
    let recall = MemorySearch::open(vec![Arc::new(store)], None);
    let find = |text: &str| -> Vec<String> {
        let query = MemoryQuery::new(text, 10, "2026-11-15T08:00:00Z".parse().unwrap());
        let hits = recall.query(&query).unwrap().hits;
        hits.iter().map(|hit| hit.memory.file.to_string()).collect()
    };
    // The name of the second says the same in another language; the third has the word in its text only.
    let mut found = find("Database");
    assert_eq!(found.pop().as_deref(), Some("other.md"));
    found.sort();
    assert_eq!(found, ["test-database.md", "数据库迁移.md"]);
    assert_eq!(find("database 5433"), ["test-database.md", "数据库迁移.md", "other.md"]);
    assert_eq!(find("迁移")[0], "数据库迁移.md");
    assert_eq!(find("5433 nowhere")[0], "test-database.md");
    assert_eq!(find("nothing"), Vec::<String>::new());
}

#[test]
fn recently_recalled_memories_keep_their_place_in_a_full_index() {
    let world = World::new();
    let lines = (0..300).fold(String::new(), |text, n| text + &format!("- [M{n}](m{n}.md)\n"));
    for n in 0..300 {
        world.write(&format!("m{n}.md"), &format!("---\nmodified: 2026-01-01\n---\n{n}\n"));
        let path = world.memory().join(format!("m{n}.md"));
        let old = "2026-01-01T00:00:00Z".parse::<jiff::Timestamp>().unwrap();
        fs::File::options().write(true).open(path).unwrap().set_modified(old.into()).unwrap();
    }
    world.write("MEMORY.md", &lines);
    let store = world.store();
    let recalled = UsageUpdate::of(file("m299.md")).recalled(RecalledFor::Us, 40);
    store.usage().record(std::slice::from_ref(&recalled)).unwrap();
    store.usage().record(&[recalled]).unwrap();
    assert_eq!(store.usage().of("m299.md").unwrap().recalled, 2);
    let scan = || store.scan(&mut ScanCache::default());
    let loaded = store.loaded_index(IndexLimits::FULL, scan).unwrap();
    assert!(loaded.text.ends_with("- [M198](m198.md)\n- [M299](m299.md)\n"));
    assert_eq!(loaded.left_out, 100);
    world.days_later(31);
    assert!(!store.loaded_index(IndexLimits::FULL, scan).unwrap().text.contains("M299"));
}
