//! The plugins there are, what each brings, and whether it is used.

use dormouse_base::printable;
use dormouse_engine::plugins::{Installed, PluginStore, PluginTrust};
use serde::Serialize;

use super::shown;
use crate::wiring::exit::Failure;
use crate::wiring::print;

#[derive(Serialize)]
struct Listed<'a> {
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
struct All<'a> {
    plugins: Vec<Listed<'a>>,
    problems: Vec<String>,
}

pub(super) fn run(store: &PluginStore, json: bool) -> Result<(), Failure> {
    let (all, problems) = store.all();
    if json {
        let problems = problems.iter().map(ToString::to_string).collect();
        let all = All { plugins: all.iter().map(listed).collect(), problems };
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
        print::note("no plugins yet; `dormouse plugin install` takes a folder or a git address");
    }
    Ok(())
}

/// The same for the conversation.
pub(crate) fn rows(store: &PluginStore) -> Vec<(String, String)> {
    let (all, problems) = store.all();
    let broken = problems.iter().map(|problem| ("broken".to_owned(), problem.to_string()));
    all.iter().map(row).chain(broken).collect()
}

fn row(installed: &Installed) -> (String, String) {
    let plugin = &installed.plugin;
    let description = plugin.description.as_deref().unwrap_or_default();
    let counts = [
        (plugin.skills.len(), "skill"),
        (plugin.agents.len(), "agent"),
        (plugin.hooks.len(), "file of hooks"),
        (plugin.servers.len(), "file of MCP servers"),
    ];
    let brings: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} × {what}"))
        .collect();
    let parts = [
        printable(description).into_owned(),
        brings.join(", "),
        format!("from {}", installed.source),
    ];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    (format!("{} ({})", title(installed), state(installed)), parts.join("; "))
}

/// Its name and version.
pub(super) fn title(installed: &Installed) -> String {
    let version =
        installed.plugin.version.as_deref().map(|version| format!(" {}", printable(version)));
    format!("{}{}", installed.plugin.name, version.unwrap_or_default())
}

fn state(installed: &Installed) -> &'static str {
    match (installed.enabled, installed.trust) {
        (false, _) => "off",
        (true, PluginTrust::Given) => "on",
        (true, PluginTrust::Unknown) => "not trusted",
        (true, PluginTrust::Changed) => "changed since it was trusted",
    }
}

fn listed(installed: &Installed) -> Listed<'_> {
    let plugin = &installed.plugin;
    Listed {
        name: plugin.name.as_str(),
        version: plugin.version.as_deref(),
        description: plugin.description.as_deref(),
        source: &installed.source,
        installed: installed.installed.to_string(),
        root: plugin.root.display().to_string(),
        enabled: installed.enabled,
        trust: match installed.trust {
            PluginTrust::Given => "given",
            PluginTrust::Unknown => "unknown",
            PluginTrust::Changed => "changed",
        },
        in_use: installed.in_use(),
        brings: serde_json::Value::Array(shown::wishes(plugin)),
        ignored: &plugin.ignored,
        problems: shown::problems(plugin),
    }
}
