//! Setting other agents up to use this memory: a few entries in their own configuration files.
//!
//! Invariants: all other bytes of a file stay, comments and unusual formatting included. Undoing removes the inserted
//! bytes exactly; if the file was changed since, only our entries are removed.

mod agent;
mod config_edit;
mod error;
mod insertion;
mod json_item;
mod plan;
mod record;
mod toml_table;
mod yaml_entry;

pub use agent::{Agent, SetupPaths};
pub use error::SetupError;
pub use plan::{ConfigFileChange, carry_out, plan, plan_undo};
