//! Memory as files: every memory is a markdown file that a person can read, edit, copy and delete.
//!
//! Owns entries, the index, history, the guard against secrets and escapes, and instruction files.
//! Deliberately absent: network, async, the model.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod age;
mod anchor;
mod doctor;
mod draft;
pub mod effect;
mod entry;
mod excerpt;
pub mod file_commands;
mod guards;
mod import;
pub mod index;
mod kind;
mod manifest;
mod names;
mod place;
mod reachable;
pub mod recall;
mod rules;
mod same;
mod scan;
mod store;
mod walk;

pub use age::Age;
pub use anchor::{
    Anchor, AnchorCache, Freshness, anchor_caveat, check as check_anchors,
    extract as extract_anchors,
};
pub use doctor::{Finding, FindingKind, lint, lint_text};
pub use draft::{Draft, Drafted, Drawn, Rejected};
pub use entry::{Entry, EntryProblem, Header, LONGEST_MEMORY, NewMemory};
pub use excerpt::{beginning, says_enough};
pub use guards::{
    Before, CORRECTIONS, Guard, GuardBook, GuardBookError, GuardLine, LineOrigin, Made,
};
pub use import::{
    Exported, ImportError, ImportReport, Imported, ImportedText, from_folder, from_mcp_memory,
    from_mem0,
};
pub use kind::{MemoryType, Scope, Trust};
pub use manifest::manifest_line;
pub use names::{INDEX, LONGEST_NAME, MemoryFile, MemoryFileError, fold, slug, unique_file};
pub use place::{
    DirectoryChoice, DirectorySource, PlaceError, ProjectMemory, RepositoryIdentity,
    checked_directory, daily_log, memory_directory, project_memory, repository_memory, team_memory,
    user_memory,
};
pub use reachable::{
    FoundMemory, LookupError, MemoryText, QuarantinedText, RankingSetup, ReachableMemories,
};
pub use rules::{IndexUse, MemoryRules, Saving};
pub use same::{Claims, already_said};
pub use scan::{HEADER_LINES, Scan, ScanCache, Scanned, Skipped, scan};
pub use store::{
    AnchoredProject, Applied, Author, By, ChangeError, ChangeId, Consent, ContentHash, DreamLock,
    DreamLockError, DreamState, Dreamer, Effect, Expected, Fate, FileDiff, IndexUpkeep, LogEntry,
    LogPart, LoggedNote, MessageSource, Outcome, Plan, Policy, PolicyRule, Proposal, ProposalId,
    ProposedFile, RecalledFor, Receipt, Rule, SecretPolicy, SecretScan, Store, StoreOptions,
    Trashed, Trial, Unit, UnitWrite, UseCount, Uses, Writer,
};
