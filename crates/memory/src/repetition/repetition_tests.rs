//! Texts that say the same, and texts that do not.

use proptest::prelude::*;

use super::*;

/// Whether the first text says the second.
fn says(known: &str, proposed: &str) -> bool {
    find_repeated(&Claims::of(proposed), &[Claims::of(known)]).is_some()
}

/// The pairs of a table: whether they say the same, what is known, what is proposed.
fn pairs(table: &'static str) -> Vec<(bool, &'static str, &'static str)> {
    let lines = table.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let (verdict, texts) = line.split_once(' ').unwrap();
            let (known, proposed) = texts.split_once(" => ").unwrap();
            assert!(matches!(verdict, "same" | "new"), "{line}");
            (verdict == "same", known, proposed)
        })
        .collect()
}

/// Pairs that are judged wrongly.
fn misjudged(table: &'static str) -> Vec<(bool, &'static str, &'static str)> {
    let mut pairs = pairs(table);
    pairs.retain(|(is_same, known, proposed)| says(known, proposed) != *is_same);
    pairs
}

#[test]
fn the_pairs_are_judged_as_people_do() {
    let missed = (true, "The backup runs every night at 2 am.", "备份在每天夜里凌晨2点运行");
    assert_eq!(misjudged(include_str!("pairs.txt")), [missed]);
}

/// What it is worth on texts that it was not made with stands in the results of the benchmark `echo`; this keeps
/// it from becoming worse unnoticed.
#[test]
fn pairs_that_were_not_used_are_judged_well() {
    let wrong = misjudged(include_str!("unseen.txt"));
    let missed = wrong.iter().filter(|(is_same, ..)| *is_same).count();
    assert!(missed <= 8 && wrong.len() - missed <= 3, "{wrong:#?}");
}

#[test]
fn politeness_and_who_says_it_make_no_other_statement() {
    for (_, known, _) in pairs(include_str!("pairs.txt")) {
        assert!(says(known, known), "{known}");
        assert!(says(known, &format!("Please remember: {known}")), "{known}");
        assert!(says(known, &format!("请记住：{known}")), "{known}");
        assert!(says(&format!("{known}\n\nThe wiki lists all hedgehogs."), known), "{known}");
    }
}

#[test]
fn several_texts_together_say_it_and_the_one_that_says_most_is_named() {
    let known = ["The linter is Biome.", "Use pnpm. Commit the lockfile.", "Ann owns billing."];
    let known = known.map(Claims::of);
    let proposed = Claims::of("Use pnpm, and commit the lockfile. Ann owns billing. pnpm is used.");
    assert_eq!(find_repeated(&proposed, &known), Some(1));
    let more = Claims::of("Use pnpm. Ann owns billing. Bob owns search.");
    assert_eq!(find_repeated(&more, &known), None);
    assert_eq!(find_repeated(&Claims::of("Ann owns billing."), &known), Some(2));
}

#[test]
fn words_from_here_and_there_are_no_statement() {
    let known = ["The API is on port 8080.", "The cache is fast."].map(Claims::of);
    assert_eq!(find_repeated(&Claims::of("The cache is on port 8080."), &known), None);
}

#[test]
fn the_same_with_a_negation_more_or_less_is_a_contradiction() {
    let contradicts = |known, proposed| {
        let relation = TextRelation::of(&Claims::of(proposed), &Claims::of(known));
        relation == Some(TextRelation::Contradicts)
    };
    for (known, proposed) in [
        (
            "Never mock the database in integration tests.",
            "Mock the database in integration tests.",
        ),
        ("Integration tests mock the database.", "Integration tests must not mock the database."),
        ("集成测试里不要模拟数据库。", "集成测试里模拟数据库。"),
        ("Never mock the database in integration tests.", "集成测试里模拟数据库。"),
        ("Commit to main. Do not push on Fridays.", "Push on Fridays."),
    ] {
        assert!(contradicts(known, proposed), "{known} / {proposed}");
    }
    for (known, proposed) in [
        ("Never mock the database in integration tests.", "Never mock the database in tests."),
        ("Never mock the database in integration tests.", "Mock the clock in unit tests."),
        ("Use pnpm, not npm.", "Use pnpm."),
        ("Do not deploy on Fridays.", "Deploy with the script in tools/deploy."),
        ("集成测试里不要模拟数据库。", "单元测试里模拟时钟。"),
        ("Deploy on Monday. Never deploy on Friday.", "Deploy on Monday."),
    ] {
        assert!(!contradicts(known, proposed), "{known} / {proposed}");
    }
}

#[test]
fn nothing_is_neither_known_nor_new() {
    for nothing in ["", "  \n", "…!?", "Please, thanks!", "好的，谢谢"] {
        let claims = Claims::of(nothing);
        assert!(claims.is_empty(), "{nothing}");
        assert_eq!(find_repeated(&claims, &[Claims::of("Use pnpm.")]), None);
    }
    assert_eq!(find_repeated(&Claims::of("Use pnpm."), &[]), None);
}

#[test]
fn a_memory_is_read_with_all_that_markdown_has() {
    let memory = "Releases are cut on Thursdays.\n\n**Why:** support is away on Fridays.\n\n\
                  **How to apply:** never plan a release for a Friday.\n";
    assert!(says(memory, "Cut releases on Thursday"));
    assert!(says(memory, "周五不要计划发布"));
    assert!(!says(memory, "Releases are cut on Fridays."));
    assert!(!says(memory, "Support is away on Thursdays."));
}

proptest! {
    #[test]
    fn any_text_can_be_read(known in "\\PC{0,80}", proposed in "[a-z0-9不要用周一二月日.,:/@_ -]{0,60}") {
        let (known, proposed) = (Claims::of(&known), Claims::of(&proposed));
        let found = find_repeated(&proposed, std::slice::from_ref(&known));
        prop_assert!(found.is_none() || !proposed.is_empty());
    }

    #[test]
    fn every_text_says_itself_in_any_order_of_sentences(
        order in Just(pairs(include_str!("pairs.txt"))).prop_shuffle(),
    ) {
        let texts: Vec<&str> = order.iter().take(6).map(|(_, known, _)| *known).collect();
        let mut backwards = texts.clone();
        backwards.reverse();
        prop_assert!(says(&texts.join("\n"), &backwards.join("\n")));
    }

    #[test]
    fn another_number_is_another_statement(first in 2_u32..5000, second in 2_u32..5000) {
        let text = |number: u32| format!("The queue holds {number} jobs.");
        prop_assert_eq!(says(&text(first), &text(second)), first == second);
        let chinese = format!("队列里有 {second} 个作业");
        prop_assert_eq!(says(&text(first), &chinese), first == second);
    }

    #[test]
    fn another_day_is_another_statement(day in 1_u32..28, other in 1_u32..28, month in 1_u32..=12) {
        let known = format!("The deadline is 2027-{month:02}-{day:02}.");
        prop_assert_eq!(says(&known, &format!("截止日期是{month}月{other}日")), day == other);
    }
}
