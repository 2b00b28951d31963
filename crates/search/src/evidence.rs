//! What speaks for a document being about a message, as a few figures.

/// Figures about one document and one message. Rarities are relative to that of an unknown word, so that the size of a
/// collection does not matter.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Evidence {
    /// Logarithm of the score for the best clause: sentences around it do not matter.
    pub strength: f64,
    /// Logarithm of the rarity of the specific words that match in the best clause.
    pub specific: f64,
    /// Share of the best clause that the document covers.
    pub coverage: f64,
    /// Logarithm of that score relative to the best other document.
    pub margin: f64,
    /// Share of the document's name that the message has; about the usual one if it has no name.
    pub name: f64,
    /// Rarity of the kinds of work that match in the best clause.
    pub work: f64,
    /// 1 if the best clause is pasted.
    pub pasted: f64,
    /// Logarithm of the length of the message.
    pub length: f64,
    /// Words that mark a request which seldom depends on the project, at most 2.
    pub self_contained: f64,
    /// Similarity by vectors, in standard deviations above that of two of the user's memories.
    pub similarity: f64,
    /// The same relative to the best other document.
    pub similarity_margin: f64,
}

impl Evidence {
    /// Number of figures.
    pub const COUNT: usize = 11;
    /// Their names, in the order of [`Evidence::values`].
    pub const NAMES: [&str; Self::COUNT] = [
        "strength",
        "specific",
        "coverage",
        "margin",
        "name",
        "work",
        "pasted",
        "length",
        "self_contained",
        "similarity",
        "similarity_margin",
    ];

    /// The figures in order.
    pub fn values(&self) -> [f64; Self::COUNT] {
        [
            self.strength,
            self.specific,
            self.coverage,
            self.margin,
            self.name,
            self.work,
            self.pasted,
            self.length,
            self.self_contained,
            self.similarity,
            self.similarity_margin,
        ]
    }
}
