//! The viewer over HTTP: who is let in, what a page may show, what a form may change.

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{HANGS, TestHome, WireFormat};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::json;

use crate::dream::{memory, save, with};
use crate::program::{dormouse, server};
use crate::ui_client::{ViewerClient, add_memory, encoded};

const QUAY: &str = "/memory/view/project/quay.md";

fn home() -> TestHome {
    let home = TestHome::new();
    add_memory(&home, "quay", "where boats land", "Boats land at the north quay.");
    add_memory(&home, "larder", "what is stored", "Nuts are in the larder.");
    home
}

#[test]
fn the_code_works_once_and_without_the_cookie_there_is_nothing() {
    let home = home();
    let viewer = ViewerClient::open(&home, &[]);
    assert!(viewer.address.starts_with("127.0.0.1:"));
    let port = viewer.address.rsplit(':').next().unwrap();
    assert!(viewer.cookie.starts_with(&format!("dormouse-viewer-{port}=")));
    // The code was used.
    let again = viewer.send(&format!("GET {}", viewer.entry), &[("Cookie", "")], "");
    assert_eq!((again.status, again.header("set-cookie")), (403, None));
    let pages = ["/", QUAY, "/memories/results?q=quay", "/sessions", "/changes", "/nowhere"];
    for path in pages {
        for cookie in ["", "dormouse-viewer=x", &format!("dormouse-viewer-{port}=x")] {
            let refused = viewer.send(&format!("GET {path}"), &[("Cookie", cookie)], "");
            assert_eq!(refused.status, 401, "{path} {cookie}");
            assert!(!refused.body.contains("quay"), "{path}");
        }
    }
    let page = viewer.get("/").ok();
    assert!(page.body.contains("where boats land"), "{}", page.body);
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "same-origin"),
        ("cache-control", "no-store"),
    ] {
        assert_eq!(page.header(name).as_deref(), Some(value));
    }
    for inline in ["<style", " style=", " onclick", "javascript:", "http://", "https://"] {
        assert!(!page.body.contains(inline), "{inline}");
    }
    let cookie = ViewerClient::start(&home, &[]);
    let welcome = cookie.get(&cookie.entry).ok().header("set-cookie").unwrap();
    assert!(welcome.contains("HttpOnly") && welcome.contains("SameSite=Strict"), "{welcome}");
    assert_ne!(welcome.split(';').next().unwrap(), viewer.cookie);
}

#[test]
fn other_sites_and_other_names_are_refused() {
    let home = home();
    let viewer = ViewerClient::open(&home, &[]);
    let own = format!("http://{}", viewer.address);
    for headers in [
        vec![("Host", "evil.example")],
        vec![("Host", "127.0.0.1.evil.example")],
        vec![("Host", "127.0.0.1:1")],
        vec![("Host", "")],
        vec![("Origin", "https://evil.example")],
        vec![("Origin", "null")],
        vec![("Origin", "http://127.0.0.1:1")],
        vec![("Sec-Fetch-Site", "cross-site")],
        vec![("Sec-Fetch-Site", "same-site")],
    ] {
        let refused = viewer.send("GET /", &headers, "");
        assert!([400, 403].contains(&refused.status), "{headers:?} {}", refused.status);
        assert!(!refused.body.contains("quay"), "{headers:?}");
    }
    viewer.send("GET /", &[("Sec-Fetch-Site", "none")], "").ok();

    // Changes need the page's own origin and its token.
    let token = viewer.token(QUAY);
    let remove = "/memory/remove/project/quay.md";
    let fields = [("token", token.as_str())];
    for headers in [
        vec![],
        vec![("Origin", "https://evil.example")],
        vec![("Origin", "null")],
        vec![("Origin", own.as_str()), ("Sec-Fetch-Site", "cross-site")],
        vec![("Origin", own.as_str()), ("Sec-Fetch-Site", "none")],
        vec![("Origin", own.as_str()), ("Cookie", "")],
    ] {
        let refused = viewer.post_from(remove, &fields, &headers);
        assert!([401, 403].contains(&refused.status), "{headers:?} {}", refused.status);
    }
    assert_eq!(viewer.post(remove, &[("token", "x")]).status, 403);
    assert_eq!(viewer.post(remove, &[]).status, 422);
    assert_eq!(viewer.get(remove).status, 405);
    viewer.get(QUAY).ok();
    assert_eq!(viewer.post(remove, &fields).status, 303);
    assert!(viewer.get(QUAY).ok().body.contains("was removed on"));
}

