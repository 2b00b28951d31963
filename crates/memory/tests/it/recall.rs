//! Recalling from real directories: what is found and why, and that the index is never believed more than
//! the files (R-5, R-6, M-17).

use dormouse_memory::recall::{
    MAX_CANDIDATES, MAX_USER_RULE_BYTES, MemoryHit, MemoryQuery, MemoryRanking, MemorySearch,
    QuarantineFilter, RecallChoice,
};
use dormouse_search::{MatchKind, RecallTier};
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use dormouse_base::Clock;
use dormouse_memory::{Expected, MemoryType, Trust};
use proptest::prelude::*;

use crate::world::{World, file, note, person};

impl World {
    fn cache(&self) -> PathBuf {
        self.root.join("cache")
    }

    fn recall(&self) -> MemorySearch {
        MemorySearch::open(vec![Arc::new(self.store())], Some(&self.cache()))
    }

    fn index_file(&self, name: &str) -> PathBuf {
        let folder = fs::read_dir(self.cache().join("recall")).unwrap().next().unwrap().unwrap();
        folder.path().join(name)
    }
}

fn ask(world: &World, recall: &MemorySearch, text: &str) -> MemoryRanking {
    recall.query(&MemoryQuery::new(text, 10, world.clock.now())).unwrap()
}

fn files(ranking: &MemoryRanking) -> Vec<&str> {
    ranking.hits.iter().map(|hit| hit.memory.file.as_str()).collect()
}

fn first(ranking: &MemoryRanking) -> &MemoryHit {
    &ranking.hits[0]
}

#[test]
fn memories_are_found_by_what_they_are_about() {
    let world = World::new();
    world.write(
        "port.md",
        "---\nname: Test database\ndescription: where it listens\n---\nPort 5433.\n",
    );
    world.write("parser.md", "Call `parseFrontMatter` in src/front_matter.rs, never serde.\n");
    world.write("cat.md", "用户养了一只猫。\n");
    world.write("migrations.md", "数据库迁移很慢，先做备份。\n");
    world.write("shoes.md", "She bought new running shoes for the children.\n");
    world.write("repo.md", "The repository moved to the new host.\n");
    let recall = world.recall();
    for (question, expected) in [
        ("which port do the tests' databases use", "port.md"),
        ("parse front matter", "parser.md"),
        ("front_matter.rs", "parser.md"),
        ("parsefrontmatter", "parser.md"),
        ("猫", "cat.md"),
        ("迁移", "migrations.md"),
        ("慢", "migrations.md"),
        ("who buys shoes for a child", "shoes.md"),
        ("where is the repo", "repo.md"),
        ("the reposittory", "repo.md"),
        ("RÉPOSITORY", "repo.md"),
    ] {
        let ranking = ask(&world, &recall, question);
        assert_eq!(files(&ranking).first(), Some(&expected), "{question}: {ranking:?}");
    }
    assert_eq!(files(&ask(&world, &recall, "the of and")), Vec::<&str>::new());
    assert_eq!(files(&ask(&world, &recall, "")), Vec::<&str>::new());
}

#[test]
fn a_ranking_says_why() {
    let world = World::new();
    world.write("moved.md", "The repository moved.\n");
    world.write("other.md", "Something else entirely.\n");
    let ranking = ask(&world, &world.recall(), "did the repo move");
    let why: Vec<_> = first(&ranking)
        .matches
        .iter()
        .map(|why| (why.word.as_str(), why.term.as_str(), why.kind))
        .filter(|(_, _, fit)| *fit != MatchKind::Company)
        .collect();
    assert_eq!(
        why,
        [("move", "move", MatchKind::Same), ("repo", "repositori", MatchKind::Related)]
    );
    assert_eq!((ranking.searched, ranking.omitted), (2, 0));
}

#[test]
fn sure_or_nothing() {
    let world = World::new();
    for number in 0..30 {
        world.write(&format!("filler{number}.md"), "Notes about gardening and the weather.\n");
    }
    world.write("port.md", "The test database listens on port 5433.\n");
    let recall = world.recall();
    let sure = |text: &str| RecallChoice::of(ask(&world, &recall, text)).sure.len();
    assert_eq!(sure("which port has the test database"), 1);
    assert_eq!(sure("please book a table at the port in Lisbon for Amelia"), 0);
    assert_eq!(sure("how do monads compose"), 0);
    // Thirty memories say the same: none of them is meant.
    assert_eq!(sure("gardening and the weather"), 0);
}

