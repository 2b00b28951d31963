//! A conversation over pipes: `--input-format stream-json`. Every line, both ways, is valid under the published schema.

use std::cell::Cell;

use boon::{Compiler, SchemaIndex, Schemas};
use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{
    End, Output, Reply, Running, ScriptedServer, ServerBuilder, TestHome, WireFormat, needs,
};
use serde_json::{Value, json};

use crate::program::{BOTH, dormouse, server};

const SCHEMA: &str = "docs/stream-json.schema.json";

/// The published schema.
struct Published {
    schemas: Schemas,
    input: SchemaIndex,
    output: SchemaIndex,
}

impl Published {
    fn read() -> Self {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let text = std::fs::read_to_string(root.join(SCHEMA)).unwrap();
        let mut compiler = Compiler::new();
        compiler.add_resource("s.json", serde_json::from_str(&text).unwrap()).unwrap();
        let mut schemas = Schemas::new();
        let input = compiler.compile("s.json#/$defs/input", &mut schemas).unwrap();
        let output = compiler.compile("s.json#/$defs/output", &mut schemas).unwrap();
        Self { schemas, input, output }
    }

    #[track_caller]
    fn check(&self, line: &Value, of: SchemaIndex) {
        if let Err(error) = self.schemas.validate(line, of) {
            panic!("not as published: {line}\n{error:#}");
        }
    }
}

/// The other program.
struct Program {
    running: Running,
    published: Published,
    /// Lines that were looked at.
    seen: Cell<usize>,
}

impl Program {
    fn start(home: &TestHome, arguments: &[&str]) -> Self {
        let formats = ["-p", "--input-format", "stream-json", "--output-format", "stream-json"];
        let mut command = dormouse(home, &[&formats[..], arguments].concat());
        let running = home.spawn(&mut command);
        Self { running, published: Published::read(), seen: Cell::new(0) }
    }

    #[track_caller]
    fn send(&mut self, line: &Value) {
        self.published.check(line, self.published.input);
        self.running.type_text(&format!("{line}\n"));
    }

    fn say(&mut self, text: &str) {
        self.send(&json!({"type": "user", "message": {"role": "user", "content": text}}));
    }

    fn request(&mut self, id: &str, request: &Value) {
        self.send(&json!({"type": "control_request", "request_id": id, "request": request}));
    }

    fn answer(&mut self, request: &Value, answer: &Value) {
        let id = &request["request_id"];
        self.send(&json!({"type": "control_response",
            "response": {"subtype": "success", "request_id": id, "response": answer}}));
    }

    /// The next line of a type.
    #[track_caller]
    fn next(&self, kind: &str) -> Value {
        let found = Cell::new(None);
        self.running.wait_for_stdout(|text| {
            let complete = text.rsplit_once('\n').map_or("", |(complete, _)| complete);
            let mut lines = complete.lines().enumerate().skip(self.seen.get());
            found.set(lines.find_map(|(number, line)| {
                let line: Value = serde_json::from_str(line).unwrap();
                (line["type"] == kind).then_some((number, line))
            }));
            let is_found = found.take();
            let is_there = is_found.is_some();
            found.set(is_found);
            is_there
        });
        let (number, line) = found.take().unwrap();
        self.seen.set(number + 1);
        line
    }

    /// The answer to a request of ours.
    fn response(&self) -> Value {
        self.next("control_response")["response"].clone()
    }

    /// Ends the conversation; all that was printed is as published.
    #[track_caller]
    fn end(mut self) -> Output {
        self.running.close_stdin();
        let output = self.running.wait();
        for line in output.stdout.lines() {
            self.published.check(&serde_json::from_str(line).unwrap(), self.published.output);
        }
        output
    }
}

fn text(answer: &str) -> ScriptedTurn {
    ScriptedTurn::new().text(answer)
}

fn bash(command: &str) -> ScriptedTurn {
    ScriptedTurn::new().call("call", "Bash", json!({"command": command}).to_string())
}

fn model(wire: WireFormat, replies: Vec<Reply>) -> ScriptedServer {
    replies.into_iter().fold(server(wire), ServerBuilder::reply).start()
}

#[test]
fn ten_turns_are_one_conversation() {
    for wire in BOTH {
        let model =
            model(wire, (1..=10).map(|turn| text(&format!("answer {turn}")).into()).collect());
        let home = TestHome::new().with_server(&model);
        let mut program = Program::start(&home, &[]);
        let init = program.next("system");
        assert_eq!(init["subtype"], "init");
        for turn in 1..=10 {
            program.say(&format!("question {turn}"));
            let result = program.next("result");
            assert_eq!(result["result"], format!("answer {turn}"));
            assert_eq!(result["session_id"], init["session_id"]);
        }
        assert_eq!(program.end().code, Some(0));
        let last = model.requests().last().unwrap().text();
        assert!(last.contains("question 1") && last.contains("answer 9"), "{last}");
        model.finish();
    }
}

