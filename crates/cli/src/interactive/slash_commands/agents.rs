//! `/agents`: list agent definitions and subagent runs, show a run, stop one, go on with one.

use dormouse_agents::{RunStatus, SubagentRegistry, SubagentRun};
use dormouse_conversation::transcript::load_subagent_transcript;
use dormouse_conversation::{Block, Message, ResultContent, is_reminder};

use crate::commands::agents;
use crate::interactive::view::SharedView;
use crate::message_catalog::msg;

use super::rows::Rows;

/// How much of a tool result is shown.
const RESULT_CHARS: usize = 400;

/// Runs `/agents [show|stop NAME]`; `/agents resume NAME` is a turn.
pub(super) fn run(registry: &SubagentRegistry, view: &SharedView, rest: &str) {
    let (word, name) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    match (word, name.trim()) {
        ("", _) => list(registry, view),
        ("show", name) if !name.is_empty() => show(registry, view, name),
        ("stop", name) if !name.is_empty() => {
            if registry.runs().stop(name) {
                view.say(&msg!("agents-stopping", name = name));
            } else {
                view.say(&msg!("agents-not-running", name = name));
            }
        }
        _ => view.say(&msg!("agents-usage")),
    }
}

/// The prompt of `/agents resume NAME`: the model goes on with the subagent, because its result is for the model.
pub(crate) fn resume_prompt(registry: &SubagentRegistry, name: &str) -> Option<String> {
    let interrupted = registry.runs().interrupted();
    let matches = |run: &&SubagentRun| run.name == name || run.id.to_string() == name;
    let run = interrupted.iter().rev().find(matches)?;
    Some(format!(
        "Go on with the interrupted agent `{}` by the tool Agent, with `resume: \"{}\"`. Its task was: {}",
        run.name, run.id, run.description
    ))
}

fn list(registry: &SubagentRegistry, view: &SharedView) {
    let runs: Rows = registry.runs().list().iter().map(row).collect();
    if !runs.is_empty() {
        view.list(&runs);
        view.say("");
    }
    view.list(&agents::rows(&registry.agents()));
    registry.agents().problems().iter().for_each(|problem| view.say(&problem.to_string()));
}

/// Shows the transcript of a subagent.
pub(super) fn show(registry: &SubagentRegistry, view: &SharedView, name: &str) {
    let runs = registry.runs().list();
    let matches = |run: &&SubagentRun| run.name == name || run.id.to_string().starts_with(name);
    let Some(run) = runs.iter().rev().find(matches) else {
        return view.say(&msg!("agents-not-run", name = name));
    };
    let bytes = match std::fs::read(&run.transcript) {
        Ok(bytes) => bytes,
        Err(error) => return view.say(&format!("{}: {error}", run.transcript.display())),
    };
    view.list(&vec![row(run)]);
    load_subagent_transcript(&bytes)
        .messages
        .iter()
        .flat_map(lines)
        .for_each(|line| view.say(&line));
    view.say(&msg!("agents-transcript", path = run.transcript.display().to_string()));
}

pub(super) fn row(run: &SubagentRun) -> (String, String) {
    let status = match &run.status {
        RunStatus::Running => format!("{} · {}", run.description, run.activity.text),
        RunStatus::Done => format!("{} · {}", run.description, msg!("agent-done")),
        RunStatus::Failed(reason) => {
            format!("{} · {}", run.description, msg!("call-failed", why = reason.as_str()))
        }
        RunStatus::Stopped => format!("{} · {}", run.description, msg!("shell-stopped")),
        RunStatus::Interrupted => {
            format!("{} · {}", run.description, msg!("agent-interrupted", id = run.id.to_string()))
        }
    };
    let cost = run.cost_usd.filter(|cost| *cost > 0.0).map(|cost| format!(" · ${cost:.4}"));
    let cost = cost.unwrap_or_default();
    let background = run.background.then(|| format!(", {}", msg!("agent-in-background")));
    let name = format!("{} ({}{})", run.name, run.agent_type, background.unwrap_or_default());
    let requests = msg!("agent-requests", count = run.requests);
    (name, format!("{status} · {requests}{cost}"))
}

fn lines(message: &Message) -> Vec<String> {
    let author = if message.response.is_some() { "agent" } else { "task" };
    message.blocks.iter().filter_map(|block| line(author, block)).collect()
}

fn line(author: &str, block: &Block) -> Option<String> {
    if let Some(call) = block.as_tool_use() {
        return Some(format!("→ {} {}", call.name, truncated(call.input.get())));
    }
    if let Some(ResultContent::Text(text)) = block.result_content() {
        return Some(truncated(&text));
    }
    let text = block.as_text().filter(|text| !is_reminder(text.trim_start()))?;
    Some(format!("{author}: {text}"))
}

fn truncated(text: &str) -> String {
    let kept: String = text.chars().take(RESULT_CHARS).collect();
    if kept.len() < text.len() { format!("{kept} …") } else { kept }
}