#[test]
fn a_match_is_as_sure_in_a_small_store_as_in_a_large_one() {
    let confidence = |others: usize| {
        let world = World::new();
        world.write(
            "database.md",
            "---\nname: integration-tests\ndescription: Integration tests use a real database\n---\nNo mocks.\n",
        );
        for number in 0..others {
            let text = format!(
                "The comet {number} is observed above ten degrees, after the crane has left.\n"
            );
            world.write(&format!("comet{number}.md"), &text);
        }
        let text = "write integration tests for the database layer";
        let ranking = ask(&world, &world.recall(), text);
        assert_eq!(first(&ranking).memory.file.as_str(), "database.md");
        assert_eq!(first(&ranking).tier, RecallTier::Sure, "among {others}");
        first(&ranking).confidence
    };
    let alone = confidence(0);
    for others in [4, 49, 500] {
        let among = confidence(others);
        assert!((among - alone).abs() < 0.1, "{alone} alone, {among} among {others}");
    }
}

#[test]
fn rules_come_by_the_kind_of_task_and_once() {
    let world = World::new();
    let rule = |name: &str, description: &str, kind: &str| {
        let head = format!("---\nname: {name}\ndescription: {description}\ntype: {kind}\n---\n");
        world.write(&format!("{name}.md"), &format!("{head}{description}.\n"));
    };
    rule("tabs", "Indent with tabs", "feedback");
    rule("summary", "No summary at the end", "feedback");
    rule("commits", "Small commits", "feedback");
    rule("kiln", "Comments about the kiln are in English", "feedback");
    rule("decided", "Indent with tabs", "project");
    let recall = world.recall();
    let rules = |text: &str, exclude: &BTreeSet<_>| {
        let query = MemoryQuery { exclude, ..MemoryQuery::new(text, 10, world.clock.now()) };
        let rules = recall.standing_rules(&query).unwrap();
        let mut names: Vec<String> =
            rules.iter().map(|hit| hit.memory.file.stem().to_owned()).collect();
        names.sort();
        names
    };
    let nothing = BTreeSet::new();
    assert_eq!(rules("write a function that parses dates", &nothing), ["summary", "tabs"]);
    assert_eq!(rules("what does this function do?", &nothing), ["summary"]);
    assert_eq!(rules("commit the changes", &nothing), ["commits", "summary"]);
    let seen = BTreeSet::from([(0, file("summary.md"))]);
    assert_eq!(rules("write a function that parses dates", &seen), ["tabs"]);
    let query = MemoryQuery::new("write a function", 10, world.clock.now());
    let choice = RecallChoice::of(recall.query(&query).unwrap())
        .with_rules(recall.standing_rules(&query).unwrap());
    assert_eq!(choice.sure.len(), 2, "rules are shown whole");
}

#[test]
fn memories_about_the_user_take_a_thousand_bytes_of_a_session() {
    let world = World::new();
    for number in 0..3 {
        let text = format!(
            "---\nname: answers-{number}\ndescription: Short answers\ntype: user\n---\n{}\n",
            "Few words. ".repeat(30)
        );
        world.write(&format!("answers{number}.md"), &text);
    }
    let recall = world.recall();
    let query = MemoryQuery::new("how are you?", 10, world.clock.now());
    let rules = recall.standing_rules(&query).unwrap();
    assert_eq!(rules.len(), 2);
    assert!(rules.iter().map(|hit| hit.memory.size).sum::<u64>() <= MAX_USER_RULE_BYTES);
    let exclude = rules.iter().map(|hit| (hit.store_index, hit.memory.file.clone())).collect();
    let later = MemoryQuery { exclude: &exclude, ..query };
    assert!(recall.standing_rules(&later).unwrap().is_empty(), "the third does not come later");
}

