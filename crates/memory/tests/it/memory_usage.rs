//! What memories were good for, counted in the state folder (R-18), and what follows from it.

use dormouse_memory::recall::{MemoryQuery, MemorySearch, RecallChoice};
use std::sync::Arc;

use dormouse_base::Clock;
use dormouse_memory::memory_usage::TurnUsage;
use dormouse_memory::{RecalledFor, ScanCache, Store, UsageUpdate};

use crate::world::{World, file};

fn recalled(name: &str) -> UsageUpdate {
    UsageUpdate::of(file(name)).recalled(RecalledFor::Us, 40)
}

fn with(name: &str, effect: TurnUsage) -> UsageUpdate {
    UsageUpdate { effect, ..UsageUpdate::of(file(name)) }
}

const CITED: TurnUsage = TurnUsage { cited: true, heeded: false, violated: false };
const VIOLATED: TurnUsage = TurnUsage { cited: false, heeded: false, violated: true };

#[test]
fn counts_add_up_and_stay_out_of_the_memory_directory() {
    let world = World::new();
    world.write("quay.md", "Ships land at the east quay.\n");
    let (store, files) = (world.store(), world.files());
    store.usage().record(&[recalled("quay.md")]).unwrap();
    world.days_later(1);
    let counted = store.usage().record(&[with("quay.md", CITED)]).unwrap();
    let uses = store.usage().of("quay.md").unwrap();
    assert_eq!(counted, [(file("quay.md"), uses)]);
    assert_eq!(
        (uses.recalled, uses.tokens, uses.cited, uses.heeded, uses.violated),
        (1, 40, 1, 0, 0)
    );
    assert_eq!(uses.last_helped, Some(world.clock.now()));
    assert!(uses.last < uses.last_helped);
    // Nothing to say is nothing written.
    assert!(store.usage().record(&[UsageUpdate::of(file("other.md"))]).unwrap().is_empty());
    assert_eq!(store.usage().of("other.md"), None);
    assert_eq!(world.files(), files);
}

#[test]
fn counts_from_before_there_were_effects_are_read() {
    let world = World::new();
    let store = world.store();
    store.usage().record(&[recalled("quay.md")]).unwrap();
    let folder = std::fs::read_dir(world.root.join("state")).unwrap().next().unwrap().unwrap();
    let uses = std::fs::read_dir(folder.path().join("uses")).unwrap().next().unwrap().unwrap();
    std::fs::write(uses.path(), r#"{"recalled":7,"last":"2026-11-01T00:00:00Z"}"#).unwrap();
    let uses = store.usage().of("quay.md").unwrap();
    assert_eq!((uses.recalled, uses.cited, uses.last_helped), (7, 0, None));
}

#[test]
fn several_may_count_at_once() {
    let world = World::new();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let store = world.store();
                for _ in 0..25 {
                    store.usage().record(&[recalled("quay.md"), with("larder.md", CITED)]).unwrap();
                }
            });
        }
    });
    assert_eq!(world.store().usage().of("quay.md").unwrap().recalled, 100);
    assert_eq!(world.store().usage().of("larder.md").unwrap().cited, 100);
}

fn never_helped(store: &Store) -> Vec<String> {
    let scan = store.scan(&mut ScanCache::default()).unwrap();
    store.usage().never_helped(&scan).iter().map(|(memory, _)| memory.file.to_string()).collect()
}

#[test]
fn what_costs_and_never_helps_is_offered_to_a_tidying() {
    let world = World::new();
    for name in ["costs", "dear", "cited", "corrected", "others", "seldom"] {
        world.write(&format!("{name}.md"), "Ships land at the east quay.\n");
    }
    world.write("pinned.md", "---\npinned: true\n---\nShips land at the east quay.\n");
    let store = world.store();
    for _ in 0..8 {
        for name in ["costs.md", "dear.md", "cited.md", "corrected.md", "pinned.md", "gone.md"] {
            store.usage().record(&[recalled(name)]).unwrap();
        }
        let others = UsageUpdate::of(file("others.md")).recalled(RecalledFor::Others, 40);
        store.usage().record(&[others]).unwrap();
    }
    store.usage().record(&[recalled("seldom.md"), recalled("dear.md")]).unwrap();
    store.usage().record(&[with("cited.md", CITED), with("corrected.md", VIOLATED)]).unwrap();
    assert_eq!(never_helped(&store), ["dear.md", "costs.md"]);
    // Another process sees the same, and what helps at last is off the list.
    assert_eq!(never_helped(&world.store()), ["dear.md", "costs.md"]);
    world.store().usage().record(&[with("costs.md", CITED)]).unwrap();
    assert_eq!(never_helped(&store), ["dear.md"]);
}

#[test]
fn what_never_helped_sinks_a_little() {
    let world = World::new();
    let text = |name: &str| {
        format!("---\nname: {name}\ndescription: where ships land\n---\nAt the quay of {name}.\n")
    };
    world.write("a-harbour.md", &text("Arbor"));
    world.write("b-harbour.md", &text("Bristol"));
    let recall = MemorySearch::open(vec![Arc::new(world.store())], None);
    let ask = |text: &str| recall.query(&MemoryQuery::new(text, 10, world.clock.now())).unwrap();
    let first = |text: &str| ask(text).hits[0].memory.file.to_string();
    assert_eq!(first("where do ships land"), "a-harbour.md");
    let before = ask("where do ships land").hits[0].score;
    for _ in 0..8 {
        world.store().usage().record(&[recalled("a-harbour.md")]).unwrap();
    }
    assert_eq!(first("where do ships land"), "b-harbour.md");
    let after = ask("where do ships land").hits[1].score;
    assert!((after / before - 0.85).abs() < 0.01, "{before} {after}");
    // Asked for by its name it is still found, and still shown.
    assert_eq!(first("where do ships land in Arbor"), "a-harbour.md");
    let ranking = ask("where do ships land in Arbor");
    assert_eq!(RecallChoice::of(ranking).sure[0].memory.file.as_str(), "a-harbour.md");
    // Once it helps it is what it was.
    world.store().usage().record(&[with("a-harbour.md", CITED)]).unwrap();
    assert_eq!(first("where do ships land"), "a-harbour.md");
}
