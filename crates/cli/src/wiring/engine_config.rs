//! The parts of an engine's configuration that follow from settings, arguments and the model connection.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use dormouse_base::{
    EffortLevel, Environment, LayerSwitch, Project, Settings, Switches, ToolSettings,
};
use dormouse_conversation::metrics::MetricsLog;
use dormouse_conversation::{Effort, ServerTool};
use dormouse_engine::{
    CostRules, EngineConfig, MemorySetup, ModelSetup, PromptOverrides, ResultRules, Services,
    SessionTexts, ToolSetup, WindowRules, memory_tools,
};
use dormouse_model::{PRICES_DATED, PriceTable};
use dormouse_permissions::{PermissionGate, PermissionVerdict};
use dormouse_sandbox::SandboxPolicy;
use dormouse_tools::{CommandLimits, Reaper, Shells, Tool, ToolSet};
use serde_json::value::RawValue;

use crate::args::Arguments;
use crate::message_catalog::{Locale, msg};
use crate::wiring::connect::ModelConnection;
use crate::wiring::exit::Failure;
use crate::wiring::layers;
use crate::wiring::output_style::output_style;
use crate::wiring::print;
use crate::wiring::user_access::UserAccess;
use crate::wiring::world::World;

/// The model, with the effort of the command line or the settings.
pub(super) fn model_setup(
    connection: &ModelConnection,
    arguments: &Arguments,
    settings: &Settings,
) -> ModelSetup {
    ModelSetup {
        client: connection.model.clone(),
        name: connection.model_name.clone(),
        origin: connection.origin.clone(),
        dialect: connection.dialect.clone(),
        budget: connection.budget,
        effort: effort(arguments, settings),
    }
}

/// The effort of the command line, else of the settings.
fn effort(arguments: &Arguments, settings: &Settings) -> Option<Effort> {
    arguments.effort.or(settings.effort.map(|level| match level {
        EffortLevel::Low => Effort::Low,
        EffortLevel::Medium => Effort::Medium,
        EffortLevel::High => Effort::High,
        EffortLevel::Xhigh => Effort::XHigh,
        EffortLevel::Max => Effort::Max,
    }))
}

/// The tools and what their calls need.
pub(super) fn tool_setup(
    connection: &ModelConnection,
    (settings, switches): (&ToolSettings, &Switches),
    memory: Option<&MemorySetup>,
    gate: &PermissionGate,
    environment: &Environment,
    (sandbox, checkpoint_folders): (Option<Arc<SandboxPolicy>>, Vec<PathBuf>),
    (user, shells): (UserAccess, Arc<Shells>),
) -> ToolSetup {
    let memory_tools = memory.into_iter().flat_map(|memory| memory_tools(&memory.access));
    let tools = ToolSet::builtin().with(memory_tools).with(permitted_search(connection, gate));
    ToolSetup {
        set: Arc::new(tools),
        scratch: None,
        small_window: settings.small_window.clone(),
        ends_repetition: switches.is_on(LayerSwitch::RepeatedCalls),
        gate: gate.clone(),
        confirmer: user.confirmer,
        environment: environment.clone(),
        redactor: connection.redactor.clone(),
        reaper: Reaper::of_this_program(),
        commands: command_limits(settings),
        shells,
        sandbox,
        checkpoint_folders,
        checkpoints: None,
        editor: user.editor,
    }
}

/// The tool that searches the web. A search of the model's server passes no gate, so a rule that denies it takes it away.
fn permitted_search(connection: &ModelConnection, gate: &PermissionGate) -> Option<Arc<dyn Tool>> {
    let tool = connection.search.clone()?;
    let request = tool.permission_request(RawValue::NULL, Path::new("/"));
    let is_denied = gate.decide(&request).verdict == PermissionVerdict::Deny;
    let at_server = tool.known_as().is_some_and(ServerTool::runs_at_server);
    (!(at_server && is_denied)).then_some(tool)
}

/// The folders whose files are listed around commands; none where checkpoints are off.
pub(super) fn checkpoint_folders(
    switches: &Switches,
    project: &Project,
    gate: &PermissionGate,
) -> Vec<PathBuf> {
    if !switches.is_on(LayerSwitch::Checkpoints) {
        return Vec::new();
    }
    std::iter::once(project.checkout.clone()).chain(gate.added_folders().iter().cloned()).collect()
}

pub(crate) fn services(world: &World) -> Result<Services, Failure> {
    Ok(Services {
        clock: Arc::clone(&world.clock),
        ids: Arc::clone(&world.ids),
        deadlines: world.deadlines,
        figures: MetricsLog::at(&world.home()?, Arc::clone(&world.clock)),
    })
}

pub(super) fn cost_rules(arguments: &Arguments, settings: &Settings) -> CostRules {
    CostRules {
        prices: PriceTable::of_settings(&settings.prices),
        max_usd: arguments.max_cost,
        background_share: settings.background.max_share.unwrap_or(BACKGROUND_SHARE),
    }
}

/// The largest share of a session's cost that background tasks may be (B-29).
const BACKGROUND_SHARE: f64 = 0.1;

/// The rules that keep the context window from filling up.
pub(super) fn window_rules(
    settings: &Settings,
    switches: &Switches,
    environment: &Environment,
) -> Result<WindowRules, Failure> {
    let results = ResultRules {
        store: switches.is_on(LayerSwitch::StoredResults),
        chars: settings.tools.result_chars.clone(),
    };
    Ok(WindowRules {
        results: Arc::new(results),
        layers: layers::rules(settings, switches)?,
        compaction: layers::compaction(switches, environment)?,
    })
}

/// What the command line and the settings change in the system prompt.
pub(super) fn prompt_overrides(
    arguments: &Arguments,
    settings: &Settings,
    world: &World,
    project: &Project,
) -> Result<PromptOverrides, Failure> {
    let home = world.home()?;
    let language = match Locale::current() {
        Locale::English => None,
        Locale::Chinese => Some(CHINESE_USER.to_owned()),
    };
    let style = settings.output_style.as_deref();
    Ok(PromptOverrides {
        system: arguments.system_prompt.clone(),
        append: arguments.append_system_prompt.clone(),
        session: Some(SessionTexts {
            language,
            output_style: style.and_then(|name| output_style(name, &home, &project.checkout)),
        }),
    })
}

/// What the model is told about a user whose terminal speaks Chinese.
const CHINESE_USER: &str = "The user's terminal is set to Chinese: answer in Chinese, and describe changes and commands in Chinese, unless the user writes in another language. Code, identifiers and commit messages follow the project.";

/// Timeouts of shell commands. The default never exceeds the maximum.
fn command_limits(settings: &ToolSettings) -> CommandLimits {
    let set = |ms: Option<u64>, unless| ms.map_or(unless, Duration::from_millis);
    let usual = CommandLimits::default();
    let most = set(settings.bash_max_timeout_ms, usual.most);
    CommandLimits { default: set(settings.bash_timeout_ms, usual.default).min(most), most }
}

/// Warns that `--max-cost` has no effect for a model without a price.
pub(super) fn warn_without_price(config: &EngineConfig) {
    if config.cost.max_usd.is_some() && config.cost.prices.price(&config.model.name).is_none() {
        let model = config.model.name.as_str();
        print::note(&msg!("max-cost-without-price", model = model, dated = PRICES_DATED));
    }
}
