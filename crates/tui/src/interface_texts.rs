//! The texts of the interface. The program gives them, in the user's language.

/// What the interface says, in the user's language.
#[derive(Debug, Clone, Default)]
pub struct InterfaceTexts {
    /// Ctrl-C pressed again leaves.
    pub leave: String,
    /// Esc pressed again rewinds.
    pub rewind: String,
    /// The key does nothing during a turn.
    pub after_turn: String,
    /// The program leaves when the turn ends.
    pub leaving: String,
    /// Tab gives the keys to the menu.
    pub answer: String,
    /// What Enter and Up do with a queued message.
    pub queue: String,
    /// The label of a queued message.
    pub queued: String,
    /// The name of the permission mode that has no label.
    pub default_mode: String,
    /// The label of a search through earlier prompts.
    pub searching: String,
    /// Nothing fits a search.
    pub no_match: String,
    /// The label of a message that goes with the next request.
    pub steered: String,
}
