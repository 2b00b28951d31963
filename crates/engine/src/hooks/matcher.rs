//! Which tools, sources or reasons a hook is for.

use regex::Regex;

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

impl Matcher {
    /// Absent, empty or `*` is all; letters, digits, `_`, `-`, blanks, commas and bars are names; anything
    /// else is a regular expression.
    pub(super) fn parse(text: Option<&str>) -> Result<Self, String> {
        let text = text.unwrap_or_default().trim();
        if text.is_empty() || text == "*" {
            return Ok(Self::All);
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || "_- ,|".contains(c);
        if text.chars().all(plain) {
            let names = text.split(['|', ',']).map(|name| name.trim().to_owned());
            return Ok(Self::Names(names.filter(|name| !name.is_empty()).collect()));
        }
        Regex::new(text).map(Self::Pattern).map_err(|error| error.to_string())
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
        let matches =
            |matcher: Option<&str>, subject| Matcher::parse(matcher).unwrap().matches(subject);
        assert!(matches(None, "Bash") && matches(Some(""), "Bash") && matches(Some("*"), "Bash"));
        assert!(matches(Some("Edit|Bash"), "Bash") && matches(Some("Edit, Bash"), "Bash"));
        assert!(!matches(Some("Bas"), "Bash"));
        assert!(matches(Some("^Ba.*"), "Bash") && matches(Some("a.h"), "Bash"));
        assert!(matches(Some("mcp__.*"), "mcp__x__y") && !matches(Some("^h"), "Bash"));
        assert!(Matcher::parse(Some("(")).is_err());
    }
}
