//! Pasted text: a long paste is shown as one mark and sent whole.

/// A paste of more lines or characters is folded.
const MOST_LINES: usize = 5;
const MOST_CHARS: usize = 1_000;

/// The folded pastes of one message.
#[derive(Debug, Clone, Default)]
pub(super) struct FoldedPastes {
    /// Each with the mark that stands for it.
    pastes: Vec<(String, String)>,
}

impl FoldedPastes {
    /// What goes into the text for a paste: itself, or a mark.
    pub(super) fn fold(&mut self, pasted: &str) -> String {
        let text = pasted.replace("\r\n", "\n").replace('\r', "\n");
        let lines = text.lines().count();
        if lines <= MOST_LINES && text.chars().nth(MOST_CHARS).is_none() {
            return text;
        }
        let number = self.pastes.len() + 1;
        let size = if lines > 1 {
            format!("{lines} lines")
        } else {
            format!("{} characters", text.chars().count())
        };
        let mark = if number == 1 {
            format!("[pasted {size}]")
        } else {
            format!("[pasted {size} #{number}]")
        };
        self.pastes.push((mark.clone(), text));
        mark
    }

    /// The text with each mark replaced by what was pasted.
    pub(super) fn unfold(&self, text: &str) -> String {
        let mut result = String::new();
        let mut rest = text;
        // Pasted text is not searched for marks.
        while let Some((at, mark, pasted)) = self.first_mark(rest) {
            let (before, from_mark) = rest.split_at(at);
            result.push_str(before);
            result.push_str(pasted);
            rest = from_mark.split_at(mark.len()).1;
        }
        result + rest
    }

    fn first_mark(&self, text: &str) -> Option<(usize, &str, &str)> {
        let found = self.pastes.iter().filter_map(|(mark, pasted)| {
            text.find(mark.as_str()).map(|at| (at, mark.as_str(), pasted.as_str()))
        });
        found.min_by_key(|(at, ..)| *at)
    }

    /// The mark that a text ends with: it is deleted as a whole.
    pub(super) fn mark_at_end(&self, text: &str) -> Option<&str> {
        let mut marks = self.pastes.iter().map(|(mark, _)| mark.as_str());
        marks.find(|mark| text.ends_with(mark))
    }

    /// Forgets all, for the next message.
    pub(super) fn clear(&mut self) {
        self.pastes.clear();
    }
}
