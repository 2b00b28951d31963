//! Matchers: the tools, sources or reasons that a hook runs for.

use regex::Regex;

use crate::event::HookEvent;

/// A `matcher` of the settings.
#[derive(Debug, Clone)]
pub(crate) enum HookMatcher {
    /// Matches everything.
    All,
    /// Matches exactly one of these names.
    Names(Vec<String>),
    /// Matches anywhere in the subject.
    Pattern(Regex),
}

impl std::fmt::Display for HookMatcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::All => f.write_str("*"),
            Self::Names(names) => f.write_str(&names.join("|")),
            Self::Pattern(pattern) => f.write_str(pattern.as_str()),
        }
    }
}

impl HookMatcher {
    /// Absent, empty or `*` matches all; letters, digits, `_`, `-`, blanks, commas and bars are names; anything else is a
    /// regular expression. For `FileChanged` they are always names, such as `.env`.
    pub(crate) fn parse(event: HookEvent, text: Option<&str>) -> Result<Self, regex::Error> {
        let text = text.unwrap_or_default().trim();
        if text.is_empty() || text == "*" {
            return Ok(Self::All);
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || "_- ,|".contains(c);
        if event == HookEvent::FileChanged || text.chars().all(plain) {
            let names = text.split(['|', ',']).map(|name| name.trim().to_owned());
            return Ok(Self::Names(names.filter(|name| !name.is_empty()).collect()));
        }
        Regex::new(text).map(Self::Pattern)
    }

    /// The exact names, if it consists of names.
    pub(crate) fn names(&self) -> &[String] {
        match self {
            Self::Names(names) => names,
            Self::All | Self::Pattern(_) => &[],
        }
    }

    pub(crate) fn matches(&self, subject: &str) -> bool {
        match self {
            Self::All => true,
            Self::Names(names) => names.iter().any(|name| name == subject),
            Self::Pattern(pattern) => pattern.is_match(subject),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_exact_and_patterns_are_not() {
        let matches = |matcher: Option<&str>, subject| {
            HookMatcher::parse(HookEvent::Stop, matcher).unwrap().matches(subject)
        };
        assert!(matches(None, "Bash") && matches(Some(""), "Bash") && matches(Some("*"), "Bash"));
        assert!(matches(Some("Edit|Bash"), "Bash") && matches(Some("Edit, Bash"), "Bash"));
        assert!(!matches(Some("Bas"), "Bash"));
        assert!(matches(Some("^Ba.*"), "Bash") && matches(Some("a.h"), "Bash"));
        assert!(matches(Some("mcp__.*"), "mcp__x__y") && !matches(Some("^h"), "Bash"));
        assert!(HookMatcher::parse(HookEvent::Stop, Some("(")).is_err());
        let files = HookMatcher::parse(HookEvent::FileChanged, Some(".env|.envrc")).unwrap();
        assert!(files.matches(".env") && !files.matches("xenv"));
        assert_eq!(files.names(), [".env", ".envrc"]);
    }
}
