//! Agents in the long haul: what the model hands over on some turns, what agents do about it, and what must hold for
//! each of their conversations.
//!
//! A named agent has a conversation of its own, which must go on as it was sent, and fit into the window; where its
//! beginning changes, a summary of it was asked for before; its task stays. A fork must begin as its parent does.

use std::collections::BTreeMap;

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{Attended, Trail};
use serde_json::json;

use super::coder::{Fork, answer_fork};
use super::errand::{Deed, deed, rounds};
use super::ledger::{Ledger, last_of};

/// How the prompts of the agents begin that are started here.
const PROMPTS: [&[u8]; 2] =
    [b"You look around in a code base", b"You carry out one task for a coding"];
/// The system prompt stands near the beginning of a request.
const NEAR: usize = 2_000;
/// In front of an errand's number.
const ERRAND: &str = "errand A";
/// What forks that are agents are told first.
pub(super) const FORKED: &str = "You are a fork:";

/// The conversations of agents, by errand.
#[derive(Default)]
pub(super) struct Agents {
    lanes: BTreeMap<String, Lane>,
    /// A summary of one of them was asked for.
    summarised: bool,
}

#[derive(Default)]
struct Lane {
    trail: Trail,
    served: usize,
}

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

/// Whether a request is of an agent with a prompt of its own.
pub(super) fn is_agents(body: &[u8]) -> bool {
    let near = body.get(..NEAR).unwrap_or(body);
    PROMPTS.iter().any(|prompt| memchr::memmem::find(near, prompt).is_some())
}

/// The errand that a request is about.
fn errand(body: &[u8]) -> Option<String> {
    let at = memchr::memmem::find(body, ERRAND.as_bytes())?;
    let rest = body.get(at + ERRAND.len()..)?;
    let end = rest.iter().position(|byte| !byte.is_ascii_digit() && *byte != b'.')?;
    String::from_utf8(rest.get(..end)?.to_vec()).ok()
}

/// What a fork does: a look, then its answer.
pub(super) fn answer_forked(last_has_results: bool, number: u64) -> ScriptedTurn {
    if last_has_results {
        return ScriptedTurn::new().text(format!("The fork is done ({number})."));
    }
    let input = json!({"pattern": "src/**/*_3*.rs"}).to_string();
    ScriptedTurn::new().call(format!("fork_{number}"), "Glob", input)
}

impl Ledger {
    /// A request of an agent, or of a fork of one.
    pub(super) fn attend_agent(&mut self, body: &[u8], told: Option<&str>) -> Attended {
        if let Some(told) = told {
            self.agents.summarised = true;
            return self.attend_copy_of_agent(body, told);
        }
        let name = errand(body).unwrap_or_default();
        if name.is_empty() {
            self.problem("an agent has lost its task");
        }
        let mut lane = self.agents.lanes.remove(&name).unwrap_or_default();
        let step = lane.trail.follow(body);
        let begun = lane.served > 0 && !name.is_empty();
        if begun && !step.continues && !std::mem::take(&mut self.agents.summarised) {
            self.problem(&format!("the agent of errand {name} changes what it sent, unannounced"));
        }
        let outcome = self.look_up(&lane.trail, body);
        let refusal = self.refused(&outcome);
        let turn = work(&name, lane.served);
        lane.served += 1;
        self.agents.lanes.insert(name, lane);
        self.counts.agents += 1;
        match refusal {
            Some(refusal) => refusal,
            None => self.settle(&outcome, turn, None),
        }
    }

    fn attend_copy_of_agent(&mut self, body: &[u8], told: &str) -> Attended {
        let mut trail = Trail::default();
        trail.follow(body);
        let outcome = self.look_up(&trail, body);
        if let Some(refusal) = self.refused(&outcome) {
            return refusal;
        }
        let kind = Fork::of(told);
        let turn = answer_fork(kind, told, &last_of(&trail), self.counts.all.requests);
        self.settle(&outcome, turn, Some(kind))
    }
}

/// What an agent does: some looks, then its answer.
fn work(name: &str, served: usize) -> ScriptedTurn {
    let looks = if name.ends_with(".9") { 24 } else { 2 };
    if name.is_empty() || served >= looks {
        return ScriptedTurn::new().text(format!("Errand {name} is done."));
    }
    let input = json!({"file_path": super::project::large(served % super::project::LARGE), "offset": 1, "limit": 400});
    ScriptedTurn::new().call(
        format!("look_{}_{served}", name.replace('.', "_")),
        "Read",
        input.to_string(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_errand_is_found_in_a_request() {
        let body = br#"{"messages":[{"content":"errand A17.9: look after it"}]}"#;
        assert_eq!(errand(body).as_deref(), Some("17.9"));
        assert!(errand(b"nothing").is_none());
    }

    #[test]
    fn some_turns_hand_work_over() {
        let agents = |turn| {
            rounds_with_agents(turn).iter().flatten().filter(|deed| deed.tool == "Agent").count()
        };
        assert_eq!((agents(5), agents(11), agents(17), agents(18)), (3, 1, 1, 0));
    }
}