#[test]
fn an_address_leads_nowhere_else() {
    let home = home();
    home.write(home.dormouse_home().join("secret.md"), "the secret\n");
    let viewer = ViewerClient::open(&home, &[]);
    for file in [
        "../secret.md",
        "..%2F..%2Fsecret.md",
        "%2e%2e/%2e%2e/%2e%2e/secret.md",
        "%2Fetc%2Fpasswd",
        "a%00b.md",
        "..%5C..%5Csecret.md",
        "MEMORY.md",
        "quay.md%2F..%2F..%2F..%2Fsecret.md",
        "nowhere.md",
    ] {
        for action in ["view", "edit", "history"] {
            let page = viewer.get(&format!("/memory/{action}/project/{file}"));
            assert!(!page.body.contains("the secret"), "{file}");
            assert!(
                page.status == 404 || (action == "history" && page.status == 200),
                "{action} {file} {}",
                page.status
            );
        }
    }
    for path in [
        "/session/dormouse/..%2F..%2Fsecret/transcript",
        "/session/nowhere/0193b0a4-0000-7000-8000-000000000001/transcript",
        "/memory/view/nowhere/quay.md",
        "/dream/..%2Fx",
        "/assets/../secret.md",
    ] {
        assert_eq!(viewer.get(path).status, 404, "{path}");
    }
}

/// An edit: the diff first, then saving; and a second tab that edits the same memory is told, and loses nothing.
#[test]
fn two_tabs_edit_one_memory() {
    let home = home();
    let viewer = ViewerClient::open(&home, &[]);
    let edit = viewer.get("/memory/edit/project/quay.md").ok();
    let (token, hash) = (edit.field("token"), edit.field("hash"));
    let text = |body: &str| {
        format!("---\nname: quay\ndescription: where boats land\ntype: project\n---\n\n{body}\n")
    };
    let (mine, theirs) = (text("Boats land at the south quay."), text("Boats land nowhere."));
    let fields = |text: &str| {
        [("token", token.clone()), ("hash", hash.clone()), ("text", text.replace('\n', "\r\n"))]
    };
    let send = |action: &str, text: &str| {
        let fields = fields(text);
        let fields: Vec<(&str, &str)> =
            fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        viewer.post(&format!("/memory/{action}/project/quay.md"), &fields)
    };
    let preview = send("preview", &mine).ok();
    assert!(
        preview.body.contains("<del") && preview.body.contains("south quay"),
        "{}",
        preview.body
    );
    let file = crate::dream::project_memory(&home).join("quay.md");
    assert!(home.read(&file).contains("north"), "a preview changes nothing");
    assert_eq!(send("save", &mine).status, 303);
    assert_eq!(home.read(&file), mine, "line ends are those of the file");

    let told = send("save", &theirs);
    assert_eq!(told.status, 409);
    assert!(told.body.contains("was changed meanwhile"), "{}", told.body);
    assert!(
        told.body.contains("Boats land nowhere.") && told.body.contains("south quay"),
        "both texts are there"
    );
    assert_eq!(home.read(&file), mine);
    // Having seen it, the user may go on.
    let newer = told.field("hash");
    let again = [("token", token.as_str()), ("hash", newer.as_str()), ("text", theirs.as_str())];
    assert_eq!(viewer.post("/memory/save/project/quay.md", &again).status, 303);
    assert_eq!(home.read(&file), theirs);

    let log = home.run(&mut dormouse(&home, &["memory", "log", "quay.md", "--json"]));
    let log: serde_json::Value = serde_json::from_str(&log.success().stdout).unwrap();
    assert_eq!(log[0]["author"], json!("user"));
    assert_eq!(log[0]["reason"], json!("edited in the viewer"));
}