#[test]
fn permissions_are_asked_and_given_for_what_was_shown() {
    let model = model(
        WireFormat::Anthropic,
        vec![
            bash("touch one").into(),
            text("made").into(),
            bash("touch two").into(),
            text("not made").into(),
            bash("touch three").into(),
            text("not made either").into(),
        ],
    );
    let home = TestHome::new().with_server(&model);
    let mut program = Program::start(&home, &[]);
    program.say("make one");
    let asked = program.next("control_request");
    assert_eq!(asked["request"]["tool_name"], "Bash");
    assert_eq!(asked["request"]["input"]["command"], "touch one");
    assert!(!home.project().join("one").exists(), "before the answer");
    program.answer(&asked, &json!({"behavior": "allow", "updatedInput": {"command": "touch one"}}));
    assert_eq!(program.next("result")["result"], "made");
    assert!(home.project().join("one").exists());

    program.say("make two");
    let asked = program.next("control_request");
    program.answer(&asked, &json!({"behavior": "deny", "message": "not on a Friday"}));
    let result = program.next("result");
    assert_eq!(result["result"], "not made");
    assert!(!home.project().join("two").exists());
    assert!(model.requests().last().unwrap().text().contains("not on a Friday"));

    program.say("make three");
    let asked = program.next("control_request");
    let changed = json!({"behavior": "allow", "updatedInput": {"command": "touch four"}});
    program.answer(&asked, &changed);
    assert_eq!(program.next("result")["result"], "not made either");
    assert!(!home.project().join("three").exists() && !home.project().join("four").exists());
    // The same answer again has no question.
    program.answer(&asked, &json!({"behavior": "allow"}));
    let notice = program.next("system");
    assert_eq!(notice["subtype"], "invalid_input");
    program.end().success();
    model.finish();
}

#[test]
fn standard_input_allows_no_more_than_the_command_line() {
    let model = model(WireFormat::Anthropic, vec![bash("touch one").into(), text("no").into()]);
    let home = TestHome::new().with_server(&model);
    let mut program = Program::start(&home, &[]);
    for (id, mode) in [("1", "bypassPermissions"), ("2", "acceptEdits")] {
        program.request(id, &json!({"subtype": "set_permission_mode", "mode": mode}));
        let refused = program.response();
        assert_eq!((&refused["subtype"], &refused["request_id"]), (&json!("error"), &json!(id)));
    }
    for (id, mode) in [("3", "plan"), ("4", "default")] {
        program.request(id, &json!({"subtype": "set_permission_mode", "mode": mode}));
        assert_eq!(program.response()["subtype"], "success", "{mode}");
    }
    program.request("5", &json!({"subtype": "initialize", "hooks": {"PreToolUse": [{}]}}));
    assert_eq!(program.response()["subtype"], "error");
    program.request("6", &json!({"subtype": "initialize", "hooks": null}));
    assert_eq!(program.response()["response"]["version"], env!("CARGO_PKG_VERSION"));
    program.say("make one");
    let asked = program.next("control_request");
    let always = json!({"behavior": "allow", "updatedPermissions": [{"type": "setMode", "mode": "bypassPermissions"}]});
    program.answer(&asked, &always);
    program.next("result");
    program.request("7", &json!({"subtype": "set_permission_mode", "mode": "acceptEdits"}));
    assert_eq!(program.response()["subtype"], "error");
    program.end().success();
    model.finish();
}

#[test]
fn a_turn_is_interrupted_and_the_next_one_works() {
    for wire in BOTH {
        let hanging = Reply::from(text("a long answer that")).stop_after(3).then(End::Hang);
        let model = model(wire, vec![hanging, bash("touch one").into(), text("still here").into()]);
        let home = TestHome::new().with_server(&model);
        let mut program = Program::start(&home, &[]);
        program.say("talk");
        program.next("stream_event");
        program.request("stop", &json!({"subtype": "interrupt"}));
        assert_eq!(program.response()["request_id"], "stop");
        assert_eq!(program.next("result")["subtype"], "interrupted");
        // While it waits for a permission: the question is withdrawn.
        program.say("make one");
        let asked = program.next("control_request");
        program.request("again", &json!({"subtype": "interrupt"}));
        let withdrawn = program.next("control_cancel_request");
        assert_eq!(withdrawn["request_id"], asked["request_id"]);
        assert_eq!(program.next("result")["subtype"], "interrupted");
        program.say("are you there?");
        assert_eq!(program.next("result")["result"], "still here");
        assert!(!home.project().join("one").exists());
        program.end().success();
        model.finish();
    }
}

#[test]
fn the_model_changes_with_the_next_turn() {
    let model = model(WireFormat::Anthropic, vec![text("one").into(), text("two").into()]);
    let home = TestHome::new().with_server(&model);
    let mut program = Program::start(&home, &["--model", "claude-sonnet-4-5"]);
    program.say("first");
    program.next("result");
    model.expect_break("another model");
    program.request("m", &json!({"subtype": "set_model", "model": "claude-opus-5-5"}));
    assert_eq!(program.response()["response"]["model"], "claude-opus-5-5");
    program.say("second");
    assert_eq!(program.next("result")["model"], "claude-opus-5-5");
    program.end().success();
    let models: Vec<Value> =
        model.requests().iter().map(|request| request.json()["model"].clone()).collect();
    assert_eq!(models, ["claude-sonnet-4-5", "claude-opus-5-5"]);
    model.finish();
}

