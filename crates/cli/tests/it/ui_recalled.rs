//! Why a memory came with a message: written down when it came, shown by the viewer, never sent to the model.

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{ScriptedServer, TestHome, WireFormat};
use serde_json::{Value, json};

use crate::program::{BOTH, ask, server};
use crate::recall_turn::{recalled, remember};
use crate::ui_client::ViewerClient;

const PROMPT: &str = "where do the ships land in the harbour?";

fn home(server: &ScriptedServer) -> TestHome {
    let home = TestHome::new().with_server(server);
    remember(&home, "Harbour", "where ships land", "Ships land at the east quay of the harbour.");
    remember(&home, "Larder", "what is in store", "Nuts are in the larder.");
    home
}

/// The only transcript, and the lines of it that have reasons.
fn reasons(home: &TestHome) -> (String, Vec<Value>) {
    let transcripts = home.transcripts();
    let [path] = transcripts.as_slice() else { panic!("{transcripts:?}") };
    let text = std::fs::read_to_string(path).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let with = lines.filter(|line| line.get("recalled").is_some()).collect();
    (path.file_stem().unwrap().to_string_lossy().into_owned(), with)
}

#[test]
fn the_transcript_keeps_why_and_the_page_shows_it() {
    for wire in BOTH {
        let server = server(wire).start();
        let home = home(&server);
        server.push(ScriptedTurn::new().text("at the east quay"));
        home.run(&mut ask(&home, &[PROMPT])).success();
        let (id, lines) = reasons(&home);
        let [line] = lines.as_slice() else { panic!("{lines:#?}") };
        assert_eq!(line["message"]["content"][0]["text"], PROMPT);
        let [reason] = line["recalled"].as_array().unwrap().as_slice() else { panic!("{line:#}") };
        assert!(reason["path"].as_str().unwrap().ends_with("/harbour.md"), "{reason:#}");
        assert_eq!((&reason["step"], &reason["form"]), (&json!("local"), &json!("body")));
        let confidence = reason["ranking"]["confidence"].as_f64().unwrap();
        assert!((0.3..=1.0).contains(&confidence), "{reason:#}");
        let matches = reason["ranking"]["matches"].as_array().unwrap();
        assert!(matches.iter().any(|one| one["word"] == "ships"), "{reason:#}");

        // The memory is no longer what it was: the page shows what was known then.
        crate::memory::memory(&home, &["rm", "harbour", "--scope", "user"]).success();
        let page = format!("/session/dormouse/{id}/transcript");
        let shown = ViewerClient::open(&home, &[]).get(&page).ok().body;
        assert!(shown.contains("its text was shown"), "{shown}");
        assert!(shown.contains(&format!("Why: {:.0} % sure then", confidence * 100.0)), "{shown}");
        assert!(shown.contains("“ships” is in the memory as"), "{shown}");
        assert!(!shown.contains("without the reasons"), "{shown}");

        // The model sees none of it, in this process or in the next.
        server.push(ScriptedTurn::new().text("yes"));
        home.run(&mut ask(&home, &["--resume", &id, "thanks"])).success();
        let requests = server.requests();
        assert_eq!(requests.len(), 2);
        for request in &requests {
            assert_eq!(recalled(request).len(), 1);
            for field in ["confidence", "\"gain\"", "\"ranking\""] {
                assert!(!request.text().contains(field), "{field}: {}", request.text());
            }
        }
        server.finish();
    }
}

#[test]
fn a_transcript_without_reasons_says_so_and_strange_ones_lose_nothing() {
    let server = server(WireFormat::Anthropic).start();
    let home = home(&server);
    server.push(ScriptedTurn::new().text("at the east quay"));
    home.run(&mut ask(&home, &[PROMPT])).success();
    let (id, lines) = reasons(&home);
    assert_eq!(lines.len(), 1);
    let path = &home.transcripts()[0];
    let text = std::fs::read_to_string(path).unwrap();
    let viewer = ViewerClient::open(&home, &[]);
    let page = format!("/session/dormouse/{id}/transcript");
    for other in [None, Some(json!("a later form")), Some(json!([{"path": 1}]))] {
        let changed = text.lines().map(|line| {
            // All else keeps its bytes: a resume sends it again.
            let Some((before, _)) = line.split_once(",\"recalled\":[{") else {
                return format!("{line}\n");
            };
            let other = other.iter().map(|other| format!(",\"recalled\":{other}"));
            format!("{before}{}}}\n", other.collect::<String>())
        });
        std::fs::write(path, changed.collect::<String>()).unwrap();
        let shown = viewer.get(&page).ok().body;
        assert!(shown.contains("harbour.md") && shown.contains(PROMPT), "{shown}");
        assert!(shown.contains("without the reasons"), "{shown}");
        assert!(!shown.contains("sure then"), "{shown}");
        let again = "Rank memories for this message again, as of now";
        assert!(shown.contains(again), "{shown}");
    }
    server.push(ScriptedTurn::new().text("yes"));
    home.run(&mut ask(&home, &["--resume", &id, "thanks"])).success();
    assert_eq!(recalled(&server.requests()[1]).len(), 1);
    server.finish();
}

