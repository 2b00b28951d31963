//! What a memory is about, for whom it is, and how far it can be trusted: three small vocabularies.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$word_doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum $name { $($(#[$word_doc])* $variant,)+ }

        impl $name {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The word as it stands in files.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }

            /// Reads the word; anything else is none.
            pub fn from_word(word: &str) -> Option<Self> {
                let word = word.trim();
                Self::ALL.iter().copied().find(|known| known.as_str().eq_ignore_ascii_case(word))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

words!(
    /// The four types of memory (M-2). A memory of another type loads as one without.
    MemoryType {
        /// Who the person is, what they know and prefer.
        User = "user",
        /// How to work: corrections and confirmations alike.
        Feedback = "feedback",
        /// Work, goals, decisions, incidents that code and git do not tell.
        Project = "project",
        /// Where to look outside.
        Reference = "reference",
    }
);

words!(
    /// For whom a memory is (M-4).
    Scope {
        /// One person, in every project.
        User = "user",
        /// One person, in one project.
        Project = "project",
        /// Everybody on the project.
        Team = "team",
        /// One agent.
        Agent = "agent",
    }
);

words!(
    /// How far a memory's source can be trusted (M-17), the lowest first.
    Trust {
        /// The web, an MCP server: anybody may have written it.
        Outside = "outside",
        /// Output of a tool that ran in the project.
        Tool = "tool",
        /// Concluded by the model, or saved by another agent.
        Concluded = "concluded",
        /// Typed by the person.
        Typed = "typed",
    }
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_and_unknown_ones_are_none() {
        for kind in MemoryType::ALL {
            assert_eq!(MemoryType::from_word(kind.as_str()), Some(*kind));
        }
        assert_eq!(MemoryType::from_word(" Feedback "), Some(MemoryType::Feedback));
        assert_eq!(MemoryType::from_word("opinion"), None);
        assert!(Trust::Outside < Trust::Tool && Trust::Concluded < Trust::Typed);
    }
}