#[test]
fn a_broken_frontmatter_and_a_secret_are_shown_before_they_are_saved() {
    let home = home();
    let viewer = ViewerClient::open(&home, &[]);
    let edit = viewer.get("/memory/edit/project/quay.md").ok();
    let (token, hash) = (edit.field("token"), edit.field("hash"));
    let post = |action: &str, text: &str, more: &[(&str, &str)]| {
        let fields = [("token", token.as_str()), ("hash", hash.as_str()), ("text", text)];
        viewer.post(&format!("/memory/{action}/project/quay.md"), &[&fields, more].concat())
    };
    let broken = post("preview", "---\nname: [quay\n---\n\nx\n", &[]).ok();
    assert!(broken.body.contains("Problems with this text"), "{}", broken.body);
    let secret = "---\nname: quay\ndescription: d\ntype: project\n---\n\naws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzEXAMPLEKEY9\nAKIAQYLPMN5HFIQR7XYA\n";
    let refused = post("save", secret, &[]);
    assert_eq!(refused.status, 409);
    assert!(refused.body.contains("looks like a secret"), "{}", refused.body);
    let file = crate::dream::project_memory(&home).join("quay.md");
    assert!(home.read(&file).contains("north"));
    assert_eq!(post("save", secret, &[("allow_secret", "yes")]).status, 303);
    assert!(home.read(&file).contains("AKIA"));
}

#[test]
fn with_read_only_nothing_changes() {
    let home = home();
    let viewer = ViewerClient::open(&home, &["--read-only"]);
    let page = viewer.get(QUAY).ok();
    assert!(
        page.body.contains("read-only") && !page.body.contains("<form method=\"post\""),
        "{}",
        page.body
    );
    assert_eq!(viewer.get("/memory/edit/project/quay.md").status, 403);
    // The token of a page that another viewer would have shown does not help.
    for path in [
        "/memory/remove/project/quay.md",
        "/doctor/project/fix",
        "/change/project/1/undo",
        "/memory/restore/project/quay.md",
    ] {
        assert_eq!(viewer.post(path, &[("token", "x")]).status, 403, "{path}");
    }
    viewer.get(QUAY).ok();
}

#[test]
fn trash_undo_history_inbox_and_doctor() {
    let home = home();
    let viewer = ViewerClient::open(&home, &[]);
    let token = viewer.token(QUAY);
    let post = |path: &str| viewer.post(path, &[("token", &token)]).status;
    assert_eq!(post("/memory/remove/project/quay.md"), 303);
    let changes = viewer.get("/changes?done=removed").ok();
    assert!(
        changes.body.contains("Moved to the trash")
            && changes.body.contains("removed in the viewer")
    );
    assert_eq!(post("/memory/restore/project/quay.md"), 303);
    viewer.get(QUAY).ok();
    let history = viewer.get("/memory/history/project/quay.md").ok();
    assert!(history.body.contains("restored in the viewer") && history.body.contains("north quay"));
    assert_eq!(post("/change/project/2/undo"), 303, "adding the larder");
    assert!(viewer.get("/memory/view/project/larder.md").ok().body.contains("was removed on"));
    assert_eq!(post("/change/project/2/undo"), 409, "it is undone already");
    assert_eq!(post("/change/project/99/undo"), 404);

    // A line of the index that leads nowhere is found and fixed.
    let index = crate::dream::project_memory(&home).join("MEMORY.md");
    let text = home.read(&index);
    home.write(&index, format!("{text}- [gone](gone.md) — no such memory\n"));
    let doctor = viewer.get("/doctor").ok();
    assert!(
        doctor.body.contains("gone.md") && doctor.body.contains("Fix the index"),
        "{}",
        doctor.body
    );
    assert_eq!(post("/doctor/project/fix"), 303);
    assert!(!viewer.get("/doctor").ok().body.contains("gone.md"));
    viewer.get("/inbox").ok();

    // Of many problems the first are listed, and the others counted.
    let lines: Vec<String> =
        (0..620).map(|number| format!("- [gone](gone-{number}.md) — nothing\n")).collect();
    home.write(&index, format!("{text}{}", lines.concat()));
    let doctor = viewer.get("/doctor").ok().body;
    assert_eq!(doctor.matches("<tr>").count(), 501, "{doctor}");
    assert!(doctor.contains(" more are not shown"), "{doctor}");
}

