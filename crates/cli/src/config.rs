//! `dormouse config`: what is set, where it comes from, and changing it.

use dormouse_base::{
    Dir, Layer, Project, RelPath, SWITCHES, Settings, Source, Trust, TrustStore, set_value,
    settings_schema, unset_value,
};
use dormouse_engine::{HookLayer, HookOrigin, Hooks};
use serde::Serialize;
use serde_json::Value;

use crate::args::{ConfigArguments, ConfigCommand, Scope};
use crate::exit::{Exit, Failure};
use crate::settings::{self, InForce, Untrusted};
use crate::world::{World, current_project};
use crate::{permissions, show};

pub(crate) fn run(arguments: &ConfigArguments, world: &World) -> Result<Exit, Failure> {
    match &arguments.command {
        None => list(world, false),
        Some(ConfigCommand::List { json }) => list(world, *json),
        Some(ConfigCommand::Get { key, json }) => get(world, key, *json),
        Some(ConfigCommand::Set { key, value, scope }) => set(world, key, value, *scope),
        Some(ConfigCommand::Unset { key, scope }) => unset(world, key, *scope),
        Some(ConfigCommand::Schema) => {
            let schema = settings_schema();
            let text = serde_json::to_string_pretty(&schema).map_err(Failure::failed)?;
            show::data_line(&text);
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
        show::data_line(&serde_json::to_string_pretty(&entries).map_err(Failure::failed)?);
    } else {
        show::data(&table(&entries));
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
        show::data_line(&serde_json::to_string(&entry).map_err(Failure::failed)?);
    } else {
        show::data_line(&plain(&entry.value));
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

pub(crate) fn set(world: &World, key: &str, value: &str, scope: Scope) -> Result<Exit, Failure> {
    let text = Value::from(value).to_string();
    change(world, scope, |old| {
        // JSON where that fits, else the text itself: `true` for a switch, `5` in a model's name.
        let first = if serde_json::from_str::<Value>(value).is_ok() { value } else { &text };
        let changed = set_value(old, key, first).map_err(Failure::usage)?;
        if Settings::parse("", changed.as_bytes()).is_ok() {
            return Ok(changed);
        }
        set_value(old, key, &text).map_err(Failure::usage)
    })?;
    show::note(&format!("{key} is set"));
    Ok(Exit::Done)
}

pub(crate) fn unset(world: &World, key: &str, scope: Scope) -> Result<Exit, Failure> {
    let changed = change(world, scope, |old| unset_value(old, key).map_err(Failure::usage))?;
    show::note(&if changed { format!("{key} is taken out") } else { format!("{key} was not set") });
    Ok(Exit::Done)
}

/// Changes a file of settings, if what comes out can be read and says nothing unknown that was not there.
fn change(
    world: &World,
    scope: Scope,
    edit: impl FnOnce(&str) -> Result<String, Failure>,
) -> Result<bool, Failure> {
    let project = current_project()?;
    let before = settings::load(world, None, &project, Untrusted::Pass)?;
    let source = match scope {
        Scope::User => Source::User,
        Scope::Project => Source::Project,
        Scope::Local => Source::Local,
    };
    let Some(file) = before.places.file(source) else {
        return Err(Failure::usage(anyhow::anyhow!(
            "this folder's `.dormouse` is the program's own: there is no project to set something for"
        ))
        .hint("leave out --scope, or go to a project"));
    };
    let (Some(folder), Some(name)) = (file.parent(), file.file_name()) else { return Ok(false) };
    let (dir, name) = (Dir::create(folder)?, RelPath::new(name).map_err(Failure::failed)?);
    let old = match dir.read(&name) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) if error.is_not_found() => String::new(),
        Err(error) => return Err(error.into()),
    };
    let new = edit(&old)?;
    if new == old {
        return Ok(false);
    }
    check(&file, &old, &new)?;
    check_meaning(source, &file, &new)?;
    dir.replace(&name, new.as_bytes())?;
    keep_trust(world, &project, &before, source)?;
    Ok(true)
}

/// What can be read may still mean nothing: rules, hooks, keys that no project may set.
fn check_meaning(source: Source, file: &std::path::Path, new: &str) -> Result<(), Failure> {
    let nothing = |failure: Failure| failure.hint("nothing was changed");
    let layer =
        Layer::parse(source, file, new.as_bytes()).map_err(Failure::usage).map_err(nothing)?;
    if let Some(key) = layer.withheld.never.first() {
        let error = anyhow::anyhow!("`{key}` can not be set by a project");
        return Err(nothing(Failure::usage(error)));
    }
    let (settings, _) = Settings::parse(file, new.as_bytes()).map_err(Failure::usage)?;
    permissions::rules(&settings.permissions).map_err(nothing)?;
    let layer = HookLayer::of_json(HookOrigin::Settings(source), file, new);
    match Hooks::read([layer]).1.into_iter().next() {
        None => Ok(()),
        Some(problem) => Err(nothing(Failure::usage(anyhow::anyhow!("{problem}")))),
    }
}

/// Whoever changes a trusted project's settings by hand has looked at them.
fn keep_trust(
    world: &World,
    project: &Project,
    before: &InForce,
    source: Source,
) -> Result<(), Failure> {
    if !source.is_of_project() {
        return Ok(());
    }
    let store = TrustStore::new(&world.home()?);
    let layers = before.places.read().map_err(Failure::usage)?;
    let stack =
        settings::stack(layers, &before.project_skills, &before.project_agents, &before.mcp_file);
    match (before.trust, store.of(project, &stack)) {
        (Trust::Given, Trust::Changed) | (Trust::NotNeeded, Trust::Unknown | Trust::Changed) => {
            store.give(project, &stack, world.clock.now())?;
            show::note(
                "you trust this project with it: `dormouse permissions trust --revoke` takes that back",
            );
        }
        _ => {}
    }
    Ok(())
}

fn check(file: &std::path::Path, old: &str, new: &str) -> Result<(), Failure> {
    let known =
        Settings::parse(file, old.as_bytes()).map(|(_, warnings)| warnings).unwrap_or_default();
    let (_, warnings) = Settings::parse(file, new.as_bytes())
        .map_err(|error| Failure::usage(error).hint("nothing was changed"))?;
    match warnings.into_iter().find(|warning| !known.contains(warning)) {
        None => Ok(()),
        Some(warning) => Err(Failure::usage(anyhow::anyhow!("{warning}"))
            .hint("nothing was changed; `dormouse config schema` lists every setting")),
    }
}
