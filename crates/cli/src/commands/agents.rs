//! `dormouse agents`: lists the available subagents with their source, and the worktrees that they have left.

use dormouse_agents::{AgentDefinition, AgentDefinitions, AgentTools};
use serde::Serialize;

use crate::args::AgentsArguments;
use crate::commands::agent_worktrees;
use crate::message_catalog::msg;
use crate::wiring::agent_text::{description_text, origin_text};
use crate::wiring::agents;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::print;
use crate::wiring::settings;
use crate::wiring::trust::Untrusted;
use crate::wiring::world::{World, current_project};

#[derive(Serialize)]
struct AgentList<'a> {
    agents: Vec<AgentJson<'a>>,
    problems: Vec<AgentProblemJson<'a>>,
}

#[derive(Serialize)]
struct AgentJson<'a> {
    name: &'a str,
    description: &'a str,
    origin: String,
    file: Option<String>,
    tools: Option<&'a [String]>,
    memory: Option<&'static str>,
    background: bool,
}

#[derive(Serialize)]
struct AgentProblemJson<'a> {
    file: &'a str,
    line: Option<u64>,
    problem: &'a str,
    loaded: bool,
}

pub(crate) async fn run(arguments: &AgentsArguments, world: &World) -> Result<Exit, Failure> {
    if arguments.worktrees {
        return agent_worktrees::run(arguments, world).await;
    }
    let in_force = settings::load(world, None, &current_project()?, Untrusted::Tell)?;
    let agents = agents::all(&in_force, world)?;
    if arguments.json {
        let list =
            AgentList { agents: agents.all().map(to_json).collect(), problems: problems(&agents) };
        print::data_line(&serde_json::to_string_pretty(&list).map_err(Failure::failed)?);
        return Ok(Exit::Done);
    }
    for (name, text) in rows(&agents) {
        print::data_line(&format!("{name}\n    {text}"));
    }
    for problem in agents.problems() {
        print::note(&format!("warning: {problem}"));
    }
    Ok(Exit::Done)
}

/// One row per subagent: name with source, and description.
pub(crate) fn rows(agents: &AgentDefinitions) -> Vec<(String, String)> {
    agents
        .all()
        .map(|agent| {
            let mut marks = vec![origin_text(&agent.source.origin)];
            marks.extend(agent.memory.map(|scope| msg!("agent-memory", scope = scope.as_str())));
            marks.extend(agent.background.then(|| msg!("agent-in-background")));
            (format!("{} ({})", agent.name, marks.join(", ")), description_text(agent))
        })
        .collect()
}

fn to_json(agent: &AgentDefinition) -> AgentJson<'_> {
    AgentJson {
        name: &agent.name,
        description: &agent.description,
        origin: agent.source.origin.to_string(),
        file: agent.source.file.as_ref().map(|file| file.display().to_string()),
        tools: match &agent.tools {
            AgentTools::All => None,
            AgentTools::Only(tools) => Some(tools),
        },
        memory: agent.memory.map(dormouse_agents::MemoryScope::as_str),
        background: agent.background,
    }
}

fn problems(agents: &AgentDefinitions) -> Vec<AgentProblemJson<'_>> {
    agents
        .problems()
        .iter()
        .map(|problem| AgentProblemJson {
            file: &problem.place,
            line: problem.line,
            problem: &problem.problem,
            loaded: problem.loaded,
        })
        .collect()
}