#[test]
fn the_ranking_is_that_of_recall() {
    let home = home();
    let viewer = ViewerClient::open(&home, &[]);
    let found = viewer.get("/memories/results?q=where+do+boats+land").ok();
    assert!(found.body.contains("quay.md") && found.body.contains("1 of 2"), "{}", found.body);
    assert!(found.body.contains("boat") && found.body.contains("would be"), "{}", found.body);
    let explained =
        home.run(&mut dormouse(&home, &["recall", "--json", "--explain", "where do boats land"]));
    let explained: serde_json::Value = serde_json::from_str(&explained.success().stdout).unwrap();
    let percent = (explained[0]["confidence"].as_f64().unwrap() * 100.0).round();
    assert!(
        found.body.contains(&format!("{percent} % likely to help")),
        "{percent} {}",
        found.body
    );
    for (filter, expected) in [
        ("type=project", true),
        ("type=user", false),
        ("scope=user", false),
        ("trust=outside", false),
        ("age=week", true),
        ("state=pinned", false),
    ] {
        let list = viewer.get(&format!("/memories/results?{filter}")).ok();
        assert_eq!(list.body.contains("quay.md"), expected, "{filter}");
    }
}

/// Marks that a browser would act on, from every text that a page shows.
#[test]
fn nothing_of_a_memory_runs_in_a_page() {
    let home = TestHome::new();
    let evil = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'>";
    add_memory(
        &home,
        &format!("name {evil}"),
        &format!("about {evil}"),
        &format!("# {evil}\n- {evil}\n`{evil}` **{evil}**\n```\n{evil}\n```\n> {evil}"),
    );
    let folder = crate::dream::project_memory(&home);
    home.write(
        folder.join("<b onmouseover=alert(3)>.md"),
        format!(
            "---\nname: {evil}\ntrust: {evil}\nsource: [\"{}\"]\n---\n{evil}",
            evil.replace('"', "\\\"")
        ),
    );
    let sessions = folder.parent().unwrap().to_owned();
    let line = |kind: &str, number: u32, content: serde_json::Value, more: serde_json::Value| {
        let id = format!("0193b0a4-0000-7000-8000-00000000000{number}");
        let mut message = json!({"role": kind, "content": content});
        if kind == "assistant" {
            message["id"] = json!("msg_1");
            message["model"] = json!(evil);
            message["usage"] = json!({"input_tokens": 10, "output_tokens": 1});
        }
        let mut line = json!({"type": kind, "uuid": id, "timestamp": "2026-11-02T08:00:00.000Z", "cwd": evil, "sessionId": "0193b0a4-0000-7000-8000-000000000001", "message": message});
        for (key, value) in more.as_object().unwrap() {
            line[key] = value.clone();
        }
        line.to_string()
    };
    let transcript = [
        line("user", 1, json!([{"type": "text", "text": evil}, {"type": "text", "text": format!("<system-reminder>\n{evil}</system-reminder>")}]), json!({})),
        line("assistant", 2, json!([{"type": "thinking", "thinking": evil, "signature": "x"}, {"type": "text", "text": evil}, {"type": "tool_use", "id": "t", "name": evil, "input": {"command": evil, "old_string": evil, "new_string": "x"}}, {"type": evil, "x": evil}]), json!({"requestId": evil})),
        line("user", 3, json!([{"type": "tool_result", "tool_use_id": "t", "content": evil, "is_error": true}]), json!({})),
        json!({"type": "system", "subtype": "compact_boundary", "compactMetadata": {"trigger": evil, "preTokens": 9}}).to_string(),
    ];
    home.write(
        sessions.join("0193b0a4-0000-7000-8000-000000000001.jsonl"),
        transcript.join("\n") + "\n",
    );
    let viewer = ViewerClient::open(&home, &[]);
    let first = viewer.get("/").ok().body;
    let links = first
        .split("href=\"/memory/view/")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap().to_owned());
    let links: Vec<String> = links.collect();
    assert_eq!(links.len(), 2, "{first}");
    let session = "/session/dormouse/0193b0a4-0000-7000-8000-000000000001";
    let mut paths = vec![
        "/".to_owned(),
        format!("/?q={}", encoded(evil)),
        format!("/?type={0}&scope={0}", encoded(evil)),
        "/changes".into(),
        "/doctor".into(),
        "/sessions".into(),
        format!("/sessions?q={}", encoded("alert")),
        format!("{session}/transcript"),
        format!("{session}/transcript/part"),
        format!("{session}/requests"),
        format!("{session}/checkpoints"),
        format!("/dream/{}", encoded(evil)),
        format!("/{}", encoded(evil)),
        "/figures".into(),
    ];
    for link in &links {
        paths.extend(["view", "edit", "history"].map(|action| format!("/memory/{action}/{link}")));
    }
    let mut seen = 0;
    for path in &paths {
        let page = viewer.get(path).body;
        seen += usize::from(page.contains("alert(1)"));
        assert_harmless(path, &page);
    }
    assert!(seen >= 8, "the text is on {seen} of {} pages", paths.len());
}

