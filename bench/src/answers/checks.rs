//! Which words an answer to a developer's message contains if it respects the memory; written before any answer was seen.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

/// What an answer is checked for, in lower case.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct AnswerCheck {
    /// It contains one of these.
    any: Vec<String>,
    /// It contains none of these.
    #[serde(default)]
    never: Vec<String>,
}

impl AnswerCheck {
    pub(super) fn is_respected_by(&self, answer: &str) -> bool {
        let answer = answer.to_lowercase();
        let contains = |words: &String| answer.contains(words.as_str());
        self.any.iter().any(contains) && !self.never.iter().any(contains)
    }
}

/// Checks by the hash of the message that they are for: the messages themselves are not part of the project.
pub(super) struct Checks(BTreeMap<String, AnswerCheck>);

impl Checks {
    pub(super) fn read(path: &Path) -> Self {
        let problem = |error: &dyn std::fmt::Display| -> ! {
            crate::fail::fail(&format!(
                "{}: {error}; bench/FORMAT.md says how it looks",
                path.display()
            ))
        };
        let text = std::fs::read_to_string(path).unwrap_or_else(|error| problem(&error));
        Self(serde_json::from_str(&text).unwrap_or_else(|error| problem(&error)))
    }

    pub(super) fn of(&self, message: &str) -> Option<&AnswerCheck> {
        self.0.get(&format!("{:016x}", dormouse_base::stable_hash(message.as_bytes())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_one_of_the_words_and_none_of_the_others() {
        let check = AnswerCheck { any: vec!["brew".into()], never: vec!["docker compose".into()] };
        assert!(check.is_respected_by("Run `Brew services start redis`."));
        assert!(!check.is_respected_by("Use brew, or Docker Compose."));
        assert!(!check.is_respected_by("Install it."));
    }
}
