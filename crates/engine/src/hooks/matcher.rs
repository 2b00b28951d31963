//! Which tools, sources or reasons a hook is for.

use regex::Regex;

use super::HookEvent;

/// A matcher, as it stands in the settings.
#[derive(Debug, Clone)]
pub(super) enum Matcher {
    /// Everything.
    All,
    /// Exactly one of these names.
    Names(Vec<String>),
    /// Whatever contains a match.
    Pattern(Regex),
}

impl std::fmt::Display for Matcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::All => f.write_str("*"),
            Self::Names(names) => f.write_str(&names.join("|")),
            Self::Pattern(pattern) => f.write_str(pattern.as_str()),
        }
    }
}

impl Matcher {
    /// Absent, empty or `*` is all; letters, digits, `_`, `-`, blanks, commas and bars are names; anything else is a regular
    /// expression. For changed files they are always names: `.env` is one.
    pub(super) fn parse(event: HookEvent, text: Option<&str>) -> Result<Self, String> {
        let text = text.unwrap_or_default().trim();
        if text.is_empty() || text == "*" {
            return Ok(Self::All);
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || "_- ,|".contains(c);
        if event == HookEvent::FileChanged || text.chars().all(plain) {
            let names = text.split(['|', ',']).map(|name| name.trim().to_owned());
            return Ok(Self::Names(names.filter(|name| !name.is_empty()).collect()));
        }
        Regex::new(text).map(Self::Pattern).map_err(|error| error.to_string())
    }

    /// The exact names, where it is made of such.
    pub(super) fn names(&self) -> &[String] {
        match self {
            Self::Names(names) => names,
            Self::All | Self::Pattern(_) => &[],
        }
    }

    pub(super) fn matches(&self, subject: &str) -> bool {
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
            Matcher::parse(HookEvent::Stop, matcher).unwrap().matches(subject)
        };
        assert!(matches(None, "Bash") && matches(Some(""), "Bash") && matches(Some("*"), "Bash"));
        assert!(matches(Some("Edit|Bash"), "Bash") && matches(Some("Edit, Bash"), "Bash"));
        assert!(!matches(Some("Bas"), "Bash"));
        assert!(matches(Some("^Ba.*"), "Bash") && matches(Some("a.h"), "Bash"));
        assert!(matches(Some("mcp__.*"), "mcp__x__y") && !matches(Some("^h"), "Bash"));
        assert!(Matcher::parse(HookEvent::Stop, Some("(")).is_err());
        let files = Matcher::parse(HookEvent::FileChanged, Some(".env|.envrc")).unwrap();
        assert!(files.matches(".env") && !files.matches("xenv"));
        assert_eq!(files.names(), [".env", ".envrc"]);
    }
}