#[test]
fn a_description_with_a_colon_needs_no_quotes() {
    let world = World::new();
    let text = "---\nname: Deploys\ndescription: Deploys: only on Mondays\ntype: project\ntrust: tool\n---\nAsk Marta.\n";
    world.write("deploys.md", text);
    let ranking = ask(&world, &world.recall(), "on which days are deploys allowed?");
    let memory = &ranking.hits[0].memory;
    assert_eq!(memory.header.description.as_deref(), Some("Deploys: only on Mondays"));
    assert_eq!(memory.header.kind, Some(MemoryType::Project));
    assert_eq!(
        memory.header.effective_trust(),
        Trust::Tool,
        "an instruction to trust it less is read as well"
    );
}

#[test]
fn our_own_writes_are_found_at_once_by_everybody() {
    let world = World::new();
    let (store, recall, other) = (world.store(), world.recall(), world.recall());
    assert_eq!(files(&ask(&world, &recall, "walrus")), Vec::<&str>::new());
    assert_eq!(files(&ask(&world, &other, "walrus")), Vec::<&str>::new());
    store.change(&person(), |plan| plan.save(&note("Walrus", "A walrus.")).map(drop)).unwrap();
    assert_eq!(files(&ask(&world, &recall, "walrus")), ["walrus.md"]);
    assert_eq!(files(&ask(&world, &other, "walrus")), ["walrus.md"]);
    let text = b"---\nname: Otter\n---\nAn otter.\n";
    store
        .change(&person(), |plan| plan.write(&file("walrus.md"), text, &Expected::Present))
        .unwrap();
    assert_eq!(files(&ask(&world, &recall, "walrus")), Vec::<&str>::new());
    assert_eq!(files(&ask(&world, &other, "otter")), ["walrus.md"]);
    store.change(&person(), |plan| plan.delete(&file("walrus.md"), &Expected::Present)).unwrap();
    assert_eq!(files(&ask(&world, &recall, "otter")), Vec::<&str>::new());
    // Whoever comes later reads what was written down.
    assert_eq!(ask(&world, &world.recall(), "otter").searched, 0);
}

#[test]
fn others_changes_are_found_by_a_look() {
    let world = World::new();
    world.write("a.md", "A walrus.\n");
    let recall = world.recall();
    assert_eq!(files(&ask(&world, &recall, "walrus")), ["a.md"]);
    world.write("b.md", "Another walrus.\n");
    fs::remove_file(world.memory().join("a.md")).unwrap();
    world.days_later(1);
    let before = ask(&world, &recall, "walrus");
    // The index is believed only as far as the files bear it out.
    assert_eq!((files(&before), before.age.as_hours()), (Vec::new(), 24));
    recall.rescan(world.clock.now()).unwrap();
    let after = ask(&world, &recall, "walrus");
    assert_eq!((files(&after), after.age.as_secs()), (vec!["b.md"], 0));
    assert_eq!(files(&ask(&world, &world.recall(), "walrus")), ["b.md"]);
}

#[test]
fn a_quarantined_memory_is_never_given_to_a_model() {
    let world = World::new();
    world.write("a.md", "---\nquarantined: true\n---\nA walrus.\n");
    world.write("b.md", "A walrus.\n");
    let recall = world.recall();
    assert_eq!(files(&ask(&world, &recall, "walrus")), ["b.md"]);
    // The index does not know yet; the file does.
    world.write("b.md", "---\nquarantined: true\n---\nA walrus.\n");
    assert_eq!(files(&ask(&world, &recall, "walrus")), Vec::<&str>::new());
    let mut query = MemoryQuery::new("walrus", MAX_CANDIDATES, world.clock.now());
    assert_eq!(recall.candidates(&query).unwrap().len(), 0);
    query.quarantined = QuarantineFilter::Include;
    assert_eq!(recall.query(&query).unwrap().hits.len(), 2);
}

