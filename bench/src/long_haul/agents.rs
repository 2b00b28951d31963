//! Agents in the long haul: what the model hands over on some turns, what agents do about it, and what must hold for
//! each of their conversations.
//!
//! A named agent has a conversation of its own, which must go on as it was sent, and fit into the window; where its
//! beginning changes, a summary of it was asked for before, or a layer has announced it; its task stays. A fork must begin as its parent does.

use std::collections::BTreeMap;

use dormouse_testkit::Trail;

use super::agent_script::ERRAND;

/// How the prompts of the agents begin that are started here.
const PROMPTS: [&[u8]; 2] =
    [b"You look around in a code base", b"You carry out one task for a coding"];
/// The system prompt stands near the beginning of a request.
const NEAR: usize = 2_000;
/// The conversations of agents, by errand.
#[derive(Default)]
pub(super) struct AgentLanes {
    pub(super) lanes: BTreeMap<String, Lane>,
    /// A summary of one of them was asked for.
    pub(super) summarised: bool,
}

#[derive(Default)]
pub(super) struct Lane {
    pub(super) trail: Trail,
    pub(super) served: usize,
}

/// Whether a request is of an agent with a prompt of its own.
pub(super) fn is_agents(body: &[u8]) -> bool {
    let near = body.get(..NEAR).unwrap_or(body);
    PROMPTS.iter().any(|prompt| memchr::memmem::find(near, prompt).is_some())
}

/// The errand that a request is about.
pub(super) fn errand(body: &[u8]) -> Option<String> {
    let at = memchr::memmem::find(body, ERRAND.as_bytes())?;
    let rest = body.get(at + ERRAND.len()..)?;
    let end = rest.iter().position(|byte| !byte.is_ascii_digit() && *byte != b'.')?;
    String::from_utf8(rest.get(..end)?.to_vec()).ok()
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
            super::super::agent_script::rounds_with_agents(turn)
                .iter()
                .flatten()
                .filter(|deed| deed.tool == "Agent")
                .count()
        };
        assert_eq!((agents(5), agents(11), agents(17), agents(18)), (3, 1, 1, 0));
    }
}
