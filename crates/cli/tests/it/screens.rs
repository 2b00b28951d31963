//! A whole session on the screen, at three widths and in both languages: it reads, edits, fails a command, is steered, interrupted,
//! rewound and resumed. The screens are snapshots; with `DORMOUSE_PICTURES=1` those of the manual are drawn anew.

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{
    CellColor, Gate, Reply, ScriptedServer, Terminal, TestHome, WireFormat, picture,
};
use serde_json::json;

use crate::program::{server, wait_until};
use crate::talk::{leave, wait_for_prompt};

const CODE: &str = "fn nuts() -> u32 {\n    let acorns = 40;\n    acorns + 11\n}\n";
const ROWS: u16 = 40;
/// The screens in the manual.
const PICTURED: &[&str] = &["confirms", "queues", "rewinds"];

/// What is typed, and what the model says.
struct Words {
    language: &'static str,
    prompt: &'static str,
    reads: &'static str,
    done: &'static str,
    more: &'static str,
    steered: &'static str,
    long: &'static str,
    /// What is shown of it before it is held up.
    first: &'static str,
    queued: &'static str,
    interrupted: &'static str,
}

const ENGLISH: Words = Words {
    language: "en",
    prompt: "why does the count of nuts fail?",
    reads: "I look at the code and run the test.",
    done: "The sum was **one too low**; `nuts()` returns 52 now.",
    more: "write the history of the nuts",
    steered: "keep it short",
    long: "Once upon a time there was a dormouse that counted its nuts before winter",
    first: "Once upon a",
    queued: "queued: keep",
    interrupted: "Interrupted",
};

const CHINESE: Words = Words {
    language: "zh",
    prompt: "松果的数量为什么不对？",
    reads: "我先看一下代码，然后运行测试。",
    done: "总数**少算了一个**；`nuts()` 现在返回 52。",
    more: "写一写松果的历史",
    steered: "写短一点",
    long: "从前有一只睡鼠，每到冬天之前都要把自己的松果数一遍，一颗也不漏掉",
    first: "从前有一只睡鼠",
    queued: "排队中：",
    interrupted: "已中断",
};

/// The screens of a session, one below the other.
struct Screens {
    text: String,
    picture: Option<String>,
}

impl Screens {
    fn add(&mut self, name: &str, terminal: &Terminal) {
        let rows: Vec<String> = terminal.screen().lines().map(|row| format!("│{row}")).collect();
        let last = rows.iter().rposition(|row| row != "│").unwrap_or(0);
        let shown = rows.get(..=last).unwrap_or_default().join("\n");
        self.text.push_str(&format!("── {name}\n{shown}\n\n"));
        if let Some(prefix) = self.picture.as_ref().filter(|_| PICTURED.contains(&name)) {
            let file =
                format!("{}/../../docs/screen-{prefix}-{name}.svg", env!("CARGO_MANIFEST_DIR"));
            std::fs::write(file, terminal.look(picture)).unwrap();
        }
    }
}