#[test]
fn a_memory_about_an_open_file_is_likely_and_with_words_besides_sure() {
    let world = World::new();
    let anchor = "src/lexer.rs 0123456789abcdef";
    world.write(
        "lexer.md",
        &format!("---\nname: Lexer speed\nanchors:\n  - {anchor}\n---\nIt must not allocate.\n"),
    );
    for number in 0..20 {
        world.write(&format!("n{number}.md"), "Gardening.\n");
    }
    let recall = world.recall();
    let tier = |text: &str, open: &str| {
        let query = MemoryQuery {
            files: &[open.to_owned()],
            ..MemoryQuery::new(text, 5, world.clock.now())
        };
        let ranking = recall.query(&query).unwrap();
        ranking.hits.first().map(|hit| (hit.memory.file.to_string(), hit.tier))
    };
    let lexer = |tier| Some(("lexer.md".to_owned(), tier));
    assert_eq!(tier("make it shorter", "src/main.rs"), None);
    assert_eq!(tier("can you improve it", "src/lexer.rs"), lexer(RecallTier::Likely));
    assert_eq!(tier("improve the speed", "src/lexer.rs"), lexer(RecallTier::Sure));
}

#[test]
fn an_open_file_takes_nothing_from_the_words_of_a_long_message() {
    let world = World::new();
    world.write(
        "lexer.md",
        "---\nanchors:\n  - src/lexer.rs 0123456789abcdef\n---\nThe lexer must not allocate.\n",
    );
    for number in 0..20 {
        world.write(&format!("n{number}.md"), "Gardening.\n");
    }
    let recall = world.recall();
    let hits = |sentences: usize, files: &[String]| {
        let text = "We looked at it today. ".repeat(sentences) + "Why does the lexer allocate?";
        let query = MemoryQuery { files, ..MemoryQuery::new(&text, 5, world.clock.now()) };
        recall.query(&query).unwrap().hits
    };
    for sentences in [0, 2, 6] {
        let (without, with) = (hits(sentences, &[]), hits(sentences, &["src/lexer.rs".to_owned()]));
        assert_eq!((without.len(), with.len()), (1, 1), "each memory once");
        assert!(with[0].score > without[0].score, "{sentences}: {with:?} {without:?}");
    }
}

#[test]
fn candidates_are_the_best_and_then_the_newest() {
    let world = World::new();
    for number in 0..300 {
        world.write(&format!("n{number}.md"), "Gardening.\n");
    }
    world.write("port.md", "The test database listens on port 5433.\n");
    let exclude = BTreeSet::from([(0, file("n7.md"))]);
    let query = MemoryQuery {
        exclude: &exclude,
        ..MemoryQuery::new("database port", MAX_CANDIDATES, world.clock.now())
    };
    let candidates = world.recall().candidates(&query).unwrap();
    assert_eq!(candidates.len(), MAX_CANDIDATES);
    assert_eq!(candidates[0].memory.file, file("port.md"));
    assert!(candidates.iter().all(|hit| hit.memory.file != file("n7.md")));
    let distinct: BTreeSet<_> = candidates.iter().map(|hit| &hit.memory.file).collect();
    assert_eq!(distinct.len(), MAX_CANDIDATES);
}

#[test]
fn a_cache_that_is_lost_or_damaged_is_made_again() {
    let world = World::new();
    world.write("a.md", "A walrus.\n");
    assert_eq!(files(&ask(&world, &world.recall(), "walrus")), ["a.md"]);
    for name in ["base", "delta", "walked"] {
        let whole = fs::read(world.index_file(name)).unwrap();
        let damages: [&dyn Fn(); 4] = [
            &|| fs::remove_file(world.index_file(name)).unwrap(),
            &|| fs::write(world.index_file(name), &whole[..whole.len() / 2]).unwrap(),
            &|| fs::write(world.index_file(name), b"").unwrap(),
            &|| {
                let mut damaged = whole.clone();
                damaged[whole.len() / 3] ^= 0x55;
                fs::write(world.index_file(name), damaged).unwrap();
            },
        ];
        for damage in damages {
            damage();
            assert_eq!(files(&ask(&world, &world.recall(), "walrus")), ["a.md"], "{name}");
            // It is whole again: a change from outside is not seen without a look.
            let recall = world.recall();
            world.write("b.md", "A walrus.\n");
            assert_eq!(ask(&world, &recall, "walrus").searched, 1, "{name}");
            fs::remove_file(world.memory().join("b.md")).unwrap();
        }
    }
    fs::remove_dir_all(world.cache()).unwrap();
    assert_eq!(files(&ask(&world, &world.recall(), "walrus")), ["a.md"]);
    fs::remove_dir_all(world.cache()).unwrap();
    fs::write(world.cache(), "no folder").unwrap();
    assert_eq!(files(&ask(&world, &world.recall(), "walrus")), ["a.md"]);
}

