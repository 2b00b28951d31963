//! Slash commands in an editor.

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{TestHome, needs};
use serde_json::json;

use crate::acp::{LIBRARIES, all, heard, says, text, updates};
use crate::compacting::SUMMARY;
use crate::program::{BOTH, dormouse, server};

const SKILL: &str = "---\nname: greet\ndescription: Greets somebody\nargument-hint: NAME\n---\nGreet the person warmly.\n";

#[test]
fn commands_are_suggested_and_answered_without_the_model() {
    needs!("acp-clients");
    for (wire, library) in BOTH.into_iter().zip(LIBRARIES) {
        let model = server(wire).reply(ScriptedTurn::new().text("Hello!")).start();
        let home = TestHome::new().with_server(&model);
        home.write(home.dormouse_home().join("skills/greet/SKILL.md"), SKILL);
        let add = ["memory", "add", "tea", "--type", "user", "--description", "d"];
        home.run(dormouse(&home, &add).args(["--body", "Drinks tea."])).success();
        let steps = json!([
            ["new"],
            ["prompt", says("/cost")],
            ["prompt", says("/context")],
            ["prompt", says("/memory")],
            ["prompt", says("/memory show tea")],
            ["prompt", says("/compact")],
            ["prompt", says("/comapct")],
            ["prompt", says("/rewind")],
            ["prompt", says("/model")],
            ["prompt", says("/greet Ada")],
        ]);
        let heard = heard(&home, library, &steps);
        let commands = updates(&heard, "available_commands_update");
        let commands = commands[0]["availableCommands"].as_array().unwrap();
        let named = |name: &str| commands.iter().find(|command| command["name"] == name);
        let greet = named("greet").unwrap();
        assert_eq!(
            (&greet["description"], &greet["input"]["hint"]),
            (&json!("Greets somebody"), &json!("NAME"))
        );
        assert!(named("compact").is_some() && named("memory").is_some() && named("init").is_some());
        assert!(named("quit").is_none() && named("rewind").is_none(), "these need a terminal");
        let said = text(&heard);
        for part in [
            "output",
            "tea",
            "Drinks tea.",
            "Nothing to compact yet",
            "/compact",
            "needs the terminal",
            "scripted-1",
        ] {
            assert!(said.contains(part), "{part} is missing: {said}");
        }
        assert_eq!(all(&heard, "ended").filter(|end| end["stopReason"] == "end_turn").count(), 9);
        let requests = model.requests();
        assert_eq!(requests.len(), 1, "only the skill is for the model");
        let asked = requests[0].text();
        assert!(asked.contains("Greet the person warmly.") && asked.contains("Ada"), "{asked}");
        model.finish();
    }
}

#[test]
fn a_conversation_is_compacted_on_command_and_says_so() {
    needs!("acp-clients");
    let model = server(BOTH[0]).start();
    let home = TestHome::new().with_server(&model);
    for number in 1..=3 {
        let answer = format!("answer {number}. {}", "It is so. ".repeat(200));
        model.push(ScriptedTurn::new().text(answer));
    }
    model.push_fork(ScriptedTurn::new().text(SUMMARY));
    model.push(ScriptedTurn::new().text("Still here."));
    model.expect_break("compaction");
    let steps = json!([
        ["new"],
        ["prompt", says("question 1")],
        ["prompt", says("question 2")],
        ["prompt", says("question 3")],
        ["prompt", says("/compact keep the names")],
        ["prompt", says("are you there?")],
    ]);
    let heard = heard(&home, "current", &steps);
    let forks = model.fork_requests();
    assert!(forks[0].text().contains("keep the names"));
    let thought = updates(&heard, "agent_thought_chunk");
    assert!(thought[0].to_string().contains("compacting the conversation"), "{thought:?}");
    assert!(text(&heard).contains("Still here."));
    let last = model.requests().last().unwrap().text();
    assert!(!last.contains("answer 1."), "it was not compacted: {last}");
    model.finish();
}
