//! Questions of MCP servers to the user (`elicitation/create`), in both eras of the protocol.

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{ScriptedServer, Terminal, TestHome, WireFormat};
use serde_json::json;

use crate::mcp_client::{call, mean_home, run, told};
use crate::mcp_mean::{entry, settings};
use crate::program::server;
use crate::talk::{leave, talk, wait_for_menu, wait_for_prompt};

fn asked(start: &str) -> (ScriptedServer, TestHome, Terminal) {
    let server = server(WireFormat::Anthropic)
        .reply(call("ask", &json!({})))
        .reply(ScriptedTurn::new().text("it is done"))
        .start();
    let home = mean_home(&server);
    settings(&home, &json!({"mean": entry(start)}));
    let mut terminal = talk(&home, &[], (110, 40));
    terminal.enter("go");
    wait_for_menu(&terminal, "Branch: where to");
    (server, home, terminal)
}

/// Types the text of the choice `a`.
fn answer(terminal: &mut Terminal, text: &str) {
    terminal.type_keys("a");
    terminal.type_keys(text);
    terminal.type_keys("\r");
}

#[test]
fn a_form_is_filled_in_and_shown_before_it_is_sent() {
    for start in ["well", "modern"] {
        let (server, _home, mut terminal) = asked(start);
        let screen = terminal.screen();
        assert!(screen.contains("The MCP server `mean` asks you something."), "{screen}");
        assert!(screen.contains("How shall it be done?"), "{screen}");
        // Too short: asked again, with what was typed.
        answer(&mut terminal, "ma");
        wait_for_menu(&terminal, "That does not fit. Expected: a text of ≥ 3 characters.");
        answer(&mut terminal, "in");
        wait_for_menu(&terminal, "Green");
        terminal.type_keys("b");
        wait_for_menu(&terminal, "count");
        answer(&mut terminal, "12");
        wait_for_menu(&terminal, "a whole number (1 – 9)");
        answer(&mut terminal, "\x7f\x7f4");
        wait_for_menu(&terminal, "As a draft");
        // Left empty.
        terminal.type_keys("s");
        wait_for_menu(&terminal, "Send this to `mean`?");
        let screen = terminal.screen();
        for line in ["  Branch: main", "  count: 4", "  color: Green"] {
            assert!(screen.contains(line), "{line}: {screen}");
        }
        assert_eq!(server.requests().len(), 1, "nothing is sent before the user says so");
        terminal.type_keys("y");
        terminal.wait_for_text("it is done");
        wait_for_prompt(&terminal);
        let said = told(&server, 1);
        assert!(said.contains(r#"\"action\":\"accept\""#), "{said}");
        assert!(said.contains(r#"{\"branch\":\"main\",\"color\":\"g\",\"count\":4}"#), "{said}");
        assert_eq!(said.contains("the state"), start == "modern", "{said}");
        leave(terminal);
        server.finish();
    }
}

#[test]
fn the_user_may_decline_or_turn_away() {
    for (key, action) in [("d", "decline"), ("\x1b", "cancel")] {
        let (server, _home, mut terminal) = asked("well");
        terminal.type_keys(key);
        terminal.wait_for_text("it is done");
        wait_for_prompt(&terminal);
        let said = told(&server, 1);
        assert!(said.contains(&format!(r#"{{\"action\":\"{action}\"}}"#)), "{said}");
        leave(terminal);
        server.finish();
    }
}

/// Where nobody can be asked, the answer is no, at once.
#[test]
fn nobody_is_asked_in_a_headless_run() {
    for start in ["well", "modern"] {
        let server = server(WireFormat::Anthropic)
            .reply(call("ask", &json!({})))
            .reply(ScriptedTurn::new().text("done"))
            .start();
        let home = mean_home(&server);
        settings(&home, &json!({"mean": entry(start)}));
        run(&home, &["go"]);
        let said = told(&server, 1);
        assert!(said.contains(r#"{\"action\":\"decline\"}"#), "{said}");
        server.finish();
    }
}
