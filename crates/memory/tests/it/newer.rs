//! Of two memories about the same, the newer one takes the place of the older one.

use std::sync::Arc;

use dormouse_base::Clock;
use dormouse_memory::recall::{
    MemoryHit, MemoryQuery, MemorySearch, PlaceExchange, QuarantineFilter,
};
use dormouse_search::RecallTier;

use crate::world::World;

const QUESTION: &str = "on which port does the staging database listen?";

/// A memory about something else, so that the words of the others are rare.
fn fill(world: &World) {
    for (number, topic) in
        ["garden hoses", "winter tyres", "bread ovens", "violin strings", "发票报销", "会议室预订"]
            .into_iter()
            .enumerate()
    {
        memory(world, &format!("other{number}.md"), "project", 1, topic, "Nothing to add.");
    }
}

fn memory(world: &World, file: &str, kind: &str, month: u8, description: &str, body: &str) {
    let header = format!("type: {kind}\nmodified: 2026-{month:02}-01T00:00:00Z");
    let name = file.trim_end_matches(".md");
    world.write(
        file,
        &format!("---\nname: {name}\ndescription: {description}\n{header}\n---\n{body}\n"),
    );
}

fn old(world: &World) {
    let body = "The staging database listens on port 5433, behind the bastion.";
    memory(world, "staging-db.md", "project", 3, "Port of the staging database", body);
}

fn new(world: &World, kind: &str, month: u8) {
    let body = "The staging database is behind pgbouncer now: connect to port 6432.";
    memory(world, "pgbouncer.md", kind, month, "Staging database behind pgbouncer", body);
}

fn ask(world: &World, question: &str) -> Vec<MemoryHit> {
    ask_for(world, question, 10)
}

fn ask_for(world: &World, question: &str, limit: usize) -> Vec<MemoryHit> {
    let recall = MemorySearch::open(vec![Arc::new(world.store())], None);
    let mut query = MemoryQuery::new(question, limit, world.clock.now());
    query.quarantined = QuarantineFilter::Include;
    recall.query(&query).unwrap().hits
}

/// The first file, and the one whose place it has.
fn first(hits: &[MemoryHit]) -> (&str, Option<&str>) {
    let older = match &hits[0].exchanged {
        Some(PlaceExchange::NewerThan(older)) => Some(older.as_str()),
        Some(PlaceExchange::OlderThan(newer)) => panic!("{newer} comes before it"),
        None => None,
    };
    (hits[0].memory.file.as_str(), older)
}

#[test]
fn the_newer_of_two_memories_about_the_same_comes_first() {
    let world = World::new();
    fill(&world);
    old(&world);
    let alone = ask(&world, QUESTION);
    assert_eq!(first(&alone), ("staging-db.md", None));
    assert_eq!(alone[0].tier, RecallTier::Sure);
    new(&world, "project", 9);
    let hits = ask(&world, QUESTION);
    assert_eq!(first(&hits), ("pgbouncer.md", Some("staging-db.md")), "{hits:?}");
    assert!(hits[0].tier > hits[1].tier && hits[0].confidence > hits[1].confidence, "{hits:?}");
    assert!(hits[0].score > hits[1].score, "{hits:?}");
    assert_eq!(hits[1].memory.file.as_str(), "staging-db.md");
    let newer = PlaceExchange::OlderThan(hits[0].memory.file.clone());
    assert_eq!(hits[1].exchanged.as_ref(), Some(&newer));
}

#[test]
fn it_does_so_in_chinese() {
    let world = World::new();
    fill(&world);
    let body = "测试环境的数据库监听 5433 端口，要先连跳板机。";
    memory(&world, "staging.md", "project", 3, "测试环境数据库的端口", body);
    let body = "测试环境的数据库改到连接池后面了，用 6432 端口连接。";
    memory(&world, "pool.md", "project", 9, "测试环境数据库走连接池", body);
    let hits = ask(&world, "测试环境的数据库监听哪个端口？");
    assert_eq!(first(&hits), ("pool.md", Some("staging.md")), "{hits:?}");
}