/// The model: it reads, fails and edits, and answers; then it is held up twice.
fn model(words: &Words, gates: &[Gate; 2]) -> ScriptedServer {
    let fails = json!({"command": "printf 'running 1 test\\ntest nuts ... FAILED\\n'; exit 101"});
    let edit =
        json!({"file_path": "nuts.rs", "old_string": "acorns + 11", "new_string": "acorns + 12"});
    let looks =
        ScriptedTurn::new().text(words.reads).call("r", "Read", r#"{"file_path":"nuts.rs"}"#);
    let counts =
        ScriptedTurn::new().text(words.reads).call("c", "Bash", r#"{"command":"echo 52"}"#);
    server(WireFormat::Anthropic)
        .reply(looks.call("b", "Bash", fails.to_string()))
        .reply(ScriptedTurn::new().call("e", "Edit", edit.to_string()))
        .reply(ScriptedTurn::new().text(words.done))
        .reply(Reply::from(counts).gate_after(2, &gates[0]))
        .reply(Reply::from(ScriptedTurn::new().text(words.long)).gate_after(3, &gates[1]))
        .start()
}

fn session(words: &Words, columns: u16) -> Screens {
    let gates = [Gate::new(), Gate::new()];
    let server = model(words, &gates);
    let mut home = TestHome::new().with_server(&server);
    // So that the folder is shown as `~/project`.
    home.set_env("HOME", home.root().to_owned());
    home.write(
        home.dormouse_home().join("settings.json"),
        json!({"language": words.language, "terminal": {"title": false}, "layers": {"dream": false, "extraction": false}}).to_string(),
    );
    home.write("nuts.rs", CODE);
    let pictured = columns == 80 && std::env::var_os("DORMOUSE_PICTURES").is_some();
    let mut screens =
        Screens { text: String::new(), picture: pictured.then(|| words.language.to_owned()) };
    let start = |arguments: &[&str]| {
        home.terminal(env!("CARGO_BIN_EXE_dormouse"), arguments, (columns, ROWS))
    };
    let mut terminal = start(&["--allowed-tools", "Bash"]);
    wait_for_prompt(&terminal);
    terminal.enter(words.prompt);
    terminal.wait_for("the question", |screen| screen.contains("❯ 1"));
    screens.add("confirms", &terminal);
    terminal.type_keys("y");
    terminal.wait_for("the answer", |screen| screen.contains("52"));
    wait_for_prompt(&terminal);
    screens.add("answers", &terminal);

    terminal.enter(words.more);
    wait_until("the fourth request", || server.requests().len() == 4);
    terminal.enter(words.steered);
    terminal.wait_for("the queue", |screen| screen.contains(words.queued));
    screens.add("queues", &terminal);
    terminal.type_keys("\r");
    terminal.wait_for("steering", |screen| !screen.contains(words.queued));
    gates[0].open();
    wait_until("the fifth request", || server.requests().len() == 5);
    let sent = server.requests().last().unwrap().last_message().to_string();
    assert!(sent.contains(words.steered), "{sent}");
    terminal.wait_for("the first words", |screen| screen.contains(words.first));
    terminal.type_keys("\x1b");
    terminal.wait_for("the end", |screen| screen.contains(words.interrupted));
    wait_for_prompt(&terminal);
    screens.add("is-interrupted", &terminal);

    terminal.type_keys("\x1b\x1b");
    terminal.wait_for("the picker", |screen| screen.contains("❯ "));
    screens.add("rewinds", &terminal);
    terminal.type_keys("\x1b");
    wait_for_prompt(&terminal);
    leave(terminal);
    gates[1].open();

    let mut terminal = start(&["--resume"]);
    terminal.wait_for("the sessions", |screen| screen.contains("❯ "));
    screens.add("picks", &terminal);
    terminal.type_keys("\r");
    wait_for_prompt(&terminal);
    screens.add("resumes", &terminal);
    leave(terminal);
    screens
}

/// Compares with the snapshot; durations, percentages of the window and ages vary.
fn assert_screens(name: &str, screens: &Screens) {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.add_filter(r"/tmp/dormouse-test-\w+", "[ROOT]");
    settings.add_filter(r"\d+(\.\d)? s\b", "[N] s");
    settings.add_filter(r"\d+ 秒", "[N] 秒");
    settings.add_filter(r"\d+ %", "[N] %");
    settings.add_filter(r"now ·|\d+ min ·", "[AGE] ·");
    settings.add_filter(r"刚刚 ·|\d+ 分钟 ·", "[AGE] ·");
    settings.bind(|| insta::assert_snapshot!(name, screens.text));
}

#[test]
fn at_40_columns() {
    assert_screens("screens_en_40", &session(&ENGLISH, 40));
    assert_screens("screens_zh_40", &session(&CHINESE, 40));
}

#[test]
fn at_80_columns() {
    assert_screens("screens_en_80", &session(&ENGLISH, 80));
    assert_screens("screens_zh_80", &session(&CHINESE, 80));
}

#[test]
fn at_120_columns() {
    assert_screens("screens_en_120", &session(&ENGLISH, 120));
    assert_screens("screens_zh_120", &session(&CHINESE, 120));
}

/// Only the sixteen colors of the palette are used, whatever the terminal says it can, and none with `NO_COLOR`.
#[test]
fn colors_are_those_of_the_palette() {
    for (term, no_color) in [("xterm-256color", false), ("linux", false), ("xterm", true)] {
        let input = json!({"command": "exit 3"}).to_string();
        let server = server(WireFormat::Anthropic)
            .reply(ScriptedTurn::new().call("b", "Bash", input))
            .reply(
                ScriptedTurn::new().text("```rust\nfn a() {}\n```\n`code` and [a](b)\n\nthe end"),
            )
            .start();
        let mut home = TestHome::new().with_server(&server);
        home.set_env("TERM", term);
        if no_color {
            home.set_env("NO_COLOR", "1");
        }
        let mut terminal = crate::talk::talk(&home, &["--allowed-tools", "Bash"], (80, 24));
        crate::talk::say(&mut terminal, "go", "the end");
        let colors = terminal.look(|screen| {
            let (rows, columns) = screen.size();
            let cells =
                (0..rows.get()).flat_map(|row| (0..columns.get()).map(move |column| (row, column)));
            let cells = cells.filter_map(|(row, column)| screen.cell(row, column));
            let colors = cells.map(dormouse_testkit::Cell::fgcolor);
            colors.filter(|color| *color != CellColor::Default).collect::<Vec<_>>()
        });
        assert_eq!(colors.is_empty(), no_color, "{term}");
        assert!(colors.iter().all(|color| matches!(color, CellColor::Idx(0..=15))), "{colors:?}");
        leave(terminal);
        server.finish();
    }
}
