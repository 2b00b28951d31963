//! The viewer in a real browser with much to show: 10,000 memories, and a session of 50 MB.

use std::fmt::Write as _;
use std::path::Path;

use dormouse_testkit::{Browser, TestHome};
use serde_json::json;

use crate::ui_browser::{TOO_WIDE, keep_picture, tools};
use crate::ui_client::{ViewerClient, add_memory};

const MEMORIES: usize = 10_000;
const SESSION_BYTES: usize = 50_000_000;
const SESSION: &str = "0193b0a4-0000-7000-8000-000000000001";
const SIZES: [(u32, u32); 2] = [(360, 740), (1280, 900)];
/// Words that many memories share.
const WORDS: [&str; 16] = [
    "harbour", "quay", "lantern", "ledger", "orchard", "bridge", "mill", "granary", "ferry",
    "tower", "garden", "cellar", "market", "anchor", "meadow", "forge",
];

fn words(number: usize) -> String {
    let word = |at: usize| WORDS[(number / 16_usize.pow(u32::try_from(at).unwrap())) % 16];
    (0..3).map(word).collect::<Vec<_>>().join(" ")
}

fn write_memories(folder: &Path) {
    std::fs::create_dir_all(folder).unwrap();
    for number in 0..MEMORIES {
        let words = words(number);
        let text = format!(
            "---\nname: Note {number}\ndescription: the {words} of place {number}\ntype: project\n---\nAt place {number} there is {words}.\n"
        );
        std::fs::write(folder.join(format!("note-{number:05}.md")), text).unwrap();
    }
    let quoll = "---\nname: Quoll\ndescription: how often the quoll is fed\ntype: project\n---\nThe quoll is fed twice a day.\n";
    std::fs::write(folder.join("quoll.md"), quoll).unwrap();
}

/// A browser that has exchanged the code.
fn enter(program: &Path, viewer: &ViewerClient) -> Browser {
    let mut browser = Browser::start(program);
    browser.open(&format!("http://{}{}", viewer.address, viewer.entry));
    browser.wait_for("location.pathname === '/' && document.readyState === 'complete'");
    browser
}

fn assert_fits(browser: &mut Browser, what: &str) {
    assert_eq!(browser.evaluate(TOO_WIDE), json!(false), "{what} is too wide");
    keep_picture(browser, &format!("large-{what}"));
}

#[test]
fn ten_thousand_memories() {
    let Some((program, _)) = tools() else { return };
    let home = TestHome::new();
    write_memories(&home.dormouse_home().join("memory"));
    let viewer = ViewerClient::start(&home, &[]);
    let mut browser = enter(&program, &viewer);
    for (width, height) in SIZES {
        browser.look(width, height, "light");
        browser.open(&format!("http://{}/", viewer.address));
        let cards = browser.evaluate("document.querySelectorAll('.card').length");
        assert_eq!(cards, json!(50), "{}", browser.text());
        assert!(browser.text().contains("10001"), "{}", browser.text());
        assert_fits(&mut browser, &format!("memories-{width}"));

        // As you type: each state of the field has its results, and the last one stays.
        browser.press("/");
        for part in ["how of", "ten is the", " quo", "ll fed"] {
            browser.type_text(part);
        }
        browser.wait_for(
            "document.querySelector('.card h2')?.innerText === 'Quoll' && location.search.includes('quoll')",
        );
        assert_fits(&mut browser, &format!("search-{width}"));
        browser.follow(|browser| {
            browser.evaluate("document.querySelector('.card h2 a').click()");
        });
        assert!(browser.text().contains("The quoll is fed twice a day."), "{}", browser.text());
        assert_fits(&mut browser, &format!("memory-{width}"));

        // The last page of the list.
        browser.open(&format!("http://{}/?page=200", viewer.address));
        assert_eq!(browser.evaluate("document.querySelectorAll('.card').length"), json!(1));
        assert_fits(&mut browser, &format!("last-page-{width}"));
    }
    assert_eq!(browser.take_problems(), Vec::<String>::new());
}

