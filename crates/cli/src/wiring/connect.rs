//! Connects to the model that settings and environment name.

use std::path::Path;
use std::sync::Arc;

use dormouse_base::{
    Environment, LayerSwitch, Project, Redactor, Secret, Settings, Switches, ThinkingSwitch, names,
};
use dormouse_conversation::{
    Budget, Effort, PrefixOrigin, PromptSize, WindowSource, resolve_window,
};
use dormouse_engine::{ModelSetup, SmallModel};
use dormouse_model::{
    CLEARING_BETA, COMPACTION_BETA, Credential, Dialect, Endpoint, HttpModel, Model, ModelInfo,
    Provider, ProviderError, RetryPolicy, ThinkingMode, WireFormat, choose_provider,
    find_local_servers, retry_policy,
};

use dormouse_tools::Tool;

use crate::message_catalog::msg;
use crate::wiring::exit::Failure;
use crate::wiring::key_command::printed_key;
use crate::wiring::layers;
use crate::wiring::model_info::{KnownModel, known_model};
use crate::wiring::print;
use crate::wiring::server_failure::failure_at_start;
use crate::wiring::token_variable::token_variable;
use crate::wiring::web_search::search_setup;
use crate::wiring::world::World;

/// A model connection.
pub(crate) struct ModelConnection {
    pub(crate) model: Arc<Model>,
    pub(crate) model_name: String,
    pub(crate) dialect: Dialect,
    pub(crate) budget: Budget,
    /// A cheaper model for small requests.
    pub(crate) small: Option<SmallModel>,
    pub(crate) retry: RetryPolicy,
    /// Model and server as requested.
    pub(crate) origin: PrefixOrigin,
    /// The source of the API key, for messages; none if no key is sent.
    pub(crate) key_source: Option<String>,
    /// The environment variable for the key.
    pub(crate) key_variable: String,
    pub(crate) redactor: Redactor,
    /// The tool that searches the web, where there is one.
    pub(crate) search: Option<Arc<dyn Tool>>,
}

/// The maximum output requested where the server reports no limit.
const UNKNOWN_MAX_OUTPUT: u32 = 16_000;
/// The maximum output requested.
const LONGEST_OUTPUT: u32 = 32_000;

/// What the command line and the session say about the model.
pub(crate) struct ModelChoice<'a> {
    /// `--model`.
    pub(crate) model: Option<&'a str>,
    /// The model of a resumed session.
    pub(crate) origin: Option<&'a PrefixOrigin>,
    /// What the server does by itself.
    pub(crate) by_server: ServerLayers,
}

/// The layers that the server carries out, where it offers them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ServerLayers {
    /// It clears old tool results.
    clearing: bool,
    /// It writes summaries.
    summaries: bool,
}

impl ServerLayers {
    /// As the switches say. A request asks for one of them.
    pub(crate) fn of(switches: &Switches) -> Self {
        let summaries = switches.is_on(LayerSwitch::ServerCompaction);
        let clearing = switches.is_on(LayerSwitch::ServerClearing) && !summaries;
        Self { clearing, summaries }
    }

    /// What of it a server in this format can do.
    fn offered(self, wire: WireFormat) -> Self {
        if wire == WireFormat::Anthropic { self } else { Self::default() }
    }
}

/// The setup of another model, for a session that goes on with it.
pub(crate) async fn other_model(
    name: &str,
    (settings, switches, project): (&Settings, &Switches, &Project),
    world: &World,
    effort: Option<Effort>,
) -> Result<ModelSetup, Failure> {
    let by_server = ServerLayers::of(switches);
    let choice = ModelChoice { model: Some(name), origin: None, by_server };
    let other = connect(settings, world, choice, &project.folder).await?;
    Ok(other.into_setup(effort))
}

impl ModelConnection {
    /// The setup of the model for a conversation.
    pub(crate) fn into_setup(self, effort: Option<Effort>) -> ModelSetup {
        ModelSetup {
            client: self.model,
            name: self.model_name,
            origin: self.origin,
            dialect: self.dialect,
            budget: self.budget,
            effort,
        }
    }
}

