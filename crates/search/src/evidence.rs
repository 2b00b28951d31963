//! What speaks for a document being about a message, as a few figures.

/// Figures about one document and one message. Rarities are relative to that of an unknown word, so that the size of a
/// collection does not matter.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Evidence {
    /// Share of the best clause that the document covers; shown, not weighed.
    pub coverage: f64,
    /// Logarithm of the score relative to the mean of the best other documents.
    pub margin: f64,
    /// Logarithm of the score by words.
    pub strength: f64,
    /// Share of the document's name that the message has.
    pub name: f64,
    /// Logarithm of the rarity of the words in the document's name and description that the message has.
    pub subject: f64,
    /// The same of the words in its text alone.
    pub body: f64,
    /// Share of the words that the document has, in the sentences of which it has any.
    pub matched: f64,
    /// Share of the proper names in the message that it does not have.
    pub missing_names: f64,
    /// Number of documents that are ranked before it.
    pub rank: f64,
    /// What the message itself says about whether any document helps.
    pub message: MessageEvidence,
    /// Similarity by vectors relative to the best other document, in standard deviations of the similarity of two of the
    /// user's memories.
    pub similarity_margin: f64,
    /// Rarity of the files that the document is about and the conversation has open.
    pub files: f64,
}

/// Figures about a message; the same for all documents.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MessageEvidence {
    /// Share of its words that any project has.
    pub common: f64,
    /// 1 if it asks for general knowledge.
    pub general: f64,
    /// Its words for texts, looks and mechanical edits, at most 2.
    pub presentation: f64,
    /// 1 if it is about the last answer only.
    pub correction: f64,
    /// What its wording tells: above 0 if no memory helps with most messages that are worded like it.
    pub wording: f64,
}

impl Evidence {
    /// Number of figures that are weighed by learned weights: all but coverage, similarity and files.
    pub const COUNT: usize = 13;
    /// Their names, in the order of [`Evidence::values`].
    pub const NAMES: [&str; Self::COUNT] = [
        "margin",
        "strength",
        "name",
        "subject",
        "body",
        "matched",
        "missing_names",
        "rank",
        "common",
        "general",
        "presentation",
        "correction",
        "wording",
    ];

    /// The figures in order.
    pub fn values(&self) -> [f64; Self::COUNT] {
        [
            self.margin,
            self.strength,
            self.name,
            self.subject,
            self.body,
            self.matched,
            self.missing_names,
            self.rank,
            self.message.common,
            self.message.general,
            self.message.presentation,
            self.message.correction,
            self.message.wording,
        ]
    }
}
