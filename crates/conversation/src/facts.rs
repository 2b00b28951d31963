//! What the model was told about a changing environment: date, folder, git status, tools.
//!
//! The prefix states them once and stays; when they change, the change is told at the end.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Named facts, as told.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EnvironmentFacts(BTreeMap<String, String>);

impl EnvironmentFacts {
    /// States a fact.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.0.insert(name.to_owned(), value.into());
        self
    }

    /// Takes a fact back.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.0.remove(name);
        self
    }

    /// A fact's value.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The facts that are other now than they were told, with their new value (none: no longer so).
    pub fn changes_to<'a>(&'a self, now: &'a Self) -> Vec<(&'a str, Option<&'a str>)> {
        let mut names: Vec<&String> = self.0.keys().chain(now.0.keys()).collect();
        names.sort();
        names.dedup();
        names
            .into_iter()
            .filter(|name| self.0.get(*name) != now.0.get(*name))
            .map(|name| (name.as_str(), now.get(name)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_changes_are_told() {
        let before = EnvironmentFacts::default()
            .with("date", "2026-11-15")
            .with("branch", "main")
            .with("old", "x");
        let now = EnvironmentFacts::default()
            .with("date", "2026-11-16")
            .with("branch", "main")
            .with("new", "y");
        assert_eq!(
            before.changes_to(&now),
            [("date", Some("2026-11-16")), ("new", Some("y")), ("old", None)]
        );
        assert!(now.changes_to(&now).is_empty());
    }
}
