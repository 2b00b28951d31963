//! `dormouse config`: shows settings with their sources, and changes them.

use dormouse_base::{LayerSwitch, settings_schema};
use serde::Serialize;
use serde_json::Value;

use crate::args::{ConfigArguments, ConfigCommand, SettingsScope};
use crate::message_catalog::msg;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::print;
use crate::wiring::settings::{self, EffectiveSettings};
use crate::wiring::settings_file::{put_in, take_out};
use crate::wiring::trust::Untrusted;
use crate::wiring::world::{World, current_project};

pub(crate) async fn run(arguments: &ConfigArguments, world: &World) -> Result<Exit, Failure> {
    match &arguments.command {
        None => list(world, false),
        Some(ConfigCommand::List { json }) => list(world, *json),
        Some(ConfigCommand::Get { key, json }) => get(world, key, *json),
        Some(ConfigCommand::Set { key, value, scope }) => set(world, key, value, *scope).await,
        Some(ConfigCommand::Unset { key, scope }) => unset(world, key, *scope).await,
        Some(ConfigCommand::Schema) => {
            let schema = settings_schema();
            let text = serde_json::to_string_pretty(&schema).map_err(Failure::failed)?;
            print::data_line(&text);
            Ok(Exit::Done)
        }
    }
}

/// The effective value of a setting.
#[derive(Debug, Serialize)]
pub(crate) struct SettingEntry {
    key: String,
    value: Value,
    /// The source; for a list, all sources that add to it.
    origin: String,
}

fn load(world: &World) -> Result<EffectiveSettings, Failure> {
    settings::load(world, None, &current_project()?, Untrusted::Tell)
}

fn list(world: &World, json: bool) -> Result<Exit, Failure> {
    let entries = entries(&load(world)?);
    if json {
        print::data_line(&serde_json::to_string_pretty(&entries).map_err(Failure::failed)?);
    } else {
        print::data(&table(&entries));
    }
    Ok(Exit::Done)
}

/// All settings that have a value, and all feature switches.
pub(crate) fn entries(in_force: &EffectiveSettings) -> Vec<SettingEntry> {
    let mut entries = Vec::new();
    flatten("", &in_force.stack.value(), &mut |key, value| {
        if !key.starts_with("layers.") {
            let origin = origin(in_force, key);
            entries.push(SettingEntry { key: key.to_owned(), value: value.clone(), origin });
        }
    });
    for switch in LayerSwitch::ALL {
        if let Some(state) = in_force.switches.get(switch) {
            let key = format!("layers.{switch}");
            entries.push(SettingEntry {
                key,
                value: Value::Bool(state.on),
                origin: state.origin.clone(),
            });
        }
    }
    entries
}

fn origin(in_force: &EffectiveSettings, key: &str) -> String {
    let origins = in_force.stack.origins(key);
    let joined = in_force
        .stack
        .value()
        .pointer(&format!("/{}", key.replace('.', "/")))
        .is_some_and(Value::is_array);
    let named: Vec<String> = origins
        .iter()
        .take(if joined { usize::MAX } else { 1 })
        .map(|layer| format!("{}: {}", layer.source, layer.path.display()))
        .collect();
    named.join(", ")
}

/// Calls `found` for every value, with its dotted key.
fn flatten(prefix: &str, value: &Value, found: &mut impl FnMut(&str, &Value)) {
    match value {
        Value::Object(fields) if prefix != "hooks" => {
            for (name, value) in fields {
                let key = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
                flatten(&key, value, found);
            }
        }
        Value::Null => {}
        value => found(prefix, value),
    }
}

/// Key, value and source.
pub(crate) fn table(entries: &[SettingEntry]) -> String {
    let width = entries.iter().map(|entry| entry.key.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for SettingEntry { key, value, origin } in entries {
        text.push_str(&format!("{key:width$}  {}  ({origin})\n", display_value(value)));
    }
    text
}

/// A string without quotes, anything else as JSON.
fn display_value(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

fn get(world: &World, key: &str, json: bool) -> Result<Exit, Failure> {
    let in_force = load(world)?;
    let entry = match entries(&in_force).into_iter().find(|entry| entry.key == key) {
        Some(entry) => entry,
        None => section(&in_force, key)?,
    };
    if json {
        print::data_line(&serde_json::to_string(&entry).map_err(Failure::failed)?);
    } else {
        print::data_line(&display_value(&entry.value));
    }
    Ok(Exit::Done)
}

/// A key that contains other keys.
fn section(in_force: &EffectiveSettings, key: &str) -> Result<SettingEntry, Failure> {
    let value = in_force.stack.value();
    match value.pointer(&format!("/{}", key.replace('.', "/"))) {
        Some(value) => Ok(SettingEntry {
            key: key.to_owned(),
            value: value.clone(),
            origin: origin(in_force, key),
        }),
        None => Err(Failure::new(Exit::Failed, anyhow::anyhow!(msg!("config-not-set", key = key)))
            .hint(msg!("config-not-set-hint"))),
    }
}

async fn set(world: &World, key: &str, value: &str, scope: SettingsScope) -> Result<Exit, Failure> {
    put_in(world, key, value, scope).await?;
    print::note(&msg!("config-set", key = key));
    Ok(Exit::Done)
}

async fn unset(world: &World, key: &str, scope: SettingsScope) -> Result<Exit, Failure> {
    let change = take_out(world, key, scope).await?;
    print::note(&if change.made {
        msg!("config-unset", key = key)
    } else {
        msg!("config-was-not-set", key = key)
    });
    Ok(Exit::Done)
}
