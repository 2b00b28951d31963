//! The ground floor: what every other crate stands on and nothing above it may go around.
//!
//! Owns ids, the clock, directory handles, atomic files, appends, locks, fault points, the names of
//! environment variables, settings and redaction. It touches the disk through its own doors
//! ([`Dir`]) and nothing else: no network, no terminal, no async.

#![forbid(unsafe_code)]

mod append;
mod append_shared;
mod clock;
mod dir;
mod environment;
pub mod fault;
mod grouped;
mod home;
mod ids;
mod inspect;
mod json_text;
mod lock;
mod nearest;
mod printable;
mod redact;
mod rel_path;
mod settings;
mod trust;

pub use append::{AppendError, AppendFile, Tail, Unended};
pub use append_shared::SharedAppendFile;
pub use clock::{Clock, ManualClock, SystemClock, clock_from_environment};
pub use dir::{
    Dir, DirEntry, Durability, EntryKind, FileAction, FileError, Listed, Listing, Replacement,
};
pub use environment::{Environment, EnvironmentVariable, VARIABLES, names};
pub use grouped::grouped;
pub use home::{HomeError, Project, ProjectSlug, home_dir, project_of, stable_hash};
pub use ids::{
    AgentId, IdSource, MessageId, RandomIds, SeededIds, SessionId, ids_from_environment,
};
pub use inspect::FolderState;
pub use json_text::{JsonContainer, JsonEntry, JsonTextError, indent_of, line_of, skip_blank};
pub use lock::{Holder, Lock, LockError, LockState, Presence};
pub use nearest::nearest;
pub use printable::printable;
pub use redact::{RedactedStream, Redactor, Secret};
pub use rel_path::{RelPath, RelPathError};
pub use settings::{
    CacheEditSettings, DefaultMode, EditError, EmbeddingSettings, Extended, ExtractionSettings,
    Layer, ListEditError, MemorySettings, MemoryTools, MemoryWriter, PermissionSettings,
    PriceSettings, ProviderKind, ProviderSettings, SWITCHES, SessionNotesSettings, Settings,
    SettingsError, SettingsPlaces, SettingsWarning, SnipSettings, Source, Stack, Switch,
    SwitchError, SwitchState, Switches, TextScript, TimeClearingSettings, ToolSettings,
    WaitingPart, Withheld, WriteDecision, WriteRule, WrittenScope, WrittenType, add_to_list, flag,
    is_empty_object, is_in_list, project_settings_folder, set_value, settings_schema,
    take_from_list, take_if_empty, unset_value,
};
pub use trust::{Trust, TrustStore};
