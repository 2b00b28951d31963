//! The switches: which layers are on. The table is that of the documentation; a test compares them.

use std::collections::BTreeMap;

use serde_json::Value;
use thiserror::Error;

use super::stack::{SettingsSource, SettingsStack, find};
use crate::{Environment, names};

/// A layer that can be turned off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Switch {
    /// The key under `layers`.
    pub name: &'static str,
    /// Whether it is on unless somebody says otherwise.
    pub default: bool,
    /// What it is about, in one line.
    pub about: &'static str,
}

const fn switch(name: &'static str, default: bool, about: &'static str) -> Switch {
    Switch { name, default, about }
}

/// All switches.
pub const SWITCHES: &[Switch] = &[
    switch("memory", true, "rules, index, recall, extraction, dreaming and memory tools"),
    switch(
        "extraction",
        true,
        "memories written from a conversation; the model's own saving stays",
    ),
    switch("extraction_headless", false, "the same in `-p` runs"),
    switch("recall", true, "memories found for each prompt"),
    switch("index", true, "the memory index in the first message, and keeping it"),
    switch("search_past", false, "telling the model how to search past sessions"),
    switch("session_notes", true, "notes kept while a conversation goes on"),
    switch("notes_compaction", true, "compaction from those notes, without a model call"),
    switch("auto_compact", true, "compaction when the window is nearly full; `/compact` stays"),
    switch("reactive_only", false, "on: nothing is compacted ahead"),
    switch("stored_results", true, "long tool results go to a file; off: they are cut"),
    switch("time_clearing", true, "old tool results cleared after a long pause"),
    switch("cache_edits", false, "old tool results deleted in the server's cache"),
    switch("server_clearing", false, "old tool results cleared by the server"),
    switch("collapse", false, "folding of old spans, instead of compaction ahead"),
    switch("snip", false, "oldest rounds dropped when the window fills; `/snip` stays"),
    switch("dream", true, "tidying of memory in the background; `dormouse dream` stays"),
    switch("daily_log", false, "memories go to a log of the day first"),
    switch("team", true, "memory shared with a team, where a server is set"),
    switch(
        "agent_list_message",
        true,
        "agents listed in a message; off: in the tool's description",
    ),
    switch("progress_summaries", true, "what sub-agents are doing, in a few words"),
];

/// What each memory switch depends on.
const OF_MEMORY: &[&str] = &[
    "memory",
    "extraction",
    "extraction_headless",
    "recall",
    "index",
    "search_past",
    "dream",
    "daily_log",
    "team",
];

impl Switch {
    /// The environment variable that sets it.
    pub fn variable(&self) -> String {
        format!("DORMOUSE_{}", self.name.to_uppercase())
    }
}

/// A variable whose value is neither on nor off.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("{variable} is `{value}`; it is 1 or 0 (also: true, false, on, off)")]
pub struct SwitchError {
    /// The variable.
    pub variable: String,
    /// What it holds.
    pub value: String,
}

/// Whether a switch is on, and who says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SwitchState {
    /// Whether it is on.
    pub on: bool,
    /// A variable, a layer of settings, or `default`.
    pub origin: String,
}

/// The state of every switch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Switches {
    states: BTreeMap<&'static str, SwitchState>,
}

impl Switches {
    /// From the settings and the environment. Managed settings win over the environment, that over the
    /// other settings.
    pub fn resolve(stack: &SettingsStack, environment: &Environment) -> Result<Self, SwitchError> {
        let mut states = BTreeMap::new();
        for switch in SWITCHES {
            states.insert(switch.name, state(switch, stack, environment)?);
        }
        let mut switches = Self { states };
        if let Some(origin) = memory_off(stack, environment)? {
            switches.turn_off(OF_MEMORY, &origin);
        }
        // Memory that lives elsewhere is read and written by the model's own hand only.
        if boolean_variable(environment, names::REMOTE)? == Some(true) {
            switches.turn_off(&["extraction", "extraction_headless", "dream"], names::REMOTE);
        }
        if !switches.is_on("memory") {
            let origin = switches.get("memory").map(|state| state.origin.clone());
            switches.turn_off(OF_MEMORY, &origin.unwrap_or_default());
        }
        Ok(switches)
    }

    /// Whether a switch is on; one nobody knows is off.
    pub fn is_on(&self, name: &str) -> bool {
        self.states.get(name).is_some_and(|state| state.on)
    }

    /// The state of a switch.
    pub fn get(&self, name: &str) -> Option<&SwitchState> {
        self.states.get(name)
    }

