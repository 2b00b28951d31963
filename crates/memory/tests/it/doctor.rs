//! The doctor, the linter, and hostile files one by one (M-18).

use std::fs;

use dormouse_base::Dir;
use dormouse_memory::{Expected, FindingKind, MemoryEntry, ScanCache, lint};

use crate::world::{World, assert_sound, file, note, person, secrets};

fn kinds(world: &World) -> Vec<(FindingKind, String)> {
    let mut found: Vec<(FindingKind, String)> = world
        .store()
        .doctor(None)
        .unwrap()
        .into_iter()
        .map(|finding| (finding.kind, finding.file))
        .collect();
    found.sort();
    found
}

#[test]
fn what_is_wrong_with_the_index_is_found_and_mended() {
    let world = World::new();
    let store = world.store();
    store.change(&person(), |plan| plan.save(&note("A", "x")).map(drop)).unwrap();
    assert_eq!(kinds(&world), []);
    world.write("by-hand.md", "text");
    world.write("copy.md", "text");
    world.write(
        "MEMORY.md",
        "# Mine\n- [A](a.md) — about A\n* [Gone](gone.md)\n- [A twice](a.md)\n<!-- stays -->\n",
    );
    let expected = [
        (FindingKind::NoLine, "by-hand.md"),
        (FindingKind::NoLine, "copy.md"),
        (FindingKind::NoFile, "gone.md"),
        (FindingKind::DoubleLine, "a.md"),
        (FindingKind::DoubleMemory, "by-hand.md"),
    ];
    let found = kinds(&world);
    assert_eq!(
        found[..4],
        expected[..4].iter().map(|(kind, file)| (*kind, (*file).to_owned())).collect::<Vec<_>>()
    );
    assert_eq!(found[4].0, FindingKind::DoubleMemory);
    store.fix_index(&person()).unwrap();
    assert_eq!(kinds(&world).len(), 1, "two memories with one text are the user's to decide");
    let index = world.text("MEMORY.md");
    assert!(
        index.starts_with("# Mine\n- [A](a.md) — about A\n") && index.contains("<!-- stays -->"),
        "{index}"
    );
    assert_sound(&store);
    store.history().undo(&person(), None).unwrap();
    assert!(world.text("MEMORY.md").contains("A twice"));
}

#[test]
fn a_nearly_full_index_and_long_lines_are_said() {
    let world = World::new();
    let text = format!("# {}\n{}", "long ".repeat(40), "a\n".repeat(160));
    world.write("MEMORY.md", &text);
    let found: Vec<FindingKind> = kinds(&world).into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(found, [FindingKind::Full, FindingKind::LongLine]);
}

#[test]
fn hostile_files_hurt_nobody_and_are_named() {
    let mut bomb = "---\na: &a [x]\n".to_owned();
    for level in 0..40 {
        bomb.push_str(&format!("b{level}: &b{level} [*a, *a, *a, *a]\n"));
    }
    let many_keys = "k: v\n".repeat(10_000);
    let hostile: Vec<(&str, Vec<u8>)> = vec![
        ("binary.md", b"\x7fELF\0\0\0".to_vec()),
        ("bomb.md", format!("{bomb}---\n").into_bytes()),
        ("keys.md", format!("---\n{many_keys}---\nbody").into_bytes()),
        ("deep.md", format!("---\na: {}\n---\n", "[".repeat(3_000)).into_bytes()),
        ("mixed.md", b"---\r\nname: x\n---\r\nbody\n".to_vec()),
        ("bom.md", b"\xef\xbb\xbf---\nname: Marked\n---\nbody\n".to_vec()),
        ("latin.md", b"---\nname: caf\xe9\n---\nbody\n".to_vec()),
        ("long-line.md", vec![b'x'; 3_000_000]),
    ];
    for (name, bytes) in &hostile {
        let world = World::new();
        fs::create_dir_all(world.memory()).unwrap();
        fs::write(world.memory().join(name), bytes).unwrap();
        let store = world.store();
        store.scan(&mut ScanCache::default()).unwrap();
        MemoryEntry::read(bytes, bytes.len() as u64);
        let odd =
            kinds(&world).into_iter().any(|(kind, file)| kind == FindingKind::Odd && file == *name);
        assert!(odd, "{name} is not named: {:?}", kinds(&world));
        // It is no obstacle to others, and a person can remove it and get it back.
        store.change(&person(), |plan| plan.save(&note("Other", "x")).map(drop)).unwrap();
        store.change(&person(), |plan| plan.delete(&file(name), &Expected::Present)).unwrap();
        store.history().undo(&person(), None).unwrap();
        assert!(fs::read(world.memory().join(name)).unwrap() == *bytes);
    }
}

#[test]
fn a_file_of_100_megabytes_is_not_read_whole() {
    let world = World::new();
    fs::create_dir_all(world.memory()).unwrap();
    fs::File::create(world.memory().join("huge.md")).unwrap().set_len(100_000_000).unwrap();
    let store = world.store();
    let scan = store.scan(&mut ScanCache::default()).unwrap();
    assert!(scan.memories.is_empty() && scan.skipped[0].reason.contains("binary"));
    assert!(kinds(&world).iter().any(|(kind, _)| *kind == FindingKind::Odd));
    let error = store
        .change(&person(), |plan| plan.delete(&file("huge.md"), &Expected::Present))
        .unwrap_err();
    assert!(error.to_string().contains("by hand"), "{error}");
}

#[test]
fn any_folder_can_be_linted() {
    let world = World::new();
    world.write("docs/a.md", "fine");
    world.write("docs/b.md", "one\nthe key is hunter2\n");
    let folder = Dir::open(world.memory().join("docs")).unwrap();
    let findings = lint(&folder, None, secrets).unwrap();
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!((findings[0].kind, findings[0].line), (FindingKind::Secret, Some(2)));
    assert!(!findings[0].message.contains("hunter2"));
}