/// Several at once, each with an index of its own in the same place, while memories are written.
#[test]
fn nobody_misses_a_word_when_several_write() {
    let world = World::new();
    let store = world.store();
    std::thread::scope(|scope| {
        for worker in 0..4 {
            let (world, store) = (&world, &store);
            scope.spawn(move || {
                let recall = world.recall();
                for number in 0..20 {
                    let name = format!("walrus{worker}x{number}");
                    let memory = note(&name, "An animal.");
                    store.change(&person(), |plan| plan.save(&memory).map(drop)).unwrap();
                    let found = ask(world, &recall, &name);
                    assert_eq!(files(&found).first(), Some(&format!("{name}.md").as_str()));
                    if number % 5 == 0 {
                        recall.rescan(world.clock.now()).unwrap();
                    }
                }
            });
        }
    });
    let recall = world.recall();
    assert_eq!(ask(&world, &recall, "animal").searched, 80);
    assert_eq!(all_scores(&world, &recall), all_scores(&world, &rebuilt(&world)));
}

fn rebuilt(world: &World) -> MemorySearch {
    MemorySearch::open(vec![Arc::new(world.store())], None)
}

fn all_scores(world: &World, recall: &MemorySearch) -> Vec<Vec<(String, f64)>> {
    let questions = ["animal", "walrus otter", "when did the otter eat fish", "鱼", "吃鱼的海象"];
    let scores = |question: &&str| {
        let ranking = ask(world, recall, question);
        ranking.hits.iter().map(|hit| (hit.memory.file.to_string(), hit.score)).collect()
    };
    questions.iter().map(scores).collect()
}

#[derive(Debug, Clone)]
enum Step {
    Save(usize, usize),
    Delete(usize),
    Outside(usize, usize),
    RemoveOutside(usize),
    Look,
    Reopen,
}

const TEXTS: [&str; 5] = [
    "A walrus eats fish.",
    "An otter eats fish every day, yesterday as well; the otter sleeps.",
    "海象每天吃鱼。",
    "An animal, and another animal, and an otter.",
    "---\nname: Otter\ndescription: walrus fish\ntype: user\ncreated: 2026-03-07\n---\nAn otter.",
];

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0..12_usize, 0..TEXTS.len()).prop_map(|(file, text)| Step::Save(file, text)),
        (0..12_usize).prop_map(Step::Delete),
        (0..12_usize, 0..TEXTS.len()).prop_map(|(file, text)| Step::Outside(file, text)),
        (0..12_usize).prop_map(Step::RemoveOutside),
        Just(Step::Look),
        Just(Step::Reopen),
    ]
}

fn path_of(number: usize) -> String {
    format!("m{number}.md")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// However the index came about, it answers as one built anew.
    #[test]
    fn an_index_that_grew_is_one_that_was_built(steps in prop::collection::vec(step(), 1..25)) {
        let world = World::new();
        let store = world.store();
        let mut recall = world.recall();
        for step in steps {
            match step {
                Step::Save(number, text) => {
                    let text = TEXTS[text].as_bytes();
                    store.change(&person(), |plan| plan.write(&file(&path_of(number)), text, &Expected::Anything)).unwrap();
                }
                Step::Delete(number) => {
                    let gone = store.change(&person(), |plan| plan.delete(&file(&path_of(number)), &Expected::Anything));
                    drop(gone);
                }
                Step::Outside(number, text) => world.write(&path_of(number), &format!("{} ", TEXTS[text])),
                Step::RemoveOutside(number) => drop(fs::remove_file(world.memory().join(path_of(number)))),
                Step::Look => recall.rescan(world.clock.now()).unwrap(),
                Step::Reopen => recall = world.recall(),
            }
            all_scores(&world, &recall);
        }
        recall.rescan(world.clock.now()).unwrap();
        prop_assert_eq!(all_scores(&world, &recall), all_scores(&world, &rebuilt(&world)));
        prop_assert_eq!(all_scores(&world, &world.recall()), all_scores(&world, &rebuilt(&world)));
    }
}
