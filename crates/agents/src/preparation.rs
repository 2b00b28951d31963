//! Preparation of a subagent: definition, tools, prompt, memory, model and folder of its conversation.

use std::sync::Arc;

use dormouse_base::{AgentId, nearest_name};
use dormouse_conversation::known_tools::{SKILL, traits_of};
use dormouse_engine::{Engine, EngineConfig, ForkPoint, PromptOverrides, Surroundings};
use dormouse_hooks::{HookLayer, HookOrigin};
use dormouse_mcp_client::McpHub;
use dormouse_model::{is_model_family, model_of_family};
use dormouse_permissions::PermissionMode;
use dormouse_tools::{Confirmer, ToolSet};
use tokio_util::sync::CancellationToken;

use crate::definition::{
    AgentDefinition, AgentDefinitions, AgentModel, AgentOrigin, AgentTools, Isolation, MemoryScope,
};
use crate::fork_sequence::ForkPosition;
use crate::manual;
use crate::mcp_servers::{FilteredAnnouncer, start_own_servers};
use crate::memory;
use crate::messages::{AgentName, SEND_MESSAGE};
use crate::preparation_error::PreparationError;
use crate::prompts::{FORK_RULES, NOTES, RESUMED};
use crate::run_record::RunRecord;
use crate::runs::{RunActivity, RunStatus, SubagentRun};
use crate::spawner::SubagentSpawner;
use crate::tool_access::{SubagentConfirmer, may_use, permission_gate, tool_matches, tool_of_rule};
use crate::tool_input::{AGENT_TOOL, AgentToolInput};
use crate::worktree::Worktree;

/// The maximum nesting of subagents.
const MAX_DEPTH: u8 = 3;
/// Leaves room in a name for a number.
const MAX_REQUESTED_NAME: usize = 56;
/// The agent type of a fork.
pub(crate) const FORK: &str = "fork";
/// The built-in agent that gets the manual.
const GUIDE: &str = "guide";

/// The start of a subagent.
pub(crate) enum SubagentStart {
    /// With the task as the first user message.
    Prompt(String),
    /// With the task in the forked conversation already.
    Forked(ForkPosition),
}

/// A subagent that is ready to run.
pub(crate) struct PreparedSubagent {
    pub(crate) engine: Engine,
    pub(crate) spawner: Arc<SubagentSpawner>,
    pub(crate) start: SubagentStart,
    pub(crate) surroundings: Surroundings,
    pub(crate) max_turns: Option<u32>,
    pub(crate) background: bool,
    pub(crate) run: SubagentRun,
    pub(crate) task: String,
    pub(crate) worktree: Option<Worktree>,
    /// The MCP servers of its definition.
    pub(crate) servers: Option<Arc<McpHub>>,
    /// Remarks for the result.
    pub(crate) remarks: Vec<String>,
}

/// Prepares the subagent of a tool call.
pub(crate) async fn prepare(
    spawner: &Arc<SubagentSpawner>,
    branch: &Arc<ForkPoint>,
    input: &AgentToolInput,
) -> Result<PreparedSubagent, PreparationError> {
    let agents = spawner.registry.agents();
    let definition = match input.agent() {
        None => None,
        Some(name) => Some(agents.get(name).ok_or_else(|| unknown_agent(name, &agents))?.clone()),
    };
    check_depth(branch, definition.as_ref())?;
    let isolation = match &definition {
        Some(agent) if agent.isolation == Isolation::Worktree => Isolation::Worktree,
        _ => input.isolation(),
    };
    let id = AgentId::generate(&*branch.config().services.ids);
    let parent = branch.config();
    if isolation == Isolation::Worktree && parent.tools.gate.mode() == PermissionMode::Plan {
        return Err(PreparationError::WorktreeInPlanMode);
    }
    let worktree = match isolation {
        Isolation::None => None,
        Isolation::Worktree => Some(
            Worktree::create(
                &spawner.registry.setup.home,
                &parent.project,
                id,
                &parent.tools.environment,
            )
            .await?,
        ),
    };
    let background =
        input.run_in_background || definition.as_ref().is_some_and(|agent| agent.background);
    let agent_type = definition.as_ref().map_or(FORK, |agent| agent.name.as_str());
    let (name, own) = own_spawner(spawner, input.name.as_deref().unwrap_or(agent_type))?;
    let remarks = Vec::new();
    let made = worktree.clone();
    let draft =
        Preparation { spawner, own, name, branch, input, id, worktree, background, remarks };
    let prepared = match definition {
        Some(agent) => draft.fresh(&agent, Beginning::Empty).await,
        None => draft.fork(),
    };
    if let (Err(_), Some(made)) = (&prepared, made) {
        // Removes it: nothing was done in it.
        let _remark = made.close().await;
    }
    prepared
}

