//! The state of every switch, resolved from the settings and the environment.

use std::collections::BTreeMap;

use serde_json::Value;
use thiserror::Error;

use super::dotted_key::SettingKey;
use super::stack::{SettingsLayer, SettingsSource, SettingsStack};
use super::switch_definitions::LayerSwitch;
use crate::environment::{Environment, names};

/// Switches that are off whenever memory is off.
const MEMORY_SWITCHES: &[LayerSwitch] = &[
    LayerSwitch::Memory,
    LayerSwitch::Extraction,
    LayerSwitch::ExtractionHeadless,
    LayerSwitch::Recall,
    LayerSwitch::Index,
    LayerSwitch::SearchPast,
    LayerSwitch::Dream,
    LayerSwitch::DailyLog,
    LayerSwitch::Team,
];

/// Switches that are off on a remote machine, where memory is only read and written by the model's tools.
const LOCAL_ONLY: &[LayerSwitch] =
    &[LayerSwitch::Extraction, LayerSwitch::ExtractionHeadless, LayerSwitch::Dream];

/// An environment variable whose value is neither on nor off.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("{variable} is `{value}`; use 1 or 0 (also: true, false, on, off)")]
pub struct SwitchError {
    /// The name of the variable.
    pub variable: String,
    /// The value of the variable.
    pub value: String,
}

/// Whether a switch is on, and where that was set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SwitchState {
    /// Whether the switch is on.
    pub on: bool,
    /// An environment variable, a settings source, or `default`.
    pub origin: String,
}

/// The state of every switch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Switches {
    states: BTreeMap<LayerSwitch, SwitchState>,
}

impl Switches {
    /// Resolves all switches. Managed settings take precedence over the environment, and the environment
    /// over the other settings.
    pub fn resolve(stack: &SettingsStack, environment: &Environment) -> Result<Self, SwitchError> {
        let mut states = BTreeMap::new();
        for switch in LayerSwitch::ALL {
            states.insert(switch, resolve_switch(switch, stack, environment)?);
        }
        let mut switches = Self { states };
        if let Some(origin) = memory_disabled_by(stack, environment)? {
            switches.turn_off(MEMORY_SWITCHES, &origin);
        }
        if boolean_variable(environment, names::REMOTE)? == Some(true) {
            switches.turn_off(LOCAL_ONLY, names::REMOTE);
        }
        if !switches.is_on(LayerSwitch::Memory) {
            let origin = switches.get(LayerSwitch::Memory).map(|state| state.origin.clone());
            switches.turn_off(MEMORY_SWITCHES, &origin.unwrap_or_default());
        }
        Ok(switches)
    }

    /// Whether a switch is on.
    pub fn is_on(&self, switch: LayerSwitch) -> bool {
        self.get(switch).is_some_and(|state| state.on)
    }

    /// The state of a switch; none in a default value.
    pub fn get(&self, switch: LayerSwitch) -> Option<&SwitchState> {
        self.states.get(&switch)
    }

    /// Turns off what a team has turned off for everybody (T-13). Nothing else can turn it on again. Names that this
    /// version does not know, and switches that a team has no say about, are passed over.
    pub fn turn_off_for_team(&mut self, names: &[String], origin: &str) {
        for switch in LayerSwitch::ALL.into_iter().filter(|switch| switch.is_for_teams()) {
            if names.iter().any(|name| name == switch.name()) {
                self.turn_off(&[switch], origin);
            }
        }
    }

    fn turn_off(&mut self, switches: &[LayerSwitch], origin: &str) {
        for switch in switches {
            if let Some(state) = self.states.get_mut(switch).filter(|state| state.on) {
                *state = SwitchState { on: false, origin: origin.to_owned() };
            }
        }
    }
}

fn resolve_switch(
    switch: LayerSwitch,
    stack: &SettingsStack,
    environment: &Environment,
) -> Result<SwitchState, SwitchError> {
    let key = SettingKey::of(["layers", switch.name()]);
    let managed = stack.value_from(SettingsSource::Managed, &key).and_then(Value::as_bool);
    if let Some(on) = managed {
        return Ok(SwitchState { on, origin: SettingsSource::Managed.to_string() });
    }
    let alias = (switch == LayerSwitch::Collapse).then(|| names::CONTEXT_COLLAPSE.to_owned());
    for variable in std::iter::once(switch.variable()).chain(alias) {
        if let Some(on) = boolean_variable(environment, &variable)? {
            return Ok(SwitchState { on, origin: variable });
        }
    }
    let set = stack.origins(&key).into_iter().find_map(|layer| {
        let on = key.find(&layer.value)?.as_bool()?;
        Some(SwitchState { on, origin: layer.source.to_string() })
    });
    let default = SwitchState { on: switch.default_on(), origin: "default".to_owned() };
    Ok(set.unwrap_or(default))
}

/// The variable or setting that disables all of memory.
fn memory_disabled_by(
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
    let key = SettingKey::of(["autoMemoryEnabled"]);
    let is_off = |layer: &&SettingsLayer| key.find(&layer.value) == Some(&Value::Bool(false));
    let highest = stack.origins(&key).into_iter().next();
    Ok(highest.filter(is_off).map(|layer| format!("{key} ({})", layer.source)))
}

/// The value of an environment variable that is on or off; none if it is not set.
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
    use super::*;

    fn layer(source: SettingsSource, text: &str) -> SettingsLayer {
        SettingsLayer::parse(source, source.to_string(), text.as_bytes()).unwrap()
    }

    fn state(
        layers: Vec<SettingsLayer>,
        variables: &[(&str, &str)],
        switch: LayerSwitch,
    ) -> (bool, String) {
        let environment = Environment::from_pairs(variables.iter().copied());
        let switches = Switches::resolve(&SettingsStack::new(layers), &environment).unwrap();
        let state = switches.get(switch).unwrap().clone();
        (state.on, state.origin)
    }

    #[test]
    fn precedence() {
        let dream =
            |layers, variables: &[(&str, &str)]| state(layers, variables, LayerSwitch::Dream);
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
    fn ways_to_disable_memory() {
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
            for switch in [LayerSwitch::Memory, LayerSwitch::Recall, LayerSwitch::Dream] {
                assert_eq!(state(layers.clone(), &variables, switch), (false, origin.into()));
            }
            assert!(state(layers, &variables, LayerSwitch::StoredResults).0);
        }
        let remote = [("DORMOUSE_REMOTE", "1"), ("DORMOUSE_REMOTE_MEMORY_DIR", "/m")];
        assert!(state(vec![], &remote, LayerSwitch::Memory).0);
        assert!(!state(vec![], &remote, LayerSwitch::Extraction).0);
        assert!(!state(vec![], &remote, LayerSwitch::Dream).0);
    }

    #[test]
    fn a_variable_that_is_neither_on_nor_off_is_an_error() {
        let environment = Environment::from_pairs([("DORMOUSE_RECALL", "perhaps")]);
        let error = Switches::resolve(&SettingsStack::default(), &environment).unwrap_err();
        assert_eq!(
            error.to_string(),
            "DORMOUSE_RECALL is `perhaps`; use 1 or 0 (also: true, false, on, off)"
        );
    }
}
