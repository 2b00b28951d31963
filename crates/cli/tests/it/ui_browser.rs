//! The viewer in a real browser: every page, by keyboard, narrow and wide, light and dark, in Chinese, checked for
//! accessibility. `scripts/browser` finds or installs the browser; where there is none, it says what is skipped.

use std::path::{Path, PathBuf};

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{Browser, ScriptedServer, TestHome, WireFormat, test_part};
use serde_json::{Value, json};

use crate::dream::{good_dream, project_memory, sessions};
use crate::program::{ask, server};
use crate::ui_client::{ViewerClient, add_memory};

/// The browser and the script that checks accessibility; none where the tests are skipped.
pub(crate) fn tools() -> Option<(PathBuf, String)> {
    let lines = test_part("browser")?;
    Some((PathBuf::from(&lines[0]), std::fs::read_to_string(&lines[1]).unwrap()))
}

/// A home with memories, a dream that changed them, a session with tools, a proposal and figures.
fn rich_home(server: &ScriptedServer) -> TestHome {
    let home = crate::dream::home(server, &["a", "b", "c", "d", "e"]);
    sessions(&home, 5);
    good_dream(server);
    crate::dream::run(&home, &[]).success();
    add_memory(
        &home,
        "quay",
        "where boats land",
        "Boats land at the north quay.\n\n- Not in winter.\n",
    );
    home.write("boats.txt", "three boats\n");
    let call = json!({"command": "cat boats.txt"}).to_string();
    server.push(
        ScriptedTurn::new()
            .thinking("Where are they?", "c2ln")
            .text("I'll look.")
            .call("t1", "Bash", call),
    );
    server.push(ScriptedTurn::new().text("There are **three** boats.\n\n1. one\n2. two\n3. three"));
    home.run(&mut ask(&home, &["how many boats land at the quay?"])).success();
    home
}

/// The addresses of all pages.
fn pages(home: &TestHome) -> Vec<String> {
    let transcripts = home.transcripts();
    let talked = transcripts.iter().filter(|path| path.metadata().unwrap().len() > 0);
    let newest = talked.max_by_key(|path| path.metadata().unwrap().modified().unwrap()).unwrap();
    let id = newest.file_stem().unwrap().to_string_lossy().into_owned();
    let session = format!("/session/dormouse/{id}");
    [
        "/",
        "/?q=boats+at+the+quay",
        "/memory/view/project/quay.md",
        "/memory/edit/project/quay.md",
        "/memory/history/project/a.md",
        "/inbox",
        "/changes",
        "/doctor",
        "/sessions",
        "/sessions?q=boats",
        "/dreams",
        "/figures",
        "/team",
        "/nowhere",
    ]
    .map(str::to_owned)
    .into_iter()
    .chain(["transcript", "requests", "checkpoints"].map(|part| format!("{session}/{part}")))
    .collect()
}

/// Serious findings of the accessibility check.
fn findings(browser: &mut Browser, axe: &str) -> Vec<String> {
    browser.evaluate(&format!("{axe}; true"));
    let result = browser.evaluate(
        "axe.run(document, {resultTypes: ['violations']}).then(r => r.violations.map(v => ({id: v.id, impact: v.impact, nodes: v.nodes.map(n => n.html + ' ' + n.failureSummary).slice(0, 3)})))",
    );
    let serious = |one: &&Value| matches!(one["impact"].as_str(), Some("serious" | "critical"));
    result.as_array().unwrap().iter().filter(serious).map(ToString::to_string).collect()
}

/// Whether the page is wider than the window.
pub(crate) const TOO_WIDE: &str = "document.documentElement.scrollWidth > window.innerWidth";

