//! From an order to a conversation that can begin: which agent, with which tools, prompt, memory, model and folder.

use std::sync::Arc;

use dormouse_base::{AgentId, nearest_name};
use dormouse_engine::{
    Engine, EngineConfig, ForkPoint, MEMORY_TOOLS, PromptOverrides, Surroundings,
};
use dormouse_hooks::{HookLayer, HookOrigin};
use dormouse_mcp_client::McpHub;
use dormouse_permissions::PermissionMode;
use dormouse_tools::{Confirmer, ToolSet};
use tokio_util::sync::CancellationToken;

use crate::mcp_servers::{FilteredAnnouncer, start_own_servers};
use crate::memory;
use crate::messages::{AgentName, SEND_MESSAGE};
use crate::runs::{RunStatus, SubagentRun};
use crate::spawner::{ForkPosition, SubagentSpawner};
use crate::tool_access::{SubagentConfirmer, fits, gate, has, tool_of_rule};
use crate::tool_input::{AGENT_TOOL, AgentToolInput};
use crate::worktree::Worktree;
use crate::{AgentDefinition, AgentModel, AgentTools, Isolation, manual};

/// AgentDefinitions below agents, so deep.
const DEEPEST: u8 = 3;
/// A name with a number behind it has to be a name as well.
const LONGEST_WANTED: usize = 56;
/// What kind of agent a fork is.
pub(crate) const FORK: &str = "fork";
/// The agent that knows the manual.
const GUIDE: &str = "guide";

const NOTES: &str = "\
You are an agent: another assistant has given you this task and waits for your answer, which is all that it sees of your work. There is no person to ask. Give file paths absolute. When you are done, answer with the result and what the other has to know, and nothing else.";

const FORK_RULES: &str = "\
You are a fork: a copy of the conversation above, made to carry out one task beside it. The calls above that have no real result were carried out elsewhere: leave them alone. Do this task yourself with the tools you have, and nothing else: no fork of your own, no question to the person, no other loose ends of the conversation. When you are done, answer once, briefly: what you did or found, with absolute paths, and what is uncertain. Your answer goes to the conversation that you were forked from.

# Your task
";

/// What begins the work.
pub(crate) enum SubagentStart {
    /// The task is said to it.
    Prompt(String),
    /// It stands in the conversation already.
    Forked(ForkPosition),
}

/// A conversation that can begin.
pub(crate) struct PreparedSubagent {
    pub(crate) engine: Engine,
    pub(crate) spawner: Arc<SubagentSpawner>,
    pub(crate) opening: SubagentStart,
    pub(crate) surroundings: Surroundings,
    pub(crate) max_turns: Option<u32>,
    pub(crate) background: bool,
    pub(crate) run: SubagentRun,
    pub(crate) task: String,
    pub(crate) worktree: Option<Worktree>,
    /// Its own MCP servers.
    pub(crate) servers: Option<Arc<McpHub>>,
    /// What should be said with the result.
    pub(crate) remarks: Vec<String>,
}

/// Makes ready what an order asks for; else why not.
pub(crate) async fn prepare(
    spawner: &Arc<SubagentSpawner>,
    branch: &Arc<ForkPoint>,
    order: &AgentToolInput,
) -> Result<PreparedSubagent, String> {
    let agents = spawner.registry.agents();
    let definition = match order.agent() {
        None => None,
        Some(name) => Some(agents.get(name).ok_or_else(|| unknown(name, spawner))?.clone()),
    };
    check_depth(branch, definition.as_ref())?;
    let isolation = match &definition {
        Some(agent) if agent.isolation == Isolation::Worktree => Isolation::Worktree,
        _ => order.isolation(),
    };
    let id = AgentId::generate(&*branch.config().services.ids);
    let parent = branch.config();
    if isolation == Isolation::Worktree && parent.tools.gate.mode() == PermissionMode::Plan {
        return Err("in plan mode nothing may be changed: no worktree can be made".to_owned());
    }
    let worktree = match isolation {
        Isolation::None => None,
        Isolation::Worktree => Some(
            Worktree::make(
                &spawner.registry.setup.home,
                &parent.project,
                id,
                &parent.tools.environment,
            )
            .await?,
        ),
    };
    let background =
        order.run_in_background || definition.as_ref().is_some_and(|agent| agent.background);
    let agent_type = definition.as_ref().map_or(FORK, |agent| agent.name.as_str());
    let (name, own) = own_spawner(spawner, order.name.as_deref().unwrap_or(agent_type))?;
    let remarks = Vec::new();
    let made = worktree.clone();
    let draft =
        Preparation { spawner, own, name, branch, order, id, worktree, background, remarks };
    let prepared = match definition {
        Some(agent) => draft.fresh(&agent).await,
        None => draft.fork(),
    };
    if let (Err(_), Some(made)) = (&prepared, made) {
        // Nothing was done in it: it goes again.
        let _gone = made.close().await;
    }
    prepared
}