/// How the conversation of a subagent begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beginning {
    Empty,
    /// With what it had said and done when it was interrupted.
    Resumed,
}

/// Creates the spawner of the subagent under the requested name, with a number if that is taken.
pub(crate) fn own_spawner(
    spawner: &SubagentSpawner,
    requested: &str,
) -> Result<(AgentName, Arc<SubagentSpawner>), PreparationError> {
    let plain: String = requested.replace(':', "-").chars().take(MAX_REQUESTED_NAME).collect();
    let numbered = (2_u32..).map(|number| format!("{plain}-{number}"));
    for name in std::iter::once(plain.clone()).chain(numbered) {
        let name = AgentName::new(&name)?;
        if let Ok(own) = spawner.for_subagent(&name) {
            return Ok((name, own));
        }
    }
    Err(PreparationError::NoFreeName(requested.to_owned()))
}

pub(crate) fn unknown_agent(name: &str, agents: &AgentDefinitions) -> PreparationError {
    let nearest = nearest_name(name, agents.all().map(|agent| agent.name.clone()));
    let known: Vec<&str> = agents.all().map(|agent| agent.name.as_str()).collect();
    PreparationError::UnknownAgent {
        name: name.to_owned(),
        suggestion: nearest.map(|name| format!(" Did you mean `{name}`?")).unwrap_or_default(),
        known: known.join(", "),
    }
}

pub(crate) fn check_depth(
    branch: &ForkPoint,
    definition: Option<&AgentDefinition>,
) -> Result<(), PreparationError> {
    let Some(parent) = branch.subagent() else { return Ok(()) };
    if parent.agent_type == FORK && definition.is_none() {
        return Err(PreparationError::NestedFork);
    }
    if parent.depth >= MAX_DEPTH {
        return Err(PreparationError::TooDeep(MAX_DEPTH));
    }
    Ok(())
}

/// A subagent as far as it is prepared.
pub(crate) struct Preparation<'a> {
    pub(crate) spawner: &'a Arc<SubagentSpawner>,
    /// The spawner of the subagent itself.
    pub(crate) own: Arc<SubagentSpawner>,
    pub(crate) name: AgentName,
    pub(crate) branch: &'a Arc<ForkPoint>,
    pub(crate) input: &'a AgentToolInput,
    pub(crate) id: AgentId,
    pub(crate) worktree: Option<Worktree>,
    pub(crate) background: bool,
    pub(crate) remarks: Vec<String>,
}

