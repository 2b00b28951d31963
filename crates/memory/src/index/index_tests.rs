//! The index: hand-made text stays, limits hold, what ranks first is loaded.

use proptest::prelude::*;

use super::*;

const HAND_MADE: &str = "# Memory\n\nWhat I want kept.\n\n## Databases\n* [Test db](test-db.md) - port 5433\n  a note below it\n+ [Other](sub/other.md): colon\n\n<!-- - [Hidden](hidden.md) — in a comment -->\n<!--\n- [Hidden](hidden.md)\n-->\n```\n- [Code](code.md) — in code\n```\n- [site](https://example.org/a.md) — no memory\n1. [odd](odd.md)\n\n## People\n- [Ann](ann.md)\n\ntail without end";

fn link(name: &str, file: &str, hook: &str) -> IndexLink {
    IndexLink { name: name.into(), file: file.into(), hook: hook.into() }
}

#[test]
fn lines_of_every_kind_are_read() {
    let index = MemoryIndex::parse(HAND_MADE);
    let links: Vec<IndexLink> = index.links().collect();
    assert_eq!(
        links,
        [
            link("Test db", "test-db.md", "port 5433"),
            link("Other", "sub/other.md", "colon"),
            link("Ann", "ann.md", "")
        ]
    );
    assert_eq!(index.to_text(), HAND_MADE);
}

#[test]
fn only_the_line_in_question_changes() {
    let mut index = MemoryIndex::parse(HAND_MADE);
    assert_eq!(index.put(&link("Test db", "test-db.md", "port 5433")), IndexUpdate::Same);
    assert_eq!(index.to_text(), HAND_MADE);
    assert_eq!(index.put(&link("Test db", "TEST-db.md", "port 1")), IndexUpdate::Changed);
    assert_eq!(
        index.to_text(),
        HAND_MADE
            .replace("* [Test db](test-db.md) - port 5433", "* [Test db](TEST-db.md) — port 1")
    );
    let mut index = MemoryIndex::parse(HAND_MADE);
    assert_eq!(index.put(&IndexLink::new("New [x]", "n (1).md", "hook")), IndexUpdate::Added);
    let added = HAND_MADE.replace("(ann.md)\n", "(ann.md)\n- [New \\[x\\]](<n (1).md>) — hook\n");
    assert_eq!(index.to_text(), added);
    assert!(index.find("n (1).md").is_some());
    assert!(index.remove("n (1).md"));
    assert_eq!(index.to_text(), HAND_MADE);
    assert!(!index.remove("hidden.md"));
}

#[test]
fn a_missing_line_end_is_added_and_kinds_of_ends_kept() {
    let mut index = MemoryIndex::parse("- [A](a.md)\r\n- [B](b.md)");
    index.put(&link("C", "c.md", "x"));
    assert_eq!(index.to_text(), "- [A](a.md)\r\n- [B](b.md)\r\n- [C](c.md) — x\r\n");
    let mut double = MemoryIndex::parse("- [A](a.md)\n- [A again](a.md)\n");
    assert_eq!(double.remove_duplicates(), 1);
    assert_eq!(double.to_text(), "- [A](a.md)\n");
}

#[test]
fn our_lines_are_short() {
    let long = IndexLink::new("Name", "file.md", &"word ".repeat(100)).render();
    assert!(long.chars().count() <= LONGEST_LINE, "{long}");
}

#[test]
fn of_400_lines_the_200_that_rank_first_are_loaded() {
    let text: String =
        (0..400).fold(String::new(), |text, n| text + &format!("- [M{n}](m{n}.md) — hook {n}\n"));
    let rank = |file: &str| match file {
        "m399.md" => LoadPriority::Pinned,
        "m398.md" | "m300.md" => LoadPriority::Written,
        "m250.md" => LoadPriority::Recalled,
        _ => LoadPriority::Rest,
    };
    let loaded = load(&text, IndexLimits::FULL, rank);
    let lines: Vec<&str> = loaded.text.lines().collect();
    assert_eq!(lines.len(), 200);
    assert_eq!(lines[195], "- [M195](m195.md) — hook 195");
    assert_eq!(
        lines[196..],
        [
            "- [M250](m250.md) — hook 250",
            "- [M300](m300.md) — hook 300",
            "- [M398](m398.md) — hook 398",
            "- [M399](m399.md) — hook 399"
        ]
    );
    assert_eq!(loaded.left_out, 200);
    let warning = loaded.warning.unwrap();
    assert!(warning.contains("400 lines, 200 more than the limit of 200"), "{warning}");
    assert!(!warning.contains("bytes"), "{warning}");
}

