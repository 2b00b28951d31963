//! What files held before and after each turn, and bringing that back: `/rewind`.
//!
//! [`Checkpoints`] records a session: which files a turn changed, what they held before and after. Tools say which file
//! they are about to write; what a command changed is found by listing the project before and after it. A [`RewindPlan`]
//! says what a rewind would do, a [`Rewind`] does it.
//!
//! Everything is in `checkpoints/` of the session's folder: contents under their hash, a log, and the journal of a rewind
//! that is under way. Git's own files are never changed.

#![forbid(unsafe_code)]

mod branch;
mod content_id;
mod content_store;
mod error;
mod folder;
mod git_index;
mod git_objects;
mod listing;
mod log;
mod path_text;
mod plan;
mod protected;
mod recorder;
mod restore;
mod retention;
mod rewind;
mod state;
mod walk;

pub use content_id::ContentId;
pub use content_store::ContentStore;
pub use error::CheckpointError;
pub use log::{LoggedChange, LoggedTurn, load_log};
pub use plan::{PlannedChange, RewindObstacle, RewindPlan, RewindTarget, net_changes};
pub use protected::ProtectedFiles;
pub use recorder::Checkpoints;
pub use retention::remove_old_checkpoints;
pub use rewind::{Rewind, RewindReport, RewindRequest, RewindScope, SkippedFile};
pub use state::FileState;