#[test]
fn an_older_memory_takes_no_place_and_neither_does_one_of_another_type() {
    for (kind, month) in [("project", 1), ("feedback", 9)] {
        let world = World::new();
        fill(&world);
        old(&world);
        new(&world, kind, month);
        assert_eq!(first(&ask(&world, QUESTION)), ("staging-db.md", None), "{kind} {month}");
    }
}

#[test]
fn a_newer_memory_about_something_else_takes_no_place() {
    let world = World::new();
    fill(&world);
    old(&world);
    let body = "Snapshots of every database are kept for thirty days in cold storage.";
    memory(&world, "snapshots.md", "project", 9, "How long snapshots are kept", body);
    let hits = ask(&world, QUESTION);
    assert_eq!(first(&hits), ("staging-db.md", None));
    assert_eq!(hits[1].memory.file.as_str(), "snapshots.md", "it was considered: {hits:?}");
}

#[test]
fn a_newer_memory_about_what_was_not_asked_for_takes_no_place() {
    for ([old, old_body], [new, new_body], question) in [
        (
            ["Marta reviews changes of payment code", "Ask her in the channel."],
            ["Deniz reviews changes of shipping code", "Ask him in the channel."],
            "who is Marta?",
        ),
        (
            ["API v1 allows 100 requests a minute", "Answer 429 above that."],
            ["API v2 allows 600 requests a minute", "Answer 429 above that."],
            "how many requests does API v1 allow in a minute?",
        ),
        (
            ["测试环境用账号 tester01 登录", "密码在密码库里。"],
            ["预发环境用账号 stage02 登录", "密码在密码库里。"],
            "测试环境用哪个账号登录？",
        ),
    ] {
        let world = World::new();
        fill(&world);
        memory(&world, "old.md", "project", 3, old, old_body);
        memory(&world, "new.md", "project", 9, new, new_body);
        assert_eq!(first(&ask(&world, question)), ("old.md", None), "{question}");
    }
}

#[test]
fn the_number_of_results_and_a_time_to_come_change_nothing() {
    let world = World::new();
    fill(&world);
    old(&world);
    new(&world, "project", 9);
    let only = ask_for(&world, QUESTION, 1);
    assert_eq!((first(&only), only.len()), (("pgbouncer.md", Some("staging-db.md")), 1));
    let text = world.text("staging-db.md").replacen("2026-03", "2126-03", 1);
    world.write("staging-db.md", &text);
    let before_both = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_700_000_000);
    let file =
        std::fs::File::options().append(true).open(world.memory().join("staging-db.md")).unwrap();
    file.set_modified(before_both).unwrap();
    assert_eq!(first(&ask(&world, QUESTION)), ("pgbouncer.md", Some("staging-db.md")));
}

#[test]
fn what_is_pinned_keeps_its_place_and_what_is_less_trusted_takes_none() {
    for (file, line) in [
        ("staging-db.md", "pinned: true"),
        ("pgbouncer.md", "quarantined: true"),
        ("pgbouncer.md", "trust: concluded"),
    ] {
        let world = World::new();
        fill(&world);
        old(&world);
        new(&world, "project", 9);
        let text = world.text(file);
        world.write(file, &text.replacen("type:", &format!("{line}\ntype:"), 1));
        assert_eq!(first(&ask(&world, QUESTION)), ("staging-db.md", None), "{line}");
    }
}

#[test]
fn facts_without_a_description_keep_their_places() {
    let world = World::new();
    for number in 0..6 {
        world.write(&format!("other{number}.md"), "Bread is baked on Sundays.\n");
    }
    for (file, month, body) in [
        ("old.md", 3, "The staging database listens on port 5433."),
        ("new.md", 9, "The staging database is now on port 6432."),
    ] {
        let text = format!("---\nmodified: 2026-{month:02}-01T00:00:00Z\n---\n{body}\n");
        world.write(file, &text);
    }
    assert_eq!(first(&ask(&world, QUESTION)), ("old.md", None));
}
