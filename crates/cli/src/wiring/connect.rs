//! From settings and environment to a model that can be talked to.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use dormouse_base::{Environment, Redactor, Secret, Settings, names};
use dormouse_conversation::{Budget, PrefixOrigin, PromptSize, WindowSource, resolve_window};
use dormouse_engine::SmallModel;
use dormouse_model::{
    CLEARING_BETA, Credential, Dialect, Endpoint, HttpModel, Model, ModelInfo, Provider,
    ProviderError, RetryPolicy, WireFormat, choose_provider, find_local_servers, retry_policy,
};
use dormouse_tools::output;

use crate::wiring::exit::Failure;
use crate::wiring::layers;
use crate::wiring::print;
use crate::wiring::server_failure::failure_at_start;

/// A model, ready.
pub(crate) struct Connection {
    pub(crate) model: Arc<Model>,
    pub(crate) model_name: String,
    pub(crate) dialect: Dialect,
    pub(crate) budget: Budget,
    /// A cheaper one, for small questions.
    pub(crate) small: Option<SmallModel>,
    pub(crate) retry: RetryPolicy,
    /// What was asked for, and where.
    pub(crate) origin: PrefixOrigin,
    /// Where the key came from, for messages; none if none was sent.
    pub(crate) key_source: Option<String>,
    /// The variable that holds it, or would.
    pub(crate) key_variable: String,
    pub(crate) redactor: Redactor,
}

/// The longest answer asked for where the server does not say what it can.
const UNKNOWN_MAX_OUTPUT: u32 = 16_000;
/// The longest answer asked for at all.
const LONGEST_OUTPUT: u32 = 32_000;
/// `keyCommand` may ask a key ring.
const KEY_COMMAND_PATIENCE: Duration = Duration::from_mins(1);

/// What was asked for: the command line's word, and the session's.
pub(crate) struct ModelChoice<'a> {
    /// `--model`.
    pub(crate) model: Option<&'a str>,
    /// What a session that goes on was begun with.
    pub(crate) origin: Option<&'a PrefixOrigin>,
    /// Whether the server is to clear old results by itself.
    pub(crate) server_clearing: bool,
}

/// Connects to the model that the command line, the session, the environment or the settings name.
pub(crate) async fn connect(
    settings: &Settings,
    environment: &Environment,
    wanted: ModelChoice<'_>,
    folder: &Path,
) -> Result<Connection, Failure> {
    let from_command = key_from_command(settings, environment, folder).await?;
    let has_command = from_command.is_some();
    let provider = match choose_provider(&settings.provider, environment, from_command) {
        Ok(provider) => provider,
        Err(error) => return Err(not_set_up(error).await),
    };
    let retry = retry_policy(environment).map_err(Failure::usage)?;
    let clears = wanted.server_clearing && provider.endpoint.wire == WireFormat::Anthropic;
    let http = HttpModel::new(endpoint(&provider, clears));
    let server = provider.endpoint.shown_url();
    let model_name = choose_model(&wanted, settings, environment, &provider, &http).await?;
    let bare_name = model_name.trim_end_matches("[1m]").to_owned();
    let user_window = user_window(settings, environment, &model_name)?;
    let info = if user_window.is_some() { None } else { http.info(&bare_name).await };
    let budget = budget(&model_name, user_window, info.as_ref())?;
    let (key, key_source) = match &provider.endpoint.credential {
        Credential::None => (None, None),
        Credential::ApiKey(key) | Credential::Bearer(key) => {
            let source = if has_command { "provider.keyCommand" } else { &provider.key_variable };
            (Some(key.clone()), Some(source.to_owned()))
        }
    };
    let model = Arc::new(Model::Http(http));
    let small = settings.small_model.as_deref().or(provider.default_small_model);
    let small = small.map(|name| SmallModel {
        model: Arc::clone(&model),
        name: name.to_owned(),
        dialect: provider.dialect.clone(),
    });
    let clearing = clears.then(|| layers::server_clearing(&budget, &bare_name));
    Ok(Connection {
        model,
        small,
        dialect: Dialect { clearing, ..provider.dialect_for(&bare_name, settings.memory.tool) },
        model_name: bare_name,
        budget,
        retry,
        origin: PrefixOrigin { model: model_name, server, max_tokens: Some(budget.max_output) },
        key_source,
        key_variable: provider.key_variable,
        redactor: Redactor::new(key),
    })
}

