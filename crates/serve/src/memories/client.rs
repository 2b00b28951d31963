//! The agent that makes a request.

use dormouse_memory::{ChangeAuthor, ChangeOrigin};

/// Maximum number of characters of a name.
const MAX_CHARS: usize = 64;

/// Another agent, by the name that it gives itself. The history and the saved memories carry it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client(String);

impl Client {
    /// A client with this name.
    pub fn named(name: &str) -> Self {
        let plain: String =
            name.chars().filter(|c| !c.is_control() && *c != '\u{fffd}').take(MAX_CHARS).collect();
        let plain = dormouse_base::printable(plain.trim()).into_owned();
        Self(if plain.is_empty() { "an unnamed agent".to_owned() } else { plain })
    }

    pub(crate) fn author(&self) -> ChangeAuthor {
        ChangeAuthor::Client(self.0.clone())
    }

    /// This client as author. It names no messages: its memories count as concluded by a model (M-17).
    pub(crate) fn by(&self, reason: &str) -> ChangeOrigin {
        ChangeOrigin::new(self.author(), reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_and_printable() {
        assert_eq!(Client::named(" claude-code "), Client("claude-code".into()));
        assert_eq!(Client::named("\u{1b}[2J\n"), Client("[2J".into()));
        assert_eq!(Client::named("\n"), Client("an unnamed agent".into()));
        assert_eq!(Client::named(&"x".repeat(999)).0.len(), MAX_CHARS);
    }
}
