//! Skills, agents, hooks and MCP servers of the plugins in use.

use std::collections::BTreeMap;

use dormouse_agents::{AgentDefinition, AgentProblem, plugin_agents};
use dormouse_base::{Dir, Environment};
use dormouse_extensions::plugins::{
    InstalledPlugin, Plugin, PluginConfig, PluginStore, PluginTrust,
};
use dormouse_extensions::skills::Skills;
use dormouse_hooks::{HookLayer, HookOrigin, InactiveReason, PluginPaths};

use dormouse_mcp_client::{
    ParsedServers, ServerOrigin, ServerProblem, Variables, parse_servers, read_servers,
};

use crate::wiring::exit::Failure;
use crate::wiring::print;
use crate::wiring::trust::Untrusted;
use crate::wiring::world::World;
use crate::wiring::world::is_bare;

/// The plugins that are enabled and trusted; the reason for the others is printed.
pub(crate) fn in_use(world: &World, untrusted: Untrusted) -> Result<Vec<Plugin>, Failure> {
    if is_bare(&world.environment)? {
        return Ok(Vec::new());
    }
    let (all, problems) = PluginStore::at(&world.home()?).all();
    let (used, others): (Vec<_>, Vec<_>) = all.into_iter().partition(InstalledPlugin::in_use);
    if untrusted != Untrusted::Pass {
        let broken = problems.iter().chain(used.iter().flat_map(|used| &used.plugin.problems));
        broken.for_each(|problem| print::note(&format!("warning: a plugin: {problem}")));
        for other in others.iter().filter(|other| other.enabled) {
            print::note(&format!("note: {}", why_not_used(other)));
        }
    }
    for used in &used {
        Dir::create(&used.plugin.data)?;
    }
    Ok(used.into_iter().map(|used| used.plugin).collect())
}

/// Why the plugin is not used, and what to do.
pub(crate) fn why_not_used(installed: &InstalledPlugin) -> String {
    let name = &installed.plugin.name;
    match (installed.enabled, installed.trust) {
        (false, _) => {
            format!("the plugin {name} is disabled; `dormouse plugin enable {name}` enables it")
        }
        (true, PluginTrust::Changed) => format!(
            "the plugin {name} has changed since it was trusted and is not used; `dormouse plugin trust {name}` shows and trusts it"
        ),
        (true, PluginTrust::Untrusted | PluginTrust::Trusted) => format!(
            "the plugin {name} is not trusted and is not used; `dormouse plugin trust {name}` shows and trusts it"
        ),
    }
}

pub(crate) fn skills(plugins: &[Plugin]) -> Skills {
    plugins.iter().map(Skills::of_plugin).fold(Skills::default(), Skills::with)
}

pub(crate) fn agents(plugins: &[Plugin], problems: &mut Vec<AgentProblem>) -> Vec<AgentDefinition> {
    plugins.iter().flat_map(|plugin| agents_of(plugin, problems)).collect()
}

pub(crate) fn agents_of(plugin: &Plugin, problems: &mut Vec<AgentProblem>) -> Vec<AgentDefinition> {
    plugin_agents(plugin, problems)
}

/// Their hooks, and why these do not run, where they do not.
pub(crate) fn hook_layers(plugins: &[Plugin], inactive: Option<InactiveReason>) -> Vec<HookLayer> {
    plugins.iter().flat_map(hook_layers_of).map(|layer| layer.inactive(inactive)).collect()
}

pub(crate) fn hook_layers_of(plugin: &Plugin) -> Vec<HookLayer> {
    let home = PluginPaths {
        name: plugin.name.to_string(),
        root: plugin.root.clone(),
        data: plugin.data.clone(),
    };
    let layer = |config: &PluginConfig| {
        let origin = HookOrigin::Plugin(home.clone());
        match config {
            PluginConfig::File { path, text } => HookLayer::of_json(origin, path, text.as_str()),
            PluginConfig::Inline { path, line, value } => {
                HookLayer::of_value(origin, path, value.clone(), *line)
            }
        }
    };
    plugin.hooks.iter().map(layer).collect()
}

/// The MCP servers of plugins. Of servers with the same name the first is used.
pub(crate) fn servers(plugins: &[Plugin], environment: &Environment) -> ParsedServers {
    let mut all = ParsedServers::default();
    let mut owners: BTreeMap<String, String> = BTreeMap::new();
    for plugin in plugins {
        let variables = variables(plugin, Variables::new(environment.clone()));
        let mut read = servers_of(plugin, &variables);
        read.servers.retain(|server| match owners.get(&server.name) {
            Some(owner) => {
                all.problems.push(ServerProblem {
                    file: server.origin.file.clone(),
                    line: None,
                    server: server.name.clone(),
                    reason: format!("the plugin `{owner}` has a server of that name already"),
                });
                false
            }
            None => true,
        });
        let names = read.servers.iter().map(|server| server.name.clone());
        owners.extend(names.map(|name| (name, plugin.name.to_string())));
        all = all.under(read);
    }
    all
}

/// The variables in a plugin's server entries.
pub(crate) fn variables(plugin: &Plugin, variables: Variables) -> Variables {
    let own = plugin.variables().into_iter();
    own.fold(variables, |variables, (name, value)| variables.with(name, value))
}

pub(crate) fn servers_of(plugin: &Plugin, variables: &Variables) -> ParsedServers {
    let read = |config: &PluginConfig| {
        let origin = |path| ServerOrigin::new(format!("plugin {}", plugin.name), path);
        match config {
            PluginConfig::File { path, text } => parse_servers(text, &origin(path), variables),
            PluginConfig::Inline { path, line, value } => {
                read_servers(value, &origin(path), variables, &|_| *line)
            }
        }
    };
    plugin.servers.iter().map(read).fold(ParsedServers::default(), ParsedServers::under)
}
