//! Agents, from the keyboard: which there are, what they do, what they did, and a way to end one.

use dormouse_agents::{AgentRun, RunStatus};
use dormouse_conversation::transcript::load_subagent_transcript;
use dormouse_conversation::{Block, Message, ResultContent};

use super::Talk;
use super::answers::Rows;
use crate::commands::agents;
use crate::terminal::markdown::Style;

/// Of one result of a call, so much is shown.
const RESULT_CHARS: usize = 400;

impl Talk<'_> {
    /// Carries out `/agents`.
    pub(super) fn agents(&self, rest: &str) {
        let (word, which) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let which = which.trim();
        match (word, which) {
            ("", _) => self.list_agents(),
            ("show", which) if !which.is_empty() => self.show_agent(which),
            ("stop", which) if !which.is_empty() => {
                let stopped = self.conversation.agency.roster().stop(which);
                let none = || format!("no agent `{which}` runs; /agents lists those that do");
                self.say(&if stopped { format!("{which} is being ended") } else { none() });
            }
            _ => self.say("/agents lists them; /agents show NAME, /agents stop NAME"),
        }
    }

    /// Agents that still work end with the program.
    pub(super) fn tell_who_is_ended(&self) {
        let runs = self.conversation.agency.roster().list();
        for run in runs.iter().filter(|run| run.status == RunStatus::Running) {
            let text =
                format!("the agent {} is ended before it was done: {}", run.name, run.description);
            self.view.borrow_mut().note(&text, Style::DIM);
        }
    }

    fn list_agents(&self) {
        let agency = &self.conversation.agency;
        let runs: Rows = agency.roster().list().iter().map(row).collect();
        if !runs.is_empty() {
            self.list(&runs);
            self.say("");
        }
        self.list(&agents::rows(&agency.agents()));
        agency.agents().problems().iter().for_each(|problem| self.say(&problem.to_string()));
    }

    /// Opens a side chain.
    fn show_agent(&self, which: &str) {
        let runs = self.conversation.agency.roster().list();
        let it = |run: &&AgentRun| run.name == which || run.id.to_string().starts_with(which);
        let Some(run) = runs.iter().rev().find(it) else {
            return self.say(&format!(
                "no agent `{which}` has run in this session; /agents lists those that have"
            ));
        };
        let bytes = match std::fs::read(&run.transcript) {
            Ok(bytes) => bytes,
            Err(error) => return self.say(&format!("{}: {error}", run.transcript.display())),
        };
        self.list(&vec![row(run)]);
        load_subagent_transcript(&bytes)
            .messages
            .iter()
            .flat_map(lines)
            .for_each(|line| self.say(&line));
        self.say(&format!("all of it is in {}", run.transcript.display()));
    }
}

fn row(run: &AgentRun) -> (String, String) {
    let how = match &run.status {
        RunStatus::Running => format!("{} · {}", run.description, run.doing),
        RunStatus::Done => format!("{} · done", run.description),
        RunStatus::Failed(why) => format!("{} · failed: {why}", run.description),
        RunStatus::Stopped => format!("{} · stopped", run.description),
    };
    let cost = run.cost_usd.filter(|cost| *cost > 0.0).map(|cost| format!(" · ${cost:.4}"));
    let cost = cost.unwrap_or_default();
    let behind = if run.background { ", in the background" } else { "" };
    let name = format!("{} ({}{behind})", run.name, run.agent_type);
    let requests = if run.requests == 1 { "request" } else { "requests" };
    (name, format!("{how} · {} {requests}{cost}", run.requests))
}

/// A message of a side chain, as a person reads it.
fn lines(message: &Message) -> Vec<String> {
    let who = if message.response.is_some() { "agent" } else { "task" };
    message.blocks.iter().filter_map(|block| line(who, block)).collect()
}

fn line(who: &str, block: &Block) -> Option<String> {
    if let Some(call) = block.as_tool_use() {
        return Some(format!("→ {} {}", call.name, short(call.input.get())));
    }
    if let Some(ResultContent::Text(text)) = block.result_content() {
        return Some(short(&text));
    }
    let text =
        block.as_text().filter(|text| !text.trim_start().starts_with("<system-reminder>"))?;
    Some(format!("{who}: {text}"))
}

fn short(text: &str) -> String {
    let cut: String = text.chars().take(RESULT_CHARS).collect();
    if cut.len() < text.len() { format!("{cut} …") } else { cut }
}