/// The tags of a page are the viewer's own.
#[track_caller]
fn assert_harmless(path: &str, page: &str) {
    let scripts = page.matches("<script").count();
    let own = page.matches("<script type=\"module\" src=\"/assets/").count();
    assert_eq!(scripts, own, "{path}: {page}");
    for forbidden in ["<img", "<b onmouse", "<iframe", "javascript:"] {
        assert!(!page.contains(forbidden), "{forbidden} in {path}: {page}");
    }
}

/// Whatever names, texts and outputs hold.
#[test]
fn no_text_breaks_out_of_a_page() {
    let home = home();
    let folder = crate::dream::project_memory(&home);
    let viewer = ViewerClient::open(&home, &[]);
    let mut runner =
        TestRunner::new(Config { cases: 40, failure_persistence: None, ..Config::default() });
    let texts = (
        "[<>\"'&/a-z`*#= \\-]{0,60}",
        "(<|</|<!--|]]>|\"|'|&lt;|script|textarea|title|style|>| |\n|x){0,40}",
    );
    let outcome = runner.run(&texts, |(name, body)| {
        let quoted = serde_json::to_string(&name).unwrap();
        home.write(
            folder.join("quay.md"),
            format!("---\nname: {quoted}\ndescription: {quoted}\n---\n\n{body}\n"),
        );
        for action in ["view", "edit"] {
            let page = viewer.get(&format!("/memory/{action}/project/quay.md")).ok().body;
            assert_harmless(action, &page);
            prop_assert_eq!(page.matches("</html>").count(), 1);
            prop_assert_eq!(page.matches("<textarea").count(), page.matches("</textarea>").count());
        }
        assert_harmless("list", &viewer.get("/").ok().body);
        Ok(())
    });
    outcome.unwrap();
}