/// A spawner for the agent under a name that nobody has, if possible the one that is wanted.
fn own_spawner(
    spawner: &SubagentSpawner,
    wanted: &str,
) -> Result<(AgentName, Arc<SubagentSpawner>), String> {
    let plain: String = wanted.replace(':', "-").chars().take(LONGEST_WANTED).collect();
    let numbered = (2_u32..).map(|number| format!("{plain}-{number}"));
    for name in std::iter::once(plain.clone()).chain(numbered) {
        let name = AgentName::new(&name).map_err(|error| error.to_string())?;
        if let Ok(own) = SubagentSpawner::new(Arc::clone(&spawner.registry), &name, None) {
            return Ok((name, own));
        }
    }
    Err(format!("there is no name left for `{wanted}`"))
}

fn unknown(name: &str, spawner: &SubagentSpawner) -> String {
    let agents = spawner.registry.agents();
    let meant = nearest_name(name, agents.all().map(|agent| agent.name.clone()));
    let meant = meant.map(|meant| format!(" Did you mean `{meant}`?")).unwrap_or_default();
    let all: Vec<&str> = agents.all().map(|agent| agent.name.as_str()).collect();
    format!("there is no agent `{name}`.{meant} There are: {}", all.join(", "))
}

fn check_depth(branch: &ForkPoint, definition: Option<&AgentDefinition>) -> Result<(), String> {
    let Some(side) = branch.subagent() else { return Ok(()) };
    if side.agent_type == FORK && definition.is_none() {
        return Err("a fork cannot fork: do the task yourself, here".to_owned());
    }
    if side.depth >= DEEPEST {
        return Err(format!(
            "agents go {DEEPEST} deep, and this one is that deep already: do the task yourself, here"
        ));
    }
    Ok(())
}

struct Preparation<'a> {
    spawner: &'a Arc<SubagentSpawner>,
    /// The agent's own.
    own: Arc<SubagentSpawner>,
    name: AgentName,
    branch: &'a Arc<ForkPoint>,
    order: &'a AgentToolInput,
    id: AgentId,
    worktree: Option<Worktree>,
    background: bool,
    remarks: Vec<String>,
}