/// A transcript of prompts, calls and results of up to 30 kB.
fn write_session(folder: &Path) -> usize {
    let mut text = String::with_capacity(SESSION_BYTES + 100_000);
    let mut number = 0;
    while text.len() < SESSION_BYTES {
        let content = match number % 4 {
            0 => json!(format!("Prompt {number}: what about the {}?", words(number))),
            1 => {
                json!([{"type": "tool_use", "id": format!("t{number}"), "name": "Bash", "input": {"command": format!("cat notes/{number}.txt")}}])
            }
            2 => {
                let result =
                    format!("{} of line {number}\n", words(number)).repeat(1 + number % 1_000);
                json!([{"type": "tool_result", "tool_use_id": format!("t{}", number - 1), "content": result}])
            }
            _ => json!([{"type": "text", "text": format!("Answer {number}: {}.", words(number))}]),
        };
        let role = if number % 2 == 0 { "user" } else { "assistant" };
        let mut message = json!({"role": role, "content": content});
        if role == "assistant" {
            message["id"] = json!(format!("m{number}"));
            message["model"] = json!("claude-sonnet-4-5");
            message["usage"] =
                json!({"input_tokens": 9, "cache_read_input_tokens": 50_000, "output_tokens": 80});
        }
        let line = json!({
            "type": role, "uuid": format!("0193b0a4-0000-7000-9000-{number:012}"), "sessionId": SESSION,
            "timestamp": "2026-11-02T08:00:00.000Z", "message": message,
        });
        writeln!(text, "{line}").unwrap();
        number += 1;
    }
    std::fs::write(folder.join(format!("{SESSION}.jsonl")), text).unwrap();
    number
}

/// The first message that can be seen whole: its id, and how far from the top of the window it is.
const FIRST_SEEN: &str = "(() => { for (const one of document.querySelectorAll('article.message')) { const top = Math.round(one.getBoundingClientRect().top); if (top >= 0) return [one.id, top]; } })()";

#[test]
fn a_session_of_50_mb() {
    let Some((program, _)) = tools() else { return };
    let home = TestHome::new();
    // It makes the project's folder.
    add_memory(&home, "quay", "where boats land", "Boats land at the north quay.");
    let folder = crate::dream::project_memory(&home).parent().unwrap().to_owned();
    let lines = write_session(&folder);
    let viewer = ViewerClient::start(&home, &[]);
    let mut browser = enter(&program, &viewer);
    let session = format!("http://{}/session/dormouse/{SESSION}/transcript", viewer.address);
    for (width, height) in SIZES {
        browser.look(width, height, "light");
        browser.open(&session);
        let count = "document.querySelectorAll('article.message').length";
        let shown = browser.evaluate(count).as_u64().unwrap();
        assert!((10..=120).contains(&shown), "{shown} messages");
        assert_fits(&mut browser, &format!("session-{width}"));
        // To the end, where the newest message is.
        browser.evaluate(
            "window.scrollTo({top: document.documentElement.scrollHeight, behavior: 'instant'})",
        );
        let last = format!("0193b0a4-0000-7000-9000-{:012}", lines - 1);
        let visible = format!(
            "(() => {{ const at = document.getElementById('{last}').getBoundingClientRect(); return at.top >= 0 && at.bottom <= window.innerHeight; }})()"
        );
        browser.wait_for(&visible);
        assert_fits(&mut browser, &format!("session-end-{width}"));
        // And back: earlier messages come, and what is read stays where it is.
        for round in 1..=3_u64 {
            let before = browser.evaluate(count).as_u64().unwrap();
            // Both in one task of the page: what is fetched comes later.
            let seen = browser.evaluate(&format!(
                "window.scrollTo({{top: 300, behavior: 'instant'}}), {FIRST_SEEN}"
            ));
            browser.wait_for(&format!("{count} > {before}"));
            browser.evaluate(
                "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))",
            );
            let moved = browser.evaluate(&format!(
                "Math.round(document.getElementById({}).getBoundingClientRect().top) - {}",
                seen[0], seen[1]
            ));
            // Positions are rounded to pixels.
            assert!(
                moved.as_i64().is_some_and(|by| by.abs() <= 1),
                "round {round} at {width}: {moved}"
            );
        }
        assert_fits(&mut browser, &format!("session-earlier-{width}"));
        // A result that is opened stays in its frame.
        browser.evaluate("document.querySelector('details.result').open = true");
        browser.evaluate(
            "document.querySelector('details.result').scrollIntoView({behavior: 'instant'})",
        );
        assert_fits(&mut browser, &format!("session-result-{width}"));
    }
    assert_eq!(browser.take_problems(), Vec::<String>::new());
}
