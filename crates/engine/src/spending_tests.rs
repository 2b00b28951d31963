//! The cost limit of a session.

use std::sync::Arc;

use dormouse_base::{
    Clock, Deadlines, Environment, RandomIds, Redactor, SystemClock, find_project,
};
use dormouse_conversation::metrics::{MetricsFilter, MetricsLog, summarize_metrics};
use dormouse_conversation::{Budget, ContextWindow, PrefixOrigin};
use dormouse_model::script::ScriptedTurn;
use dormouse_model::{
    CacheTtl, Dialect, Model, Price, PriceTable, RetryPolicy, ScriptedModel, WireFormat,
};
use dormouse_permissions::PermissionGate;
use dormouse_tools::{EditorTools, ToolSet};
use tokio_util::sync::CancellationToken;

use crate::config::model_setup::{CostRules, ModelSetup};
use crate::config::services::Services;
use crate::config::{EngineConfig, Extensions, ToolSetup, WindowRules};
use crate::{Engine, PromptOverrides, SessionFolder, Surroundings, TurnContext, TurnEnd};

const NAME: &str = "scripted";

pub(crate) fn config(home: &std::path::Path, turns: usize, max_cost_usd: f64) -> EngineConfig {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::default());
    let script = vec![ScriptedTurn::new().text("well"); turns];
    EngineConfig {
        model: ModelSetup {
            client: Arc::new(Model::Scripted(ScriptedModel::new(script))),
            name: NAME.to_owned(),
            origin: PrefixOrigin {
                model: NAME.to_owned(),
                server: String::new(),
                max_tokens: None,
            },
            dialect: Dialect::new(WireFormat::Anthropic, CacheTtl::FiveMinutes),
            budget: Budget::for_window(ContextWindow::new(200_000).unwrap(), 16_000),
            effort: None,
        },
        small: None,
        retry: RetryPolicy::default(),
        tools: ToolSetup {
            set: Arc::new(ToolSet::builtin()),
            scratch: None,
            small_window: Vec::new(),
            ends_repetition: true,
            gate: PermissionGate::allow_all(),
            confirmer: None,
            environment: Environment::default(),
            redactor: Redactor::default(),
            reaper: dormouse_tools::Reaper::none(),
            commands: dormouse_tools::CommandLimits::default(),
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
        // A dollar for every output token; each scripted response counts 20 of them.
        cost: CostRules {
            prices: PriceTable::default().with(NAME, Price::new(0.0, 1e6)),
            max_usd: Some(max_cost_usd),
            background_share: 1.0,
        },
        extensions: Extensions::default(),
        window: WindowRules::default(),
        memory: None,
        subagent: None,
    }
}

#[tokio::test]
async fn a_cost_limit_holds_for_all_turns_together() {
    let home = tempfile::tempdir().unwrap();
    let config = config(home.path(), 2, 40.0);
    let project = config.project.clone();
    let surroundings = Surroundings::look(
        &project,
        &Environment::default(),
        &*config.services.clock,
        &config.services.deadlines,
    )
    .await;
    let folder = SessionFolder::open(home.path(), &project).unwrap();
    let mut engine = Engine::begin(config, &folder, &surroundings).unwrap();
    let (interrupt, mut ends) = (CancellationToken::new(), Vec::new());
    for _ in 0..3 {
        let mut sink = |_| ();
        let mut turn = TurnContext::new(&interrupt, &mut sink);
        let report = engine.run_turn("hi", &surroundings, None, &mut turn).await.unwrap();
        ends.push((report.end, report.requests, report.cost_usd));
    }
    assert_eq!(
        ends,
        [
            (TurnEnd::Completed, 1, Some(20.0)),
            (TurnEnd::Completed, 1, Some(20.0)),
            (TurnEnd::MaxCost, 0, Some(0.0)),
        ]
    );
    let summary =
        summarize_metrics(&MetricsLog::folder_in(home.path()), &MetricsFilter::default()).unwrap();
    assert_eq!((summary.total.requests, summary.total.unpriced), (2, 0));
    assert!((summary.total.cost_usd - 40.0).abs() < 1e-9, "{:?}", summary.total);
}
