//! `dormouse config`: what is set, where it comes from, and changing it.

use dormouse_base::{SWITCHES, settings_schema};
use serde::Serialize;
use serde_json::Value;

use crate::args::{ConfigArguments, ConfigCommand, SettingsScope};
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::print;
use crate::wiring::settings::{self, InForce};
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

/// One setting as it is in force.
#[derive(Debug, Serialize)]
pub(crate) struct Entry {
    key: String,
    value: Value,
    /// Who says so; of a list, all who add to it.
    origin: String,
}

fn load(world: &World) -> Result<InForce, Failure> {
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

/// All that is set, and every switch.
pub(crate) fn entries(in_force: &InForce) -> Vec<Entry> {
    let mut entries = Vec::new();
    flatten("", &in_force.stack.value(), &mut |key, value| {
        if !key.starts_with("layers.") {
            let origin = origin(in_force, key);
            entries.push(Entry { key: key.to_owned(), value: value.clone(), origin });
        }
    });
    for switch in SWITCHES {
        if let Some(state) = in_force.switches.get(switch.name) {
            let key = format!("layers.{}", switch.name);
            entries.push(Entry { key, value: Value::Bool(state.on), origin: state.origin.clone() });
        }
    }
    entries
}

fn origin(in_force: &InForce, key: &str) -> String {
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

/// Every key with a value, below objects that have named fields.
fn flatten(place: &str, value: &Value, found: &mut impl FnMut(&str, &Value)) {
    match value {
        Value::Object(fields) if place != "hooks" => {
            for (name, value) in fields {
                let key = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
                flatten(&key, value, found);
            }
        }
        Value::Null => {}
        value => found(place, value),
    }
}

/// Two columns and where it comes from.
pub(crate) fn table(entries: &[Entry]) -> String {
    let width = entries.iter().map(|entry| entry.key.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for Entry { key, value, origin } in entries {
        text.push_str(&format!("{key:width$}  {}  ({origin})\n", plain(value)));
    }
    text
}

/// A text without its quotes, anything else as JSON.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

fn get(world: &World, key: &str, json: bool) -> Result<Exit, Failure> {
    let in_force = load(world)?;
    let entry = match entries(&in_force).into_iter().find(|entry| entry.key == key) {
        Some(entry) => entry,
        None => whole(&in_force, key)?,
    };
    if json {
        print::data_line(&serde_json::to_string(&entry).map_err(Failure::failed)?);
    } else {
        print::data_line(&plain(&entry.value));
    }
    Ok(Exit::Done)
}

/// A key with keys below it.
fn whole(in_force: &InForce, key: &str) -> Result<Entry, Failure> {
    let value = in_force.stack.value();
    match value.pointer(&format!("/{}", key.replace('.', "/"))) {
        Some(value) => {
            Ok(Entry { key: key.to_owned(), value: value.clone(), origin: origin(in_force, key) })
        }
        None => Err(Failure::new(Exit::Failed, anyhow::anyhow!("`{key}` is not set"))
            .hint("`dormouse config list` lists what is; `dormouse config schema` what can be")),
    }
}

async fn set(world: &World, key: &str, value: &str, scope: SettingsScope) -> Result<Exit, Failure> {
    put_in(world, key, value, scope).await?;
    print::note(&format!("{key} is set"));
    Ok(Exit::Done)
}

async fn unset(world: &World, key: &str, scope: SettingsScope) -> Result<Exit, Failure> {
    let change = take_out(world, key, scope).await?;
    print::note(&if change.made {
        format!("{key} is taken out")
    } else {
        format!("{key} was not set")
    });
    Ok(Exit::Done)
}
