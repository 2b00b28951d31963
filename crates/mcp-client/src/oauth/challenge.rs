//! What a server says when it refuses a request without a token: the header `WWW-Authenticate`.

use reqwest::header::{HeaderMap, WWW_AUTHENTICATE};

/// A challenge of the kind `Bearer`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Challenge {
    /// Where the server's metadata are.
    pub(super) metadata: Option<String>,
    /// The scopes that a token needs.
    pub(super) scope: Option<String>,
}

impl Challenge {
    /// The challenge in a response; none if it has none of this kind.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Self> {
        let values = headers.get_all(WWW_AUTHENTICATE).into_iter();
        values.filter_map(|value| value.to_str().ok()).find_map(Self::parse)
    }

    /// Whether the server says where a login begins; servers of older revisions do not.
    pub(crate) fn names_metadata(&self) -> bool {
        self.metadata.is_some()
    }

    fn parse(header: &str) -> Option<Self> {
        let lower = header.to_ascii_lowercase();
        let at = lower.find("bearer")?;
        let rest = header.get(at + "bearer".len()..).unwrap_or_default();
        let mut challenge = Self::default();
        for (name, value) in parameters(rest) {
            match name.to_ascii_lowercase().as_str() {
                "resource_metadata" => challenge.metadata = Some(value),
                "scope" => challenge.scope = Some(value),
                _ => {}
            }
        }
        Some(challenge)
    }
}

/// Names and values, quoted or not.
fn parameters(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((name, after)) = rest.split_once('=') {
        let name = name.rsplit([' ', ',', '\t']).next().unwrap_or_default();
        let (value, tail) = match after.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => {
                let end = after.find([',', ' ']).unwrap_or(after.len());
                after.split_at(end)
            }
        };
        found.push((name.to_owned(), value.to_owned()));
        rest = tail;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn challenges_are_read() {
        let header = r#"Bearer realm="a, b=c", resource_metadata="https://x/.well-known/r?a=1", scope="read write", error=invalid_token"#;
        let challenge = Challenge::parse(header).unwrap();
        assert_eq!(challenge.metadata.as_deref(), Some("https://x/.well-known/r?a=1"));
        assert_eq!(challenge.scope.as_deref(), Some("read write"));
        assert_eq!(Challenge::parse("bearer"), Some(Challenge::default()));
        assert_eq!(Challenge::parse("Basic realm=\"x\""), None);
    }
}
