//! `${VAR}` and `${VAR:-default}` in the entry of a server.

use std::collections::BTreeMap;

use dormouse_base::Environment;

use dormouse_tools::MODEL_KEYS;

/// What names in an entry stand for.
#[derive(Debug, Clone, Default)]
pub struct Variables {
    environment: Environment,
    own: BTreeMap<String, String>,
    as_written: bool,
}

impl Variables {
    /// Names stand for themselves: for looking at an entry that is not used here.
    pub fn as_written() -> Self {
        Self { as_written: true, ..Self::default() }
    }

    /// Those of an environment.
    pub fn new(environment: Environment) -> Self {
        Self { environment, ..Self::default() }
    }

    /// The same with one that counts before the environment's, such as a plugin's folder.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.own.insert(name.into(), value.into());
        self
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.own.get(name).map(String::as_str).or_else(|| self.environment.get(name))
    }

    /// The text with every name replaced; an error says which can not be.
    pub(crate) fn expand(&self, text: &str) -> Result<String, String> {
        if self.as_written {
            return Ok(text.to_owned());
        }
        let mut expanded = String::new();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once("${") {
            expanded.push_str(before);
            let Some((inside, after)) = behind.split_once('}') else {
                return Err("`${` is not closed by `}`".to_owned());
            };
            expanded.push_str(&self.value(inside)?);
            rest = after;
        }
        expanded.push_str(rest);
        Ok(expanded)
    }

    fn value(&self, inside: &str) -> Result<String, String> {
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside, None),
        };
        // It would leave the machine, or stand in another program's environment.
        if MODEL_KEYS.contains(&name) {
            return Err(format!(
                "`{name}` is a key of the model's, which is not handed to servers"
            ));
        }
        self.get(name).or(default).map(str::to_owned).ok_or_else(|| {
            format!("the variable `{name}` is not set; set it, or write `${{{name}:-default}}`")
        })
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
        assert!(expand("${B}").unwrap_err().contains("`B` is not set"));
        assert!(expand("${B").unwrap_err().contains("not closed"));
        assert!(expand("${OPENAI_API_KEY:-x}").unwrap_err().contains("not handed to servers"));
    }
}