/// Connects to the model that the command line, the session, the environment or the settings name.
pub(crate) async fn connect(
    settings: &Settings,
    world: &World,
    wanted: ModelChoice<'_>,
    folder: &Path,
) -> Result<ModelConnection, Failure> {
    let environment = &world.environment;
    let from_command = key_from_command(settings, environment, folder).await?;
    let has_command = from_command.is_some();
    let provider = match choose_provider(&settings.provider, environment, from_command) {
        Ok(provider) => provider,
        Err(error) => return Err(not_set_up(error).await),
    };
    let retry = retry_policy(environment).map_err(Failure::usage)?;
    let by_server = wanted.by_server.offered(provider.endpoint.wire);
    let http = HttpModel::new(endpoint(&provider, by_server));
    let server = provider.endpoint.shown_url();
    let model_name = choose_model(&wanted, settings, environment, &provider, &http).await?;
    let bare_name = model_name.trim_end_matches("[1m]").to_owned();
    let user_window = user_window(settings, environment, &model_name)?;
    let needs_info = user_window.is_none() || !provider.is_official();
    let known = if needs_info {
        known_model(&http, &bare_name, world).await
    } else {
        KnownModel::default()
    };
    let info = known.info.as_ref();
    let budget = budget(&model_name, user_window, info.filter(|_| user_window.is_none()))?;
    let of_local_server = info.is_some_and(|info| info.of_local_server);
    let (key, key_source) = match &provider.endpoint.credential {
        Credential::None => (None, None),
        Credential::ApiKey(key) | Credential::Bearer(key) => {
            let source = if has_command { "provider.keyCommand" } else { &provider.key_variable };
            (Some(key.clone()), Some(source.to_owned()))
        }
    };
    let model = Arc::new(Model::from(http));
    known.refresh(&model, &bare_name, world);
    let small = settings.small_model.as_deref().or(provider.default_small_model);
    let small = small.map(|name| SmallModel {
        model: Arc::clone(&model),
        name: name.to_owned(),
        dialect: provider
            .dialect
            .clone()
            .with_request_fields(settings.request_fields_for(name), of_local_server),
    });
    let thinking = settings.thinking.map(|switch| match switch {
        ThinkingSwitch::On => ThinkingMode::On,
        ThinkingSwitch::Off => ThinkingMode::Off,
    });
    let clearing = by_server.clearing.then(|| layers::server_clearing(&budget, &bare_name));
    let dialect = Dialect {
        clearing,
        thinking,
        server_summaries: by_server.summaries,
        for_small_model: budget.prompt.size == PromptSize::Short,
        ..provider
            .dialect_for(&bare_name, settings.memory.tool, settings.web_search.provider)
            .with_request_fields(settings.request_fields_for(&bare_name), of_local_server)
    };
    let search = search_setup(&settings.web_search, environment, &dialect)?;
    Ok(ModelConnection {
        model,
        small,
        dialect,
        search: search.tool,
        model_name: bare_name,
        budget,
        retry,
        origin: PrefixOrigin { model: model_name, server, max_tokens: Some(budget.max_output) },
        key_source,
        key_variable: provider.key_variable,
        // A command may print the keys of other providers as well.
        redactor: Redactor::new(key.into_iter().chain(search.key).chain(environment.secrets())),
    })
}

/// The endpoint, with the beta headers for what the server is to do by itself.
fn endpoint(provider: &Provider, by_server: ServerLayers) -> Endpoint {
    let mut endpoint = provider.endpoint.clone();
    let wanted = [(by_server.clearing, CLEARING_BETA), (by_server.summaries, COMPACTION_BETA)];
    for (_, beta) in wanted.into_iter().filter(|(is_wanted, _)| *is_wanted) {
        if !endpoint.betas.iter().any(|known| known == beta) {
            endpoint.betas.push(beta.to_owned());
        }
    }
    endpoint
}

