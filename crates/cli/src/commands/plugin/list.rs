//! `dormouse plugin list`: plugins with their contents and state.

use dormouse_base::printable;
use dormouse_extensions::plugins::{InstalledPlugin, PluginStore, PluginTrust};
use serde::Serialize;

use super::shown;
use crate::message_catalog::msg;
use crate::wiring::exit::Failure;
use crate::wiring::print;

#[derive(Serialize)]
struct PluginJson<'a> {
    name: &'a str,
    version: Option<&'a str>,
    description: Option<&'a str>,
    source: &'a str,
    installed: String,
    root: String,
    enabled: bool,
    trust: &'static str,
    in_use: bool,
    brings: serde_json::Value,
    ignored: &'a [String],
    problems: Vec<String>,
}

#[derive(Serialize)]
struct PluginList<'a> {
    plugins: Vec<PluginJson<'a>>,
    problems: Vec<String>,
}

pub(super) fn run(store: &PluginStore, json: bool) -> Result<(), Failure> {
    let (all, problems) = store.all();
    if json {
        let problems = problems.iter().map(ToString::to_string).collect();
        let all = PluginList { plugins: all.iter().map(to_json).collect(), problems };
        print::data_line(&serde_json::to_string_pretty(&all).map_err(Failure::failed)?);
        return Ok(());
    }
    for (name, text) in all.iter().map(row) {
        print::data_line(&format!("{name}\n    {text}"));
    }
    for problem in all.iter().flat_map(|installed| shown::problems(&installed.plugin)) {
        print::note(&format!("warning: {problem}"));
    }
    for problem in &problems {
        print::note(&format!("warning: {problem}"));
    }
    if all.is_empty() && problems.is_empty() {
        print::note(&msg!("plugin-none"));
    }
    Ok(())
}

/// One row per plugin, for `/plugins`.
pub(crate) fn rows(store: &PluginStore) -> Vec<(String, String)> {
    let (all, problems) = store.all();
    let broken = problems.iter().map(|problem| ("broken".to_owned(), problem.to_string()));
    all.iter().map(row).chain(broken).collect()
}

fn row(installed: &InstalledPlugin) -> (String, String) {
    let plugin = &installed.plugin;
    let description = plugin.description.as_deref().unwrap_or_default();
    let counts = [
        (plugin.skills.len(), "skill"),
        (plugin.commands.len(), "command"),
        (plugin.agents.len(), "agent"),
        (plugin.hooks.len(), "hook file"),
        (plugin.servers.len(), "MCP server file"),
    ];
    let contents: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} × {what}"))
        .collect();
    let parts = [
        printable(description).into_owned(),
        contents.join(", "),
        format!("from {}", installed.source),
    ];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    (format!("{} ({})", title(installed), state(installed)), parts.join("; "))
}

/// Name and version.
pub(super) fn title(installed: &InstalledPlugin) -> String {
    let version =
        installed.plugin.version.as_deref().map(|version| format!(" {}", printable(version)));
    format!("{}{}", installed.plugin.name, version.unwrap_or_default())
}

fn state(installed: &InstalledPlugin) -> &'static str {
    match (installed.enabled, installed.trust) {
        (false, _) => "disabled",
        (true, PluginTrust::Trusted) => "enabled",
        (true, PluginTrust::Untrusted) => "not trusted",
        (true, PluginTrust::Changed) => "changed since trusted",
    }
}

fn to_json(installed: &InstalledPlugin) -> PluginJson<'_> {
    let plugin = &installed.plugin;
    PluginJson {
        name: plugin.name.as_str(),
        version: plugin.version.as_deref(),
        description: plugin.description.as_deref(),
        source: &installed.source,
        installed: installed.installed.to_string(),
        root: plugin.root.display().to_string(),
        enabled: installed.enabled,
        trust: match installed.trust {
            PluginTrust::Trusted => "given",
            PluginTrust::Untrusted => "unknown",
            PluginTrust::Changed => "changed",
        },
        in_use: installed.in_use(),
        brings: serde_json::Value::Array(shown::wishes(plugin)),
        ignored: &plugin.ignored,
        problems: shown::problems(plugin),
    }
}
