//! What clients ask for, over HTTP and of the bare database alike.

pub(crate) const REPOSITORY: &str = "host.example/owner/bench";
pub(crate) const IN_PATH: &str = "/v1/repos/host.example%2Fowner%2Fbench/memory";
/// The length of a usual memory.
pub(crate) const ENTRY_TEXT: &str = "---\nname: The test database\ndescription: where it runs\ntype: project\n---\n\
    The test database listens on port 5433 of the build machine, because 5432 is taken by the one of the old service. \
    Start it with `make test-db`; it takes about a minute until it answers. Its data is thrown away every night, so \
    nothing that a test needs may live there. The password is in the vault of the team, not in the repository.\n\
    Why: two people lost an afternoon with the wrong one. How to apply: before a test that needs a database.\n";

/// What a client asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    /// Whether anything changed: nothing did.
    Unchanged,
    /// Everything.
    Snapshot,
    /// A change of one entry.
    Push,
}

impl Operation {
    pub(crate) const ALL: [Self; 3] = [Self::Unchanged, Self::Snapshot, Self::Push];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Unchanged => "unchanged (304)",
            Self::Snapshot => "snapshot of 100 entries",
            Self::Push => "push of one entry",
        }
    }
}