#[test]
fn messages_and_their_end_may_come_all_at_once() {
    let model = model(
        WireFormat::Anthropic,
        vec![bash("touch one").into(), text("denied").into(), text("two").into()],
    );
    let home = TestHome::new().with_server(&model);
    let mut program = Program::start(&home, &["first", "question"]);
    program.say("second question");
    let output = program.end();
    assert_eq!(output.code, Some(0), "{output:?}");
    let results: Vec<Value> = output
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|line| line["type"] == "result")
        .collect();
    assert_eq!(results.len(), 2);
    assert_eq!((&results[0]["result"], &results[1]["result"]), (&json!("denied"), &json!("two")));
    // Nobody was left to answer.
    assert_eq!(results[0]["permission_denials"][0]["tool_name"], "Bash");
    assert!(results[1].get("permission_denials").is_none());
    assert!(!home.project().join("one").exists());
    model.finish();
}

#[test]
fn a_line_that_is_not_understood_ends_nothing() {
    let model = model(WireFormat::Anthropic, vec![text("fine").into()]);
    let home = TestHome::new().with_server(&model);
    let mut program = Program::start(&home, &[]);
    program.next("system");
    program.running.type_text("not json\n\n{\"type\":\"control_request\",\"request_id\":\"x\",\"request\":{\"subtype\":\"mcp_status\"}}\n");
    let notice = program.next("system");
    assert_eq!(notice["subtype"], "invalid_input");
    assert!(notice["message"].as_str().unwrap().starts_with("line 1 "), "{notice}");
    let refused = program.response();
    assert_eq!((&refused["subtype"], &refused["request_id"]), (&json!("error"), &json!("x")));
    program.say("and now?");
    assert_eq!(program.next("result")["result"], "fine");
    program.end().success();
    model.finish();
}

#[test]
fn a_picture_goes_with_the_message() {
    let model = model(WireFormat::Anthropic, vec![text("a dot").into()]);
    let home = TestHome::new().with_server(&model);
    let mut program = Program::start(&home, &[]);
    let png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    let picture = |kind: &str, data: &str| {
        json!({"type": "user", "message": {"role": "user", "content": [
            {"type": "text", "text": "what is this?"},
            {"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}},
        ]}})
    };
    program.send(&picture("image/png", "***"));
    let notice = program.next("system");
    assert_eq!(notice["subtype"], "init");
    assert_eq!(program.next("system")["subtype"], "invalid_input");
    program.send(&picture("image/png", png));
    assert_eq!(program.next("result")["result"], "a dot");
    program.end().success();
    assert!(model.requests()[0].text().contains(png), "the picture was not sent");
    model.finish();
}

#[test]
fn the_formats_belong_together() {
    let home = TestHome::new();
    let output = home.run(&mut dormouse(&home, &["-p", "--input-format", "stream-json"]));
    output.expect_code(2);
    assert!(output.stderr.contains("--output-format stream-json"), "{}", output.stderr);
}

/// The example of the documentation: ten turns, a permission, an interrupt, another model.
#[test]
fn the_python_example_works() {
    needs!("python");
    let hanging = Reply::from(text("a long answer")).stop_after(3).then(End::Hang);
    let mut replies: Vec<Reply> =
        (1..=8).map(|turn| text(&format!("answer {turn}")).into()).collect();
    replies.extend([bash("ls -d . > listed").into(), text("listed").into(), hanging]);
    let model = model(WireFormat::Anthropic, replies);
    let home = TestHome::new().with_server(&model);
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let example = root.join("docs/examples/conversation.py");
    let script = format!(
        "import sys; sys.path.insert(0, {:?}); import conversation; \
         questions = [f'question {{n}}' for n in range(1, 9)] + ['list', '/model claude-opus-5-5', '/stop']; \
         [print(line.get('result', line['type']) or line['subtype']) for line in conversation.ask(questions, [{:?}])]",
        example.parent().unwrap().display().to_string(),
        env!("CARGO_BIN_EXE_dormouse"),
    );
    model.expect_break("another model");
    let mut python = home.command("python3");
    python.args(["-B", "-c", &script]);
    let output = home.run(&mut python);
    let printed: Vec<&str> = output.success().stdout.lines().collect();
    let mut expected: Vec<String> = (1..=8).map(|turn| format!("answer {turn}")).collect();
    expected.extend(["listed", "control_response", "a long answer"].map(str::to_owned));
    assert_eq!(printed.len(), expected.len(), "{output:?}");
    assert_eq!(printed[..10], expected[..10]);
    assert!(home.project().join("listed").exists());
    assert_eq!(model.requests().last().unwrap().json()["model"], "claude-opus-5-5");
    model.finish();
}
