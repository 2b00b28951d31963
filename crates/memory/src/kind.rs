//! The type, scope and trust of a memory.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$word_doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum $name { $($(#[$word_doc])* $variant,)+ }

        impl $name {
            /// All values.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The word in files.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }

            /// Parses the word; `None` if it is unknown.
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
    /// The four types of memory (M-2). A memory of an unknown type is loaded without one.
    MemoryType {
        /// About the user: who they are, what they know and prefer.
        User = "user",
        /// How to work: corrections and confirmations.
        Feedback = "feedback",
        /// Work, goals, decisions and incidents that are not in code or git.
        Project = "project",
        /// References to other sources.
        Reference = "reference",
    }
);

words!(
    /// Who a memory is for (M-4).
    Scope {
        /// The user, in every project.
        User = "user",
        /// The user, in one project.
        Project = "project",
        /// Everyone on the project.
        Team = "team",
        /// One subagent.
        Agent = "agent",
    }
);

words!(
    /// Which memory directory a store is of. Unlike [`Scope`], it tells the project's own directory from the
    /// repository's.
    StoreScope {
        /// The user's, for all projects.
        User = "user",
        /// The user's, for one project.
        Project = "project",
        /// Shared by everyone on the project.
        Team = "team",
        /// Part of the repository, written by its authors.
        Repo = "repo",
    }
);

words!(
    /// How far the source of a memory can be trusted (M-17), the lowest first.
    Trust {
        /// The web or an MCP server: the author is unknown.
        Outside = "outside",
        /// Output of a tool that ran in the project.
        Tool = "tool",
        /// Concluded by the model, or saved by another agent.
        Concluded = "concluded",
        /// Typed by the user.
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
