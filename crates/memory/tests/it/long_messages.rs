//! Long messages: what matters is said over several sentences, beside asides and pasted lines.

use std::sync::Arc;

use dormouse_base::Clock;
use dormouse_memory::recall::{MemoryQuery, MemorySearch};

use crate::world::World;

/// The files that a message brings, best first, of these memories and of others without a word in common.
fn files(memories: [(&str, &str); 2], message: &str) -> Vec<String> {
    let world = World::new();
    for number in 0..8 {
        world.write(&format!("other{number}.md"), "Gardening, 园艺.\n");
    }
    for (file, text) in memories {
        world.write(file, text);
    }
    let recall = MemorySearch::open(vec![Arc::new(world.store())], None);
    let ranking = recall.query(&MemoryQuery::new(message, 10, world.clock.now())).unwrap();
    ranking.hits.iter().map(|hit| hit.memory.file.to_string()).collect()
}

#[test]
fn a_memory_about_a_long_message_comes_before_one_about_an_aside() {
    let memories = [
        ("ledger.md", "The ledger is exported nightly: timezone Lisbon, rounding half up.\n"),
        ("parking.md", "Parking badges: ask Amelia.\n"),
    ];
    let message = "Amelia gave out parking badges. A customer complained about yesterday's ledger. \
        One line is missing there. It may be the timezone again. Nobody looked closely so far. \
        The exporter ran twice overnight. Could rounding explain it?";
    assert_eq!(files(memories, message), ["ledger.md", "parking.md"]);
}

#[test]
fn a_memory_about_a_long_message_in_chinese_comes_before_one_about_an_aside() {
    let memories = [
        ("ledger.md", "账本夜间导出：时区用里斯本，金额四舍五入。\n"),
        ("parking.md", "停车证和门禁卡找行政小李。\n"),
    ];
    let message = "找小李拿停车证和门禁卡。有客户投诉昨天的账本，少了一行，可能又是时区，还没人仔细看，\
        导出跑了两遍，金额也不对。会不会是四舍五入？";
    assert_eq!(files(memories, message), ["ledger.md", "parking.md"]);
}

#[test]
fn a_name_in_each_line_of_a_log_counts_twice_at_most() {
    let memories = [
        ("worker.md", "Heron is the worker.\n"),
        ("lease.md", "Renew the lease before a snapshot, or the quorum is lost.\n"),
    ];
    let log = "2026-11-02T08:15:09Z [heron] #118 {code=0}\n".repeat(9);
    let message = format!("it lost its lease after the snapshot:\n{log}");
    assert_eq!(files(memories, &message), ["lease.md", "worker.md"]);
}
