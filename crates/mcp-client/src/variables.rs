//! `${VAR}` and `${VAR:-default}` in the entry of a server.

use std::collections::BTreeMap;

use dormouse_base::Environment;
use dormouse_tools::MODEL_KEYS;
use thiserror::Error;

/// Why a text with variables cannot be expanded.
#[derive(Debug, PartialEq, Eq, Error)]
pub(crate) enum VariableError {
    #[error("`${{` is not closed by `}}`")]
    NotClosed,
    #[error("`{0}` is an API key of the model, which is not passed to servers")]
    ModelKey(String),
    #[error("the variable `{0}` is not set; set it, or write `${{{0}:-default}}`")]
    NotSet(String),
}

/// The values of variables in the entry of a server.
#[derive(Debug, Clone, Default)]
pub struct Variables {
    environment: Environment,
    own: BTreeMap<String, String>,
    as_written: bool,
}

impl Variables {
    /// Leaves texts as they are: for showing an entry that is not used here.
    pub fn as_written() -> Self {
        Self { as_written: true, ..Self::default() }
    }

    /// The variables of an environment.
    pub fn new(environment: Environment) -> Self {
        Self { environment, ..Self::default() }
    }

    /// Adds a variable that takes precedence over the environment, such as a plugin's folder.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.own.insert(name.into(), value.into());
        self
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.own.get(name).map(String::as_str).or_else(|| self.environment.get(name))
    }

    /// Replaces every variable in a text.
    pub(crate) fn expand(&self, text: &str) -> Result<String, VariableError> {
        if self.as_written {
            return Ok(text.to_owned());
        }
        let mut expanded = String::new();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once("${") {
            expanded.push_str(before);
            let Some((inside, after)) = behind.split_once('}') else {
                return Err(VariableError::NotClosed);
            };
            expanded.push_str(&self.value(inside)?);
            rest = after;
        }
        expanded.push_str(rest);
        Ok(expanded)
    }

    fn value(&self, inside: &str) -> Result<String, VariableError> {
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside, None),
        };
        // It would leave the machine, or be in another program's environment.
        if MODEL_KEYS.contains(&name) {
            return Err(VariableError::ModelKey(name.to_owned()));
        }
        let value = self.get(name).or(default).map(str::to_owned);
        value.ok_or_else(|| VariableError::NotSet(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_replaced() {
        let environment =
            Environment::from_pairs([("A", "1"), ("EMPTY", ""), ("OPENAI_API_KEY", "sk")]);
        let variables = Variables::new(environment).with("ROOT", "/r");
        let expand = |text: &str| variables.expand(text);
        assert_eq!(expand("${ROOT}/x${A}y$A"), Ok("/r/x1y$A".to_owned()));
        assert_eq!(expand("${B:-a b}${A:-no}${EMPTY:-}"), Ok("a b1".to_owned()));
        assert_eq!(expand("${B}"), Err(VariableError::NotSet("B".to_owned())));
        assert_eq!(
            VariableError::NotSet("B".to_owned()).to_string(),
            "the variable `B` is not set; set it, or write `${B:-default}`"
        );
        assert_eq!(expand("${B"), Err(VariableError::NotClosed));
        assert_eq!(VariableError::NotClosed.to_string(), "`${` is not closed by `}`");
        let key = "OPENAI_API_KEY".to_owned();
        assert_eq!(expand("${OPENAI_API_KEY:-x}"), Err(VariableError::ModelKey(key)));
    }
}
