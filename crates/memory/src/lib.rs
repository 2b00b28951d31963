//! Memory as files: every memory is a markdown file that users can read, edit, copy and delete.
//!
//! Owns entries, the index, the store with its history and inbox, recall and usage counts.
//! Deliberately absent: network, async, the model.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod age;
mod anchor;
mod directories;
mod doctor;
mod draft;
mod entry;
mod excerpt;
pub mod file_commands;
mod guards;
mod import;
pub mod index;
mod kind;
mod manifest;
pub mod memory_usage;
mod names;
mod reachable;
pub mod recall;
mod repetition;
mod rules;
mod scan;
mod store;
mod walk;

pub use age::Age;
pub use anchor::{
    Anchor, AnchorCache, Freshness, anchor_caveat, check as check_anchors,
    extract as extract_anchors,
};
pub use directories::{
    DirectoryChoice, DirectoryError, DirectorySource, ProjectMemory, RepositoryIdentity,
    checked_directory, daily_log, memory_directory, project_memory, repository_memory, team_memory,
    user_memory,
};
pub use doctor::{FindingKind, LintFinding, instruction_files, lint, lint_text};
pub use draft::{DraftChange, DraftPlan, DraftRejection, MemoryDraft};
pub use entry::{EntryProblem, Header, LONGEST_MEMORY, MemoryEntry, NewMemory};
pub use excerpt::{MAX_SHOWN_BYTES, beginning, is_substantial};
pub use guards::{
    CORRECTIONS, CreatedContainers, EmptySettingsFile, GuardLine, GuardRegistry,
    GuardRegistryError, LineOrigin, MemoryGuard,
};
pub use import::{
    Exported, ImportError, ImportReport, Imported, ImportedText, from_codex, from_cursor_rule,
    from_folder, from_mcp_memory, from_mem0,
};
pub use kind::{MemoryType, Scope, StoreScope, Trust};
pub use manifest::manifest_line;
pub use names::{INDEX, LONGEST_NAME, MemoryFile, MemoryFileError, fold, slug, unique_file};
pub use reachable::{
    FoundMemory, LookupError, MemoryText, QuarantinedText, RankingSetup, ReachableMemories,
    RecallMessage, RecalledMemoryLine, RecalledMemoryText, RecalledTexts, StoreChange,
    UnaskedMemories, UnaskedMemory, UndoneChanges, undo_changes,
};
pub use repetition::{Claims, KnownTexts, TextRelation, find_repeated};
pub use rules::{IndexUse, MemoryRules, Saving};
pub use scan::{HEADER_LINES, NewestMemories, Scan, ScanCache, Scanned, scan};
pub use store::{
    AnchoredProject, AppliedUnits, ApplyMode, ChangeAuthor, ChangeError, ChangeId, ChangeKind,
    ChangeOrigin, ChangeOutcome, ChangePlan, ChangeRefusal, ChangeUnit, Consent, ContentHash,
    DiffFiles, DreamLock, DreamLockError, DreamLockHolder, DreamRecords, DreamState, Expected,
    FileDiff, IndexUpkeep, LogEntry, LogPart, LoggedNote, MemoryUsage, MessageSource, Policy,
    PolicyAction, PolicyRule, PolicyWriter, Proposal, ProposalId, ProposedFile, RecalledFor,
    Receipt, SecretPolicy, SecretScan, Store, StoreHistory, StoreInbox, StoreOptions, StoreUsage,
    Trashed, UnitOutcome, UnitWrite, UsageUpdate,
};
pub use walk::Skipped;
