//! Secrets that cannot be printed by accident, and the taking out of those that others print.

use std::fmt;

/// A key or token. It shows as `[secret]` wherever it is formatted.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a value; surrounding whitespace (a newline from a key file) is cut off.
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

    /// The same, knowing these besides.
    #[must_use]
    pub fn with(self, secrets: impl IntoIterator<Item = Secret>) -> Self {
        Self::new(self.secrets.into_iter().chain(secrets))
    }

    /// The text with every known secret replaced.
    pub fn redact(&self, text: &str) -> String {
        let mut clean = text.to_owned();
        for secret in &self.secrets {
            if clean.contains(secret.expose()) {
                clean = clean.replace(secret.expose(), MARK);
            }
        }
        clean
    }

    /// The same for text that comes in pieces: a secret may be cut in two.
    pub fn stream(&self) -> RedactedStream {
        RedactedStream { redactor: self.clone(), held: String::new() }
    }

    /// The length of the first secret at the beginning of a text.
    fn at_start(&self, text: &str) -> Option<usize> {
        self.values().find(|value| text.starts_with(value)).map(str::len)
    }

    /// Whether a text may be the beginning of a secret whose rest is still to come.
    fn may_become_secret(&self, text: &str) -> bool {
        self.values().any(|value| value.len() > text.len() && value.starts_with(text))
    }

    fn values(&self) -> impl Iterator<Item = &str> {
        self.secrets.iter().map(Secret::expose)
    }
}

/// What replaces a secret.
const MARK: &str = "[secret]";

/// Takes secrets out of text that comes in pieces. What may be the beginning of one is held back until
/// the next piece decides.
#[derive(Debug)]
pub struct RedactedStream {
    redactor: Redactor,
    held: String,
}

impl RedactedStream {
    /// Takes in a piece, and gives what can be shown of it.
    pub fn push(&mut self, piece: &str) -> String {
        self.held.push_str(piece);
        let text = std::mem::take(&mut self.held);
        let (clean, rest) = self.clean(&text);
        rest.clone_into(&mut self.held);
        clean
    }

    /// What was held back: nothing comes that could make it a secret.
    pub fn finish(self) -> String {
        self.redactor.redact(&self.held)
    }

    /// The text without secrets, as far as it is decided, and the rest.
    fn clean<'t>(&self, text: &'t str) -> (String, &'t str) {
        let mut clean = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = self.next_candidate(rest) {
            let (before, from) = rest.split_at(at);
            clean.push_str(before);
            if self.redactor.may_become_secret(from) {
                return (clean, from);
            }
            // What is no secret and cannot become one is not a candidate.
            let length = self.redactor.at_start(from).unwrap_or(from.len());
            clean.push_str(MARK);
            rest = from.split_at(length).1;
        }
        clean.push_str(rest);
        (clean, "")
    }

    /// Where the next secret begins, or what may become one.
    fn next_candidate(&self, text: &str) -> Option<usize> {
        let whole = self.redactor.values().filter_map(|value| text.find(value)).min();
        let longest = self.redactor.values().map(str::len).max()?;
        let tail = text.len().saturating_sub(longest);
        let begun = text
            .char_indices()
            .rev()
            .map(|(at, _)| at)
            .take_while(|at| *at >= tail)
            .filter(|at| self.redactor.may_become_secret(text.split_at(*at).1))
            .last();
        match (whole, begun) {
            (Some(whole), Some(begun)) => Some(whole.min(begun)),
            (found, None) | (None, found) => found,
        }
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

    #[test]
    fn the_longer_of_two_goes_even_when_it_is_cut() {
        let redactor = Redactor::new(["abcdefgh", "abcdefghijkl"].map(Secret::new));
        let mut stream = redactor.stream();
        let shown = [stream.push("x abcd"), stream.push("efgh"), stream.push("ijkl y")].concat();
        assert_eq!(shown + &stream.finish(), "x [secret] y");
        let repeating = Redactor::new([Secret::new("xyxyxyxy")]);
        let mut stream = repeating.stream();
        assert_eq!(stream.push("xyxyxyxy"), "[secret]");
        assert_eq!(stream.push("zz") + &stream.finish(), "zz");
    }

    proptest! {
        #[test]
        fn pieces_give_what_the_whole_gives(
            text in "[ab睡]{0,60}", cuts in prop::collection::vec(0_usize..60, 0..6)
        ) {
            let redactor = Redactor::new(["abababab", "bbaabbaab", "a睡a睡a"].map(Secret::new));
            let mut stream = redactor.stream();
            let mut shown = String::new();
            let letters: Vec<char> = text.chars().collect();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(letters.len())).collect();
            cuts.extend([0, letters.len()]);
            cuts.sort_unstable();
            for piece in cuts.windows(2) {
                let piece: String = letters[piece[0]..piece[1]].iter().collect();
                shown.push_str(&stream.push(&piece));
            }
            shown.push_str(&stream.finish());
            for secret in ["abababab", "bbaabbaab", "a睡a睡a"] {
                prop_assert!(!shown.contains(secret), "{} in {}", secret, shown);
            }
            if !["abababab", "bbaabbaab", "a睡a睡a"].iter().any(|secret| text.contains(secret)) {
                prop_assert_eq!(shown, text);
            }
        }

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
