//! Settings: JSON files in several places, read into one value.
//!
//! `keys` says which keys there are, `schema` with which defaults, `key` how users name one, `parse` reads one text, `stack` puts the layers over one another and
//! knows where each value came from, `request_fields` which fields of requests may be set, `partition` tells what of a project's settings needs trust,
//! `switch_definitions` lists the feature switches and `switch_resolution` determines their state, `edit` changes one value in a text, `list_edit` an
//! element of a list.

mod dotted_key;
mod edit;
mod files;
mod keys;
mod layer_settings;
mod list_edit;
mod memory_settings;
mod parse;
mod partition;
mod request_fields;
mod schema;
mod stack;
mod switch_definitions;
mod switch_resolution;
mod team_settings;
mod web_search_settings;

pub use dotted_key::SettingKey;
pub use edit::{SettingsEditError, set_value, unset_value};
pub use files::{SettingsFiles, project_settings_folder};
pub use keys::{
    BackgroundSettings, DefaultMode, EffortLevel, ExtractionSettings, Notifications,
    PermissionSettings, PriceSettings, ProviderKind, ProviderSettings, SandboxMode, SandboxNetwork,
    SandboxSettings, SessionNotesSettings, Settings, TerminalSettings, ThinkingSwitch,
    ToolSettings, UiLanguage,
};
pub use layer_settings::{CacheEditSettings, SnipSettings, TimeClearingSettings};
pub use list_edit::{
    ListAddition, ListEditError, add_to_list, is_empty_object, is_in_list, remove_from_list,
    remove_if_empty,
};
pub use memory_settings::{
    EmbeddingSettings, MemorySettings, MemoryTools, MemoryWriter, RuleMemoryType, RuleScope,
    TextScript, WriteDecision, WriteRule,
};
pub use parse::{SettingsError, SettingsWarning};
pub use partition::WithheldSettings;
pub use schema::SETTINGS_SCHEMA;
pub use stack::{SettingsLayer, SettingsSource, SettingsStack, TrustRequest};
pub use switch_definitions::{LayerSwitch, UnknownSwitch};
pub use switch_resolution::{SwitchError, SwitchState, Switches, boolean_variable};
pub use team_settings::TeamSettings;
pub use web_search_settings::{SearchProviderKind, WebSearchSettings};
