//! The configured MCP servers: every layer of settings, the project's `.mcp.json`, and `--mcp-config` (L-16, L-29).
//!
//! Invariant: a project's servers are used only as they were trusted: the text that the user saw is the text read here.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use dormouse_base::{
    Clock, Deadlines, Environment, Project, Redactor, Settings, SettingsLayer, SettingsSource,
    TrustState,
};
use dormouse_mcp_client::{
    CALL_TIMEOUT, McpHub, McpSetup, ParsedServers, ServerOrigin, ServerSpec, ServerStatus,
    TokenStore, UserQuestions, Variables, parse_servers, read_servers,
};
use dormouse_tools::Reaper;
use serde_json::Value;

use crate::args::Arguments;
use crate::wiring::exit::Failure;
use crate::wiring::mcp_project_file::{KEY, McpProjectFile};
use crate::wiring::plugins;
use crate::wiring::print;
use crate::wiring::settings::EffectiveSettings;
use crate::wiring::world::World;
use crate::wiring::world::{environment_for_children, is_bare};

/// After this long a notice is shown.
const SILENCE: Duration = Duration::from_secs(1);

/// The configured servers; problems are printed as warnings.
pub(crate) fn configured(
    arguments: &Arguments,
    in_force: &EffectiveSettings,
    world: &World,
) -> Result<ParsedServers, Failure> {
    let read = read(&arguments.mcp_config, in_force, world)?;
    for problem in &read.problems {
        print::note(&format!("warning: {problem}"));
    }
    Ok(read)
}

/// Reads all sources. `given` is the values of `--mcp-config`.
pub(crate) fn read(
    given: &[String],
    in_force: &EffectiveSettings,
    world: &World,
) -> Result<ParsedServers, Failure> {
    if is_bare(&world.environment)? {
        return Ok(ParsedServers::default());
    }
    // Without the API key.
    let environment = environment_for_children(&world.environment, &in_force.settings);
    let variables = Variables::new(environment.clone());
    let mut layers: Vec<(SettingsSource, ParsedServers)> = Vec::new();
    if let Some(mut read) = of_project_file(&in_force.mcp_file, &variables) {
        // Its problems are reported anyway.
        if in_force.trust != TrustState::Trusted {
            (read.servers, read.off) = Default::default();
        }
        layers.push((SettingsSource::Project, read));
    }
    let settings = in_force.stack.layers().iter();
    layers.extend(settings.map(|layer| (layer.source, of_layer(layer, &variables))));
    for given in given {
        layers.push((SettingsSource::CommandLine, of_command_line(given, &variables)?));
    }
    // Stable: within one source, later entries take precedence.
    layers.sort_by_key(|(source, _)| *source);
    let of_plugins = plugins::servers(&in_force.plugins, &environment);
    Ok(layers.into_iter().fold(of_plugins, |below, (_, above)| below.under(above)))
}

/// The tokens of the user's logins.
pub(crate) fn tokens(home: &Path, clock: &Arc<dyn Clock>) -> TokenStore {
    TokenStore::new(home, Arc::clone(clock))
}

/// Starts the servers concurrently, without waiting for them; not those that are held.
pub(crate) fn start(
    specs: Vec<ServerSpec>,
    held: &[String],
    (settings, deadlines): (&Settings, Deadlines),
    project: &Project,
    environment: &Environment,
    tokens: TokenStore,
) -> Arc<McpHub> {
    let setup = McpSetup {
        folder: project.folder.clone(),
        environment: environment.clone(),
        reaper: Reaper::of_this_program(),
        call_timeout: settings.tools.mcp_timeout_ms.map_or(CALL_TIMEOUT, Duration::from_millis),
        deadlines,
        redactor: Redactor::new(specs.iter().flat_map(ServerSpec::secrets)),
        tokens: Some(tokens),
        questions: UserQuestions::default(),
    };
    let hub = McpHub::new(specs, setup);
    hub.hold(held);
    hub.start();
    Arc::new(hub)
}

/// Waits for servers up to a timeout, with a notice if that takes a while.
pub(crate) async fn wait(hub: &McpHub, patience: Duration) {
    hub.settled(patience.min(SILENCE)).await;
    if hub.is_waiting() && patience > SILENCE {
        print::note("waiting for MCP servers…");
        hub.settled(patience.saturating_sub(SILENCE)).await;
    }
}

/// Waits for servers up to the configured timeout and reports those that are missing.
pub(crate) async fn wait_for_start(hub: &McpHub, settings: &Settings, deadlines: &Deadlines) {
    let patience = settings.tools.mcp_start_ms.map_or(deadlines.mcp_start, Duration::from_millis);
    wait(hub, patience).await;
    for view in hub.views() {
        let name = &view.spec.name;
        match view.status {
            ServerStatus::Connected => {}
            ServerStatus::Connecting => print::note(&format!(
                "note: MCP server `{name}` is still starting; the session starts without it, and its tools are added when it is ready"
            )),
            ServerStatus::Down(reason) => {
                print::note(&format!("warning: MCP server `{name}` is not available: {reason}"));
            }
        }
        for left_out in view.left_out {
            print::note(&format!("warning: MCP server `{name}`: tool left out: {left_out}"));
        }
    }
}

fn of_project_file(file: &McpProjectFile, variables: &Variables) -> Option<ParsedServers> {
    let origin = ServerOrigin::new("project", &file.path);
    file.text.as_deref().map(|text| parse_servers(text, &origin, variables))
}

fn of_layer(layer: &SettingsLayer, variables: &Variables) -> ParsedServers {
    let origin = ServerOrigin::new(layer.source.to_string(), &layer.path);
    let servers = layer.value.get(KEY).unwrap_or(&Value::Null);
    read_servers(servers, &origin, variables, &|path| {
        let path: Vec<&str> = std::iter::once(KEY).chain(path.iter().copied()).collect();
        layer.line_of(&path)
    })
}

/// `--mcp-config`: an error if no entry can be used; otherwise problems are warnings, as for other sources.
fn of_command_line(given: &str, variables: &Variables) -> Result<ParsedServers, Failure> {
    let (path, text) = if given.trim_start().starts_with('{') {
        (PathBuf::from("--mcp-config"), given.to_owned())
    } else {
        let text = std::fs::read_to_string(given).map_err(|error| {
            Failure::usage(anyhow::anyhow!("cannot read the MCP config file {given}: {error}"))
        })?;
        (PathBuf::from(given), text)
    };
    let origin = ServerOrigin::new(SettingsSource::CommandLine.to_string(), path);
    let read = parse_servers(&text, &origin, variables);
    let is_of_use = !read.servers.is_empty() || !read.off.is_empty();
    if is_of_use || read.problems.is_empty() {
        return Ok(read);
    }
    let problems: Vec<String> = read.problems.iter().map(ToString::to_string).collect();
    Err(Failure::usage(anyhow::anyhow!("{}", problems.join("\n")))
        .hint("expected `{\"mcpServers\": {\"name\": {\"command\": …}}}`; see docs/mcp.md"))
}
