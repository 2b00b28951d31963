//! `dormouse mcp add` and `remove`: change the server entries of a settings file.

use std::collections::BTreeMap;
use std::path::PathBuf;

use dormouse_base::{SettingsSource, TrustState};
use dormouse_mcp_client::{ServerOrigin, Variables, read_servers};
use serde_json::{Value, json};

use crate::args::{McpAddArguments, SettingsScope};
use crate::message_catalog::msg;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::mcp_project_file::KEY;
use crate::wiring::plugins;
use crate::wiring::print;
use crate::wiring::settings::{self, EffectiveSettings};
use crate::wiring::settings_file;
use crate::wiring::trust::Untrusted;
use crate::wiring::world::{World, current_project};

pub(super) async fn add(add: &McpAddArguments, world: &World) -> Result<Exit, Failure> {
    let name = &add.name;
    let entry = entry(add)?;
    let servers = json!({ name.as_str(): entry });
    let origin = ServerOrigin::new("new", "the new server");
    let read = read_servers(&servers, &origin, &Variables::as_written(), &|_| None);
    if let Some(problem) = read.problems.first() {
        let error = anyhow::anyhow!("MCP server `{name}`: {}", problem.reason);
        return Err(Failure::usage(error).hint(msg!("nothing-was-changed-hint")));
    }
    let before = load(world)?;
    let entries = find_entries(name, &before, world)?;
    let change =
        settings_file::put_in(world, &format!("{KEY}.{name}"), &entry.to_string(), add.scope)
            .await?;
    let file = change.file.display().to_string();
    print::note(&match entries.iter().any(|entry| entry.file == change.file) {
        _ if !change.made => msg!("mcp-already-configured", name = name, file = file),
        true => msg!("mcp-replaced", name = name, file = file),
        false => msg!("mcp-added", name = name, file = file),
    });
    let waits = matches!(load(world)?.trust, TrustState::Undecided | TrustState::Changed);
    if add.scope != SettingsScope::User && waits {
        print::note(&msg!("mcp-needs-trust"));
    }
    Ok(Exit::Done)
}

pub(super) async fn remove(
    name: &str,
    scope: SettingsScope,
    world: &World,
) -> Result<Exit, Failure> {
    let in_force = load(world)?;
    let file = settings_file::file_of(&in_force, scope)?;
    let entries = find_entries(name, &in_force, world)?;
    if entries.iter().any(|entry| entry.file == file) {
        let change = settings_file::take_out(world, &format!("{KEY}.{name}"), scope).await?;
        if change.made {
            print::note(&msg!("mcp-removed", name = name, file = file.display().to_string()));
            return Ok(Exit::Done);
        }
    }
    let text = msg!("mcp-unknown-in-file", name = name, file = file.display().to_string());
    let mut failure = Failure::failed(anyhow::anyhow!(text));
    for entry in &entries {
        let file = entry.file.display().to_string();
        failure =
            failure.hint(msg!("mcp-found-in-file", file = file, removal = entry.removal.as_str()));
    }
    Err(if entries.is_empty() { failure.hint(msg!("mcp-list-hint")) } else { failure })
}

fn load(world: &World) -> Result<EffectiveSettings, Failure> {
    settings::load(world, None, &current_project()?, Untrusted::Pass)
}

/// A file with an entry for a server, and how to remove it there.
struct ServerEntry {
    file: PathBuf,
    removal: String,
}

/// All entries for a server, including untrusted ones.
fn find_entries(
    name: &str,
    in_force: &EffectiveSettings,
    world: &World,
) -> Result<Vec<ServerEntry>, Failure> {
    let mut found = Vec::new();
    for layer in in_force.places.read().map_err(Failure::usage)? {
        let removal = match layer.source {
            SettingsSource::User | SettingsSource::Project | SettingsSource::Local => {
                format!(": `dormouse mcp remove {name} --scope {}`", layer.source)
            }
            SettingsSource::Managed | SettingsSource::CommandLine => {
                ", which is managed by your organization".to_owned()
            }
        };
        let entries = [&layer.value, &layer.withheld.needs_trust];
        if entries.iter().any(|part| part.get(KEY).is_some_and(|all| all.get(name).is_some())) {
            found.push(ServerEntry { file: layer.path, removal });
        }
    }
    let in_file = in_force.mcp_file.wishes();
    if in_file.get(name).is_some() {
        let removal = ": edit that file".to_owned();
        found.push(ServerEntry { file: in_force.mcp_file.path.clone(), removal });
    }
    let of_plugins = plugins::servers(&in_force.plugins, &world.environment);
    for server in of_plugins.servers.into_iter().filter(|server| server.name == name) {
        let removal = format!(", which belongs to the {}", server.origin.whose);
        found.push(ServerEntry { file: server.origin.file, removal });
    }
    Ok(found)
}

fn entry(add: &McpAddArguments) -> Result<Value, Failure> {
    if let Some(first) = add.stray.first() {
        let command = add.stray.join(" ");
        return Err(Failure::usage(anyhow::anyhow!(msg!("mcp-missing-dashes", word = first)))
            .hint(msg!("mcp-missing-dashes-hint", name = add.name.as_str(), command = command)));
    }
    let pairs = |given: &[String], separator: char, kind: &str| {
        let pair = |text: &String| match text.split_once(separator) {
            Some((name, value)) => Ok((name.trim().to_owned(), Value::from(value.trim()))),
            None => Err(Failure::usage(anyhow::anyhow!(msg!(
                "mcp-invalid-pair",
                text = text,
                kind = kind,
                separator = separator.to_string()
            )))),
        };
        given.iter().map(pair).collect::<Result<BTreeMap<String, Value>, Failure>>()
    };
    let mut entry = match (&add.url, add.command.split_first()) {
        (Some(url), None) => {
            json!({"type": "http", "url": url, "headers": pairs(&add.header, ':', "header")?})
        }
        (None, Some((program, args))) => {
            json!({"command": program, "args": args, "env": pairs(&add.env, '=', "variable")?})
        }
        (Some(_), Some(_)) => {
            return Err(Failure::usage(anyhow::anyhow!(msg!("mcp-url-and-command"))));
        }
        (None, None) => {
            let name = add.name.as_str();
            return Err(Failure::usage(anyhow::anyhow!(msg!("mcp-no-server", name = name)))
                .hint(msg!("mcp-no-server-hint", name = name)));
        }
    };
    // Empty fields are omitted.
    if let Some(fields) = entry.as_object_mut() {
        fields.retain(|_, value| *value != json!({}) && *value != json!([]));
    }
    Ok(entry)
}
