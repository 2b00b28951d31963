//! What a project's settings may do before the user has trusted the project, and ever (L-29).
//!
//! Invariant: what is not known to only restrict waits; a key that is new, or that nobody knows, waits
//! as well.

use serde_json::{Map, Value};

/// What of a project's settings does not count.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WithheldSettings {
    /// What counts once the project is trusted: an object, or null.
    pub needs_trust: Value,
    /// Keys that no project may set.
    pub forbidden: Vec<String>,
}

/// Who is talked to, and where memory is: no project's business.
const NEVER: &[&str] = &[
    "provider",
    "embeddings",
    "team",
    "webSearch",
    "autoMemoryDirectory",
    "allowManagedHooksOnly",
];
/// What a model is called opens nothing: the server is the user's.
const FREE: &[&str] = &["$schema", "model", "smallModel"];
/// Rules that take away.
const RESTRICTING_RULES: &[&str] = &["deny", "ask"];

/// Parts what counts at once from what does not.
pub(super) fn partition(value: &Value) -> (Value, WithheldSettings) {
    let (mut free, mut waiting) = (Map::new(), Map::new());
    let mut never = Vec::new();
    let Value::Object(keys) = value else { return (Value::Null, WithheldSettings::default()) };
    for (key, value) in keys {
        match key.as_str() {
            key if NEVER.contains(&key) => never.push(key.to_owned()),
            key if FREE.contains(&key) => drop(free.insert(key.to_owned(), value.clone())),
            "permissions" => part(key, value, &mut free, &mut waiting, |rule, _| {
                RESTRICTING_RULES.contains(&rule)
            }),
            // A project may take the network away before it is trusted, and nothing else.
            "sandbox" => part(key, value, &mut free, &mut waiting, |name, value| {
                (name, value) == ("network", &Value::String("none".to_owned()))
            }),
            "layers" => {
                part(key, value, &mut free, &mut waiting, |_, on| *on == Value::Bool(false));
            }
            "autoMemoryEnabled" if *value == Value::Bool(false) => {
                free.insert(key.clone(), value.clone());
            }
            "disableAllHooks" if *value == Value::Bool(true) => {
                free.insert(key.clone(), value.clone());
            }
            _ => drop(waiting.insert(key.clone(), value.clone())),
        }
    }
    let waiting = if waiting.is_empty() { Value::Null } else { Value::Object(waiting) };
    (Value::Object(free), WithheldSettings { needs_trust: waiting, forbidden: never })
}

/// Parts the keys of an object that stands at a key.
fn part(
    key: &str,
    value: &Value,
    free: &mut Map<String, Value>,
    waiting: &mut Map<String, Value>,
    restricts: impl Fn(&str, &Value) -> bool,
) {
    let Value::Object(fields) = value else { return };
    let (ours, theirs): (Map<String, Value>, Map<String, Value>) = fields
        .iter()
        .map(|(name, value)| (name.clone(), value.clone()))
        .partition(|(name, value)| restricts(name, value));
    if !ours.is_empty() {
        free.insert(key.to_owned(), Value::Object(ours));
    }
    if !theirs.is_empty() {
        waiting.insert(key.to_owned(), Value::Object(theirs));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_stranger_can_only_restrict() {
        let (free, withheld) = partition(&json!({
            "model": "m",
            "provider": {"baseUrl": "http://evil"},
            "embeddings": {"baseUrl": "http://evil"},
            "team": {"keyCommand": "touch /tmp/evil"},
            "autoMemoryDirectory": "/tmp",
            "autoMemoryEnabled": false,
            "permissions": {"allow": ["Bash"], "deny": ["Read(.env)"], "defaultMode": "plan"},
            "layers": {"dream": false, "collapse": true},
            "sandbox": {"mode": "off", "network": "none"},
            "hooks": {"SessionStart": []},
            "env": {"PATH": "/evil"},
            "mcpServers": {},
            "statusLine": {},
        }));
        assert_eq!(
            free,
            json!({
                "model": "m",
                "autoMemoryEnabled": false,
                "permissions": {"deny": ["Read(.env)"]},
                "layers": {"dream": false},
                "sandbox": {"network": "none"},
            })
        );
        assert_eq!(withheld.forbidden, ["autoMemoryDirectory", "embeddings", "provider", "team"]);
        assert_eq!(
            withheld.needs_trust,
            json!({
                "permissions": {"allow": ["Bash"], "defaultMode": "plan"},
                "layers": {"collapse": true},
                "sandbox": {"mode": "off"},
                "hooks": {"SessionStart": []},
                "env": {"PATH": "/evil"},
                "mcpServers": {},
                "statusLine": {},
            })
        );
    }

    #[test]
    fn switching_on_needs_trust() {
        let (free, withheld) =
            partition(&json!({"autoMemoryEnabled": true, "disableAllHooks": false}));
        assert_eq!(free, json!({}));
        assert_eq!(
            withheld.needs_trust,
            json!({"autoMemoryEnabled": true, "disableAllHooks": false})
        );
    }
}
