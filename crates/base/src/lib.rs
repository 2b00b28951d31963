//! The ground floor: what every other crate stands on and nothing above it may go around.
//!
//! Owns ids, the clock, directory handles, atomic files, appends, locks, fault points, the names of
//! environment variables, settings and redaction. It touches the disk through its own access point
//! ([`Dir`]) and nothing else: no network, no terminal, no async.

#![forbid(unsafe_code)]

mod append;
mod append_shared;
mod clock;
mod clock_choice;
mod deadlines;
mod dir;
mod environment;
pub mod fault;
mod folder_state;
mod git_files;
mod group_digits;
mod home;
mod ids;
mod innermost_error;
mod json_text;
mod lock;
#[cfg(feature = "movable-clock")]
mod movable_clock;
mod nearest_name;
mod platform;
mod printable;
mod project_folder;
mod redact;
mod rel_path;
mod settings;
mod trust;
mod walk_folder;

pub use append::{AppendError, AppendFile, AppendTail, UnterminatedLine};
pub use append_shared::SharedAppendFile;
pub use clock::{Clock, ManualClock, SystemClock};
pub use clock_choice::clock_from_environment;
pub use deadlines::Deadlines;
pub use dir::{
    Dir, DirEntry, Durability, EntryKind, FileAction, FileError, ListedEntry, Listing, Replacement,
};
pub use environment::{Environment, EnvironmentVariable, VARIABLES, names};
pub use folder_state::FolderState;
pub use git_files::{GitFiles, GitHead};
pub use group_digits::{format_bytes, format_dollars, format_percent, group_digits};
pub use home::{
    HomeError, Project, ProjectSlug, find_project, git_folder, home_dir, is_home_or_above,
    stable_hash,
};
pub use ids::{
    AgentId, IdSource, MessageId, RandomIds, SeededIds, SessionId, ids_from_environment,
};
pub use innermost_error::innermost_error;
pub use json_text::{JsonContainer, JsonEntry, JsonTextError, indent_of, line_of, skip_blank};
pub use lock::{Lock, LockError, LockHolder, LockState, ProcessState};
pub use nearest_name::nearest_name;
pub use platform::mode_from_bits;
pub use printable::printable;
pub use project_folder::{damaged_project_files, project_folder, project_named_in};
pub use redact::{RedactedStream, Redactor, Secret};
pub use rel_path::{RelPath, RelPathError};
pub use settings::{
    BackgroundSettings, CacheEditSettings, DefaultMode, EffortLevel, EmbeddingSettings,
    ExtractionSettings, LayerSwitch, ListAddition, ListEditError, MemorySettings, MemoryTools,
    MemoryWriter, Notifications, PermissionSettings, PriceSettings, ProviderKind, ProviderSettings,
    RuleMemoryType, RuleScope, SETTINGS_SCHEMA, SandboxMode, SandboxNetwork, SandboxSettings,
    SearchProviderKind, SessionNotesSettings, SettingKey, Settings, SettingsEditError,
    SettingsError, SettingsFiles, SettingsLayer, SettingsSource, SettingsStack, SettingsWarning,
    SnipSettings, SwitchError, SwitchState, Switches, TeamSettings, TerminalSettings, TextScript,
    ThinkingSwitch, TimeClearingSettings, ToolSettings, TrustRequest, UiLanguage, UnknownSwitch,
    WebSearchSettings, WithheldSettings, WriteDecision, WriteRule, add_to_list, boolean_variable,
    is_empty_object, is_in_list, project_settings_folder, remove_from_list, remove_if_empty,
    set_value, unset_value,
};
pub use trust::{TrustState, TrustStore};
pub use walk_folder::{MissingFolder, open_folder_without_links};