    fn turn_off(&mut self, names: &[&'static str], origin: &str) {
        for name in names {
            if let Some(state) = self.states.get_mut(*name).filter(|state| state.on) {
                *state = SwitchState { on: false, origin: origin.to_owned() };
            }
        }
    }
}

fn state(
    switch: &Switch,
    stack: &SettingsStack,
    environment: &Environment,
) -> Result<SwitchState, SwitchError> {
    let key = format!("layers.{}", switch.name);
    let managed = stack.value_from(SettingsSource::Managed, &key).and_then(Value::as_bool);
    if let Some(on) = managed {
        return Ok(SwitchState { on, origin: SettingsSource::Managed.to_string() });
    }
    let alias = (switch.name == "collapse").then(|| names::CONTEXT_COLLAPSE.to_owned());
    for variable in std::iter::once(switch.variable()).chain(alias) {
        if let Some(on) = boolean_variable(environment, &variable)? {
            return Ok(SwitchState { on, origin: variable });
        }
    }
    let set = stack.origins(&key).into_iter().find_map(|layer| {
        let on = find(&layer.value, &key)?.as_bool()?;
        Some(SwitchState { on, origin: layer.source.to_string() })
    });
    Ok(set.unwrap_or_else(|| SwitchState { on: switch.default, origin: "default".to_owned() }))
}

/// What turns all of memory off, if anything does.
fn memory_off(
    stack: &SettingsStack,
    environment: &Environment,
) -> Result<Option<String>, SwitchError> {
    for variable in [names::DISABLE_AUTO_MEMORY, names::SIMPLE] {
        if boolean_variable(environment, variable)? == Some(true) {
            return Ok(Some(variable.to_owned()));
        }
    }
    let remote = boolean_variable(environment, names::REMOTE)? == Some(true);
    if remote && environment.path(names::REMOTE_MEMORY_DIR).is_none() {
        return Ok(Some(names::REMOTE.to_owned()));
    }
    let key = "autoMemoryEnabled";
    let said = stack.origins(key).into_iter().next();
    let off = |layer: &&super::SettingsLayer| find(&layer.value, key) == Some(&Value::Bool(false));
    Ok(said.filter(off).map(|layer| format!("{key} ({})", layer.source)))
}

/// A variable that is on or off; none if it is not set.
pub fn boolean_variable(
    environment: &Environment,
    variable: &str,
) -> Result<Option<bool>, SwitchError> {
    let Some(value) = environment.get(variable) else { return Ok(None) };
    match value.to_ascii_lowercase().as_str() {
        "1" | "true" | "on" | "yes" => Ok(Some(true)),
        "0" | "false" | "off" | "no" => Ok(Some(false)),
        _ => Err(SwitchError { variable: variable.to_owned(), value: value.to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::SettingsLayer;
    use super::*;

    fn layer(source: SettingsSource, text: &str) -> SettingsLayer {
        SettingsLayer::parse(source, source.to_string(), text.as_bytes()).unwrap()
    }

    fn state(layers: Vec<SettingsLayer>, variables: &[(&str, &str)], name: &str) -> (bool, String) {
        let environment = Environment::from_pairs(variables.iter().copied());
        let switches = Switches::resolve(&SettingsStack::new(layers), &environment).unwrap();
        let state = switches.get(name).unwrap().clone();
        (state.on, state.origin)
    }

    #[test]
    fn who_decides() {
        let dream = |layers, variables: &[(&str, &str)]| state(layers, variables, "dream");
        let user_on = || layer(SettingsSource::User, r#"{"layers":{"dream":true}}"#);
        let user_off = || layer(SettingsSource::User, r#"{"layers":{"dream":false}}"#);
        let managed_off = layer(SettingsSource::Managed, r#"{"layers":{"dream":false}}"#);
        assert_eq!(dream(vec![], &[]), (true, "default".into()));
        assert_eq!(dream(vec![user_off()], &[]), (false, "user".into()));
        assert_eq!(
            dream(vec![user_off()], &[("DORMOUSE_DREAM", "1")]),
            (true, "DORMOUSE_DREAM".into())
        );
        assert_eq!(
            dream(vec![user_on(), managed_off], &[("DORMOUSE_DREAM", "1")]),
            (false, "managed".into())
        );
    }

    #[test]
    fn what_turns_memory_off() {
        for (layers, variables, origin) in [
            (vec![], vec![("DORMOUSE_DISABLE_AUTO_MEMORY", "1")], "DORMOUSE_DISABLE_AUTO_MEMORY"),
            (vec![], vec![("DORMOUSE_SIMPLE", "1")], "DORMOUSE_SIMPLE"),
            (vec![], vec![("DORMOUSE_REMOTE", "1")], "DORMOUSE_REMOTE"),
            (
                vec![layer(SettingsSource::Project, r#"{"autoMemoryEnabled":false}"#)],
                vec![],
                "autoMemoryEnabled (project)",
            ),
            (vec![], vec![("DORMOUSE_MEMORY", "off")], "DORMOUSE_MEMORY"),
        ] {
            for name in ["memory", "recall", "dream"] {
                assert_eq!(state(layers.clone(), &variables, name), (false, origin.into()));
            }
            assert!(state(layers, &variables, "stored_results").0);
        }
        let remote = [("DORMOUSE_REMOTE", "1"), ("DORMOUSE_REMOTE_MEMORY_DIR", "/m")];
        assert!(state(vec![], &remote, "memory").0);
        assert!(!state(vec![], &remote, "extraction").0);
        assert!(!state(vec![], &remote, "dream").0);
    }

    #[test]
    fn a_value_that_is_neither_is_refused() {
        let environment = Environment::from_pairs([("DORMOUSE_RECALL", "perhaps")]);
        let error = Switches::resolve(&SettingsStack::default(), &environment).unwrap_err();
        assert_eq!(
            error.to_string(),
            "DORMOUSE_RECALL is `perhaps`; it is 1 or 0 (also: true, false, on, off)"
        );
    }
}
