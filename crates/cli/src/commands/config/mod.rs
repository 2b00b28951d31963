//! `dormouse config`: shows settings with their sources, and changes them.

use dormouse_base::{LayerSwitch, SETTINGS_SCHEMA, SettingKey};
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
        None => list(world, false, false),
        Some(ConfigCommand::List { all, json }) => list(world, *all, *json),
        Some(ConfigCommand::Get { key, json }) => get(world, key, *json),
        Some(ConfigCommand::Set { key, value, scope }) => set(world, key, value, *scope).await,
        Some(ConfigCommand::Unset { key, scope }) => unset(world, key, *scope).await,
        Some(ConfigCommand::Schema) => {
            print::data_line(SETTINGS_SCHEMA.trim_end());
            Ok(Exit::Done)
        }
    }
}

/// The source of a value that nobody set; feature switches use the same word.
const DEFAULT_ORIGIN: &str = "default";

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

fn list(world: &World, all: bool, json: bool) -> Result<Exit, Failure> {
    let mut entries = entries(&load(world)?);
    if all {
        add_defaults(&mut entries);
    }
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
    flatten(&mut Vec::new(), &in_force.stack.value(), &mut |names, value| {
        if names.first().is_none_or(|name| name != "layers") {
            entries.push(entry(in_force, &SettingKey::of(names.iter().cloned()), value));
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

/// Adds the settings that are at their default, and puts all in order of their keys.
fn add_defaults(entries: &mut Vec<SettingEntry>) {
    for (key, value) in SettingKey::all_defaults() {
        let key = key.to_string();
        if entries.iter().all(|entry| entry.key != key) {
            entries.push(SettingEntry { key, value, origin: DEFAULT_ORIGIN.to_owned() });
        }
    }
    entries.sort_by(|one, other| one.key.cmp(&other.key));
}

fn entry(in_force: &EffectiveSettings, key: &SettingKey, value: &Value) -> SettingEntry {
    // Lists of all layers are joined; of other values the highest layer's counts.
    let counting = if value.is_array() { usize::MAX } else { 1 };
    let origins = in_force.stack.origins(key).into_iter().take(counting);
    let origins = origins.map(|layer| format!("{}: {}", layer.source, layer.path.display()));
    let origin = origins.collect::<Vec<_>>().join(", ");
    SettingEntry { key: key.to_string(), value: value.clone(), origin }
}

/// Calls `found` for every value, with its names.
fn flatten(names: &mut Vec<String>, value: &Value, found: &mut impl FnMut(&[String], &Value)) {
    match value {
        Value::Object(fields) if names.first().is_none_or(|name| name != "hooks") => {
            for (name, value) in fields {
                names.push(name.clone());
                flatten(names, value, found);
                names.pop();
            }
        }
        Value::Null => {}
        value => found(names, value),
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
    let path = SettingKey::parse(key);
    let named = path.to_string();
    let entry = match entries(&in_force).into_iter().find(|entry| entry.key == named) {
        Some(entry) => entry,
        None => section_or_default(&in_force, &path)?,
    };
    if json {
        print::data_line(&serde_json::to_string(&entry).map_err(Failure::failed)?);
    } else {
        print::data_line(&display_value(&entry.value));
    }
    Ok(Exit::Done)
}

/// A key that contains other keys, or the default of one that is not set.
fn section_or_default(
    in_force: &EffectiveSettings,
    key: &SettingKey,
) -> Result<SettingEntry, Failure> {
    if let Some(value) = key.find(&in_force.stack.value()) {
        return Ok(entry(in_force, key, value));
    }
    if let Some(value) = key.default_value() {
        let origin = DEFAULT_ORIGIN.to_owned();
        return Ok(SettingEntry { key: key.to_string(), value, origin });
    }
    let error = anyhow::anyhow!(msg!("config-not-set", key = key.to_string()));
    Err(Failure::new(Exit::Failed, error).hint(msg!("config-not-set-hint")))
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
