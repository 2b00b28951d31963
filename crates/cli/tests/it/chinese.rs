//! The program in Chinese: by the locale or the setting, in the terminal, in help and in errors.

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{TestHome, WireFormat};
use serde_json::json;

use crate::program::{ask, dormouse, server};
use crate::talk::{answer, leave, say, talk, wait_for_menu, wait_for_prompt_in};

fn speak_chinese(home: &TestHome) {
    home.write(home.dormouse_home().join("settings.json"), r#"{"language":"zh"}"#);
}

/// A session in which a command fails and another is refused; nothing on the screen is English but names and output.
#[test]
fn a_session_in_chinese() {
    let call = |id: &str, command: &str| {
        ScriptedTurn::new().call(id, "Bash", json!({ "command": command }).to_string())
    };
    let server = server(WireFormat::Anthropic)
        .reply(call("a", "ls \"睡鼠\""))
        .reply(call("b", "touch \"松果\""))
        .reply(ScriptedTurn::new().text("好的，不建文件。"))
        .reply(call("c", "touch \"松果\""))
        .reply(ScriptedTurn::new().text("计划模式下不行。"))
        .start();
    let home = TestHome::new().with_server(&server);
    speak_chinese(&home);
    let mut terminal = talk(&home, &[], (60, 30));
    assert!(
        terminal.screen().contains("/help 查看按键和命令，Ctrl-D 退出"),
        "{}",
        terminal.screen()
    );
    terminal.enter("看一下目录");
    wait_for_menu(&terminal, "拒绝，并告诉模型原因");
    let screen = terminal.screen();
    let reason = "`touch` 不是已知的只读命令";
    for wanted in ["退出码 2", "1 允许 (y)", "允许，并编辑或保存规则", reason] {
        assert!(screen.contains(wanted), "{wanted}: {screen}");
    }
    answer(&mut terminal, "n", "好的，不建文件。");
    assert!(terminal.screen().contains(" · 窗口 "), "{}", terminal.screen());
    say(&mut terminal, "/permissions plan", "接受计划之前只读");
    wait_for_prompt_in(&terminal, &["plan "]);
    let system = server.requests()[0].system_text();
    assert!(system.contains("answer in Chinese"), "{system}");
    // The model reads reasons in English, in every language of the user's.
    home.write("笔记.md", "松果");
    say(&mut terminal, "按 @笔记.md 再试一次", "计划模式下不行。");
    assert!(terminal.screen().contains("已附上 笔记.md"), "{}", terminal.screen());
    let screen: String = terminal.screen().split_whitespace().collect();
    assert!(screen.contains("不是已知的只读命令。计划模式下不允许修改。"), "{screen}");
    let told = server.requests().last().unwrap().text();
    assert!(told.contains("Plan mode allows no changes."), "{told}");
    leave(terminal);
    server.finish();
}

/// The locale counts where no setting does; help, hints and errors follow it.
#[test]
fn help_and_errors_in_chinese() {
    let home = TestHome::new();
    let run = |words: &[&str], code: i32| {
        let mut command = dormouse(&home, words);
        let run = home.run(command.env("LC_ALL", "zh_CN.UTF-8"));
        run.expect_code(code);
        format!("{}{}", run.stdout, run.stderr)
    };
    assert!(run(&["memory", "--help"], 0).contains("列出记忆"));
    let agents = run(&["agents"], 0);
    assert!(agents.contains("explore (内置)") && agents.contains("只读取"), "{agents}");
    let doctor = run(&["doctor", "--offline"], 1);
    assert!(doctor.contains("正常     设置") && !doctor.contains("ok "), "{doctor}");
    let error = run(&["memory", "show", "没有"], 1);
    assert!(error.contains("错误：") && error.contains("提示："), "{error}");
    speak_english(&home);
    assert!(run(&["memory", "show", "没有"], 1).starts_with("error: "));
}

fn speak_english(home: &TestHome) {
    home.write(home.dormouse_home().join("settings.json"), r#"{"language":"en"}"#);
}

/// English prompts are as before, to the byte: a Chinese locale adds one paragraph to the system prompt.
#[test]
fn the_model_is_told_the_language() {
    let server = server(WireFormat::Anthropic)
        .reply(ScriptedTurn::new().text("hi"))
        .reply(ScriptedTurn::new().text("你好"))
        .start();
    let home = TestHome::new().with_server(&server);
    home.run(&mut ask(&home, &["hello"])).success();
    server.expect_break("another language");
    let mut command = ask(&home, &["你好"]);
    home.run(command.env("LANG", "zh_CN.UTF-8").env("LC_ALL", "")).success();
    let requests = server.requests();
    assert!(!requests[0].system_text().contains("Chinese"));
    assert!(requests[1].system_text().contains("answer in Chinese"));
    server.finish();
}

/// What goes wrong at a first run, and with the server, is said in Chinese, with what to do.
#[test]
fn errors_of_the_first_run_and_of_the_server() {
    let mut home = TestHome::new();
    speak_chinese(&home);
    let first = home.run(&mut ask(&home, &["你好"]));
    assert!(
        first.expect_code(2).stderr.starts_with("错误：尚未设置模型\n提示："),
        "{}",
        first.stderr
    );
    assert!(!first.stderr.contains("with an"), "{}", first.stderr);
    home.set_env("OPENAI_BASE_URL", "http://127.0.0.1:1/v1");
    let unanswered = home.run(&mut ask(&home, &["--model", "m", "你好"]));
    let expected = "没有服务器在监听";
    assert!(unanswered.expect_code(1).stderr.contains(expected), "{}", unanswered.stderr);
    assert!(unanswered.stderr.contains("提示：请检查服务器是否在运行"), "{}", unanswered.stderr);
}
