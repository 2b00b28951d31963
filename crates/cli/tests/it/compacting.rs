//! What tests of compaction share: a window that fills up quickly, and what must hold of the conversation
//! after it, whatever happened.

use dormouse_conversation::{Budget, ContextWindow};
use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{
    RecordedRequest, Reply, ScriptedServer, ServerBuilder, TestHome, WireFormat,
};
use serde_json::Value;

use crate::program::{ask, server, transcript};

/// What a model asked for a summary answers, at its best.
pub(crate) const SUMMARY: &str =
    "<draft>thinking aloud</draft>\n<summary>\n1. The user wants the parser mended.\n</summary>";

/// Summaries that differ, as those of a model do.
pub(crate) fn summaries() -> impl FnMut(&RecordedRequest) -> Reply + Send + 'static {
    let mut number = 0;
    move |_| {
        number += 1;
        ScriptedTurn::new().text(SUMMARY.replace("1.", &format!("1. (summary {number})"))).into()
    }
}

/// A prompt of about 2,500 tokens, with a number to find it by.
pub(crate) fn long_prompt(number: usize) -> String {
    format!("message number {number}: {} the end of {number}", "lorem ipsum dolor ".repeat(560))
}

/// The window of [`small`].
pub(crate) const SMALL: u32 = 16_000;

/// A window in which the fourth such prompt is too much.
pub(crate) fn small(wire: WireFormat) -> ServerBuilder {
    server(wire).window(u64::from(SMALL)).max_output(4_000)
}

/// A home that knows the window.
/// Settings that offer all tools in a small window, for tests that count on what they take.
pub(crate) const ALL_TOOLS: &str =
    r#"{"tools":{"smallWindow":["Agent","ExitPlan","KillShell","SendMessage","TodoWrite"]}}"#;

pub(crate) fn home_for(server: &ScriptedServer, window: u32) -> TestHome {
    let mut home = TestHome::new().with_server(server);
    home.set_env("DORMOUSE_CONTEXT_WINDOW", window.to_string());
    // Windows are filled by reading the same file again and again.
    home.set_env("DORMOUSE_REPEATED_CALLS", "0");
    home
}

pub(crate) fn home(server: &ScriptedServer) -> TestHome {
    home_for(server, SMALL)
}

/// Says so much that the next prompt makes a compaction due; gives what was said.
pub(crate) fn fill(home: &TestHome, server: &ScriptedServer, prompts: usize) -> Vec<String> {
    let prompts: Vec<String> = (1..=prompts).map(long_prompt).collect();
    for (number, prompt) in (1..).zip(&prompts) {
        server.push(
            ScriptedTurn::new().text(format!("answer {number} about src/parser_{number}.rs")),
        );
        say(home, prompt, number > 1);
    }
    prompts
}

/// Says something, however long, in a run of its own.
#[track_caller]
pub(crate) fn say(home: &TestHome, prompt: &str, goes_on: bool) -> dormouse_testkit::Output {
    let arguments: &[&str] = if goes_on { &["-c"] } else { &[] };
    let output = home.run_with_input(&mut ask(home, arguments), prompt);
    output.success();
    output
}

/// All texts of a request's messages, as they are.
pub(crate) fn text_of(request: &RecordedRequest) -> String {
    fn gather(value: &Value, out: &mut String) {
        match value {
            Value::String(text) => {
                out.push_str(text);
                out.push('\n');
            }
            Value::Array(list) => list.iter().for_each(|value| gather(value, out)),
            Value::Object(fields) => fields.values().for_each(|value| gather(value, out)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    let mut text = String::new();
    request.messages().iter().for_each(|message| gather(message, &mut text));
    text
}

/// The texts of the newest request of the conversation.
pub(crate) fn last_text(server: &ScriptedServer) -> String {
    text_of(server.requests().last().unwrap())
}

/// The lines of the only transcript.
pub(crate) fn lines(home: &TestHome) -> Vec<Value> {
    transcript(home).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The boundaries of a transcript.
pub(crate) fn boundaries(home: &TestHome) -> Vec<Value> {
    lines(home).into_iter().filter(|line| line["subtype"] == "compact_boundary").collect()
}

/// What the user said last stands in the request word for word, up to what the window allows; all else is
/// where the request says.
#[track_caller]
pub(crate) fn nothing_is_lost(home: &TestHome, sent: &str, said: &[String], window: u32) {
    let budget = Budget::for_window(ContextWindow::new(window).unwrap(), window / 4);
    let mut room = usize::try_from(budget.compaction.user_words_tokens).unwrap() * 4;
    // Word for word and its heading.
    let heading = 120;
    for prompt in said.iter().rev() {
        room = room.saturating_sub(prompt.len() + heading);
        if room == 0 {
            break;
        }
        assert!(sent.contains(prompt.trim()), "not word for word: {prompt}\n--- in\n{sent}");
    }
    for prompt in said.iter().filter(|prompt| !sent.contains(prompt.trim())) {
        assert_eq!(&at_its_place(home, sent, prompt), prompt, "somewhere else");
    }
    places_are_right(home, sent);
}

/// Every line of the transcript that a request names holds the words below its name.
#[track_caller]
pub(crate) fn places_are_right(home: &TestHome, sent: &str) {
    let (lines, mut rest) = (lines(home), sent);
    while let Some((before, after)) = rest.split_once(" of the transcript]\n") {
        let number: usize = before.rsplit_once("line ").unwrap().1.parse().unwrap();
        let words = after.lines().next().unwrap();
        let there = lines[number - 1]["message"]["content"][0]["text"].as_str().unwrap_or_default();
        assert!(there.trim_start().starts_with(words), "line {number} is {there:?}, not {words:?}");
        rest = after;
    }
}

/// The message that stands where the request says that this one is.
#[track_caller]
fn at_its_place(home: &TestHome, sent: &str, prompt: &str) -> String {
    let beginning: String = prompt.trim().lines().next().unwrap().chars().take(25).collect();
    // `- when, place: first words…` or `[when, place]` and the message below it.
    let listed = sent.lines().find(|line| line.starts_with("- ") && line.contains(&beginning));
    let shown = sent.split_once(&format!("]\n{beginning}")).map(|(before, _)| before);
    let place = match (listed, shown) {
        (Some(line), _) => line.split_once(": ").unwrap().0,
        (None, Some(before)) => before.rsplit_once('[').unwrap().1,
        // In a small window there is no room for all of them.
        (None, None) if sent.contains("Grep finds them in the transcript") => {
            let spoken =
                |line: Value| Some(line["message"]["content"][0]["text"].as_str()?.to_owned());
            let found = lines(home).into_iter().filter_map(spoken).find(|text| text == prompt);
            return found.unwrap_or_default();
        }
        (None, None) => panic!("no place for `{beginning}` in\n{sent}"),
    };
    let place = place.split_once(", ").unwrap().1;
    match place.strip_prefix("line ") {
        None => std::fs::read_to_string(place).unwrap_or_else(|error| panic!("{place}: {error}")),
        Some(line) => {
            let number: usize = line.split(' ').next().unwrap().parse().unwrap();
            let line = lines(home).remove(number - 1);
            line["message"]["content"][0]["text"].as_str().unwrap_or_default().to_owned()
        }
    }
}
