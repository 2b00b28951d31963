//! The contents of a plugin, shown before the user trusts it, and its problems.

use dormouse_agents::{AgentDefinition, AgentTools};
use dormouse_base::Environment;
use dormouse_extensions::plugins::{InstalledPlugin, Plugin, PluginConfig, PluginTrust};
use dormouse_extensions::skills::Skills;
use dormouse_hooks::Hooks;

use dormouse_mcp_client::Variables;
use serde_json::Value;

use crate::message_catalog::msg;
use crate::wiring::plugins;
use crate::wiring::print;
use crate::wiring::trust;

/// Prints what a plugin would run.
pub(super) fn print_contents(installed: &InstalledPlugin) {
    print::note(&match installed.trust {
        PluginTrust::Changed => msg!("plugin-contents-changed"),
        PluginTrust::Untrusted | PluginTrust::Trusted => msg!("plugin-contents"),
    });
    let wishes = wishes(&installed.plugin);
    for wish in wishes.iter().flat_map(trust::wishes) {
        print::note(&format!("  {wish}"));
    }
    if wishes.is_empty() {
        print::note("  nothing");
    }
    for note in &installed.plugin.ignored {
        print::note(&format!("note: {note}"));
    }
    for problem in problems(&installed.plugin) {
        print::note(&format!("warning: {problem}"));
    }
}

/// The contents by kind and file, so that one file cannot hide the contents of another.
pub(super) fn wishes(plugin: &Plugin) -> Vec<Value> {
    let mut all = Vec::new();
    let mut add = |key: &str, value: Value| {
        if value.as_object().is_some_and(|value| !value.is_empty()) {
            all.push(Value::Object([(key.to_owned(), value)].into_iter().collect()));
        }
    };
    plugin.hooks.iter().for_each(|config| add("hooks", value_of(config, "hooks")));
    plugin.servers.iter().for_each(|config| add("mcpServers", value_of(config, "mcpServers")));
    add("agents", plugins::agents_of(plugin, &mut Vec::new()).iter().map(describe_agent).collect());
    add(trust::SKILLS, Skills::of_plugin(plugin).trust_requests());
    all
}

fn describe_agent(agent: &AgentDefinition) -> (String, Value) {
    let tools = match &agent.tools {
        AgentTools::All => "all tools".to_owned(),
        AgentTools::Only(tools) => tools.join(", "),
    };
    let memory = agent.memory.map(|scope| format!(", {} memory", scope.as_str()));
    let text = format!("{} ({tools}{})", agent.description, memory.unwrap_or_default());
    (agent.name.clone(), text.into())
}

fn value_of(config: &PluginConfig, key: &str) -> Value {
    match config {
        PluginConfig::Inline { value, .. } => value.clone(),
        PluginConfig::File { text, .. } => serde_json::from_str::<Value>(text)
            .ok()
            .and_then(|mut value| value.get_mut(key).map(Value::take))
            .unwrap_or_default(),
    }
}

/// All problems of a plugin.
pub(super) fn problems(plugin: &Plugin) -> Vec<String> {
    let mut all: Vec<String> = plugin.problems.iter().map(ToString::to_string).collect();
    let (_, hooks) = Hooks::read(plugins::hook_layers_of(plugin));
    all.extend(
        hooks.iter().map(|problem| msg!("plugin-hook-invalid", problem = problem.to_string())),
    );
    let variables = plugins::variables(plugin, Variables::new(Environment::default()));
    let servers = plugins::servers_of(plugin, &variables);
    all.extend(servers.problems.iter().map(ToString::to_string));
    all.extend(Skills::of_plugin(plugin).problems().iter().map(ToString::to_string));
    let mut agents = Vec::new();
    plugins::agents_of(plugin, &mut agents);
    all.extend(agents.iter().map(ToString::to_string));
    all
}
