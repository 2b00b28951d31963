//! The store of a memory directory: [`Store::change`] is the only way to write a memory (M-14).
//!
//! Steps of a change: guard, secrets, provenance, policy, journal, files, index line, all under one lock. The memory
//! directory holds only markdown; lock, journal, last known files and inbox are in the state folder.

mod change;
mod change_id;
mod change_origin;
mod change_units;
mod changes_since;
mod commit;
mod content;
mod context;
mod daily_log;
mod disk_file;
mod dream_lock;
mod dream_records;
mod dream_reports;
mod error;
mod external_changes;
mod fixed_path;
mod growing_hash;
mod guard;
mod inbox;
mod inbox_files;
mod index_lines;
mod index_rules;
mod journal;
mod kept_contents;
mod known_end;
mod last_known;
mod loaded_index;
mod locked;
mod log;
mod log_distillation;
mod long_index;
mod memory_files;
mod never_helped;
mod options;
mod outcome;
mod plan;
mod policy;
mod prepare;
mod prepared_change;
mod proposal;
mod refusal;
#[expect(clippy::module_inception, reason = "the store itself")]
mod store;
mod store_copy;
mod store_history;
mod trash;
mod undo;
mod unfolded_names;
mod usage_counts;

pub use change_id::ChangeId;
pub use change_origin::{ChangeAuthor, ChangeOrigin, Consent, MessageSource, SecretPolicy};
pub use change_units::{AppliedUnits, ApplyMode, ChangeUnit, UnitOutcome, UnitWrite};
pub(crate) use changes_since::{ChangesSince, HistoryPosition};
pub use content::ContentHash;
pub use dream_lock::{DreamLock, DreamLockError, DreamLockHolder, DreamState};
pub use dream_records::DreamRecords;
pub use error::ChangeError;
pub(crate) use guard::is_excluded;
pub use inbox::StoreInbox;
pub(crate) use index_lines::link_to;
pub use log::{DiffFiles, FileDiff, LogEntry};
pub use log_distillation::{LogPart, LoggedNote};
pub use options::{AnchoredProject, IndexUpkeep, SecretScan, StoreOptions};
pub use outcome::{ChangeKind, ChangeOutcome, Receipt};
pub use plan::{ChangePlan, Expected};
pub use policy::{Policy, PolicyAction, PolicyRule, PolicyWriter};
pub use proposal::{Proposal, ProposalId, ProposedFile};
pub use refusal::ChangeRefusal;
pub use store::Store;
pub(crate) use store::state_folder;
pub use store_history::StoreHistory;
pub use trash::Trashed;
pub use usage_counts::{MemoryUsage, RecalledFor, StoreUsage, UsageUpdate};