#[test]
fn every_page_in_every_size_and_color() {
    let Some((program, axe)) = tools() else { return };
    let server = server(WireFormat::Anthropic).start();
    let home = rich_home(&server);
    let viewer = ViewerClient::start(&home, &[]);
    let mut browser = Browser::start(&program);
    let root = format!("http://{}", viewer.address);
    browser.open(&format!("{root}{}", viewer.entry));
    browser.wait_for("location.pathname === '/'");
    let mut pages = pages(&home);
    browser.open(&format!("{root}/dreams"));
    let dream = browser.evaluate("document.querySelector('article a').getAttribute('href')");
    pages.push(dream.as_str().unwrap().to_owned());
    browser.take_problems();
    let mut wrong = Vec::new();
    for page in &pages {
        browser.open(&format!("{root}{page}"));
        for (width, height) in [(360, 740), (1280, 900), (2560, 1440)] {
            for scheme in ["light", "dark"] {
                browser.look(width, height, scheme);
                if browser.evaluate(TOO_WIDE) == json!(true) {
                    wrong.push(format!("{page} at {width} is too wide"));
                }
                let problems = findings(&mut browser, &axe).into_iter();
                wrong.extend(problems.map(|one| format!("{page} at {width}, {scheme}: {one}")));
                keep_picture(
                    &mut browser,
                    &format!("{}-{width}-{scheme}", page.replace(['/', '?', '='], "_")),
                );
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let problems = browser.take_problems();
    let problems: Vec<_> = problems.iter().filter(|one| !one.contains("404 (Not Found)")).collect();
    assert!(problems.is_empty(), "{problems:#?}");
}

/// Pictures of all pages, for whoever wants to look at them.
pub(crate) fn keep_picture(browser: &mut Browser, name: &str) {
    if let Some(folder) = std::env::var_os("DORMOUSE_TEST_PICTURES") {
        let file = Path::new(&folder).join(format!("{name}.base64"));
        std::fs::write(file, browser.picture()).unwrap();
    }
}

#[test]
fn search_read_edit_and_undo_by_keyboard() {
    let Some((program, _)) = tools() else { return };
    let server = server(WireFormat::Anthropic).start();
    let home = rich_home(&server);
    let viewer = ViewerClient::start(&home, &[]);
    let mut browser = Browser::start(&program);
    browser.open(&format!("http://{}{}", viewer.address, viewer.entry));
    browser.wait_for("location.pathname === '/' && document.readyState === 'complete'");

    // Search as you type.
    browser.press("/");
    browser.type_text("where do boats land");
    browser.wait_for(
        "location.search.includes('boats') && document.querySelectorAll('.card').length === 1",
    );
    assert!(browser.text().contains("likely to help"), "{}", browser.text());
    tab_to(&mut browser, "a[href*='/memory/view/']");
    browser.follow(|browser| browser.press("Enter"));
    assert!(browser.text().contains("Boats land at the north quay."));

    // Edit, look at the difference, save.
    tab_to(&mut browser, "a[href*='/memory/edit/']");
    browser.follow(|browser| browser.press("Enter"));
    tab_to(&mut browser, "textarea");
    browser.evaluate("document.activeElement.setSelectionRange(1e6, 1e6)");
    browser.type_text("Nor at night.");
    tab_to(&mut browser, "button.primary");
    browser.follow(|browser| browser.press("Enter"));
    assert!(
        browser
            .evaluate("document.querySelector('.diff ins').innerText")
            .to_string()
            .contains("Nor at night.")
    );
    tab_to(&mut browser, "form[action*='/memory/save/'] button");
    browser.follow(|browser| browser.press("Enter"));
    assert!(
        browser.text().contains("Saved.") && browser.text().contains("Nor at night."),
        "{}",
        browser.text()
    );
    assert!(home.read(project_memory(&home).join("quay.md")).ends_with("Nor at night."));

    // Undo.
    browser.open(&format!("http://{}/changes", viewer.address));
    tab_to(&mut browser, "form[action*='/undo'] button");
    browser.follow(|browser| browser.press("Enter"));
    assert!(browser.text().contains("Undone."));
    assert!(!home.read(project_memory(&home).join("quay.md")).contains("night"));

    // Take back one change of a dream.
    browser.open(&format!("http://{}/dreams", viewer.address));
    tab_to(&mut browser, "article a");
    browser.follow(|browser| browser.press("Enter"));
    assert!(browser.text().contains("The better fact about c."), "{}", browser.text());
    tab_to(&mut browser, "form[action*='/c.md'] button");
    browser.follow(|browser| browser.press("Enter"));
    assert!(browser.text().contains("Restored."), "{}", browser.text());
    assert!(home.read(project_memory(&home).join("c.md")).contains("The fact about c."));

    // A chart by the arrow keys.
    browser.open(&format!("http://{}/figures", viewer.address));
    tab_to(&mut browser, ".chart g");
    browser.press("End");
    browser
        .wait_for("document.querySelector('.chart output').textContent.includes('cost unknown')");
    assert!(browser.take_problems().is_empty());
}

/// Moves the focus by Tab until it is on an element.
#[track_caller]
pub(crate) fn tab_to(browser: &mut Browser, selector: &str) {
    for _ in 0..200 {
        browser.press("Tab");
        if browser.evaluate(&format!("document.activeElement.matches(\"{selector}\")"))
            == json!(true)
        {
            let outlined = "getComputedStyle(document.activeElement).outlineStyle !== 'none' || document.activeElement.closest('svg') !== null";
            assert_eq!(
                browser.evaluate(outlined),
                json!(true),
                "the focus on {selector} is visible"
            );
            return;
        }
    }
    panic!("{selector} cannot be reached by Tab: {}", browser.text());
}

#[test]
fn in_chinese_and_live() {
    let Some((program, axe)) = tools() else { return };
    let server = server(WireFormat::Anthropic).start();
    let mut home = rich_home(&server);
    home.set_env("LANG", "zh_CN.UTF-8");
    let viewer = ViewerClient::start(&home, &[]);
    let mut browser = Browser::start(&program);
    let root = format!("http://{}", viewer.address);
    browser.open(&format!("{root}{}", viewer.entry));
    browser.wait_for("location.pathname === '/'");
    for page in pages(&home) {
        browser.open(&format!("{root}{page}"));
        browser.look(360, 740, "light");
        assert_eq!(browser.evaluate(TOO_WIDE), json!(false), "{page}");
        assert_eq!(findings(&mut browser, &axe), Vec::<String>::new(), "{page}");
        keep_picture(&mut browser, &format!("zh{}", page.replace(['/', '?', '='], "_")));
    }
    // A session that goes on while it is looked at.
    let page = pages(&home).into_iter().find(|page| page.ends_with("/transcript")).unwrap();
    browser.open(&format!("{root}{page}"));
    let id = page.split('/').nth(3).unwrap();
    server.push(ScriptedTurn::new().text("And one more boat."));
    home.run(&mut ask(&home, &["--resume", id, "any more?"])).success();
    browser.wait_for("document.body.innerText.includes('And one more boat.')");
}
