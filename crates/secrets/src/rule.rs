//! The form of a secret rule.

/// How to recognize one kind of secret.
pub(crate) struct SecretRule {
    /// Name used in reports.
    pub name: &'static str,
    /// Description for messages.
    pub what: &'static str,
    /// Lower-case texts; the pattern is tried only near one of them.
    pub keywords: &'static [&'static str],
    /// The first matching group is the secret; without groups, the whole match.
    pub pattern: &'static str,
    /// Text around a keyword that the pattern is tried on.
    pub extent: SearchExtent,
    /// Minimum entropy in bits per character: words have less than random text.
    pub entropy: Option<f64>,
    /// Additional check of the value; `false` means not a secret.
    pub check: Option<fn(&str) -> bool>,
    /// A text with one invented secret of this kind.
    #[cfg_attr(not(test), expect(dead_code, reason = "the tests check every rule on its example"))]
    pub example: &'static str,
    /// A similar text without a secret.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "the tests check every rule on its near miss")
    )]
    pub near_miss: &'static str,
}

/// Text around a keyword that a pattern is tried on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum SearchExtent {
    /// The keyword's line.
    Line,
    /// The line and the text after it, for multi-line secrets.
    Block,
}
