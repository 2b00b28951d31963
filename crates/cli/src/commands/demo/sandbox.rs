//! The demo's temporary folder with its own project and home, and sessions in it with a scripted model.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use dormouse_background::DreamSetup;
use dormouse_base::{
    Deadlines, Dir, Environment, Redactor, RelPath, Settings, SettingsStack, Switches,
    find_project, names,
};
use dormouse_conversation::metrics::MetricsLog;
use dormouse_conversation::{Budget, ContextWindow, PrefixOrigin};
use dormouse_engine::{
    BackgroundTask, CostRules, Engine, EngineConfig, Extensions, ModelSetup, PromptOverrides,
    Saving, Services, SessionFolder, Surroundings, ToolSetup, WindowRules, memory_tools,
};
use dormouse_model::script::ScriptedTurn;
use dormouse_model::{
    CacheTtl, Dialect, Model, PriceTable, RetryPolicy, ScriptedModel, WireFormat,
};
use dormouse_permissions::PermissionGate;
use dormouse_tools::{EditorTools, Reaper, ToolSet};

use crate::wiring::dream;
use crate::wiring::exit::Failure;
use crate::wiring::memory_session;
use crate::wiring::world::World;

/// The longest wait for memories: a slow machine needs longer than a session waits.
const PATIENCE: Duration = Duration::from_secs(10);
const PLAN: &str = "# Winter plan\n\n- 40 hazelnuts\n- 12 acorns\n- one warm nest\n";

/// A temporary folder with a project and a home; removed when dropped.
pub(super) struct DemoSandbox {
    pub(super) root: PathBuf,
    pub(super) world: World,
}

impl DemoSandbox {
    pub(super) fn create(world: &World) -> Result<Self, Failure> {
        let name = format!("dormouse-demo-{}", uuid::Uuid::new_v4().simple());
        let root = std::env::temp_dir().join(name);
        let file = RelPath::new("plan.md").map_err(Failure::failed)?;
        Dir::create(root.join("project"))?.replace(&file, PLAN.as_bytes())?;
        let path = world.environment.get(names::PATH).unwrap_or("/usr/bin:/bin");
        let home = root.join("home");
        let pairs = [(names::HOME, home.as_os_str()), (names::PATH, path.as_ref())];
        let environment = Environment::from_pairs(pairs);
        let mut world = World::with_environment(environment);
        // What the demo shows does not depend on the speed of the machine.
        let Deadlines { first_recall, recall, .. } = &mut world.deadlines;
        (*first_recall, *recall) = (PATIENCE, PATIENCE);
        Ok(Self { root, world })
    }

    pub(super) fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    pub(super) fn project(&self) -> PathBuf {
        self.root.join("project")
    }

    /// The setup of a dream over the memories of the sandbox.
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

impl Drop for DemoSandbox {
    fn drop(&mut self) {
        // What cannot be removed stays in the system's temporary folder.
        let _left = std::fs::remove_dir_all(&self.root);
    }
}

/// The scripted model, its context window, and a background task of the session.
pub(super) struct DemoModel {
    pub(super) script: ScriptedModel,
    pub(super) window: u32,
    pub(super) background_task: Option<Arc<dyn BackgroundTask>>,
}

impl From<Vec<ScriptedTurn>> for DemoModel {
    fn from(script: Vec<ScriptedTurn>) -> Self {
        Self { script: ScriptedModel::new(script), window: 200_000, background_task: None }
    }
}

/// Starts a session with the scripted model.
pub(super) async fn start_session(
    sandbox: &DemoSandbox,
    model: impl Into<DemoModel>,
) -> Result<(Engine, Surroundings), Failure> {
    let model = model.into();
    let world = &sandbox.world;
    let project = find_project(&sandbox.project())?;
    let surroundings =
        Surroundings::look(&project, &world.environment, &*world.clock, &world.deadlines).await;
    let folder = SessionFolder::open(&world.home()?, &project)?;
    let switches = Switches::resolve(&SettingsStack::default(), &world.environment);
    let switches = switches.map_err(Failure::usage)?;
    let memory =
        memory_session::setup(world, &project, (&Settings::default(), &switches), Saving::Entries)
            .await?;
    let tools =
        ToolSet::builtin().with(memory.iter().flat_map(|memory| memory_tools(&memory.access)));
    let window = ContextWindow::new(model.window).map_err(Failure::failed)?;
    let config = EngineConfig {
        model: ModelSetup {
            client: Arc::new(Model::Scripted(model.script)),
            name: "scripted".to_owned(),
            origin: PrefixOrigin {
                model: "scripted".to_owned(),
                server: String::new(),
                max_tokens: None,
            },
            dialect: Dialect::new(WireFormat::Anthropic, CacheTtl::FiveMinutes),
            budget: Budget::for_window(window, 16_000),
            effort: None,
        },
        small: None,
        retry: RetryPolicy::default(),
        tools: ToolSetup {
            set: Arc::new(tools),
            scratch: None,
            small_window: Vec::new(),
            ends_repetition: true,
            // The script is ours and the folder is temporary.
            gate: PermissionGate::allow_all(),
            confirmer: None,
            environment: world.environment.clone(),
            redactor: Redactor::default(),
            reaper: Reaper::of_this_program(),
            commands: dormouse_tools::CommandLimits::default(),
            shells: Arc::default(),
            sandbox: None,
            checkpoint_folders: Vec::new(),
            checkpoints: None,
            editor: EditorTools::default(),
        },
        project,
        services: Services {
            clock: Arc::clone(&world.clock),
            ids: Arc::clone(&world.ids),
            deadlines: world.deadlines,
            figures: MetricsLog::at(&world.home()?, Arc::clone(&world.clock)),
        },
        overrides: PromptOverrides::default(),
        instructions: None,
        cost: CostRules { prices: PriceTable::default(), max_usd: None, background_share: 1.0 },
        extensions: Extensions {
            background_tasks: model.background_task.into_iter().collect(),
            ..Extensions::default()
        },
        window: WindowRules::default(),
        memory,
        subagent: None,
    };
    let engine = Engine::begin(config, &folder, &surroundings)?;
    Ok((engine, surroundings))
}
