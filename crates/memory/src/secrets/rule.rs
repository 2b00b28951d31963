//! What a rule is.

/// What one kind of secret looks like.
pub(super) struct Rule {
    /// Its name, as it is reported.
    pub name: &'static str,
    /// What it finds, for a person.
    pub what: &'static str,
    /// Lower-case texts of which one is in every such secret or beside it: where none is, the pattern is not
    /// tried.
    pub keywords: &'static [&'static str],
    /// The first group that matched is the secret; without groups, all of it.
    pub pattern: &'static str,
    /// How much around a keyword the pattern is tried on.
    pub reach: Reach,
    /// The fewest bits a character that the secret must have: words have fewer than random text.
    pub entropy: Option<f64>,
    /// A further look at the secret; false means it is none.
    pub check: Option<fn(&str) -> bool>,
    /// A text with one such secret, made up.
    #[cfg_attr(not(test), expect(dead_code, reason = "the tests check every rule on its example"))]
    pub example: &'static str,
    /// A text that looks much like it and has none.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "the tests check every rule on its near miss")
    )]
    pub near_miss: &'static str,
}

/// How much around a keyword a pattern is tried on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// The line it is on.
    Line,
    /// The line and what follows it, for secrets of several lines.
    Block,
}