impl Preparation<'_> {
    /// Returns the parent's configuration without background tasks, message sources and fork points: the subagent's own
    /// spawner adds its own.
    fn config(&self) -> EngineConfig {
        let mut config = self.branch.config().clone();
        config.extensions.background_tasks = Vec::new();
        // Its own spawner adds the registry again.
        let registry = Arc::as_ptr(&self.spawner.registry).cast::<()>();
        config.extensions.announcers.retain(|each| Arc::as_ptr(each).cast::<()>() != registry);
        config.extensions.message_sources = Vec::new();
        config.extensions.fork_points = None;
        // A background subagent cannot ask the user for confirmation.
        config.tools.confirmer = config.tools.confirmer.filter(|_| !self.background).map(|inner| {
            Arc::new(SubagentConfirmer { inner, agent: self.name.to_string() })
                as Arc<dyn Confirmer>
        });
        if let Some(worktree) = &self.worktree {
            config.project = worktree.project(&config.project);
        }
        config
    }

    fn fork(self) -> Result<PreparedSubagent, PreparationError> {
        if self.input.model.is_some() {
            return Err(PreparationError::ForkModel);
        }
        let mut config = self.config();
        self.own.configure(&mut config);
        let mut task = format!("{FORK_RULES}{}", self.input.prompt);
        if let Some(worktree) = &self.worktree {
            task.push_str(&format!(
                "\n\nYou work in a git worktree of your own, {}: use paths below it, not those of the conversation above.",
                worktree.folder.display()
            ));
        }
        let subagent = self.branch.subagent_below(self.id, FORK);
        let engine = self
            .branch
            .begin_fork(config, &subagent, &task)
            .map_err(|error| PreparationError::Engine(Box::new(error)))?;
        let start = SubagentStart::Forked(self.spawner.forks.add(self.branch));
        let surroundings = self.branch.surroundings().clone();
        Ok(self.prepared(engine, start, surroundings, FORK, None))
    }

    pub(crate) async fn fresh(
        mut self,
        agent: &AgentDefinition,
        beginning: Beginning,
    ) -> Result<PreparedSubagent, PreparationError> {
        let mut config = self.config();
        let access = self.memory(agent)?;
        let directory = access.as_ref().and_then(|access| {
            let store = access.memories().stores().first()?;
            Some(store.dir().path().to_owned())
        });
        let remembered = directory.as_deref().and_then(|path| Some((agent.memory?, path)));
        config.memory = access.as_ref().map(memory::setup);
        let tools = self.tools(agent, &config.tools.set);
        if !may_use(agent, SKILL.name) {
            config.extensions.skills = Arc::default();
        }
        config.tools.set = Arc::new(match remembered {
            Some((_, path)) => {
                memory::with_memory_files(tools, &config.tools.set, path, &config.tools.gate)
            }
            None => tools,
        });
        config.tools.gate = permission_gate(agent, &config.tools.gate);
        if agent.mode == Some(PermissionMode::Plan) {
            self.own.plan_until_approved(self.spawner, &config.tools.gate);
        }
        let effort = agent.model.effort.or(config.model.effort);
        self.add_hooks(agent, &mut config);
        let servers = self.add_servers(agent, &mut config).await;
        config.overrides = PromptOverrides {
            system: Some(self.prompt(agent, remembered)?),
            ..PromptOverrides::default()
        };
        self.choose_model(agent, &mut config).await?;
        config.model.effort = effort;
        if self.may_delegate(agent) {
            self.own.configure(&mut config);
        } else if may_use(agent, SEND_MESSAGE) {
            self.own.configure_messages(&mut config);
        }
        let surroundings = Surroundings::look(
            &config.project,
            &config.tools.environment,
            &*config.services.clock,
            &config.services.deadlines,
        )
        .await;
        let subagent = self.branch.subagent_below(self.id, &agent.name);
        let engine = match beginning {
            Beginning::Empty => self.branch.begin_empty(config, &subagent, &surroundings),
            Beginning::Resumed => self.branch.resume_subagent(config, &subagent, &surroundings),
        };
        let engine = engine.map_err(|error| PreparationError::Engine(Box::new(error)))?;
        let task = match (beginning, &agent.initial_prompt) {
            (Beginning::Resumed, _) => format!("{RESUMED}{}", self.input.prompt),
            (Beginning::Empty, Some(first)) => format!("{first}\n\n{}", self.input.prompt),
            (Beginning::Empty, None) => self.input.prompt.clone(),
        };
        let start = SubagentStart::Prompt(task);
        let prepared =
            self.prepared(engine, start, surroundings, &agent.name, agent.model.max_turns);
        Ok(PreparedSubagent { servers, ..prepared })
    }

    /// Adds the hooks of the definition.
    fn add_hooks(&mut self, agent: &AgentDefinition, config: &mut EngineConfig) {
        if agent.extensions.hooks.is_null() {
            return;
        }
        let (origin, file) = (HookOrigin::Agent(agent.name.clone()), agent.source.file.clone());
        let layer = HookLayer::of_value(
            origin,
            file.unwrap_or_default(),
            agent.extensions.hooks.clone(),
            None,
        );
        let (hooks, problems) = config.extensions.hooks.with([layer]);
        self.remarks
            .extend(problems.iter().map(|problem| format!("a hook will not run: {problem}")));
        config.extensions.hooks = Arc::new(hooks);
    }

    /// Limits the parent's servers to the allowed tools, and starts the servers of the definition.
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
    ) -> Result<Option<Arc<dormouse_engine::SessionMemory>>, PreparationError> {
        let (Some(scope), Some(memories)) = (agent.memory, self.spawner.registry.memories()) else {
            return Ok(None);
        };
        // `a:b` and `a-b` would share a folder.
        let plain = agent.name.replace(':', "-");
        if plain != agent.name && self.spawner.registry.agents().get(&plain).is_some() {
            return Err(PreparationError::MemoryFolderTaken {
                agent: agent.name.clone(),
                owner: plain,
            });
        }
        Ok(Some(memories.open(scope, &agent.name)?))
    }

    /// Whether it may start subagents.
    fn may_delegate(&self, agent: &AgentDefinition) -> bool {
        let deep_enough =
            self.branch.subagent().map_or(0, |subagent| subagent.depth) + 1 < MAX_DEPTH;
        deep_enough && may_use(agent, AGENT_TOOL)
    }

    /// Returns the parent's tools that the definition allows, without those tied to the parent conversation.
    fn tools(&mut self, agent: &AgentDefinition, all: &ToolSet) -> ToolSet {
        let is_inherited = |name: &&str| {
            let traits = traits_of(name);
            !traits.session_bound && !traits.purpose.is_memory()
        };
        let names: Vec<&str> =
            all.names().filter(is_inherited).filter(|name| may_use(agent, name)).collect();
        if let AgentTools::Only(wanted) = &agent.tools {
            let missing: Vec<&str> = wanted
                .iter()
                .map(|word| tool_of_rule(word))
                .filter(|word| {
                    !traits_of(word).session_bound
                        && !all.names().any(|name| tool_matches(word, name))
                })
                .collect();
            if !missing.is_empty() {
                self.remarks
                    .push(format!("unknown tools in its definition: {}", missing.join(", ")));
            }
        }
        ToolSet::of(names.into_iter().filter_map(|name| all.get(name).cloned()))
    }

    fn prompt(
        &mut self,
        agent: &AgentDefinition,
        remembered: Option<(MemoryScope, &std::path::Path)>,
    ) -> Result<String, PreparationError> {
        let mut prompt = agent.prompt.clone();
        if agent.source.origin != AgentOrigin::BuiltIn {
            prompt.push_str(&format!("\n\n{NOTES}"));
        }
        if agent.name == GUIDE && agent.source.origin == AgentOrigin::BuiltIn {
            let folder = manual::write_manual(&self.spawner.registry.setup.home)?;
            prompt.push_str(&format!("\n\nThe manual is in {}.", folder.display()));
        }
        for name in &agent.extensions.skills {
            match self.branch.config().extensions.skills.text_of(name) {
                Ok(text) => prompt.push_str(&format!("\n\n# Skill {name}\n{text}")),
                Err(why) => {
                    self.remarks.push(format!("cannot use its skill `{name}`: {why}"));
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
    ) -> Result<(), PreparationError> {
        let asked = self.input.model.as_deref().filter(|name| !name.trim().is_empty());
        let choice = match asked {
            None => agent.model.choice.clone(),
            Some("inherit") => AgentModel::Inherit,
            Some("haiku" | "small") => AgentModel::Small,
            Some(family) if is_model_family(family) => AgentModel::Family(family.to_owned()),
            Some(name) => AgentModel::Named(name.to_owned()),
        };
        let small = || self.spawner.registry.setup.small.as_ref().map(|small| small.name.clone());
        let name = match choice {
            AgentModel::Inherit => return Ok(()),
            AgentModel::Named(name) => name,
            AgentModel::Family(family) => match model_of_family(&family, &config.model.name) {
                Some(name) => name.to_owned(),
                None => {
                    let remark =
                        "the provider has no such model, so it ran with the conversation's";
                    self.remarks.push(format!("`model: {family}`: {remark}"));
                    return Ok(());
                }
            },
            AgentModel::Small => match small() {
                Some(name) => name,
                None => {
                    let remark = "no `smallModel` is set, so it ran with the conversation's model";
                    self.remarks.push(remark.to_owned());
                    return Ok(());
                }
            },
        };
        if name == config.model.name {
            return Ok(());
        }
        // The cost limit could not be enforced without a price.
        let unpriced = config.cost.prices.price(&name).is_none();
        if config.cost.max_usd.is_some()
            && unpriced
            && config.cost.prices.price(&config.model.name).is_some()
        {
            return Err(PreparationError::UnknownPrice(name));
        }
        config.model = self.spawner.registry.setup.models.resolve(&name).await?;
        Ok(())
    }

    fn prepared(
        self,
        engine: Engine,
        start: SubagentStart,
        surroundings: Surroundings,
        agent_type: &str,
        max_turns: Option<u32>,
    ) -> PreparedSubagent {
        let runs = &self.spawner.registry.runs;
        let run = SubagentRun {
            id: self.id,
            name: self.name.to_string(),
            agent_type: agent_type.to_owned(),
            description: self.input.description.clone(),
            depth: self.branch.subagent().map_or(0, |subagent| subagent.depth) + 1,
            background: self.background,
            since: self.branch.config().services.clock.now(),
            status: RunStatus::Running,
            activity: RunActivity { text: "starting".to_owned(), ..RunActivity::default() },
            requests: 0,
            usage: dormouse_conversation::Usage::default(),
            cost_usd: Some(0.0),
            transcript: engine.conversation().transcript_path().to_owned(),
            stop: CancellationToken::new(),
        };
        runs.add(run.clone());
        let worktree = self.worktree.as_ref().map(Worktree::record);
        // Without its record it cannot go on after a crash; that must not keep it from its work.
        let _unrecorded =
            RunRecord::of(&run, worktree).write(engine.conversation().session_folder());
        let limits = [max_turns, self.spawner.registry.setup.max_turns];
        PreparedSubagent {
            engine,
            spawner: self.own,
            start,
            surroundings,
            max_turns: limits.into_iter().flatten().min(),
            background: self.background,
            run,
            task: self.input.prompt.clone(),
            worktree: self.worktree,
            servers: None,
            remarks: self.remarks,
        }
    }
}
