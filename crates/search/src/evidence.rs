//! What speaks for a document being about a message, as a few figures.

/// Figures about one document and one message. Rarities are relative to that of an unknown word, so that the size of a
/// collection does not matter.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Evidence {
    /// Share of the best clause that the document covers; shown, not weighed.
    pub coverage: f64,
    /// Logarithm of the score for the best clause relative to the best other document.
    pub margin: f64,
    /// Share of the document's name that the message has.
    pub name: f64,
    /// Logarithm of the rarity of the words in the document's name and description that the message has.
    pub subject: f64,
    /// The same of the words in its text alone.
    pub body: f64,
    /// Share of the words that the document has, in the sentences of which it has any.
    pub matched: f64,
    /// Number of documents that are ranked before it.
    pub rank: f64,
    /// 1 if the message asks for general knowledge.
    pub general: f64,
    /// Words of the message for texts, looks and mechanical edits, at most 2.
    pub presentation: f64,
    /// 1 if the message is about the last answer only.
    pub correction: f64,
    /// Similarity by vectors, in standard deviations above that of two of the user's memories.
    pub similarity: f64,
    /// The same relative to the best other document.
    pub similarity_margin: f64,
    /// Rarity of the files that the document is about and the conversation has open.
    pub files: f64,
}

impl Evidence {
    /// Number of figures that are weighed by learned weights: all but coverage and files.
    pub const COUNT: usize = 11;
    /// Their names, in the order of [`Evidence::values`].
    pub const NAMES: [&str; Self::COUNT] = [
        "margin",
        "name",
        "subject",
        "body",
        "matched",
        "rank",
        "general",
        "presentation",
        "correction",
        "similarity",
        "similarity_margin",
    ];

    /// The figures in order.
    pub fn values(&self) -> [f64; Self::COUNT] {
        [
            self.margin,
            self.name,
            self.subject,
            self.body,
            self.matched,
            self.rank,
            self.general,
            self.presentation,
            self.correction,
            self.similarity,
            self.similarity_margin,
        ]
    }
}
