//! Settings: JSON files in several places, read into one value.
//!
//! `keys` says which keys there are, `parse` reads one text, `stack` puts the layers over one another and
//! knows where each value came from, `partition` tells what of a project's settings needs trust,
//! `switches` is the table of layers that can be turned off, `edit` changes one value in a text, `list_edit` an
//! element of a list.

mod edit;
mod keys;
mod list_edit;
mod parse;
mod partition;
mod places;
mod stack;
mod switches;

pub use edit::{EditError, set_value, unset_value};
pub use keys::{
    CacheEditSettings, DefaultMode, EmbeddingSettings, ExtractionSettings, MemorySettings,
    MemoryTools, MemoryWriter, PermissionSettings, PriceSettings, ProviderKind, ProviderSettings,
    SessionNotesSettings, Settings, SnipSettings, TextScript, TimeClearingSettings, ToolSettings,
    WriteDecision, WriteRule, WrittenScope, WrittenType, settings_schema,
};
pub use list_edit::{
    Extended, ListEditError, add_to_list, is_empty_object, is_in_list, take_from_list,
    take_if_empty,
};
pub use parse::{SettingsError, SettingsWarning};
pub use partition::Withheld;
pub use places::{SettingsPlaces, project_settings_folder};
pub use stack::{Layer, Source, Stack, WaitingPart};
pub use switches::{SWITCHES, Switch, SwitchError, SwitchState, Switches, flag};
