//! `dormouse mcp add` and `remove`: an entry put into a file of settings, or taken out of it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use dormouse_base::{SettingsSource, TrustState};
use dormouse_tools::{ServerOrigin, Variables, read_servers};
use serde_json::{Value, json};

use crate::args::{McpAddArguments, SettingsScope};
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::mcp_project_file::KEY;
use crate::wiring::plugins;
use crate::wiring::print;
use crate::wiring::settings::{self, InForce};
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
        return Err(Failure::usage(error).hint("nothing was changed"));
    }
    let before = load(world)?;
    let known = places_of(name, &before, world)?;
    let change =
        settings_file::put_in(world, &format!("{KEY}.{name}"), &entry.to_string(), add.scope)
            .await?;
    let file = change.file.display();
    print::note(&match known.iter().any(|place| place.file == change.file) {
        _ if !change.made => format!("the MCP server `{name}` stands in {file} already, just so"),
        true => format!("the MCP server `{name}` in {file} is replaced"),
        false => format!("the MCP server `{name}` is set up in {file}"),
    });
    let waits = matches!(load(world)?.trust, TrustState::Undecided | TrustState::Changed);
    if add.scope != SettingsScope::User && waits {
        print::note("it waits until you trust this project: `dormouse permissions trust`");
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
    let places = places_of(name, &in_force, world)?;
    if places.iter().any(|place| place.file == file) {
        let change = settings_file::take_out(world, &format!("{KEY}.{name}"), scope).await?;
        if change.made {
            print::note(&format!("the MCP server `{name}` is taken out of {}", file.display()));
            return Ok(Exit::Done);
        }
    }
    let error = anyhow::anyhow!("there is no MCP server `{name}` in {}", file.display());
    let mut failure = Failure::failed(error);
    for place in &places {
        failure = failure.hint(format!("it stands in {}{}", place.file.display(), place.way));
    }
    Err(if places.is_empty() { failure.hint("`dormouse mcp list` lists them") } else { failure })
}

fn load(world: &World) -> Result<InForce, Failure> {
    settings::load(world, None, &current_project()?, Untrusted::Pass)
}

/// A file that has an entry of a name, and how to take it out there.
struct Place {
    file: PathBuf,
    way: String,
}

/// Every file that sets up a server of this name, trusted or not.
fn places_of(name: &str, in_force: &InForce, world: &World) -> Result<Vec<Place>, Failure> {
    let mut places = Vec::new();
    for layer in in_force.places.read().map_err(Failure::usage)? {
        let way = match layer.source {
            SettingsSource::User | SettingsSource::Project | SettingsSource::Local => {
                format!(": `dormouse mcp remove {name} --scope {}`", layer.source)
            }
            SettingsSource::Managed | SettingsSource::CommandLine => {
                ", which your organisation sets".to_owned()
            }
        };
        let entries = [&layer.value, &layer.withheld.needs_trust];
        if entries.iter().any(|part| part.get(KEY).is_some_and(|all| all.get(name).is_some())) {
            places.push(Place { file: layer.path, way });
        }
    }
    let in_file = in_force.mcp_file.wishes();
    if in_file.get(name).is_some() {
        let way = ": edit that file".to_owned();
        places.push(Place { file: in_force.mcp_file.path.clone(), way });
    }
    let of_plugins = plugins::servers(&in_force.plugins, &world.environment);
    for server in of_plugins.servers.into_iter().filter(|server| server.name == name) {
        let way = format!(", which came with the {}", server.origin.whose);
        places.push(Place { file: server.origin.file, way });
    }
    Ok(places)
}

fn entry(add: &McpAddArguments) -> Result<Value, Failure> {
    if let Some(first) = add.stray.first() {
        let name = &add.name;
        let words = add.stray.join(" ");
        return Err(Failure::usage(anyhow::anyhow!(
            "`{first}` stands without `--` in front of it"
        ))
        .hint(format!("a command stands behind `--`: `dormouse mcp add {name} -- {words}`")));
    }
    let pairs = |given: &[String], parted_by: char, what: &str| {
        let pair = |text: &String| match text.split_once(parted_by) {
            Some((name, value)) => Ok((name.trim().to_owned(), Value::from(value.trim()))),
            None => Err(Failure::usage(anyhow::anyhow!(
                "`{text}` is no {what}; one reads `Name{parted_by}value`"
            ))),
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
        (Some(_), Some(_)) | (None, None) => {
            return Err(Failure::usage(anyhow::anyhow!(
                "a server has either `--url URL` or a command behind `--`"
            )));
        }
    };
    // What is empty need not be written.
    if let Some(fields) = entry.as_object_mut() {
        fields.retain(|_, value| *value != json!({}) && *value != json!([]));
    }
    Ok(entry)
}
