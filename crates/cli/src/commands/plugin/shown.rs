//! What a plugin would run, for the person who is asked to trust it; and what is wrong with it.

use dormouse_agents::{AgentDefinition, ToolChoice};
use dormouse_base::Environment;
use dormouse_engine::plugins::{Installed, Plugin, PluginConfig, PluginTrust};
use dormouse_engine::{Hooks, Skills};
use dormouse_tools::Variables;
use serde_json::Value;

use crate::wiring::plugins;
use crate::wiring::print;
use crate::wiring::trust;

/// Lists it.
pub(super) fn tell(installed: &Installed) {
    print::note(match installed.trust {
        PluginTrust::Changed => "It has changed since you trusted it. It would run:",
        PluginTrust::Unknown | PluginTrust::Given => "It would run:",
    });
    let wishes = wishes(&installed.plugin);
    for wish in wishes.iter().flat_map(trust::wishes) {
        print::note(&format!("  {wish}"));
    }
    if wishes.is_empty() {
        print::note("  nothing");
    }
    for said in &installed.plugin.ignored {
        print::note(&format!("note: {said}"));
    }
    for problem in problems(&installed.plugin) {
        print::note(&format!("warning: {problem}"));
    }
}

/// All that it brings, by kind and file: what one file says must not hide what another would run.
pub(super) fn wishes(plugin: &Plugin) -> Vec<Value> {
    let mut all = Vec::new();
    let mut add = |key: &str, value: Value| {
        if value.as_object().is_some_and(|value| !value.is_empty()) {
            all.push(Value::Object([(key.to_owned(), value)].into_iter().collect()));
        }
    };
    plugin.hooks.iter().for_each(|config| add("hooks", value_of(config, "hooks")));
    plugin.servers.iter().for_each(|config| add("mcpServers", value_of(config, "mcpServers")));
    add("agents", plugins::agents_of(plugin, &mut Vec::new()).iter().map(described).collect());
    add(trust::SKILLS, Skills::of_plugin(plugin).wishes());
    all
}

fn described(agent: &AgentDefinition) -> (String, Value) {
    let tools = match &agent.tools {
        ToolChoice::All => "all tools".to_owned(),
        ToolChoice::Only(tools) => tools.join(", "),
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

/// What is wrong anywhere in it.
pub(super) fn problems(plugin: &Plugin) -> Vec<String> {
    let mut all: Vec<String> = plugin.problems.iter().map(ToString::to_string).collect();
    let (_, hooks) = Hooks::read(plugins::hook_layers_of(plugin));
    all.extend(hooks.iter().map(|problem| format!("a hook will not run: {problem}")));
    let variables = plugins::variables(plugin, Variables::new(Environment::default()));
    let servers = plugins::servers_of(plugin, &variables);
    all.extend(servers.problems.iter().map(ToString::to_string));
    all.extend(Skills::of_plugin(plugin).problems().iter().map(ToString::to_string));
    let mut agents = Vec::new();
    plugins::agents_of(plugin, &mut agents);
    all.extend(agents.iter().map(ToString::to_string));
    all
}
