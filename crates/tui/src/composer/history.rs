//! Earlier prompts: Up and Down go through them, and what was being typed is kept.

/// Earlier prompts, oldest first, and where among them the user is.
#[derive(Debug, Clone, Default)]
pub(super) struct EarlierPrompts {
    entries: Vec<String>,
    /// The entry that is shown, and what was typed before.
    shown: Option<(usize, String)>,
}

impl EarlierPrompts {
    /// With these entries, oldest first.
    pub(super) fn new(entries: Vec<String>) -> Self {
        Self { entries, shown: None }
    }

    /// All entries, oldest first.
    pub(super) fn entries(&self) -> &[String] {
        &self.entries
    }

    /// Adds the newest.
    pub(super) fn add(&mut self, entry: &str) {
        if !entry.trim().is_empty() && self.entries.last().map(String::as_str) != Some(entry) {
            self.entries.push(entry.to_owned());
        }
        self.shown = None;
    }

    /// The next older entry; `typed` is what is in the composer now.
    pub(super) fn older(&mut self, typed: &str) -> Option<&str> {
        let at = match &self.shown {
            Some((at, _)) => at.checked_sub(1)?,
            None => self.entries.len().checked_sub(1)?,
        };
        let draft = self.shown.take().map_or_else(|| typed.to_owned(), |(_, draft)| draft);
        self.shown = Some((at, draft));
        self.entries.get(at).map(String::as_str)
    }

    /// The next newer entry, or what was being typed.
    pub(super) fn newer(&mut self) -> Option<String> {
        let (at, draft) = self.shown.take()?;
        match self.entries.get(at + 1) {
            Some(entry) => {
                self.shown = Some((at + 1, draft));
                Some(entry.clone())
            }
            None => Some(draft),
        }
    }

    /// The text in the composer is the user's own again.
    pub(super) fn leave(&mut self) {
        self.shown = None;
    }
}
