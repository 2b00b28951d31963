//! Where the demo plays: a temporary folder with a project and a home of its own, and a conversation in
//! it whose model is scripted.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use dormouse_background::DreamSetup;
use dormouse_base::{
    Dir, Environment, Redactor, RelPath, Settings, SettingsStack, Switches, find_project, names,
};
use dormouse_conversation::metrics::MetricsLog;
use dormouse_conversation::{Budget, ContextWindow, PrefixOrigin};
use dormouse_engine::{
    BackgroundTask, CompactionRules, Engine, EngineConfig, LayerRules, PromptOverrides, Saving,
    SessionFolder, Surroundings, memory_tools,
};
use dormouse_model::script::ScriptedTurn;
use dormouse_model::{
    CacheTtl, Dialect, MaxTokensField, Model, PriceTable, RetryPolicy, ScriptedModel, WireFormat,
};
use dormouse_permissions::PermissionGate;
use dormouse_tools::{Reaper, ToolSet};

use crate::wiring::dream;
use crate::wiring::exit::Failure;
use crate::wiring::memory_session;
use crate::wiring::world::World;

const PLAN: &str = "# Winter plan\n\n- 40 hazelnuts\n- 12 acorns\n- one warm nest\n";

/// A temporary folder with a project and a home of its own; removed when dropped.
pub(super) struct Stage {
    pub(super) root: PathBuf,
    world: World,
}

impl Stage {
    pub(super) fn build(world: &World) -> Result<Self, Failure> {
        let name = format!("dormouse-demo-{}", uuid::Uuid::new_v4().simple());
        let root = std::env::temp_dir().join(name);
        let file = RelPath::new("plan.md").map_err(Failure::failed)?;
        Dir::create(root.join("project"))?.replace(&file, PLAN.as_bytes())?;
        let path = world.environment.get(names::PATH).unwrap_or("/usr/bin:/bin");
        let home = root.join("home");
        let pairs = [(names::HOME, home.as_os_str()), (names::PATH, path.as_ref())];
        let environment = Environment::from_pairs(pairs);
        Ok(Self { root, world: World::with_environment(environment) })
    }

    pub(super) fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    pub(super) fn project(&self) -> PathBuf {
        self.root.join("project")
    }

    /// What a dream over the memories here needs.
    pub(super) async fn dream_setup(&self) -> Result<DreamSetup, Failure> {
        let project = find_project(&self.project())?;
        let switches = Switches::resolve(&SettingsStack::default(), &self.world.environment);
        let set = (&Settings::default(), &switches.map_err(Failure::usage)?);
        let memory = memory_session::setup(&self.world, &project, set, Saving::Entries).await?;
        let memory = memory.ok_or_else(|| Failure::failed(anyhow::anyhow!("memory is off")))?;
        let sessions = SessionFolder::open(&self.world.home()?, &project)?;
        Ok(dream::setup(&self.world, memory.access, sessions.dir().clone()))
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // What can not be removed is left in the system's temporary folder, where it belongs.
        let _left = std::fs::remove_dir_all(&self.root);
    }
}

/// Who plays the model, in which window, and who works beside it.
pub(super) struct Cast {
    pub(super) model: ScriptedModel,
    pub(super) window: u32,
    pub(super) beside: Option<Arc<dyn BackgroundTask>>,
}

impl From<Vec<ScriptedTurn>> for Cast {
    fn from(script: Vec<ScriptedTurn>) -> Self {
        Self { model: ScriptedModel::new(script), window: 200_000, beside: None }
    }
}

/// A conversation that goes as the script says.
pub(super) async fn begin(
    stage: &Stage,
    cast: impl Into<Cast>,
) -> Result<(Engine, Surroundings), Failure> {
    let cast = cast.into();
    let world = &stage.world;
    let project = find_project(&stage.project())?;
    let surroundings = Surroundings::look(&project, &world.environment, &*world.clock).await;
    let folder = SessionFolder::open(&world.home()?, &project)?;
    let switches = Switches::resolve(&SettingsStack::default(), &world.environment);
    let switches = switches.map_err(Failure::usage)?;
    let mut memory =
        memory_session::setup(world, &project, (&Settings::default(), &switches), Saving::Entries)
            .await?;
    if let Some(recall) = memory.as_mut().and_then(|memory| memory.recall.as_mut()) {
        // The story is told on slow machines too.
        recall.patience = Duration::from_secs(10);
    }
    let tools =
        ToolSet::builtin().with(memory.iter().flat_map(|memory| memory_tools(&memory.access)));
    let window = ContextWindow::new(cast.window).map_err(Failure::failed)?;
    let config = EngineConfig {
        model: Arc::new(Model::Scripted(cast.model)),
        model_name: "scripted".to_owned(),
        origin: PrefixOrigin {
            model: "scripted".to_owned(),
            server: String::new(),
            max_tokens: None,
        },
        dialect: Dialect {
            wire: WireFormat::Anthropic,
            ttl: CacheTtl::FiveMinutes,
            max_tokens_field: MaxTokensField::MaxTokens,
            server_tools: &[],
            clearing: None,
        },
        budget: Budget::for_window(window, 16_000),
        small: None,
        retry: RetryPolicy::default(),
        tools: Arc::new(tools),
        // The script is ours and the folder is temporary.
        gate: PermissionGate::allow_all(),
        asker: None,
        project,
        environment: world.environment.clone(),
        clock: Arc::clone(&world.clock),
        ids: Arc::clone(&world.ids),
        effort: None,
        overrides: PromptOverrides::default(),
        redactor: Redactor::default(),
        results: Arc::default(),
        hooks: Arc::default(),
        reaper: Reaper::of_this_program(),
        commands: dormouse_tools::CommandLimits::default(),
        instructions: None,
        skills: Arc::default(),
        memory,
        figures: MetricsLog::at(&world.home()?, Arc::clone(&world.clock)),
        prices: PriceTable::default(),
        max_cost_usd: None,
        layers: LayerRules::default(),
        compaction: CompactionRules::default(),
        background_tasks: cast.beside.into_iter().collect(),
        announcers: Vec::new(),
        message_sources: Vec::new(),
        fork_points: None,
        subagent: None,
    };
    let engine = Engine::begin(config, &folder, &surroundings)?;
    Ok((engine, surroundings))
}
