//! From settings and environment to a model that can be talked to.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use dormouse_base::{Environment, Secret, Settings, names};
use dormouse_conversation::{Budget, PromptSize, WindowSource, resolve_window};
use dormouse_model::{
    Dialect, HttpModel, Model, ModelInfo, Provider, ProviderError, RetryPolicy, choose_provider,
    find_local_servers,
};
use dormouse_tools::output;

use crate::exit::Failure;
use crate::show;

/// A model, ready.
pub(crate) struct Connection {
    pub(crate) model: Arc<Model>,
    pub(crate) model_name: String,
    pub(crate) dialect: Dialect,
    pub(crate) budget: Budget,
    pub(crate) retry: RetryPolicy,
    pub(crate) key_variable: String,
}

/// The longest answer asked for where the server does not say what it can.
const UNKNOWN_MAX_OUTPUT: u32 = 16_000;
/// The longest answer asked for at all.
const LONGEST_OUTPUT: u32 = 32_000;
/// `keyCommand` may ask a key ring.
const KEY_COMMAND_PATIENCE: Duration = Duration::from_mins(1);

/// Connects to the model that the settings, the environment and `--model` name.
pub(crate) async fn connect(
    settings: &Settings,
    environment: &Environment,
    asked: Option<&str>,
    folder: &Path,
) -> Result<Connection, Failure> {
    let key = key_from_command(settings, environment, folder).await?;
    let provider = match choose_provider(&settings.provider, environment, key) {
        Ok(provider) => provider,
        Err(error) => return Err(not_set_up(error).await),
    };
    let http = HttpModel::new(provider.endpoint.clone());
    let wanted = asked.or_else(|| environment.get(names::MODEL)).or(settings.model.as_deref());
    let model_name = choose_model(wanted, &provider, &http).await?;
    let bare_name = model_name.trim_end_matches("[1m]").to_owned();
    let user_window = user_window(settings, environment, &model_name)?;
    let info = if user_window.is_some() { None } else { http.info(&bare_name).await };
    let budget = budget(&model_name, user_window, info.as_ref())?;
    let retry = retry(environment);
    let (dialect, key_variable) = (provider.dialect, provider.key_variable);
    Ok(Connection {
        model: Arc::new(Model::Http(http)),
        model_name: bare_name,
        dialect,
        budget,
        retry,
        key_variable,
    })
}

async fn choose_model(
    wanted: Option<&str>,
    provider: &Provider,
    http: &HttpModel,
) -> Result<String, Failure> {
    if let Some(name) = wanted.or(provider.default_model) {
        return Ok(name.to_owned());
    }
    match http.models().await.into_iter().next() {
        Some(first) => Ok(first.id),
        None => Err(Failure::usage(anyhow::anyhow!(
            "{} lists no model, and none was named",
            provider.endpoint.base_url
        ))
        .hint("name one with --model, or check that the server is running")),
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
    if budget.prompt == PromptSize::Short {
        let who = match source {
            WindowSource::User => "as set",
            WindowSource::Suffix => "by its name",
            WindowSource::Server => "says the server",
            WindowSource::Table | WindowSource::Default => "as far as known",
        };
        show::note(&format!(
            "note: the model's window is {} tokens ({who}): the short prompt is used",
            budget.window
        ));
    }
    Ok(budget)
}

fn retry(environment: &Environment) -> RetryPolicy {
    let base = environment
        .get(names::RETRY_BASE_MS)
        .and_then(|text| text.parse().ok())
        .map(Duration::from_millis);
    base.map_or_else(RetryPolicy::default, |base| RetryPolicy { base, ..RetryPolicy::default() })
}

/// Runs the settings' `keyCommand`; what it prints is the key.
async fn key_from_command(
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
        return Err(Failure::usage(anyhow::anyhow!(
            "the setting `provider.keyCommand` printed no key: {}",
            answer.stderr.trim()
        )));
    }
    Ok(Some(Secret::new(answer.stdout)))
}

/// A first run: says what to set, or which server on this machine could be used.
async fn not_set_up(error: ProviderError) -> Failure {
    if error != ProviderError::NotConfigured {
        let hint = match &error {
            ProviderError::NoKey { variable, .. } => format!("export {variable}=… and try again"),
            ProviderError::NotConfigured | ProviderError::BadValue { .. } => {
                "mend the setting, or take it out".to_owned()
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
        .hint("without any of these `dormouse demo` and `dormouse sessions` work")
}
