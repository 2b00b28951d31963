//! Counting a turn, on a memory directory of its own.

use super::*;
use dormouse_base::SystemClock;
use dormouse_conversation::metrics::MetricsLog;
use dormouse_memory::{RankingSetup, ReachableMemories, Saving, Scope, StoreOptions};

struct Place {
    _folder: tempfile::TempDir,
    access: Arc<SessionMemory>,
    rule: PathBuf,
}

fn place() -> Place {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let clock = Arc::new(SystemClock::default());
    let options = StoreOptions::new(Scope::User, |_| Vec::new(), clock.clone());
    let store = Store::open(&root.join("memory"), &root.join("state"), options).unwrap();
    let rule = root.join("memory/rule.md");
    let text = "---\nname: Rule\ntype: feedback\n---\nIndent with tabs, as `gofmt` does.\n";
    store.dir().replace(&dormouse_base::RelPath::new("rule.md").unwrap(), text.as_bytes()).unwrap();
    let stores = vec![Arc::new(store)];
    let memories = Arc::new(ReachableMemories::new(stores, RankingSetup::default()));
    let access = SessionMemory::new(memories, Saving::Entries, clock);
    Place { _folder: folder, access, rule }
}

fn turn(place: &Place, before: bool, updated: bool) -> UsageOfTurn {
    let rule = || HashSet::from([place.rule.clone()]);
    UsageOfTurn {
        before: if before { rule() } else { HashSet::new() },
        present: BTreeSet::from([place.rule.clone(), PathBuf::from("/elsewhere/main.rs")]),
        happened: TurnActivity { commands: vec!["gofmt -w .".into()], ..TurnActivity::default() },
        shown: Vec::new(),
        updated: if updated { rule() } else { HashSet::new() },
    }
}

fn counted(place: &Place, turn: UsageOfTurn) -> Vec<RepeatedCorrection> {
    let session = "0193b0a4-0000-7000-8000-000000000001".parse().unwrap();
    let figures = MetricsLog::disabled().for_session(session, "project");
    count(place.access.memories(), turn, &figures)
}

fn uses(place: &Place) -> MemoryUsage {
    place.access.memories().stores()[0].usage().of("rule.md").unwrap_or_default()
}

#[test]
fn the_third_correction_offers_a_guard() {
    let place = place();
    assert!(counted(&place, turn(&place, false, true)).is_empty());
    assert_eq!((uses(&place).heeded, uses(&place).violated), (1, 0));
    for _ in 0..2 {
        assert!(counted(&place, turn(&place, true, true)).is_empty());
    }
    let offered = counted(&place, turn(&place, true, true));
    let expected = RepeatedCorrection { name: "Rule".into(), file: "rule.md".into(), times: 3 };
    assert_eq!(offered, [expected]);
    // Without a correction there is nothing to offer, however often there was one before.
    assert!(counted(&place, turn(&place, true, false)).is_empty());
    assert_eq!((uses(&place).heeded, uses(&place).violated), (2, 3));
}

#[test]
fn what_was_put_in_twice_in_a_turn_counts_twice_and_helps_once() {
    let place = place();
    let shown = vec![(place.rule.clone(), 40), (place.rule.clone(), 50)];
    counted(&place, UsageOfTurn { shown, ..turn(&place, false, false) });
    assert_eq!((uses(&place).recalled, uses(&place).tokens, uses(&place).heeded), (2, 90, 1));
}

#[test]
fn a_memory_that_is_gone_is_no_trouble() {
    let place = place();
    std::fs::remove_dir_all(place.rule.parent().unwrap()).unwrap();
    assert!(counted(&place, turn(&place, true, true)).is_empty());
    assert_eq!(uses(&place), MemoryUsage::default());
}
