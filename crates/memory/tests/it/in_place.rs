//! Another agent's memory directory, used where it is: no byte changed that need not be, no file of ours.

use std::fs;

use dormouse_memory::{Expected, MemoryType, ScanCache};

use crate::world::{World, assert_sound, file, model, note, person, written};

const ENTRY: &str = "---\nname: deploy-steps\ndescription: \"How to deploy: staging first\"\nmetadata:\n  node_type: memory\n  type: project\n  originSessionId: 0000\nmodified: 2026-11-01T10:00:00.000Z\n---\n\nRun `make deploy`. See [[test-db]].\n";
const INDEX: &str = "# Memory index\n\n- [Deploy steps](deploy-steps.md) — staging first, then ask\n- [Test db](test-db.md) - port 5433\n\n<!-- keep me -->\n";

fn their_directory() -> World {
    let world = World::new();
    world.write("MEMORY.md", INDEX);
    world.write("deploy-steps.md", ENTRY);
    world.write("test-db.md", "---\nname: test-db\r\ndescription: db\r\nmetadata:\r\n  type: reference\r\n---\r\nPort.\r\n");
    world
}

#[test]
fn opening_and_reading_changes_nothing() {
    let world = their_directory();
    let (before, times) = (world.files(), times(&world));
    let store = world.store();
    let scan = store.scan(&mut ScanCache::default()).unwrap();
    assert_eq!(scan.find("deploy-steps").unwrap().header.kind, Some(MemoryType::Project));
    assert_eq!(scan.find("test-db").unwrap().header.kind, Some(MemoryType::Reference));
    store.history().record_external_changes().unwrap();
    assert!(world.files() == before);
    assert_eq!(self::times(&world), times);
    assert_sound(&store);
}

fn times(world: &World) -> Vec<std::time::SystemTime> {
    let time = |name: &String| fs::metadata(world.memory().join(name)).unwrap().modified().unwrap();
    world.files().keys().map(time).collect()
}

#[test]
fn a_change_touches_only_what_it_must() {
    let world = their_directory();
    let store = world.store();
    written(store.change(&person(), |plan| plan.save(&note("New one", "x")).map(drop)).unwrap());
    let line = "- [New one](new-one.md) — about New one\n";
    assert_eq!(
        world.text("MEMORY.md"),
        INDEX.replace("port 5433\n", &format!("port 5433\n{line}"))
    );
    assert_eq!(world.text("deploy-steps.md"), ENTRY);
    // An agent's edit marks its provenance and leaves every other line alone.
    let text = ENTRY.replace("make deploy", "make ship");
    let by = model().with_consent();
    store
        .change(&by, |plan| {
            plan.write(&file("deploy-steps.md"), text.as_bytes(), &Expected::Present)
        })
        .unwrap();
    let expected = text.replace(
        "modified: 2026-11-01T10:00:00.000Z\n",
        "modified: \"2026-11-15T08:00:00Z\"\ntrust: typed\nsource:\n  - s1/m1\n",
    );
    assert_eq!(world.text("deploy-steps.md"), expected);
    assert!(world.text("MEMORY.md").contains("staging first, then ask"), "the hook by hand stays");
    // Undone, it is as it was.
    store.history().undo(&person(), None).unwrap();
    store.history().undo(&person(), None).unwrap();
    assert_eq!(
        (world.text("MEMORY.md").as_str(), world.text("deploy-steps.md").as_str()),
        (INDEX, ENTRY)
    );
    assert_eq!(world.files().len(), 3);
}