/// A resumed session keeps its model as long as the server is the same: another model would have no cached prefix.
async fn choose_model(
    wanted: &ModelChoice<'_>,
    settings: &Settings,
    environment: &Environment,
    provider: &Provider,
    http: &HttpModel,
) -> Result<String, Failure> {
    let of_session = wanted
        .origin
        .filter(|origin| origin.server == provider.endpoint.shown_url())
        .map(|origin| origin.model.as_str());
    let named = wanted
        .model
        .or(of_session)
        .or_else(|| environment.get(names::MODEL))
        .or(settings.model.as_deref())
        .or(provider.default_model);
    if let Some(name) = named {
        return Ok(name.to_owned());
    }
    let listed = http
        .models()
        .await
        .map_err(|error| failure_at_start(&error, None, &provider.key_variable))?;
    match listed.into_iter().next() {
        Some(first) => Ok(first.id),
        None => Err(Failure::usage(anyhow::anyhow!(
            "{} lists no models, and none was given",
            provider.endpoint.shown_url()
        ))
        .hint("choose one with --model")),
    }
}

/// The context window that the environment or the settings set.
pub(crate) fn user_window(
    settings: &Settings,
    environment: &Environment,
    model: &str,
) -> Result<Option<u32>, Failure> {
    let set = token_variable(environment, names::CONTEXT_WINDOW)?;
    Ok(set.or_else(|| settings.context_windows.get(model).copied()))
}

fn budget(model: &str, user: Option<u32>, info: Option<&ModelInfo>) -> Result<Budget, Failure> {
    let server = info.and_then(|info| info.window);
    let (window, source) = resolve_window(model, user, server).map_err(Failure::usage)?;
    let max_output = info
        .and_then(|info| info.max_output)
        .map_or(UNKNOWN_MAX_OUTPUT, |most| most.min(LONGEST_OUTPUT));
    let budget = Budget::for_window(window, max_output);
    if budget.prompt.size == PromptSize::Short {
        let tokens = budget.window;
        print::note(&match source {
            WindowSource::User => msg!("short-prompt-set", tokens = tokens),
            WindowSource::Suffix => msg!("short-prompt-name", tokens = tokens),
            WindowSource::Server => msg!("short-prompt-server", tokens = tokens),
            WindowSource::Table | WindowSource::Default => {
                msg!("short-prompt-assumed", tokens = tokens)
            }
        });
    }
    Ok(budget)
}

/// The key that the provider's `keyCommand` prints.
pub(crate) async fn key_from_command(
    settings: &Settings,
    environment: &Environment,
    folder: &Path,
) -> Result<Option<Secret>, Failure> {
    match &settings.provider.key_command {
        Some(command) => {
            let setting = "provider.keyCommand";
            printed_key(setting, command, (environment, folder)).await.map(Some)
        }
        None => Ok(None),
    }
}

/// Why there is no provider, in the user's language.
pub(crate) fn provider_error(error: &ProviderError) -> String {
    match error {
        ProviderError::NotConfigured => msg!("provider-none"),
        ProviderError::NoKey { url, variable } => {
            msg!("provider-no-key", url = url.as_str(), variable = variable.as_str())
        }
        ProviderError::BadKey { variable } => {
            msg!("provider-bad-key", variable = variable.as_str())
        }
        ProviderError::BadValue { .. } => error.to_string(),
    }
}

/// The error of a first run: what to set, or which local server to use.
async fn not_set_up(error: ProviderError) -> Failure {
    let failure = Failure::usage(anyhow::anyhow!(provider_error(&error)));
    match &error {
        ProviderError::NoKey { variable, .. } | ProviderError::BadKey { variable } => {
            return failure.hint(msg!("provider-hint-export", variable = variable.as_str()));
        }
        ProviderError::BadValue { .. } => return failure.hint(msg!("provider-hint-value")),
        ProviderError::NotConfigured => {}
    }
    let running = find_local_servers().await.into_iter().map(|server| {
        let (name, url, model) = (server.name, server.base_url, server.model);
        msg!("provider-hint-running", name = name, url = url, model = model)
    });
    let keys = [
        msg!("provider-hint-anthropic"),
        msg!("provider-hint-openai"),
        msg!("provider-hint-own"),
        msg!("provider-hint-demo"),
    ];
    running.chain(keys).fold(failure, Failure::hint)
}
