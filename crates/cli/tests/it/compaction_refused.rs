//! What a server refuses for another reason than its window: pictures, and thinking that is bound to what was
//! there before. Mended before anybody hears of it, and mended for good.

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{Reply, ScriptedServer, TestHome, WireFormat};
use serde_json::Value;

use crate::compacting::{SUMMARY, home, last_text, long_prompt, small, text_of};
use crate::program::{BOTH, ask, server};

/// The smallest thing that counts as a picture.
const PICTURE: &[u8] = b"\x89PNG\r\n\x1a\n and some bytes of it";
/// The same, as it is sent.
const SENT: &str = "iVBORw0KGgog";

fn reads_a_picture(server: &ScriptedServer) -> TestHome {
    let home = TestHome::new().with_server(server);
    home.write("shot.png", PICTURE);
    server.push(ScriptedTurn::new().call("r", "Read", r#"{"file_path":"shot.png"}"#));
    home
}

/// Too many bytes, or a picture that is too large, in any words.
#[test]
fn a_picture_that_the_server_refuses_is_taken_out_and_named() {
    let refusals: [fn() -> Reply; 3] = [
        Reply::request_too_large_413,
        || {
            Reply::bad_request_400(
                "messages.2.content.0: image exceeds 5 MB maximum: 5316852 bytes > 5242880 bytes",
            )
        },
        || {
            Reply::bad_request_400(
                "At least one of the image dimensions exceed max allowed size: 8000 pixels",
            )
        },
    ];
    for (wire, refusal) in BOTH.into_iter().flat_map(|wire| refusals.map(|refusal| (wire, refusal)))
    {
        let server = server(wire).start();
        let home = reads_a_picture(&server);
        server.push(refusal());
        server.push(ScriptedTurn::new().text("done"));
        server.expect_break("the picture was taken out");
        let output = home.run(&mut ask(&home, &["look"]));
        assert_eq!(output.success().stdout, "done\n", "{}", output.stderr);
        assert!(
            output.stderr.contains("left out from now on: a picture, image/png"),
            "{}",
            output.stderr
        );
        assert!(!output.stderr.contains("error"), "{}", output.stderr);
        let requests = server.requests();
        assert!(requests[1].text().contains(SENT) && !requests[2].text().contains(SENT));
        assert!(last_text(&server).contains("[a picture, image/png, "), "{}", last_text(&server));
        // It stays out: the server compares the bytes.
        server.push(ScriptedTurn::new().text("again"));
        home.run(&mut ask(&home, &["-c", "go on"])).success();
        assert!(!server.requests()[3].text().contains(SENT));
        server.finish();
    }
}

/// One oversized picture costs that picture; only where that is not enough, all go (C-30).
#[test]
fn only_the_oversized_picture_is_taken_out() {
    for wire in BOTH {
        let server = server(wire).start();
        let home = TestHome::new().with_server(&server);
        let large = [PICTURE, &vec![b'x'; 30_000]].concat();
        home.write("small.png", PICTURE);
        home.write("large.png", &large);
        server.push(ScriptedTurn::new().call("s", "Read", r#"{"file_path":"small.png"}"#).call(
            "l",
            "Read",
            r#"{"file_path":"large.png"}"#,
        ));
        server.push(Reply::request_too_large_413());
        server.push(ScriptedTurn::new().text("done"));
        server.expect_break("the large picture was taken out");
        let output = home.run(&mut ask(&home, &["look"]));
        assert_eq!(output.success().stdout, "done\n", "{}", output.stderr);
        let pictures = |index: usize| server.requests()[index].text().matches(SENT).count();
        assert_eq!((pictures(1), pictures(2)), (2, 1), "the small one stays");
        // The server is not content with that: the other one goes too.
        server.push(Reply::request_too_large_413());
        server.push(ScriptedTurn::new().text("well"));
        server.expect_break("the small one too");
        home.run(&mut ask(&home, &["-c", "again"])).success();
        assert_eq!((pictures(3), pictures(4)), (1, 0));
        server.finish();
    }
}

/// The summary's own request is refused for its picture: it is asked for without, and the conversation goes on.
#[test]
fn a_summary_that_is_refused_for_its_pictures_is_asked_for_without() {
    let server = small(WireFormat::Anthropic).start();
    let home = home(&server);
    home.write("shot.png", PICTURE);
    server.push(ScriptedTurn::new().call("r", "Read", r#"{"file_path":"shot.png"}"#));
    server.push(ScriptedTurn::new().text("seen"));
    home.run(&mut ask(&home, &["look at the picture"])).success();
    for number in 1..=3 {
        server.push(ScriptedTurn::new().text("noted"));
        home.run(&mut ask(&home, &["-c", &long_prompt(number)])).success();
    }
    server.push_fork(Reply::request_too_large_413());
    server.push_fork(ScriptedTurn::new().text(SUMMARY));
    server.push(ScriptedTurn::new().text("done"));
    server.expect_break("compaction");
    let output = home.run(&mut ask(&home, &["-c", &long_prompt(4)]));
    assert_eq!(output.success().stdout, "done\n");
    let forks = server.fork_requests();
    assert!(forks[0].text().contains(SENT) && !forks[1].text().contains(SENT));
    assert!(text_of(&forks[1]).contains("[a picture, image/png"), "{}", text_of(&forks[1]));
    server.finish();
}

fn thinks(id: &str) -> ScriptedTurn {
    ScriptedTurn::new().thinking(format!("a thought {id}"), format!("signed-{id}")).call(
        id,
        "Read",
        r#"{"file_path":"a.txt"}"#,
    )
}

fn thoughts(request: &Value) -> usize {
    request.to_string().matches(r#""type":"thinking""#).count()
}

/// Bound thinking: dropped, but for that of the pending call; and that as well if it is refused again.
#[test]
fn thinking_that_the_server_refuses_is_dropped_and_never_shown() {
    for refusals in [1, 2] {
        let server = server(WireFormat::Anthropic).start();
        let home = TestHome::new().with_server(&server);
        home.write("a.txt", "one\n");
        server.push(thinks("t1"));
        server.push(ScriptedTurn::new().thinking("so", "signed-end").text("first"));
        home.run(&mut ask(&home, &["look"])).success();
        server.push(thinks("t2"));
        for _ in 0..refusals {
            server.push(Reply::thinking_refused());
            server.expect_break("thinking was dropped");
        }
        server.push(ScriptedTurn::new().text("second"));
        let output = home.run(&mut ask(&home, &["-c", "look again"]));
        assert_eq!(output.success().stdout, "second\n");
        assert!(!output.stderr.contains("thinking"), "{}", output.stderr);
        let sent: Vec<usize> =
            server.requests().iter().map(|request| thoughts(&request.json())).collect();
        // The last thought but one is that of the call whose result was just sent.
        let expected: &[usize] = if refusals == 1 { &[0, 1, 2, 3, 1] } else { &[0, 1, 2, 3, 1, 0] };
        assert_eq!(sent, expected);
        // Dropped for good: the server compares the bytes after a resume.
        server.push(ScriptedTurn::new().text("third"));
        home.run(&mut ask(&home, &["-c", "go on"])).success();
        server.finish();
    }
}

/// A server that will not have it whatever is done: told, and the conversation stays usable.
#[test]
fn thinking_that_is_refused_for_ever_is_told_in_the_end() {
    let server = server(WireFormat::Anthropic).start();
    let home = TestHome::new().with_server(&server);
    home.write("a.txt", "one\n");
    server.push(thinks("t1"));
    (0..2).for_each(|_| server.push(Reply::thinking_refused()));
    server.expect_break("thinking was dropped");
    let output = home.run(&mut ask(&home, &["look"]));
    assert!(output.stderr.contains("refused a thinking block"), "{}", output.stderr);
    server.push(ScriptedTurn::new().text("usable"));
    assert_eq!(home.run(&mut ask(&home, &["-c", "go on"])).success().stdout, "usable\n");
    server.finish();
}
