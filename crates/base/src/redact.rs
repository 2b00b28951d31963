//! Secrets that can not be printed by accident, and the taking out of those that others print.

use std::fmt;

/// A key or token. It shows as `[secret]` wherever it is formatted.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a value; surrounding white space (a newline from a key file) is cut off.
    pub fn new(value: impl AsRef<str>) -> Self {
        Self(value.as_ref().trim().to_owned())
    }

    /// The value itself, for the one place that sends it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

/// Takes known secrets out of text that comes from elsewhere: a server's error, a tool's output.
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    secrets: Vec<Secret>,
}

/// Shorter values would blank out ordinary words.
const SHORTEST_SECRET: usize = 8;

impl Redactor {
    /// Knows these secrets; values too short to be one are left out.
    pub fn new(secrets: impl IntoIterator<Item = Secret>) -> Self {
        let mut secrets: Vec<Secret> =
            secrets.into_iter().filter(|secret| secret.expose().len() >= SHORTEST_SECRET).collect();
        // The longest first, so that one secret that contains another goes as a whole.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.expose().len()));
        Self { secrets }
    }

    /// The text with every known secret replaced.
    pub fn redact(&self, text: &str) -> String {
        let mut clean = text.to_owned();
        for secret in &self.secrets {
            if clean.contains(secret.expose()) {
                clean = clean.replace(secret.expose(), "[secret]");
            }
        }
        clean
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_secret_does_not_show() {
        let secret = Secret::new("sk-1234567890\n");
        assert_eq!(format!("{secret} {secret:?}"), "[secret] [secret]");
        assert_eq!(secret.expose(), "sk-1234567890");
    }

    #[test]
    fn short_values_are_not_blanked_out() {
        let redactor = Redactor::new([Secret::new("a")]);
        assert_eq!(redactor.redact("a banana"), "a banana");
    }

    proptest! {
        #[test]
        fn a_planted_secret_is_gone_and_clean_text_stays(
            secret in "[a-zA-Z0-9]{8,40}", before in "[ -~]{0,40}", after in "[ -~]{0,40}"
        ) {
            let redactor = Redactor::new([Secret::new(&secret)]);
            let dirty = redactor.redact(&format!("{before}{secret}{after}"));
            prop_assert!(!dirty.contains(&secret));
            if !before.contains(&secret) {
                prop_assert_eq!(redactor.redact(&before), before);
            }
        }
    }
}
