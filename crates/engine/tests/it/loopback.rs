//! A conversation with a scripted model server, over real HTTP, in a folder of its own. The tests of the crates above
//! include this file too.

use std::path::Path;
use std::sync::Arc;

use dormouse_base::{
    Clock, Deadlines, Environment, RandomIds, Redactor, Secret, SystemClock, find_project,
};
use dormouse_conversation::metrics::MetricsLog;
use dormouse_conversation::{Budget, ContextWindow, PrefixOrigin};
use dormouse_engine::{
    CostRules, Engine, EngineConfig, EngineEvent, Extensions, ModelSetup, PromptOverrides,
    Services, SessionFolder, Surroundings, ToolSetup, TurnContext, TurnReport, WindowRules,
};
use dormouse_model::{
    CacheTtl, Credential, Dialect, Endpoint, HttpModel, Model, PriceTable, RetryPolicy, Timeouts,
};
use dormouse_permissions::PermissionGate;
use dormouse_testkit::ScriptedServer;
use dormouse_tools::{CommandLimits, EditorTools, Reaper, ToolSet};
use tokio_util::sync::CancellationToken;

/// The configuration of a conversation with `server`, in the folder `home`. Every tool call is allowed.
pub(crate) fn config(home: &Path, server: &ScriptedServer) -> EngineConfig {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::default());
    EngineConfig {
        model: model(server),
        small: None,
        retry: RetryPolicy { base: std::time::Duration::from_millis(1), ..RetryPolicy::default() },
        tools: ToolSetup {
            set: Arc::new(ToolSet::builtin()),
            scratch: None,
            small_window: Vec::new(),
            ends_repetition: true,
            gate: PermissionGate::allow_all(),
            confirmer: None,
            environment: Environment::default(),
            redactor: Redactor::default(),
            reaper: Reaper::none(),
            commands: CommandLimits::default(),
            shells: Arc::default(),
            sandbox: None,
            checkpoint_folders: Vec::new(),
            checkpoints: None,
            editor: EditorTools::default(),
        },
        project: find_project(home).unwrap(),
        services: Services {
            clock: Arc::clone(&clock),
            ids: Arc::new(RandomIds::new(Arc::clone(&clock))),
            deadlines: Deadlines::default(),
            figures: MetricsLog::at(home, clock),
        },
        overrides: PromptOverrides::default(),
        instructions: None,
        cost: CostRules { prices: PriceTable::default(), max_usd: None, background_share: 1.0 },
        extensions: Extensions::default(),
        window: WindowRules::default(),
        memory: None,
        subagent: None,
    }
}

fn model(server: &ScriptedServer) -> ModelSetup {
    let name = server.model().to_owned();
    ModelSetup {
        client: Arc::new(Model::from(HttpModel::new(Endpoint {
            wire: server.wire(),
            base_url: server.url(),
            credential: Credential::ApiKey(Secret::new("sk-test")),
            version: "2023-06-01".to_owned(),
            betas: Vec::new(),
            timeouts: Timeouts::default(),
        }))),
        origin: PrefixOrigin { model: name.clone(), server: server.url(), max_tokens: None },
        name,
        dialect: Dialect::new(server.wire(), CacheTtl::FiveMinutes),
        budget: Budget::for_window(ContextWindow::new(200_000).unwrap(), 16_000),
        effort: None,
    }
}

/// A conversation, and what it told its user.
pub(crate) struct Session {
    pub(crate) engine: Engine,
    pub(crate) interrupt: CancellationToken,
    pub(crate) events: Vec<EngineEvent>,
    surroundings: Surroundings,
}

impl Session {
    pub(crate) async fn begin(home: &Path, config: EngineConfig) -> Self {
        let project = config.project.clone();
        let clock = Arc::clone(&config.services.clock);
        let surroundings =
            Surroundings::look(&project, &Environment::default(), &*clock, &Deadlines::default())
                .await;
        let folder = SessionFolder::open(home, &project).unwrap();
        let engine = Engine::begin(config, &folder, &surroundings).unwrap();
        Self { engine, interrupt: CancellationToken::new(), events: Vec::new(), surroundings }
    }

    /// One turn, from the prompt to the end of the model's work on it.
    pub(crate) async fn turn(&mut self, prompt: &str) -> TurnReport {
        let Self { engine, interrupt, events, surroundings } = self;
        let mut sink = |event| events.push(event);
        let mut turn = TurnContext::new(interrupt, &mut sink);
        engine.run_turn(prompt, surroundings, None, &mut turn).await.unwrap()
    }
}