/// The server, with what it has to be told to be asked to clear.
fn endpoint(provider: &Provider, clears: bool) -> Endpoint {
    let mut endpoint = provider.endpoint.clone();
    if clears && !endpoint.betas.iter().any(|beta| beta == CLEARING_BETA) {
        endpoint.betas.push(CLEARING_BETA.to_owned());
    }
    endpoint
}

/// A session goes on with its own model, as long as the server is the same: another one would have to
/// read all of it anew.
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
            "{} lists no model, and none was named",
            provider.endpoint.shown_url()
        ))
        .hint("name one with --model")),
    }
}

/// What the person says about the window: the environment, else the settings.
fn user_window(
    settings: &Settings,
    environment: &Environment,
    model: &str,
) -> Result<Option<u32>, Failure> {
    match environment.get(names::CONTEXT_WINDOW) {
        None => Ok(settings.context_windows.get(model).copied()),
        Some(text) => text.parse().map(Some).map_err(|_| {
            Failure::usage(anyhow::anyhow!(
                "{} is `{text}`, which is not a number of tokens",
                names::CONTEXT_WINDOW
            ))
        }),
    }
}

fn budget(model: &str, user: Option<u32>, info: Option<&ModelInfo>) -> Result<Budget, Failure> {
    let server = info.and_then(|info| info.window);
    let (window, source) = resolve_window(model, user, server).map_err(Failure::usage)?;
    let max_output = info
        .and_then(|info| info.max_output)
        .map_or(UNKNOWN_MAX_OUTPUT, |most| most.min(LONGEST_OUTPUT));
    let budget = Budget::for_window(window, max_output);
    if budget.prompt.size == PromptSize::Short {
        let who = match source {
            WindowSource::User => "as set",
            WindowSource::Suffix => "by its name",
            WindowSource::Server => "says the server",
            WindowSource::Table | WindowSource::Default => "as far as known",
        };
        print::note(&format!(
            "note: the model's window is {} tokens ({who}): the short prompt is used",
            budget.window
        ));
    }
    Ok(budget)
}

/// Runs the settings' `keyCommand`; what it prints is the key.
pub(crate) async fn key_from_command(
    settings: &Settings,
    environment: &Environment,
    folder: &Path,
) -> Result<Option<Secret>, Failure> {
    let Some(command) = &settings.provider.key_command else { return Ok(None) };
    let answer = output("sh", &["-c", command], folder, environment, KEY_COMMAND_PATIENCE)
        .await
        .map_err(|error| {
            Failure::usage(anyhow::anyhow!("the setting `provider.keyCommand` failed: {error}"))
        })?;
    if answer.code != Some(0) || answer.stdout.trim().is_empty() {
        // Never its standard output: that may be half a key.
        let why = match (answer.stderr.trim(), answer.code) {
            ("", Some(code)) => format!("it printed nothing and ended with code {code}"),
            ("", None) => "it was ended by a signal".to_owned(),
            (said, _) => said.to_owned(),
        };
        return Err(Failure::usage(anyhow::anyhow!(
            "the setting `provider.keyCommand` printed no key: {why}"
        )));
    }
    Ok(Some(Secret::new(answer.stdout)))
}

/// A first run: says what to set, or which server on this machine could be used.
async fn not_set_up(error: ProviderError) -> Failure {
    if error != ProviderError::NotConfigured {
        let hint = match &error {
            ProviderError::NoKey { variable, .. } | ProviderError::BadKey { variable } => {
                format!("export {variable}=… and try again")
            }
            ProviderError::NotConfigured | ProviderError::BadValue { .. } => {
                "mend it, or take it out".to_owned()
            }
        };
        return Failure::usage(error).hint(hint);
    }
    let mut failure = Failure::usage(error);
    for server in find_local_servers().await {
        failure = failure.hint(format!(
            "{} seems to run on this machine; to use it: export OPENAI_BASE_URL={} DORMOUSE_MODEL={}",
            server.name, server.base_url, server.model
        ));
    }
    failure
        .hint("with a key for the Anthropic API:  export ANTHROPIC_API_KEY=…")
        .hint("with a key for OpenAI:             export OPENAI_API_KEY=…")
        .hint("with a server of your own:         export OPENAI_BASE_URL=http://host:port/v1 (or ANTHROPIC_BASE_URL)")
        .hint("without any of these `dormouse demo` and everything under `dormouse memory` work, and so do recall, search, sessions, context, stats, config and doctor")
}
