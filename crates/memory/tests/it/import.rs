//! Memories from elsewhere, as one change; and out again.

use std::fs;

use dormouse_base::Dir;
use dormouse_memory::{
    ChangeAuthor, ChangeError, ChangeOrigin, ImportError, Imported, ImportedText, MemoryEntry,
    MemoryType, NewMemory, from_folder, from_mcp_memory, from_mem0,
};

use crate::world::{World, assert_sound, note, person};

fn import() -> ChangeOrigin {
    ChangeOrigin::new(ChangeAuthor::Import, "import")
}

#[test]
fn another_agents_directory_comes_in_word_for_word() {
    let theirs = World::new();
    let text = "---\nname: Deploy\nmetadata:\n  type: feedback\nmodified: 2026-10-01T10:00:00Z\n---\nSee [[other]].\n";
    theirs.write("deploy.md", text);
    theirs.write("topic/other.md", "no frontmatter");
    theirs.write("what: now?.md", "an odd name");
    theirs.write("MEMORY.md", "- [Deploy](deploy.md) — their hook\n");
    let before = theirs.files();
    let world = World::new();
    let store = world.store();
    store.change(&person(), |plan| plan.save(&note("Deploy", "mine")).map(drop)).unwrap();
    let (list, _) = from_folder(&Dir::open(theirs.memory()).unwrap()).unwrap();
    let report = store.import(&import(), &list).unwrap();
    assert_eq!(report.added.len(), 3);
    assert_eq!(world.text("deploy-2.md"), text);
    assert_eq!(world.text("topic/other.md"), "no frontmatter");
    assert_eq!(world.text("what-now.md"), "an odd name");
    assert_eq!(
        MemoryEntry::from_text(&world.text("deploy-2.md")).header.kind,
        Some(MemoryType::Feedback)
    );
    let time = fs::metadata(world.memory().join("deploy-2.md")).unwrap().modified().unwrap();
    assert_eq!(jiff_text(time), "2026-10-01T10:00:00Z");
    assert!(theirs.files() == before);
    assert_sound(&store);
    let again = store.import(&import(), &list).unwrap();
    assert_eq!((again.added.len(), again.known), (0, 3));
    store.history().undo(&person(), None).unwrap();
    assert_eq!(world.files().len(), 2, "one import is undone as one");
    assert_eq!(store.export().unwrap()[0].body.trim(), "mine");
}

fn jiff_text(time: std::time::SystemTime) -> String {
    jiff::Timestamp::try_from(time).unwrap().to_string()
}

#[test]
fn exports_of_other_systems_are_read() {
    let mem0 = r#"{"results":[{"id":"1","memory":"Prefers tabs over spaces.","created_at":"2026-01-02T03:04:05-08:00","metadata":{"x":1}},{"memory":" "}]}"#;
    let graph = r#"{"entities":[{"name":"Ann","entityType":"person","observations":["likes tea","works nights"]}],"relations":[{"from":"Ann","to":"Dormouse","relationType":"works on"}]}"#;
    let lines = "{\"type\":\"entity\",\"name\":\"Ann\",\"entityType\":\"person\",\"observations\":[\"likes tea\",\"works nights\"]}\n{\"type\":\"relation\",\"from\":\"Ann\",\"to\":\"Dormouse\",\"relationType\":\"works on\"}\n";
    assert_eq!(from_mcp_memory(graph).unwrap(), from_mcp_memory(lines).unwrap());
    let world = World::new();
    let store = world.store();
    store.import(&import(), &from_mem0(mem0).unwrap()).unwrap();
    store.import(&import(), &from_mcp_memory(graph).unwrap()).unwrap();
    let tabs = MemoryEntry::from_text(&world.text("prefers-tabs-over-spaces.md"));
    assert_eq!(tabs.header.created.unwrap().to_string(), "2026-01-02T11:04:05Z");
    let ann = MemoryEntry::from_text(&world.text("ann.md"));
    assert_eq!(ann.header.description.as_deref(), Some("person: likes tea"));
    assert_eq!(ann.body.trim(), "- likes tea\n- works nights\n- works on [[Dormouse]]");
    assert_sound(&store);
    assert!(matches!(from_mem0("{}"), Err(ImportError::Nothing)));
    assert!(matches!(from_mem0("[]"), Err(ImportError::Nothing)));
    assert!(matches!(from_mem0("{"), Err(ImportError::Json(_))));
    let half = format!("{lines}\n{{\"type\":\"later\"}}\n{{\"type\":");
    assert!(matches!(from_mcp_memory(&half), Err(ImportError::Line { line: 5, .. })));
}

#[test]
fn a_second_import_adds_nothing_even_where_the_export_has_no_times() {
    let world = World::new();
    let store = world.store();
    let list = from_mem0(r#"[{"memory":"Likes tea"},{"memory":"Likes tea"},{"x":1}]"#).unwrap();
    let first = store.import(&import(), &list).unwrap();
    assert_eq!((first.added.len(), first.known), (1, 1));
    world.days_later(3);
    let again = store.import(&import(), &list).unwrap();
    assert_eq!((again.added.len(), again.known), (0, 2));
}

#[test]
fn an_import_with_a_secret_is_refused_whole() {
    let world = World::new();
    let store = world.store();
    let mem0 = r#"[{"memory":"fine"},{"memory":"the key is hunter2"}]"#;
    let list = from_mem0(mem0).unwrap();
    let refused = store.import(&import(), &list).unwrap_err();
    assert!(matches!(&refused, ChangeError::Secrets(_)));
    // Not even by way of the file name, which is made of the first words.
    assert!(!refused.to_string().contains("hunter2"), "{refused}");
    assert!(world.files().is_empty());
    store.import(&import().allowing_secrets(), &list).unwrap();
    assert_eq!(world.files().len(), 3);
}

/// An import holds the lock until it is done: one without end would keep every session from its memory.
#[test]
fn an_import_has_an_end() {
    let world = World::new();
    let what = ImportedText::Memory(NewMemory::new("n", "", "x"));
    let many = vec![Imported { what, modified: None }; 20_001];
    let refused = world.store().import(&person(), &many).unwrap_err().to_string();
    assert!(refused.contains("at most 20000 at once"), "{refused}");
    assert!(world.files().is_empty());
}