#[test]
fn what_the_small_model_chose_is_said() {
    let choice = ScriptedTurn::new().text(json!({ "files": ["larder.md"] }).to_string());
    let server = server(WireFormat::Anthropic).side_model("small").side_reply(choice).start();
    let mut home = home(&server);
    home.write(home.dormouse_home().join("settings.json"), r#"{"smallModel":"small"}"#);
    home.set_deadlines(&[("recall_beside", 300_000)]);
    crate::recall_turn::two_requests(&server);
    home.run(&mut ask(&home, &["what can we eat here?"])).success();
    let (id, lines) = reasons(&home);
    let chosen = lines.iter().find(|line| line["recalled"][0]["step"] == "selector").unwrap();
    assert_eq!(chosen["isAttachment"], true);
    assert_eq!(chosen["recalled"][0].get("ranking"), None);
    let page = format!("/session/dormouse/{id}/transcript");
    let shown = ViewerClient::open(&home, &[]).get(&page).ok().body;
    assert!(shown.contains("the small model chose it"), "{shown}");
    server.finish();
}

#[test]
fn recall_over_time_is_what_the_memories_count() {
    let server = server(WireFormat::Anthropic).start();
    let mut home = home(&server);
    home.set_env("TZ", "UTC");
    let on = |home: &mut TestHome, day: u32| {
        home.set_env("DORMOUSE_TEST_NOW", format!("2026-11-{day:02}T09:00:00Z"));
    };
    on(&mut home, 3);
    let empty = ViewerClient::open(&home, &[]).get("/figures?days=30").ok().body;
    assert!(empty.contains("No memory was recalled, cited or followed"), "{empty}");
    // Two days with an answer that quotes the memory, one with an answer that does not.
    for (day, answer) in [
        (3, "Ships land at the east quay of the harbour."),
        (5, "As I said."),
        (9, "Ships land at the east quay of the harbour, all of them."),
    ] {
        on(&mut home, day);
        if day > 3 {
            server.expect_break("another session");
        }
        server.push(ScriptedTurn::new().text(answer));
        home.run(&mut ask(&home, &[PROMPT])).success();
    }
    on(&mut home, 10);
    let viewer = ViewerClient::open(&home, &[]);
    let page = viewer.get("/figures?days=30").ok().body;
    let row = |name: &str, counts: [u64; 3]| {
        let cells = counts.map(|count| format!("<td>{count}</td>")).concat();
        format!("<tr><td>{name}</td>{cells}</tr>")
    };
    for (day, counts) in [(3, [1, 1, 1]), (5, [1, 0, 0]), (9, [1, 1, 1])] {
        let row = row(&format!("2026-11-{day:02}"), counts);
        assert!(page.contains(&row), "{row}: {page}");
    }
    // A long period by weeks, of which the last ends today.
    let page = viewer.get("/figures?days=90").ok().body;
    for row in
        [row("2026-11-04 – 2026-11-10", [2, 1, 1]), row("2026-10-28 – 2026-11-03", [1, 1, 1])]
    {
        assert!(page.contains(&row), "{row}: {page}");
    }
    let listed = crate::memory::list(&home);
    let harbour = listed.iter().find(|row| row["file"] == "harbour.md").unwrap();
    assert_eq!((&harbour["recalled"], &harbour["cited"]), (&json!(3), &json!(2)));
    let stats = home.run(&mut crate::program::dormouse(&home, &["stats"]));
    assert!(stats.success().stdout.contains("3 recalled, 2 cited, 2 helpful"), "{}", stats.stdout);
    server.finish();
}
