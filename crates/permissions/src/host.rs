//! Host patterns of rules.

/// A host in a rule: `example.com` itself, `*.example.com` every host below it, `*` any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostPattern(String);

impl HostPattern {
    /// Parses a pattern; `None` if it is not the name of a host.
    pub fn new(text: &str) -> Option<Self> {
        let host = normalize_host(text);
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ':' | '*');
        let star_in_front = host.rfind('*').is_none_or(|at| at == 0);
        (!host.is_empty() && host.chars().all(plain) && star_in_front).then_some(Self(host))
    }

    /// Whether the pattern covers a host.
    pub fn matches(&self, host: &str) -> bool {
        let host = normalize_host(host);
        match self.0.strip_prefix('*') {
            Some("") => true,
            Some(end) => host.len() > end.len() && host.ends_with(end),
            None => self.0 == host,
        }
    }

    /// Whether the pattern covers a host explicitly: `*` does not.
    pub fn names(&self, host: &str) -> bool {
        self.0 != "*" && self.matches(host)
    }
}

/// The form in which hosts are compared: lowercase, no final dot, no brackets around an IPv6 address.
pub fn normalize_host(host: &str) -> String {
    host.trim().trim_end_matches('.').trim_matches(['[', ']']).to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        let matches = |pattern: &str, host: &str| HostPattern::new(pattern).unwrap().matches(host);
        assert!(matches("Example.com", "example.com") && matches("example.com", "EXAMPLE.com."));
        assert!(
            !matches("example.com", "www.example.com") && !matches("example.com", "badexample.com")
        );
        assert!(
            matches("*.example.com", "a.b.example.com") && !matches("*.example.com", "example.com")
        );
        assert!(!matches("*.example.com", "badexample.com") && matches("*", "anything"));
        assert!(matches("[::1]", "::1"));
        assert!(!HostPattern::new("*").unwrap().names("localhost"));
        for wrong in ["", "https://example.com", "a/b", "exa*mple.com", "a b"] {
            assert_eq!(HostPattern::new(wrong), None, "{wrong}");
        }
    }
}
