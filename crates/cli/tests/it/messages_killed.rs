//! Many write to one mailbox while whoever reads it is killed, again and again: each message is delivered once (A-7).

use std::collections::HashSet;
use std::time::Duration;

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{RecordedRequest, Reply, Running, TestHome, WireFormat};

use crate::messages::{delivered, mailbox, start};
use crate::program::{ask, dormouse, server, wait_until};

const SENDERS: usize = 8;
const MESSAGES: usize = 500;
/// A program is killed before its session has written so many bytes more.
const MOMENTS: u64 = 100_000;

/// What was delivered, in order: while one reads, only its transcript grows.
struct Deliveries {
    seen: HashSet<String>,
    order: Vec<String>,
}

impl Deliveries {
    fn look(&mut self, home: &TestHome) {
        let all: Vec<String> = home.transcripts().iter().flat_map(|path| delivered(path)).collect();
        let distinct: HashSet<&String> = all.iter().collect();
        assert_eq!(distinct.len(), all.len(), "one was delivered twice");
        let new: Vec<String> = all.into_iter().filter(|id| !self.seen.contains(id)).collect();
        self.seen.extend(new.iter().cloned());
        self.order.extend(new);
    }
}

fn senders(home: &TestHome) -> Vec<Running> {
    let begin = |sender: usize| {
        let from = format!("s{sender}");
        let mut running =
            home.spawn(&mut dormouse(home, &["send", "r", "--lines", "--from", &from]));
        let lines: Vec<String> =
            (0..MESSAGES).map(|number| format!("message {number} of sender {sender}\n")).collect();
        running.type_text(&lines.concat());
        running.close_stdin();
        running
    };
    (0..SENDERS).map(begin).collect()
}

/// How many bytes all transcripts have.
fn written(home: &TestHome) -> u64 {
    home.transcripts().iter().map(|path| path.metadata().unwrap().len()).sum()
}

/// Numbers that look random, the same every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

/// What counts as delivered when a session is opened again.
fn counted(home: &TestHome) -> Vec<String> {
    let load = |path: &std::path::PathBuf| {
        dormouse_conversation::transcript::load_transcript(&std::fs::read(path).unwrap()).delivered
    };
    home.transcripts().iter().flat_map(load).collect()
}

/// A disk that fails, or an end, at any append: the message is told in this session or the next, and once.
#[test]
fn a_message_is_told_once_whatever_fails() {
    for action in ["eio", "abort"] {
        let mut hits = 0;
        for point in 1..40 {
            let answer = |request: &RecordedRequest| -> Reply {
                let calls = !request.text().contains("tool_result");
                let turn = ScriptedTurn::new();
                if calls {
                    turn.call("1", "Bash", r#"{"command":"ls"}"#).into()
                } else {
                    turn.text("done").into()
                }
            };
            let server = server(WireFormat::Anthropic).reply_with(answer).start();
            let mut home = TestHome::new().with_server(&server);
            home.run(&mut ask(&home, &["--name", "r", "begin"])).success();
            for text in ["one of two messages to r", "two of two messages to r"] {
                home.run(&mut dormouse(&home, &["send", "r", text])).success();
            }
            home.set_env("DORMOUSE_FAULT", format!("{action}@base.append#{point}"));
            let failed = home.run(&mut ask(&home, &["--name", "r", "go"])).code != Some(0);
            home.unset_env("DORMOUSE_FAULT");
            hits += usize::from(failed);
            home.run(&mut ask(&home, &["--name", "r", "end"])).success();
            let mail = mailbox(&home, "r");
            let ids: Vec<&str> = mail.iter().map(|line| line["id"].as_str().unwrap()).collect();
            let mut told = counted(&home);
            told.sort_by_key(|id| ids.iter().position(|known| known == id));
            assert_eq!(told, ids, "{action} at append {point}");
            if !failed {
                break;
            }
        }
        assert!(hits > 5, "{action}: only {hits} appends failed");
    }
}

#[test]
fn each_of_many_messages_is_delivered_once_whatever_is_killed() {
    let answer = |_: &RecordedRequest| -> Reply {
        Reply::from(ScriptedTurn::new().text("read")).slow(Duration::from_millis(4))
    };
    let server = server(WireFormat::Anthropic).window(2_000_000).reply_with(answer).start();
    let home = TestHome::new().with_server(&server);
    home.run(&mut ask(&home, &["--name", "r", "begin"])).success();
    let senders = senders(&home);
    let mut dice = Dice(20_261_115);
    let mut deliveries = Deliveries { seen: HashSet::new(), order: Vec::new() };
    let (mut kills, mut rounds, mut idle) = (0, 0, 0);
    while deliveries.order.len() < SENDERS * MESSAGES && idle < 12 {
        rounds += 1;
        let mut flags = vec!["--name", "r", "go on"];
        if dice.below(3) == 0 {
            flags.push("-c");
        }
        let before = written(&home);
        let mut running = start(&home, &flags);
        // A kill at any moment is what this is about. Moments are counted in what the program has written, so that a busy machine
        // has as many of them.
        let moment = before + dice.below(MOMENTS);
        wait_until("its moment, or its end", || written(&home) >= moment || running.has_ended());
        running.kill9();
        kills += usize::from(running.wait().signal == Some(9));
        let before = deliveries.order.len();
        deliveries.look(&home);
        idle = if deliveries.order.len() > before { 0 } else { idle + 1 };
    }
    for sender in senders {
        sender.wait().success();
    }
    home.run(&mut ask(&home, &["--name", "r", "end"])).success();
    deliveries.look(&home);
    let mail = mailbox(&home, "r");
    let ids: Vec<&str> = mail.iter().map(|line| line["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), SENDERS * MESSAGES);
    assert_eq!(deliveries.order, ids, "in the order of the mailbox");
    let numbers: Vec<u64> = mail.iter().map(|line| line["seq"].as_u64().unwrap()).collect();
    assert!(numbers.iter().copied().eq(1..=(SENDERS * MESSAGES) as u64), "each has its number");
    for sender in 0..SENDERS {
        let from = format!("s{sender}");
        let texts: Vec<&str> = mail
            .iter()
            .filter(|line| line["from"] == from.as_str())
            .map(|line| line["text"].as_str().unwrap())
            .collect();
        let wanted: Vec<String> =
            (0..MESSAGES).map(|number| format!("message {number} of sender {sender}")).collect();
        assert_eq!(texts, wanted);
    }
    assert!(kills > 10, "it was killed only {kills} times");
    eprintln!("{rounds} runs, {kills} killed, {} transcripts", home.transcripts().len());
}