#[test]
fn bytes_are_cut_at_a_line_and_a_single_long_line_at_a_character() {
    let text = format!("{}\n", "é".repeat(60)).repeat(210);
    let loaded = load(&text, IndexLimits::FULL, |_| LoadPriority::Rest);
    assert_eq!(loaded.text, format!("{}\n", "é".repeat(60)).repeat(200));
    let text = format!("- [A](a.md) — {}\n", "é".repeat(1_000)).repeat(20);
    let loaded = load(&text, IndexLimits::FULL, |_| LoadPriority::Rest);
    assert!(loaded.text.ends_with('\n') && text.starts_with(&loaded.text));
    assert_eq!(loaded.text.lines().count(), 12);
    let single = "é".repeat(20_000);
    assert_eq!(load(&single, IndexLimits::FULL, |_| LoadPriority::Rest).text, "é".repeat(12_500));
}

#[test]
fn nearly_full_is_said_from_four_fifths() {
    assert!(!fill(&"a\n".repeat(159)).is_nearly_full());
    assert!(fill(&"a\n".repeat(160)).is_nearly_full());
    assert!(fill(&"a".repeat(20_000)).is_nearly_full());
}

proptest! {
    #[test]
    fn any_text_stays(text in any::<String>(), lines in prop::collection::vec("[-*+ \\[\\]()a<>.md—:`]{0,20}", 0..10)) {
        prop_assert_eq!(MemoryIndex::parse(&text).to_text(), text);
        let text = lines.join("\n");
        prop_assert_eq!(MemoryIndex::parse(&text).to_text(), text);
    }

    #[test]
    fn what_is_put_is_found_once(lines in "([-a \\[\\]().md]{0,12}\n){0,8}", name in "\\PC{1,20}", hook in "\\PC{0,200}") {
        let mut index = MemoryIndex::parse(&lines);
        let before = index.to_text();
        let link = IndexLink::new(&name, "file name.md", &hook);
        index.put(&link);
        let text = index.to_text();
        let read = MemoryIndex::parse(&text);
        prop_assert_eq!(&read, &index);
        prop_assert_eq!(read.links().filter(|found| found.file == "file name.md").count(), 1);
        prop_assert_eq!(&read.find("file name.md").unwrap().name, &link.name);
        prop_assert_eq!(index.put(&link), IndexUpdate::Same);
        index.remove("file name.md");
        let after = index.to_text();
        prop_assert_eq!(after.trim_end(), before.trim_end());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn the_limits_hold(lines in prop::collection::vec(prop_oneof!["[a-z]{0,40}", "é{0,400}", "- \\[N\\]\\([a-z]{1,3}.md\\) — 长{0,90}"], 0..500), pinned in "[a-z]{1,2}.md") {
        let text: String = lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
        let loaded = load(&text, IndexLimits::FULL, |file| if file == pinned { LoadPriority::Pinned } else { LoadPriority::Rest });
        let size = fill(&loaded.text);
        prop_assert!(size.lines <= LOADED_LINES && size.bytes <= LOADED_BYTES);
        if loaded.warning.is_none() {
            prop_assert_eq!(&loaded.text, &text);
        } else {
            prop_assert!(fill(&text).lines > LOADED_LINES || text.len() > LOADED_BYTES);
            // What is shown is a part of the file, in its order.
            let mut rest = text.lines();
            prop_assert!(loaded.text.lines().all(|line| rest.any(|other| other == line)));
        }
    }
}