/// A transcript is shown in parts, and followed while it grows.
#[test]
fn a_long_session_in_parts_and_live() {
    let home = home();
    let sessions = crate::dream::project_folder(&home);
    let id = "0193b0a4-0000-7000-8000-000000000001";
    let line = |number: usize| {
        format!(
            "{}\n",
            json!({"type": "user", "uuid": format!("0193b0a4-0000-7000-9000-{number:012}"), "timestamp": "2026-11-02T08:00:00.000Z", "sessionId": id, "message": {"role": "user", "content": format!("message {number} end {}", "word ".repeat(400))}})
        )
    };
    let file = sessions.join(format!("{id}.jsonl"));
    home.write(&file, (0..1_000).map(line).collect::<String>());
    let viewer = ViewerClient::open(&home, &[]);
    let path = format!("/session/dormouse/{id}/transcript");
    let mut page = viewer.get(&path).ok().body;
    let shown = page.split("id=\"messages\"").nth(1).unwrap();
    assert!(shown.contains("message 999 end") && !shown.contains("message 0 end"));
    assert!(page.len() < 500_000, "{}", page.len());
    let follow = page.split("data-follow=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let mut seen = std::collections::BTreeSet::new();
    loop {
        let numbers =
            page.split("message ").skip(1).filter_map(|rest| rest.split(' ').next()?.parse().ok());
        seen.extend(numbers.filter(|number: &usize| *number < 1_000));
        let Some(rest) = page.split("data-part=\"").nth(1) else { break };
        let next = rest.split('"').next().unwrap().to_owned();
        page = viewer.get(&next).ok().body;
    }
    assert_eq!(seen.len(), 1_000, "every message is in one of the parts");

    let mut stream = std::net::TcpStream::connect(&viewer.address).unwrap();
    stream.set_read_timeout(Some(HANGS)).unwrap();
    let request = format!(
        "GET {follow} HTTP/1.1\r\nHost: {}\r\nCookie: {}\r\n\r\n",
        viewer.address, viewer.cookie
    );
    std::io::Write::write_all(&mut stream, request.as_bytes()).unwrap();
    let mut appended = std::fs::OpenOptions::new().append(true).open(&file).unwrap();
    std::io::Write::write_all(&mut appended, line(1_001).as_bytes()).unwrap();
    let mut reader = std::io::BufReader::new(stream);
    let mut text = String::new();
    while !text.contains("message 1001 end") {
        assert!(std::io::BufRead::read_line(&mut reader, &mut text).unwrap() > 0, "{text}");
    }
    assert!(text.contains("text/event-stream") && text.contains("event: messages"), "{text}");
}

#[test]
fn in_chinese() {
    let mut home = home();
    home.set_env("LANG", "zh_CN.UTF-8");
    let viewer = ViewerClient::open(&home, &[]);
    let page = viewer.get("/").ok().body;
    assert!(
        page.contains("<html lang=\"zh\"")
            && page.contains("记忆")
            && page.contains("按会话的方式搜索"),
        "{page}"
    );
}

/// A dream that would merge a memory of the user asks for it: in the viewer it is looked at, edited and accepted.
#[test]
fn a_proposal_is_edited_and_accepted() {
    let server = server(WireFormat::Anthropic).start();
    let home = crate::dream::home(&server, &["a", "b"]);
    add_memory(&home, "mine", "my own", "My words.");
    let merged = with(memory("a", "A, and not my words."), "file", "a.md");
    server.push_fork(save(
        ScriptedTurn::new(),
        "1",
        &with(merged, "supersedes", json!(["mine.md"])),
    ));
    server.push_fork(ScriptedTurn::new().text("done"));
    crate::dream::run(&home, &["--now"]).success();
    let viewer = ViewerClient::open(&home, &[]);
    assert!(viewer.get("/").ok().body.contains("<span class=\"count\">1</span>"));
    let inbox = viewer.get("/inbox").ok();
    assert!(inbox.body.contains("A, and not my words.") && inbox.body.contains("My words."));
    let token = inbox.field("token");
    let edited = "---\nname: a\ndescription: about a\ntype: project\n---\n\nA, in my words.\n";
    let fields = [("token", token.as_str()), ("text0", edited)];
    assert_eq!(viewer.post("/inbox/project/1/accept", &fields).status, 303);
    let folder = crate::dream::project_memory(&home);
    assert!(home.read(folder.join("a.md")).contains("A, in my words."));
    assert!(!folder.join("mine.md").exists());
    assert_eq!(viewer.post("/inbox/project/1/refuse", &[("token", &token)]).status, 404);
    // The message that a memory comes from is a link away.
    let page = viewer.get("/memory/view/project/b.md").ok().body;
    let link = page.split("href=\"/session/").nth(1).unwrap().split(['"', '#']).next().unwrap();
    let message = link.split("message=").nth(1).unwrap().to_owned();
    let transcript = viewer.get(&format!("/session/{}", link.replace("&amp;", "&"))).ok().body;
    assert!(transcript.contains(&format!("id=\"{message}\"")), "{transcript}");
    server.finish();
}

#[test]
fn sessions_of_claude_code() {
    let home = home();
    let project = home.project().canonicalize().unwrap();
    let slug: String = project
        .to_string_lossy()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    let id = "5f1c0000-0000-4000-8000-000000000001";
    let user = json!({"type": "user", "uuid": "5f1c0000-0000-4000-8000-000000000002", "timestamp": "2026-11-02T08:00:00.000Z", "sessionId": id, "message": {"role": "user", "content": "Where is the quay?"}});
    let model = json!({"type": "assistant", "uuid": "5f1c0000-0000-4000-8000-000000000003", "timestamp": "2026-11-02T08:00:05.000Z", "sessionId": id, "requestId": "r", "message": {"id": "m", "role": "assistant", "model": "claude-sonnet-4-5", "content": [{"type": "text", "text": "In the north."}], "usage": {"input_tokens": 1_000, "output_tokens": 5}}});
    let file = home.user_home().join(format!(".claude/projects/{slug}/{id}.jsonl"));
    home.write(file, format!("{user}\n{model}\n"));
    let viewer = ViewerClient::open(&home, &[]);
    let list = viewer.get("/sessions?source=claude").ok().body;
    assert!(list.contains("Where is the quay?") && list.contains("Claude Code"), "{list}");
    let page = viewer.get(&format!("/session/claude/{id}/transcript")).ok().body;
    assert!(page.contains("In the north."), "{page}");
    let requests = viewer.get(&format!("/session/claude/{id}/requests")).ok().body;
    assert!(requests.contains("Size of each request") && requests.contains("$0."), "{requests}");
    let found = viewer.get("/sessions?source=claude&q=north").ok().body;
    assert!(found.contains("In the north."), "{found}");
}

/// What somebody stumbles over who follows old links and edits by hand: each page says what is the matter.
#[test]
fn old_links_wrong_addresses_and_bad_files_are_explained() {
    let server = server(WireFormat::Anthropic).reply(ScriptedTurn::new().text("North.")).start();
    let home = TestHome::new().with_server(&server);
    add_memory(&home, "quay", "where boats land", "Boats land at the north quay.");
    home.run(&mut dormouse(&home, &["-p", "where do boats land at the quay?"])).success();
    server.finish();
    let viewer = ViewerClient::open(&home, &[]);
    let token = viewer.token(QUAY);

    // Of each session the list says what it took and what happened.
    let list = viewer.get("/sessions").ok().body;
    for part in ["1 request", " tokens", "cost unknown", "1 memory recalled"] {
        assert!(list.contains(part), "{part}: {list}");
    }
    let id = home.transcripts()[0].file_stem().unwrap().to_string_lossy().into_owned();
    let short = viewer.get(&format!("/session/dormouse/{id}"));
    assert_eq!(short.status, 308);
    assert_eq!(short.header("location").unwrap(), format!("/session/dormouse/{id}/transcript"));
    viewer.get(&format!("/session/dormouse/{id}/transcript?message=zzz")).ok();
    for days in ["abc", "99999999999", "-1", ""] {
        viewer.get(&format!("/figures?days={days}")).ok();
    }
    let empty = "0193b0a4-0000-7000-8000-000000000001";
    let first = json!({"type": "user", "uuid": "0193b0a4-0000-7000-9000-000000000001", "timestamp": "2026-11-02T08:00:00.000Z", "sessionId": empty, "message": {"role": "user", "content": "hello"}});
    let folder = crate::dream::project_folder(&home);
    home.write(folder.join(format!("{empty}.jsonl")), format!("{first}\n"));
    let requests = viewer.get(&format!("/session/dormouse/{empty}/requests")).ok().body;
    assert!(requests.contains("No requests yet"), "{requests}");

    // A file that was edited badly says so, and never counts as more trusted for it.
    let file = crate::dream::project_memory(&home).join("quay.md");
    home.write(&file, "---\nname: quay\ntype: banana\ntrust: emperor\n---\n");
    let page = viewer.get(QUAY).ok().body;
    for part in ["`banana` is unknown", "`emperor` is unknown", "has no text"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("typed by the user"), "{page}");

    // A link to a memory that was removed leads to its restoration.
    assert_eq!(viewer.post("/memory/remove/project/quay.md", &[("token", &token)]).status, 303);
    let removed = viewer.get(QUAY).ok().body;
    assert!(removed.contains("was removed on") && removed.contains("Restore"), "{removed}");
    assert_eq!(viewer.get("/memory/view/project/never.md").status, 404);
}