impl Preparation<'_> {
    /// What every agent's conversation has in common: nobody works beside it, and it has a spawner of its own.
    fn config(&self) -> EngineConfig {
        let mut config = self.branch.config().clone();
        config.extensions.background_tasks = Vec::new();
        // Its own spawner tells it of agents.
        let registry = Arc::as_ptr(&self.spawner.registry).cast::<()>();
        config.extensions.announcers.retain(|each| Arc::as_ptr(each).cast::<()>() != registry);
        config.extensions.message_sources = Vec::new();
        config.extensions.fork_points = None;
        // Whoever runs in the background has nobody to ask: the person is at something else.
        config.tools.confirmer = config.tools.confirmer.filter(|_| !self.background).map(|inner| {
            Arc::new(SubagentConfirmer { inner, agent: self.name.to_string() })
                as Arc<dyn Confirmer>
        });
        if let Some(worktree) = &self.worktree {
            config.project = worktree.project(&config.project);
        }
        config
    }

    fn fork(self) -> Result<PreparedSubagent, String> {
        if self.order.model.is_some() {
            return Err(
                "a fork has the model of its conversation; name an agent to use another".to_owned()
            );
        }
        let mut config = self.config();
        self.own.configure(&mut config);
        let mut task = format!("{FORK_RULES}{}", self.order.prompt);
        if let Some(worktree) = &self.worktree {
            task.push_str(&format!(
                "\n\nYou work in a git worktree of your own, {}: use paths below it, not those of the conversation above.",
                worktree.folder.display()
            ));
        }
        let side = self.branch.subagent_below(self.id, FORK);
        let engine =
            self.branch.begin_fork(config, &side, &task).map_err(|error| error.to_string())?;
        let opening = SubagentStart::Forked(self.spawner.place(self.branch));
        let surroundings = self.branch.surroundings().clone();
        Ok(self.prepared(engine, opening, surroundings, FORK, None))
    }

    async fn fresh(mut self, agent: &AgentDefinition) -> Result<PreparedSubagent, String> {
        let mut config = self.config();
        let access = self.memory(agent)?;
        let directory = access.as_ref().and_then(|access| {
            let store = access.memories().stores().first()?;
            Some(store.dir().path().to_owned())
        });
        let remembered = directory.as_deref().and_then(|path| Some((agent.memory?, path)));
        config.memory = access.as_ref().map(memory::setup);
        let tools = self.tools(agent, &config.tools.set);
        if !has(agent, "Skill") {
            config.extensions.skills = Arc::default();
        }
        config.tools.set = Arc::new(match remembered {
            Some((_, path)) => {
                memory::with_memory_files(tools, &config.tools.set, path, &config.tools.gate)
            }
            None => tools,
        });
        config.tools.gate = gate(agent, &config.tools.gate);
        config.effort = agent.effort.or(config.effort);
        self.add_hooks(agent, &mut config);
        let servers = self.add_servers(agent, &mut config).await;
        config.overrides =
            PromptOverrides { system: Some(self.prompt(agent, remembered)?), append: None };
        self.choose_model(agent, &mut config).await?;
        if self.may_delegate(agent) {
            self.own.configure(&mut config);
        } else if has(agent, SEND_MESSAGE) {
            self.own.configure_messages(&mut config);
        }
        let surroundings =
            Surroundings::look(&config.project, &config.tools.environment, &*config.services.clock)
                .await;
        let side = self.branch.subagent_below(self.id, &agent.name);
        let engine = self
            .branch
            .begin_empty(config, &side, &surroundings)
            .map_err(|error| error.to_string())?;
        let task = match &agent.initial_prompt {
            Some(first) => format!("{first}\n\n{}", self.order.prompt),
            None => self.order.prompt.clone(),
        };
        let opening = SubagentStart::Prompt(task);
        let prepared = self.prepared(engine, opening, surroundings, &agent.name, agent.max_turns);
        Ok(PreparedSubagent { servers, ..prepared })
    }

    /// Its own hooks run while it does.
    fn add_hooks(&mut self, agent: &AgentDefinition, config: &mut EngineConfig) {
        if agent.hooks.is_null() {
            return;
        }
        let (origin, file) = (HookOrigin::Agent(agent.name.clone()), agent.file.clone());
        let layer =
            HookLayer::of_value(origin, file.unwrap_or_default(), agent.hooks.clone(), None);
        let (hooks, problems) = config.extensions.hooks.with([layer]);
        self.remarks
            .extend(problems.iter().map(|problem| format!("a hook will not run: {problem}")));
        config.extensions.hooks = Arc::new(hooks);
    }

    /// The servers of the conversation above as far as it may have them, and its own.
    async fn add_servers(
        &mut self,
        agent: &AgentDefinition,
        config: &mut EngineConfig,
    ) -> Option<Arc<McpHub>> {
        for inner in std::mem::take(&mut config.extensions.announcers) {
            config
                .extensions
                .announcers
                .push(Arc::new(FilteredAnnouncer { inner, agent: agent.clone() }));
        }
        let own = start_own_servers(agent, config, &mut self.remarks).await?;
        config.extensions.announcers.push(Arc::clone(&own) as _);
        Some(own)
    }

    fn memory(
        &self,
        agent: &AgentDefinition,
    ) -> Result<Option<Arc<dormouse_engine::SessionMemory>>, String> {
        let (Some(scope), Some(memories)) = (agent.memory, self.spawner.registry.memories()) else {
            return Ok(None);
        };
        // Two agents must not have one memory by the likeness of their names.
        let plain = agent.name.replace(':', "-");
        if plain != agent.name && self.spawner.registry.agents().get(&plain).is_some() {
            return Err(format!(
                "`{}` can have no memory: the folder is that of the agent `{plain}`",
                agent.name
            ));
        }
        memories.open(scope, &agent.name).map(Some)
    }

    /// Whether it may start agents itself.
    fn may_delegate(&self, agent: &AgentDefinition) -> bool {
        let deep_enough = self.branch.subagent().map_or(0, |side| side.depth) + 1 < DEEPEST;
        deep_enough && has(agent, AGENT_TOOL)
    }

    /// The parent's tools as far as the definition goes. Those that belong to the conversation above stay there.
    fn tools(&mut self, agent: &AgentDefinition, all: &ToolSet) -> ToolSet {
        let own = [AGENT_TOOL, SEND_MESSAGE, "ExitPlan", "Skill"];
        let names: Vec<&str> = all
            .names()
            .filter(|name| !own.contains(name) && !MEMORY_TOOLS.contains(name))
            .filter(|name| has(agent, name))
            .collect();
        if let AgentTools::Only(wanted) = &agent.tools {
            let missing: Vec<&str> = wanted
                .iter()
                .map(|word| tool_of_rule(word))
                .filter(|word| !own.contains(word) && !all.names().any(|name| fits(word, name)))
                .collect();
            if !missing.is_empty() {
                self.remarks
                    .push(format!("it names tools that are not there: {}", missing.join(", ")));
            }
        }
        ToolSet::of(names.into_iter().filter_map(|name| all.get(name).cloned()))
    }

    fn prompt(
        &mut self,
        agent: &AgentDefinition,
        remembered: Option<(crate::MemoryScope, &std::path::Path)>,
    ) -> Result<String, String> {
        let mut prompt = agent.prompt.clone();
        if agent.origin != crate::AgentOrigin::BuiltIn {
            prompt.push_str(&format!("\n\n{NOTES}"));
        }
        if agent.name == GUIDE && agent.origin == crate::AgentOrigin::BuiltIn {
            let folder = manual::write_manual(&self.spawner.registry.setup.home)?;
            prompt.push_str(&format!("\n\nThe manual is in {}.", folder.display()));
        }
        for name in &agent.skills {
            match self.branch.config().extensions.skills.text_of(name) {
                Ok(text) => prompt.push_str(&format!("\n\n# Skill {name}\n{text}")),
                Err(why) => {
                    self.remarks.push(format!("its skill `{name}` could not be used: {why}"));
                }
            }
        }
        if let Some((scope, path)) = remembered {
            prompt.push_str(&format!("\n\n{}", memory::rules(scope, path)));
        }
        Ok(prompt)
    }

    async fn choose_model(
        &mut self,
        agent: &AgentDefinition,
        config: &mut EngineConfig,
    ) -> Result<(), String> {
        let asked = self.order.model.as_deref().filter(|name| !name.trim().is_empty());
        let choice = match asked {
            None => agent.model.clone(),
            Some("inherit") => AgentModel::Inherit,
            Some("haiku" | "small") => AgentModel::Small,
            Some(name) => AgentModel::Named(name.to_owned()),
        };
        let small = || self.spawner.registry.setup.small.as_ref().map(|small| small.name.clone());
        let name = match choice {
            AgentModel::Inherit => return Ok(()),
            AgentModel::Named(name) => name,
            AgentModel::Small => match small() {
                Some(name) => name,
                None => {
                    let said = "no `smallModel` is set, so it ran with the conversation's model";
                    self.remarks.push(said.to_owned());
                    return Ok(());
                }
            },
        };
        if name == config.model.name {
            return Ok(());
        }
        // A limit that could not be held is worse than another model.
        let unpriced = config.cost.prices.price(&name).is_none();
        if config.cost.max_usd.is_some()
            && unpriced
            && config.cost.prices.price(&config.model.name).is_some()
        {
            return Err(format!(
                "the price of {name} is not known, and what may be spent is limited: leave `model` out"
            ));
        }
        config.model = self.spawner.registry.setup.models.named(&name).await?;
        Ok(())
    }

    fn prepared(
        self,
        engine: Engine,
        opening: SubagentStart,
        surroundings: Surroundings,
        agent_type: &str,
        max_turns: Option<u32>,
    ) -> PreparedSubagent {
        let runs = &self.spawner.registry.runs;
        let run = SubagentRun {
            id: self.id,
            name: self.name.to_string(),
            agent_type: agent_type.to_owned(),
            description: self.order.description.clone(),
            depth: self.branch.subagent().map_or(0, |side| side.depth) + 1,
            background: self.background,
            since: self.branch.config().services.clock.now(),
            status: RunStatus::Running,
            doing: "starting".to_owned(),
            calls: std::collections::VecDeque::new(),
            calls_made: 0,
            requests: 0,
            usage: dormouse_conversation::Usage::default(),
            cost_usd: Some(0.0),
            transcript: engine.conversation().transcript_path().to_owned(),
            stop: CancellationToken::new(),
        };
        runs.add(run.clone());
        PreparedSubagent {
            engine,
            spawner: self.own,
            opening,
            surroundings,
            max_turns,
            background: self.background,
            run,
            task: self.order.prompt.clone(),
            worktree: self.worktree,
            servers: None,
            remarks: self.remarks,
        }
    }
}
