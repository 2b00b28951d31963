//! What the scripted model does with agents: the tasks it hands over, and what agents and forks do about them.

use dormouse_model::script::ScriptedTurn;
use serde_json::json;

use super::errand::{Deed, deed, rounds};
use super::project::{LARGE, large};

/// In front of an errand's number.
pub(super) const ERRAND: &str = "errand A";
/// What forks that are agents are told first.
pub(super) const FORKED: &str = "You are a fork:";

/// What the model does on a turn, with agents for some of it.
pub(super) fn rounds_with_agents(turn: usize) -> Vec<Vec<Deed>> {
    let mut all = rounds(turn);
    let call = |place: usize, more: &[(&str, serde_json::Value)]| {
        let mut input = json!({"description": "run an errand", "prompt": format!("{ERRAND}{turn}.{place}: look after it")});
        if let Some(fields) = input.as_object_mut() {
            fields.extend(more.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
        }
        deed("Agent", &input)
    };
    let explore = ("subagent_type", json!("explore"));
    let general = ("subagent_type", json!("general-purpose"));
    match turn % 24 {
        5 => all.insert(0, vec![call(0, &[]), call(1, &[]), call(2, &[explore])]),
        11 => all.insert(0, vec![call(0, &[general, ("run_in_background", json!(true))])]),
        // One that reads so much that its own window fills up.
        17 => all.insert(0, vec![call(9, &[general])]),
        _ => {}
    }
    all
}

/// What a fork does: a look, then its answer.
pub(super) fn answer_forked(last_has_results: bool, number: u64) -> ScriptedTurn {
    if last_has_results {
        return ScriptedTurn::new().text(format!("The fork is done ({number})."));
    }
    let input = json!({"pattern": "src/**/*_3*.rs"}).to_string();
    ScriptedTurn::new().call(format!("fork_{number}"), "Glob", input)
}

/// What an agent does: some looks, then its answer.
pub(super) fn work(name: &str, served: usize) -> ScriptedTurn {
    let looks = if name.ends_with(".9") { 24 } else { 2 };
    if name.is_empty() || served >= looks {
        return ScriptedTurn::new().text(format!("Errand {name} is done."));
    }
    let input = json!({"file_path": large(served % LARGE), "offset": 1, "limit": 400});
    ScriptedTurn::new().call(
        format!("look_{}_{served}", name.replace('.', "_")),
        "Read",
        input.to_string(),
    )
}
